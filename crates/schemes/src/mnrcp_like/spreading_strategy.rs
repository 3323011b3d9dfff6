//! The strategy: Interests are split over next hops in proportion to their reported rates, and the sum of these is
//! reported downstream.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

/// The strategy of one node.
#[derive(Debug)]
pub(super) struct SpreadingStrategy {
    memory: Span,
    prefixes: BTreeMap<PrefixId, BTreeMap<FaceId, NextHopShare>>,
    swept_at: Time,
    /// Buffer that is reused to avoid allocations.
    usable: Vec<FaceId>,
}

/// A next hop of one prefix.
#[derive(Clone, Copy, Debug, Default)]
struct NextHopShare {
    /// Last report, thousandths of an Interest per second.
    rate: Option<u32>,
    received_at: Time,
    used_at: Time,
    /// Interests due to this next hop.
    credit: f64,
}

impl NextHopShare {
    /// Last report, if it is not older than `memory`.
    fn fresh(&self, now: Time, memory: Span) -> Option<u32> {
        self.rate.filter(|_| now.since(self.received_at) < memory)
    }
}

impl SpreadingStrategy {
    pub(super) fn new(memory: Span) -> Self {
        Self { memory, prefixes: BTreeMap::new(), swept_at: Time::ZERO, usable: Vec::new() }
    }

    fn path(&mut self, prefix: PrefixId, face: FaceId) -> &mut NextHopShare {
        self.prefixes.entry(prefix).or_default().entry(face).or_default()
    }

    fn receive(&mut self, now: Time, prefix: PrefixId, face: FaceId, rate: u32) {
        let path = self.path(prefix, face);
        (path.rate, path.received_at) = (Some(rate), now);
    }

    /// Weights of the usable faces: their reports, and the mean of the reports for faces without one.
    fn weights(&self, now: Time, prefix: PrefixId) -> Vec<f64> {
        let paths = self.prefixes.get(&prefix);
        let rate = |face: &FaceId| paths?.get(face)?.fresh(now, self.memory).map(f64::from);
        let rates: Vec<Option<f64>> = self.usable.iter().map(rate).collect();
        let known = rates.iter().flatten().count();
        let sum: f64 = rates.iter().flatten().sum();
        // All reports are 0 or missing: equal weights keep Interests going, which bring the next reports.
        if sum == 0.0 {
            return vec![1.0; rates.len()];
        }
        rates.into_iter().map(|rate| rate.unwrap_or(sum / known as f64)).collect()
    }

    /// Chooses the usable face with the highest credit, the cheapest among equals.
    fn choose(&mut self, now: Time, prefix: PrefixId) -> Option<FaceId> {
        let weights = self.weights(now, prefix);
        let total: f64 = weights.iter().sum();
        // Taken out for the loop, which needs `self` as a whole; put back to keep its allocation.
        let usable = std::mem::take(&mut self.usable);
        let mut best: Option<(FaceId, f64)> = None;
        for (face, weight) in usable.iter().zip(weights) {
            let path = self.path(prefix, *face);
            // Capped, so that a face that was not chosen for long cannot take a burst afterwards.
            path.credit = (path.credit + weight / total).min(1.0);
            path.used_at = now;
            if best.is_none_or(|(_, max)| path.credit > max) {
                best = Some((*face, path.credit));
            }
        }
        self.usable = usable;
        let (face, _) = best?;
        self.path(prefix, face).credit -= 1.0;
        Some(face)
    }

    fn sweep(&mut self, now: Time) {
        if now.since(self.swept_at) < self.memory {
            return;
        }
        self.swept_at = now;
        let memory = self.memory;
        self.prefixes.retain(|_, paths| {
            paths.retain(|_, path| now.since(path.used_at.max(path.received_at)) < memory);
            !paths.is_empty()
        });
    }

    /// Sum of the reports of all next hops of the prefix, thousandths of an Interest per second.
    fn sum(&self, now: Time, prefix: PrefixId) -> u32 {
        let paths = self.prefixes.get(&prefix).into_iter().flat_map(BTreeMap::values);
        paths.filter_map(|path| path.fresh(now, self.memory)).fold(0, u32::saturating_add)
    }
}

impl Strategy for SpreadingStrategy {
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        let is_pending = arrival.entry.out_records().next().is_some();
        // Another downstream requests the same name: the pending Interest will bring the Data for both.
        if is_pending && !arrival.is_repeated {
            return Decision::Suppress;
        }
        self.sweep(cx.now);
        self.usable.clear();
        self.usable.extend(arrival.usable(cx));
        match self.choose(cx.now, arrival.interest.name.prefix) {
            Some(face) => {
                arrival.targets.push(Target { face, fresh_nonce: is_pending });
                Decision::Forward
            }
            None if is_pending => Decision::Suppress,
            None => Decision::Nack(NackReason::NoRoute),
        }
    }

    fn on_data(&mut self, cx: &mut Context<'_>, data: &mut Header, from: FaceId, _: PitId, entry: &PitEntry) {
        let prefix = entry.name().prefix;
        if let Some(rate) = data.hop.get(Signal::STAMPING_RATE) {
            self.receive(cx.now, prefix, from, rate);
            // The sum may be larger than the rate on the packet, of which the minimum would stay.
            data.hop.set(Signal::STAMPING_RATE, self.sum(cx.now, prefix));
        }
    }

    /// Halves the reported rate of the refusing next hop until its next report.
    fn on_nack(
        &mut self,
        cx: &mut Context<'_>,
        reason: NackReason,
        from: FaceId,
        _: PitId,
        entry: &PitEntry,
    ) -> NackDecision {
        let path = self.path(entry.name().prefix, from);
        if let (NackReason::Congestion, Some(rate)) = (reason, path.rate) {
            (path.rate, path.received_at) = (Some(rate / 2), cx.now);
        }
        entry.nack_decision()
    }

    /// A next hop that did not answer has the weight 0 until it answers or its report expires.
    fn on_expiry(&mut self, cx: &mut Context<'_>, _: PitId, entry: &PitEntry) {
        for record in entry.out_records() {
            self.receive(cx.now, entry.name().prefix, record.face, 0);
        }
    }

    /// Tries the other next hop with the highest credit.
    fn on_rejected(&mut self, cx: &mut Context<'_>, face: FaceId, arrival: &mut Arrival<'_>) -> Decision {
        self.usable.clear();
        self.usable.extend(arrival.usable(cx).filter(|usable| *usable != face));
        match self.choose(cx.now, arrival.interest.name.prefix) {
            Some(other) => {
                arrival.forward(other);
                Decision::Forward
            }
            None => Decision::Nack(NackReason::Congestion),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_testkit::gate_bench::micros;

    const PREFIX: PrefixId = PrefixId(1);
    const ONE: FaceId = FaceId(1);
    const OTHER: FaceId = FaceId(2);

    fn strategy() -> SpreadingStrategy {
        let mut strategy = SpreadingStrategy::new(Span::from_secs(1));
        strategy.usable = vec![ONE, OTHER];
        strategy
    }

    /// Number of 30 Interests at `at_us` that go to the first face.
    fn to_first(strategy: &mut SpreadingStrategy, at_us: u64) -> usize {
        (0..30).filter(|_| strategy.choose(micros(at_us), PREFIX) == Some(ONE)).count()
    }

    #[test]
    fn interests_go_in_proportion_to_reports_and_where_nothing_is_known_as_to_the_mean() {
        let mut strategy = strategy();
        assert_eq!(to_first(&mut strategy, 0), 15);
        strategy.receive(micros(0), PREFIX, ONE, 2_000);
        assert_eq!(to_first(&mut strategy, 0), 15);
        strategy.receive(micros(500_000), PREFIX, OTHER, 1_000);
        assert_eq!(to_first(&mut strategy, 500_000), 20);
        strategy.receive(micros(500_000), PREFIX, OTHER, 0);
        assert_eq!(to_first(&mut strategy, 500_000), 30);
        assert_eq!(to_first(&mut strategy, 1_000_000), 15, "the first report is forgotten");
    }

    #[test]
    fn fresh_reports_add_up() {
        let mut strategy = strategy();
        strategy.receive(micros(0), PREFIX, ONE, 2_000);
        strategy.receive(micros(500_000), PREFIX, OTHER, 1_000);
        assert_eq!(strategy.sum(micros(999_999), PREFIX), 3_000);
        assert_eq!(strategy.sum(micros(1_000_000), PREFIX), 1_000);
        strategy.receive(micros(1_000_000), PREFIX, ONE, u32::MAX);
        assert_eq!(strategy.sum(micros(1_000_000), PREFIX), u32::MAX);
    }

    #[test]
    fn next_hops_that_nobody_uses_are_forgotten() {
        let mut strategy = strategy();
        strategy.choose(micros(0), PREFIX);
        strategy.sweep(micros(2_000_000));
        assert!(strategy.prefixes.is_empty());
    }
}
