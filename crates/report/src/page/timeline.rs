//! What a scenario does to its network while it runs.

use crate::digest::Change;
use crate::figure::run::RateSteps;

/// Changes and rates over time, as planned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// What the scenario changes, in order of time.
    pub changes: Vec<Change>,
    /// Rates of all link directions in the order of records; without any, those of the records hold throughout.
    pub rates: Vec<RateSteps>,
}
