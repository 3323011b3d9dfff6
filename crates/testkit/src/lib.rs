//! Drivers and checks for tests of congestion-control schemes, in this repository and in others.
//!
//! | to test | use |
//! |---|---|
//! | a consumer's window after each event, worked by hand | [`driver`], [`steps`] |
//! | a consumer behind a bottleneck, round trip by round trip | [`bottleneck`] |
//! | a TCP sender's window after each ACK | [`ack_driver`], with rate samples [`acks`] |
//! | a queue discipline, packet by packet | [`queue_bench`] |
//! | a forwarding strategy in a real forwarder | [`strategy_bench`] |
//! | gates and agents of a router | [`gate_bench`] |
//! | TCP connections through a shared queue, with gates, marks and losses | [`dumbbell`] |
//! | invariants of every scheme under random events | [`invariants`] |
//! | that behaviour stays as recorded | [`golden`], with the courses of [`constant_rtt`] and [`dumbbell::course`] |
//!
//! Everything runs in virtual time and draws from fixed seeds, so a failure repeats.
//!
//! ```
//! use tidegate_core::prelude::*;
//! use tidegate_testkit::driver::Driver;
//! use tidegate_testkit::steps::{data, follow, marked};
//!
//! /// Half of the window for each mark, one packet more for each other segment.
//! #[derive(Debug)]
//! struct Halving(f64);
//!
//! impl CongestionController for Halving {
//!     fn window(&self) -> f64 {
//!         self.0
//!     }
//!     fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
//!         self.0 = if delivery.mark > 0 { (self.0 / 2.0).max(1.0) } else { self.0 + 1.0 };
//!     }
//! }
//!
//! let mut driver = Driver::of(Box::new(Halving(4.0)));
//! follow(&mut driver, &[(data(40, 0, 4), 5.0), (marked(40, 1, 4), 2.5)]);
//! ```
//!
//! Functions panic where a check fails, as assertions do.
#![forbid(unsafe_code)]

pub mod ack_driver;
pub mod acks;
pub mod bottleneck;
pub mod constant_rtt;
pub mod driver;
pub mod dumbbell;
pub mod gate_bench;
pub mod golden;
pub mod invariants;
pub mod queue_bench;
pub mod standalone_queue;
pub mod steps;
pub mod strategy_bench;

use tidegate_core::scheme::params::{Setting, Settings};

/// `given` as settings of a scheme.
pub fn settings(given: &[(&str, Setting)]) -> Settings {
    Settings(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}
