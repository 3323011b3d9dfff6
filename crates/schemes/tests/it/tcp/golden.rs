//! Each sender's course through one bottleneck stays as recorded; `UPDATE_GOLDEN=1` records anew.

use tidegate_testkit::dumbbell::course;
use tidegate_testkit::golden::Golden;

use super::*;

const CASE: &str = "tcp_bottleneck.txt";

#[test]
fn every_sender_runs_as_recorded() {
    let mut golden = Golden::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden"));
    for scheme in senders() {
        golden.compare(&format!("{}/{CASE}", scheme.name), &course(scheme));
    }
    golden.finish();
}
