//! Samples of the state of a fetch at constant intervals, in bounded memory.

use tidegate_core::ndn::consumer::Consumer;
use tidegate_core::observe::records::FlowSamples;
use tidegate_core::units::{Span, Time};

/// Initial interval between two samples.
const PERIOD: Span = Span::from_millis(10);

/// Maximum number of samples; beyond it every second one is removed and the interval doubles.
const MAX: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Sampler {
    next: Time,
    period: Span,
    samples: FlowSamples,
}

impl Sampler {
    /// Samples from `start` on.
    pub(super) fn new(start: Time) -> Self {
        Self { next: start, period: PERIOD, samples: FlowSamples::default() }
    }

    /// Time of the next sample.
    pub(super) fn due(&self) -> Time {
        self.next
    }

    /// Takes a sample if one is due.
    pub(super) fn on_wake(&mut self, now: Time, consumer: &Consumer) {
        if now < self.next {
            return;
        }
        self.take(now, consumer);
        self.next = now + self.period;
    }

    fn take(&mut self, now: Time, consumer: &Consumer) {
        if self.samples.time.len() >= MAX {
            // Half of the samples go and the period doubles, so that a fetch of days fits the same memory.
            self.thin();
        }
        consumer.sample_into(now, 0, &mut self.samples);
    }

    /// All samples, the last one taken now.
    pub(super) fn finish(mut self, now: Time, consumer: &Consumer) -> FlowSamples {
        self.take(now, consumer);
        self.samples
    }

    fn thin(&mut self) {
        self.samples.halve();
        self.period = self.period.scale(2.0);
    }
}
