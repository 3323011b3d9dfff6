//! What each class is promised, over random arrivals and by hand.

use super::*;

fn mbps(rate: f64) -> BitRate {
    BitRate::from_mbps(rate)
}

fn shape(rate: f64, ceil: f64) -> Shape {
    Shape::new(mbps(rate), mbps(ceil))
}

/// Leaves with packets of equal sizes, behind a line that is `LINE` times as fast as the root.
struct Bench {
    htb: Htb,
    now: Time,
    /// Waiting packets' sizes; what is marked endless stays.
    waiting: Vec<Vec<u64>>,
    endless: Vec<u64>,
    sent: Vec<(Time, usize, u64)>,
}

const LINE: f64 = 1_000.0;

impl Bench {
    fn new(htb: Htb) -> Self {
        let count = htb.classes.len();
        Self {
            htb,
            now: Time::ZERO,
            waiting: vec![Vec::new(); count],
            endless: vec![0; count],
            sent: Vec::new(),
        }
    }

    /// `class` always has a packet of `size` bytes.
    fn endless(mut self, class: ClassId, size: u64) -> Self {
        self.endless[class.index()] = size;
        self
    }

    /// Sends until `end`; whether packets wait then.
    fn run(&mut self, end: Time) {
        while self.now < end {
            let (waiting, endless) = (&self.waiting, &self.endless);
            let head = |class: ClassId| {
                let endless = endless[class.index()];
                let first = waiting[class.index()].first().copied();
                first.or((endless > 0).then_some(endless)).map(ByteCount::new)
            };
            let size = |class| head(class).expect("it was served").get();
            match self.htb.dequeue(self.now, head) {
                Next::Serve(class) => {
                    let size = size(class);
                    self.sent.push((self.now, class.index(), size));
                    if !self.waiting[class.index()].is_empty() {
                        self.waiting[class.index()].remove(0);
                    }
                    self.now += mbps(LINE).time_to_send(ByteCount::new(size));
                }
                Next::Until(at) => self.now = at.min(end),
                Next::Empty => self.now = end,
            }
        }
    }

    /// Bytes that `class` sent since `from`.
    fn bytes(&self, class: ClassId, from: Time) -> f64 {
        let of_class = |(at, sent, _): &&(Time, usize, u64)| *sent == class.index() && *at >= from;
        self.sent.iter().filter(of_class).map(|(_, _, size)| *size).sum::<u64>() as f64
    }

    fn all_bytes(&self) -> f64 {
        self.sent.iter().map(|(_, _, size)| *size).sum::<u64>() as f64
    }

    /// Rate of `class` since `from`, Mbit/s.
    fn rate(&self, class: ClassId, from: Time) -> f64 {
        self.bytes(class, from) * 8e-6 / self.now.since(from).as_secs_f64()
    }
}

fn seconds(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

/// A root of `root` Mbps with a leaf for each of `leaves`: rate, ceiling (Mbps), priority.
fn flat(root: f64, leaves: &[(f64, f64, u8)]) -> (Htb, Vec<ClassId>) {
    let mut htb = Htb::new();
    let top = htb.add(None, shape(root, root), 0, Time::ZERO);
    let leaves = leaves
        .iter()
        .map(|(rate, ceil, priority)| htb.add(Some(top), shape(*rate, *ceil), *priority, Time::ZERO));
    let leaves = leaves.collect();
    (htb, leaves)
}

/// A random tree of two levels over 100 Mbps in which no class promises more than it has: leaves, rate and shape.
fn random_tree(rng: &mut Rng) -> (Htb, Vec<(ClassId, Shape)>) {
    let mut htb = Htb::new();
    let top = htb.add(None, shape(100.0, 100.0), 0, Time::ZERO);
    let mut leaves = Vec::new();
    let mut left = 100.0;
    for _ in 0..1 + rng.below(3) {
        let rate = left * (0.1 + 0.4 * rng.uniform());
        left -= rate;
        let inner = htb.add(Some(top), shape(rate, rate + rng.uniform() * (100.0 - rate)), 0, Time::ZERO);
        let mut own = rate;
        for _ in 0..1 + rng.below(3) {
            let rate = own * (0.1 + 0.8 * rng.uniform());
            own -= rate;
            let shape = shape(rate, rate + rng.uniform() * (100.0 - rate));
            let leaf = htb.add(Some(inner), shape, rng.below(3) as u8, Time::ZERO);
            leaves.push((leaf, shape));
        }
    }
    (htb, leaves)
}

/// Runs a random tree with random bursts of arrivals for two seconds; the first leaf is never empty.
fn random_run(seed: u64) -> (Bench, Vec<(ClassId, Shape)>) {
    let mut rng = Rng::stream(Seed(seed), "htb");
    let (htb, leaves) = random_tree(&mut rng);
    let mut bench = Bench::new(htb).endless(leaves[0].0, 1514);
    while bench.now < seconds(2.0) {
        let (leaf, _) = leaves[rng.below(leaves.len() as u32) as usize];
        let sizes = (0..rng.below(60)).map(|_| u64::from(64 + rng.below(1_450)));
        bench.waiting[leaf.index()].extend(sizes);
        let pause = Span::from_micros(u64::from(rng.below(8_000)));
        bench.run(bench.now + pause);
    }
    (bench, leaves)
}

#[test]
fn no_class_sends_more_than_its_ceiling_and_one_burst_in_any_time() {
    for seed in 0..20 {
        let (bench, leaves) = random_run(seed);
        for (leaf, shape) in leaves {
            // What a leaky bucket of that rate would hold is the largest excess over all intervals that end here.
            let (mut held, mut last) = (0.0, Time::ZERO);
            for (at, _, size) in bench.sent.iter().filter(|(_, class, _)| *class == leaf.index()) {
                let leaked = at.since(last).as_secs_f64() * shape.ceil.as_bps() as f64 / 8.0;
                held = f64::max(held - leaked, 0.0) + *size as f64;
                last = *at;
                let max = shape.ceil_burst.get() as f64 + 1e-3;
                assert!(held <= max, "seed {seed}, {leaf:?} at {at}: {held} above {max}");
            }
        }
    }
}

#[test]
fn a_class_that_always_has_packets_gets_at_least_its_rate() {
    for seed in 0..20 {
        let (bench, leaves) = random_run(seed);
        let (leaf, shape) = leaves[0];
        let promised = shape.rate.as_bps() as f64 / 8.0 * 2.0;
        // A packet may be waiting for its last tokens.
        let sent = bench.bytes(leaf, Time::ZERO);
        assert!(sent >= promised - 1514.0, "seed {seed}: {sent} of {promised}");
    }
}

#[test]
fn nothing_is_held_back_while_the_root_has_tokens_and_ceilings_allow_it() {
    for seed in 0..5 {
        let mut rng = Rng::stream(Seed(seed), "conserving");
        let rates: Vec<f64> = (0..4).map(|_| 1.0 + 10.0 * rng.uniform()).collect();
        let (htb, leaves) = flat(100.0, &rates.iter().map(|rate| (*rate, 100.0, 0)).collect::<Vec<_>>());
        // One leaf alone, then another: whoever has packets fills the root.
        let mut bench = Bench::new(htb).endless(leaves[0], 1514);
        bench.run(seconds(1.0));
        bench.endless = vec![0; 5];
        bench.endless[leaves[1].index()] = 700;
        bench.run(seconds(2.0));
        let sent = bench.all_bytes();
        // 25 MB in two seconds, the root's burst of 125 kB, and those of two leaves that do not need to ask it.
        assert!((25.0e6 - 1514.0..=25.0e6 + 125e3 + 30e3).contains(&sent), "seed {seed}: {sent}");
    }
}

#[test]
fn the_share_of_an_idle_class_is_lent_in_the_ratio_of_the_rates() {
    let (htb, leaves) = flat(100.0, &[(40.0, 100.0, 0), (20.0, 100.0, 0), (40.0, 100.0, 0)]);
    let mut bench = Bench::new(htb).endless(leaves[0], 1514).endless(leaves[1], 1514);
    bench.run(seconds(5.0));
    // 40 + 2/3 of 40, 20 + 1/3 of 40, once the bursts are spent.
    let rates = [0, 1].map(|leaf| bench.rate(leaves[leaf], seconds(1.0)));
    assert!((rates[0] - 66.67).abs() < 0.3 && (rates[1] - 33.33).abs() < 0.3, "{rates:?}");
    // The third comes back and gets its rate at once.
    let back = bench.now;
    bench.endless[leaves[2].index()] = 1514;
    bench.run(seconds(7.0));
    let rates = [0, 1, 2].map(|leaf| bench.rate(leaves[leaf], back));
    assert!((rates[0] - 40.0).abs() < 0.3 && (rates[1] - 20.0).abs() < 0.3, "{rates:?}");
    assert!((rates[2] - 40.0).abs() < 0.5, "{rates:?}");
}

#[test]
fn turns_are_fair_in_bytes_whatever_the_sizes_of_packets() {
    let (htb, leaves) = flat(100.0, &[(1.0, 100.0, 0), (1.0, 100.0, 0), (1.0, 100.0, 0)]);
    let sizes = [1514, 300, 64];
    let mut bench = Bench::new(htb);
    for (leaf, size) in leaves.iter().zip(sizes) {
        bench.endless[leaf.index()] = size;
    }
    bench.run(seconds(2.0));
    // Own rates are equal too, so what was sent differs by turns only: a quantum and a packet at each of two levels.
    let bytes: Vec<f64> = leaves.iter().map(|leaf| bench.bytes(*leaf, Time::ZERO)).collect();
    let (min, max) =
        (bytes.iter().copied().fold(f64::MAX, f64::min), bytes.iter().copied().fold(0.0, f64::max));
    assert!(max - min <= 2.0 * (1514.0 + 1514.0), "{bytes:?}");
}

#[test]
fn borrowed_tokens_go_to_the_better_priority_and_own_ones_to_their_owner() {
    let (htb, leaves) = flat(100.0, &[(30.0, 100.0, 1), (30.0, 80.0, 0)]);
    let mut bench = Bench::new(htb).endless(leaves[0], 1514).endless(leaves[1], 1514);
    bench.run(seconds(3.0));
    let rates = [0, 1].map(|leaf| bench.rate(leaves[leaf], seconds(1.0)));
    // 30 of its own and all 40 that are to be had; the other is left with its own.
    assert!((rates[0] - 30.0).abs() < 0.2 && (rates[1] - 70.0).abs() < 0.2, "{rates:?}");
}

#[test]
fn a_near_lender_is_consulted_before_a_far_one() {
    let mut htb = Htb::new();
    let top = htb.add(None, shape(100.0, 100.0), 0, Time::ZERO);
    let inner = htb.add(Some(top), shape(60.0, 100.0), 0, Time::ZERO);
    let cousin = htb.add(Some(top), shape(40.0, 100.0), 0, Time::ZERO);
    let own = htb.add(Some(inner), shape(10.0, 100.0), 0, Time::ZERO);
    let idle = htb.add(Some(inner), shape(50.0, 100.0), 0, Time::ZERO);
    let mut bench = Bench::new(htb).endless(cousin, 1514).endless(own, 1514);
    bench.run(seconds(3.0));
    // The idle sibling's 50 stay in the family.
    let rates = [own, cousin].map(|leaf| bench.rate(leaf, seconds(1.0)));
    assert!((rates[0] - 60.0).abs() < 0.2 && (rates[1] - 40.0).abs() < 0.2, "{rates:?}");
    assert_eq!(bench.bytes(idle, Time::ZERO), 0.0);
}

#[test]
fn what_was_borrowed_is_not_held_against_the_borrowers_own_rate() {
    let (htb, leaves) = flat(10.0, &[(2.0, 10.0, 1), (8.0, 10.0, 0)]);
    let mut bench = Bench::new(htb).endless(leaves[0], 1514);
    bench.run(seconds(5.0));
    assert!((bench.rate(leaves[0], seconds(1.0)) - 10.0).abs() < 0.1, "8 of 10 are borrowed");
    let mut bench = bench.endless(leaves[1], 1514);
    bench.run(seconds(6.0));
    let rates = [0, 1].map(|leaf| bench.rate(leaves[leaf], seconds(5.1)));
    // Its own 2 at once. In debt it would have to borrow, and what is to be had goes to the other, which has priority.
    assert!((rates[0] - 2.0).abs() < 0.1 && (rates[1] - 8.0).abs() < 0.1, "{rates:?}");
}

#[test]
fn a_new_shape_holds_from_its_time_on() {
    let (htb, leaves) = flat(100.0, &[(50.0, 50.0, 0), (10.0, 10.0, 0)]);
    let mut bench = Bench::new(htb).endless(leaves[0], 1514).endless(leaves[1], 1514);
    bench.run(seconds(1.0));
    bench.htb.reshape(leaves[0], shape(20.0, 20.0), bench.now);
    bench.htb.reshape(leaves[1], shape(80.0, 80.0), bench.now);
    bench.run(seconds(3.0));
    let rates = [0, 1].map(|leaf| bench.rate(leaves[leaf], seconds(1.0)));
    assert!((rates[0] - 20.0).abs() < 0.2 && (rates[1] - 80.0).abs() < 0.5, "{rates:?}");
}

#[test]
fn a_packet_larger_than_its_bucket_waits_for_a_full_one() {
    let small = Shape { burst: ByteCount::new(500), ceil_burst: ByteCount::new(500), ..shape(8.0, 8.0) };
    let mut htb = Htb::new();
    let leaf = htb.add(None, small, 0, Time::ZERO);
    let head = |_| Some(ByteCount::new(1_500));
    assert_eq!(htb.dequeue(Time::ZERO, head), Next::Serve(leaf));
    // 1000 bytes of debt and 500 to fill it: 1.5 ms at a byte per microsecond.
    assert_eq!(htb.dequeue(Time::ZERO, head), Next::Until(seconds(0.0015)));
    assert_eq!(htb.dequeue(seconds(0.0015), head), Next::Serve(leaf));
}

#[test]
fn a_class_without_a_ceiling_waits_until_it_is_given_one() {
    let (mut htb, leaves) = flat(8.0, &[(0.0, 0.0, 0)]);
    let head = |_| Some(ByteCount::new(10_000));
    // Its bursts are there once.
    assert_eq!(htb.dequeue(Time::ZERO, head), Next::Serve(leaves[0]));
    assert_eq!(htb.dequeue(Time::ZERO, head), Next::Until(Time::MAX));
    assert_eq!(htb.dequeue(seconds(9.0), |_| None), Next::Empty);
    htb.reshape(leaves[0], shape(8.0, 8.0), seconds(9.0));
    assert_eq!(htb.dequeue(seconds(9.0), head), Next::Until(seconds(9.005)));
}
