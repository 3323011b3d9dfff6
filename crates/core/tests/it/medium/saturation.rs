//! Saturated stations against published models, which stand here only.
//!
//! Bianchi, IEEE JSAC 18(3), 2000, with a limit of attempts as radios have one (Wu et al., INFOCOM 2002; of 20
//! stations here, 0.8 % of frames are given up): every slot takes one from every backoff, also one in which somebody
//! sends, and then lasts until the end of the following DIFS. EDCA counts so. DCF counts idle slots only, so that the
//! slot after a transmission belongs to who sent it and has drawn 0, and another slot has to pass before the others
//! go on. Tinnirello, Bianchi and Xiao, IEEE Trans. Vehicular Technology 59(3), 2010, refine the model by that. After
//! a collision both models here wait EIFS, which is as long as SIFS, ACK and DIFS.

use crate::medium::harness::{Saturated, saturate};
use tidegate_core::link::medium::{Access, MediumSetup};
use tidegate_core::units::{ByteCount, Span};

const STATIONS: [usize; 5] = [1, 2, 5, 10, 20];
const SIZES: [u64; 3] = [100, 500, 1500];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;
const SLOT_US: f64 = 9.0;
/// Windows plus one, of the seven attempts.
const WINDOWS: [f64; 7] = [16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];
/// EDCA with the times of DCF.
const EDCA: Access = Access::Edca { aifsn: 2 };

/// Frame, SIFS, ACK and DIFS at 58.5 Mbit/s, in us: 38 B of headers, 22 bits of service and tail, 234 a symbol.
fn exchange_us(size: u64) -> f64 {
    let symbols = ((size + 38) * 8 + 22).div_ceil(234);
    36.0 + 4.0 * symbols as f64 + 16.0 + 28.0 + 34.0
}

/// What a model says.
struct Model {
    collision_probability: f64,
    goodput_mbps: f64,
}

/// The fixed point of `tau`, which falls with the probability of a collision; probability and `tau` there.
fn fixed_point(stations: usize, tau: impl Fn(f64) -> f64) -> (f64, f64) {
    let probability = |tau: f64| 1.0 - (1.0 - tau).powi(stations as i32 - 1);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        *(if tau(probability(middle)) > middle { &mut low } else { &mut high }) = middle;
    }
    (probability(low), low)
}

/// Attempts over the slots from one to the next, `wait` for the attempts of each window.
fn attempts_per_slot(probability: f64, wait: impl Fn(f64) -> f64) -> f64 {
    let shares = (0..7).map(|stage| probability.powi(stage));
    let slots: f64 = shares.clone().zip(WINDOWS).map(|(share, window)| share * wait(window)).sum();
    shares.sum::<f64>() / slots
}

/// The parts of slots in which nobody and in which one station sends.
fn none_and_one(stations: usize, tau: f64) -> (f64, f64) {
    let none = (1.0 - tau).powi(stations as i32);
    (none, stations as f64 * tau * (1.0 - tau).powi(stations as i32 - 1))
}

/// Bianchi 2000: a draw from 0..=window-1 and the slot of the attempt itself.
fn bianchi(stations: usize, size: u64) -> Model {
    let tau = |probability| attempts_per_slot(probability, |window| 1.0 + (window - 1.0) / 2.0);
    by_slots(stations, size, fixed_point(stations, tau))
}

/// Slots that are idle or as long as an exchange.
fn by_slots(stations: usize, size: u64, point: (f64, f64)) -> Model {
    by_slots_and_exchange(stations, size, point, exchange_us(size))
}

fn by_slots_and_exchange(
    stations: usize,
    size: u64,
    (collision_probability, tau): (f64, f64),
    exchange_us: f64,
) -> Model {
    let (none, one) = none_and_one(stations, tau);
    let slot_us = none * SLOT_US + (1.0 - none) * exchange_us;
    Model { collision_probability, goodput_mbps: one * size as f64 * 8.0 / slot_us }
}

/// The refinement, worked out here from its idea: who draws 0 after a success goes on at once, alone, which belongs to the same slot; so draws are
/// from 1..=window-1, and a slot with a transmission has an idle one behind it.
fn refined(stations: usize, size: u64) -> Model {
    refined_by_exchange(stations, size, exchange_us(size))
}

fn refined_by_exchange(stations: usize, payload: u64, exchange_us: f64) -> Model {
    let tau = |probability| attempts_per_slot(probability, |window| window / 2.0);
    let (collision_probability, tau) = fixed_point(stations, tau);
    let (none, one) = none_and_one(stations, tau);
    let in_a_row = 1.0 / (1.0 - 1.0 / WINDOWS[0]);
    let success_us = exchange_us * in_a_row + SLOT_US;
    let collision_us = exchange_us + SLOT_US;
    let slot_us = none * SLOT_US + one * success_us + (1.0 - none - one) * collision_us;
    Model { collision_probability, goodput_mbps: one * in_a_row * payload as f64 * 8.0 / slot_us }
}

fn run(access: Access, stations: usize, size: u64, seed: u64) -> Saturated {
    run_for(Span::from_secs(10), access, stations, size, seed)
}

fn run_for(span: Span, access: Access, stations: usize, size: u64, seed: u64) -> Saturated {
    saturate(&MediumSetup { access, ..Default::default() }, stations, size, span, seed)
}

fn goodput_mbps(run: &Saturated, size: u64) -> f64 {
    run.delivered.iter().sum::<u64>() as f64 * size as f64 * 8.0 / run.lasted.as_secs_f64() / 1e6
}

fn within_three_percent(setup: &MediumSetup, model: impl Fn(usize, u64) -> Model) {
    for (stations, size) in STATIONS.into_iter().flat_map(|stations| SIZES.map(|size| (stations, size))) {
        let published = model(stations, size).goodput_mbps;
        for seed in SEEDS {
            let ours = goodput_mbps(&saturate(setup, stations, size, Span::from_secs(10), seed), size);
            let off = ours / published - 1.0;
            assert!(
                off.abs() < 0.03,
                "{stations} stations, {size} B, seed {seed}: {ours} of {published}, {off:+}"
            );
        }
    }
}

#[test]
fn edca_is_within_three_percent_of_bianchis_model() {
    within_three_percent(&MediumSetup { access: EDCA, ..Default::default() }, bianchi);
}

#[test]
fn edca_of_best_effort_is_within_three_percent_of_bianchis_model_with_aifs_in_place_of_difs() {
    let model = |stations, size| {
        let tau = |probability| attempts_per_slot(probability, |window| 1.0 + (window - 1.0) / 2.0);
        by_slots_and_exchange(stations, size, fixed_point(stations, tau), exchange_us(size) + SLOT_US)
    };
    let access = Access::Edca { aifsn: 3 };
    within_three_percent(&MediumSetup { access, ..Default::default() }, model);
}

#[test]
fn edca_without_a_limit_of_attempts_is_within_three_percent_of_bianchis_own_formula() {
    // With m = 6 doublings, tau is 2 / (1 + W + p W (1 + 2 p + ... + (2 p)^(m - 1))), its equation 7 without the
    // division by 1 - 2 p.
    let own = |stations, size| {
        let tau = |p: f64| {
            let sum: f64 = (0..6).map(|doubling| (2.0 * p).powi(doubling)).sum();
            2.0 / (1.0 + WINDOWS[0] + p * WINDOWS[0] * sum)
        };
        by_slots(stations, size, fixed_point(stations, tau))
    };
    within_three_percent(&MediumSetup { access: EDCA, attempts: 255, ..Default::default() }, own);
}

#[test]
fn dcf_is_within_three_percent_of_the_refined_model() {
    within_three_percent(&MediumSetup::default(), refined);
}

#[test]
fn collisions_are_as_probable_as_the_models_say() {
    let models = [(EDCA, bianchi as fn(usize, u64) -> Model), (Access::Dcf, refined)];
    for ((access, model), stations) in
        models.into_iter().flat_map(|of| STATIONS.map(|stations| (of, stations)))
    {
        let airtime = run(access, stations, 500, 1).medium.airtime();
        let mut transmissions = airtime.transmissions as f64;
        if access == Access::Dcf {
            // Those in a row never collide; the model's probability is that of the others.
            transmissions -= airtime.delivered as f64 / WINDOWS[0];
        }
        let ours = (airtime.transmissions - airtime.delivered) as f64 / transmissions;
        let published = model(stations, 500).collision_probability;
        assert!((ours - published).abs() < 0.02, "{access:?}, {stations} stations: {ours} of {published}");
    }
}

#[test]
fn what_dcf_differs_from_bianchis_model_is_what_the_refinement_says() {
    for (stations, size) in STATIONS.into_iter().flat_map(|stations| SIZES.map(|size| (stations, size))) {
        let of = |access| goodput_mbps(&run(access, stations, size, 6), size);
        let ours = of(Access::Dcf) / of(EDCA) - 1.0;
        let published = refined(stations, size).goodput_mbps / bianchi(stations, size).goodput_mbps - 1.0;
        assert!((ours - published).abs() < 0.01, "{stations} stations, {size} B: {ours} of {published}");
    }
}

#[test]
fn the_time_of_one_station_is_exchanges_and_slots_to_the_nanosecond() {
    for (size, exchange_us) in [(100, 134), (500, 190), (1500, 326)] {
        let run = run(Access::Dcf, 1, size, 1);
        let count = run.delivered[0];
        // 138 B are 5 symbols, 538 B 19, 1538 B 53, of 4 us, and 36 + 16 + 28 + 34 us. The last exchange ends with its ACK, and nothing waits for the first.
        let exchanges = Span::from_micros(exchange_us) * count - Span::from_micros(34);
        let slots_ns = (run.lasted - exchanges).as_nanos();
        assert_eq!(slots_ns % 9_000, 0, "{size} B");
        // The mean of 0 to 15 is 7.5, their standard deviation 4.61.
        let mean = (slots_ns / 9_000) as f64 / (count - 1) as f64;
        assert!((mean - 7.5).abs() < 4.0 * 4.61 / (count as f64).sqrt(), "{size} B: {mean}");
    }
}

#[test]
fn saturated_stations_have_equal_shares() {
    for access in [Access::Dcf, EDCA] {
        for stations in STATIONS {
            // Who collided waits longer, so that shares are equal in the long run only.
            let delivered = run_for(Span::from_secs(60), access, stations, 1500, 1).delivered;
            let (sum, squares) = delivered
                .iter()
                .fold((0.0, 0.0), |(sum, squares), one| (sum + *one as f64, squares + (*one as f64).powi(2)));
            let jain = sum * sum / (stations as f64 * squares);
            assert!(jain > 0.99, "{access:?}, {stations} stations: {jain}, {delivered:?}");
        }
    }
}

#[test]
fn aggregates_of_two_share_an_exchange_as_the_refined_model_says() {
    // 2 * 1538 B with delimiters are 1544 + 1542 B, 106 symbols; Block ACK 32 us.
    let exchange_us = 36.0 + 106.0 * 4.0 + 16.0 + 32.0 + 34.0;
    let setup = MediumSetup { aggregate: Some(ByteCount::new(65_535)), ..Default::default() };
    for stations in STATIONS {
        // Each station has two frames, and two more when they are delivered.
        let run = saturate(&setup, stations, 1500, Span::from_secs(10), 1);
        let (ours, published) = (goodput_mbps(&run, 1500), refined_by_exchange(stations, 3000, exchange_us));
        let off = ours / published.goodput_mbps - 1.0;
        assert!(off.abs() < 0.03, "{stations} stations: {ours}, {off:+}");
    }
}
