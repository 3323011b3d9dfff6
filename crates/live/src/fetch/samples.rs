//! The state of a fetch at equal pauses, in bounded memory.

use tidegate_core::consumer::Consumer;
use tidegate_core::records::FlowSamples;
use tidegate_core::units::{Span, Time};

/// Pause between two samples at first.
const PERIOD: Span = Span::from_millis(10);

/// Most samples kept; then every second one goes and the pause doubles.
const MOST: usize = 1 << 16;

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

    /// When the next sample is due.
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
        if self.samples.time.len() >= MOST {
            self.thin();
        }
        let view = consumer.view();
        self.samples.time.push(now);
        self.samples.flow.push(0);
        self.samples.window_packets.push(consumer.window() as f32);
        self.samples.in_flight_packets.push(view.in_flight);
        self.samples.delivered_segments.push(view.delivered);
        self.samples.smoothed_rtt.push(view.smoothed_rtt.unwrap_or_default());
    }

    /// All samples, the last one taken now.
    pub(super) fn finish(mut self, now: Time, consumer: &Consumer) -> FlowSamples {
        self.take(now, consumer);
        self.samples
    }

    fn thin(&mut self) {
        let samples = &mut self.samples;
        every_second(&mut samples.time);
        every_second(&mut samples.flow);
        every_second(&mut samples.window_packets);
        every_second(&mut samples.in_flight_packets);
        every_second(&mut samples.delivered_segments);
        every_second(&mut samples.smoothed_rtt);
        self.period = self.period.scale(2.0);
    }
}

fn every_second<T>(column: &mut Vec<T>) {
    let mut index = 0;
    column.retain(|_| {
        index += 1;
        index % 2 == 1
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_every_second_sample() {
        let mut column: Vec<u32> = (0..7).collect();
        every_second(&mut column);
        assert_eq!(column, [0, 2, 4, 6]);
    }
}
