//! Reno and CUBIC beside those of quinn (quinn-proto), told the same: another implementation by other people.
//!
//! quinn counts bytes, in whole segments here, and is told of what a QUIC connection would see: send times, round trips and
//! congestion. Ours is told the same as a sender of ours would: recoveries and deliveries.

#![allow(
    clippy::disallowed_types,
    reason = "quinn's interface wants instants: one of the clock, all others by arithmetic"
)]

mod cubic;
mod estimator;
mod pair;
mod reno;
