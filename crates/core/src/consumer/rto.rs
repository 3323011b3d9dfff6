//! Round-trip time estimators.

/// Which estimator sets the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimatorKind {
    /// ndnSIM's `RttMeanDeviation`: backoff per timed-out packet up to 64, timeout at most 200 s.
    Ndnsim,
    /// ndn-cxx' `RttEstimator` with ndnget's factor of 8, samples weighted by what is in flight.
    NdnTools,
    /// NDNts: as ndn-cxx with the factor 4.
    Ndnts,
    /// ICP's: halfway between the smallest and largest of the last samples.
    Range,
}
