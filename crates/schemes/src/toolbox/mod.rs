//! What several schemes share: window arithmetic, gates that ration decreases, and the two programs' controllers.

pub mod adaptive_pipeline;
pub mod aimd_window;
pub mod bic_window;
pub mod congestion_loss;
pub mod conservative_window;
pub mod consumer_pcon;
pub mod cubic_window;
pub mod once_per_round_trip;
pub mod once_per_timeout;
pub mod window_rule;
