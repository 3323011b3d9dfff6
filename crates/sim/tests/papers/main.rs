//! Scenarios of papers, run and held against what must come out of them.

mod hop_by_hop;
mod pcon;
mod reconstructions;
mod runs;
