//! The longest time in which a flow got much less than it mostly did.

use tidegate_core::units::Time;

use super::{Digest, FlowDigest, Harm};

/// Segments that a bin should hold on average, so that chance does not make it look slow.
const LEAST_PER_BIN: u64 = 10;

/// A time during which a flow was below half its median throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spell {
    /// Its beginning.
    pub from: Time,
    /// Its end.
    pub to: Time,
}

impl FlowDigest {
    /// The longest time, between `start` and `end`, below half the median of what arrived per bin; bins are
    /// joined until they hold [`LEAST_PER_BIN`] segments on average. `None` when every bin reaches half, when
    /// the median is nothing, and when less than eight bins are left.
    pub fn slow_spell(&self, bin_nanos: u64, start: Time, end: Time) -> Option<Spell> {
        let bin_nanos = bin_nanos.max(1);
        let first = (start.as_nanos() / bin_nanos) as usize;
        let last = ((end.as_nanos() / bin_nanos) as usize).min(self.arrivals.len());
        let within = self.arrivals.get(first..last)?;
        let sum: u64 = within.iter().map(|count| u64::from(*count)).sum();
        let joined = (LEAST_PER_BIN * within.len() as u64).div_ceil(sum.max(1)).max(1) as usize;
        let bins: Vec<u64> = within
            .chunks_exact(joined)
            .map(|bins| bins.iter().map(|count| u64::from(*count)).sum())
            .collect();
        if bins.len() < 8 {
            return None;
        }
        let mut sorted = bins.clone();
        sorted.sort_unstable();
        let median = sorted[sorted.len() / 2];
        let (begin, length) = longest(&bins, |count| 2 * count < median)?;
        let at = |bin: usize| Time::from_nanos((first + bin * joined) as u64 * bin_nanos);
        Some(Spell { from: at(begin).max(start), to: at(begin + length) })
    }
}

/// Beginning and length of the longest row of values for which `is_in` holds; of equal ones the first.
fn longest(values: &[u64], is_in: impl Fn(u64) -> bool) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize)> = None;
    let mut begin = None;
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

impl Digest {
    /// The queue or wire with most drops and losses in a time, and their number.
    pub fn worst_within(&self, spell: Spell) -> Option<(u32, Harm, u64)> {
        let bins = self.bin_of(spell.from)..=self.bin_of(spell.to);
        let mut counts = std::collections::BTreeMap::<(u32, Harm), u64>::new();
        for (direction, bin, rule, count) in &self.troubles {
            if bins.contains(bin) && matches!(rule.harm, Harm::Drop | Harm::WireLoss) {
                *counts.entry((*direction, rule.harm)).or_default() += u64::from(*count);
            }
        }
        let worst = counts.into_iter().rev().max_by_key(|(_, count)| *count);
        worst.map(|((direction, harm), count)| (direction, harm, count))
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

    fn flow(arrivals: Vec<u32>) -> FlowDigest {
        FlowDigest { arrivals, ..FlowDigest::default() }
    }

    fn at(seconds: u64) -> Time {
        Time::from_nanos(seconds * SECOND)
    }

    #[test]
    fn the_longest_time_below_half_the_median_is_found_and_the_time_before_the_start_is_not_counted() {
        let mut arrivals = vec![0; 10];
        arrivals.extend([100; 20]);
        arrivals.extend([49, 40, 30]);
        arrivals.extend([100; 20]);
        arrivals.extend([10]);
        arrivals.extend([100; 6]);
        let spell = flow(arrivals.clone()).slow_spell(SECOND, at(10), at(60));
        assert_eq!(spell, Some(Spell { from: at(30), to: at(33) }));
        let spell = flow(arrivals).slow_spell(SECOND, at(0), at(60));
        assert_eq!(spell, Some(Spell { from: at(0), to: at(10) }));
    }

    #[test]
    fn a_steady_flow_an_idle_flow_and_a_flow_of_few_segments_have_no_slow_spell() {
        assert_eq!(flow(vec![20; 60]).slow_spell(SECOND, at(0), at(60)), None);
        assert_eq!(flow(vec![0; 60]).slow_spell(SECOND, at(0), at(60)), None);
        let mut few = vec![0; 60];
        few[3] = 4;
        assert_eq!(flow(few).slow_spell(SECOND, at(0), at(60)), None);
        let mut bursts = vec![0; 60];
        bursts[10..20].fill(50);
        assert_eq!(flow(bursts).slow_spell(SECOND, at(0), at(60)), None);
    }
}
