//! Estimates the backlog of a queue from OpenFlow's counters, which lack it although eq. 6 requires it.
//!
//! The flow table counts the bytes that it sends towards a port; the port counts the bytes sent and the packets
//! dropped. The difference is the backlog of all classes: the queue of CUBIC flows counts like that of BRF flows.

use tidegate_core::prelude::*;
use crate::brf::messages::QueueLoad;

use super::measure::SEGMENT;

/// Estimate for one queue. It starts at zero with the first counters.
#[derive(Clone, Debug, Default)]
pub struct BacklogEstimate {
    before: Option<QueueLoad>,
    bytes: f64,
}

impl BacklogEstimate {
    /// Adds the counters of a poll; returns them with the estimated backlog and drops. A dropped packet counts as a
    /// full segment, so that smaller ones make the estimate too low; it is never negative. Counters that decreased
    /// belong to a switch that was restarted.
    pub fn poll(&mut self, load: &QueueLoad) -> QueueLoad {
        // Without an earlier poll, or after a restart of the switch, the estimate begins again at 0.
        let moved = self.before.replace(*load).and_then(|before| {
            let arrived = load.arrived.get().checked_sub(before.arrived.get())?;
            let sent = load.sent.get().checked_sub(before.sent.get())?;
            let dropped = load.dropped.checked_sub(before.dropped)?;
            Some(arrived as f64 - sent as f64 - dropped as f64 * SEGMENT)
        });
        self.bytes = moved.map_or(0.0, |moved| (self.bytes + moved).max(0.0));
        QueueLoad {
            waiting: Packets::new((self.bytes / SEGMENT) as u32),
            governed: ByteCount::new(self.bytes as u64),
            governed_dropped: load.dropped,
            ..*load
        }
    }

    /// Estimated backlog at the last poll, bytes.
    pub fn bytes(&self) -> f64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::detector::tests::load;
    use super::*;

    /// Counters in full segments.
    fn counted(arrived: u64, sent: u64, dropped: u64) -> QueueLoad {
        QueueLoad { arrived: ByteCount::new(arrived * 1514), dropped, ..load(sent, 0) }
    }

    /// Estimates in full segments after each poll.
    fn estimates(polls: &[QueueLoad]) -> Vec<f64> {
        let mut estimate = BacklogEstimate::default();
        polls.iter().map(|load| f64::from(estimate.poll(load).waiting.get())).collect()
    }

    #[test]
    fn what_came_and_has_not_gone_waits() {
        let polls = [counted(0, 0, 0), counted(90, 50, 0), counted(150, 130, 12), counted(160, 148, 12)];
        assert_eq!(estimates(&polls), [0.0, 40.0, 8.0, 0.0]);
    }

    #[test]
    fn a_queue_that_stood_before_the_first_poll_is_never_seen() {
        let polls = [counted(500, 400, 0), counted(600, 500, 0), counted(620, 600, 0), counted(720, 680, 0)];
        // 100, 100, 20 and 40 waited.
        assert_eq!(estimates(&polls), [0.0, 0.0, 0.0, 20.0]);
    }

    #[test]
    fn drops_of_small_packets_make_it_too_low() {
        // Ten packets of 66 bytes are dropped, 30 full ones wait.
        let came = QueueLoad { arrived: ByteCount::new(30 * 1514 + 660), ..counted(0, 0, 10) };
        assert_eq!(estimates(&[counted(0, 0, 0), came]), [0.0, 20.0]);
    }

    #[test]
    fn counters_that_start_anew_begin_at_nothing_and_whatever_they_say_is_no_error() {
        assert_eq!(estimates(&[counted(0, 0, 0), counted(90, 50, 0), counted(5, 1, 0), counted(9, 1, 0)]), [
            0.0, 40.0, 0.0, 4.0
        ]);
        let absurd = QueueLoad { arrived: ByteCount::new(u64::MAX), dropped: u64::MAX, ..counted(0, 0, 0) };
        assert_eq!(estimates(&[counted(0, 0, 0), absurd, counted(0, 0, 0)]), [0.0; 3]);
    }
}
