//! What a gate says to an Interest for which it has no room.

use tidegate_core::choice;
use tidegate_core::gate::GateVerdict;
use tidegate_core::packet::NackReason;

choice! {
    /// How an Interest is refused.
    pub enum Refusal {
        /// Returns a Nack with the reason Congestion.
        Nack = "nack",
        /// Drops the Interest silently.
        Drop = "drop",
    }
}

impl Refusal {
    /// As a gate says it.
    pub const fn verdict(self) -> GateVerdict {
        match self {
            Self::Nack => GateVerdict::Nack(NackReason::Congestion),
            Self::Drop => GateVerdict::Drop,
        }
    }
}
