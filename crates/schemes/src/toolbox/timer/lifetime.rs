//! Loss detection of a fetcher without a retransmission timer.
//!
//! Paper: none; ndnd's segment fetcher and the `DataFetcher` of ndn-tools.

use tidegate_core::prelude::*;

choice! {
    /// Event after which an Interest counts as lost.
    pub enum LifetimeTimer {
        /// The Interest's lifetime, which is the only timer of the program.
        Lifetime = "lifetime",
        /// The retransmission timeout of the consumer profile's RTT estimator.
        Estimator = "estimator",
    }
}

/// Lifetime of the Interests, which the profiles of both programs give them too: the default of the packet format.
const LIFETIME: Span = Span::from_secs(4);

impl LifetimeTimer {
    /// Time after which an Interest counts as lost; `None` for the timeout of the consumer profile.
    pub fn span(self) -> Option<Span> {
        match self {
            Self::Lifetime => Some(LIFETIME),
            Self::Estimator => None,
        }
    }
}
