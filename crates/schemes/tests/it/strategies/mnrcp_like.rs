//! MNRCP-like's strategy in a forwarder: reports are missing here, so that next hops take turns until one fails.

use tidegate_core::ndn::packet::NackReason;

use crate::strategies::router::Event::{Data, Interest, Nack};
use crate::strategies::router::{Router, named};

fn router() -> Router {
    Router::of_part(named("mnrcp-like"), &[], &[3, 4])
}

#[test]
fn next_hops_without_reports_take_turns() {
    router().follow(&[
        (0, Interest(0), &["3 interest"]),
        (1, Data(3), &["0 data"]),
        (2, Interest(0), &["4 interest"]),
        (3, Data(4), &["0 data"]),
        (4, Interest(0), &["3 interest"]),
    ]);
}

#[test]
fn another_downstream_waits_and_the_refusal_goes_back() {
    router().follow(&[
        (0, Interest(0), &["3 interest"]),
        (1, Interest(1), &[]),
        (2, Nack(3, NackReason::Congestion), &["0 nack Congestion", "1 nack Congestion"]),
    ]);
}
