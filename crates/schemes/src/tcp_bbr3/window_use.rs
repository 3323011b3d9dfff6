//! Whether the window holds the sender back (C.is_cwnd_limited).

use tidegate_core::scheme::congestion::FlowView;

/// Remembers for a window's worth of data that the window was full.
#[derive(Debug, Default)]
pub(super) struct WindowUse {
    is_limited: bool,
    /// Segments delivered when the memory ends.
    until: u64,
}

impl WindowUse {
    /// A segment has left under a window of `window`.
    pub(super) fn on_sent(&mut self, window: f64, flow: &FlowView) {
        let is_full = f64::from(flow.in_flight) + 1.0 > window;
        if is_full || flow.delivered >= self.until {
            self.is_limited = is_full;
            self.until = flow.delivered + u64::from(flow.in_flight);
        }
    }

    pub(super) fn is_limited(&self) -> bool {
        self.is_limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_was_full_counts_as_full_until_what_was_in_flight_then_is_delivered() {
        let mut usage = WindowUse::default();
        let mut sent = |delivered, in_flight| {
            let mut flow = FlowView::default();
                (flow.delivered, flow.in_flight) = (delivered, in_flight);
                usage.on_sent(10.0, &flow);
            usage.is_limited()
        };
        assert_eq!([sent(0, 9), sent(0, 10), sent(1, 5), sent(9, 5), sent(10, 5)], [false, true, true, true, false]);
        assert_eq!([sent(12, 10), sent(21, 3), sent(22, 3)], [true, true, false]);
    }
}
