//! Tables and queues against models that are too simple to be wrong, over random histories.
//!
//! A failure prints the seed; `cargo test -p tidegate-core --test forwarding tables` repeats every seed.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use tidegate_core::context::{Context, Env, NoSink, Present};
use tidegate_core::ndn::face::{FaceId, FaceView, Limit, NodeId};
use tidegate_core::ndn::fib::Routes;
use tidegate_core::ndn::fib::{Fib, NextHop, StrategyId};
use tidegate_core::ndn::name::{Name, NameTable, PrefixId};
use tidegate_core::ndn::packet::{Header, Kind, LossNotice, PacketArena, PitToken};
use tidegate_core::ndn::pit::Selector;
use tidegate_core::observe::event::Cause;
use tidegate_core::queue::{Actions, Queue, QueueDiscipline, Verdict};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::signal::Class;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span};

use crate::forwarding::harness::{Router, data, interest, interest_with, ms};

/// What is pending, by name and selector (CanBePrefix, MustBeFresh), with the end of each downstream in ms.
type Pending = BTreeMap<(Name, bool, bool), BTreeMap<u16, u64>>;

/// A forwarder under a driver that wakes it as asked, and what should be pending in it.
struct PitHistory {
    router: Router,
    pending: Pending,
    rng: Rng,
    seed: u64,
    now_ms: u64,
}

impl PitHistory {
    fn new(seed: u64, now_ms: u64) -> Self {
        let rng = Rng::stream(Seed(seed), "pit history");
        Self { router: Router::new(&[3]), pending: Pending::new(), rng, seed, now_ms }
    }

    /// 1 ms to 100 s, each order of magnitude equally likely.
    fn lifetime(&mut self) -> u32 {
        10f64.powf(self.rng.uniform() * 5.0) as u32
    }

    fn request(&mut self, segments: u32) {
        let name = self.router.name(self.rng.below(segments));
        let (lifetime, face) = (self.lifetime(), self.rng.below(3) as u16);
        let (can_be_prefix, must_be_fresh) = (self.rng.chance(0.1), self.rng.chance(0.1));
        let nonce = self.rng.bits() as u32 >> 12;
        let packet = interest_with(name, nonce, |interest| {
            interest.lifetime.0 = lifetime;
            interest.can_be_prefix = can_be_prefix;
            interest.must_be_fresh = must_be_fresh;
        });
        self.router.receive(self.now_ms, face, packet);
        let downstreams = self.pending.entry((name, can_be_prefix, must_be_fresh)).or_default();
        downstreams.insert(face, self.now_ms + u64::from(lifetime));
    }

    fn answer(&mut self, segments: u32) {
        let name = self.router.name(self.rng.below(segments));
        let sent = self.router.receive(self.now_ms, 3, data(name, 100_000));
        let mut expected = Vec::new();
        self.pending.retain(|(requested, ..), downstreams| {
            let waiting = downstreams.iter().filter(|(_, end)| **end > self.now_ms);
            expected.extend(waiting.filter(|_| *requested == name).map(|(face, _)| *face));
            *requested != name
        });
        let mut faces: Vec<u16> = sent.iter().map(|(face, _)| *face).collect();
        faces.sort_unstable();
        expected.sort_unstable();
        assert_eq!(faces, expected, "seed {} at {} ms", self.seed, self.now_ms);
    }

    /// Lets time pass as a driver does: never past a wake-up.
    fn pass(&mut self, span_ms: u64) {
        let end = self.now_ms + span_ms;
        let mut wakes = 0;
        while let Some(at) = self.router.forwarder.next_wake().filter(|at| *at <= ms(end)) {
            wakes += 1;
            assert!(wakes < 1_000_000, "seed {}: woken for ever", self.seed);
            self.now_ms = self.now_ms.max(at.as_nanos().div_ceil(1_000_000));
            self.wake();
        }
        self.now_ms = end;
        self.check();
    }

    fn wake(&mut self) {
        self.router.wake(self.now_ms);
        self.pending.retain(|_, downstreams| downstreams.values().any(|end| *end > self.now_ms));
        self.check();
    }

    /// Every entry that should be pending is, none has outlived its lifetime by more than a millisecond, and
    /// the next wake-up is not later than the first end.
    fn check(&self) {
        let (seed, now, pit) = (self.seed, self.now_ms, self.router.forwarder.pit());
        let selectors = |name| {
            let entries = std::iter::successors(pit.find(name), |id| pit.next_sibling(*id));
            entries.map(|id| pit.entry(id).selector())
        };
        let mut kept = 0;
        let mut first_end = u64::MAX;
        for (&(name, can_be_prefix, must_be_fresh), downstreams) in &self.pending {
            let end = downstreams.values().copied().max().unwrap_or(0);
            let selector = Selector { can_be_prefix, must_be_fresh };
            let found = selectors(name).any(|found| found == selector);
            assert!(found || end <= now, "seed {seed} at {now} ms: {name:?} died before {end} ms");
            assert!(!found || end + 1 >= now, "seed {seed} at {now} ms: {name:?} outlived {end} ms");
            kept += usize::from(found);
            first_end = first_end.min(end);
        }
        assert_eq!(pit.len(), kept, "seed {seed} at {now} ms: entries that should not be there");
        if let Some(at) = pit.next_expiry() {
            assert!(kept == 0 || at <= ms(first_end + 1), "seed {seed}: wake {at} after {first_end} ms");
        } else {
            assert_eq!(kept, 0, "seed {seed}: entries without a wake-up");
        }
    }
}

#[test]
fn pending_interests_live_exactly_as_long_as_their_last_downstream_waits() {
    // The clock of milliseconds in 32 bits wraps at 4,294,967,296.
    for (seed, start_ms) in [(1, 0), (2, 17), (3, 4_294_960_000), (4, 4_294_967_290), (5, 9_999_999_999_999)]
    {
        let mut history = PitHistory::new(seed, start_ms);
        for _ in 0..4_000 {
            match history.rng.below(10) {
                0..=5 => history.request(150),
                6..=7 => history.answer(150),
                8 => {
                    let span = u64::from(history.rng.below(20));
                    history.pass(span);
                }
                _ => {
                    let span = u64::from(history.lifetime() / 10);
                    history.pass(span);
                }
            }
        }
        // Everything ends, the clock stands still for longer than it can tell apart, and begins again.
        for _ in 0..3 {
            history.pass(200_000);
            assert_eq!((history.router.pending(), history.router.forwarder.next_wake()), (0, None));
            history.now_ms += 3_000_000_000;
            for _ in 0..50 {
                history.request(150);
                history.pass(3);
            }
        }
    }
}

#[test]
fn a_driver_that_wakes_late_still_is_notified_of_ends_in_order() {
    for seed in 1..=20 {
        let mut history = PitHistory::new(seed, 4_294_960_000);
        let mut ends = Vec::new();
        for segment in 0..300 {
            let lifetime = history.lifetime();
            let name = history.router.name(segment);
            let packet = interest_with(name, segment, |interest| interest.lifetime.0 = lifetime);
            history.router.receive(history.now_ms, 0, packet);
            ends.push((lifetime, segment));
        }
        ends.sort_unstable();
        history.router.wake(history.now_ms + 200_000);
        let expected: Vec<String> =
            ends.iter().map(|(_, segment)| format!("expiry of /a/seg={segment}")).collect();
        assert_eq!(history.router.reported(), expected, "seed {seed}");
    }
}

#[test]
fn long_lifetimes_cause_no_wake_up_before_their_end() {
    let mut history = PitHistory::new(1, 0);
    for segment in 0..2_000 {
        let name = history.router.name(segment);
        let packet = interest_with(name, segment, |interest| interest.lifetime.0 = 100_000);
        history.router.receive(history.now_ms, 0, packet);
        history.now_ms += 1;
    }
    let early = interest_with(history.router.name(9_999), 1, |interest| interest.lifetime.0 = 50);
    history.router.receive(history.now_ms, 0, early);
    history.router.wake(history.now_ms + 50);
    assert_eq!(history.router.pending(), 2_000);
    assert_eq!(history.router.forwarder.next_wake(), Some(ms(100_000)));
}

#[test]
fn a_steady_stream_of_answered_interests_wakes_the_forwarder_less_than_twice_a_second() {
    // Whatever the lifetime is modulo the turn of the wheel.
    for lifetime_ms in [1_000, 1_030, 2_048, 2_060, 4_000, 4_100] {
        let mut history = PitHistory::new(1, 0);
        let mut wakes = 0;
        for segment in 0..10_000 {
            let name = history.router.name(segment);
            let packet = interest_with(name, segment, |interest| interest.lifetime.0 = lifetime_ms);
            history.router.receive(history.now_ms, 0, packet);
            if segment >= 50 {
                let answer = data(history.router.name(segment - 50), 0);
                history.router.receive(history.now_ms, 3, answer);
            }
            history.now_ms += 1;
            if history.router.forwarder.next_wake().is_some_and(|at| at <= ms(history.now_ms)) {
                history.router.wake(history.now_ms);
                wakes += 1;
            }
        }
        assert!(wakes < 20, "{wakes} wake-ups in 10 s with a lifetime of {lifetime_ms} ms");
    }
}

#[test]
fn a_pending_interest_costs_at_most_160_bytes() {
    for pending in [10_000, 100_000] {
        let mut router = Router::new(&[3]);
        for segment in 0..pending {
            let packet = interest(router.name(segment), segment);
            router.receive(u64::from(segment / 200), 0, packet);
        }
        let bytes = router.forwarder.pit().memory_bytes() / router.pending();
        assert!(bytes <= 160, "{bytes} bytes per entry at {pending} entries");
        assert_eq!(router.pending(), pending as usize);
    }
}

/// Knows a way to some prefixes beside the FIB's.
struct Known(Vec<(PrefixId, NextHop)>);

impl Routes for Known {
    fn next_hops(&self, _: NodeId, prefix: PrefixId, hops: &mut Vec<NextHop>) {
        hops.extend(self.0.iter().filter(|(known, _)| *known == prefix).map(|(_, hop)| *hop));
    }
}

#[test]
fn the_longest_prefix_wins_as_in_a_naive_search() {
    for seed in 1..=20 {
        let mut rng = Rng::stream(Seed(seed), "fib");
        let mut names = NameTable::new();
        // A random tree of 200 prefixes.
        let mut prefixes = vec![NameTable::ROOT];
        for value in 0..200u8 {
            let parent = prefixes[rng.below(prefixes.len() as u32) as usize];
            prefixes.push(names.child(parent, 8, &[value]));
        }
        let any = |rng: &mut Rng| prefixes[rng.below(prefixes.len() as u32) as usize];
        let known = Known((0..10).map(|face| (any(&mut rng), hop(100 + face, 1))).collect());
        let mut fib = Fib::default();
        let mut given: BTreeMap<PrefixId, Vec<NextHop>> = BTreeMap::new();
        let mut strategies: BTreeMap<PrefixId, StrategyId> = BTreeMap::new();
        for step in 0..2_000u16 {
            let prefix = any(&mut rng);
            match rng.below(20) {
                0 => {
                    fib.set(prefix, Vec::new());
                    given.remove(&prefix);
                }
                1 => {
                    fib.set(prefix, vec![hop(2, 7), hop(1, 9), hop(1, 5), hop(0, 7)]);
                    given.insert(prefix, vec![hop(1, 5), hop(0, 7), hop(2, 7)]);
                }
                2 => {
                    fib.set_strategy(prefix, StrategyId(step));
                    strategies.insert(prefix, StrategyId(step));
                }
                _ => {
                    let ancestors = || std::iter::successors(Some(prefix), |at| names.parent(*at));
                    let hops = ancestors().find_map(|at| {
                        let routed = known.0.iter().filter(|(known, _)| *known == at).map(|(_, hop)| *hop);
                        let hops = given.get(&at).cloned().unwrap_or_else(|| routed.collect());
                        (!hops.is_empty()).then_some(hops)
                    });
                    let strategy = ancestors().find_map(|at| strategies.get(&at).copied());
                    let found = fib.lookup(prefix, &names, &known, NodeId(0));
                    assert_eq!(*found.hops, *hops.unwrap_or_default(), "seed {seed} step {step}");
                    assert_eq!(found.strategy, strategy.unwrap_or_default(), "seed {seed} step {step}");
                }
            }
        }
    }
}

fn hop(face: u16, cost: u32) -> NextHop {
    NextHop { cost, face: FaceId(face) }
}

/// What the discipline is to do next.
#[derive(Debug, Default)]
struct Orders {
    enqueue: Option<Verdict>,
    dequeue: Option<Verdict>,
    release: u32,
    notices: u32,
}

#[derive(Debug)]
struct Ordered(Rc<RefCell<Orders>>);

impl QueueDiscipline for Ordered {
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        _: &mut Header,
        _: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        actions.wake_at(cx.now);
        self.0.borrow_mut().enqueue.take().unwrap_or(Verdict::Pass)
    }

    fn on_dequeue(
        &mut self,
        _: &mut Context<'_>,
        _: &mut Header,
        _: Span,
        _: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        self.0.borrow_mut().dequeue.take().unwrap_or(Verdict::Pass)
    }

    fn on_wake(&mut self, _: &mut Context<'_>, _: &FaceView, actions: &mut Actions) {
        let orders = self.0.take();
        actions.release(orders.release);
        for _ in 0..orders.notices {
            let kind = Kind::LossNotice(LossNotice { token: PitToken(0) });
            actions.notify(Header::new(Name::whole(NameTable::ROOT), kind, ByteCount::new(30)));
        }
    }
}

/// The queue as it should be: bodies by class, lowest first, and the side store with class and end in ms.
#[derive(Default)]
struct NaiveQueue {
    classes: [VecDeque<u32>; 2],
    store: VecDeque<(u32, usize, u64)>,
    dropped: u64,
    marked: u64,
    sent: u64,
}

impl NaiveQueue {
    fn append(&mut self, class: usize, body: u32) {
        if self.classes[class].len() < 8 {
            self.classes[class].push_back(body);
        } else {
            self.dropped += 1;
        }
    }

    fn pop(&mut self, mut drops: bool) -> Option<u32> {
        loop {
            let body = self.classes[1].pop_front().or_else(|| self.classes[0].pop_front())?;
            if !std::mem::take(&mut drops) {
                self.sent += 1;
                return Some(body);
            }
            self.dropped += 1;
        }
    }

    /// What has ended leaves from the front of the store, which is in order of arrival.
    fn expire(&mut self, now: u64) {
        while self.store.front().is_some_and(|(.., end)| *end <= now) {
            self.store.pop_front();
            self.dropped += 1;
        }
    }

    fn wake(&mut self, now: u64, release: u32, notices: u32) {
        self.expire(now);
        (0..notices).for_each(|_| self.append(1, 0));
        let mut left = release;
        while left > 0 {
            let Some((body, class, end)) = self.store.pop_front() else { break };
            if end <= now {
                self.dropped += 1;
            } else {
                left -= 1;
                self.append(class, body);
            }
        }
    }
}

#[test]
fn a_queue_loses_nothing_keeps_order_and_serves_the_higher_class_first() {
    for seed in 1..=20 {
        let mut rng = Rng::stream(Seed(seed), "queue");
        let orders = Rc::new(RefCell::new(Orders::default()));
        let faces = [FaceView::device(BitRate::from_mbps(1.0), Span::ZERO, Limit::Packets(Packets::new(8)))];
        let names = NameTable::new();
        let mut queue = Queue::new(FaceId(0), vec![Box::new(Ordered(orders.clone()))]);
        let mut packets = PacketArena::default();
        let mut naive = NaiveQueue::default();
        for step in 1..=5_000u32 {
            let now = u64::from(step);
            let mut sink = NoSink;
            let mut present = Present::observed(&mut sink).at(ms(now));
            let env = Env::new(&names, &mut present);
            let mut cx = Context::new(env, &faces);
            match rng.below(10) {
                0..=4 => {
                    let class = rng.below(2) as usize;
                    let end = now + u64::from(rng.below(100));
                    let verdict = match rng.below(6) {
                        0 => Verdict::Drop(Cause("ordered")),
                        1 => Verdict::Hold(ms(end)),
                        2 => Verdict::Mark(1, Cause("ordered")),
                        _ => Verdict::Pass,
                    };
                    orders.borrow_mut().enqueue = Some(verdict);
                    let mut packet = interest(Name::whole(NameTable::ROOT), 1);
                    packet.body = step;
                    packet.header.hop.class = Class(class as u8);
                    let packet = packets.insert(packet);
                    queue.push(&mut cx, &mut packets, packet);
                    match verdict {
                        Verdict::Drop(_) => naive.dropped += 1,
                        Verdict::Hold(_) => naive.store.push_back((step, class, end)),
                        Verdict::Mark(..) => {
                            naive.marked += u64::from(naive.classes[class].len() < 8);
                            naive.append(class, step);
                        }
                        Verdict::Pass => naive.append(class, step),
                        other => unreachable!("{other:?} is never ordered"),
                    }
                    naive.expire(now);
                }
                5..=8 => {
                    let drops = rng.chance(0.2);
                    orders.borrow_mut().dequeue = drops.then_some(Verdict::Drop(Cause("ordered")));
                    let sent = queue.pop(&mut cx, &mut packets);
                    let sent = sent.map(|packet| packets.take(packet).body);
                    orders.borrow_mut().dequeue = None;
                    assert_eq!(sent, naive.pop(drops), "seed {seed} step {step}");
                }
                _ => {
                    let (release, notices) = (rng.below(4), rng.below(3));
                    let woken = queue.next_wake().is_some();
                    *orders.borrow_mut() = Orders { release, notices, ..Orders::default() };
                    queue.on_wake(&mut cx, &mut packets);
                    if woken {
                        naive.wake(now, release, notices);
                    }
                }
            }
            let (view, stats) = (&faces[0], queue.stats());
            let waiting = u64::from(view.queued_packets());
            let held = u64::from(view.held_packets());
            let sent = view.sent_packets();
            assert_eq!(packets.count() as u64, waiting + held, "seed {seed} step {step}");
            assert_eq!(stats.offered, sent + stats.dropped + waiting + held, "seed {seed} step {step}");
            assert_eq!((sent, stats.dropped), (naive.sent, naive.dropped), "seed {seed} step {step}");
            assert_eq!(
                (held, stats.marked),
                (naive.store.len() as u64, naive.marked),
                "seed {seed} step {step}"
            );
            assert_eq!(u64::from(view.backlog(Class(1))), naive.classes[1].len() as u64);
        }
    }
}
