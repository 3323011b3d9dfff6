//! What a gate says to an Interest for which it has no room.

use tidegate_core::choice;
use tidegate_core::gate::GateVerdict;
use tidegate_core::packet::NackReason;

choice! {
    /// How an Interest is refused.
    pub enum Refusal {
        /// With a Nack that names congestion.
        Nack = "nack",
        /// Silently.
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
