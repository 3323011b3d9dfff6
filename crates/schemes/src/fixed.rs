//! A window that never changes.
//!
//! Paper: none; the baseline of ndnget's `fixed` pipeline and of every window test.

use tidegate_core::congestion::CongestionController;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "fixed",
    summary: "a window that never changes",
    paper: "none: baseline",
    provenance: Provenance::Source,
    params: Params::TABLE,
    consumer: Some(|settings| Ok(Box::new(Fixed { params: Params::from_settings(settings)? }))),
    ..Scheme::NONE
};

params! {
    /// Interests that may be outstanding.
    window: f64 = 10.0, "packets", 1.0..=1_000_000.0;
}

#[derive(Debug)]
struct Fixed {
    params: Params,
}

impl CongestionController for Fixed {
    fn window(&self) -> f64 {
        self.params.window
    }
}
