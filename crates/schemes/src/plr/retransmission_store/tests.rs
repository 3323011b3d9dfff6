//! Algorithm 1 by hand, against a naive version that runs every round, and through a real queue.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::context::{Env, Present, Sink};
use tidegate_core::ndn::packet::{Data, Interest, Millis, Packet, PitToken};
use tidegate_core::observe::event::EventMask;
use tidegate_core::queue::QueueStats;
use tidegate_testkit::standalone_queue::StandaloneQueue;

use super::*;

const MICROS: u64 = 1_000;

#[derive(Debug, Clone)]
struct Shared(Rc<RefCell<RetransmissionStore>>);

impl QueueDiscipline for Shared {
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        self.0.borrow_mut().on_enqueue(cx, packet, queue, actions)
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        sojourn: Span,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        self.0.borrow_mut().on_dequeue(cx, packet, sojourn, queue, actions)
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, queue: &FaceView, actions: &mut Actions) {
        self.0.borrow_mut().on_wake(cx, queue, actions);
    }
}

#[derive(Default)]
struct Causes(Vec<&'static str>);

impl Sink for Causes {
    fn record(&mut self, _: Time, _: NodeId, event: Event) {
        if let Event::Dropped { cause, .. } = event {
            self.0.push(cause.0);
        }
    }
}

/// A queue with a retransmission store, and a clock that wakes it.
struct Bench {
    names: NameTable,
    prefix: PrefixId,
    faces: [FaceView; 1],
    queue: StandaloneQueue<()>,
    store: Shared,
    drops: Causes,
    now: Time,
    sent: u32,
}

impl Bench {
    fn new(limit: Limit, params: Params) -> Self {
        let mut names = NameTable::new();
        let prefix = names.intern_uri("/plr").expect("valid");
        let store = Shared(Rc::new(RefCell::new(RetransmissionStore::new(params))));
        Self {
            names,
            prefix,
            faces: [FaceView::device(BitRate::from_mbps(10.0), Span::ZERO, limit)],
            queue: StandaloneQueue::new(FaceId(0), vec![Box::new(store.clone())]),
            store,
            drops: Causes::default(),
            now: Time::ZERO,
            sent: 0,
        }
    }

    fn run<T>(&mut self, act: impl FnOnce(&mut StandaloneQueue<()>, &mut Context<'_>) -> T) -> T {
        let mut present = Present::observed(&mut self.drops).at(self.now).with_mask(EventMask::ALL);
        let env = Env::new(&self.names, &mut present);
        act(&mut self.queue, &mut Context::new(env, &self.faces))
    }

    /// Moves the clock to `micros`; what is due at that very instant is left to the caller.
    fn until(&mut self, micros: u64) {
        let target = Time::from_nanos(micros * MICROS);
        while let Some(wake) = self.queue.next_wake().filter(|wake| *wake < target) {
            self.now = wake;
            self.wake();
        }
        self.now = target;
    }

    fn wake(&mut self) {
        self.run(|queue, cx| queue.on_wake(cx));
    }

    fn push(&mut self, header: Header) {
        self.sent += 1;
        self.run(|queue, cx| queue.push(cx, Packet::new(header, ())));
    }

    fn push_data(&mut self) {
        let data =
            Data { freshness: Millis(0), final_segment: Segment::NONE, payload: 1000, token: PitToken(3) };
        self.push(Header::new(Name::segment(self.prefix, self.sent), Kind::Data(data), ByteCount::new(1040)));
    }

    fn push_interest(&mut self) {
        let interest = Interest {
            nonce: 1,
            lifetime: Millis(2000),
            token: PitToken(3),
            hop_limit: None,
            can_be_prefix: false,
            must_be_fresh: false,
        };
        let name = Name::segment(self.prefix, self.sent);
        self.push(Header::new(name, Kind::Interest(interest), ByteCount::new(40)));
    }

    /// The next packet: its segment, negative for a notice.
    fn pop(&mut self) -> Option<i64> {
        let packet = self.run(|queue, cx| queue.pop(cx))?;
        let segment = i64::from(packet.header.name.segment.0);
        Some(if packet.header.is_loss_notice() { -segment } else { segment })
    }

    fn pop_bulk(&mut self, count: u32) {
        let mut popped = 0;
        while popped < count {
            popped += u32::from(self.pop().expect("enough packets wait") >= 0);
        }
    }

    fn stats(&self) -> &QueueStats {
        self.queue.stats()
    }

    fn waiting(&self) -> u32 {
        self.faces[0].backlog(Class::BULK)
    }

    fn recovery(&self) -> Recovery {
        self.store.0.borrow().recovery
    }

    /// R, N_bw, packets in the queue, packets in the store.
    fn state(&self) -> (f64, i64, u32, u32) {
        let Recovery { credit, bandwidth, .. } = self.recovery();
        (credit as f64 / 2.0, bandwidth, self.waiting(), self.faces[0].held_packets())
    }

    /// The state after the round at `millis`, the queue's own wake-up included.
    fn round(&mut self, millis: u64) -> (f64, i64, u32, u32) {
        self.until(millis * 1000);
        self.wake();
        // An idle queue has no wake-up, so the round is asked for as the next packet would.
        let mut store = self.store.0.borrow_mut();
        store.catch_up(self.now, &self.faces[0], None, &mut Actions::default());
        drop(store);
        self.state()
    }
}

fn params(given: &[(&str, Setting)]) -> Params {
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Params::from_settings(&Settings(given)).expect("valid")
}

fn packets(limit: u32) -> Limit {
    Limit::Packets(Packets::new(limit))
}

/// Queue limit 8, so the store has 4 places and rounds act below 6 waiting packets.
///
/// ```text
/// ms    what happens                q  sendN  store   R after the round            N_bw
///  0.5  10 Data arrive              8    8      2     (2 notices)
///  1    q = 8 >= 6: nothing         8    8      2     0                             0
///  1.5  2 notices, 1 Data leave     7
///  2    q = 7 >= 6: nothing         7    8      2     0                             0
///  2.5  2 Data leave                5
///  3    (7-5)/2 = 1, not above 1    5    8      2     1                             0+7-5 = 2
///  3.5  1 Data leaves               4
///  4    +(5-4)/2, 1 moves           5    8      1     1.5 - 1 = 0.5                 0+5-4 = 1
///  5    the moved one counts: 9     5    9      1     0.5 + 0                       1+5-5 = 1
///  5.5  3 Data leave                2
///  6    +(5-2)/2 = 2, 1 is there    3    9      0     2 - 2 = 0                     0+5-2 = 3
///  7    the moved one counts: 10    3   10      0     0                             1+3-3 = 1
///  7.5  3 Data leave                0
///  8    +(3-0)/2                    0   10      0     1.5                           0+3-0 = 3
///  9    idle: +(3-0)/2              0   10      0     3                             3
/// 10    idle: 4.5, capped           0   10      0     4                             3
/// 10.5  1 Data arrives              1
/// 11    +(0-1)/2                    1   11      0     3.5                           1+0-1 = 0
/// 11.5  it leaves                   0
/// 12    +(1-0)/2                    0   11      0     4                             0+1-0 = 1
/// an hour of idling                 0   11      0     4                             1
/// ```
#[test]
fn algorithm_1_by_hand() {
    let mut bench = Bench::new(packets(8), params(&[]));
    bench.until(500);
    (0..10).for_each(|_| bench.push_data());
    assert_eq!(bench.stats().notices, 2);
    assert_eq!(bench.round(1), (0.0, 0, 8, 2));
    bench.until(1_500);
    bench.pop_bulk(1);
    assert_eq!(bench.round(2), (0.0, 0, 7, 2));
    bench.until(2_500);
    bench.pop_bulk(2);
    assert_eq!(bench.round(3), (1.0, 2, 5, 2));
    bench.until(3_500);
    bench.pop_bulk(1);
    assert_eq!(bench.round(4), (0.5, 1, 5, 1));
    assert_eq!(bench.round(5), (0.5, 1, 5, 1));
    bench.until(5_500);
    bench.pop_bulk(3);
    assert_eq!(bench.round(6), (0.0, 3, 3, 0));
    assert_eq!(bench.round(7), (0.0, 1, 3, 0));
    bench.until(7_500);
    bench.pop_bulk(3);
    assert_eq!(bench.round(8), (1.5, 3, 0, 0));
    assert_eq!(bench.round(9), (3.0, 3, 0, 0));
    assert_eq!(bench.round(10), (4.0, 3, 0, 0));
    bench.until(10_500);
    bench.push_data();
    assert_eq!(bench.round(11), (3.5, 0, 1, 0));
    bench.until(11_500);
    bench.pop_bulk(1);
    assert_eq!(bench.round(12), (4.0, 1, 0, 0));
    assert_eq!(bench.round(3_600_012), (4.0, 1, 0, 0));
}

/// The first four rounds of the case above under the other reading of each choice.
#[test]
fn every_choice_changes_the_round_that_it_is_about() {
    let after_round = |round: u64, given: &[(&str, Setting)]| {
        let mut bench = Bench::new(packets(8), params(given));
        bench.until(500);
        (0..10).for_each(|_| bench.push_data());
        for (millis, leave) in
            [(1, 0), (2, 1), (3, 2), (4, 1), (5, 0), (6, 3), (7, 0), (8, 3), (9, 0), (10, 0)]
        {
            bench.until(millis * 1000 - 500);
            bench.pop_bulk(leave);
            let state = bench.round(millis);
            if millis == round {
                return state;
            }
        }
        unreachable!("the case has ten rounds")
    };
    let word = |word: &str| Setting::Text(word.to_owned());
    // R reaches 1: one packet moves a round earlier.
    assert_eq!(after_round(3, &[("release", word("from-one"))]), (0.0, 2, 6, 1));
    // The moved packet is not taken for a new one: nothing drained in round 5.
    assert_eq!(after_round(5, &[("released_counted", Setting::Bool(false))]), (0.5, 0, 5, 1));
    // One packet left in round 4, none in round 5.
    assert_eq!(after_round(4, &[("sent_counted", word("dequeue"))]), (0.5, 1, 5, 1));
    assert_eq!(after_round(5, &[("sent_counted", word("dequeue"))]), (0.5, 0, 5, 1));
    // 1.5 + 1.5 + 1.5, above the 4 places of the store.
    assert_eq!(after_round(10, &[("cap", Setting::Bool(false))]), (4.5, 3, 0, 0));
}

/// Algorithm 1 line by line, every round, with its own queue and store.
struct Naive {
    params: Params,
    limit: u32,
    queue: u32,
    enqueued: u64,
    released: u64,
    dequeued: u64,
    store: VecDeque<u64>,
    notices: u64,
    rate: f64,
    bandwidth: f64,
    last_queue: u32,
    last_sent: u64,
    next: u64,
}

impl Naive {
    fn new(limit: u32, params: Params) -> Self {
        Self {
            next: params.interval.as_nanos(),
            params,
            limit,
            queue: 0,
            enqueued: 0,
            released: 0,
            dequeued: 0,
            store: VecDeque::new(),
            notices: 0,
            rate: 0.0,
            bandwidth: 0.0,
            last_queue: 0,
            last_sent: 0,
        }
    }

    fn places(&self) -> usize {
        (self.params.alpha * f64::from(self.limit)).floor() as usize
    }

    fn until(&mut self, now: u64) {
        while self.next <= now {
            self.expire(self.next);
            self.round();
            self.next += self.params.interval.as_nanos();
        }
        self.expire(now);
    }

    fn expire(&mut self, now: u64) {
        self.store.retain(|deadline| *deadline > now);
    }

    fn sent(&self) -> u64 {
        match (self.params.sent_counted, self.params.released_counted) {
            (SentCounted::Dequeue, _) => self.dequeued,
            (SentCounted::Enqueue, true) => self.enqueued + self.released,
            (SentCounted::Enqueue, false) => self.enqueued,
        }
    }

    fn round(&mut self) {
        let (mut queue, sent) = (self.queue, self.sent());
        if f64::from(queue) < self.params.tau * f64::from(self.limit) {
            let delta = (sent - self.last_sent) as f64;
            let drained = f64::from(self.last_queue) - f64::from(queue);
            if self.last_queue > 0 || queue > 0 {
                self.rate = (self.rate + drained / 2.0).max(0.0);
                self.bandwidth = match self.params.sent_counted {
                    SentCounted::Enqueue => delta + drained,
                    SentCounted::Dequeue => delta,
                };
            } else {
                self.rate = (self.rate + (self.bandwidth - delta) / 2.0).max(0.0);
            }
            if self.params.cap && self.store.is_empty() {
                self.rate = self.rate.min(self.places() as f64);
            }
            let due = match self.params.release {
                Release::AboveOne => self.rate > 1.0,
                Release::FromOne => self.rate >= 1.0,
            };
            if !self.store.is_empty() && due {
                for _ in 0..self.rate.floor() as u64 {
                    if self.queue < self.limit && self.store.pop_front().is_some() {
                        self.queue += 1;
                        self.released += 1;
                    }
                }
                self.rate -= self.rate.floor();
                queue = self.queue;
            }
        }
        self.last_queue = queue;
        self.last_sent = sent;
    }

    fn push(&mut self, now: u64, is_data: bool) {
        if self.queue < self.limit {
            self.queue += 1;
            self.enqueued += 1;
        } else if self.store.len() < self.places() {
            self.store.push_back(now + self.params.residence.as_nanos());
            self.notices += u64::from(is_data);
        }
    }

    fn pop(&mut self) {
        self.queue -= 1;
        self.dequeued += 1;
    }
}

fn pick<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u32) as usize]
}

fn random_params(rng: &mut Rng) -> Params {
    let mut params = params(&[]);
    params.alpha = pick(rng, &[0.125, 0.25, 0.5, 1.0]);
    params.tau = pick(rng, &[0.25, 0.5, 0.75, 1.0]);
    params.interval = Span::from_micros(pick(rng, &[1_000, 1_000, 300, 7_000]));
    params.residence = Span::from_millis(pick(rng, &[5, 50, 1_000]));
    params.release = pick(rng, &[Release::AboveOne, Release::FromOne]);
    params.sent_counted = pick(rng, &[SentCounted::Enqueue, SentCounted::Dequeue]);
    params.cap = rng.chance(0.5);
    params.released_counted = rng.chance(0.5);
    params
}

/// Microseconds to the next event: often none or a whole round, sometimes a long pause.
fn random_pause(rng: &mut Rng) -> u64 {
    match rng.below(10) {
        0..4 => 0,
        4..6 => 1_000,
        6..9 => u64::from(rng.below(3_000)),
        _ => u64::from(rng.below(40)) * 25_000,
    }
}

/// Pushes or pops a few packets, the wake-up that is due now before or after them.
fn random_event(bench: &mut Bench, rng: &mut Rng, mut on_push: impl FnMut(bool), mut on_pop: impl FnMut()) {
    let wake_first = rng.chance(0.5);
    if wake_first {
        bench.wake();
    }
    if rng.chance(0.5) {
        for _ in 0..rng.below(bench.faces[0].limit_packets() * 2) {
            let is_data = rng.chance(0.8);
            if is_data {
                bench.push_data()
            } else {
                bench.push_interest()
            }
            on_push(is_data);
        }
    } else {
        for _ in 0..rng.below(8) {
            if bench.pop().is_some_and(|segment| segment >= 0) {
                on_pop();
            }
        }
    }
    if !wake_first {
        bench.wake();
    }
}

#[test]
fn rounds_made_up_for_later_equal_rounds_run_in_time() {
    let mut compared = 0;
    for seed in 0..300 {
        let mut rng = Rng::stream(Seed(seed), "plr/rounds");
        let (limit, params) = (pick(&mut rng, &[4, 8, 16, 32]), random_params(&mut rng));
        let mut bench = Bench::new(packets(limit), params.clone());
        let naive = RefCell::new(Naive::new(limit, params));
        let mut micros = 0;
        for step in 0..200 {
            micros += random_pause(&mut rng);
            bench.until(micros);
            naive.borrow_mut().until(micros * MICROS);
            let push = |is_data| naive.borrow_mut().push(micros * MICROS, is_data);
            random_event(&mut bench, &mut rng, push, || naive.borrow_mut().pop());

            let naive = naive.borrow();
            let stored = bench.store.0.borrow_mut().stored(bench.now, &bench.faces[0]);
            let at = format!("seed {seed}, step {step}, {micros} us");
            assert_eq!(bench.waiting(), naive.queue, "queue; {at}");
            assert_eq!(stored as usize, naive.store.len(), "store; {at}");
            assert_eq!(bench.stats().released, naive.released, "released; {at}");
            assert_eq!(bench.stats().notices, naive.notices, "notices; {at}");
            let Recovery { credit, bandwidth, next_round, .. } = bench.recovery();
            if next_round.as_nanos() == naive.next {
                let ours = ((credit as f64 / 2.0).to_bits(), (bandwidth as f64).to_bits());
                assert_eq!(ours, (naive.rate.to_bits(), naive.bandwidth.to_bits()), "R, N_bw; {at}");
                compared += 1;
            }
        }
    }
    assert!(compared > 30_000, "R was compared only {compared} times");
}

#[test]
fn a_late_wake_up_does_all_rounds_that_were_due() {
    let mut moved_late = 0;
    for seed in 0..20_000 {
        let mut rng = Rng::stream(Seed(seed), "plr/late");
        let params = random_params(&mut rng);
        let mut seen = MonitorInput {
            waiting: pick(&mut rng, &[0, 0, 3, 12, 16]),
            accepted: 100,
            stored: pick(&mut rng, &[0, 0, 1, 8]),
            room: 0,
            limit: 16,
        };
        seen.room = seen.limit - seen.waiting;
        let mut late = Recovery {
            next_round: Time::ZERO,
            credit: i64::from(rng.below(40)),
            bandwidth: i64::from(rng.below(4)),
            last_waiting: pick(&mut rng, &[0, 3, 4, 5, 16]),
            last_sent: 100 - u64::from(rng.below(4)),
        };
        let (mut in_time, mut still, mut moved) = (late, seen, 0);
        let rounds = 1 + u64::from(rng.below(60));
        for _ in 0..rounds {
            let count = in_time.round(&params, &still);
            still = still.after(count);
            moved += count;
            in_time.next_round += params.interval;
        }
        let now = Time::ZERO + params.interval * (rounds - 1);
        assert_eq!((late.run_until(now, &params, seen), late), (moved, in_time), "seed {seed}");
        moved_late += moved;
    }
    assert!(moved_late > 1_000, "the case moved only {moved_late} packets");
}

#[test]
fn packets_are_conserved_and_no_bound_is_broken_over_random_histories() {
    let (mut released, mut expired) = (0, 0);
    for seed in 0..300 {
        let mut rng = Rng::stream(Seed(seed), "plr/conservation");
        let (limit, params) = (pick(&mut rng, &[4, 8, 16, 32]), random_params(&mut rng));
        let places = (params.alpha * f64::from(limit)).floor() as u32;
        let quiet_from = params.tau * f64::from(limit);
        let mut bench = Bench::new(packets(limit), params);
        let (mut micros, mut popped) = (0, 0);
        for step in 0..200 {
            micros += random_pause(&mut rng);
            bench.until(micros);
            let before = bench.stats().released;
            let waiting = bench.waiting();
            bench.wake();
            let moved = (bench.stats().released - before) as u32;
            let at = format!("seed {seed}, step {step}, {micros} us");
            assert!(moved == 0 || f64::from(waiting) < quiet_from, "released at {waiting} packets; {at}");
            assert_eq!(bench.waiting(), waiting + moved, "a released packet was lost; {at}");

            let sent = bench.faces[0].sent_packets();
            random_event(&mut bench, &mut rng, |_| (), || ());
            popped += bench.faces[0].sent_packets() - sent;
            let (stats, held) = (bench.stats(), bench.faces[0].held_packets());
            let kept = u64::from(bench.faces[0].queued_packets()) + u64::from(held);
            assert_eq!(stats.offered, popped + stats.dropped + kept, "{at}");
            assert!(held <= places, "{held} in a store of {places}; {at}");
            let freed = stats.stored - u64::from(held);
            assert!(stats.notices <= u64::from(places) + freed, "{} notices; {at}", stats.notices);
            // Only a notice can find its class full: what happens to other packets is the store's decision.
            let dropped_by_queue = bench.drops.0.contains(&"queue full");
            let notices_are_full = bench.faces[0].backlog(Class::NOTICE) == limit;
            assert!(!dropped_by_queue || notices_are_full, "dropped by the queue; {at}");
            expired += bench.drops.0.drain(..).filter(|cause| *cause == "stored too long").count();
        }
        released += bench.stats().released;
    }
    assert!(released > 1_000 && expired > 1_000, "{released} released, {expired} expired");
}

#[test]
fn one_congestion_episode_makes_as_many_notices_as_the_store_has_places() {
    for (alpha, limit, places) in [(0.5, 32, 16), (0.29, 100, 29), (1.0, 7, 7), (0.1, 9, 0)] {
        let mut bench = Bench::new(packets(limit), params(&[("alpha", Setting::Number(alpha))]));
        (0..1_000).for_each(|_| bench.push_data());
        assert_eq!((bench.stats().notices, bench.faces[0].held_packets()), (places, places as u32));
    }
}

#[test]
fn a_notice_overtakes_a_full_queue() {
    let mut bench = Bench::new(packets(32), params(&[]));
    (0..33).for_each(|_| bench.push_data());
    // Segments count from 0, so the 33rd is 32; it stays in the store while the 32 before it wait.
    assert_eq!((bench.pop(), bench.pop(), bench.waiting()), (Some(-32), Some(0), 31));
    assert_eq!(bench.faces[0].held_packets(), 1);
}

#[test]
fn interests_are_stored_without_a_notice_or_dropped() {
    for (recover, stored) in [(true, 1), (false, 0)] {
        let mut bench = Bench::new(packets(4), params(&[("recover_interests", Setting::Bool(recover))]));
        (0..5).for_each(|_| bench.push_interest());
        assert_eq!((bench.stats().notices, bench.faces[0].held_packets()), (0, stored));
        assert_eq!(bench.stats().dropped, u64::from(!recover));
    }
}

#[test]
fn a_passing_notice_meets_the_class_that_the_parameter_names() {
    for (word, dropped) in [("own-class", 0), ("any-class", 1)] {
        let mut bench =
            Bench::new(packets(4), params(&[("full_for_notice", Setting::Text(word.to_owned()))]));
        (0..4).for_each(|_| bench.push_data());
        let token = tidegate_core::ndn::packet::LossNotice { token: PitToken(1) };
        let name = Name::segment(bench.prefix, 9);
        let mut notice = Header::new(name, Kind::LossNotice(token), ByteCount::new(20));
        notice.hop.class = Class::NOTICE;
        bench.push(notice);
        assert_eq!(bench.stats().dropped, dropped, "{word}");
    }
}

#[test]
fn released_packets_fit_a_queue_limited_in_bytes() {
    // Five packets of 1040 bytes fit; len_Q counts 6000/1500 = 4 packets.
    let given =
        [("alpha", Setting::Number(1.0)), ("tau", Setting::Number(1.0)), ("cap", Setting::Bool(false))];
    let mut bench = Bench::new(Limit::Bytes(ByteCount::new(6_000)), params(&given));
    bench.until(500);
    bench.push_data();
    bench.until(1_500);
    bench.pop_bulk(1);
    // N_bw = 1 from round 2 on, so R is large by round 1000.
    bench.until(1_000_500);
    (0..10).for_each(|_| bench.push_data());
    assert_eq!((bench.waiting(), bench.faces[0].held_packets(), bench.stats().dropped), (5, 4, 1));
    bench.pop_bulk(2);
    bench.until(1_001_500);
    // 6000 - 3 * 1040 bytes take 2 more.
    assert_eq!((bench.waiting(), bench.stats().released, bench.stats().dropped), (5, 2, 1));
}

#[test]
fn a_packet_that_arrives_with_a_round_finds_what_the_round_left() {
    let given = [("alpha", Setting::Number(1.0)), ("cap", Setting::Bool(false))];
    let mut bench = Bench::new(packets(4), params(&given));
    bench.until(500);
    bench.push_data();
    bench.until(1_500);
    bench.pop_bulk(1);
    // N_bw = 1 from round 2 on, so R is large by round 1000.
    bench.until(1_000_500);
    (0..8).for_each(|_| bench.push_data());
    bench.pop_bulk(2);
    bench.until(1_001_000);
    // The round at this instant fills the queue with 2 of the 4 stored packets before the packet comes.
    bench.push_data();
    bench.wake();
    assert_eq!((bench.waiting(), bench.faces[0].held_packets()), (4, 3));
    assert_eq!((bench.stats().released, bench.stats().dropped), (2, 0));
}
