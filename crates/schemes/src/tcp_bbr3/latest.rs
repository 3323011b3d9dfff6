//! Delivery and losses of the last round trip (Updating the Model Upon Packet Loss).

use tidegate_core::scheme::congestion::RateSample;

use crate::toolbox::rate::bbr_model::PacketRate;

/// Signals of the present round, which begins anew with its first loss.
#[derive(Debug, Default)]
pub(super) struct Latest {
    /// Maximum rate of the round (bw_latest).
    pub(super) rate: PacketRate,
    /// Maximum number of segments delivered within a sample (inflight_latest).
    pub(super) delivered: u64,
    /// Whether a segment was lost (is_loss_in_round).
    pub(super) has_lost: bool,
    /// Separate ranges of segments lost.
    pub(super) lost_ranges: u32,
    last_lost: Option<u32>,
    /// The round ends with the delivery of a segment that was sent at this number of deliveries or later
    /// (loss_round_delivered).
    ends_at: u64,
}

impl Latest {
    /// Adds a sample, at `delivered` segments delivered so far; returns whether it ends the round.
    pub(super) fn take(&mut self, sample: &RateSample, delivered: u64) -> bool {
        self.rate = self.rate.max(PacketRate::of_sample(sample));
        self.delivered = self.delivered.max(sample.delivered);
        let ends_round = sample.prior_delivered >= self.ends_at;
        if ends_round {
            self.ends_at = delivered;
        }
        ends_round
    }

    /// Begins the next round with the sample that ended the last one (AdvanceLatestDeliverySignals).
    pub(super) fn advance(&mut self, sample: &RateSample) {
        (self.rate, self.delivered) = (PacketRate::of_sample(sample), sample.delivered);
        (self.lost_ranges, self.last_lost) = (0, None);
    }

    /// Records the loss of `segment`, at `delivered` segments delivered so far; returns whether it is the first of
    /// the round (NoteLoss).
    pub(super) fn note_loss(&mut self, segment: u32, delivered: u64) -> bool {
        // Losses of consecutive segments are one range, as one full queue drops them together.
        if self.last_lost.is_none_or(|last| segment != last.wrapping_add(1)) {
            self.lost_ranges += 1;
        }
        self.last_lost = Some(segment);
        if self.has_lost {
            return false;
        }
        // The round begins anew here, so that a whole round of deliveries follows the loss.
        (self.has_lost, self.ends_at) = (true, delivered);
        true
    }

    /// Resets the signals of the round (ResetCongestionSignals).
    pub(super) fn reset(&mut self) {
        (self.has_lost, self.rate, self.delivered) = (false, PacketRate(0), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::Span;

    fn sample(delivered: u64, prior_delivered: u64) -> RateSample {
        RateSample::new(delivered, Span::from_millis(20), prior_delivered)
    }

    #[test]
    fn a_round_keeps_its_largest_sample_and_the_next_begins_with_the_one_that_ended_it() {
        let mut latest = Latest::default();
        assert!(latest.take(&sample(10, 0), 10));
        assert!(!latest.take(&sample(30, 9), 20));
        assert!(!latest.take(&sample(20, 9), 30));
        assert_eq!((latest.delivered, latest.rate), (30, PacketRate::over(30, Span::from_millis(20))));
        assert!(latest.take(&sample(25, 10), 35));
        latest.advance(&sample(25, 10));
        assert_eq!((latest.delivered, latest.rate), (25, PacketRate::over(25, Span::from_millis(20))));
    }

    #[test]
    fn the_first_loss_begins_a_round_and_neighbours_are_one_range() {
        let mut latest = Latest::default();
        latest.take(&sample(10, 0), 10);
        assert!(latest.note_loss(7, 15));
        assert!(!latest.take(&sample(10, 14), 20), "it left before the loss was known");
        for segment in [8, 9, 11, 13, 14] {
            assert!(!latest.note_loss(segment, 20));
        }
        assert_eq!(latest.lost_ranges, 3, "7 to 9, 11, 13 to 14");
        assert!(latest.take(&sample(10, 15), 30));
        latest.advance(&sample(10, 15));
        assert_eq!(latest.lost_ranges, 0);
    }
}
