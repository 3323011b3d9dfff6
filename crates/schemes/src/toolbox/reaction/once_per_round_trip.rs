//! At most one decrease per round trip, judged by segments: one that was requested before a decrease causes no other.
//!
//! Paper: ndn-tools `PipelineInterestsAdaptive` ("conservative window adaptation").

use tidegate_core::scheme::congestion::FlowView;

/// Admits a decrease for a segment that was first requested after the last decrease.
#[derive(Clone, Debug, Default)]
pub struct OncePerRoundTrip {
    recovery_point: u32,
}

impl OncePerRoundTrip {
    /// Returns whether `segment`, lost or the highest received, may decrease the window; if so, the recovery point
    /// moves to the highest segment sent.
    pub fn admits(&mut self, segment: u32, flow: &FlowView) -> bool {
        if segment <= self.recovery_point {
            return false;
        }
        self.recovery_point = flow.highest_sent;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_outstanding_at_a_decrease_cause_no_second_one() {
        let flow = |highest_sent| {
            let mut flow = FlowView::default();
            flow.highest_sent = highest_sent;
            flow
        };
        let mut gate = OncePerRoundTrip::default();
        assert!(!gate.admits(0, &flow(4)), "segment 0 never lies beyond the first point");
        assert!(gate.admits(3, &flow(9)));
        assert!(!gate.admits(9, &flow(12)));
        assert!(gate.admits(10, &flow(12)));
    }
}
