//! Papers as data: which runs a paper consists of, and what its claims are computed from.
//!
//! `experiments.toml` declares axes, each with named settings, and experiments: a scenario over some of the axes.
//! One combination of settings is a *cell* and has one run per seed. A claim is an [`expression::Expression`] over cells,
//! such as `ratio(goodput_mbps[grid, bbr-cd, clean], goodput_mbps[grid, aimd, clean])`. Values of cells are paired by seed,
//! so that an expression has one sample per seed.
//!
//! This crate reads and computes. It has no files, no threads and no simulator: the program makes the runs and
//! hands their measures to [`expression::Expression::samples`].
//!
//! No input makes this panic, hang or take memory without bound.
#![forbid(unsafe_code)]

pub mod experiments;
pub mod expression;
