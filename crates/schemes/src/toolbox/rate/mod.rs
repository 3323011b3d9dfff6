//! Rates: estimates of the delivery rate, and consumers that follow a rate.
//!
//! [`rate_sampler`], [`bbr_model`], [`gain_cycle`] and [`ack_epoch`] belong to BBR and its relatives,
//! [`rate_follower`] to schemes whose routers stamp rates on Data. [`sliding_window`] has the samples of a window of
//! time.

pub mod ack_epoch;
pub mod bbr_model;
pub mod flow_rtt;
pub mod gain_cycle;
pub mod rate_follower;
pub mod rate_sampler;
pub mod sliding_window;
