//! The first HyStart: slow start ends when a train of ACKs is half a round trip long, or when the round trip grows.

use tidegate_core::prelude::*;

/// Minimum window at which slow start may end (`hystart_low_window`), segments.
const LOW_WINDOW: u32 = 16;
/// ACKs that follow each other so closely are a train (`hystart_ack_delta_us`).
const TRAIN_GAP: Span = Span::from_millis(2);
/// Samples of a round before its round trip counts.
const SAMPLES: u32 = 8;
/// Minimum and maximum rise of the RTT that ends slow start.
const MIN_RISE: Span = Span::from_millis(4);
const MAX_RISE: Span = Span::from_millis(16);
/// Maximum time by which offload lengthens the threshold of a train.
const MAX_OFFLOAD: Span = Span::from_millis(1);
/// Four packets of offload, as segments: 4 * 65536 bytes over 1448.
const OFFLOADED: f64 = 181.0;

/// State of one slow start.
#[derive(Clone, Debug, Default)]
pub(super) struct HyStart {
    round_end: u32,
    round_start: Time,
    /// Last ACK of the train.
    last_ack: Time,
    /// Minimum RTT of this round.
    current: Option<Span>,
    samples: u32,
    is_over: bool,
}

impl HyStart {
    /// Handles an ACK of the segment `round.0` while `round.1` is sent next, with the sample `rtt` and the minimum
    /// RTT `min`; `pace` is the window in segments and the smoothed round trip. Returns whether slow start ends.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        round: (u32, u32),
        rtt: Span,
        min: Span,
        pace: (u32, Option<Span>),
    ) -> bool {
        if self.is_over {
            return false;
        }
        if round.0 >= self.round_end {
            *self = Self { round_end: round.1, round_start: now, last_ack: now, ..Self::default() };
        }
        if pace.0 >= LOW_WINDOW {
            // Not `||`: both have to see every ACK.
            self.is_over = self.is_long_train(now, min, pace) | self.is_slower(rtt, min);
        }
        self.is_over
    }

    /// Whether the train of ACKs is long: half an RTT without pacing, as here.
    fn is_long_train(&mut self, now: Time, min: Span, pace: (u32, Option<Span>)) -> bool {
        // A gap ends the train for this round: `last_ack` stays, so later ACKs are too far from it as well.
        if now.since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        // The kernel would pace at two windows per round trip.
        let offload = pace.1.map_or(Span::ZERO, |rtt| rtt.scale(OFFLOADED / (2.0 * f64::from(pace.0))));
        let threshold = (min + offload.min(MAX_OFFLOAD)).scale(0.5);
        now.since(self.round_start) > threshold
    }

    fn is_slower(&mut self, rtt: Span, min: Span) -> bool {
        let current = self.current.map_or(rtt, |current| current.min(rtt));
        self.current = Some(current);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        current > min + min.scale(0.125).max(MIN_RISE).min(MAX_RISE)
    }
}
