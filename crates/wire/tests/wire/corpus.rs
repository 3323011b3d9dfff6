//! The inputs that the fuzz targets begin with, and those that once were hard.

use hostile::{packets, replay};

#[test]
fn packets_that_once_were_hard_are_passed_on_soundly() {
    replay("packet", packets::packet);
}

#[test]
fn fragments_that_once_were_hard_are_put_together_soundly() {
    replay("reassembly", packets::reassembly);
}

#[test]
fn bytes_that_once_were_hard_are_looked_at_soundly() {
    replay("views", packets::views);
}
