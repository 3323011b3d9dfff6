//! Whether the window limits the sender (C.is_cwnd_limited).

use tidegate_core::scheme::congestion::FlowView;

/// Keeps for a window of data that the window was full.
#[derive(Debug, Default)]
pub(super) struct WindowUse {
    is_limited: bool,
    /// Number of delivered segments up to which the value holds.
    until: u64,
}

impl WindowUse {
    /// Records a segment sent with a window of `window`.
    pub(super) fn on_sent(&mut self, window: f64, flow: &FlowView) {
        let is_full = f64::from(flow.in_flight) + 1.0 > window;
        // One full moment counts for a window of data: a paced sender fills its window only now and then.
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
