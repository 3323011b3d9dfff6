//! One source of a flow: a TCP window, a timer and the number of outstanding Interests.

use std::num::NonZeroU32;

use tidegate_core::ndn::consumer::rto::{Estimator, EstimatorKind, TimeoutLimits};
use tidegate_core::prelude::*;

use super::Params;
use crate::toolbox::window::aimd::{AimdRule, AimdWindow};
use crate::toolbox::window::rule::WindowRule;

/// Variations in the timer (ndn-cxx).
const VARIATIONS: NonZeroU32 = NonZeroU32::new(4).expect("not zero");

/// State of one source.
#[derive(Debug)]
pub(super) struct Source {
    window: AimdWindow,
    timer: Estimator,
    /// Interests that count for it.
    pub outstanding: u32,
    /// Time of the last decrease: Interests sent before it cause no other.
    decreased_at: Option<Time>,
    /// Number of the last Data from it, among all Data of the flow.
    pub received: u64,
}

impl Source {
    pub fn new(params: &Params) -> Self {
        let rule = AimdRule {
            initial: params.initial_window,
            ssthresh: f64::INFINITY,
            step: 1.0,
            keep: 0.5,
            min: 1.0,
            divides_by_whole_window: false,
            // As TCP after a timeout, the only signal of congestion in the paper.
            restarts: true,
        };
        let limits = TimeoutLimits {
            min: Some(params.min_timeout),
            backoff: None,
            variations: Some(VARIATIONS),
        };
        Self {
            window: AimdWindow::new(rule),
            timer: Estimator::new(EstimatorKind::NdnTools, limits),
            outstanding: 0,
            decreased_at: None,
            received: 0,
        }
    }

    /// Congestion window of the source, packets.
    pub fn window(&self) -> f64 {
        self.window.window()
    }

    /// Slow-start threshold of the source, packets.
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    pub fn timeout(&self) -> Span {
        self.timer.rto()
    }

    /// Handles a Data packet from this source.
    pub fn deliver(&mut self, now: Time, round_trip: Option<Span>) {
        self.window.increase(now, None);
        if let Some(round_trip) = round_trip {
            self.timer.sample(round_trip, self.outstanding);
        }
    }

    /// Handles the loss of an Interest to this source that was sent at `sent_at`.
    pub fn lose(&mut self, now: Time, sent_at: Time) {
        // Interests sent before the last decrease were lost to the same congestion.
        if self.decreased_at.is_none_or(|decreased_at| sent_at > decreased_at) {
            self.window.decrease(now);
            // Once per decrease: Interests that expire together double the timer once.
            self.timer.back_off();
            self.decreased_at = Some(now);
        }
    }
}
