//! Deterministic packet-level simulation of NDN networks.
#![forbid(unsafe_code)]

pub mod plan;
pub mod scenario;
