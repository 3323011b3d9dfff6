//! The marker: while the mean queueing delay grows, its distance from the target sets the level on every Data packet;
//! otherwise the level falls by one in every period.

use tidegate_core::prelude::*;

use super::HIGHEST;

/// Weight of a new waiting time in the mean.
const GAIN: f64 = 1.0 / 8.0;

/// The discipline of one device.
#[derive(Debug)]
pub(super) struct TrendMarker {
    /// Target of the mean queueing delay, seconds.
    target: f64,
    period: Span,
    /// Mean waiting time, seconds.
    mean: f64,
    /// The mean when the last period ended.
    mean_before: f64,
    period_ends: Time,
    level: u8,
}

impl TrendMarker {
    pub(super) fn new(target: Span, period: Span) -> Self {
        let target = target.as_secs_f64();
        Self { target, period, mean: 0.0, mean_before: 0.0, period_ends: Time::ZERO + period, level: 0 }
    }

    fn end_period(&mut self, now: Time) {
        let levels = f64::from(HIGHEST);
        self.level = if self.mean > self.mean_before {
            (levels * (self.mean / self.target - 1.0)).ceil().clamp(0.0, levels) as u8
        } else {
            // Periods in which no packet left had no queue; each of them lowers the level as well.
            let silent = now.since(self.period_ends).as_nanos() / self.period.as_nanos().max(1);
            self.level.saturating_sub(u8::try_from(silent + 1).unwrap_or(u8::MAX))
        };
        self.mean_before = self.mean;
        self.period_ends = now + self.period;
    }
}

impl QueueDiscipline for TrendMarker {
    fn sees_arrivals(&self) -> bool {
        false
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        sojourn: Span,
        _: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        // A notice overtakes the bulk packets, so its short wait is not a sample of the queue.
        if packet.hop.class != Class::BULK {
            return Verdict::Pass;
        }
        self.mean += GAIN * (sojourn.as_secs_f64() - self.mean);
        if cx.now >= self.period_ends {
            self.end_period(cx.now);
        }
        // A mark on an Interest has no receiver.
        if self.level == 0 || !matches!(packet.kind, Kind::Data(_)) {
            return Verdict::Pass;
        }
        Verdict::Mark(self.level, Cause("trend"))
    }
}
