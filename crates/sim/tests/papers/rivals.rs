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

/// One flow over two paths of 10 Mbit/s each, of 24 and 104 ms, which take turns by chance.
fn two_paths(scheme: &str, parts: &str) -> String {
    let node = |name: &str| format!("[[node]]\nname = \"{name}\"\n");
    let link = |a: &str, b: &str, rate: u32, delay: u32| {
        format!("[[link]]\nends = [\"{a}\", \"{b}\"]\nrate = \"{rate}Mbps\"\ndelay = \"{delay}ms\"\n")
    };
    let links = [
        link("c", "r", 1000, 1),
        link("r", "near", 10, 10),
        link("r", "far", 10, 50),
        link("near", "p", 1000, 1),
        link("far", "p", 1000, 1),
    ];
    format!(
        "format = 1\n[scenario]\nname = \"paths\"\nduration = \"20s\"\nsample = \"10ms\"\n[topology]\n\
         link = {{ queue = {{ limit = \"200pkt\" }} }}\n[router]\nparts = [{{ name = \"pcon\", \
         initial_split = \"equal\", change_per_mark = 0, change_per_expiry = 0, probing = 0 }}{parts}]\n{}{}\
         [[flow]]\nconsumer = \"c\"\nproducer = \"p\"\nprefix = \"/a\"\nscheme = {scheme}\npayload = \"1000B\"\n",
        ["c", "r", "near", "far", "p"].map(node).concat(),
        links.concat()
    )
}

#[test]
fn raaqm_keeps_paths_apart_where_routers_label_them_and_consumers_look() {
    let rate = |settings: &str, parts: &str| {
        let scheme = format!("{{ name = \"raaqm\", form = \"hicn\"{settings} }}");
        goodput(&run(&two_paths(&scheme, parts)), 0, [5.0, 20.0])
    };
    let labels = ", \"raaqm\"";
    let apart = rate("", labels);
    // As one path every Data of the far one has about the longest round trip, and shrinks the window with 0.2.
    let [unlabelled, blind] = [rate("", ""), rate(", per_path = false", labels)];
    assert!(unlabelled == blind && apart > 1.5 * blind, "{apart} {unlabelled} {blind}");
}

#[test]
fn raaqm_rests_at_its_windows_law_and_without_round_trips_at_a_full_queue() {
    let queue = |scheme: &str| {
        let record = run(&line(scheme, ""));
        let peak = record.links.iter().map(|link| link.peak_queue_packets).max().expect("a link");
        (
            peak,
            record.links.iter().map(|link| link.dropped_packets).sum::<u64>(),
            goodput(&record, 0, [5.0, 20.0]),
        )
    };
    // With 1/W of growth and (1 - beta) W of loss with a probability of p, W is the root of 1 / (p (1 - beta)), and p
    // is the factor at most: 5, 182 and 10 packets at least, of which 48 fill the link.
    for (form, least) in [("hicn", 5.0), ("hicn-file", 48.0), ("ndnsim", 10.0)] {
        let (peak, dropped, rate) = queue(&format!("{{ name = \"raaqm\", form = \"{form}\" }}"));
        let without = queue(&format!("{{ name = \"raaqm\", form = \"{form}\", early = false }}"));
        assert!(without.0 == 60 && without.1 > 0, "{form}: {without:?}");
        assert!(form == "hicn-file" || (peak < 60 && dropped == 0), "{form}: {peak} {dropped}");
        assert!(rate > 0.9 * f64::min(least / 0.042, LINK), "{form}: {rate}");
    }
}

#[test]
fn every_number_of_raaqm_matters() {
    let loss = "backward = { loss = { model = \"bernoulli\", probability = 0.01 } }";
    let settings = [
        "form = \"hicn\"",
        "form = \"ndnsim\"",
        "beta = 0.5",
        "drop_factor = 0.1",
        "early = false",
        "samples = 5",
        "timer = \"path\"",
        "largest_window = 4",
        "resolution = \"1s\"",
    ];
    let default = run(&line("\"raaqm\"", loss)).flows;
    for setting in settings {
        let other = run(&line(&format!("{{ name = \"raaqm\", {setting} }}"), loss)).flows;
        assert!(other != default, "{setting}");
    }
}

#[test]
fn a_consumer_that_draws_differs_by_seed_and_by_nothing_else() {
    let text = line("\"raaqm\"", "");
    let flows = |seed| runs(&text, seed..=seed).remove(0).flows;
    assert_eq!(flows(1), flows(1));
    assert!(flows(1) != flows(2));
}
