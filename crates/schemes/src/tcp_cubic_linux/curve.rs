//! The cubic curve in whole segments and ticks.

use tidegate_core::math;
use tidegate_core::prelude::*;

/// Multiplicative decrease factor, in 1024ths.
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;
/// C in 1024ths of a segment per s³: 0.4 (`bic_scale * 10`).
const STEEPNESS: u128 = 410;
/// Units of time of the curve per second.
const UNITS: u128 = 1024;
/// STEEPNESS over this is C in segments per unit of time cubed.
const SCALE: u128 = UNITS * UNITS * UNITS * 1024;
/// Segments acknowledged per segment of growth of W_est, in eighths of the window: 8 (1 + beta) / 3 (1 - beta)
/// (`beta_scale`).
const RENO_PACE: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);
/// Maximum pace before the first loss: growth is at least 5 % per RTT.
const FIRST_PACE: u32 = 20;
/// Minimum pace: the window grows by at most half of the segments acknowledged.
const MIN: u32 = 2;
/// Windows of ACKs per segment of growth where the curve lies below the window: nearly none.
const WAIT: u32 = 100;

/// The curve of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    ticks: u32,
    fast_convergence: bool,
    /// Window at the last loss, segments, lowered by fast convergence; 0 before the first (`last_max_cwnd`).
    last_w_max: u32,
    epoch: Option<Epoch>,
    /// Segments acknowledged per segment of window, and when and for which window that was computed, ticks.
    pace: u32,
    computed: (u64, u32),
}

/// State of one congestion-avoidance epoch.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// W_max: the curve's plateau, segments (`bic_origin_point`).
    w_max: u32,
    /// K, units of time of the curve (`bic_K`).
    k: u128,
    /// W_est: Reno's window, segments (`tcp_cwnd`).
    w_est: u32,
    /// Segments acknowledged towards the next segment of W_est (`ack_cnt`).
    acked: u64,
}

impl Curve {
    pub(super) fn new(ticks: u32, fast_convergence: bool) -> Self {
        Self { ticks, fast_convergence, last_w_max: 0, epoch: None, pace: MIN, computed: (0, 0) }
    }

    /// A curve without history.
    pub(super) fn forgotten(&self) -> Self {
        Self::new(self.ticks, self.fast_convergence)
    }

    /// Whether the epoch began less than a second ago.
    pub(super) fn is_young(&self, now: Time) -> bool {
        self.epoch.is_some_and(|epoch| now.since(epoch.start) < Span::from_secs(1))
    }

    /// Records a loss at `window` segments; returns the reduced window.
    pub(super) fn reduce(&mut self, window: u32) -> u32 {
        let wide = u64::from(window);
        let converges = self.fast_convergence && window < self.last_w_max;
        self.last_w_max = if converges { (wide * (BETA_SCALE + BETA) / (2 * BETA_SCALE)) as u32 } else { window };
        self.epoch = None;
        ((wide * BETA / BETA_SCALE) as u32).max(2)
    }

    /// Shifts the curve by `rest`, during which nothing was in flight before `now`.
    pub(super) fn rest(&mut self, now: Time, rest: Span) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + rest).min(now);
        }
    }

    /// Returns the number of segments to be acknowledged per segment of growth, after `acked` more were acknowledged
    /// (`bictcp_update`).
    pub(super) fn per_segment(&mut self, now: Time, window: u32, acked: u32, min_rtt: Span) -> u32 {
        let tick = self.tick(now.since(Time::ZERO));
        let (computed, computed_for) = self.computed;
        let is_fresh = tick - computed <= u64::from(self.ticks / 32);
        if let Some(epoch) = &mut self.epoch {
            epoch.acked += u64::from(acked);
            // The kernel saves the computation while the window is the same, for up to 1/32 s.
            if computed_for == window && is_fresh {
                return self.pace;
            }
        }
        // Within one tick the curve has not moved; only the estimate of Reno below is brought up to date.
        if self.epoch.is_none() || tick != computed {
            self.computed = (tick, window);
            let epoch = *self.epoch.get_or_insert_with(|| Epoch::new(now, self.last_w_max, window, acked));
            self.pace = self.pace_of_curve(now, &epoch, window, min_rtt);
        }
        if let Some(epoch) = &mut self.epoch {
            self.pace = self.pace.min(epoch.pace_of_w_est(window));
        }
        self.pace = self.pace.max(MIN);
        self.pace
    }

    fn pace_of_curve(&self, now: Time, epoch: &Epoch, window: u32, min_rtt: Span) -> u32 {
        let elapsed = self.tick(now.since(Time::ZERO)) - self.tick(epoch.start.since(Time::ZERO));
        // Rounded up, as `usecs_to_jiffies` does.
        let ahead = self.tick(min_rtt + Span::from_nanos(1_000_000_000 / u64::from(self.ticks) - 1));
        // One minimum RTT ahead: the window takes effect that much later.
        let t = u128::from(elapsed + ahead) * UNITS / u128::from(self.ticks);
        let offset = t.abs_diff(epoch.k);
        let height = u32::try_from(STEEPNESS.saturating_mul(offset.saturating_pow(3)) / SCALE).unwrap_or(u32::MAX);
        let w_max = epoch.w_max;
        let target = if t < epoch.k { w_max.saturating_sub(height) } else { w_max.saturating_add(height) };
        // Growth of `above` segments per window acknowledged is one segment per window / above.
        let pace = match target.checked_sub(window) {
            Some(0) | None => window.saturating_mul(WAIT),
            Some(above) => window / above,
        };
        if self.last_w_max == 0 { pace.min(FIRST_PACE) } else { pace }
    }

    /// Whole ticks in `span`.
    fn tick(&self, span: Span) -> u64 {
        (u128::from(span.as_nanos()) * u128::from(self.ticks) / 1_000_000_000) as u64
    }
}

impl Epoch {
    fn new(now: Time, last_w_max: u32, window: u32, acked: u32) -> Self {
        // A window above the last W_max is the new one, with K = 0.
        let below = u128::from(last_w_max.saturating_sub(window));
        let k = (below * SCALE / STEEPNESS) as f64;
        Self {
            start: now,
            w_max: last_w_max.max(window),
            k: math::cbrt(k) as u128,
            w_est: window,
            acked: u64::from(acked),
        }
    }

    /// Pace at which the window follows W_est; the maximum if W_est is not above the window.
    fn pace_of_w_est(&mut self, window: u32) -> u32 {
        let each = ((u64::from(window) * RENO_PACE) >> 3).max(1);
        // The kernel subtracts `each` while `acked` is larger, hence the 1.
        let more = self.acked.saturating_sub(1) / each;
        self.acked -= more * each;
        self.w_est = self.w_est.saturating_add(more as u32);
        match self.w_est.checked_sub(window) {
            Some(0) | None => u32::MAX,
            Some(ahead) => window / ahead,
        }
    }
}
