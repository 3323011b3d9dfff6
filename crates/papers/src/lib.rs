//! Papers as data: which runs a paper consists of, and what its claims, figures and tables are computed from.
//!
//! `experiments.toml` declares axes, each with named settings, and experiments: a scenario over some of the axes.
//! One combination of settings is a *cell* and has one run per seed. A claim is an [`expression`] over cells,
//! such as `ratio(goodput_mbps[grid, bbr-cd, clean], goodput_mbps[grid, aimd, clean])`. Values of cells are paired by seed,
//! so that an expression has one sample per seed. `board.toml` declares figures and tables by the same expressions.
//!
//! This crate reads and computes. It has no files, no threads and no simulator: the program makes the runs and
//! hands the values of their measures to [`formula::Formula::column`].
//!
//! No input makes this panic, hang or take memory without bound.
#![forbid(unsafe_code)]

pub mod board;
pub mod claims;
pub mod experiments;
pub mod expression;
pub mod formula;
pub mod function;
pub mod quantity;
pub mod value;

mod items;

/// Place and message of the first of `errors`.
#[cfg(test)]
fn first_of(errors: &tidegate_settings::error::Errors) -> (String, String) {
    let first = errors.iter().next().expect("an error");
    (format!("{}:{}", first.line, first.column), first.message.clone())
}
