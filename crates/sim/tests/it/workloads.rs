//! Requests for the objects of a catalogue against the law that they are drawn by.

use tidegate_core::ndn::consumer::Popularity;
use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_sim::run::run;

use crate::{one_link, plan, record};

/// A flow over one fast link with this demand.
fn requests(scenario: &str, demand: &str) -> String {
    let flow = format!(
        "scheme = {{ name = \"fixed\", window = 100000 }}\ndemand = {{ model = \"zipf\", {demand} }}"
    );
    one_link(scenario, "rate = \"100Gbps\"\ndelay = \"1us\"", &flow)
}

/// Time (ns) and segment of every Interest that asked for the first time.
fn requested(record: &RunRecord) -> Vec<(u64, u32)> {
    let interest = |event: &tidegate_core::observe::records::EventRecord| match event.event {
        Event::InterestSent { name, retransmission: false, .. } => {
            Some((event.time.as_nanos(), name.segment.0))
        }
        _ => None,
    };
    record.events.iter().filter_map(interest).collect()
}

const LONG: &str = "duration = \"20s\"\nsample = false\nevents = [\"interest-sent\"]";

#[test]
fn objects_are_requested_as_often_as_zipf_and_mandelbrots_law_says() {
    for (exponent, shift) in [(0.8, 0.0), (1.2, 0.0), (0.8, 20.0)] {
        let demand = format!("objects = 500, exponent = {exponent}, shift = {shift}, rate = \"10000/s\"");
        let requested = requested(&record(&requests(LONG, &demand)));
        let law = Popularity::new(500, exponent, shift);
        let total = requested.len() as f64;
        let mut counts = vec![0.0; 500];
        requested.iter().for_each(|(_, segment)| counts[*segment as usize] += 1.0);
        // The law by hand: 1/(k + q)^s over its sum.
        let weight = |rank: u32| (f64::from(rank) + shift).powf(-exponent);
        let sum: f64 = (1..=500).map(weight).sum();
        for rank in [1, 2, 3, 10, 500] {
            assert!((law.probability(rank - 1) - weight(rank) / sum).abs() < 1e-12, "rank {rank}");
        }
        let chi_square: f64 = (0..500)
            .map(|object| {
                let expected = total * law.probability(object);
                (counts[object as usize] - expected).powi(2) / expected
            })
            .sum();
        // 499 degrees of freedom: 602 is exceeded once in a thousand.
        assert!(chi_square < 602.0, "s = {exponent}, q = {shift}: {chi_square} of {total} requests");
    }
}

#[test]
fn exponent_zero_requests_all_objects_alike() {
    let law = Popularity::new(4, 0.0, 7.0);
    assert_eq!(
        (0..5).map(|object| law.probability(object)).collect::<Vec<_>>(),
        [0.25, 0.25, 0.25, 0.25, 0.0]
    );
}

#[test]
fn poisson_requests_come_after_exponential_pauses() {
    let requested = requested(&record(&requests(LONG, "objects = 10, exponent = 1, rate = \"2000/s\"")));
    let pauses: Vec<f64> = requested.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64 / 1e9).collect();
    let count = pauses.len() as f64;
    // 40,000 requests: the number deviates by 200, the mean by 0.5 %, the coefficient of variation by 1 %.
    assert!((39_200.0..40_800.0).contains(&count), "{count}");
    let mean = pauses.iter().sum::<f64>() / count;
    let variance = pauses.iter().map(|pause| (pause - mean).powi(2)).sum::<f64>() / count;
    assert!((mean * 2000.0 - 1.0).abs() < 0.02, "{mean}");
    assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "{}", variance.sqrt() / mean);
}

#[test]
fn constant_requests_come_at_equal_pauses_from_the_start_on_without_drift() {
    let demand = "objects = 10, exponent = 1, rate = \"3/s\", arrivals = \"constant\"";
    let times: Vec<u64> = requested(&record(&requests(LONG, demand))).iter().map(|(at, _)| *at).collect();
    let expected: Vec<u64> = (0..=60).map(|number| (number as f64 / 3.0 * 1e9).round() as u64).collect();
    assert_eq!(times, expected);
}

#[test]
fn objects_of_several_segments_are_requested_as_a_whole_and_in_order() {
    let demand = "objects = 50, exponent = 0.7, segments = 7, requests = 200";
    let record = record(&requests("duration = \"20s\"\nevents = [\"interest-sent\"]", demand));
    let segments: Vec<u32> = requested(&record).iter().map(|(_, segment)| *segment).collect();
    assert_eq!(segments.len(), 1_400);
    for object in segments.chunks(7) {
        let expected: Vec<u32> = (object[0]..object[0] + 7).collect();
        assert_eq!((object[0] % 7, object), (0, &expected[..]));
    }
    let flow = &record.flows[0];
    assert_eq!((flow.delivered_segments, flow.segments), (1_400, Some(1_400)));
    assert!(flow.completed.is_some());
}

#[test]
fn a_lossy_path_completes_every_request_whoever_requested_the_same_before() {
    let loss = "rate = \"10Mbps\"\ndelay = \"5ms\"\nloss = { model = \"bernoulli\", probability = 0.1 }";
    let demand = "demand = { model = \"zipf\", objects = 20, exponent = 1, segments = 3, rate = \"100/s\", requests = \
                  300 }";
    for scheme in ["catchunks-cubic", "ndnsim-aimd", "icp"] {
        let record =
            record(&one_link("duration = \"200s\"", loss, &format!("scheme = {scheme:?}\n{demand}")));
        let flow = &record.flows[0];
        assert_eq!((flow.delivered_segments, flow.abandoned), (900, 0), "{scheme}: {flow:?}");
        assert!(flow.retransmissions > 20 && flow.completed.is_some(), "{scheme}: {flow:?}");
    }
}

#[test]
fn requests_do_not_depend_on_who_else_there_is() {
    let text = requests(
        "duration = \"1s\"\nevents = [\"interest-sent\"]",
        "objects = 100, exponent = 1, rate = \"500/s\"",
    );
    let alone = requested(&run(&plan(&text), Seed(4)));
    let other = text.clone()
        + "[[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/z\"\nscheme = \"fixed\"\n"
        + "demand = { model = \"zipf\", objects = 9, exponent = 1, rate = \"10/s\" }\n";
    let together = run(&plan(&other), Seed(4));
    let first = RunRecord {
        events: together
            .events
            .iter()
            .filter(|event| matches!(event.event, Event::InterestSent { flow: 0, .. }))
            .cloned()
            .collect(),
        ..RunRecord::default()
    };
    assert_eq!(requested(&first), alone);
    assert_ne!(requested(&run(&plan(&text), Seed(5))), alone);
}
