//! One file per command.

pub(crate) mod bench;
pub(crate) mod check;
#[cfg(target_os = "linux")]
pub(crate) mod children;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod docs;
pub(crate) mod export;
#[cfg(target_os = "linux")]
pub(crate) mod fetch;
pub(crate) mod figure;
#[cfg(target_os = "linux")]
pub(crate) mod forward;
pub(crate) mod import;
#[cfg(target_os = "linux")]
pub(crate) mod key;
#[cfg(target_os = "linux")]
pub(crate) mod link;
pub(crate) mod man;
pub(crate) mod new;
#[cfg(target_os = "linux")]
pub(crate) mod reliability;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod schemes;
#[cfg(target_os = "linux")]
pub(crate) mod serve;
#[cfg(target_os = "linux")]
pub(crate) mod status;
pub(crate) mod sweep;
#[cfg(target_os = "linux")]
pub(crate) mod top;
#[cfg(target_os = "linux")]
pub(crate) mod twin;

use std::num::NonZero;

use crate::plans::{
    installed, note_replaced, parse_plan, read_plan, read_text, refuse_incomplete, warn_incomplete, write_new,
};

/// Values set on the command line over those of a scenario.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Overrides {
    /// Set a value of the scenario, such as `flow.0.scheme.name=icp`, or install a whole scheme with `scheme=NAME`; may
    /// be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    pub(crate) set: Vec<(String, String)>,
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    // Only the first `=` separates: values are TOML and may contain further ones.
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(format!("{text:?} is not of the form KEY=VALUE")),
    }
}

/// Number of threads: as requested, else one per core.
pub(crate) fn threads(requested: Option<NonZero<usize>>) -> usize {
    requested.or_else(|| std::thread::available_parallelism().ok()).map_or(1, usize::from)
}
