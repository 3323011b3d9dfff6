//! Every consumer under random valid histories, with default parameters and at each end of each range.

use tidegate_testkit::invariants;

use crate::consumers::consumers;

#[test]
fn every_consumer_keeps_its_parameters_ranges_and_a_sound_window_in_any_history() {
    consumers().for_each(invariants::check_consumer);
}
