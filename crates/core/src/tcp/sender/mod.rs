//! The sender of one connection: what leaves and when, under a congestion controller.
//!
//! It opens the connection, sends its source's data, and closes. The recovery epoch is that of sequence numbers: it ends
//! when everything that was outstanding at its begin is acknowledged, and the same ACK may begin the next one. Left out:
//! Nagle's algorithm, since a source writes whole segments; a user timeout.

mod ack_summary;
mod connection;
mod detector;
mod input;
mod output;
mod prr;
mod rack;
mod rate;
mod recovery;
mod rtt;
mod rtt_variation;
mod sack_loss;
mod scoreboard;
mod settings;
mod spurious_recovery;
mod tail_loss_probe;
#[cfg(test)]
mod tests;
mod timers;

pub use rtt::TimeoutBounds;
pub use rtt_variation::TimeoutRule;
pub use settings::{Detection, Reduction, SenderRule, SenderSettings, SenderSetup, SenderStats};

use super::sequence::SequenceSpace;
use super::source::Source;
use crate::clock::Clock;
use crate::context::Context;
use crate::ndn::consumer::pacer::Pacer;
use crate::ndn::name::Name;
use crate::ndn::packet::Ecn;
use crate::observe::event::{Cause, Event};
use crate::observe::histogram::DelayHistogram;
use crate::scheme::congestion::{CongestionController, FlowView};
use crate::units::{ByteCount, Time};

use connection::{Owed, Stage};
use detector::Detector;
use prr::Prr;
use rate::RateMeter;
use recovery::{Eifel, RecoveryPhase};
use rtt::RoundTrip;
use scoreboard::Scoreboard;
use spurious_recovery::Repeats;
use tail_loss_probe::TailProbe;
use timers::Timers;

/// First position of data; the SYN has position 0.
const FIRST: u64 = 1;

/// Maximum payload per segment, bytes; with a FIN the positions of a segment still fit 16 bits.
const MAX_MSS: u16 = 65_000;

/// The sender of one connection. A driver calls [`on_wake`](Self::on_wake) at [`next_wake`](Self::next_wake) and
/// [`on_segment`](Self::on_segment) for every packet, and after each of them [`poll`](Self::poll) until it gives `None`.
#[derive(Debug)]
pub struct Sender {
    flow: u32,
    name: Name,
    settings: SenderSettings,
    controller: Box<dyn CongestionController>,
    reduction: Reduction,
    /// ECN mode of the scheme; once the receiver has answered, the negotiated one.
    ecn: Ecn,
    source: Source,
    start: Time,
    /// Time at which the source ends; [`Time::MAX`] for never.
    stop: Time,
    clock: Clock,
    stage: Stage,
    owed: Owed,
    own: SequenceSpace,
    peer: SequenceSpace,
    /// Position expected next of the receiver.
    peer_next: u64,
    /// Latest time stamp of the receiver, to be echoed, ms.
    peer_stamp: u32,
    /// Time stamp and acknowledgement number of the latest segment whose signals were processed.
    received: Option<(u32, u32)>,
    /// The receiver's windows count in units of 2 to this power.
    peer_scale: u8,
    /// First position that the receiver does not take.
    edge: u64,
    /// Time at which the connection opened; before that, the last departure of the SYN.
    opened: Time,
    completed: Option<Time>,
    board: Scoreboard,
    trip: RoundTrip,
    meter: RateMeter,
    detector: Detector,
    phase: RecoveryPhase,
    eifel: Eifel,
    repeats: Repeats,
    prr: Option<Prr>,
    /// Departure time of the newest segment of the last delivery.
    newest_sent: Time,
    tail: TailProbe,
    timers: Timers,
    /// Doublings of the time between probes of a closed window.
    persisted: u32,
    pacer: Pacer,
    /// Segments of the current burst that may still leave.
    burst_left: u32,
    /// Marks on ACKs below this position belong to a reduction that was made already (RFC 3168, section
    /// 6.1.2).
    reduced_until: u64,
    owes_cwr: bool,
    is_source_limited: bool,
    /// Whether all data written so far has been sent.
    awaits_write: bool,
    view: FlowView,
    /// Last window returned by the controller, segments.
    window: f64,
    stats: SenderStats,
    /// Delays from the first transmission to the ACK, of the segment that was sent last among those of an
    /// ACK.
    full_delays: DelayHistogram,
    /// Round trips of segments that were sent once.
    last_delays: DelayHistogram,
    /// Buffer that is reused to avoid allocations.
    lost: Vec<u64>,
}

impl Sender {
    /// A sender that has sent nothing yet.
    pub fn new(setup: SenderSetup) -> Self {
        let SenderSetup { rule, mut settings, .. } = setup;
        let SenderRule { mut controller, reduction, ecn, .. } = rule;
        controller.take_streams(setup.draws);
        settings.mss = settings.mss.clamp(1, MAX_MSS);
        let trip = RoundTrip::new(settings.timeout_rule, settings.timeout);
        // An empty file still has a segment, that of the FIN.
        let segments = setup.source.length().map(|length| length.div_ceil(u64::from(settings.mss)).max(1));
        Self {
            flow: setup.flow,
            name: setup.name,
            window: controller.window(),
            controller,
            reduction,
            ecn,
            source: setup.source,
            start: setup.start,
            stop: setup.stop.unwrap_or(Time::MAX),
            clock: setup.clock,
            stage: Stage::Waiting,
            owed: Owed::default(),
            own: SequenceSpace::new(setup.initial_sequence),
            peer: SequenceSpace::default(),
            peer_next: 0,
            peer_stamp: 0,
            received: None,
            peer_scale: 0,
            edge: FIRST,
            opened: Time::ZERO,
            completed: None,
            board: Scoreboard::new(FIRST),
            view: FlowView { remaining: segments, rto: trip.rto(), ..FlowView::default() },
            trip,
            meter: RateMeter::default(),
            detector: Detector::new(settings.detection),
            phase: RecoveryPhase::Open,
            eifel: Eifel::Idle,
            repeats: Repeats::default(),
            prr: None,
            newest_sent: Time::ZERO,
            tail: TailProbe::default(),
            timers: Timers::default(),
            persisted: 0,
            pacer: Pacer::new(ByteCount::new(u64::from(settings.mss))),
            burst_left: 0,
            reduced_until: 0,
            owes_cwr: false,
            is_source_limited: false,
            awaits_write: false,
            stats: SenderStats::default(),
            full_delays: DelayHistogram::default(),
            last_delays: DelayHistogram::default(),
            lost: Vec::new(),
            settings,
        }
    }

    /// Counters of the sender.
    pub fn stats(&self) -> SenderStats {
        self.stats
    }

    /// State of the flow as the controller sees it.
    pub fn view(&self) -> FlowView {
        self.view
    }

    /// Segments sent and not acknowledged cumulatively.
    pub fn flight(&self) -> u32 {
        let numbers = self.board.numbers();
        (numbers.end - numbers.start) as u32
    }

    /// Whether the window was not filled when something could last have left.
    pub fn is_source_limited(&self) -> bool {
        self.is_source_limited
    }

    /// Delays from the first transmission to the ACK, of the segment that was sent last among those that an
    /// ACK reports.
    pub fn full_delay(&self) -> &DelayHistogram {
        &self.full_delays
    }

    /// Round trips of segments that were sent once, one sample for each ACK that has any.
    pub fn last_delay(&self) -> &DelayHistogram {
        &self.last_delays
    }

    /// Time at which the SYN leaves.
    pub fn start(&self) -> Time {
        self.start
    }

    /// Time from which nothing is sent; `None` for no such time.
    pub fn stop(&self) -> Option<Time> {
        (self.stop < Time::MAX).then_some(self.stop)
    }

    /// Bytes of its source; `None` for one without end.
    pub fn length(&self) -> Option<ByteCount> {
        self.source.length().map(ByteCount::new)
    }

    /// Maximum payload per segment, bytes, above zero.
    pub fn mss(&self) -> u16 {
        self.settings.mss
    }

    /// Segments per second that pacing lets through; infinite when not paced.
    pub fn paced_per_second(&self) -> f64 {
        self.pacer.per_second(self.controller.pacing())
    }

    /// Congestion window of the controller, segments. In fast recovery less or more may be in flight meanwhile.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Time at which everything was acknowledged, including the FIN; `None` before that and for an unlimited source.
    pub fn completed_at(&self) -> Option<Time> {
        self.completed
    }

    /// Whether the connection has started and still sends or waits for acknowledgements.
    pub fn is_under_way(&self, now: Time) -> bool {
        let has_stopped = now >= self.stop && self.view.in_flight == 0;
        self.start <= now && self.completed.is_none() && !has_stopped
    }

    /// Whether both directions are closed.
    pub fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// Updates the state that the controller sees.
    fn refresh_view(&mut self) {
        let numbers = self.board.numbers();
        let view = &mut self.view;
        view.in_flight = self.board.in_flight();
        view.next_segment = numbers.end as u32;
        view.highest_sent = numbers.end.saturating_sub(1) as u32;
        view.smoothed_rtt = self.trip.smoothed();
        view.rto = self.trip.rto();
    }

    /// Calls the controller, then records a change of its window.
    fn notify(
        &mut self,
        cx: &mut Context<'_>,
        cause: Cause,
        call: impl FnOnce(&mut dyn CongestionController, &mut Context<'_>, &FlowView),
    ) {
        call(self.controller.as_mut(), cx, &self.view);
        let window = self.controller.window();
        if window != self.window {
            self.window = window;
            cx.record(Event::WindowChanged { flow: self.flow, window, cause });
        }
    }
}
