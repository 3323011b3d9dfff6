//! Changes of the network by the scenario during a run.

use crate::event_summary::NetworkChange;
use crate::figure::run::RateSteps;

/// Changes and rates over time, as planned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Changes by the scenario, in order of time.
    pub changes: Vec<NetworkChange>,
    /// Rates of all link directions in the order of records; without any, those of the records hold throughout.
    pub rates: Vec<RateSteps>,
}
