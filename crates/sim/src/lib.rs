//! Deterministic packet-level simulation of NDN networks.
#![forbid(unsafe_code)]

mod events;
mod link;
mod routes;

pub mod bare;
pub mod builder;
pub mod plan;
pub mod roles;
pub mod run;
pub mod scenario;
pub mod world;
