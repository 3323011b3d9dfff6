//! Routers that hold Interests back or report rates, whole: rates, queues at rest, fair parts, and what each part is
//! for.

use tidegate_core::observe::records::RunRecord;

use crate::papers::runs::{goodput, runs, sent_rate};

/// Data of 1000 B of content per second that 10 Mbit/s carry: 1033 B each on the wire at most.
const LINK: f64 = 10e6 / 8.0 / 1033.0;

/// Two consumers, each with a producer of its own behind 10 Mbit/s; 40 ms of round trip.
fn dumbbell(consumer: &str, router: &str, flows: usize) -> String {
    let mut text = format!(
        "format = 1\n[scenario]\nname = \"dumbbell\"\nduration = \"20s\"\nsample = \"10ms\"\n[topology]\n\
         builtin = \"dumbbell\"\npairs = 2\naccess = {{ rate = \"100Mbps\", delay = \"5ms\" }}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"10ms\", queue = {{ limit = \"400pkt\" }} }}\n\
         [router]\nrouter_parts = [{router}]\n"
    );
    for flow in 1..=flows {
        text += &format!(
            "[[flow]]\nconsumer = \"c{flow}\"\nproducer = \"p{flow}\"\nprefix = \"/{flow}\"\n\
             scheme = {consumer}\npayload = \"1000B\"\nstart = \"{}ms\"\n",
            (flow - 1) * 1_013
        );
    }
    text
}

/// Mean queue of Data at the bottleneck between two instants, packets.
fn queue(record: &RunRecord, between: [f64; 2]) -> f64 {
    queue_of(record, ["r2", "r1"], between)
}

/// Mean queue of a link between two instants, packets.
fn queue_of(record: &RunRecord, ends: [&str; 2], [from, to]: [f64; 2]) -> f64 {
    let place = record.links.iter().position(|link| [&*link.from, &*link.to] == ends).expect("a dumbbell");
    let samples = &record.link_samples;
    let rows = (0..samples.time.len()).filter(|row| {
        samples.link[*row] as usize == place && (from..to).contains(&samples.time[*row].as_secs_f64())
    });
    let lengths: Vec<f64> = rows.map(|row| f64::from(samples.queue_packets[row])).collect();
    lengths.iter().sum::<f64>() / lengths.len() as f64
}

fn dropped(record: &RunRecord) -> u64 {
    record.links.iter().map(|link| link.dropped_packets).sum()
}

/// As [`dumbbell`], both prefixes at one producer, so that the Interests of both leave the router through one face.
fn shared_producer(consumer: &str, router: &str) -> String {
    dumbbell(consumer, router, 2).replace("producer = \"p2\"", "producer = \"p1\"")
}

/// A consumer that asks for much more than there is, with `settings` of HoBHIS without feedback.
fn insistent(settings: &str) -> (&'static str, String) {
    let part = format!("{{ name = \"hobhis\", feedback = \"none\", {settings} }}");
    ("{ name = \"fixed\", window = 300 }", part)
}

#[track_caller]
fn expect_near(found: f64, expected: f64, part: f64) {
    assert!((found / expected - 1.0).abs() <= part, "{found}, expected {expected}");
}

#[test]
fn the_data_queue_rests_at_its_target_whatever_the_gain() {
    for settings in ["target = 50", "target = 20", "target = 20, design = 0.7", "target = 50, design = 0.02"]
    {
        let (consumer, part) = insistent(settings);
        let target = if settings.contains("20,") || settings.ends_with("20") { 20.0 } else { 50.0 };
        for text in [dumbbell(consumer, &part, 1), shared_producer(consumer, &part)] {
            let record = &runs(&text, 1..=1)[0];
            assert!(
                (queue(record, [10.0, 20.0]) - target).abs() <= 1.0,
                "{settings}: {}",
                queue(record, [10.0, 20.0])
            );
        }
    }
}

#[test]
fn two_upstream_faces_that_each_count_on_the_whole_link_rest_above_the_target() {
    // Each sends half of the link's C: C/2 = C + h (B/2 - e/2) / A, so e = B + C A / h, with A = 10.1 ms from r2 on.
    for design in [0.1, 0.2] {
        let (consumer, part) = insistent(&format!("design = {design}"));
        let record = &runs(&dumbbell(consumer, &part, 2), 1..=1)[0];
        expect_near(queue(record, [10.0, 20.0]), 50.0 + LINK * 0.0101 / design, 0.02);
    }
}

#[test]
fn hobhis_consumers_share_a_full_link_equally_at_the_target() {
    for text in [dumbbell("\"hobhis\"", "\"hobhis\"", 2), shared_producer("\"hobhis\"", "\"hobhis\"")] {
        for record in runs(&text, 1..=2) {
            let parts = [0, 1].map(|flow| goodput(&record, flow, [10.0, 20.0]));
            expect_near(parts[0] / parts[1], 1.0, 0.02);
            expect_near(parts[0] + parts[1], LINK, 0.01);
            assert!((queue(&record, [10.0, 20.0]) - 50.0).abs() <= 1.0, "{}", queue(&record, [10.0, 20.0]));
            assert_eq!(record.flows.iter().map(|flow| flow.retransmissions).sum::<u64>(), 0);
        }
    }
}

#[test]
fn without_a_gain_the_queue_does_not_find_its_target_and_without_a_rate_nobody_speeds_up() {
    let still = runs(&dumbbell("\"hobhis\"", "{ name = \"hobhis\", design = 0 }", 1), 1..=1);
    assert!((queue(&still[0], [10.0, 20.0]) - 50.0).abs() > 10.0, "{}", queue(&still[0], [10.0, 20.0]));
    let silent = runs(&dumbbell("\"hobhis\"", "{ name = \"hobhis\", feedback = \"none\" }", 1), 1..=1);
    // One Interest per 40 ms of round trip.
    assert!(goodput(&silent[0], 0, [10.0, 20.0]) < 25.0);
}

#[test]
fn interests_are_held_for_the_target_and_overflow_the_queue_with_one_out_of_reach() {
    let drops = |settings: &str| {
        let (consumer, part) = insistent(&format!("limit = \"1000pkt\", {settings}"));
        let text = dumbbell(consumer, &part, 1).replace("400pkt", "100pkt");
        dropped(&runs(&text, 1..=1)[0])
    };
    // Before the first Data nothing is held: the 300 of the first window.
    assert!(drops("target = 50") < 300, "{}", drops("target = 50"));
    assert!(drops("target = 1000000") > 1_000);
}

#[test]
fn turns_give_a_modest_flow_its_half_beside_an_insistent_one() {
    let part = |order: &str| {
        let (consumer, router) = insistent(&format!("limit = \"1000pkt\", order = \"{order}\""));
        let text = shared_producer(consumer, &router).replacen("window = 300", "window = 60", 1);
        let record = &runs(&text, 1..=1)[0];
        let [modest, insistent] = [0, 1].map(|flow| goodput(record, flow, [10.0, 20.0]));
        modest / (modest + insistent)
    };
    expect_near(part("turns"), 0.5, 0.05);
    // By arrival parts are as the windows: 60 of 360.
    expect_near(part("arrival"), 60.0 / 360.0, 0.05);
}

/// A flow each way over the link between the routers, whose directions have these rates, kbit/s.
fn two_way(router: &str, [right, left]: [u32; 2]) -> String {
    let ends = "consumer = \"p2\"\nproducer = \"c2\"";
    let rates = format!("bottleneck = {{ rate = \"{right}kbps\", backward = {{ rate = \"{left}kbps\" }}");
    dumbbell("\"hr-icp\"", router, 2)
        .replace("consumer = \"c2\"\nproducer = \"p2\"", ends)
        .replace("bottleneck = { rate = \"10Mbps\"", &rates)
}

/// Parts of the link between the routers that are used, there and back.
fn used(record: &RunRecord, rates: [u32; 2]) -> [f64; 2] {
    let there = sent_rate(record, ["r1", "r2"], [5.0, 20.0]) * 8e-3 / f64::from(rates[0]);
    let back = sent_rate(record, ["r2", "r1"], [5.0, 20.0]) * 8e-3 / f64::from(rates[1]);
    [there, back]
}

#[test]
fn two_way_traffic_fills_both_directions_up_to_the_headroom_without_losing_data() {
    for rates in [[10_000, 10_000], [10_000, 2_000]] {
        for queue in ["drop-tail", "pie", "codel"] {
            let part = format!("{{ name = \"hr-icp\", queue = \"{queue}\" }}");
            for record in runs(&two_way(&part, rates), 1..=2) {
                for part in used(&record, rates) {
                    assert!((0.95 * 0.98..=0.981).contains(&part), "{queue}, {rates:?}: {part}");
                }
                assert_eq!(dropped(&record), 0, "{queue}, {rates:?}");
                assert!(record.flows.iter().all(|flow| flow.nacks > 0), "{queue}, {rates:?}");
            }
        }
    }
}

#[test]
fn a_direction_of_a_fiftieth_is_shared_by_halves_and_the_other_cannot_be_full() {
    // 50 > (43 * 43 + 1) / 86 for Interests of 24 B: half of the narrow direction is Interests for Data the wide way.
    let rates = [10_000, 200];
    let text = two_way("\"hr-icp\"", rates)
        .replace("scheme = \"hr-icp\"", "scheme = { name = \"fixed\", window = 90 }");
    let record = &runs(&text.replacen("window = 90", "window = 10", 1), 1..=1)[0];
    let [there, back] = used(record, rates);
    // What asks the narrow way sees 1.2 Interests per interval of the other's, so that it often finds fewer.
    assert!((0.97..=1.0).contains(&back) && there < 0.5, "{there} {back}");
    expect_near(goodput(record, 0, [5.0, 20.0]), 0.98 * LINK / 100.0, 0.02);
    let narrow = record.links.iter().find(|link| link.from == "r2" && link.to == "r1").expect("a dumbbell");
    assert_eq!(narrow.dropped_packets, 0);
}

#[test]
fn data_overflow_where_nothing_shapes() {
    let record = &runs(&two_way("", [10_000, 10_000]), 1..=1)[0];
    assert!(dropped(record) > 100);
}

#[test]
fn a_face_that_uses_no_demand_leaves_the_other_ends_part_unused() {
    let back = |settings: &str| {
        let part = format!("{{ name = \"hr-icp\"{settings} }}");
        let record = &runs(&dumbbell("\"hr-icp\"", &part, 2), 1..=1)[0];
        used(record, [10_000, 10_000])[1]
    };
    expect_near(back(""), 0.98, 0.01);
    // Before the first packet the other direction's Data are taken for 27.5 Interests, one of which is left room for.
    expect_near(back(", measure_demand = false"), 0.98 * 26.5 / 27.5, 0.003);
}

#[test]
fn two_flows_of_hr_icp_share_a_link_and_nacks_are_what_keeps_them_within_it() {
    let run = |consumer: &str, settings: &str| {
        let part = format!("{{ name = \"hr-icp\"{settings} }}");
        runs(&dumbbell(consumer, &part, 2).replace("20s", "60s"), 1..=1).remove(0)
    };
    // A full queue of Interests refuses so seldom that the second flow has not caught up after a minute; PIE draws.
    let drawn = "{ name = \"hr-icp\", queue = \"pie\" }";
    let records = runs(&dumbbell("\"hr-icp\"", drawn, 2).replace("20s", "60s"), 1..=6);
    let parts =
        [0, 1].map(|flow| records.iter().map(|record| goodput(record, flow, [20.0, 60.0])).sum::<f64>());
    expect_near(parts[0] / parts[1], 1.0, 0.05);
    let record = run("\"hr-icp\"", "");
    let deaf = run("{ name = \"hr-icp\", beta = 1 }", "");
    let nacks = |record: &RunRecord| record.flows.iter().map(|flow| flow.nacks).sum::<u64>();
    assert!(nacks(&deaf) > 10 * nacks(&record), "{} {}", nacks(&deaf), nacks(&record));
    assert_eq!(nacks(&run("\"hr-icp\"", ", refusal = \"drop\"")), 0);
}

/// A consumer behind 10 Mbit/s and a producer behind 20 Mbit/s, with a router between them; 40 ms of round trip.
fn chain(consumer: &str, router: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"chain\"\nduration = \"60s\"\nsample = \"10ms\"\n[topology]\n\
         link = {{ delay = \"10ms\", queue = {{ limit = \"400pkt\" }} }}\n[router]\nrouter_parts = [{router}]\n\
         [[node]]\nname = \"c\"\n[[node]]\nname = \"r\"\n[[node]]\nname = \"p\"\n\
         [[link]]\nends = [\"c\", \"r\"]\nrate = \"10Mbps\"\n[[link]]\nends = [\"r\", \"p\"]\nrate = \"20Mbps\"\n\
         [[flow]]\nconsumer = \"c\"\nproducer = \"p\"\nprefix = \"/p\"\nscheme = {consumer}\npayload = \"1000B\"\n"
    )
}

/// Routers of ECN-rate-like with these settings.
fn ecn_rate(settings: &str) -> String {
    format!("{{ name = \"ecn-rate-like\", {settings} }}")
}

#[test]
fn ecn_rate_consumers_share_what_is_aimed_at_without_a_queue() {
    let consumer = "\"ecn-rate-like\"";
    for text in [dumbbell(consumer, consumer, 2), shared_producer(consumer, consumer)] {
        for record in runs(&text, 1..=2) {
            let parts = [0, 1].map(|flow| goodput(&record, flow, [5.0, 20.0]));
            expect_near(parts[0] / parts[1], 1.0, 0.02);
            expect_near(parts[0] + parts[1], 0.95 * LINK, 0.01);
            assert!(queue(&record, [5.0, 20.0]) < 5.0, "{}", queue(&record, [5.0, 20.0]));
            assert_eq!(dropped(&record), 0);
        }
    }
}

#[test]
fn ecn_rates_queue_before_a_slower_link_rests_about_where_its_rule_says() {
    // alpha (u C - y) d / beta: C and y are 20 and 10 Mbit/s, d is 20 ms and 0.6 ms of sending. The queue's own delay is
    // none of d, so that it swings around that.
    for (alpha, beta) in [(0.4, 0.1), (0.2, 0.1), (0.1, 0.05)] {
        let router = ecn_rate(&format!("alpha = {alpha}, beta = {beta}"));
        let record = &runs(&chain("\"ecn-rate-like\"", &router), 1..=1)[0];
        let rest = alpha * (0.95 * 2.0 - 1.0) * LINK * 0.0206 / beta;
        expect_near(queue_of(record, ["r", "c"], [10.0, 60.0]), rest, 0.1);
        assert_eq!(dropped(record), 0);
    }
}

#[test]
fn ecn_rate_overflows_without_the_queue_and_starves_without_the_spare_capacity() {
    let record = &runs(&chain("\"ecn-rate-like\"", &ecn_rate("beta = 0")), 1..=1)[0];
    assert!(dropped(record) > 1_000);
    let record = &runs(&dumbbell("\"ecn-rate-like\"", &ecn_rate("alpha = 0"), 2), 1..=1)[0];
    assert!(goodput(record, 0, [10.0, 20.0]) < 0.01 * LINK);
}

/// A consumer behind 100 Mbit/s and a producer behind paths of 10 and 5 Mbit/s.
fn two_paths(consumer: &str, router: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"paths\"\nduration = \"20s\"\nsample = \"10ms\"\n[topology]\n\
         link = {{ rate = \"10Mbps\", delay = \"5ms\", queue = {{ limit = \"400pkt\" }} }}\n[router]\nrouter_parts = [{router}]\n\
         [[node]]\nname = \"c\"\n[[node]]\nname = \"r\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
         [[link]]\nends = [\"c\", \"r\"]\nrate = \"100Mbps\"\n[[link]]\nends = [\"r\", \"a\"]\n\
         [[link]]\nends = [\"r\", \"b\"]\nrate = \"5Mbps\"\n\
         [[flow]]\nconsumer = \"c\"\nproducer = [\"a\", \"b\"]\nprefix = \"/p\"\nscheme = {consumer}\npayload = \"1000B\"\n"
    )
}

/// Routers of MNRCP-like with these settings.
fn mnrcp(settings: &str) -> String {
    format!("{{ name = \"mnrcp-like\", {settings} }}")
}

fn nacks(record: &RunRecord) -> u64 {
    record.flows.iter().map(|flow| flow.nacks).sum()
}

#[test]
fn mnrcp_consumers_share_what_is_given_away_without_a_queue() {
    let consumer = "\"mnrcp-like\"";
    for text in [dumbbell(consumer, consumer, 2), shared_producer(consumer, consumer)] {
        for record in runs(&text, 1..=2) {
            let parts = [0, 1].map(|flow| goodput(&record, flow, [5.0, 20.0]));
            expect_near(parts[0] / parts[1], 1.0, 0.02);
            expect_near(parts[0] + parts[1], 0.97 * LINK, 0.01);
            assert!(queue(&record, [5.0, 20.0]) < 2.0, "{}", queue(&record, [5.0, 20.0]));
            assert_eq!(dropped(&record), 0);
        }
    }
}

#[test]
fn mnrcp_uses_two_paths_to_their_sum_unless_it_may_not_spread() {
    let sum = |settings: &str| {
        let record = &runs(&two_paths("\"mnrcp-like\"", &mnrcp(settings)), 1..=1)[0];
        assert_eq!(dropped(record), 0);
        goodput(record, 0, [5.0, 20.0])
    };
    expect_near(sum(""), 0.97 * 1.5 * LINK, 0.02);
    expect_near(sum("spread = false"), 0.97 * LINK, 0.02);
}

#[test]
fn mnrcp_refuses_what_an_insistent_consumer_requests_beyond_its_part() {
    let run = |settings: &str| {
        let text = shared_producer("\"mnrcp-like\"", &mnrcp(settings));
        let insistent =
            text.replacen("scheme = \"mnrcp-like\"", "scheme = { name = \"fixed\", window = 300 }", 1);
        runs(&insistent, 1..=1).remove(0)
    };
    let (policed, free) = (run("spread = false"), run("spread = false, police = false"));
    assert!(nacks(&policed) > 0 && nacks(&free) == 0);
    let modest = |record: &RunRecord| goodput(record, 1, [5.0, 20.0]) / LINK;
    expect_near(modest(&policed), 0.97 / 2.0, 0.05);
    assert!(
        queue(&policed, [5.0, 20.0]) < 0.5 * queue(&free, [5.0, 20.0]),
        "{} {}",
        queue(&policed, [5.0, 20.0]),
        queue(&free, [5.0, 20.0])
    );
}
