//! Scenarios of papers, run and held against what must come out of them.

mod mircc;
mod pcon;
mod reconstructions;
mod runs;
mod stateful_forwarding;
