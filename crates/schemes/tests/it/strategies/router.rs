//! The bench of testkit for strategies, with schemes of the catalogue by name.

use tidegate_core::scheme::Scheme;
use tidegate_schemes::{SCHEMES, find};

pub use tidegate_testkit::strategy_bench::{
    DRAWS, StrategyBench as Router, StrategyEvent as Event, expect_share, expect_share_spaced,
};

pub fn named(scheme: &str) -> &'static Scheme {
    find(SCHEMES, scheme).expect("a scheme")
}
