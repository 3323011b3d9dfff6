//! Consumers of NDNts and ndnd with the timers and habits of their programs, end to end.

use tidegate_core::records::FlowRecord;

use crate::runs::runs;

/// Both providers' limits refuse Interests that they could not carry.
const REFUSING: &str = include_str!("../../../../scenarios/papers/mircc/stateful-forwarding.toml");

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
fn ndnd_waits_for_the_end_of_a_lifetime_unless_told_to_use_the_estimator() {
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
fn ndnts_does_not_hear_nacks_and_ndnd_does() {
    for (name, hears) in [("ndnts-cubic", false), ("ndnd-aimd", true)] {
        let text = REFUSING.replace("scheme = \"stateful-forwarding\"", &format!("scheme = \"{name}\""));
        let flow = flow(&text);
        let refused = flow.retransmissions > flow.timeouts;
        assert!(flow.nacks > 20, "{name}: {flow:?}");
        assert_eq!(refused, hears, "{name}: {flow:?}");
    }
}
