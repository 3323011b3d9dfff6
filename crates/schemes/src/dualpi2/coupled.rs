//! The PI controller of the classic queue, and the two probabilities that follow from its base probability p'.

use tidegate_core::prelude::*;

use super::Params;

/// p', k·p' and p'² (RFC 9332, section 2.1 and appendix A.1).
#[derive(Debug)]
pub(super) struct Coupled {
    target: Span,
    update: Span,
    alpha: f64,
    beta: f64,
    coupling: f64,
    /// Base probability p' of RFC 9332, 0..=1.
    base: f64,
    /// Waiting time of the first classic packet at the last update.
    waited: Span,
    next_update: Time,
}

impl Coupled {
    pub(super) fn new(params: &Params) -> Self {
        let Params { target, update, alpha, beta, coupling, .. } = *params;
        let next_update = Time::ZERO + update;
        Self { target, update, alpha, beta, coupling, base: 0.0, waited: Span::ZERO, next_update }
    }

    /// A controller that stays at `base`.
    #[cfg(test)]
    pub(super) fn fixed(params: &Params, base: f64) -> Self {
        Self { alpha: 0.0, beta: 0.0, base, ..Self::new(params) }
    }

    /// Likelihood that a low-latency packet is marked, p_CL = k·p'; above 1 when marks do not suffice.
    pub(super) fn low_latency(&self) -> f64 {
        self.coupling * self.base
    }

    /// Likelihood that a classic packet is dropped or marked, p_C = p'².
    pub(super) fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// Base probability p' of RFC 9332, 0..=1.
    #[cfg(test)]
    pub(super) fn base(&self) -> f64 {
        self.base
    }

    /// Makes the updates that are due by `now`; `head` is the arrival time of the first classic packet for all of
    /// them.
    pub(super) fn catch_up(&mut self, now: Time, head: Option<Time>) {
        while self.next_update <= now {
            let waited = head.map_or(Span::ZERO, |since| self.next_update.since(since));
            if head.is_none() && self.base == 0.0 && self.waited == Span::ZERO {
                // With an empty queue and p' = 0 every update is without effect, so an idle time of any
                // length is skipped at once.
                let left = now.since(self.next_update).as_nanos() / self.update.as_nanos();
                self.next_update += self.update * (left + 1);
                return;
            }
            self.step(waited);
            self.next_update += self.update;
        }
    }

    fn step(&mut self, waited: Span) {
        let above = waited.as_secs_f64() - self.target.as_secs_f64();
        let grown = waited.as_secs_f64() - self.waited.as_secs_f64();
        // Clamped when stored: beyond 0 or 1 the integral would delay the reaction to the next change of the
        // delay.
        self.base = (self.base + self.alpha * above + self.beta * grown).clamp(0.0, 1.0);
        self.waited = waited;
    }
}

/// Evenly spaced signals with a given likelihood: `recur` of the pseudocode.
#[derive(Debug, Default)]
pub(super) struct Recurrence {
    count: f64,
}

impl Recurrence {
    /// Whether this packet is signalled.
    pub(super) fn is_due(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let is_due = self.count >= 1.0;
        if is_due {
            self.count -= 1.0;
        }
        is_due
    }
}
