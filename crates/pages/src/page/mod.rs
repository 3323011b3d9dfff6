//! Self-contained pages and figures: one HTML file that needs no network, figures also as SVG files.
//!
//! Text that comes from users or papers is escaped wherever it enters.

mod animation;
mod board;
mod boards;
mod claim_strip;
mod common;
mod compare;
mod delays;
mod document;
mod network;
mod percentiles;
mod plots;
mod run;
mod seeds;
mod segments;
mod sweep;
mod tables;
mod timeline;
mod topology;
mod variant_plots;
mod why;

pub use board::{BoardPage, board_page, is_taken};
pub use boards::boards_page;
pub use compare::{ComparePage, compare_page};
pub use run::{RunPage, run_page};
pub use seeds::SeedPlots;
pub use sweep::{SweepPage, sweep_page};
pub use timeline::Timeline;
pub use topology::{LinkView, NodeKind, NodeView, TopologyView};
