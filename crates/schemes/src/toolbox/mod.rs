//! Parts that several schemes share; a scheme never imports another scheme.

pub mod adaptive_pipeline;
pub mod aimd_window;
pub mod average_queue;
pub mod bic_window;
pub mod codel_marker;
pub mod congestion_loss;
pub mod conservative_window;
pub mod consumer_pcon;
pub mod control_law;
pub mod cubic_window;
pub mod face_mark;
pub mod graded_window;
pub mod interest_shaper;
pub mod next_try;
pub mod once_per_flight;
pub mod once_per_round_trip;
pub mod once_per_timeout;
pub mod rate_follower;
pub mod red_law;
pub mod refusal;
pub mod retransmission_suppression;
pub mod split_ratios;
pub mod split_table;
pub mod stateful_forwarding;
pub mod token_bucket;
pub mod window_rule;
