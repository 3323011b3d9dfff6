//! CoopCon-like and FleCom-like, whole: what each part is for. Their numbers are ours, so are the bounds.

use tidegate_core::observe::records::RunRecord;

use crate::papers::runs::{goodput, runs, sent_rate};

/// One consumer behind 100 Mbit/s; `producers` behind 10 Mbit/s each; every queue has 200 packets.
fn paths(scheme: &str, settings: &str, producers: usize) -> String {
    let part = format!("router_parts = [{{ name = \"{scheme}\"{settings} }}]\n");
    let mut text = format!(
        "format = 1\n[scenario]\nname = \"paths\"\nduration = \"20s\"\nsample = \"100ms\"\n\
         vary = {{ start = true, delay = 0.01 }}\n\
         [topology]\nlink = {{ rate = \"10Mbps\", delay = \"5ms\", queue = {{ limit = \"200pkt\" }} }}\n\
         [router]\n{part}[[node]]\nname = \"c\"\n[[node]]\nname = \"r\"\n\
         [[link]]\nends = [\"c\", \"r\"]\nrate = \"100Mbps\"\n"
    );
    let names: Vec<String> = (1..=producers).map(|number| format!("p{number}")).collect();
    for name in &names {
        text += &format!("[[node]]\nname = \"{name}\"\n{part}[[link]]\nends = [\"r\", \"{name}\"]\n");
    }
    text + &format!(
        "[[flow]]\nconsumer = \"c\"\nproducer = {names:?}\nprefix = \"/p\"\nscheme = \"{scheme}\"\n"
    )
}

/// Content per second, Mbit/s, once the flow has begun.
fn mbps(record: &RunRecord, flow: u32) -> f64 {
    goodput(record, flow, [5.0, 20.0]) * 1024.0 * 8e-6
}

fn total(records: &[RunRecord], count: impl Fn(&RunRecord) -> u64) -> u64 {
    records.iter().map(count).sum()
}

fn dropped(record: &RunRecord) -> u64 {
    record.links.iter().map(|link| link.dropped_packets).sum()
}

/// Mean queueing delay of Data at the first producer, ms.
fn queueing(record: &RunRecord) -> f64 {
    let link = record.links.iter().find(|link| link.from == "p1").expect("it is there");
    link.queue_delay.mean.as_millis_f64()
}

#[test]
fn one_path_is_filled_without_a_drop() {
    for scheme in ["coopcon-like", "flecom-like"] {
        for record in runs(&paths(scheme, "", 1), 1..=3) {
            // Content of 10 Mbit/s of Data of 1061 B is 9.65 Mbit/s.
            assert!(mbps(&record, 0) > 0.8 * 9.65, "{scheme}: {}", mbps(&record, 0));
            assert_eq!(dropped(&record), 0, "{scheme}");
        }
    }
}

#[test]
fn coopcon_diverts_in_severe_congestion_only() {
    let second = |settings: &str| {
        let records = runs(&paths("coopcon-like", settings, 2), 1..=3);
        records.iter().map(|record| sent_rate(record, ["p2", "r"], [0.0, 20.0])).sum::<f64>()
    };
    assert!(second("") > 0.0);
    assert_eq!(second(", change_per_mark = 0"), 0.0);
    assert_eq!(second(", severe_target = \"10s\", severe_occupancy = 1"), 0.0);
}

#[test]
fn coopcons_diverted_interests_come_back_unless_they_may_not() {
    // The second path has 130 ms of round trip at least, the first 20 ms and 25 of queue: it is the fastest.
    let late = |settings: &str| {
        let text = paths("coopcon-like", &format!(", calm = \"50ms\"{settings}"), 2);
        let text = text.replace("ends = [\"r\", \"p2\"]", "ends = [\"r\", \"p2\"]\ndelay = \"60ms\"");
        let records = runs(&text, 1..=3);
        records.iter().map(|record| sent_rate(record, ["p2", "r"], [10.0, 20.0])).sum::<f64>()
    };
    let (back, kept) = (late(""), late(", return_step = 0"));
    assert!(back < 0.5 * kept, "{back} {kept}");
}

#[test]
fn coopcons_marks_keep_its_queue_short() {
    let marks = |settings: &str| {
        let records = runs(&paths("coopcon-like", settings, 1), 1..=3);
        (total(&records, |record| record.flows[0].marks), queueing(&records[0]))
    };
    let (on, off) =
        (marks(""), marks(", interval = \"100s\", severe_target = \"10s\", severe_occupancy = 1"));
    assert!(on.0 > 0 && off.0 == 0, "{on:?} {off:?}");
    assert!(on.1 < off.1, "{on:?} {off:?}");
}

#[test]
fn flecom_diverts_to_a_next_hop_without_congestion() {
    let second = |settings: &str| {
        let records = runs(&paths("flecom-like", settings, 2), 1..=3);
        records.iter().map(|record| sent_rate(record, ["p2", "r"], [5.0, 20.0])).sum::<f64>()
    };
    assert!(second("") > 0.0);
    assert_eq!(second(", shift_per_level = 0"), 0.0);
}

#[test]
fn flecom_holds_interests_back_where_there_is_no_other_way() {
    let held = |settings: &str, producers| {
        let records = runs(&paths("flecom-like", settings, producers), 1..=3);
        let stored = |record: &RunRecord| record.links.iter().map(|link| link.stored_packets).sum();
        (total(&records, stored), queueing(&records[0]))
    };
    let (on, off) = (held("", 1), held(", shaping = false", 1));
    assert!(on.0 > 0 && off.0 == 0, "{on:?} {off:?}");
    assert!(on.1 < off.1, "shaping shortens the queue at the other end: {on:?} {off:?}");
}

#[test]
fn flecoms_levels_keep_its_queue_short() {
    let marks = |settings: &str| {
        let records = runs(&paths("flecom-like", &format!(", shaping = false{settings}"), 1), 1..=3);
        (total(&records, |record| record.flows[0].marks), queueing(&records[0]))
    };
    let (on, off) = (marks(""), marks(", target = \"10s\""));
    assert!(on.0 > 0 && off.0 == 0, "{on:?} {off:?}");
    assert!(on.1 < off.1, "{on:?} {off:?}");
}

#[test]
fn nobody_starves_beside_another_flow_of_its_kind() {
    for scheme in ["coopcon-like", "flecom-like", "pcon"] {
        let mut text = paths(scheme, "", 1).replace("20s", "60s");
        text += &format!(
            "[[flow]]\nconsumer = \"c\"\nproducer = \"p1\"\nprefix = \"/q\"\nscheme = \"{scheme}\"\nstart = \"2s\"\n"
        );
        for record in runs(&text, 1..=3) {
            for flow in 0..2 {
                let part = goodput(&record, flow, [20.0, 60.0]) * 1024.0 * 8e-6 / 9.65;
                assert!(part > 0.1, "{scheme}, flow {flow}: {part} of the link");
            }
        }
    }
}
