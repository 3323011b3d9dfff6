//! Presentation of results: pages, figures, and files for other tools.
//!
//! `axis` and `markup` are the layer below pages and figures. Output depends only on the input: no clock, no
//! host, no environment, so equal runs give equal bytes.
#![forbid(unsafe_code)]

pub mod event_summary;
pub mod export;
pub mod figure;
pub mod page;

mod axis;
mod markup;
mod panels;
mod sample_series;
mod script;
mod thinning;
