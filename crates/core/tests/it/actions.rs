//! Requests of queue disciplines at their bounds.

use tidegate_core::prelude::*;

#[test]
fn two_requests_to_release_everything_are_one() {
    let mut actions = Actions::default();
    actions.release(u32::MAX);
    actions.release(u32::MAX);
    assert!(format!("{actions:?}").contains(&format!("release: {}", u32::MAX)), "{actions:?}");
}
