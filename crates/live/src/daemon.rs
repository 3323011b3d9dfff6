//! `tidegate forward`: the forwarder as a process.

pub mod config;
