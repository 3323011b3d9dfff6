//! Refusal of Interests by a gate without room.

use tidegate_core::prelude::*;

choice! {
    /// Form of a refusal.
    pub enum Refusal {
        /// Returns a Nack with the reason Congestion.
        Nack = "nack",
        /// Drops the Interest silently.
        Drop = "drop",
    }
}

impl Refusal {
    /// The refusal as a gate's verdict.
    pub const fn verdict(self) -> GateVerdict {
        match self {
            Self::Nack => GateVerdict::Nack(NackReason::Congestion),
            Self::Drop => GateVerdict::Drop,
        }
    }
}
