//! Consumers that BBR-CD and others are held against, end to end.

use tidegate_core::observe::records::RunRecord;

use crate::papers::runs::{goodput, runs};

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
         link = {{ queue = {{ limit = \"200pkt\" }} }}\n[router]\nrouter_parts = [{{ name = \"pcon\", \
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
    for (form, min) in [("hicn", 5.0), ("hicn-file", 48.0), ("ndnsim", 10.0)] {
        let (peak, dropped, rate) = queue(&format!("{{ name = \"raaqm\", form = \"{form}\" }}"));
        let without = queue(&format!("{{ name = \"raaqm\", form = \"{form}\", early = false }}"));
        assert!(without.0 == 60 && without.1 > 0, "{form}: {without:?}");
        assert!(form == "hicn-file" || (peak < 60 && dropped == 0), "{form}: {peak} {dropped}");
        assert!(rate > 0.9 * f64::min(min / 0.042, LINK), "{form}: {rate}");
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
        "max_window = 4",
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

/// Two flows for one file of 6 MB, the second from 3 s on: what the first has fetched lies in the store of r, 2 ms away, and
/// the rest 100 ms.
fn behind_a_store(scheme: &str, parts: &str) -> String {
    let flow = |consumer: &str, start: &str| {
        format!(
            "[[flow]]\nconsumer = \"{consumer}\"\nproducer = \"p\"\nprefix = \"/a\"\nscheme = {scheme}\n\
             payload = \"1000B\"\nsize = \"6MB\"\nstart = \"{start}\"\n"
        )
    };
    format!(
        "format = 1\n[scenario]\nname = \"store\"\nduration = \"60s\"\n[topology]\n\
         link = {{ queue = {{ limit = \"400pkt\" }} }}\n[router]\ncache = \"100000pkt\"\nrouter_parts = [{parts}]\n\
         [[node]]\nname = \"c\"\n[[node]]\nname = \"d\"\n[[node]]\nname = \"r\"\n[[node]]\nname = \"p\"\n\
         [[link]]\nends = [\"c\", \"r\"]\nrate = \"20Mbps\"\ndelay = \"1ms\"\n\
         [[link]]\nends = [\"d\", \"r\"]\nrate = \"20Mbps\"\ndelay = \"1ms\"\n\
         [[link]]\nends = [\"r\", \"p\"]\nrate = \"10Mbps\"\ndelay = \"49ms\"\n{}{}",
        flow("c", "0s"),
        flow("d", "3s")
    )
}

#[test]
fn cctcp_keeps_the_store_apart_from_the_producer_where_answers_are_signed() {
    let second = |settings: &str, parts: &str| {
        let scheme = format!("{{ name = \"cctcp-like\"{settings} }}");
        run(&behind_a_store(&scheme, parts)).flows.remove(1)
    };
    let signed = "\"cctcp-like\"";
    let apart = second("", signed);
    let [unsigned, blind] = [second("", ""), second(", per_source = false", signed)];
    assert!(apart.completed.is_some() && blind.completed.is_some());
    assert!(unsigned == blind && apart != blind, "{apart:?} {blind:?}");
}

#[test]
fn cctcp_fills_a_link_and_every_number_of_it_matters() {
    let found = goodput(&run(&line("\"cctcp-like\"", "")), 0, [5.0, 20.0]) / LINK;
    assert!(found > 0.8, "{found}");
    // One in three is lost, so that timers back off, and only what was sent again tells that they need not.
    let loss = "backward = { loss = { model = \"bernoulli\", probability = 0.3 } }";
    let flow = |settings: &str| {
        let scheme = format!("{{ name = \"cctcp-like\"{settings} }}");
        run(&line(&scheme, loss)).flows.remove(0)
    };
    let default = flow("");
    for settings in [", initial_window = 8", ", min_timeout = \"50ms\""] {
        assert!(flow(settings) != default, "{settings}");
    }
    let unstamped = flow(", timestamps = false");
    assert!(
        default.delivered_segments > unstamped.delivered_segments,
        "{} {}",
        default.delivered_segments,
        unstamped.delivered_segments
    );
}
