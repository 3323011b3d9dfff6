//! The consumer of one flow: decides which segment to request next and when, under a congestion controller.
//!
//! The controller limits the outstanding Interests; the consumer profile defines how losses are detected and repaired.
//! Sources: ndnSIM `ndn-consumer*.cpp`, ndn-tools `pipeline-interests-adaptive.cpp`, NDNts `fetch/logic.ts`.

mod arrival;
#[cfg(test)]
mod clock_tests;
mod demand;
mod loss;
pub mod outstanding;
pub mod pacer;
pub mod profile;
mod requests;
mod retransmit;
pub mod rto;
mod stats;
#[cfg(test)]
mod tests;

pub use arrival::Arrived;
pub use demand::Demand;
pub use requests::{Arrivals, Popularity, Workload};
pub use stats::ConsumerStats;

use crate::clock::Clock;
use crate::context::Context;
use crate::ndn::name::{Name, PrefixId};
use crate::ndn::packet::{Header, Interest, Kind, Millis, PitToken, wire_size};
use crate::observe::event::{Cause, Event};
use crate::rng::{Rng, Streams};
use crate::scheme::congestion::{CongestionController, FlowView, SendOrder, Sent};
use crate::units::{ByteCount, Span, Time};

use demand::Timetable;
use outstanding::Outstanding;
use pacer::Pacer;
use profile::{ProfileOptions, ProfileRules, TimeoutReading, Tracking};
use requests::Requests;
use retransmit::RetransmitQueue;
use rto::Estimator;

/// End of a flow without a known last segment; it is also the limit of segment numbers.
const UNBOUNDED: u32 = u32::MAX;

/// Maximum number of outstanding Interests whatever the window, so that an unbounded window cannot fill the
/// memory.
const MAX_IN_FLIGHT: u32 = 1 << 20;

/// Minimum interval between sweeps and minimum lifetime: time must pass between an Interest and its loss.
const SHORTEST_PAUSE: Span = Span::from_micros(1);

/// Parameters of a consumer.
#[derive(Debug)]
pub struct ConsumerSetup {
    /// Number of the flow in events.
    pub flow: u32,
    /// Prefix of the segments.
    pub prefix: PrefixId,
    /// Rules of the consumer profile around the controller.
    pub profile: ProfileRules,
    /// Window or rate rule.
    pub controller: Box<dyn CongestionController>,
    /// Data that the flow requests.
    pub demand: Demand,
    /// Content bytes per Data, by which rates are turned into Interests.
    pub payload: ByteCount,
    /// Whether Interests have MustBeFresh.
    pub must_be_fresh: bool,
    /// Time at which the first Interest may leave.
    pub start: Time,
    /// No Interest leaves at or after this time; `None` for no such time.
    pub stop: Option<Time>,
    /// Random numbers for nonces.
    pub nonces: Rng,
    /// Random streams of requests for objects.
    pub requests: Streams,
    /// Random streams of the controller.
    pub draws: Streams,
    /// Maximum number of segments requested from the first missing one on, so that the receiver can reorder them in
    /// bounded memory; `None` for no such limit.
    pub receive_limit: Option<u32>,
    /// Clock of its node.
    pub clock: Clock,
}

/// The consumer of one flow.
///
/// A driver calls [`on_wake`](Self::on_wake) at [`next_wake`](Self::next_wake) and
/// [`on_packet`](Self::on_packet) for every packet, and after each of them [`poll`](Self::poll) until it
/// gives `None`. Until its first Interest a consumer allocates nothing.
#[derive(Debug)]
pub struct Consumer {
    flow: u32,
    prefix: PrefixId,
    profile: ProfileRules,
    controller: Box<dyn CongestionController>,
    must_be_fresh: bool,
    has_started: bool,
    start: Time,
    /// Time at which new requests end; [`Time::MAX`] for never.
    stop: Time,
    nonces: Rng,
    timetable: Option<Box<Timetable>>,
    /// Requests of a flow for objects. Its segments are numbered consecutively, whatever their names.
    requests: Option<Box<Requests>>,
    outstanding: Outstanding,
    lost: RetransmitQueue,
    estimator: Estimator,
    pacer: Pacer,
    clock: Clock,
    /// Last arrival that ran the timers in place of a tick.
    flushed_at: Time,
    /// First segment that does not belong to the flow.
    end: u32,
    /// Maximum number of segments requested from the first missing one on.
    receive_limit: u32,
    /// Updated incrementally, so that a call of the controller has no preparation cost.
    view: FlowView,
    /// Number of lost segments that wait for their retransmission.
    queued: u32,
    /// Last window returned by the controller, packets.
    window: f64,
    /// Losses up to this segment belong to a congestion event that was answered already.
    recovery_point: u32,
    /// Time of the next search for timed-out Interests, [`Time::MAX`] for never. Never too late, sometimes too early.
    sweep_at: Time,
    /// Time of the next search for expired Interests; as above.
    expire_at: Time,
    completed: Option<Time>,
    /// Encoded lengths of names whose segment number has 1, 2 and 4 bytes; zero until the first Interest.
    name_lengths: [u32; 3],
    stats: ConsumerStats,
    /// Buffer of a sweep, reused to avoid allocations.
    overdue: Vec<u32>,
}

impl Consumer {
    /// A consumer that has sent nothing yet.
    pub fn new(setup: ConsumerSetup) -> Self {
        let ConsumerSetup { flow, prefix, profile, controller, demand, payload, .. } = setup;
        let (mut profile, mut controller) = (profile, controller);
        controller.take_streams(setup.draws);
        profile.sweep = profile.sweep.max(SHORTEST_PAUSE);
        profile.lifetime = profile.lifetime.map(|lifetime| lifetime.max(SHORTEST_PAUSE));
        let (mut timetable, mut requests) = (None, None);
        let end = match demand {
            Demand::File { segments } => segments,
            Demand::Endless => UNBOUNDED,
            Demand::Constant { rate, bursts } => {
                let ticks = timetable.insert(Box::new(Timetable::new(rate, payload, bursts, setup.start)));
                ticks.segments().unwrap_or(UNBOUNDED)
            }
            Demand::Objects(workload) => {
                let all = requests.insert(Box::new(Requests::new(workload, setup.start, setup.requests)));
                all.end().unwrap_or(UNBOUNDED)
            }
        };
        profile.options.set(ProfileOptions::TIMETABLE, timetable.is_some());
        profile.options.set(ProfileOptions::REQUESTS, requests.is_some());
        profile.options.set(ProfileOptions::TICKS, !setup.clock.is_fine());
        let estimator = Estimator::new(profile.estimator, profile.timeout);
        let remaining = (end != UNBOUNDED).then_some(u64::from(end));
        let view = FlowView { remaining, rto: estimator.rto(), ..FlowView::default() };
        Self {
            flow,
            prefix,
            window: controller.window(),
            controller,
            must_be_fresh: setup.must_be_fresh,
            has_started: false,
            start: setup.start,
            stop: setup.stop.unwrap_or(Time::MAX),
            nonces: setup.nonces,
            timetable,
            requests,
            outstanding: Outstanding::default(),
            lost: RetransmitQueue::new(profile.retransmit),
            estimator,
            pacer: Pacer::new(payload),
            clock: setup.clock,
            flushed_at: Time::ZERO,
            profile,
            end,
            receive_limit: setup.receive_limit.unwrap_or(u32::MAX).max(1),
            view,
            queued: 0,
            recovery_point: 0,
            sweep_at: Time::MAX,
            expire_at: Time::MAX,
            completed: None,
            name_lengths: [0; 3],
            stats: ConsumerStats::default(),
            overdue: Vec::new(),
        }
    }

    /// Runs what is due: loss detection by timers and the controller's wake-up. After the stop losses are
    /// still detected, so that nothing counts as outstanding for ever.
    pub fn on_wake(&mut self, cx: &mut Context<'_>) {
        let is_active = self.is_active(cx.now);
        if !self.has_started {
            return;
        }
        if let Some(requests) = &mut self.requests
            && is_active
        {
            requests.advance(cx.now);
        }
        let ticked = self.ticked(cx.now);
        if self.sweep_at <= ticked {
            self.sweep(cx);
        }
        if self.expire_at <= ticked {
            self.expire(cx);
        }
        if is_active && self.controller.next_wake().is_some_and(|at| at <= ticked) {
            self.notify(cx, Cause("wake"), |controller, cx, view| controller.on_wake(cx, view));
        }
    }

    /// Time at which [`on_wake`](Self::on_wake) and [`poll`](Self::poll) are due without a packet; `None` for never.
    pub fn next_wake(&self) -> Option<Time> {
        if self.is_complete() {
            return None;
        }
        let mut next = self.start;
        let lost = self.clock.tick_from(self.sweep_at.min(self.expire_at));
        if self.has_started {
            let tick = self.timetable.as_ref().and_then(|timetable| timetable.tick());
            next = Time::MAX;
            for other in [self.pacer.wake(), tick, self.controller.next_wake()] {
                next = next.min(other.unwrap_or(Time::MAX));
            }
            // Requests are driven by users, whose arrivals do not follow the node's clock.
            let arrival = self.requests.as_ref().and_then(|requests| requests.next_arrival());
            next = self.clock.tick_from(next).min(arrival.unwrap_or(Time::MAX)).min(lost);
        }
        if next < self.stop {
            return Some(next);
        }
        // After the stop only losses of what is still outstanding are of interest.
        (self.has_started && self.view.in_flight > 0 && lost != Time::MAX).then_some(lost)
    }

    /// Latest time whose timers have expired at `now`: that of the clock's last tick, or of an arrival that
    /// ran them since.
    #[inline]
    fn ticked(&self, now: Time) -> Time {
        if self.clock.is_fine() { now } else { self.clock.ticked(now).max(self.flushed_at) }
    }

    /// The next Interest that may leave now.
    #[inline(always)]
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Option<Header> {
        if !self.is_active(cx.now) {
            return None;
        }
        if self.profile.options.has(ProfileOptions::UNUSUAL) {
            return self.poll_unusual(cx);
        }
        self.poll_window::<true>(cx)
    }

    #[cold]
    fn poll_unusual(&mut self, cx: &mut Context<'_>) -> Option<Header> {
        match self.profile.options.has(ProfileOptions::TIMETABLE) {
            true => self.poll_timetable(cx),
            false => self.poll_window::<false>(cx),
        }
    }

    /// The next Interest of a flow without a timetable; `IS_USUAL`: it has none of the [unusual](ProfileOptions::UNUSUAL)
    /// options.
    #[inline(always)]
    fn poll_window<const IS_USUAL: bool>(&mut self, cx: &mut Context<'_>) -> Option<Header> {
        if !self.window_is_open::<IS_USUAL>() || !(self.queued > 0 || self.may_request_new::<IS_USUAL>()) {
            self.pacer.rest();
            return None;
        }
        self.poll_pacer::<IS_USUAL>(cx)
    }

    /// Whether the flow is complete: every segment arrived or was given up.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.outstanding.base() >= self.end
    }

    /// Arrival time of the last segment; `None` before that and if a segment was given up.
    pub fn completed_at(&self) -> Option<Time> {
        self.completed
    }

    /// Sets [`ConsumerSetup::receive_limit`], segments; outstanding requests are not cancelled.
    pub fn set_receive_limit(&mut self, segments: u32) {
        self.receive_limit = segments.max(1);
    }

    /// Congestion window of the controller, packets.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Interests outstanding, as the profile counts them.
    pub fn in_flight(&self) -> u32 {
        self.view.in_flight
    }

    /// Smoothed round-trip time; `None` before the first sample.
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.view.smoothed_rtt
    }

    /// State of the flow as the controller sees it.
    #[inline]
    pub fn view(&self) -> FlowView {
        self.view
    }

    fn is_bounded(&self) -> bool {
        self.end != UNBOUNDED
    }

    /// Between start and stop; notes that the start has passed.
    #[inline]
    fn is_active(&mut self, now: Time) -> bool {
        self.has_started |= self.start <= now;
        self.has_started && now < self.stop
    }

    #[inline]
    fn has_new(&self) -> bool {
        self.view.next_segment < self.end
    }

    /// Whether a new segment may be requested: the receiver can still put it in order, and its request has
    /// come.
    #[inline]
    fn may_request_new<const IS_USUAL: bool>(&self) -> bool {
        let number = self.view.next_segment;
        self.has_new()
            && number - self.outstanding.base() < self.receive_limit
            && (IS_USUAL || self.requests.as_ref().is_none_or(|requests| requests.has_come(number)))
    }

    #[inline]
    fn window_is_open<const IS_USUAL: bool>(&self) -> bool {
        let in_flight = f64::from(self.view.in_flight);
        let is_open = if !IS_USUAL && self.profile.options.has(ProfileOptions::ONE_OVER) {
            // PCON's consumer sends while the window is not exceeded, which lets one more Interest leave.
            in_flight <= self.window
        } else if self.profile.options.has(ProfileOptions::WHOLE_WINDOW) {
            in_flight + 1.0 <= self.window
        } else {
            in_flight < self.window
        };
        is_open && self.view.in_flight < MAX_IN_FLIGHT
    }

    /// The next Interest of a flow whose window is open, unless the pacer delays it.
    fn poll_pacer<const IS_USUAL: bool>(&mut self, cx: &mut Context<'_>) -> Option<Header> {
        let pacing = self.controller.pacing();
        // Between ticks the pacer does not release anything, but Interests fall due at the rate that held
        // then.
        if !IS_USUAL && !self.clock.is_fine() {
            self.pacer.take_on(cx.now, pacing);
        }
        let ticked = if IS_USUAL { cx.now } else { self.ticked(cx.now) };
        if !self.pacer.admits(ticked, pacing) {
            return None;
        }
        let may_request_new = self.may_request_new::<IS_USUAL>();
        let new_first = may_request_new && self.controller.order() == SendOrder::NewFirst;
        // After the pacer, because taking a lost segment out of the queue cannot be undone.
        let lost = if self.queued > 0 && !new_first { self.next_lost() } else { None };
        // All lost segments may be held back by the controller.
        if lost.is_none() && !may_request_new {
            self.pacer.rest();
            return None;
        }
        self.pacer.depart(cx.now);
        Some(match lost {
            Some(segment) => self.send_again(cx, segment),
            None => self.send_new(cx),
        })
    }

    /// The lost segment that is retransmitted next.
    fn next_lost(&mut self) -> Option<u32> {
        self.lost.pop(&self.outstanding, |segment| self.controller.holds_back(segment))
    }

    /// Each tick of a burst carries a new segment and at most one lost one; between bursts lost segments
    /// leave at once.
    #[inline(never)]
    fn poll_timetable(&mut self, cx: &mut Context<'_>) -> Option<Header> {
        let (has_new, ticked) = (self.has_new(), self.ticked(cx.now));
        let timetable = self.timetable.as_mut()?;
        if !has_new {
            timetable.end();
        }
        if timetable.tick().is_none_or(|tick| tick > ticked) {
            let may_retransmit = self.queued > 0 && !timetable.is_running(ticked);
            return if may_retransmit { self.send_lost(cx) } else { None };
        }
        if self.queued > 0 && timetable.take_retransmission() {
            return self.send_lost(cx);
        }
        timetable.advance();
        Some(self.send_new(cx))
    }

    #[inline(always)]
    fn send_new(&mut self, cx: &mut Context<'_>) -> Header {
        let segment = self.view.next_segment;
        self.view.next_segment = segment + 1;
        self.view.highest_sent = segment;
        if let Some(requests) = &mut self.requests {
            requests.request(segment, self.outstanding.base());
        }
        let (header, deadline) = self.send(cx, segment, false);
        self.outstanding.send_new(cx.now, deadline, self.view.delivered as u32);
        header
    }

    fn send_lost(&mut self, cx: &mut Context<'_>) -> Option<Header> {
        let segment = self.next_lost()?;
        Some(self.send_again(cx, segment))
    }

    #[inline(never)]
    fn send_again(&mut self, cx: &mut Context<'_>, segment: u32) -> Header {
        self.queued -= 1;
        self.stats.retransmissions += 1;
        let (header, deadline) = self.send(cx, segment, true);
        self.outstanding.send_again(segment, cx.now, deadline, self.view.delivered as u32);
        header
    }

    /// Makes the Interest for a segment; also the last instant at which it does not count as lost, if that
    /// is fixed now.
    #[inline(always)]
    fn send(&mut self, cx: &mut Context<'_>, segment: u32, is_retransmission: bool) -> (Header, Time) {
        self.view.in_flight += 1;
        self.stats.interests += 1;
        let name = self.name_of(segment);
        let size = self.interest_size(cx, name.segment.0);
        let mut header = Header::new(name, Kind::Interest(self.interest()), size);
        let sent = Sent { segment, at: cx.now, is_retransmission };
        let hop = &mut header.hop;
        self.notify(cx, Cause("sent"), |controller, cx, view| controller.on_sent(cx, &sent, hop, view));
        let deadline = self.watch(&sent);
        cx.record(Event::InterestSent { flow: self.flow, name, retransmission: is_retransmission });
        (header, deadline)
    }

    /// Name of the Interest for the flow's segment `number`.
    #[inline]
    fn name_of(&self, number: u32) -> Name {
        let segment = self.requests.as_ref().map_or(number, |requests| requests.segment(number));
        Name::segment(self.prefix, segment)
    }

    /// Fields of an Interest with a new nonce.
    fn interest(&mut self) -> Interest {
        // NDNts: the entry outlives the timeout, so that a late Data still finds it.
        let lifetime = self.profile.lifetime.unwrap_or_else(|| self.view.rto + Span::from_secs(1));
        Interest {
            nonce: (self.nonces.bits() >> 32) as u32,
            lifetime: Millis::from_span(lifetime),
            token: PitToken::default(),
            hop_limit: self.profile.hop_limit,
            can_be_prefix: false,
            must_be_fresh: self.must_be_fresh,
        }
    }

    #[inline]
    fn interest_size(&mut self, cx: &Context<'_>, segment: u32) -> ByteCount {
        if self.name_lengths[0] == 0 {
            // The length depends only on the bytes of the number, so it is computed once per width.
            self.name_lengths =
                [0, 0x100, 0x1_0000].map(|width| cx.names.encoded_len(Name::segment(self.prefix, width)));
        }
        let width = usize::from(segment > 0xFF) + usize::from(segment > 0xFFFF);
        wire_size::interest(self.name_lengths[width])
    }

    /// Calls the controller, then records a change of its window.
    #[inline]
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

    /// Records the time at which the last segment arrived.
    fn note_completion(&mut self, now: Time) {
        if self.is_complete() && self.completed.is_none() && self.stats.abandoned == 0 {
            self.completed = Some(now);
        }
    }
}
