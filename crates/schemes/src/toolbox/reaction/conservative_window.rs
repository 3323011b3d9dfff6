//! Conservative window adaptation: at most one decrease per range of segments, judged by sequence numbers.
//!
//! Paper: ndnSIM 2.9 `ConsumerPcon` ("CWA"), after Schneider et al. 2016 §4.

use tidegate_core::scheme::congestion::FlowView;

/// Admits a decrease once Data beyond the recovery point has arrived.
#[derive(Clone, Debug)]
pub struct ConservativeWindow {
    is_enabled: bool,
    suppress: f64,
    recovery_point: f64,
}

impl ConservativeWindow {
    /// A gate that also waits for `suppress` more round trips; it admits everything unless `is_enabled`.
    pub fn new(is_enabled: bool, suppress: f64) -> Self {
        Self { is_enabled, suppress, recovery_point: 0.0 }
    }

    /// Returns whether to decrease now; if so, the recovery point moves past all segments requested so far.
    pub fn admits(&mut self, flow: &FlowView) -> bool {
        let (highest, next) = (f64::from(flow.highest_received), f64::from(flow.next_segment));
        // Segments up to the recovery point were requested before the last decrease, so their loss was caused
        // by the old window.
        if self.is_enabled && highest <= self.recovery_point {
            return false;
        }
        // `next - highest` is the flight, one RTT of segments; `suppress` (`AddRttSuppress`) adds a fraction
        // of it.
        self.recovery_point = next + self.suppress * (next - highest);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(highest_received: u32, next_segment: u32) -> FlowView {
        let mut flow = FlowView::default();
        (flow.highest_received, flow.next_segment) = (highest_received, next_segment);
        flow
    }

    #[test]
    fn a_second_decrease_waits_for_one_and_a_half_round_trips_of_segments() {
        let mut gate = ConservativeWindow::new(true, 0.5);
        assert!(!gate.admits(&flow(0, 10)), "nothing has arrived");
        assert!(gate.admits(&flow(10, 20)));
        // Recovery point: 20 + 0.5 * (20 - 10) = 25.
        assert!(!gate.admits(&flow(25, 34)));
        assert!(gate.admits(&flow(26, 35)));
    }

    #[test]
    fn a_disabled_gate_admits_every_decrease() {
        let mut gate = ConservativeWindow::new(false, 0.5);
        assert!(gate.admits(&flow(10, 20)) && gate.admits(&flow(10, 20)));
    }
}
