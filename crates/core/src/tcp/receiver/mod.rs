//! The receiver of one connection: puts the stream in order and acknowledges it.
//!
//! It answers a SYN, and closes its own direction as soon as the sender has closed the other. Its answers are repeated
//! when the sender repeats its segments, so it needs no retransmission timer. Left out: a time stamp older than the last is
//! not refused (RFC 7323, section 5), as no segment outlives 2^31 bytes here.

mod ack_policy;
#[cfg(test)]
mod tests;
mod window;

pub use ack_policy::{AckPolicy, EcnEcho};

use std::collections::VecDeque;

use super::options::{Segment, SynOptions, TcpOptions, segment_size, stamp};
use super::reassembly::{Placed, Reassembly};
use super::sequence::SequenceSpace;
use crate::clock::Clock;
use crate::ndn::name::Name;
use crate::ndn::packet::TcpFlags;
use crate::ndn::packet::{Ecn, Header, Kind, TcpSegment};
use crate::scheme::signal::HopSignals;
use crate::units::{ByteCount, Time};

use ack_policy::{AckTimer, Echo};
use window::ReceiveWindow;

/// Position of the receiver's FIN; it sends no data.
const OWN_FIN: u64 = 1;

/// Parameters of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverSetup {
    /// Name of the flow, on every ACK.
    pub name: Name,
    /// Most bytes of payload per segment.
    pub mss: u16,
    /// Memory for what the application has not read or what came early.
    pub buffer: ByteCount,
    /// Whether the application reads at once; otherwise it reads by [`Receiver::read`].
    pub reads_at_once: bool,
    /// Acknowledgement policy of the receiver.
    pub ack_policy: AckPolicy,
    /// Whether it accepts ECN if the sender offers it.
    pub ecn: bool,
    /// Echo of congestion marks.
    pub echo: EcnEcho,
    /// Bytes of option on every ACK for feedback of the network.
    pub ack_option: ByteCount,
    /// Sequence number of its SYN.
    pub initial_sequence: u32,
    /// Clock of its node.
    pub clock: Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Listening,
    Open,
    /// The receiver's FIN has been sent.
    Closing,
    Closed,
}

/// The receiver of one connection. After [`on_segment`](Self::on_segment), [`on_wake`](Self::on_wake) and
/// [`read`](Self::read) a driver calls [`poll`](Self::poll) until it gives `None`.
#[derive(Debug)]
pub struct Receiver {
    name: Name,
    mss: u16,
    clock: Clock,
    stage: Stage,
    own: SequenceSpace,
    peer: SequenceSpace,
    stream: Reassembly,
    /// Position of the sender's FIN, once known.
    end: Option<u64>,
    window: ReceiveWindow,
    timer: AckTimer,
    takes_ecn: bool,
    echo: Echo,
    ack_option: ByteCount,
    /// Signals of the last segment that travel back.
    signals: HopSignals,
    /// TS.Recent, ms (RFC 7323, section 4.3).
    stamp: u32,
    /// Position of the last ACK sent.
    acknowledged: u64,
    duplicates: u64,
    arrived: u64,
    /// Arrival time of the last new bytes.
    arrived_at: Time,
    completed: Option<Time>,
    ready: VecDeque<Segment>,
}

impl Receiver {
    /// A receiver that waits for a SYN.
    pub fn new(setup: ReceiverSetup) -> Self {
        Self {
            name: setup.name,
            mss: setup.mss,
            clock: setup.clock,
            stage: Stage::Listening,
            own: SequenceSpace::new(setup.initial_sequence),
            peer: SequenceSpace::default(),
            stream: Reassembly::new(1),
            end: None,
            window: ReceiveWindow::new(setup.buffer, setup.mss, setup.reads_at_once),
            timer: AckTimer::new(setup.ack_policy),
            takes_ecn: setup.ecn,
            echo: Echo::new(setup.echo),
            ack_option: setup.ack_option,
            signals: HopSignals::default(),
            stamp: 0,
            acknowledged: 0,
            duplicates: 0,
            arrived: 0,
            arrived_at: Time::ZERO,
            completed: None,
            ready: VecDeque::new(),
        }
    }

    /// Takes in a segment of the sender's; anything else is not for it.
    pub fn on_segment(&mut self, now: Time, header: &Header) {
        let Kind::Tcp(segment) = header.kind else { return };
        let flags = segment.flags;
        if header.hop.has_any() && (segment.payload > 0 || flags.has(TcpFlags::SYN)) {
            self.signals = header.hop.echoed();
        }
        if flags.has(TcpFlags::SYN) {
            self.on_syn(now, &segment);
        } else if self.stage != Stage::Listening {
            self.on_acknowledgement(&segment);
            self.on_data(now, &segment, header.hop.mark > 0);
        }
    }

    /// Sends an ACK that has waited long enough.
    pub fn on_wake(&mut self, now: Time) {
        if self.timer.due().is_some_and(|due| due <= self.clock.ticked(now)) {
            self.acknowledge(now);
        }
    }

    /// Time at which [`on_wake`](Self::on_wake) is due; `None` for never.
    pub fn next_wake(&self) -> Option<Time> {
        self.timer.due().map(|due| self.clock.tick_from(due))
    }

    /// The next segment that leaves.
    pub fn poll(&mut self) -> Option<Segment> {
        self.ready.pop_front()
    }

    /// The application reads up to `length` of the contiguous bytes. A window that has opened far enough is advertised.
    pub fn read(&mut self, now: Time, length: ByteCount) {
        if self.stage == Stage::Open && self.window.read(length, self.stream.next()) {
            self.acknowledge(now);
        }
    }

    /// Payload that came in order.
    pub fn received(&self) -> ByteCount {
        let fin = u64::from(self.has_all());
        ByteCount::new(self.stream.next() - 1 - fin)
    }

    /// Payload that came, each byte once, in order or not.
    pub fn arrived(&self) -> ByteCount {
        ByteCount::new(self.arrived)
    }

    /// Arrival time of the last new bytes; the start of the run before the first.
    pub fn arrived_at(&self) -> Time {
        self.arrived_at
    }

    /// Time at which the stream was complete; `None` before that.
    pub fn completed_at(&self) -> Option<Time> {
        self.completed
    }

    /// Segments that brought nothing new.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Whether both directions are closed.
    pub fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    fn has_all(&self) -> bool {
        self.end.is_some_and(|end| self.stream.next() > end)
    }

    /// A repeated SYN is answered again, whatever the stage: the first answer may have been lost.
    fn on_syn(&mut self, now: Time, segment: &TcpSegment) {
        if self.stage == Stage::Listening {
            self.stage = Stage::Open;
            self.peer = SequenceSpace::new(segment.seq);
            self.acknowledged = 1;
        }
        // RFC 7323, section 4.3; for a repeated SYN, too, or the sender's sample would begin with the first one.
        self.stamp = self.stamp.max(segment.timestamp);
        let options = SynOptions { mss: self.mss, window_scale: self.window.scale() };
        let options = TcpOptions { syn: Some(options), ..TcpOptions::default() };
        let window = self.window.unscaled(self.stream.next());
        // RFC 3168, section 6.1.1.
        let has_ecn = self.takes_ecn && segment.flags.has(TcpFlags::ECE | TcpFlags::CWR);
        let flags = (TcpFlags::SYN | TcpFlags::ACK).with_if(has_ecn, TcpFlags::ECE);
        self.push(now, 0, flags, window, options);
    }

    /// The sender acknowledges the receiver's FIN.
    fn on_acknowledgement(&mut self, segment: &TcpSegment) {
        let acked = self.own.position(segment.ack, OWN_FIN);
        if self.stage == Stage::Closing && acked.is_some_and(|acked| acked > OWN_FIN) {
            self.stage = Stage::Closed;
            self.timer.clear();
        }
    }

    fn on_data(&mut self, now: Time, segment: &TcpSegment, is_marked: bool) {
        let next = self.stream.next();
        let Some(start) = self.peer.position(segment.seq, next) else { return };
        let has_fin = segment.flags.has(TcpFlags::FIN);
        let end = start + u64::from(segment.payload) + u64::from(has_fin);
        if start == end {
            // A bare ACK; below what was acknowledged it asks whether the window is still closed.
            if start < next && self.stage != Stage::Closed {
                self.acknowledge(now);
            }
            return;
        }
        // Data beyond the window is dropped and answered (RFC 9293, section 3.10.7.4). A FIN takes no memory.
        if end > self.window.limit() + u64::from(has_fin) {
            return self.acknowledge(now);
        }
        // The ACK of the waiting segments leaves before `take_in` replaces the state that it reports.
        if self.echo.must_report_before(is_marked) && self.timer.is_waiting() {
            self.acknowledge(now);
        }
        self.echo.take_in(is_marked, segment.flags.has(TcpFlags::CWR));
        if has_fin {
            self.end = Some(end - 1);
        }
        // RFC 7323, section 4.3: the stamp of the first segment since the last ACK, so that the sender's
        // sample includes the delay of the ACK.
        if start <= self.acknowledged {
            self.stamp = segment.timestamp;
        }
        let placed = self.stream.place(start..end);
        if placed == Placed::Duplicate {
            self.duplicates += 1;
        } else {
            self.arrived += u64::from(segment.payload);
            self.arrived_at = now;
        }
        self.window.take_in(self.stream.next() - next);
        if self.has_all() {
            self.completed = self.completed.or(Some(now));
        }
        self.answer(now, placed);
    }

    /// RFC 5681, section 4.2: at once when something is missing, arrived twice or fills a gap; otherwise by
    /// the policy.
    fn answer(&mut self, now: Time, placed: Placed) {
        // `count` stands first because it has to count every segment, whichever condition causes the ACK.
        if self.timer.count(now) || placed != Placed::InOrder || self.has_all() || self.echo.is_urgent() {
            self.acknowledge(now);
        }
    }

    fn acknowledge(&mut self, now: Time) {
        // Every further ACK carries the FIN. The sender repeats its own FIN until it is answered, which makes
        // up for a lost one.
        let closes = self.has_all() && self.stage != Stage::Listening;
        if closes && self.stage == Stage::Open {
            self.stage = Stage::Closing;
        }
        self.timer.clear();
        self.acknowledged = self.stream.next();
        let options = TcpOptions { sack: self.stream.sack_blocks(self.peer), syn: None };
        let flags = TcpFlags::ACK.with_if(self.echo.reports(), TcpFlags::ECE).with_if(closes, TcpFlags::FIN);
        let window = self.window.advertise(self.stream.next());
        self.push(now, OWN_FIN, flags, window, options);
    }

    fn push(&mut self, now: Time, position: u64, flags: TcpFlags, window: u16, options: TcpOptions) {
        let segment = TcpSegment {
            seq: self.own.number(position),
            ack: self.peer.number(self.stream.next()),
            timestamp: stamp(now).0,
            echo: self.stamp,
            payload: 0,
            window,
            flags,
            ecn: Ecn::NotCapable,
        };
        let size = segment_size(ByteCount::ZERO, &options) + self.ack_option;
        let mut header = Header::new(self.name, Kind::Tcp(segment), size);
        header.hop = self.signals;
        self.ready.push_back(Segment { header, options });
    }
}
