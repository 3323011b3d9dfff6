//! Removal of prefixes that are no longer used, at once or in steps.
//!
//! A sweep first marks what is used, with everything above it; what is interned while it lasts counts as used. Its steps then
//! remove the other prefixes, each after those under it. Their numbers are given out again only after the last step, so that
//! caches by number stay correct until then.

use super::{Link, NameTable, PrefixId};

/// Number of prefixes below which a sweep is not worth its time.
const FEW: usize = 1 << 16;

/// State of the sweeps of one table.
#[derive(Debug)]
pub(super) struct SweepState {
    /// Number of the present or last sweep; prefixes have that of the last one in which they were used.
    number: u32,
    /// Next prefix to examine; `None` between two sweeps.
    next: Option<u32>,
    /// Number of prefixes when it began; later ones are in use.
    end: u32,
    /// Prefixes that this sweep has removed.
    removed: Vec<PrefixId>,
    /// Number of prefixes from which the next sweep is worth its time.
    due_at: usize,
}

impl Default for SweepState {
    fn default() -> Self {
        Self { number: 0, next: None, end: 0, removed: Vec::new(), due_at: FEW }
    }
}

impl SweepState {
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Number of prefixes that are removed, and whose numbers are not free yet.
    pub(super) fn removed(&self) -> usize {
        self.removed.len()
    }
}

impl NameTable {
    /// Whether enough prefixes were interned since the last sweep to make another one worthwhile; `false` while one lasts.
    #[inline]
    pub fn needs_sweep(&self) -> bool {
        self.len() >= self.sweep.due_at && !self.is_sweeping()
    }

    /// Whether a sweep has begun and has not ended.
    #[inline]
    pub fn is_sweeping(&self) -> bool {
        self.sweep.next.is_some()
    }

    /// Removes every prefix that is neither in `used` nor above one that is. Numbers of removed prefixes are
    /// given out again, so `used` must list every prefix that is still held anywhere.
    pub fn sweep(&mut self, used: impl Iterator<Item = PrefixId>) {
        self.begin_sweep(used);
        while !self.sweep_step(usize::MAX) {}
    }

    /// Begins a sweep, as [`sweep`](Self::sweep), whose work is done by [`sweep_step`](Self::sweep_step). One that lasts is
    /// begun anew.
    pub fn begin_sweep(&mut self, used: impl Iterator<Item = PrefixId>) {
        self.give_numbers_back();
        self.sweep.number = self.sweep.number.wrapping_add(1);
        (self.sweep.next, self.sweep.end) = (Some(0), self.prefixes.len() as u32);
        self.mark(Self::ROOT);
        used.for_each(|prefix| self.mark(prefix));
    }

    /// Examines the next `count` prefixes; true if the sweep has ended. The numbers of removed prefixes are given out again from
    /// then on.
    pub fn sweep_step(&mut self, count: usize) -> bool {
        let Some(first) = self.sweep.next else { return true };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let end = first.saturating_add(count).min(self.sweep.end);
        (first..end).for_each(|number| self.remove_unused(PrefixId(number)));
        if end < self.sweep.end {
            self.sweep.next = Some(end);
            return false;
        }
        self.sweep.next = None;
        self.give_numbers_back();
        // A sweep per doubling costs amortised constant time per interned prefix.
        self.sweep.due_at = (self.len() * 2).max(FEW);
        true
    }

    fn give_numbers_back(&mut self) {
        let mut removed = std::mem::take(&mut self.sweep.removed);
        self.free.append(&mut removed);
    }

    /// A prefix that is interned while a sweep lasts is used.
    #[inline]
    pub(super) fn note_use(&mut self, prefix: PrefixId) {
        if self.is_sweeping() {
            self.mark(prefix);
        }
    }

    /// Marks a prefix as used, and all above it.
    fn mark(&mut self, prefix: PrefixId) {
        let number = self.sweep.number;
        let mut next = Some(prefix);
        while let Some(prefix) = next {
            let entry = &mut self.prefixes[prefix.0 as usize];
            // All above one that is marked are marked, too.
            if std::mem::replace(&mut entry.used_in, number) == number {
                break;
            }
            next = entry.parent.get();
        }
    }

    /// Removes a prefix if it is not used and nothing is under it, then those above it for which the same holds.
    fn remove_unused(&mut self, prefix: PrefixId) {
        let mut next = Some(prefix);
        while let Some(prefix) = next {
            let entry = self.at(prefix);
            let parent = entry.parent.get();
            // Only the root and numbers without a prefix have no parent.
            if entry.used_in == self.sweep.number || entry.first_child != Link::NONE || parent.is_none() {
                break;
            }
            self.remove(prefix);
            self.sweep.removed.push(prefix);
            next = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::name::Name;
    use crate::rng::{Rng, Seed};

    fn uri(rng: &mut Rng) -> String {
        let depth = 1 + rng.below(4);
        (0..depth).map(|_| format!("/{}", rng.below(5))).collect()
    }

    #[test]
    fn what_is_used_or_interned_during_a_sweep_stays_and_the_rest_goes() {
        for seed in 0..200 {
            let mut rng = Rng::stream(Seed(seed), "sweep");
            let mut names = NameTable::new();
            let intern = |names: &mut NameTable, rng: &mut Rng| {
                let uri = uri(rng);
                (names.intern_uri(&uri).expect("valid"), uri)
            };
            let mut kept: Vec<(PrefixId, String)> = Vec::new();
            for _ in 0..5 {
                let all: Vec<_> = (0..60).map(|_| intern(&mut names, &mut rng)).collect();
                kept.retain(|_| rng.chance(0.5));
                kept.extend(all.into_iter().filter(|_| rng.chance(0.2)));
                names.begin_sweep(kept.iter().map(|(prefix, _)| *prefix));
                while !names.sweep_step(1 + rng.below(9) as usize) {
                    if rng.chance(0.3) {
                        kept.push(intern(&mut names, &mut rng));
                    }
                }
                for (prefix, uri) in &kept {
                    assert_eq!(names.uri(Name::whole(*prefix)), *uri, "seed {seed}");
                    assert_eq!(names.intern_uri(uri).as_ref(), Ok(prefix), "seed {seed}");
                }
                let above = |prefix: &PrefixId| names.ancestors(*prefix).collect::<Vec<_>>();
                let mut expected: Vec<_> = kept.iter().flat_map(|(prefix, _)| above(prefix)).collect();
                expected.push(NameTable::ROOT);
                expected.sort();
                expected.dedup();
                let mut left: Vec<_> = names.descendants(NameTable::ROOT).collect();
                left.sort();
                assert_eq!((&left, names.len()), (&expected, expected.len()), "seed {seed}");
            }
        }
    }

    #[test]
    fn names_of_packets_in_use_stay_while_others_branch_from_them_during_a_sweep() {
        for seed in 0..200 {
            let mut rng = Rng::stream(Seed(seed), "branches");
            let mut names = NameTable::new();
            let intern = |names: &mut NameTable, rng: &mut Rng| {
                let components: Vec<u8> =
                    (0..rng.below(9)).flat_map(|_| [8, 1, rng.below(2) as u8]).collect();
                (names.intern_prefix(&components).expect("valid"), components)
            };
            let mut kept: Vec<(PrefixId, Vec<u8>)> = Vec::new();
            for _ in 0..9 {
                let all: Vec<_> = (0..40).map(|_| intern(&mut names, &mut rng)).collect();
                kept.retain(|_| rng.chance(0.3));
                kept.extend(all.into_iter().filter(|_| rng.chance(0.1)));
                names.begin_sweep(kept.iter().map(|(prefix, _)| *prefix));
                while !names.sweep_step(1 + rng.below(9) as usize) {
                    if rng.chance(0.5) {
                        kept.push(intern(&mut names, &mut rng));
                    }
                }
                assert_eq!(names.descendants(NameTable::ROOT).count(), names.len(), "seed {seed}");
                for (prefix, components) in &kept {
                    assert_eq!(names.components(*prefix), *components, "seed {seed}");
                    assert_eq!(names.intern_prefix(components).as_ref(), Ok(prefix), "seed {seed}");
                }
            }
            names.sweep(std::iter::empty());
            assert_eq!(names.len(), 1, "seed {seed}");
        }
    }

    #[test]
    fn a_number_is_given_out_again_after_the_last_step_only() {
        let mut names = NameTable::new();
        let gone = names.intern_uri("/a").expect("valid");
        for number in 0..9 {
            names.intern_uri(&format!("/{number}")).expect("valid");
        }
        names.begin_sweep(std::iter::empty());
        assert!(!names.sweep_step(2));
        let during = names.intern_uri("/b").expect("valid");
        assert_ne!(during, gone);
        assert!(names.sweep_step(100) && names.sweep_step(100));
        let after: Vec<_> = (0..10).map(|at| names.intern_uri(&format!("/x{at}")).expect("valid")).collect();
        assert!(after.contains(&gone));
    }

    #[test]
    fn a_step_examines_no_more_than_its_count_and_removes_no_more_than_a_name_for_each() {
        let mut names = NameTable::new();
        for number in 0..1_000 {
            names.intern_uri(&format!("/a/b/c/{number}")).expect("valid");
        }
        names.begin_sweep(std::iter::empty());
        let mut before = names.len();
        while !names.sweep_step(10) {
            assert!(before - names.len() <= 10 + 3);
            before = names.len();
        }
        assert_eq!(names.len(), 1);
    }
}
