//! The bench of testkit for queues, with schemes of the catalogue by name.

use tidegate_core::scheme::Scheme;
use tidegate_schemes::{SCHEMES, find};

pub use tidegate_testkit::queue_bench::{
    Popped, QueueBench as Bench, data, interest, nack, notice, segment, tcp,
};

pub fn named(scheme: &str) -> &'static Scheme {
    find(SCHEMES, scheme).expect("a scheme")
}
