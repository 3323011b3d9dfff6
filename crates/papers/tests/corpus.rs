//! Files of papers and expressions that fuzz targets begin with, and those that once were hard.

use hostile::{papers, replay};

#[test]
fn files_that_once_were_hard_are_answered_soundly() {
    replay("papers", papers::files);
}

#[test]
fn expressions_that_once_were_hard_are_answered_soundly() {
    replay("expression", papers::expressions);
}
