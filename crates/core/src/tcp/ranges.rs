//! A set of integers stored as ranges: bytes received out of order, segments acknowledged selectively.

use std::collections::VecDeque;
use std::ops::Range;

/// Ranges that neither overlap nor touch. New ones come mostly at the end, and go at the front.
#[derive(Clone, Debug, Default)]
pub(super) struct RangeSet {
    /// First number and the number after the last, in order.
    ranges: VecDeque<(u64, u64)>,
}

impl RangeSet {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds `new` and passes each part that was missing to `fresh`, in order; returns the range that now contains it.
    pub(super) fn insert(&mut self, new: Range<u64>, mut fresh: impl FnMut(Range<u64>)) -> Range<u64> {
        if new.is_empty() {
            return new;
        }
        // A range that ends exactly where `new` starts is included, so that ranges that touch become one.
        let from = self.first_not_before(new.start);
        let (mut to, mut known, mut joined) = (from, new.start, new.clone());
        while let Some((start, end)) = self.ranges.get(to).copied().filter(|(start, _)| *start <= new.end) {
            if start > known {
                fresh(known..start);
            }
            known = known.max(end);
            joined = joined.start.min(start)..joined.end.max(end);
            to += 1;
        }
        if known < new.end {
            fresh(known..new.end);
        }
        if from == to {
            self.ranges.insert(from, (joined.start, joined.end));
        } else {
            self.ranges[from] = (joined.start, joined.end);
            if to > from + 1 {
                self.ranges.drain(from + 1..to);
            }
        }
        joined
    }

    /// Place of the first range that `start` does not lie beyond: mostly the last one, or none.
    fn first_not_before(&self, start: u64) -> usize {
        let ends_before = |place: usize| self.ranges.get(place).is_none_or(|(_, end)| *end < start);
        // Data mostly arrives behind everything that is stored: the last two ranges are tried before the
        // binary search.
        let last = self.ranges.len().saturating_sub(1);
        if ends_before(last) {
            self.ranges.len()
        } else if last == 0 || ends_before(last - 1) {
            last
        } else {
            self.ranges.partition_point(|(_, end)| *end < start)
        }
    }

    /// Removes every number below `limit`.
    pub(super) fn remove_below(&mut self, limit: u64) {
        while let Some((start, end)) = self.ranges.front_mut() {
            if *end > limit {
                *start = (*start).max(limit);
                return;
            }
            self.ranges.pop_front();
        }
    }

    /// The range that holds `number`.
    pub(super) fn around(&self, number: u64) -> Option<Range<u64>> {
        // Ends are exclusive: a range that ends at `number` does not hold it.
        let (start, end) = self.ranges.get(self.first_not_before(number + 1))?;
        (*start..*end).contains(&number).then_some(*start..*end)
    }

    /// All ranges, the highest first.
    pub(super) fn descending(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges.iter().rev().map(|(start, end)| *start..*end)
    }

    /// Returns the range with the lowest start.
    pub(super) fn first(&self) -> Option<Range<u64>> {
        self.ranges.front().map(|(start, end)| *start..*end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Seed};
    use std::collections::BTreeSet;

    type Ends = Vec<(u64, u64)>;

    fn ends(ranges: impl Iterator<Item = Range<u64>>) -> Ends {
        ranges.map(|range| (range.start, range.end)).collect()
    }

    fn inserted(set: &mut RangeSet, new: Range<u64>) -> Ends {
        let mut parts = Vec::new();
        set.insert(new, |part| parts.push(part));
        ends(parts.into_iter())
    }

    #[test]
    fn only_what_was_not_there_is_reported_and_neighbours_join() {
        let mut set = RangeSet::default();
        assert_eq!(inserted(&mut set, 10..20), [(10, 20)]);
        assert_eq!(inserted(&mut set, 30..40), [(30, 40)]);
        assert_eq!(inserted(&mut set, 15..35), [(20, 30)]);
        assert_eq!(ends(set.descending()), [(10, 40)]);
        assert_eq!(inserted(&mut set, 40..41), [(40, 41)]);
        assert_eq!(inserted(&mut set, 12..13), []);
        assert_eq!((set.first(), set.around(41), set.around(40)), (Some(10..41), None, Some(10..41)));
        assert_eq!(set.insert(35..43, |_| {}), 10..43);
        set.remove_below(39);
        assert_eq!(set.first(), Some(39..43));
    }

    #[test]
    fn it_holds_the_same_numbers_as_a_plain_set() {
        let mut rng = Rng::stream(Seed(8), "ranges");
        let (mut set, mut plain) = (RangeSet::default(), BTreeSet::new());
        for _ in 0..3000 {
            let start = u64::from(rng.below(120));
            let new = start..start + u64::from(rng.below(9));
            let reported: Vec<u64> =
                inserted(&mut set, new.clone()).into_iter().flat_map(|(from, to)| from..to).collect();
            let expected: Vec<u64> = new.filter(|number| plain.insert(*number)).collect();
            assert_eq!(reported, expected);
            if rng.below(40) == 0 {
                let limit = u64::from(rng.below(120));
                set.remove_below(limit);
                plain = plain.split_off(&limit);
            }
            let mut held: Vec<u64> = set.descending().flatten().collect();
            held.sort_unstable();
            assert_eq!(held, plain.iter().copied().collect::<Vec<_>>());
        }
    }
}
