//! A hash of the sources that decide what a simulation computes, taken when this crate is built.
//!
//! Stored runs are named by it, so a changed scheme never finds runs of its earlier self. Programs built from the
//! same sources have the same hash, on any machine and in any profile.
#![forbid(unsafe_code)]

/// 32 hexadecimal digits: FNV-1a over the sources of `core`, `schemes`, `settings`, `sim` and of the tables with the
/// measures in them, without their tests, over the manifests of these crates and of the workspace, and over the
/// lockfile, where they lie beside this crate. Versions and features of dependencies are in the manifests and the
/// lockfile; the crates themselves have no features.
pub const CODE: &str = env!("TIDEGATE_CODE");

/// 32 hexadecimal digits: the same hash over what `reproduce` runs and keeps, the scenarios of the papers and the code
/// of their experiments. Runs of a paper depend on [`CODE`] too.
pub const EXPERIMENTS: &str = env!("TIDEGATE_EXPERIMENTS");
