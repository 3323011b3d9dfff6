//! Distinguishes losses that indicate congestion from others.

use tidegate_core::prelude::*;

/// Whether `signal` calls for a smaller window: all do, but a Nack only when it names congestion.
pub fn is_congestion(signal: LossSignal) -> bool {
    match signal {
        // A Nack for a missing route or a duplicate nonce is no sign of load; a smaller window would not
        // help.
        LossSignal::Nack(reason) => reason == NackReason::Congestion,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nack_counts_only_when_it_names_congestion() {
        assert!(is_congestion(LossSignal::Nack(NackReason::Congestion)));
        assert!(!is_congestion(LossSignal::Nack(NackReason::Duplicate)));
        assert!(!is_congestion(LossSignal::Nack(NackReason::NoRoute)));
        assert!(is_congestion(LossSignal::Notice));
    }
}
