//! Tests of the consumer alone: its packets, their times, and the reports to its controller.

use std::sync::{Arc, Mutex, MutexGuard};

use super::profile::{ConsumerProfile, ProfileOptions};
use super::rto::EstimatorKind;
use super::*;
use crate::clock::Clock;
use crate::context::{Env, Present, Sink};
use crate::ndn::face::NodeId;
use crate::ndn::name::{NameTable, Segment};
use crate::ndn::packet::{Data, LossNotice, Nack, NackReason};
use crate::observe::event::EventMask;
use crate::observe::records::{FlowRecord, FlowSamples};
use crate::rng::{Seed, Streams};
use crate::scheme::congestion::{Delivery, Loss, LossSignal, Pacing};
use crate::units::BitRate;

/// Content bytes per Data in these tests.
const PAYLOAD: u32 = 1000;

/// Reports to the controller, shared with the test.
#[derive(Debug)]
struct Told {
    window: f64,
    pacing: Pacing,
    order: SendOrder,
    timeout: Option<Span>,
    wake: Option<Time>,
    sent: Vec<Sent>,
    deliveries: Vec<(Delivery, FlowView)>,
    losses: Vec<(Loss, FlowView)>,
}

/// A controller that does what the test says.
#[derive(Debug, Clone)]
struct Puppet(Arc<Mutex<Told>>);

impl Puppet {
    fn new(window: f64) -> Self {
        Self(Arc::new(Mutex::new(Told {
            window,
            pacing: Pacing::Unpaced,
            order: SendOrder::RetransmissionsFirst,
            timeout: None,
            wake: None,
            sent: Vec::new(),
            deliveries: Vec::new(),
            losses: Vec::new(),
        })))
    }

    fn reported(&self) -> MutexGuard<'_, Told> {
        self.0.lock().expect("no test panicked with it")
    }
}

impl CongestionController for Puppet {
    fn window(&self) -> f64 {
        self.reported().window
    }
    fn pacing(&self) -> Pacing {
        self.reported().pacing
    }
    fn order(&self) -> SendOrder {
        self.reported().order
    }
    fn loss_timeout(&self, _: &Sent) -> Option<Span> {
        self.reported().timeout
    }
    fn next_wake(&self) -> Option<Time> {
        self.reported().wake
    }
    fn on_wake(&mut self, _: &mut Context<'_>, _: &FlowView) {
        self.reported().wake = None;
    }
    fn on_sent(
        &mut self,
        _: &mut Context<'_>,
        sent: &Sent,
        _: &mut crate::scheme::signal::HopSignals,
        _: &FlowView,
    ) {
        self.reported().sent.push(*sent);
    }
    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        self.reported().deliveries.push((*delivery, *flow));
    }
    fn on_loss(&mut self, _: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        self.reported().losses.push((*loss, *flow));
    }
}

/// Keeps every event with its time.
#[derive(Debug, Default)]
struct Events(Vec<(Time, Event)>);

impl Sink for Events {
    fn record(&mut self, at: Time, _: NodeId, event: Event) {
        self.0.push((at, event));
    }
}

/// A consumer and the test's hold on everything around it.
pub(super) struct Bench {
    consumer: Consumer,
    names: NameTable,
    events: Events,
    puppet: Puppet,
}

pub(super) const fn ms(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

impl Bench {
    fn new(profile: ProfileRules, demand: Demand, window: f64) -> Self {
        Self::with(profile, demand, window, |_| {})
    }

    fn of(kind: ConsumerProfile, segments: u32, window: f64) -> Self {
        Self::new(ProfileRules::of(kind), Demand::File { segments }, window)
    }

    pub(super) fn with(
        profile: ProfileRules,
        demand: Demand,
        window: f64,
        change: impl Fn(&mut ConsumerSetup),
    ) -> Self {
        let mut names = NameTable::new();
        let puppet = Puppet::new(window);
        let mut setup = ConsumerSetup {
            flow: 3,
            prefix: names.intern_uri("/file").expect("valid"),
            profile,
            controller: Box::new(puppet.clone()),
            demand,
            payload: ByteCount::new(u64::from(PAYLOAD)),
            must_be_fresh: true,
            start: Time::ZERO,
            stop: None,
            nonces: Rng::stream(Seed(1), "nonces"),
            requests: Streams::of(Seed(1)).under("requests/"),
            draws: Streams::of(Seed(0)),
            receive_limit: None,
            clock: Clock::FINE,
        };
        change(&mut setup);
        Self { consumer: Consumer::new(setup), names, events: Events::default(), puppet }
    }

    fn call<T>(&mut self, now: Time, call: impl FnOnce(&mut Consumer, &mut Context<'_>) -> T) -> T {
        let mut present = Present::observed(&mut self.events).at(now).with_mask(EventMask::ALL);
        let env = Env::new(&self.names, &mut present);
        call(&mut self.consumer, &mut Context::new(env, &[]))
    }

    /// All Interests that leave at `now`.
    fn poll(&mut self, now: Time) -> Vec<Header> {
        let mut interests = Vec::new();
        while let Some(header) = self.call(now, |consumer, cx| consumer.poll(cx)) {
            interests.push(header);
            assert!(interests.len() < 2_000_000, "poll never ends");
        }
        interests
    }

    /// Segments that are asked for at `now`.
    pub(super) fn sends(&mut self, now: Time) -> Vec<u32> {
        self.poll(now).iter().map(|header| header.name.segment.0).collect()
    }

    /// Wakes the consumer at `now`, then takes what leaves.
    pub(super) fn wake(&mut self, now: Time) -> Vec<u32> {
        self.call(now, |consumer, cx| consumer.on_wake(cx));
        self.sends(now)
    }

    /// Wakes the consumer whenever it asks up to and including `until`: when each segment left.
    pub(super) fn run(&mut self, until: Time) -> Vec<(u64, u32)> {
        let mut log = Vec::new();
        let mut wakes = 0;
        while let Some(at) = self.consumer.next_wake().filter(|at| *at <= until) {
            log.extend(self.wake(at).into_iter().map(|segment| (at.as_nanos() / 1_000_000, segment)));
            wakes += 1;
            assert!(wakes < 1_000_000, "the consumer asks to be woken for ever at {at}");
        }
        log
    }

    fn receive(&mut self, now: Time, segment: u32, kind: Kind, mark: u8) -> Arrived {
        let name = Name::segment(self.consumer.prefix, segment);
        let mut header = Header::new(name, kind, ByteCount::new(1037));
        header.hop.mark = mark;
        self.call(now, |consumer, cx| consumer.on_packet(cx, &header))
    }

    pub(super) fn data(&mut self, now: Time, segment: u32) -> Arrived {
        self.receive(now, segment, data(Segment::NONE), 0)
    }

    pub(super) fn nack(&mut self, now: Time, segment: u32, reason: NackReason) -> Arrived {
        let interest = Interest {
            nonce: 0,
            lifetime: Millis(1000),
            token: PitToken(0),
            hop_limit: None,
            can_be_prefix: false,
            must_be_fresh: false,
        };
        self.receive(now, segment, Kind::Nack(Nack { interest, reason }), 0)
    }

    fn notice(&mut self, now: Time, segment: u32) -> Arrived {
        self.receive(now, segment, Kind::LossNotice(LossNotice { token: PitToken(0) }), 0)
    }

    pub(super) fn set_pacing(&self, pacing: Pacing) {
        self.puppet.reported().pacing = pacing;
    }

    fn set_window(&mut self, window: f64) {
        self.puppet.reported().window = window;
    }

    /// Segment and signal of every reported loss.
    fn losses(&self) -> Vec<(u32, LossSignal)> {
        self.puppet.reported().losses.iter().map(|(loss, _)| (loss.segment, loss.signal)).collect()
    }

    fn last_delivery(&self) -> (Delivery, FlowView) {
        *self.puppet.reported().deliveries.last().expect("a delivery")
    }

    fn record(&self) -> FlowRecord {
        let mut record = FlowRecord::default();
        self.consumer.fill_record(&mut record);
        record
    }
}

fn data(final_segment: Segment) -> Kind {
    Kind::Data(Data { freshness: Millis(0), final_segment, payload: PAYLOAD, token: PitToken(0) })
}

#[test]
fn an_idle_consumer_takes_less_than_a_kilobyte_with_its_controller() {
    // 256 bytes are left for the controller and the timetable.
    let size = size_of::<Consumer>();
    assert!(size <= 768, "{size} bytes");
}

#[test]
fn nothing_leaves_before_the_start_or_from_the_stop_on() {
    let mut bench = Bench::with(ProfileRules::of(ConsumerProfile::Ndnsim), Demand::Endless, 2.0, |setup| {
        setup.start = ms(100);
        setup.stop = Some(ms(1250));
    });
    assert_eq!(bench.consumer.next_wake(), Some(ms(100)));
    assert_eq!(bench.wake(ms(99)), []);
    // Sent at 100, timed out after 1 s, looked for every 50 ms from the start: again at 1100, then not until 3100.
    assert_eq!(bench.run(ms(1_240)), [(100, 0), (100, 1), (1100, 0), (1100, 1)]);
    bench.data(ms(1249), 0);
    assert_eq!(bench.sends(ms(1249)), [2]);
    assert_eq!(bench.data(ms(1250), 1), Arrived::New { segment: 1 });
    assert_eq!((bench.sends(ms(1250)), bench.consumer.in_flight()), (vec![], 1));
    // What is lost is found after the stop, too, but not asked for again.
    assert_eq!(bench.run(ms(60_000)), []);
    assert_eq!((bench.consumer.in_flight(), bench.consumer.next_wake()), (0, None));
}

#[test]
fn an_interest_carries_the_shells_lifetime_and_hop_limit_and_its_size_on_the_wire() {
    let mut profile = ProfileRules::of(ConsumerProfile::Ndnsim);
    profile.hop_limit = Some(32);
    let mut bench = Bench::new(profile, Demand::File { segments: 70_000 }, 66_000.0);
    let interests = bench.poll(ms(0));
    let Kind::Interest(first) = interests[0].kind else { panic!("{:?}", interests[0]) };
    assert_eq!((first.lifetime, first.hop_limit, first.must_be_fresh), (Millis(2000), Some(32), true));
    // Name TLV: 2 + 6 for /file + 3, 4 or 6 for the segment; 14 bytes around it.
    let sizes = [0, 255, 256, 65_535, 65_536].map(|segment| interests[segment].size().get());
    assert_eq!(sizes, [25, 25, 26, 26, 28]);
}

#[test]
fn new_segments_wait_for_a_missing_one_when_the_receiver_cannot_hold_more() {
    let mut bench = Bench::with(ProfileRules::of(ConsumerProfile::Own), Demand::Endless, 10.0, |setup| {
        setup.receive_limit = Some(3);
    });
    assert_eq!(bench.sends(ms(0)), [0, 1, 2]);
    bench.data(ms(5), 1);
    bench.data(ms(5), 2);
    assert_eq!(bench.sends(ms(5)), []);
    bench.data(ms(6), 0);
    assert_eq!(bench.sends(ms(6)), [3, 4, 5]);
    bench.consumer.set_receive_limit(5);
    assert_eq!(bench.sends(ms(7)), [6, 7]);
    bench.consumer.set_receive_limit(2);
    bench.data(ms(8), 3);
    assert_eq!(bench.sends(ms(8)), []);
}

#[test]
fn a_segment_without_a_route_is_requested_again_if_the_profile_reports_it() {
    // The timer of 1 s ends and is looked for each 10 ms.
    for (no_route_is_final, sent) in [(true, vec![]), (false, vec![(1010, 0)])] {
        let mut profile = ProfileRules::of(ConsumerProfile::Own);
        profile.options.set(ProfileOptions::NO_ROUTE_IS_FINAL, no_route_is_final);
        let mut bench = Bench::new(profile, Demand::File { segments: 1 }, 1.0);
        assert_eq!(bench.sends(ms(0)), [0]);
        bench.nack(ms(5), 0, NackReason::NoRoute);
        assert_eq!(bench.run(ms(1500)), sent, "final: {no_route_is_final}");
        assert_eq!(bench.consumer.is_complete(), no_route_is_final);
    }
}

#[test]
fn every_transmission_has_a_nonce_of_its_own() {
    let mut bench = Bench::of(ConsumerProfile::Ndnsim, 50, 50.0);
    let mut nonces = Vec::new();
    for now in [ms(0), ms(1000)] {
        bench.call(now, |consumer, cx| consumer.on_wake(cx));
        nonces.extend(bench.poll(now).iter().map(|header| match header.kind {
            Kind::Interest(interest) => interest.nonce,
            _ => panic!("{header:?}"),
        }));
    }
    assert_eq!(nonces.len(), 100);
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), 100);
}

#[test]
fn ndnsim_takes_the_window_as_a_real_number_and_ndn_tools_as_a_whole_one() {
    let sent = |kind, window| Bench::of(kind, 10, window).sends(ms(0)).len();
    assert_eq!([sent(ConsumerProfile::Ndnsim, 2.5), sent(ConsumerProfile::Ndnsim, 2.0)], [3, 2]);
    assert_eq!([sent(ConsumerProfile::NdnTools, 2.5), sent(ConsumerProfile::NdnTools, 2.0)], [2, 2]);
    let mut over = ProfileRules::of(ConsumerProfile::Ndnsim);
    over.options.set(ProfileOptions::ONE_OVER, true);
    assert_eq!(Bench::new(over, Demand::Endless, 2.0).sends(ms(0)).len(), 3);
}

#[test]
fn a_window_without_bound_stops_at_a_million_outstanding() {
    let mut bench = Bench::new(ProfileRules::of(ConsumerProfile::Own), Demand::Endless, f64::INFINITY);
    assert_eq!(bench.sends(ms(0)).len(), 1 << 20);
}

#[test]
fn ndnsim_finds_a_timeout_at_the_next_multiple_of_50_ms_after_the_start() {
    let mut bench = Bench::of(ConsumerProfile::Ndnsim, 3, 1.0);
    assert_eq!(bench.sends(ms(0)), [0]);
    // 100 ms and deviation 50 ms: timeout 300 ms from now on.
    bench.data(ms(100), 0);
    assert_eq!(bench.sends(ms(120)), [1]);
    // Due at 420, seen at 450; the backed-off timeout of 600 ms ends at 1050, just in time for that sweep.
    assert_eq!(bench.run(ms(2000)), [(450, 1), (1050, 1)]);
}

#[test]
fn ndnsim_doubles_its_timeout_for_every_timed_out_packet_up_to_64() {
    let mut bench = Bench::of(ConsumerProfile::Ndnsim, 100, 5.0);
    bench.sends(ms(0));
    let rto = |bench: &Bench| bench.consumer.view().rto;
    assert_eq!(rto(&bench), Span::from_secs(1));
    bench.wake(ms(1000));
    assert_eq!((bench.losses().len(), rto(&bench)), (5, Span::from_secs(32)));
    bench.wake(ms(33_000));
    assert_eq!((bench.losses().len(), rto(&bench)), (10, Span::from_secs(64)));
}

#[test]
fn ndnsim_stops_looking_at_the_first_interest_that_has_not_timed_out() {
    let mut bench = Bench::of(ConsumerProfile::Ndnsim, 100, 1.0);
    for (millis, window) in [(0, 1.0), (10, 2.0), (40, 3.0)] {
        bench.set_window(window);
        bench.call(ms(millis), |consumer, cx| consumer.notify(cx, Cause("test"), |_, _, _| {}));
        assert_eq!(bench.sends(ms(millis)).len(), 1);
    }
    bench.wake(ms(1000));
    assert_eq!(bench.losses(), [(0, LossSignal::Timeout)]);
}

#[test]
fn ndnsim_retransmits_the_lowest_segment_first_before_anything_new() {
    let mut bench = Bench::of(ConsumerProfile::Ndnsim, 100, 4.0);
    assert_eq!(bench.sends(ms(0)), [0, 1, 2, 3]);
    bench.data(ms(10), 1);
    // Segments 0, 2 and 3 time out together; with the window of 2 only the lowest two leave.
    bench.set_window(2.0);
    bench.wake(ms(200));
    assert_eq!(
        bench.puppet.reported().sent.iter().skip(4).map(|sent| sent.segment).collect::<Vec<_>>(),
        [0, 2]
    );
}

#[test]
fn ndnsim_counts_a_late_data_twice_and_forgets_its_retransmission() {
    let mut bench = Bench::of(ConsumerProfile::Ndnsim, 100, 3.0);
    bench.sends(ms(0));
    bench.set_window(1.0);
    bench.call(ms(1000), |consumer, cx| consumer.on_wake(cx));
    assert_eq!(bench.consumer.in_flight(), 0);
    assert_eq!(bench.sends(ms(1000)), [0]);
    // Segment 1 had timed out, yet its Data frees the place of segment 0.
    assert_eq!(bench.data(ms(1001), 1), Arrived::New { segment: 1 });
    assert_eq!(bench.consumer.in_flight(), 0);
    assert_eq!(bench.sends(ms(1001)), [2]);
    // A timed-out segment gives no sample even though it was asked for once (Karn).
    assert_eq!(bench.last_delivery().0.rtt, None);
    assert_eq!(bench.consumer.smoothed_rtt(), None);
}

#[test]
fn ndnsim_never_learns_of_a_lifetime_that_ends_nor_reacts_to_a_nack() {
    let mut bench = Bench::of(ConsumerProfile::Ndnsim, 100, 2.0);
    bench.sends(ms(0));
    bench.wake(ms(1000));
    // Timeout 4 s now, lifetime 2 s.
    assert_eq!(bench.run(ms(4999)), []);
    for reason in [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute] {
        assert_eq!(bench.nack(ms(4999), 0, reason), Arrived::Refused);
    }
    assert_eq!((bench.losses().len(), bench.consumer.in_flight()), (2, 2));
    assert_eq!((bench.record().nacks, bench.record().abandoned), (3, 0));
}

#[test]
fn ndn_tools_fixes_the_timeout_when_the_interest_leaves() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 100, 2.0);
    assert_eq!(bench.sends(ms(0)), [0, 1]);
    // A round trip of 10 ms lowers the timeout to 200 ms for segment 2; segment 0 keeps its second.
    bench.data(ms(10), 1);
    assert_eq!(bench.sends(ms(10)), [2]);
    bench.set_window(0.0);
    bench.run(ms(1010));
    let times: Vec<(Time, Event)> = bench.events.0.iter().copied().filter(is_loss).collect();
    // Timed out when more than the timeout has passed, so the sweep at that very instant does not count.
    assert_eq!(times.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [ms(220), ms(1010)]);
    assert_eq!(bench.losses(), [(2, LossSignal::Timeout), (0, LossSignal::Timeout)]);
}

fn is_loss(event: &(Time, Event)) -> bool {
    matches!(event.1, Event::LossDetected { .. })
}

#[test]
fn ndn_tools_gives_one_loss_per_sweep_and_backs_off_once_per_window_of_data() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 100, 4.0);
    bench.sends(ms(0));
    bench.wake(ms(1010));
    assert_eq!(bench.losses(), [(3, LossSignal::Timeout)]);
    assert_eq!(bench.record().timeouts, 4);
    assert_eq!(bench.consumer.view().rto, Span::from_secs(2));
    // Highest segment sent was 3, so a second loss of it belongs to the same event: reported, no backoff.
    bench.wake(ms(3020));
    assert_eq!(bench.losses().len(), 2);
    assert_eq!(bench.consumer.view().rto, Span::from_secs(2));
}

#[test]
fn ndn_tools_does_not_back_off_for_losses_of_a_window_that_was_marked() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 100, 4.0);
    bench.sends(ms(0));
    bench.set_window(0.0);
    // 500 ms: 500 + 8 x 250 = 2.5 s from now on.
    bench.receive(ms(500), 1, data(Segment::NONE), 1);
    bench.wake(ms(1010));
    assert_eq!(bench.losses(), [(3, LossSignal::Timeout)]);
    assert_eq!(bench.consumer.view().rto, Span::from_millis(2500));
}

#[test]
fn ndn_tools_retransmits_in_the_order_of_loss() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 100, 3.0);
    bench.sends(ms(0));
    bench.set_window(0.0);
    bench.nack(ms(5), 2, NackReason::Congestion);
    bench.nack(ms(6), 0, NackReason::Congestion);
    bench.set_window(3.0);
    bench.nack(ms(7), 1, NackReason::Congestion);
    assert_eq!(bench.sends(ms(7)), [2, 0, 1]);
}

#[test]
fn ndn_tools_takes_no_place_for_a_late_data_and_samples_its_round_trip_time() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 100, 3.0);
    bench.sends(ms(0));
    bench.set_window(1.0);
    bench.call(ms(1010), |consumer, cx| consumer.on_wake(cx));
    assert_eq!(bench.sends(ms(1010)), [0]);
    bench.data(ms(1020), 1);
    assert_eq!(bench.consumer.in_flight(), 1);
    assert_eq!(bench.last_delivery().0.rtt, Some(Span::from_millis(1020)));
    // Asked for twice, segment 0 gives none.
    bench.data(ms(1030), 0);
    let (delivery, _) = bench.last_delivery();
    assert_eq!((delivery.rtt, delivery.retransmissions), (None, 1));
    assert_eq!((delivery.sent_at, delivery.full_delay), (ms(1010), Span::from_millis(1030)));
}

#[test]
fn a_lifetime_that_ends_before_the_timeout_is_a_loss_at_that_instant() {
    let mut profile = ProfileRules::of(ConsumerProfile::NdnTools);
    profile.lifetime = Some(Span::from_millis(333));
    let mut bench = Bench::new(profile, Demand::File { segments: 1 }, 1.0);
    assert_eq!(bench.run(ms(700)), [(0, 0), (333, 0), (666, 0)]);
    assert_eq!(bench.losses(), [(0, LossSignal::Expired), (0, LossSignal::Expired)]);
}

#[test]
fn every_lifetime_ends_at_its_own_instant() {
    let mut profile = ProfileRules::of(ConsumerProfile::NdnTools);
    profile.lifetime = Some(Span::from_millis(300));
    let mut bench = Bench::new(profile, Demand::Endless, 1.0);
    bench.puppet.reported().pacing = Pacing::Gap(Span::from_millis(10));
    bench.set_window(3.0);
    bench.call(ms(0), |consumer, cx| consumer.notify(cx, Cause("test"), |_, _, _| {}));
    assert_eq!(bench.run(ms(350)), [(0, 0), (10, 1), (20, 2), (300, 0), (310, 1), (320, 2)]);
}

#[test]
fn ndnts_interests_live_one_second_longer_than_their_timeout() {
    let mut bench = Bench::of(ConsumerProfile::Ndnts, 5, 1.0);
    let lifetime = |header: &Header| match header.kind {
        Kind::Interest(interest) => interest.lifetime,
        _ => panic!("{header:?}"),
    };
    assert_eq!(lifetime(&bench.poll(ms(0))[0]), Millis(2000));
    bench.data(ms(100), 0);
    // 100 ms + 4 x 50 ms + 1 s.
    assert_eq!(lifetime(&bench.poll(ms(100))[0]), Millis(1300));
}

#[test]
fn a_segment_is_given_up_after_the_retry_limit_and_the_file_is_over_without_completion() {
    let mut profile = ProfileRules::of(ConsumerProfile::NdnTools);
    profile.retry_limit = Some(2);
    let mut bench = Bench::new(profile, Demand::File { segments: 2 }, 2.0);
    bench.sends(ms(0));
    bench.data(ms(10), 1);
    let sends = bench.run(ms(60_000));
    assert_eq!(sends.iter().map(|(_, segment)| *segment).collect::<Vec<_>>(), [0, 0]);
    assert!(bench.consumer.is_complete());
    assert_eq!((bench.consumer.completed_at(), bench.record().abandoned), (None, 1));
    assert_eq!((bench.consumer.next_wake(), bench.consumer.in_flight()), (None, 0));
    assert_eq!(bench.data(ms(60_001), 0), Arrived::Duplicate);
}

#[test]
fn a_segment_is_not_given_up_while_data_comes_within_the_patience_of_the_profile() {
    let given_up_at = |patience| {
        let mut profile = ProfileRules::of(ConsumerProfile::NdnTools);
        (profile.retry_limit, profile.patience) = (Some(0), patience);
        let mut bench = Bench::new(profile, Demand::File { segments: 200 }, 2.0);
        bench.sends(ms(0));
        // Segment 0 never comes; one of the others does each 100 ms, for ten seconds.
        let mut is_given_up = |at: &u64| {
            bench.run(ms(*at));
            if *at <= 10_000 {
                bench.data(ms(*at), (*at / 100) as u32);
                bench.sends(ms(*at));
            }
            bench.record().abandoned > 0
        };
        (100..60_000).step_by(100).find(|at| is_given_up(at))
    };
    assert!(given_up_at(Span::ZERO).is_some_and(|at| at < 2_000));
    assert!(given_up_at(Span::from_secs(3)).is_some_and(|at| at >= 13_000));
}

#[test]
fn a_file_with_a_hole_is_not_completed_by_its_last_segment() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 2, 2.0);
    bench.sends(ms(0));
    bench.nack(ms(5), 0, NackReason::NoRoute);
    bench.data(ms(10), 1);
    assert_eq!((bench.consumer.is_complete(), bench.consumer.completed_at()), (true, None));
}

#[test]
fn ndn_tools_retries_on_congestion_ignores_duplicates_and_gives_up_without_a_route() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 3, 3.0);
    bench.sends(ms(0));
    bench.nack(ms(5), 0, NackReason::Congestion);
    bench.nack(ms(5), 1, NackReason::Duplicate);
    bench.nack(ms(5), 2, NackReason::NoRoute);
    assert_eq!(bench.losses(), [(0, LossSignal::Nack(NackReason::Congestion))]);
    assert_eq!((bench.sends(ms(5)), bench.consumer.in_flight()), (vec![0], 2));
    assert_eq!((bench.record().nacks, bench.record().abandoned), (3, 1));
}

#[test]
fn a_segment_refused_for_congestion_waits_for_its_timer_where_the_profile_has_it_so() {
    let mut rules = ProfileRules::of(ConsumerProfile::NdnTools);
    rules.options.set(ProfileOptions::NACK_WAITS, true);
    let mut bench = Bench::new(rules, Demand::Endless, 2.0);
    bench.sends(ms(0));
    bench.nack(ms(5), 0, NackReason::Congestion);
    assert_eq!(bench.losses(), [(0, LossSignal::Nack(NackReason::Congestion))]);
    assert_eq!((bench.sends(ms(5)), bench.consumer.in_flight()), (vec![], 2));
    bench.nack(ms(6), 1, NackReason::Congestion);
    assert_eq!(bench.sends(ms(1000)), []);
    // The first Nack has doubled the timeout for what is sent from now on.
    let retries = bench.run(ms(20_000));
    assert_eq!(retries[..4], [(1010, 0), (1010, 1), (3020, 0), (3020, 1)]);
}

#[test]
fn pcon_retransmits_at_once_after_a_congestion_nack_and_its_timeout_stays() {
    let mut bench = Bench::of(ConsumerProfile::Pcon, 9, 2.0);
    // One more than the window.
    assert_eq!(bench.sends(ms(0)), [0, 1, 2]);
    bench.data(ms(100), 0);
    assert_eq!((bench.sends(ms(100)), bench.consumer.view().rto), (vec![3], Span::from_millis(300)));
    bench.nack(ms(110), 2, NackReason::Congestion);
    bench.nack(ms(110), 3, NackReason::NoRoute);
    assert_eq!(bench.losses(), [(2, LossSignal::Nack(NackReason::Congestion))]);
    assert_eq!((bench.sends(ms(110)), bench.consumer.view().rto), (vec![2], Span::from_millis(300)));
    // 1 and 3 time out and double the timeout each; 8 is the most.
    bench.run(ms(30_000));
    assert_eq!(bench.consumer.view().rto, Span::from_millis(8 * 300));
}

#[test]
fn a_nack_in_the_instant_of_sending_leaves_the_segment_to_its_timer() {
    for (reason, reported) in [(NackReason::Congestion, 1), (NackReason::NoRoute, 0)] {
        let mut bench = Bench::new(ProfileRules::of(ConsumerProfile::Own), Demand::Endless, 1.0);
        let mut refusals = 0;
        while let Some(header) = bench.call(ms(0), |consumer, cx| consumer.poll(cx)) {
            bench.nack(ms(0), header.name.segment.0, reason);
            refusals += 1;
            assert!(refusals < 10, "{reason:?} for ever");
        }
        assert_eq!(bench.losses().len(), reported, "{reason:?}");
        assert_eq!(bench.run(ms(1500)).first(), Some(&(1010, 0)), "{reason:?}");
        // A loss that was reported is not reported again by its timer.
        assert_eq!(bench.losses().len(), 1, "{reason:?}");
    }
}

#[test]
fn a_loss_notice_reaches_the_controller_and_leaves_the_interest_pending() {
    let mut bench = Bench::of(ConsumerProfile::Ndnsim, 10, 2.0);
    bench.sends(ms(0));
    assert_eq!(bench.notice(ms(10), 1), Arrived::Notice);
    assert_eq!(bench.losses(), [(1, LossSignal::Notice)]);
    assert_eq!((bench.consumer.in_flight(), bench.sends(ms(10))), (2, vec![]));
    assert_eq!(bench.data(ms(40), 1), Arrived::New { segment: 1 });
    assert_eq!(bench.last_delivery().0.rtt, Some(Span::from_millis(40)));
    // Late: the segment is there already.
    assert_eq!(bench.notice(ms(50), 1), Arrived::Notice);
    assert_eq!((bench.losses().len(), bench.record().loss_notices), (1, 2));
}

#[test]
fn a_profile_may_ignore_loss_notices() {
    let mut profile = ProfileRules::of(ConsumerProfile::Ndnsim);
    profile.notice = super::profile::NoticeReaction::Ignore;
    let mut bench = Bench::new(profile, Demand::File { segments: 10 }, 2.0);
    bench.sends(ms(0));
    assert_eq!(bench.notice(ms(10), 1), Arrived::Notice);
    assert_eq!((bench.losses(), bench.record().loss_notices), (vec![], 1));
}

#[test]
fn a_delivery_gives_everything_about_its_segment() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 10, 3.0);
    bench.sends(ms(0));
    bench.data(ms(20), 1);
    bench.sends(ms(20));
    bench.receive(ms(50), 3, data(Segment::NONE), 2);
    let (delivery, flow) = bench.last_delivery();
    let expected = Delivery {
        segment: 3,
        size: ByteCount::new(1037),
        rtt: Some(Span::from_millis(30)),
        full_delay: Span::from_millis(30),
        sent_at: ms(20),
        retransmissions: 0,
        delivered_at_send: 1,
        in_flight_before: 3,
        mark: 2,
        hop: delivery.hop,
        newly_acked: 1,
        newly_sacked: 0,
        newly_lost: 0,
        rate: None,
        is_source_limited: false,
    };
    assert_eq!(delivery, expected);
    // 20 ms, deviation 10 ms; 2 in flight: n = 1, so 20 + 10 / 8 = 21.25 ms, 10 ms, timeout at its floor.
    let expected = FlowView {
        in_flight: 2,
        next_segment: 4,
        highest_sent: 3,
        highest_received: 3,
        delivered: 2,
        remaining: Some(8),
        smoothed_rtt: Some(Span::from_micros(21_250)),
        rto: Span::from_millis(200),
    };
    assert_eq!(flow, expected);
}

#[test]
fn a_late_duplicate_never_reaches_the_controller() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 10, 3.0);
    bench.sends(ms(0));
    for segment in [1, 1, 0, 0, 1] {
        bench.data(ms(20), segment);
    }
    assert_eq!(bench.puppet.reported().deliveries.len(), 2);
    let record = bench.record();
    assert_eq!((record.delivered_segments, record.duplicates, bench.consumer.in_flight()), (2, 3, 1));
}

#[test]
fn a_duplicate_frees_no_place_in_any_profile() {
    for (kind, _) in ConsumerProfile::ALL {
        let mut bench = Bench::of(kind, 10, 3.0);
        let left = bench.sends(ms(0)).len() as u32 - 1;
        assert_eq!((bench.data(ms(20), 1), bench.consumer.in_flight()), (Arrived::New { segment: 1 }, left));
        assert_eq!(
            (bench.data(ms(21), 1), bench.consumer.in_flight()),
            (Arrived::Duplicate, left),
            "{kind:?}"
        );
    }
}

#[test]
fn what_was_never_requested_is_refused() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 10, 1.0);
    bench.sends(ms(0));
    assert_eq!(bench.data(ms(1), 1), Arrived::Unasked);
    assert_eq!(bench.data(ms(1), u32::MAX), Arrived::Unasked);
    assert_eq!(bench.nack(ms(1), 5, NackReason::Congestion), Arrived::Unasked);
    bench.consumer.prefix = PrefixId(77);
    let name = Name::segment(NameTable::ROOT, 0);
    let other = Header::new(name, data(Segment::NONE), ByteCount::new(100));
    assert_eq!(bench.call(ms(1), |consumer, cx| consumer.on_packet(cx, &other)), Arrived::Unasked);
    assert_eq!(
        bench.record(),
        FlowRecord { interests: 1, segments: Some(10), final_window_packets: 1.0, ..FlowRecord::default() }
    );
}

#[test]
fn the_final_segment_ends_an_endless_flow_and_forgets_what_lies_behind_it() {
    let mut bench = Bench::new(ProfileRules::of(ConsumerProfile::NdnTools), Demand::Endless, 5.0);
    assert_eq!(bench.sends(ms(0)), [0, 1, 2, 3, 4]);
    assert_eq!(bench.consumer.view().remaining, None);
    bench.receive(ms(10), 0, data(Segment(2)), 0);
    let view = bench.consumer.view();
    assert_eq!((view.in_flight, view.remaining, view.next_segment), (2, Some(2), 3));
    assert_eq!(bench.data(ms(10), 4), Arrived::Unasked);
    assert_eq!(bench.sends(ms(10)), []);
    bench.data(ms(10), 2);
    bench.data(ms(11), 1);
    assert_eq!((bench.consumer.completed_at(), bench.record().segments), (Some(ms(11)), Some(3)));
    assert_eq!(bench.consumer.next_wake(), None);
}

#[test]
fn a_final_segment_below_one_that_arrived_is_not_accepted() {
    let mut bench = Bench::new(ProfileRules::of(ConsumerProfile::NdnTools), Demand::Endless, 5.0);
    bench.sends(ms(0));
    bench.receive(ms(10), 3, data(Segment(2)), 0);
    assert_eq!(bench.consumer.view().remaining, None);
}

#[test]
fn new_segments_go_first_when_the_controller_requires_it() {
    let mut bench = Bench::of(ConsumerProfile::Own, 6, 2.0);
    bench.puppet.reported().order = SendOrder::NewFirst;
    bench.sends(ms(0));
    assert_eq!(bench.wake(ms(1010)), [2, 3]);
    bench.set_window(4.0);
    bench.data(ms(1020), 2);
    assert_eq!(bench.sends(ms(1020)), [4, 5, 0]);
}

#[test]
fn a_controllers_own_timeout_stands_in_for_the_estimator() {
    let mut bench = Bench::of(ConsumerProfile::Own, 1, 1.0);
    bench.puppet.reported().timeout = Some(Span::from_millis(25));
    assert_eq!(bench.run(ms(65)), [(0, 0), (30, 0), (60, 0)]);
}

#[test]
fn a_timeout_that_a_controller_changes_counts_at_the_next_sweep_in_ndnsim() {
    let mut bench = Bench::of(ConsumerProfile::Ndnsim, 1, 1.0);
    bench.puppet.reported().timeout = Some(Span::from_secs(10));
    assert_eq!(bench.run(ms(120)), [(0, 0)]);
    bench.puppet.reported().timeout = Some(Span::from_millis(60));
    assert_eq!(bench.run(ms(170)), [(150, 0)]);
}

#[test]
fn a_timeout_read_at_each_look_counts_for_what_left_before() {
    for (kind, sent) in [(ConsumerProfile::Own, vec![(30, 0)]), (ConsumerProfile::OwnAtSweep, vec![(70, 0)])]
    {
        let mut bench = Bench::of(kind, 1, 1.0);
        bench.puppet.reported().timeout = Some(Span::from_millis(25));
        assert_eq!(bench.sends(ms(0)), [0]);
        bench.puppet.reported().timeout = Some(Span::from_secs(10));
        let mut all = bench.run(ms(65));
        bench.puppet.reported().timeout = Some(Span::from_millis(65));
        all.extend(bench.run(ms(100)));
        assert_eq!(all, sent, "{kind:?}");
    }
}

#[test]
fn a_paced_flow_sends_at_its_rate_as_far_as_the_window_allows() {
    let mut bench = Bench::of(ConsumerProfile::Own, 100, 4.0);
    // 1000 bytes at 8 Mbit/s: one per millisecond.
    bench.puppet.reported().pacing = Pacing::Rate(BitRate::from_mbps(8.0));
    assert_eq!(bench.run(ms(9)), [(0, 0), (1, 1), (2, 2), (3, 3)]);
    bench.data(ms(20), 0);
    bench.data(ms(20), 1);
    assert_eq!(bench.sends(ms(20)), [4]);
    assert_eq!(bench.run(ms(30)), [(21, 5)]);
}

#[test]
fn a_constant_rate_is_met_exactly_whatever_the_window() {
    let bursts = vec![(ms(10), Span::from_millis(3)), (ms(20), Span::from_millis(2))];
    let demand = Demand::Constant { rate: BitRate::from_mbps(8.0), bursts };
    let mut bench = Bench::new(ProfileRules::of(ConsumerProfile::Ndnsim), demand, 1.0);
    assert_eq!(bench.run(ms(900)), [(10, 0), (11, 1), (12, 2), (20, 3), (21, 4)]);
    // Between bursts lost segments leave as they are found: all at the sweep after their first second.
    assert_eq!(bench.run(ms(1050)), [(1050, 0), (1050, 1), (1050, 2), (1050, 3), (1050, 4)]);
}

#[test]
fn lost_segments_share_the_ticks_of_a_burst_with_new_ones() {
    let demand =
        Demand::Constant { rate: BitRate::from_mbps(8.0), bursts: vec![(ms(0), Span::from_millis(1003))] };
    let mut bench = Bench::new(ProfileRules::of(ConsumerProfile::NdnTools), demand, 1.0);
    assert_eq!(bench.run(ms(1000)).len(), 1001);
    for segment in 2..990 {
        bench.data(ms(1000), segment);
    }
    // Segments 0 and 1 are found lost at 1010, after the last tick at 1002.
    assert_eq!(bench.run(ms(1010)), [(1001, 1001), (1002, 1002), (1010, 0), (1010, 1)]);

    let demand = Demand::Constant { rate: BitRate::from_mbps(4.0), bursts: Vec::new() };
    let mut bench = Bench::new(ProfileRules::of(ConsumerProfile::NdnTools), demand, 1.0);
    bench.run(ms(1009));
    for segment in 2..500 {
        bench.data(ms(1009), segment);
    }
    // One tick per 2 ms carries one lost segment and one new one.
    assert_eq!(bench.run(ms(1013)), [(1010, 0), (1010, 505), (1012, 1), (1012, 506)]);
}

#[test]
fn a_constant_flow_goes_on_until_all_it_requested_has_come() {
    let bursts = vec![(ms(0), Span::from_millis(2))];
    let demand = Demand::Constant { rate: BitRate::from_mbps(8.0), bursts };
    let mut bench = Bench::new(ProfileRules::of(ConsumerProfile::Ndnsim), demand, 1.0);
    // Segment 0 is lost after 1 s; the doubled timeout holds for segment 1 as well (2001 -> 2050), then 4 s.
    assert_eq!(bench.run(ms(8000)), [(0, 0), (1, 1), (1000, 0), (2050, 1), (5000, 0)]);
    bench.data(ms(8000), 0);
    bench.data(ms(8000), 1);
    assert_eq!(bench.run(ms(600_000)), []);
}

#[test]
fn events_show_what_happened_in_order() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 1, 1.0);
    bench.sends(ms(0));
    bench.set_window(3.5);
    bench.wake(ms(1010));
    bench.receive(ms(1020), 0, data(Segment::NONE), 1);
    let name = Name::segment(bench.consumer.prefix, 0);
    let (full_delay, last_delay) = (Span::from_millis(1020), Span::from_millis(10));
    let expected = [
        (ms(0), Event::InterestSent { flow: 3, name, retransmission: false }),
        (ms(1010), Event::LossDetected { flow: 3, name, cause: Cause("timeout") }),
        (ms(1010), Event::WindowChanged { flow: 3, window: 3.5, cause: Cause("timeout") }),
        (ms(1010), Event::InterestSent { flow: 3, name, retransmission: true }),
        (
            ms(1020),
            Event::DataReceived {
                flow: 3,
                name,
                full_delay,
                last_delay,
                mark: 1,
                retransmissions: 1,
                hops: 0,
            },
        ),
    ];
    assert_eq!(bench.events.0, expected);
}

#[test]
fn a_record_sums_up_the_flow() {
    let mut bench = Bench::of(ConsumerProfile::NdnTools, 2, 2.0);
    bench.sends(ms(0));
    bench.receive(ms(20), 1, data(Segment::NONE), 1);
    bench.wake(ms(1010));
    bench.data(ms(1030), 0);
    let record = bench.record();
    assert_eq!((record.completed, record.segments), (Some(ms(1030)), Some(2)));
    assert_eq!((record.delivered_segments, record.delivered_payload), (2, ByteCount::new(2000)));
    assert_eq!((record.interests, record.retransmissions, record.timeouts, record.marks), (3, 1, 1, 1));
    assert_eq!(
        (record.full_delay.mean, record.full_delay.max),
        (Span::from_millis(525), Span::from_millis(1030))
    );
    assert_eq!((record.last_delay.mean, record.last_delay.count), (Span::from_millis(20), 2));
}

/// A window that wanders at random, for histories that no scheme would make.
#[derive(Debug)]
struct Wanderer {
    window: f64,
    moves: Rng,
}

impl Wanderer {
    fn step(&mut self) {
        self.window = (self.window + 4.0 * self.moves.uniform() - 2.0).clamp(1.0, 40.0);
    }
}

impl CongestionController for Wanderer {
    fn window(&self) -> f64 {
        self.window
    }
    fn pacing(&self) -> Pacing {
        if self.window > 20.0 { Pacing::Rate(BitRate::from_mbps(self.window)) } else { Pacing::Unpaced }
    }
    fn on_delivery(&mut self, _: &mut Context<'_>, _: &Delivery, _: &FlowView) {
        self.step();
    }
    fn on_loss(&mut self, _: &mut Context<'_>, _: &Loss, _: &FlowView) {
        self.step();
    }
}

/// A network that loses, delays, duplicates, refuses and gives notice at random.
struct Storm {
    rng: Rng,
    loss: f64,
    arrivals: Vec<(Time, u32, u32)>,
}

impl Storm {
    /// What comes back for an Interest that leaves at `now`: 0 Data, 1 notice, 2 and 3 Nacks.
    fn carry(&mut self, now: Time, segment: u32) {
        if self.rng.chance(self.loss) {
            return;
        }
        let copies = 1 + u32::from(self.rng.chance(0.05));
        for _ in 0..copies {
            let delay = Span::from_micros(u64::from(self.rng.below(400_000)));
            let kind = if self.rng.chance(0.8) { 0 } else { 1 + self.rng.below(3) };
            self.arrivals.push((now + delay, segment, kind));
        }
    }

    fn next(&mut self, until: Option<Time>) -> Option<(Time, u32, u32)> {
        let (index, first) = self.arrivals.iter().copied().enumerate().min_by_key(|(_, arrival)| *arrival)?;
        until.is_none_or(|until| first.0 <= until).then(|| self.arrivals.swap_remove(index))
    }
}

/// Fetches a file through a storm; returns the consumer when it asks for nothing more.
fn weather(seed: u64, kind: ConsumerProfile, loss: f64) -> Consumer {
    let mut moves = Rng::stream(Seed(seed), "window");
    let mut profile = ProfileRules::of(kind);
    profile.retry_limit = None;
    profile.options.set(ProfileOptions::ONE_OVER, moves.chance(0.3));
    let controller = Wanderer { window: 2.0, moves };
    let mut bench = Bench::new(profile, Demand::File { segments: 300 }, 1.0);
    bench.consumer.controller = Box::new(controller);
    let mut storm = Storm { rng: Rng::stream(Seed(seed), "storm"), loss, arrivals: Vec::new() };
    let mut now = Time::ZERO;
    for _ in 0..1_000_000 {
        bench.consumer_sends_within_its_window(seed, now, &mut storm);
        let wake = bench.consumer.next_wake();
        if let Some((at, segment, kind)) = storm.next(wake) {
            now = at;
            match kind {
                0 => _ = bench.receive(now, segment, data(Segment::NONE), u8::from(segment % 7 == 0)),
                1 => _ = bench.notice(now, segment),
                2 => _ = bench.nack(now, segment, NackReason::Congestion),
                _ => _ = bench.nack(now, segment, NackReason::Duplicate),
            }
        } else if let Some(wake) = wake {
            assert!(wake >= now, "seed {seed}: woken at {wake}, before {now}");
            now = wake;
            bench.call(now, |consumer, cx| consumer.on_wake(cx));
        } else {
            return bench.consumer;
        }
        bench.events.0.clear();
    }
    panic!("seed {seed}: {kind:?} never ends, {:?}", bench.consumer.view());
}

impl Bench {
    fn consumer_sends_within_its_window(&mut self, seed: u64, now: Time, storm: &mut Storm) {
        let options = self.consumer.profile.options;
        while let Some(header) = self.call(now, |consumer, cx| consumer.poll(cx)) {
            let (in_flight, window) = (self.consumer.in_flight(), self.consumer.window());
            let allowed =
                if options.has(ProfileOptions::WHOLE_WINDOW) { window.floor() } else { window.ceil() };
            let max = if options.has(ProfileOptions::ONE_OVER) { window.floor() + 1.0 } else { allowed };
            assert!(f64::from(in_flight) <= max, "seed {seed}: {in_flight} in flight, window {window}");
            storm.carry(now, header.name.segment.0);
        }
    }
}

const KINDS: [ConsumerProfile; 8] = [
    ConsumerProfile::Ndnsim,
    ConsumerProfile::NdnsimNack,
    ConsumerProfile::NdnTools,
    ConsumerProfile::Ndnts,
    ConsumerProfile::Ndnd,
    ConsumerProfile::Hicn,
    ConsumerProfile::Pcon,
    ConsumerProfile::Own,
];

#[test]
fn no_history_drives_a_consumer_over_its_window_or_keeps_it_from_the_end_of_its_file() {
    for seed in 0..60 {
        for kind in KINDS {
            let consumer = weather(seed, kind, 0.02 * (seed % 10) as f64);
            let stats = consumer.stats();
            let context = format!("seed {seed}, {kind:?}: {stats:?}");
            assert!(consumer.completed_at().is_some() && consumer.queued == 0, "{context}");
            assert_eq!(stats.delivered, 300, "{context}");
            assert_eq!(stats.interests, 300 + stats.retransmissions, "{context}");
            assert_eq!(consumer.in_flight(), 0, "{context}");
        }
    }
}

#[test]
fn a_file_completes_when_half_of_all_interests_are_lost() {
    for kind in KINDS {
        let consumer = weather(7, kind, 0.5);
        assert_eq!(consumer.stats().delivered, 300, "seed 7, {kind:?}");
        assert!(consumer.stats().timeouts > 100, "seed 7, {kind:?}: {:?}", consumer.stats());
    }
}

#[test]
fn equal_seeds_give_equal_histories() {
    let times = |seed| weather(seed, ConsumerProfile::NdnTools, 0.1).completed_at();
    assert_eq!(times(3), times(3));
    assert_ne!(times(3), times(4));
}

#[test]
fn sweeps_look_only_when_something_may_have_timed_out() {
    let mut bench = Bench::new(ProfileRules::of(ConsumerProfile::NdnTools), Demand::Endless, 10.0);
    bench.sends(ms(0));
    let mut wakes = 0;
    // 2 s of traffic with a round trip of 20 ms; ndn-tools itself would look 200 times.
    for round in 1..=100u64 {
        let now = ms(round * 20);
        while let Some(at) = bench.consumer.next_wake().filter(|at| *at < now) {
            bench.wake(at);
            wakes += 1;
        }
        for segment in (round - 1) * 10..round * 10 {
            bench.data(now, segment as u32);
        }
        assert_eq!(bench.sends(now).len(), 10);
    }
    assert!(wakes <= 12, "{wakes} sweeps");
}

#[test]
fn icp_uses_the_range_estimator_in_any_profile() {
    let mut profile = ProfileRules::of(ConsumerProfile::Own);
    profile.estimator = EstimatorKind::Range;
    let mut bench = Bench::new(profile, Demand::File { segments: 10 }, 2.0);
    bench.sends(ms(0));
    bench.data(ms(40), 0);
    bench.data(ms(80), 1);
    assert_eq!(bench.consumer.view().rto, Span::from_millis(60));
}

#[test]
fn before_its_start_a_consumer_has_the_row_of_a_flow_without_one() {
    for pacing in [Pacing::Unpaced, Pacing::Gap(Span::from_millis(1))] {
        let rules = ProfileRules::of(ConsumerProfile::NdnTools);
        let bench = Bench::with(rules, Demand::Endless, 7.0, |setup| setup.start = ms(5));
        bench.set_pacing(pacing);
        let [mut with, mut without] = [FlowSamples::default(), FlowSamples::default()];
        bench.consumer.sample_into(ms(4), 3, &mut with);
        Consumer::sample_unstarted(ms(4), 3, &mut without);
        assert_eq!(with, without, "{pacing:?}");
    }
}
