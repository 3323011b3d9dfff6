use super::*;
use tidegate_testkit::gate_bench::{GateBench, data, interest, micros};
use crate::mircc::{FLOW_CLASS, PATH_CHOICE, STAMPING_RATE_SECONDARY};
use crate::toolbox::forwarding::path_label::PATH_LABEL;

const ADMIT: GateVerdict = GateVerdict::Admit;

fn gate(given: &[(&str, Setting)]) -> RateGate {
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    RateGate::new(Params::from_settings(&Settings(given)).expect("valid"), FaceId(1), None)
}

fn word(word: &str) -> Setting {
    Setting::Text(word.to_owned())
}

fn request(bench: &mut GateBench, gate: &mut RateGate, at_us: u64) -> GateVerdict {
    bench.at(at_us, |cx| gate.on_interest_out(cx, PitId(0), &mut interest(NameTable::ROOT, 1)))
}

/// The rate on a Data of `size` bytes that comes through the gate, with `stamped` on it before.
fn answer(bench: &mut GateBench, gate: &mut RateGate, at_us: u64, size: u64, stamped: Option<u32>) -> u32 {
    let mut data = data(NameTable::ROOT, 1, size);
    if let Some(stamped) = stamped {
        data.hop.put(Signal::STAMPING_RATE, stamped);
    }
    bench.at(at_us, |cx| gate.on_data_in(cx, PitId(0), &mut data, None));
    data.hop.get(Signal::STAMPING_RATE).unwrap_or_default()
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
    let mut silent = self::gate(&[("stamping", Setting::Bool(false))]);
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
        let verdicts = [0, 0, 0, 900, 1_000, 1_999].map(|at| request(&mut bench, &mut gate, at));
        assert_eq!(verdicts, [ADMIT, ADMIT, refused, refused, ADMIT, refused], "{policing}");
    }
}

#[test]
fn refused_interests_count_as_load_and_the_bucket_as_queue() {
    let (mut bench, mut gate) = (GateBench::new(), gate(&[("depth", word("100pkt"))]));
    (0..200).for_each(|_| _ = request(&mut bench, &mut gate, 50_000));
    assert_eq!(gate.next_wake(), Some(micros(150_000)));
    wake(&mut bench, &mut gate, 150_000);
    assert_eq!(gate.next_wake(), Some(micros(250_000)));
    // 200 in 0.1 s: N = 2, the bucket has leaked empty, base = 1000 / 2.
    assert_eq!(answer(&mut bench, &mut gate, 150_000, 1_250, None), 500_000);
    (0..40).for_each(|_| _ = request(&mut bench, &mut gate, 250_000));
    wake(&mut bench, &mut gate, 250_000);
    // y = 400, N = 1000 / 500; base = (1000 - 0.1 * 40 / 0.4) / 2 = 495; excess = 500 - 400 / 2.
    assert_eq!(answer(&mut bench, &mut gate, 250_000, 1_250, None), 497_500 + 150_000);
}

#[test]
fn an_interval_that_ends_late_is_as_long_as_it_was() {
    let (mut bench, mut gate) = (GateBench::new(), gate(&[]));
    (0..500).for_each(|_| _ = request(&mut bench, &mut gate, 0));
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
fn a_face_that_sends_no_interests_schedules_no_wake_up_and_links_of_any_rate_are_borne() {
    let (mut bench, mut gate) = (GateBench::new(), gate(&[("capacity", Setting::Number(0.25))]));
    assert_eq!(gate.next_wake(), None);
    assert_eq!(answer(&mut bench, &mut gate, 0, 1_250, None), 1_000);
    for (rate, expected) in [(0, 1_000), (u64::MAX, u32::MAX)] {
        let mut gate = self::gate(&[]);
        bench.faces[1].set_incoming_rate(BitRate::from_bps(rate));
        request(&mut bench, &mut gate, 0);
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
    sent.hop.put(FLOW_CLASS, SECONDARY);
    sent.hop.put(PATH_CHOICE, label);
    (0..30).for_each(|_| _ = bench.at(0, |cx| gate.on_interest_out(cx, PitId(0), &mut sent.clone())));
    (0..20).for_each(|_| _ = request(&mut bench, &mut gate, 0));
    bench.at(0, |cx| gate.on_interest_out(cx, PitId(0), &mut sent));
    assert_eq!(sent.hop.get(PATH_CHOICE), Some(77));
    assert_eq!(gate.arrived, [20, 31]);
    wake(&mut bench, &mut gate, 100_000);
    let mut data = data(NameTable::ROOT, 1, 1_250);
    data.hop.put(PATH_LABEL, 77);
    bench.at(100_000, |cx| gate.on_data_in(cx, PitId(0), &mut data, None));
    // Primary: N = 1, base = 1000, excess = 1000 - 200. Secondary: C2 = 800, base = 800, above the capacity with any excess.
    let found = [Signal::STAMPING_RATE, STAMPING_RATE_SECONDARY, PATH_LABEL];
    assert_eq!(found.map(|signal| data.hop.get(signal)), [Some(1_000_000), Some(800_000), Some(label)]);
}
