//! The gate of one face: counts and polices Interests, computes the fair rate and stamps it on Data.
//!
//! For multipath it computes a second rate, of what primary Interests leave of the link, and swaps path labels.

use tidegate_core::choice;
use tidegate_core::context::Context;
use tidegate_core::face::FaceId;
use tidegate_core::gate::{FaceGate, GateVerdict, Releases};
use tidegate_core::packet::{Header, NackReason};
use tidegate_core::pit::PitId;
use tidegate_core::signal::Signal;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

use super::{Params, SECONDARY};
use super::fair_rate::{FairRate, LOWEST, Measured, Rule, smooth};
use super::path_table::SharedPaths;
use super::secondary::Secondary;
use crate::toolbox::token_bucket::TokenBucket;

choice! {
    /// What becomes of an Interest that finds the bucket full.
    pub enum Policing {
        /// It is dropped.
        Drop = "drop",
        /// It is refused with a Nack.
        Nack = "nack",
        /// It passes; the bucket stays full.
        Off = "off",
    }
}

/// Weight of a new round trip and a new size in their means.
const GAIN: f64 = 1.0 / 8.0;
/// Highest capacity, Interests per second, so that nothing overflows.
const HIGHEST: f64 = 1e9;
/// What an Interest takes from the bucket, in the bucket's bytes: its rate is then met to an Interest in 8000 s.
const COST: ByteCount = ByteCount::new(1_000);

/// The gate.
#[derive(Debug)]
pub(super) struct RateGate {
    face: FaceId,
    params: Params,
    primary: FairRate,
    /// With multipath alone.
    multipath: Option<Multipath>,
    bucket: Bucket,
    /// Primary and secondary Interests since the last update.
    arrived: [u64; 2],
    /// Seconds.
    rtt: f64,
    /// Bytes.
    data_size: f64,
    /// `None` before the first Interest.
    updated_at: Option<Time>,
}

/// What a gate has beside the rest for several paths.
#[derive(Debug)]
struct Multipath {
    secondary: Secondary,
    /// The node's.
    paths: SharedPaths,
}

impl RateGate {
    /// The gate of `face`; `paths` are those of its node, with multipath.
    pub fn new(params: Params, face: FaceId, paths: Option<SharedPaths>) -> Self {
        let rule = Rule { utilisation: params.utilisation, beta: params.beta, weight: params.weight };
        Self {
            face,
            primary: FairRate::new(rule),
            multipath: paths.map(|paths| Multipath { secondary: Secondary::new(rule), paths }),
            bucket: Bucket { depth: params.depth, tokens: None },
            arrived: [0, 0],
            rtt: params.first_rtt.as_secs_f64(),
            data_size: params.data_size.get() as f64,
            updated_at: None,
            params,
        }
    }

    /// C: Interests per second whose Data fill the link.
    fn capacity(&self, cx: &Context<'_>) -> f64 {
        let given = self.params.capacity;
        let by_link = cx.face(self.face).incoming_rate().as_bps() as f64 / (8.0 * self.data_size.max(1.0));
        (if given > 0.0 { given } else { by_link }).clamp(LOWEST, HIGHEST)
    }

    /// Whether the bucket has room for an Interest, which it then holds.
    fn polices(&mut self, cx: &Context<'_>) -> bool {
        let capacity = self.capacity(cx);
        !self.bucket.at(cx.now, capacity).take(COST, cx.now)
    }

    fn update(&mut self, cx: &Context<'_>, elapsed: Span) {
        let capacity = self.capacity(cx);
        let queue = self.bucket.at(cx.now, capacity).missing(cx.now) / COST.get() as f64;
        let [load, secondary] =
            std::mem::take(&mut self.arrived).map(|count| count as f64 / elapsed.as_secs_f64());
        let measured = Measured { capacity, load, queue, rtt: self.rtt };
        self.primary.update(measured);
        if let Some(multipath) = &mut self.multipath {
            multipath.secondary.update(measured, secondary);
        }
    }

    /// Counts an Interest in its class; on with it along its path.
    fn count(&mut self, interest: &mut Header) {
        let mut class = 0;
        if let Some(Multipath { paths, .. }) = &self.multipath {
            class = usize::from(interest.hop.get(Signal::FlowClass) == Some(SECONDARY));
            if let Some(label) = interest.hop.get(Signal::PathChoice) {
                interest.hop.put(Signal::PathChoice, paths.borrow().beyond(label, self.face));
            }
        }
        self.arrived[class] += 1;
    }

    fn stamp(&self, cx: &Context<'_>, data: &mut Header) {
        let capacity = self.capacity(cx);
        if self.params.stamping {
            data.hop.put(Signal::StampingRate, milli(self.primary.get(capacity)));
        }
        let Some(Multipath { secondary, paths }) = &self.multipath else { return };
        if self.params.stamping {
            data.hop.put(Signal::StampingRateSecondary, milli(secondary.get(capacity)));
        }
        let beyond = data.hop.get(Signal::PathLabel).unwrap_or_default();
        data.hop.put(Signal::PathLabel, paths.borrow_mut().learn(beyond, self.face));
    }
}

/// The leaky bucket that polices: as a token bucket, what it holds is what is missing.
#[derive(Debug)]
struct Bucket {
    depth: Packets,
    /// `None` before the first Interest.
    tokens: Option<TokenBucket>,
}

impl Bucket {
    /// The bucket, leaking `per_second` Interests from `now` on.
    fn at(&mut self, now: Time, per_second: f64) -> &mut TokenBucket {
        let rate = BitRate::from_bps((per_second * 8.0 * COST.get() as f64) as u64);
        let depth = ByteCount::new(u64::from(self.depth.get()) * COST.get());
        let tokens = self.tokens.get_or_insert_with(|| TokenBucket::new(rate, depth, now));
        tokens.set_rate(rate, now);
        tokens
    }
}

impl FaceGate for RateGate {
    fn on_interest_out(
        &mut self,
        cx: &mut Context<'_>,
        _: PitId,
        interest: &mut Header,
    ) -> GateVerdict {
        self.updated_at.get_or_insert(cx.now);
        self.count(interest);
        match (self.polices(cx), self.params.policing) {
            (true, Policing::Drop) => GateVerdict::Drop,
            (true, Policing::Nack) => GateVerdict::Nack(NackReason::Congestion),
            (true, Policing::Off) | (false, _) => GateVerdict::Admit,
        }
    }

    fn on_data_in(&mut self, cx: &mut Context<'_>, _: PitId, data: &mut Header, rtt: Option<Span>) {
        self.rtt = rtt.map_or(self.rtt, |rtt| smooth(self.rtt, rtt.as_secs_f64(), GAIN));
        self.data_size = smooth(self.data_size, data.size().get() as f64, GAIN);
        self.stamp(cx, data);
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, _: &mut Releases) {
        let Some(elapsed) = self.updated_at.map(|at| cx.now.since(at)) else { return };
        if elapsed >= self.params.interval {
            self.update(cx, elapsed);
            self.updated_at = Some(cx.now);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.updated_at.map(|at| at + self.params.interval)
    }
}

/// A rate of Interests per second as it stands on Data.
fn milli(rate: f64) -> u32 {
    (rate * 1_000.0).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::gate_bench::{GateBench, data, interest, micros};
    use tidegate_core::name::NameTable;
    use tidegate_core::params::{Settings, Value};

    const ADMIT: GateVerdict = GateVerdict::Admit;

    fn gate(given: &[(&str, Value)]) -> RateGate {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        RateGate::new(Params::from_settings(&Settings(given)).expect("valid"), FaceId(1), None)
    }

    fn word(word: &str) -> Value {
        Value::Text(word.to_owned())
    }

    fn ask(bench: &mut GateBench, gate: &mut RateGate, at_us: u64) -> GateVerdict {
        bench.at(at_us, |cx| gate.on_interest_out(cx, PitId(0), &mut interest(NameTable::ROOT, 1)))
    }

    /// The rate on a Data of `size` bytes that comes through the gate, with `stamped` on it before.
    fn answer(bench: &mut GateBench, gate: &mut RateGate, at_us: u64, size: u64, stamped: Option<u32>) -> u32 {
        let mut data = data(NameTable::ROOT, 1, size);
        if let Some(stamped) = stamped {
            data.hop.put(Signal::StampingRate, stamped);
        }
        bench.at(at_us, |cx| gate.on_data_in(cx, PitId(0), &mut data, None));
        data.hop.get(Signal::StampingRate).unwrap_or_default()
    }

    fn wake(bench: &mut GateBench, gate: &mut RateGate, at_us: u64) {
        bench.at(at_us, |cx| gate.on_wake(cx, &mut Releases::default()));
    }

    #[test]
    fn the_capacity_is_the_rate_of_arriving_data_over_their_mean_size() {
        let (mut bench, mut gate) = (GateBench::new(), gate(&[]));
        bench.faces[1].set_incoming_rate(BitRate::from_mbps(20.0));
        // 20 Mbit/s of 1250 B; then of 1250 - 250 / 8.
        assert_eq!(answer(&mut bench, &mut gate, 0, 1_250, None), 2_000_000);
        assert_eq!(answer(&mut bench, &mut gate, 1, 1_000, None), 2_051_282);
    }

    #[test]
    fn the_lowest_rate_on_the_path_stays_and_nothing_is_stamped_without_stamping() {
        let (mut bench, mut gate) = (GateBench::new(), gate(&[]));
        for (before, after) in [(Some(5_000_000), 1_000_000), (Some(700_000), 700_000), (None, 1_000_000)] {
            assert_eq!(answer(&mut bench, &mut gate, 0, 1_250, before), after);
        }
        let mut silent = self::gate(&[("stamping", Value::Bool(false))]);
        assert_eq!(answer(&mut bench, &mut silent, 0, 1_250, None), 0);
    }

    #[test]
    fn an_interest_that_finds_less_than_one_place_in_the_bucket_is_refused() {
        let depth = ("depth", word("2pkt"));
        for (policing, refused) in
            [("drop", GateVerdict::Drop), ("nack", GateVerdict::Nack(NackReason::Congestion)), ("off", ADMIT)]
        {
            let (mut bench, mut gate) = (GateBench::new(), gate(&[depth.clone(), ("policing", word(policing))]));
            // 1000 Interests/s leak: at 0.9 ms 1.1 stand in the bucket, at 1 ms one.
            let verdicts = [0, 0, 0, 900, 1_000, 1_999].map(|at| ask(&mut bench, &mut gate, at));
            assert_eq!(verdicts, [ADMIT, ADMIT, refused, refused, ADMIT, refused], "{policing}");
        }
    }

    #[test]
    fn refused_interests_count_as_load_and_the_bucket_as_queue() {
        let (mut bench, mut gate) = (GateBench::new(), gate(&[("depth", word("100pkt"))]));
        (0..200).for_each(|_| _ = ask(&mut bench, &mut gate, 50_000));
        assert_eq!(gate.next_wake(), Some(micros(150_000)));
        wake(&mut bench, &mut gate, 150_000);
        assert_eq!(gate.next_wake(), Some(micros(250_000)));
        // 200 in 0.1 s: N = 2, the bucket has leaked empty, base = 1000 / 2.
        assert_eq!(answer(&mut bench, &mut gate, 150_000, 1_250, None), 500_000);
        (0..40).for_each(|_| _ = ask(&mut bench, &mut gate, 250_000));
        wake(&mut bench, &mut gate, 250_000);
        // y = 400, N = 1000 / 500; base = (1000 - 0.1 * 40 / 0.4) / 2 = 495; excess = 500 - 400 / 2.
        assert_eq!(answer(&mut bench, &mut gate, 250_000, 1_250, None), 497_500 + 150_000);
    }

    #[test]
    fn an_interval_that_ends_late_is_as_long_as_it_was() {
        let (mut bench, mut gate) = (GateBench::new(), gate(&[]));
        (0..500).for_each(|_| _ = ask(&mut bench, &mut gate, 0));
        wake(&mut bench, &mut gate, 99_999);
        assert_eq!(answer(&mut bench, &mut gate, 99_999, 1_250, None), 1_000_000, "too early");
        wake(&mut bench, &mut gate, 250_000);
        assert_eq!(answer(&mut bench, &mut gate, 250_000, 1_250, None), 500_000, "2000 Interests/s");
        assert_eq!(gate.next_wake(), Some(micros(350_000)));
    }

    #[test]
    fn a_round_trip_counts_an_eighth() {
        let (mut bench, mut gate) = (GateBench::new(), gate(&[]));
        let rtt = Some(Span::from_millis(80));
        bench.at(0, |cx| gate.on_data_in(cx, PitId(0), &mut data(NameTable::ROOT, 1, 1_250), rtt));
        assert!((gate.rtt - 0.36).abs() < 1e-12, "{}", gate.rtt);
    }

    #[test]
    fn a_face_that_sends_no_interests_asks_for_no_wake_up_and_links_of_any_rate_are_borne() {
        let (mut bench, mut gate) = (GateBench::new(), gate(&[("capacity", Value::Number(0.25))]));
        assert_eq!(gate.next_wake(), None);
        assert_eq!(answer(&mut bench, &mut gate, 0, 1_250, None), 1_000);
        for (rate, expected) in [(0, 1_000), (u64::MAX, u32::MAX)] {
            let mut gate = self::gate(&[]);
            bench.faces[1].set_incoming_rate(BitRate::from_bps(rate));
            ask(&mut bench, &mut gate, 0);
            wake(&mut bench, &mut gate, u64::MAX / 2_000);
            assert_eq!(answer(&mut bench, &mut gate, u64::MAX / 2_000, 0, None), expected);
        }
    }

    #[test]
    fn with_several_paths_classes_are_counted_apart_and_labels_swapped() {
        let (mut bench, paths) = (GateBench::new(), SharedPaths::default());
        let mut gate = RateGate::new(gate(&[]).params, FaceId(1), Some(SharedPaths::clone(&paths)));
        let label = paths.borrow_mut().learn(77, FaceId(1));
        let mut sent = interest(NameTable::ROOT, 1);
        sent.hop.put(Signal::FlowClass, SECONDARY);
        sent.hop.put(Signal::PathChoice, label);
        (0..30).for_each(|_| _ = bench.at(0, |cx| gate.on_interest_out(cx, PitId(0), &mut sent.clone())));
        (0..20).for_each(|_| _ = ask(&mut bench, &mut gate, 0));
        bench.at(0, |cx| gate.on_interest_out(cx, PitId(0), &mut sent));
        assert_eq!(sent.hop.get(Signal::PathChoice), Some(77));
        assert_eq!(gate.arrived, [20, 31]);
        wake(&mut bench, &mut gate, 100_000);
        let mut data = data(NameTable::ROOT, 1, 1_250);
        data.hop.put(Signal::PathLabel, 77);
        bench.at(100_000, |cx| gate.on_data_in(cx, PitId(0), &mut data, None));
        // Primary: N = 1, base = 1000, excess = 1000 - 200. Secondary: C2 = 800, base = 800, above the capacity with any excess.
        let found = [Signal::StampingRate, Signal::StampingRateSecondary, Signal::PathLabel];
        assert_eq!(found.map(|signal| data.hop.get(signal)), [Some(1_000_000), Some(800_000), Some(label)]);
    }
}
