//! Goodput of flows and of all together: over which interval, and what counts.

use tidegate_core::records::FlowRecord;
use tidegate_core::units::{Span, Time};
use tidegate_report::measures::{goodput_mbps, total_goodput_mbps};

use crate::record;

/// Two pairs over a bottleneck of 10 Mbit/s whose queue takes 100 ms to empty.
fn two_pairs(kind: &str, flows: &str) -> String {
    format!(
        "format = 1\n[scenario]\nname = \"totals\"\nduration = \"20s\"\n[topology]\nbuiltin = \"dumbbell\"\npairs = 2\n\
         access = {{ rate = \"100Mbps\", delay = \"1ms\" }}\n\
         bottleneck = {{ rate = \"10Mbps\", delay = \"5ms\", queue = {{ limit = \"100pkt\" }} }}\n{}",
        flows.replace("FLOW", kind)
    )
}

const FLOW: &str = "[[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \"/a\"\npayload = \"1200B\"\n\
                    scheme = { name = \"fixed\", window = 90 }";
const TCP: &str = "[[tcp]]\nsender = \"p1\"\nreceiver = \"c1\"\nscheme = \"tcp-cubic\"";

#[test]
fn a_flow_with_a_stop_is_over_with_the_last_data_after_it() {
    let stop = Time::ZERO + Span::from_secs(5);
    for kind in [FLOW, TCP] {
        let record = record(&two_pairs(kind, "FLOW\nstop = \"5s\"\n"));
        let flow: &FlowRecord = &record.flows[0];
        let stopped = flow.stopped.expect("it has a stop");
        let late = stopped.since(stop);
        // What waits in the queue at the stop still arrives.
        assert!(stop < stopped && late < Span::from_millis(250), "{late} after the stop");
        let own = goodput_mbps(flow, record.ended).expect("time passed");
        assert!((8.0..10.0).contains(&own), "{own} Mbit/s of 10");
        assert_eq!(total_goodput_mbps(&record), Some(own));
    }
}

#[test]
fn data_that_serves_two_flows_counts_for_both() {
    let other = FLOW.replace("c1", "c2");
    let record = record(&two_pairs(FLOW, &format!("FLOW\n{other}\n")));
    let total = total_goodput_mbps(&record).expect("it has flows");
    assert!((17.0..20.0).contains(&total), "{total} Mbit/s over a link of 10");
    let said = tidegate_report::definitions::find("total_goodput_mbps").expect("it is defined").text;
    assert!(said.contains("one Data serves several flows"), "{said}");
}
