//! State of the flows at a router, and the shaping rate derived from it.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use super::data_queues::{Backlog, DataQueues};

/// Weight of a new value in a mean.
const GAIN: f64 = 1.0 / 8.0;
/// Assumed size of an Interest before the first one, bytes (source).
const EXPECTED_INTEREST: f64 = 40.0;

/// A mean that begins with its first value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean(Option<f64>);

impl Mean {
    /// Takes a value in.
    pub(super) fn add(&mut self, value: f64) {
        self.0 = Some(self.0.map_or(value, |mean| mean + GAIN * (value - mean)));
    }
}

/// Measurements of Data of one flow at one upstream face.
#[derive(Clone, Copy, Debug, Default)]
struct Source {
    /// From Interest to Data, seconds.
    delay: Mean,
    /// Bytes of a Data.
    size: Mean,
    seen_at: Time,
}

/// Constants of the shaping rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapingRule {
    /// h, per response delay.
    pub design: f64,
    /// Target length of the Data queue (B), packets.
    pub target: f64,
}

impl ShapingRule {
    /// The shaping rate of a flow, Interests per second, not above zero for none: mu + h (B share - e_f) / A. The
    /// downstream link carries `line` Data per second; `delay` is the response delay, seconds.
    pub(super) fn rate(self, line: f64, backlog: Backlog, delay: f64) -> f64 {
        let (own, total) = (f64::from(backlog.own), f64::from(backlog.total));
        // A flow without a queue gets the whole target: e_f / e is undefined or 0, and 0 would keep it from
        // ever building one (source).
        let share = if backlog.own == 0 || backlog.total == 0 { 1.0 } else { own / total };
        line + self.design * (self.target * share - own) / delay.max(1e-9)
    }
}

/// State that the roles of one node share.
#[derive(Debug)]
pub(super) struct Flows {
    rule: ShapingRule,
    memory: Span,
    pub(super) queues: DataQueues,
    sources: BTreeMap<(FlowKey, FaceId), Source>,
    interest_sizes: BTreeMap<FaceId, Mean>,
    swept_at: Time,
}

impl Flows {
    pub(super) fn new(rule: ShapingRule, memory: Span) -> Self {
        Self {
            rule,
            memory,
            queues: DataQueues::new(memory),
            sources: BTreeMap::new(),
            interest_sizes: BTreeMap::new(),
            swept_at: Time::ZERO,
        }
    }

    /// Records that an Interest of `size` bytes is about to leave through `upstream`.
    pub(super) fn see_interest(&mut self, upstream: FaceId, size: f64) {
        self.interest_sizes.entry(upstream).or_default().add(size);
    }

    /// Records Data of `size` bytes that arrived through `upstream`, `delay` after its Interest.
    pub(super) fn see_data(&mut self, flow: FlowKey, upstream: FaceId, size: f64, delay: Option<Span>, now: Time) {
        let source = self.sources.entry((flow, upstream)).or_default();
        source.seen_at = now;
        source.size.add(size);
        if let Some(delay) = delay {
            source.delay.add(delay.as_secs_f64());
        }
        if now.since(self.swept_at) >= self.memory {
            self.swept_at = now;
            self.sources.retain(|_, source| now.since(source.seen_at) < self.memory);
        }
    }

    /// Interests per second that the link of `upstream` carries.
    pub(super) fn capacity(&self, cx: &Context<'_>, upstream: FaceId) -> f64 {
        per_second(cx.face(upstream).rate(), self.interest_size(upstream))
    }

    /// The downstream face with the lowest rate for `flow`, and that rate, Interests per second; `None` without a
    /// face in recent use.
    pub(super) fn slowest(&self, cx: &Context<'_>, flow: FlowKey, upstream: FaceId) -> Option<(FaceId, f64)> {
        let faces = self.queues.downstreams(flow, cx.now).filter(|face| *face != upstream);
        let rates = faces.map(|face| (face, self.rate(cx, flow, upstream, face)));
        rates.min_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// Rate for one consumer of `flow` behind `downstream`, Interests per second.
    pub(super) fn fair_rate(&self, cx: &Context<'_>, flow: FlowKey, downstream: FaceId, size: f64) -> f64 {
        let sources = self.sources.range((flow, FaceId(0))..=(flow, FaceId(u16::MAX)));
        // The flow may use several upstream faces; this Data most likely came through the latest.
        let last = sources.max_by_key(|(_, source)| source.seen_at);
        let rate = match last {
            Some(((_, upstream), _)) => {
                self.rate(cx, flow, *upstream, downstream).min(self.capacity(cx, *upstream))
            }
            // No upstream was measured, as for Data from the content store: only the downstream link limits
            // it.
            None => per_second(cx.face(downstream).rate(), size),
        };
        rate.max(0.0) / self.queues.flows(downstream)
    }

    fn rate(&self, cx: &Context<'_>, flow: FlowKey, upstream: FaceId, downstream: FaceId) -> f64 {
        let source = self.sources.get(&(flow, upstream)).copied().unwrap_or_default();
        let link = cx.face(downstream).rate();
        match (source.delay.0, source.size.0) {
            (Some(delay), Some(size)) => {
                self.rule.rate(per_second(link, size), self.queues.backlog(downstream, flow), delay)
            }
            // Before the first Data its size and delay are unknown, so only the link limits the Interests
            // (source).
            _ => per_second(link, self.interest_size(upstream)),
        }
    }

    fn interest_size(&self, upstream: FaceId) -> f64 {
        self.interest_sizes.get(&upstream).and_then(|mean| mean.0).unwrap_or(EXPECTED_INTEREST)
    }
}

/// Packets of `size` bytes that go at `rate`, per second.
fn per_second(rate: BitRate, size: f64) -> f64 {
    rate.as_bps() as f64 / (8.0 * size.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_the_links_plus_a_tenth_of_what_the_queue_lacks_per_response_delay() {
        let rule = ShapingRule { design: 0.1, target: 50.0 };
        let rate = |own, total| rule.rate(1_000.0, Backlog { own, total }, 0.05);
        // 1000 + 0.1 (50 share - own) / 0.05.
        for (own, total, by_hand) in [
            (0, 0, 1_100.0),
            (0, 30, 1_100.0),
            (50, 50, 1_000.0),
            (20, 40, 1_010.0),
            (20, 50, 1_000.0),
            (100, 100, 900.0),
            (600, 600, -100.0),
        ] {
            assert!((rate(own, total) - by_hand).abs() < 1e-9, "{own} of {total}: {}", rate(own, total));
        }
    }

    #[test]
    fn a_mean_begins_with_its_first_value_and_moves_by_an_eighth() {
        let mut mean = Mean::default();
        [80.0, 160.0].into_iter().for_each(|value| mean.add(value));
        assert_eq!(mean.0, Some(90.0));
    }
}
