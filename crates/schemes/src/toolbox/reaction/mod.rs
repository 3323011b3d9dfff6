//! Losses and marks that a window reacts to, and how often.
//!
//! [`congestion_loss`] distinguishes losses by congestion from others; the rest are gates that admit one decrease:
//! per [round trip](once_per_round_trip), per [flight](once_per_flight), per [timeout](once_per_timeout), per
//! [stretch of segments](conservative_window).

pub mod congestion_loss;
pub mod conservative_window;
pub mod once_per_flight;
pub mod once_per_round_trip;
pub mod once_per_timeout;
