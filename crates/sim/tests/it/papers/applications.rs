//! Consumers of NDNts and ndnd with the timers and habits of their programs, end to end.

use tidegate_core::observe::records::FlowRecord;

use crate::papers::runs::runs;

/// Both providers' limits refuse Interests that they could not carry.
const REFUSING: &str = include_str!("../../../../../scenarios/papers/mircc/stateful-forwarding.toml");

/// 100 segments at once over 10 Mbit/s and 20 ms; each thirtieth Data is lost.
fn lossy(scheme: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"lossy\"\nduration = \"60s\"\n[[node]]\nname = \"c\"\n[[node]]\nname = \"p\"\n\
         [[link]]\nends = [\"c\", \"p\"]\nrate = \"10Mbps\"\ndelay = \"10ms\"\nqueue = {{ limit = \"200pkt\" }}\n\
         backward = {{ loss = {{ model = \"trace\", pattern = \"000000000000000000000000000001\" }} }}\n\
         [[flow]]\nconsumer = \"c\"\nproducer = \"p\"\nprefix = \"/a\"\nscheme = {scheme}\npayload = \"1000B\"\n\
         size = \"100kB\"\n"
    )
}

fn flow(text: &str) -> FlowRecord {
    runs(text, 1..=1).remove(0).flows.remove(0)
}

#[test]
fn ndnd_waits_for_the_end_of_a_lifetime_unless_set_to_use_the_estimator() {
    for name in ["ndnd-aimd", "ndnd-cubic"] {
        let literal = flow(&lossy(&format!("\"{name}\"")));
        let estimator = flow(&lossy(&format!("{{ name = \"{name}\", loss_timer = \"estimator\" }}")));
        // No round trip is known when the burst leaves, so the estimator says 1 s.
        for (flow, wait) in [(&literal, 4.0), (&estimator, 1.0)] {
            let longest = flow.full_delay.max.as_secs_f64();
            assert_eq!((flow.timeouts, flow.retransmissions, flow.abandoned), (3, 3, 0), "{name}: {flow:?}");
            assert!((wait..wait + 0.2).contains(&longest), "{name}: {longest} s");
        }
    }
}

#[test]
fn ndnts_ignores_nacks_and_ndnd_does() {
    for (name, hears) in [("ndnts-cubic", false), ("ndnd-aimd", true)] {
        let text = REFUSING.replace("scheme = \"stateful-forwarding\"", &format!("scheme = \"{name}\""));
        let flow = flow(&text);
        let refused = flow.retransmissions > flow.timeouts;
        assert!(flow.nacks > 20, "{name}: {flow:?}");
        assert_eq!(refused, hears, "{name}: {flow:?}");
    }
}

#[test]
fn each_fetcher_of_catchunks_fixed_has_one_segment_per_round_trip() {
    // 0.8 ms of sending a Data beside 20 ms of delay: eight fetchers do not fill the link.
    let text = |fetchers| {
        let scheme = format!("{{ name = \"catchunks-fixed\", fetchers = {fetchers} }}");
        lossy(&scheme).replace("000000000000000000000000000001", "0")
    };
    for fetchers in [1, 2, 8] {
        let flow = flow(&text(fetchers));
        let round_trips = flow.completed.expect("it ends").as_secs_f64() / flow.full_delay.mean.as_secs_f64();
        assert!(
            (round_trips - (100.0 / f64::from(fetchers)).ceil()).abs() < 1.0,
            "{fetchers}: {round_trips}"
        );
    }
}

#[test]
fn catchunks_fixed_retransmits_after_a_lifetime_or_the_estimators_timeout() {
    for (timer, wait) in [("lifetime", 4.0), ("estimator", 0.2)] {
        let scheme = format!("{{ name = \"catchunks-fixed\", loss_timer = \"{timer}\" }}");
        let flow = flow(&lossy(&scheme));
        let longest = flow.full_delay.max.as_secs_f64();
        assert_eq!((flow.timeouts, flow.retransmissions, flow.abandoned), (3, 3, 0), "{timer}: {flow:?}");
        assert!((wait..wait + 0.2).contains(&longest), "{timer}: {longest} s");
    }
}

#[test]
fn waits_that_double_spare_a_refusing_network_nacks() {
    // Mean pause after a Nack, ms: the 10 ms to the router that refuses and back, and the wait.
    let pause = |settings: &str| {
        let scheme = format!(
            "scheme = {{ name = \"catchunks-fixed\", fetchers = 60{settings} }}\nshell = {{ retry_limit = \"none\" }}"
        );
        let flow = flow(&REFUSING.replace("scheme = \"stateful-forwarding\"", &scheme));
        assert_eq!((flow.retransmissions, flow.timeouts), (flow.nacks, 0), "{flow:?}");
        assert!(flow.nacks > 1_000 && flow.completed.is_some(), "{flow:?}");
        let refused = flow.full_delay.mean.as_millis_f64() - flow.last_delay.mean.as_millis_f64();
        refused * 2_017.0 / flow.nacks as f64
    };
    let [doubling, literal] = ["", ", wait_doubles = false"].map(pause);
    assert!((11.0..11.5).contains(&literal), "{literal} ms");
    assert!(doubling > 2.0 * literal, "{doubling} ms");
}

/// A flow over 10 Mbit/s and 200 ms; of the Data, those are lost that `pattern` has a 1 for, again and again.
fn long_path(scheme: &str, profile: &str, pattern: &str) -> FlowRecord {
    let text = lossy(scheme)
        .replace("delay = \"10ms\"", "delay = \"100ms\"")
        .replace("000000000000000000000000000001", pattern);
    flow(&format!("{text}profile = {{ {profile} }}\n"))
}

#[test]
fn what_differs_between_releases_of_catchunks_changes_the_run() {
    for name in ["catchunks-aimd", "catchunks-cubic"] {
        let completed = |window| {
            let scheme = format!("{{ name = \"{name}\", initial_window = {window} }}");
            long_path(&scheme, "", "0").completed.expect("it ends").as_secs_f64()
        };
        // Windows of 1, 2, 4, ... or 2, 4, 8, ...: a round trip between them.
        let difference = completed(1) - completed(2);
        assert!((0.19..0.25).contains(&difference), "{name}: {difference} s");
        // After the first sample, of 201 ms, the timeout is 0.6 or 1.0 s.
        let slowest = |variations: u32| {
            let profile = format!("variations = {variations}");
            long_path(&format!("\"{name}\""), &profile, "00010000000000000000").full_delay.max.as_secs_f64()
        };
        assert!(slowest(4) < slowest(8), "{name}: {} s, {} s", slowest(4), slowest(8));
        // Four of five Data are lost: hardly a segment comes within four tries, nearly all do within sixteen.
        let abandoned = |retries: u32| {
            let profile = format!("retry_limit = {retries}");
            long_path(&format!("\"{name}\""), &profile, "11011").abandoned
        };
        assert!(abandoned(3) > 10 * abandoned(15), "{name}: {} {}", abandoned(3), abandoned(15));
    }
}
