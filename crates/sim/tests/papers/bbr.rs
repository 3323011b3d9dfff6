//! BBR on Interests and BBR-CD, whole: one bottleneck, Data that comes, queues, is lost.

use tidegate_core::records::RunRecord;

use crate::runs::{goodput, runs};

/// Flows of `scheme` from one consumer to one producer over 10 Mbit/s and 40 ms each way; `flow` goes into each.
fn link(scheme: &str, flow: &str, seconds: u32, flows: u32) -> String {
    let mut text = format!(
        "format = 1\n[scenario]\nname = \"link\"\nduration = \"{seconds}s\"\nsample = \"100ms\"\n\
         stop_when_complete = true\nvary = {{ start = true, delay = 0.01 }}\n\
         [[node]]\nname = \"c\"\n[[node]]\nname = \"p\"\n\
         [[link]]\nends = [\"c\", \"p\"]\nrate = \"10Mbps\"\ndelay = \"40ms\"\nqueue = {{ limit = \"200pkt\" }}\n"
    );
    for number in 0..flows {
        text += &format!(
            "[[flow]]\nconsumer = \"c\"\nproducer = \"p\"\nprefix = \"/{number}\"\nscheme = {{ name = \"{scheme}\"{flow} }}\n"
        );
    }
    text
}

/// As [`link`] with one flow that fetches a file while every tenth Data is lost.
fn lossy(scheme: &str, settings: &str) -> String {
    let loss = "delay = \"40ms\"\nbackward = { loss = { model = \"bernoulli\", probability = 0.1 } }\n";
    link(scheme, settings, 60, 1).replace("delay = \"40ms\"\n", loss) + "size = \"4MB\"\n"
}

/// With the Data of the BBR-CD study.
fn large(text: &str) -> String {
    text.replace("prefix =", "payload = \"8000B\"\nprefix =")
}

/// Part of the link that content of `payload` bytes per segment takes.
fn share(record: &RunRecord, flow: u32, payload: f64, from: f64, to: f64) -> f64 {
    goodput(record, flow, [from, to]) * payload * 8.0 / 10e6
}

/// Mean queueing delay of Data, ms.
fn queueing(record: &RunRecord) -> f64 {
    let link = record.links.iter().find(|link| link.from == "p").expect("it is there");
    link.queue_delay.mean.as_millis_f64()
}

/// Mean seconds until the file is complete; none may be left over.
fn completion(text: &str) -> f64 {
    let times = runs(text, 1..=3).into_iter().map(|record| {
        let flow = &record.flows[0];
        flow.completed.expect("the file is complete").since(flow.start).as_secs_f64()
    });
    times.sum::<f64>() / 3.0
}

/// Shares and queues of one flow alone, Data of the study.
fn alone(scheme: &str) -> Vec<(f64, f64)> {
    let records = runs(&large(&link(scheme, "", 30, 1)), 1..=3);
    records.iter().map(|record| (share(record, 0, 8_000.0, 5.0, 30.0), queueing(record))).collect()
}

#[test]
fn one_flow_fills_the_link_and_bbr_with_a_shorter_queue_than_aimd() {
    let [bbr, cd, aimd] = ["bbr", "bbr-cd", "catchunks-aimd"].map(alone);
    for (share, _) in bbr.iter().chain(&cd) {
        assert!(*share > 0.9, "{share} of the link");
    }
    for ((bbr, cd), aimd) in bbr.iter().zip(&cd).zip(&aimd) {
        assert!(bbr.1 < 0.5 * aimd.1, "{bbr:?} ms, AIMD {aimd:?} ms");
        // A mean round trip contains the queue, so what Startup left in it stays.
        assert!(cd.1 > 2.0 * bbr.1, "BBR-CD {cd:?} ms, BBR {bbr:?} ms");
    }
}

#[test]
fn a_mean_rate_under_a_window_of_one_product_sinks_where_three_packets_are_less_than_a_quarter_of_it() {
    // 94 packets of 1061 B: the window lets 3 of the 24 packets of the phase of 5/4 through, that of 3/4 takes all 24.
    let late = |settings: &str| {
        let records = runs(&link("bbr-cd", settings, 30, 1), 1..=3);
        records.iter().map(|record| share(record, 0, 1_024.0, 20.0, 30.0)).sum::<f64>() / 3.0
    };
    let [paper, gain, largest] = ["", ", cwnd_gain = 2.0", ", bw_agg = \"max\""].map(late);
    assert!(paper < 0.6, "{paper}");
    assert!(gain > 0.9, "{gain}");
    assert!(largest > 0.9, "{largest}");
}

#[test]
fn two_flows_share_the_link() {
    // BBR-CD has nothing that brings unequal shares together.
    for (scheme, least) in [("bbr", 0.4), ("bbr-cd", 0.1)] {
        for record in runs(&large(&link(scheme, "", 60, 2)), 1..=3) {
            let shares = [0, 1].map(|flow| share(&record, flow, 8_000.0, 20.0, 60.0));
            assert!(shares.iter().all(|share| *share > least), "{scheme}: {shares:?}");
            assert!(shares.iter().sum::<f64>() > 0.9, "{scheme}: {shares:?}");
        }
    }
}

#[test]
fn in_the_papers_count_the_end_of_a_lossy_file_comes_at_four_interests_per_second() {
    for record in runs(&lossy("bbr-cd", ", probe_rtt_samples = \"rtt\""), 1..=3) {
        assert_eq!(record.flows[0].completed, None);
        let rate = goodput(&record, 0, [40.0, 60.0]);
        // Nine of ten come.
        assert!(rate > 3.0 && rate <= 4.05, "{rate} per second");
    }
    let arrivals = completion(&lossy("bbr-cd", ""));
    assert!(arrivals < 30.0, "{arrivals} s");
}

#[test]
fn losses_lower_a_mean_rate_and_not_the_largest() {
    let [mean, largest] = ["", ", bw_agg = \"max\""].map(|settings| completion(&lossy("bbr-cd", settings)));
    let ported = completion(&lossy("bbr", ""));
    assert!(mean > 1.5 * largest, "{mean} s, {largest} s");
    assert!(ported < mean, "{ported} s, {mean} s");
}

/// Seconds to fetch 4 MB through an outage of 10 s.
fn outage(settings: &str) -> Option<f64> {
    let text = link("bbr-cd", settings, 60, 1) + "size = \"10MB\"\n";
    let text = text
        + "[[event]]\nat = \"3s\"\nlink = \"c-p\"\nstate = \"down\"\n\
           [[event]]\nat = \"13s\"\nlink = \"c-p\"\nstate = \"up\"\n";
    let record = runs(&text, 1..=1).remove(0);
    record.flows[0].completed.map(|at| at.since(record.flows[0].start).as_secs_f64())
}

#[test]
fn after_an_outage_a_flow_leaves_probe_rtt_but_not_by_the_papers_window() {
    let after = outage("");
    println!("{after:?}");
    assert!(after.is_some_and(|seconds| seconds > 13.0 && seconds < 45.0), "{after:?}");
    assert_eq!(outage(", probe_rtt_exit = \"window\""), None);
}
