//! Longest period in which the throughput of a flow was far below its median.

use tidegate_core::units::{Span, Time};

use super::{EventSummary, FlowSummary, PacketFate};

/// Minimum mean number of segments per bin, below which a bin could appear slow by chance.
const MIN_PER_BIN: u64 = 10;

/// A period during which a flow was below half of its median throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Start of the period.
    pub from: Time,
    /// End of the period.
    pub to: Time,
}

impl FlowSummary {
    /// The longest period between `start` and `end` below half of the median of arrivals per bin; bins are
    /// joined until they have `MIN_PER_BIN` segments on average. The time before the flow first reached half
    /// is its start and does not count. `None` if every later bin reaches half, if the median is 0, or with
    /// fewer than eight bins.
    pub fn longest_stall(&self, bin_nanos: u64, start: Time, end: Time) -> Option<Stall> {
        let bin_nanos = bin_nanos.max(1);
        let first = (start.as_nanos() / bin_nanos) as usize;
        let last = ((end.as_nanos() / bin_nanos) as usize).min(self.arrivals.len());
        let within = self.arrivals.get(first..last)?;
        let sum: u64 = within.iter().map(|count| u64::from(*count)).sum();
        // At the mean rate, this number of bins has `MIN_PER_BIN` segments.
        let joined = (MIN_PER_BIN * within.len() as u64).div_ceil(sum.max(1)).max(1) as usize;
        let bins: Vec<u64> = within
            .chunks_exact(joined)
            .map(|bins| bins.iter().map(|count| u64::from(*count)).sum())
            .collect();
        // The median of fewer bins is not a stable reference.
        if bins.len() < 8 {
            return None;
        }
        let mut sorted = bins.clone();
        sorted.sort_unstable();
        let median = sorted[sorted.len() / 2];
        let is_slow = |count: u64| 2 * count < median;
        // Slow start is not a stall.
        let begun = bins.iter().position(|count| !is_slow(*count))?;
        let (begin, length) = longest(&bins[begun..], is_slow)?;
        let at = |bin: usize| Time::from_nanos((first + (begun + bin) * joined) as u64 * bin_nanos);
        Some(Stall { from: at(begin), to: at(begin + length) })
    }
}

/// Start and length of the longest run of values for which `is_in` holds; of equal ones the first.
fn longest(values: &[u64], is_in: impl Fn(u64) -> bool) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    let mut begin = None;
    // One place more than there are values ends a run at the end.
    for place in 0..=values.len() {
        let holds = values.get(place).is_some_and(|value| is_in(*value));
        match (begin, holds) {
            (None, true) => begin = Some(place),
            (Some(from), false) => {
                if best.is_none_or(|(_, length)| place - from > length) {
                    best = Some((from, place - from));
                }
                begin = None;
            }
            _ => {}
        }
    }
    best
}

impl EventSummary {
    /// Link direction and fate with the maximum number of drops or losses in a period, and this number.
    pub fn worst_within(&self, stall: Stall) -> Option<(u32, PacketFate, u64)> {
        let bins = self.bin_of(stall.from)..=self.bin_of(stall.to);
        let mut counts = std::collections::BTreeMap::<(u32, PacketFate), u64>::new();
        for (direction, bin, rule, count) in &self.incidents {
            if bins.contains(bin) && matches!(rule.fate, PacketFate::Drop | PacketFate::WireLoss) {
                *counts.entry((*direction, rule.fate)).or_default() += u64::from(*count);
            }
        }
        // `max_by_key` returns the last of equal values: in reverse order that is the first direction.
        let worst = counts.into_iter().rev().max_by_key(|(_, count)| *count);
        worst.map(|((direction, fate), count)| (direction, fate, count))
    }

    /// Segments per second that `flow` received just before and just after an instant, each over 1 s, or a
    /// tenth of the time from `start` to `end` if that is shorter. `None` if either end is nearer than five
    /// bins.
    pub fn rates_around(&self, flow: &FlowSummary, at: Time, start: Time, end: Time) -> Option<[f64; 2]> {
        let around = Span::from_secs(1).min(end.since(start) / 10);
        let bins = (around.as_nanos() / self.bin.as_nanos().max(1)).max(5) as usize;
        let middle = usize::from(self.bin_of(at));
        let (first, last) = (middle.checked_sub(bins)?, middle + 1 + bins);
        if first < usize::from(self.bin_of(start)) || last > usize::from(self.bin_of(end)) + 1 {
            return None;
        }
        let rate = |bins: &[u32]| {
            let segments: u64 = bins.iter().map(|count| u64::from(*count)).sum();
            segments as f64 / (bins.len() as f64 * self.bin.as_secs_f64())
        };
        // The bin of the instant itself has arrivals from before and after it.
        Some([rate(flow.arrivals.get(first..middle)?), rate(flow.arrivals.get(middle + 1..last)?)])
    }

    /// The bin of an instant.
    pub(crate) fn bin_of(&self, at: Time) -> u16 {
        (at.as_nanos() / self.bin.as_nanos().max(1)).min(super::BINS - 1) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn flow(arrivals: Vec<u32>) -> FlowSummary {
        FlowSummary { arrivals, ..FlowSummary::default() }
    }

    fn at(seconds: u64) -> Time {
        Time::from_nanos(seconds * SECOND)
    }

    #[test]
    fn the_longest_time_below_half_the_median_is_found_after_the_start() {
        let mut arrivals = vec![0; 10];
        arrivals.extend([100; 20]);
        arrivals.extend([49, 40, 30]);
        arrivals.extend([100; 20]);
        arrivals.extend([10]);
        arrivals.extend([100; 6]);
        for start in [0, 10] {
            let stall = flow(arrivals.clone()).longest_stall(SECOND, at(start), at(60));
            assert_eq!(stall, Some(Stall { from: at(30), to: at(33) }));
        }
    }

    #[test]
    fn rates_before_and_after_an_instant_leave_out_its_own_bin_and_the_edges() {
        let mut arrivals = vec![10; 300];
        arrivals.push(999);
        arrivals.extend([4; 299]);
        let summary = EventSummary { bin: Span::from_millis(100), ..EventSummary::default() };
        let around = |millis: u64| {
            let instant = Time::from_nanos(millis * 1_000_000);
            summary.rates_around(&flow(arrivals.clone()), instant, at(0), at(60))
        };
        assert_eq!(around(30_050), Some([100.0, 40.0]));
        assert_eq!((around(500), around(59_800)), (None, None));
    }

    #[test]
    fn a_steady_flow_an_idle_flow_and_a_flow_of_few_segments_have_no_slow_spell() {
        assert_eq!(flow(vec![20; 60]).longest_stall(SECOND, at(0), at(60)), None);
        assert_eq!(flow(vec![0; 60]).longest_stall(SECOND, at(0), at(60)), None);
        let mut few = vec![0; 60];
        few[3] = 4;
        assert_eq!(flow(few).longest_stall(SECOND, at(0), at(60)), None);
        let mut bursts = vec![0; 60];
        bursts[10..20].fill(50);
        assert_eq!(flow(bursts).longest_stall(SECOND, at(0), at(60)), None);
    }

    #[test]
    fn of_equally_long_slow_times_the_first_counts() {
        let mut arrivals = vec![100; 60];
        arrivals[10..13].fill(10);
        arrivals[30..33].fill(10);
        let stall = flow(arrivals).longest_stall(SECOND, at(0), at(60));
        assert_eq!(stall, Some(Stall { from: at(10), to: at(13) }));
    }

    #[test]
    fn the_worst_of_a_time_is_where_most_was_dropped_or_lost_then() {
        let rule = |fate, cause| super::super::IncidentCause { fate, cause };
        let incidents = vec![
            (1, 6, rule(PacketFate::Mark, "codel"), 100),
            (2, 5, rule(PacketFate::Drop, "queue full"), 3),
            (2, 7, rule(PacketFate::Drop, "codel"), 4),
            (3, 90, rule(PacketFate::Drop, "queue full"), 50),
            (4, 6, rule(PacketFate::WireLoss, ""), 5),
        ];
        let summary = EventSummary { bin: Span::from_secs(1), incidents, ..EventSummary::default() };
        assert_eq!(summary.worst_within(Stall { from: at(5), to: at(8) }), Some((2, PacketFate::Drop, 7)));
        assert_eq!(
            summary.worst_within(Stall { from: at(6), to: at(6) }),
            Some((4, PacketFate::WireLoss, 5))
        );
        assert_eq!(summary.worst_within(Stall { from: at(20), to: at(30) }), None);
    }
}
