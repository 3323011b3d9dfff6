//! Stateful forwarding in its authors' scenario, and what each part is for.

use tidegate_core::observe::records::{FlowRecord, RunRecord};

use crate::papers::runs::{goodput, runs, sent_rate};

const TEXT: &str = include_str!("../../../../../scenarios/papers/mircc/stateful-forwarding.toml");
/// Content of one provider's link, Mbit/s: 1024 of 1064 bytes.
const ONE_PATH: f64 = 1024.0 / 1064.0;
const SCHEMES: [&str; 2] = ["stateful-forwarding", "stateful-forwarding-rtt"];
const SENDING: [&str; 2] = ["window", "rate"];

fn replaced(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}\n{text}");
    text.replace(old, new)
}

/// The scenario with a consumer and routers of `scheme`.
fn of(scheme: &str, sending: &str) -> String {
    let consumer = format!("{{ name = \"{scheme}\", sending = \"{sending}\" }}");
    let text = replaced(TEXT, "scheme = \"stateful-forwarding\"", &format!("scheme = {consumer}"));
    replaced(
        &text,
        "router_parts = [{ name = \"stateful-forwarding\"",
        &format!("router_parts = [{{ name = \"{scheme}\""),
    )
}

/// `text` with flows that do not end, and other settings of the routers.
fn endless(text: &str, settings: &str) -> String {
    let text = replaced(text, "size = \"2065408B\"\n", "");
    let old = "adaptation = \"none\", early_nack = false, dynamic_burst = false, burst = \"100ms\"";
    replaced(&text, old, settings)
}

/// A second flow of the scenario's client.
fn second(scheme: &str, sending: &str) -> String {
    format!(
        "[[flow]]\nconsumer = \"client\"\nproducer = \"server\"\nprefix = \"/second\"\n\
         scheme = {{ name = \"{scheme}\", sending = \"{sending}\" }}\npayload = \"1024B\"\nstart = \"2s\"\n"
    )
}

/// As [`endless`], beside an equal flow of a customer of provider1, so that provider1 refuses some Interests.
fn busy(settings: &str) -> String {
    let other = "[[node]]\nname = \"other\"\n[[link]]\nends = [\"other\", \"provider1\"]\nrate = \"10Mbps\"\ndelay = \"5ms\"\n\
                 [[flow]]\nconsumer = \"other\"\nproducer = \"server\"\nprefix = \"/other\"\nscheme = \
                 \"stateful-forwarding\"\npayload = \"1024B\"\n";
    endless(TEXT, settings) + other
}

fn mbps(record: &RunRecord, flow: u32) -> f64 {
    goodput(record, flow, [10.0, 50.0]) * 1024.0 * 8e-6
}

fn dropped(record: &RunRecord) -> u64 {
    record.links.iter().map(|link| link.dropped_packets).sum()
}

/// Interests a second, in bytes, to the second provider.
fn diverted(record: &RunRecord) -> f64 {
    sent_rate(record, ["client-provider", "provider2"], [0.0, 50.0])
}

/// Interests that were answered by nothing.
fn unanswered(flow: &FlowRecord) -> u64 {
    flow.interests - flow.delivered_segments - flow.duplicates - flow.nacks
}

#[test]
fn the_authors_flow_uses_both_providers_and_every_interest_is_answered() {
    for (scheme, sending) in SCHEMES.into_iter().flat_map(|scheme| SENDING.map(|sending| (scheme, sending))) {
        for record in runs(&of(scheme, sending), 1..=3) {
            let (flow, case) = (&record.flows[0], format!("{scheme} {sending}, seed {}", record.seed));
            let took = flow.completed.expect("it ends").since(flow.start).as_secs_f64();
            let rate = flow.delivered_payload.get() as f64 * 8e-6 / took;
            // Limits are 1 Mbit/s in 1140 bytes each, a little less than the links bring.
            assert!((ONE_PATH..2.0 * ONE_PATH).contains(&rate), "{case}: {rate} Mbit/s");
            assert_eq!((dropped(&record), flow.timeouts), (0, 0), "{case}");
            assert!(flow.nacks > 0, "{case}");
            assert_eq!(unanswered(flow), 0, "{case}: {flow:?}");
            let sent =
                ["provider1", "provider2"].map(|to| sent_rate(&record, ["client-provider", to], [0.0, 50.0]));
            assert!(sent.iter().all(|part| *part > 0.3 * (sent[0] + sent[1])), "{case}: {sent:?}");
        }
    }
}

#[test]
fn one_decrease_per_round_trip_loses_less() {
    let [each, once] = SCHEMES.map(|scheme| runs(&of(scheme, "window"), 1..=3));
    for (each, once) in each.iter().zip(&once) {
        let [each, once] = [each, once].map(|record| record.flows[0].completed.expect("it ends"));
        assert!(once < each, "{once} {each}");
    }
}

#[test]
fn without_limits_nothing_goes_to_the_second_provider_and_queues_overflow() {
    for record in runs(&endless(TEXT, "limit = \"none\", early_nack = false"), 1..=3) {
        assert_eq!(diverted(&record), 0.0);
        assert!(dropped(&record) > 0 && record.flows[0].nacks == 0, "{:?}", record.flows);
        assert!(mbps(&record, 0) < ONE_PATH);
    }
}

#[test]
fn early_nacks_send_interests_elsewhere() {
    let settings = "limit = \"none\", weight = 0.05, early_nack";
    let [on, off] =
        ["true", "false"].map(|early| runs(&endless(TEXT, &format!("{settings} = {early}")), 1..=3));
    for (on, off) in on.iter().zip(&off) {
        assert!(diverted(on) > 0.0 && diverted(off) == 0.0);
    }
}

#[test]
fn what_a_busy_provider_refuses_goes_to_the_other() {
    let [on, off] = ["true", "false"].map(|retry| runs(&busy(&format!("retry_elsewhere = {retry}")), 1..=3));
    for (on, off) in on.iter().zip(&off) {
        assert!(diverted(on) > 0.0 && diverted(off) == 0.0);
        assert!(mbps(on, 0) > 2.0 * mbps(off, 0), "{} {}", mbps(on, 0), mbps(off, 0));
    }
}

#[test]
fn a_busy_providers_nacks_lower_the_limit_in_each_form_as_much_as_stated() {
    for limit in ["rate", "pending"] {
        // Interests to the provider that refuses: most without adaptation, least where a Nack halves.
        let [none, code, aimd] = ["none", "code", "aimd"].map(|adaptation| {
            let settings = format!("limit = \"{limit}\", adaptation = \"{adaptation}\", early_nack = false");
            let records = runs(&busy(&settings), 1..=3);
            records
                .iter()
                .map(|record| sent_rate(record, ["client-provider", "provider1"], [10.0, 50.0]))
                .sum::<f64>()
        });
        assert!(code < none && aimd < 0.8 * code, "{limit}: {none} {code} {aimd}");
    }
}

#[test]
fn limits_that_are_halved_once_per_round_trip_let_more_out() {
    let text = busy("adaptation = \"aimd\", early_nack = false");
    let [each, once] = SCHEMES.map(|scheme| {
        let parts = format!("router_parts = [{{ name = \"{scheme}\"");
        let text = replaced(&text, "router_parts = [{ name = \"stateful-forwarding\"", &parts);
        runs(&text, 1..=3).iter().map(|record| mbps(record, 0)).collect::<Vec<f64>>()
    });
    assert!(each.iter().zip(&once).all(|(each, once)| once > each), "{each:?} {once:?}");
}

#[test]
fn a_burst_of_a_round_trip_is_longer_than_one_of_a_tenth_of_a_second() {
    // The way to the server and back takes 120 ms.
    let peak = |settings: &str| {
        let text = endless(TEXT, &format!("early_nack = false, adaptation = \"none\", {settings}"));
        let records = runs(&text, 1..=3);
        let link = |record: &RunRecord| {
            let link =
                record.links.iter().find(|link| (&*link.from, &*link.to) == ("provider1", "client-provider"));
            link.expect("it is there").peak_queue_packets
        };
        records.iter().map(link).max()
    };
    let (long, short) = (peak("dynamic_burst = true"), peak("dynamic_burst = false, burst = \"20ms\""));
    assert!(long > short, "{long:?} {short:?}");
}

#[test]
fn nobody_starves_beside_another_flow_of_its_kind() {
    for (scheme, sending) in SCHEMES.into_iter().flat_map(|scheme| SENDING.map(|sending| (scheme, sending))) {
        for settings in
            ["adaptation = \"none\"", "adaptation = \"code\"", "adaptation = \"aimd\"", "limit = \"pending\""]
        {
            let text = endless(&of(scheme, sending), settings) + &second(scheme, sending);
            for record in runs(&text, 1..=3) {
                let rates = [0, 1].map(|flow| mbps(&record, flow));
                assert!(
                    rates.iter().all(|rate| *rate > 0.1 * ONE_PATH),
                    "{scheme}, {sending}, {settings}: {rates:?}"
                );
            }
        }
    }
}

#[test]
fn a_coarse_clock_costs_a_rate_throughput_unless_arrivals_flush_and_a_window_none() {
    // Segments per second until the flow's or the run's end.
    let speed = |sending: &str, clock: &str| {
        let node = "name = \"client\"\n";
        let text = replaced(&of(SCHEMES[0], sending), node, &format!("{node}{clock}"));
        let speed = |record: &RunRecord| {
            let flow = &record.flows[0];
            flow.delivered_segments as f64 / flow.completed.map_or(50.0, |at| at.as_secs_f64())
        };
        runs(&text, 1..=3).iter().map(speed).sum::<f64>()
    };
    let coarse = |flush: bool| {
        format!("clock = {{ period = \"500ms\", phase = \"random\", flush_on_arrival = {flush} }}\n")
    };
    let [fine, ticks, flushed] = ["", &coarse(false), &coarse(true)].map(|clock| speed("rate", clock));
    assert!(ticks < 0.5 * fine && flushed > 0.9 * fine, "{fine} {ticks} {flushed}");
    let [fine, ticks] = ["", &coarse(false)].map(|clock| speed("window", clock));
    assert_eq!(ticks, fine, "what arrives lets a window send");
}
