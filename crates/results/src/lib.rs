//! Results of runs: tables, measures, statistics, comparisons, and a paper's claims.
//!
//! Input are the [run records](tidegate_core::observe::records) of simulated or live runs. Output depends on the
//! input alone: no clock, no host, no environment, so equal runs give equal bytes.
#![forbid(unsafe_code)]

pub mod claims;
pub mod compare;
pub mod definitions;
pub mod measures;
pub mod stats;
pub mod tables;
pub mod text;

/// Version of the tables' shape; raised whenever a column is added, renamed or redefined.
pub const RESULTS_SCHEMA: u32 = 7;
