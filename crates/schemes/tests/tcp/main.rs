//! TCP senders in whole connections through a bottleneck, held against closed forms and published numbers.

#[path = "../../src/testing/dumbbell/mod.rs"]
mod dumbbell;

mod bbr;
