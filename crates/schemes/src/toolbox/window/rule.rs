//! The interface of window rules, shared by all controllers of a window.

use std::fmt::Debug;

use tidegate_core::prelude::*;

/// Growth and decrease of a window; the controller decides when they take place.
pub trait WindowRule: Debug + Send {
    /// Congestion window, packets, finite and at least 1.
    fn window(&self) -> f64;

    /// Slow-start threshold, packets; infinite before the first decrease where the program starts so.
    fn ssthresh(&self) -> f64;

    /// Increases the window for one segment that arrived at `now`; `smoothed_rtt` is `None` before the first sample.
    fn increase(&mut self, now: Time, smoothed_rtt: Option<Span>);

    /// Decreases the window once, for a loss or mark at `now`.
    fn decrease(&mut self, now: Time);
}
