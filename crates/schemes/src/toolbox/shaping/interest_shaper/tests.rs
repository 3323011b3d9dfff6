use super::*;
use tidegate_core::context::{Env, NoSink, Present};
use tidegate_core::ndn::packet::{Data, Interest, Millis, PitToken};

/// Data of 1000 bytes at 8 Mbit/s: one each millisecond. Three may pass at once.
const RATE: BitRate = BitRate::from_bps(8_000_000);
const SETUP: ShaperSetup = ShaperSetup {
    measure: ShapedUnit::Data,
    depth: ByteCount::new(3_000),
    expected_data: ByteCount::new(1_000),
    limit: Packets::new(1_000),
};

/// A shaper at its face, and what waits in the face's store.
struct Bench {
    gate: ShaperGate,
    names: NameTable,
    held: BTreeMap<FlowKey, VecDeque<u32>>,
    next: u32,
}

impl Bench {
    fn new(setup: ShaperSetup, rate: Option<BitRate>) -> Self {
        let gate = ShaperGate(Rc::new(RefCell::new(InterestShaper::new(setup))));
        let bench = Self { gate, names: NameTable::new(), held: BTreeMap::new(), next: 0 };
        bench.set_rate(rate, Time::ZERO);
        bench
    }

    fn set_rate(&self, rate: Option<BitRate>, now: Time) {
        self.gate.0.borrow_mut().set_rate(rate, now);
    }

    fn call<T>(&mut self, now: Time, part: impl FnOnce(&mut ShaperGate, &mut Context<'_>) -> T) -> T {
        let sink = &mut NoSink;
        let mut present = Present::observed(sink).at(now);
        let env = Env::new(&self.names, &mut present);
        part(&mut self.gate, &mut Context::new(env, &[]))
    }

    /// An Interest of 50 bytes arrives, numbered from 0 on; whether it passed.
    fn request(&mut self, now: Time, flow: u32) -> bool {
        let number = self.next;
        self.next += 1;
        let verdict =
            self.call(now, |gate, cx| gate.on_interest_out(cx, PitId(number), &mut interest(PrefixId(flow))));
        match verdict {
            GateVerdict::Admit => true,
            GateVerdict::Hold(flow) => {
                self.held.entry(flow).or_default().push_back(number);
                false
            }
            other => panic!("a shaper never says {other:?}"),
        }
    }

    fn data_of(&mut self, bytes: u64) {
        let mut data = data(bytes);
        self.call(Time::ZERO, |gate, cx| gate.on_data_in(cx, PitId(0), &mut data, None));
    }

    /// The Interests that leave at the next wake-up, and when.
    fn wake(&mut self) -> Option<(Time, Vec<u32>)> {
        let now = self.gate.next_wake()?;
        let mut releases = Releases::default();
        self.call(now, |gate, cx| gate.on_wake(cx, &mut releases));
        let mut left = Vec::new();
        for (flow, count) in releases.drain() {
            let held = self.held.get_mut(&flow).expect("only what waits is released");
            left.extend((0..count).map(|_| held.pop_front().expect("as above")));
        }
        assert!(self.gate.next_wake().is_none_or(|wake| wake > now), "woken twice at {now}");
        Some((now, left))
    }

    /// All that leaves until nothing is due any more, with the times in microseconds.
    fn rest(&mut self) -> Vec<(u64, Vec<u32>)> {
        std::iter::from_fn(|| self.wake()).map(|(at, left)| (at.as_nanos() / 1_000, left)).collect()
    }
}

fn micros(at: u64) -> Time {
    Time::from_nanos(at * 1_000)
}

fn interest(flow: PrefixId) -> Header {
    let (nonce, lifetime, token) = (1, Millis(4_000), PitToken(0));
    let kind = Kind::Interest(Interest {
        nonce,
        lifetime,
        token,
        hop_limit: None,
        can_be_prefix: false,
        must_be_fresh: false,
    });
    Header::new(Name::whole(flow), kind, ByteCount::new(50))
}

fn data(bytes: u64) -> Header {
    let (freshness, final_segment, token) = (Millis(0), Segment::NONE, PitToken(0));
    let kind = Kind::Data(Data { freshness, final_segment, payload: 0, token });
    Header::new(Name::whole(NameTable::ROOT), kind, ByteCount::new(bytes))
}

#[test]
fn without_a_rate_everything_passes() {
    let mut bench = Bench::new(SETUP, None);
    assert!((0..100).all(|_| bench.request(Time::ZERO, 1)));
    assert_eq!((bench.gate.next_wake(), bench.gate.0.borrow().is_shaping()), (None, false));
}

#[test]
fn a_full_bucket_passes_at_once_and_the_rest_at_the_rate() {
    let mut bench = Bench::new(SETUP, Some(RATE));
    let passed: Vec<bool> = (0..6).map(|_| bench.request(Time::ZERO, 1)).collect();
    assert_eq!(passed, [true, true, true, false, false, false]);
    assert_eq!(bench.gate.0.borrow().waiting(), 3);
    assert_eq!(bench.rest(), [(1_000, vec![3]), (2_000, vec![4]), (3_000, vec![5])]);
}

#[test]
fn what_comes_while_others_wait_waits_behind_them_even_if_the_bucket_has_enough() {
    let mut bench = Bench::new(SETUP, Some(RATE));
    for _ in 0..4 {
        bench.request(Time::ZERO, 1);
    }
    assert!(!bench.request(micros(1_500), 1));
    assert_eq!(bench.rest(), [(1_500, vec![3]), (2_000, vec![4])]);
}

#[test]
fn flows_take_turns_whoever_came_first() {
    let mut bench = Bench::new(SETUP, Some(RATE));
    for flow in [9, 9, 9, 7, 7, 7, 8, 9] {
        bench.request(Time::ZERO, flow);
    }
    let order: Vec<u32> = bench.rest().into_iter().flat_map(|(_, left)| left).collect();
    assert_eq!(order, [3, 6, 7, 4, 5]);
}

#[test]
fn the_end_of_shaping_lets_all_out_at_once() {
    let mut bench = Bench::new(SETUP, Some(RATE));
    for _ in 0..6 {
        bench.request(Time::ZERO, 1);
    }
    bench.set_rate(None, micros(700));
    assert_eq!(bench.rest(), [(700, vec![3, 4, 5])]);
    assert!(bench.request(micros(700), 1));
}

#[test]
fn a_new_rate_counts_from_its_time_on_and_rate_0_lets_nothing_out() {
    let mut bench = Bench::new(SETUP, Some(RATE));
    for _ in 0..5 {
        bench.request(Time::ZERO, 1);
    }
    bench.set_rate(Some(BitRate::from_bps(0)), micros(500));
    assert_eq!(bench.gate.next_wake(), None);
    bench.set_rate(Some(BitRate::from_bps(4_000_000)), micros(10_000));
    // Half of the first Data's bytes are there; the other half takes 1 ms at half the rate.
    assert_eq!(bench.rest(), [(11_000, vec![3]), (13_000, vec![4])]);
}

#[test]
fn what_is_withdrawn_takes_no_turn_and_nothing_of_the_bucket() {
    let mut bench = Bench::new(SETUP, Some(RATE));
    for flow in [1, 1, 1, 1, 2, 1] {
        bench.request(Time::ZERO, flow);
    }
    for (flow, number) in [(1, 3), (2, 4)] {
        bench.held.get_mut(&PrefixId(flow)).expect("waits").retain(|held| *held != number);
        bench.call(micros(100), |gate, cx| gate.on_withdrawn(cx, PitId(number), Some(PrefixId(flow))));
    }
    bench.call(micros(100), |gate, cx| gate.on_withdrawn(cx, PitId(0), None));
    assert_eq!(bench.rest(), [(1_000, vec![5])]);
}

#[test]
fn data_of_another_size_changes_what_an_interest_costs() {
    let mut bench = Bench::new(SETUP, Some(RATE));
    // 1000 B + (9000 B - 1000 B) / 8.
    bench.data_of(9_000);
    assert!(bench.request(Time::ZERO, 1));
    assert!(!bench.request(Time::ZERO, 1), "1000 B are left of 2000 B");
    assert_eq!(bench.rest(), [(1_000, vec![1])]);
}

#[test]
fn interests_can_be_measured_themselves() {
    let depth = ByteCount::new(100);
    let mut bench = Bench::new(
        ShaperSetup { measure: ShapedUnit::Interests, depth, ..SETUP },
        Some(BitRate::from_bps(400)),
    );
    bench.data_of(9_000);
    let passed: Vec<bool> = (0..3).map(|_| bench.request(Time::ZERO, 1)).collect();
    assert_eq!(passed, [true, true, false]);
    assert_eq!(bench.rest(), [(1_000_000, vec![2])]);
}

#[test]
fn a_packet_larger_than_the_bucket_waits_for_a_full_one() {
    let depth = ByteCount::new(500);
    let mut bench = Bench::new(ShaperSetup { depth, ..SETUP }, Some(RATE));
    assert!(bench.request(Time::ZERO, 1) && !bench.request(Time::ZERO, 1));
    assert_eq!(bench.rest(), [(500, vec![1])]);
}

#[test]
fn no_more_leaves_than_the_rate_allows_and_no_less_while_some_wait() {
    for seed in 0..50 {
        let mut rng = Rng::stream(Seed(seed), "shaper");
        let mut bench = Bench::new(SETUP, Some(RATE));
        let (mut now, mut left) = (0, 0);
        for _ in 0..400 {
            now += u64::from(rng.below(1_400));
            while bench.gate.next_wake().is_some_and(|wake| wake <= micros(now)) {
                left += bench.wake().expect("just seen").1.len() as u64;
            }
            left += u64::from(bench.request(micros(now), rng.below(3)));
            assert!(left <= 3 + now / 1_000, "seed {seed}: {left} at {now} us");
        }
        let waiting = bench.gate.0.borrow().waiting() as u64;
        let last = bench.rest().last().map_or(0, |(at, _)| *at);
        // From the first that waits on, one leaves each millisecond.
        assert!(
            waiting == 0 || last <= now + 1_000 * waiting,
            "seed {seed}: the last of {waiting} at {last} us"
        );
        assert_eq!(bench.held.values().map(VecDeque::len).sum::<usize>(), 0);
    }
}
