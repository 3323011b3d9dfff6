//! Scenarios of papers, run and held against what must come out of them.

mod applications;
mod bbr;
mod bbr_study;
mod brf;
mod brf_choices;
mod brf_more;
mod brf_troubles;
mod hop_by_hop;
mod mircc;
mod mircc_multipath;
mod pcon;
mod reconstructions;
mod rivals;
mod runs;
mod stateful_forwarding;
