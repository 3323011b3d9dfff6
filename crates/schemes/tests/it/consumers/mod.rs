//! What holds for every consumer of the registry, and how each behaves on a path of constant delay.

mod golden;
mod invariants;
mod laws;

use tidegate_core::scheme::Scheme;
use tidegate_schemes::SCHEMES;

/// Every scheme with a consumer part.
fn consumers() -> impl Iterator<Item = &'static Scheme> {
    SCHEMES.iter().copied().filter(|scheme| scheme.consumer.is_some())
}
