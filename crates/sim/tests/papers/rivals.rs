//! Consumers that BBR-CD and others are held against, end to end.

use tidegate_core::records::RunRecord;

use crate::runs::{goodput, runs};

/// Data of 1000 B of content per second that 10 Mbit/s carry: 1031 B each on the wire at most.
const LINK: f64 = 10e6 / 8.0 / 1031.0;

/// One flow over 10 Mbit/s and 40 ms of round trip; `loss` is the line's towards the consumer.
fn line(scheme: &str, loss: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"line\"\nduration = \"20s\"\nsample = \"10ms\"\n[[node]]\nname = \"c\"\n\
         [[node]]\nname = \"p\"\n[[link]]\nends = [\"c\", \"p\"]\nrate = \"10Mbps\"\ndelay = \"20ms\"\n\
         queue = {{ limit = \"60pkt\" }}\n{loss}\n[[flow]]\nconsumer = \"c\"\nproducer = \"p\"\nprefix = \"/a\"\n\
         scheme = {scheme}\npayload = \"1000B\"\n"
    )
}

fn run(text: &str) -> RunRecord {
    runs(text, 1..=1).remove(0)
}

/// The pace of the only flow at its last sample up to `at` seconds, Interests per second.
fn pace(record: &RunRecord, at: f64) -> f64 {
    let samples = &record.flow_samples;
    let row = samples.time.iter().rposition(|time| time.as_secs_f64() <= at).expect("samples");
    f64::from(samples.pacing_per_second[row])
}

#[test]
fn sirc_finds_the_rate_of_a_link_and_needs_probing_for_it() {
    let record = run(&line("\"sirc-like\"", ""));
    let found = goodput(&record, 0, [5.0, 20.0]) / LINK;
    assert!(found > 0.9, "{found}");
    assert!((0.5..2.0).contains(&(pace(&record, 10.0) / LINK)), "{}", pace(&record, 10.0));
    // The first gap is a round trip, and without probing the pace follows it for good.
    let still = run(&line("{ name = \"sirc-like\", initial_window = 1, samples = 1, probing = 0 }", ""));
    let stuck = goodput(&still, 0, [5.0, 20.0]) / LINK;
    assert!(stuck < 0.3, "{stuck}");
}

#[test]
fn every_number_of_sirc_matters() {
    let loss = "backward = { loss = { model = \"bernoulli\", probability = 0.01 } }";
    let settings =
        ["weight = 0.5", "outlier = 1.5", "probing = 0.2", "backoff = 2", "limit = 1", "samples = 100"];
    let default = run(&line("\"sirc-like\"", loss)).flows;
    for setting in settings {
        let other = run(&line(&format!("{{ name = \"sirc-like\", {setting} }}"), loss)).flows;
        assert!(other != default, "{setting}");
    }
}
