//! Shares of a prefix' Interests per next hop: they always sum to 1.
//!
//! Paper: PCON (Schneider et al. 2016) §3.4; `str-helper.hpp` and `mt-forwarding-info.hpp` of the authors' NFD.

use tidegate_core::ndn::fib::NextHop;
use tidegate_core::prelude::*;

choice! {
    /// Initial shares of the next hops of a prefix.
    pub enum InitialSplit {
        /// All Interests to the cheapest next hop.
        ShortestPath = "shortest-path",
        /// Equal shares for all next hops.
        Equal = "equal",
    }
}

/// Shares of one prefix, in the order of its next hops.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitRatios {
    shares: Vec<(FaceId, f64)>,
}

impl SplitRatios {
    /// The shares to begin with; `hops` come cheapest first.
    pub fn new(hops: &[NextHop], initial: InitialSplit) -> Self {
        let share = |place: usize| match initial {
            InitialSplit::ShortestPath => f64::from(u8::from(place == 0)),
            InitialSplit::Equal => 1.0 / hops.len() as f64,
        };
        Self { shares: hops.iter().enumerate().map(|(place, hop)| (hop.face, share(place))).collect() }
    }

    /// Applies a changed list of next hops: known faces retain their proportions, new ones begin with zero.
    #[inline]
    pub fn follow(&mut self, hops: &[NextHop]) {
        let is_same = self.shares.len() == hops.len()
            && self.shares.iter().zip(hops).all(|((face, _), hop)| *face == hop.face);
        if !is_same {
            self.rebuild(hops);
        }
    }

    #[cold]
    fn rebuild(&mut self, hops: &[NextHop]) {
        let shares = hops.iter().map(|hop| (hop.face, self.share(hop.face))).collect();
        self.shares = shares;
        self.normalise();
    }

    /// Fraction of the Interests that goes to `face`, 0..=1.
    pub fn share(&self, face: FaceId) -> f64 {
        self.shares.iter().find(|(known, _)| *known == face).map_or(0.0, |(_, share)| *share)
    }

    /// Faces and their shares, cheapest face first.
    pub fn shares(&self) -> &[(FaceId, f64)] {
        &self.shares
    }

    /// The face of `usable` on which `draw` (0..1, uniform) falls; among faces without any share the first.
    pub fn choose(&self, usable: &[FaceId], draw: f64) -> Option<FaceId> {
        let total: f64 = usable.iter().map(|face| self.share(*face)).sum();
        // Scaled by the sum over usable faces: shares of faces that are down, or lead back, fall to the
        // others in proportion.
        let mut left = draw * total;
        let chosen = usable.iter().find(|face| {
            left -= self.share(**face);
            left < 0.0
        });
        // Rounding may leave nothing for the last one.
        let last = usable.iter().rev().find(|face| self.share(**face) > 0.0);
        chosen.or(last).or(usable.first()).copied()
    }

    /// Takes `change`, at most its share, from `face` and adds an equal part of it to each other face.
    pub fn reduce(&mut self, face: FaceId, change: f64) {
        // With a single next hop the division below would be by zero, and there is no face to move a share
        // to.
        if self.shares.len() < 2 {
            return;
        }
        let others = (self.shares.len() - 1) as f64;
        let moved = change.clamp(0.0, self.share(face));
        for (known, share) in &mut self.shares {
            *share += if *known == face { -moved } else { moved / others };
        }
        self.normalise();
    }

    /// Moves `change` (at most what it has) from `from` to `to`, another next hop.
    pub fn shift(&mut self, from: FaceId, to: FaceId, change: f64) {
        let moved = change.clamp(0.0, self.share(from));
        if from == to || !self.shares.iter().any(|(face, _)| *face == to) {
            return;
        }
        for (face, share) in &mut self.shares {
            if *face == from {
                *share -= moved;
            } else if *face == to {
                *share += moved;
            }
        }
        self.normalise();
    }

    /// Moves `change` (at most what they have) from the other faces, in proportion to their shares, to `to`.
    pub fn gather(&mut self, to: FaceId, change: f64) {
        // In proportion, not in equal parts: a face with a small share could not give an equal part.
        let theirs: f64 = self.shares.iter().filter(|(face, _)| *face != to).map(|(_, share)| share).sum();
        let is_next_hop = self.shares.iter().any(|(face, _)| *face == to);
        if theirs <= 0.0 || !is_next_hop {
            return;
        }
        let moved = change.clamp(0.0, theirs);
        for (face, share) in &mut self.shares {
            *share += if *face == to { moved } else { -*share * moved / theirs };
        }
        self.normalise();
    }

    /// Prevents rounding errors from accumulating over millions of changes.
    fn normalise(&mut self) {
        let total: f64 = self.shares.iter().map(|(_, share)| *share).sum();
        if total > 0.0 {
            self.shares.iter_mut().for_each(|(_, share)| *share = (*share / total).clamp(0.0, 1.0));
        // All faces with a share have disappeared from the FIB; the cheapest takes over, as for a new prefix.
        } else if let Some((_, first)) = self.shares.first_mut() {
            *first = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn hops(faces: &[u16]) -> Vec<NextHop> {
        (1..).zip(faces).map(|(cost, face)| NextHop { cost, face: FaceId(*face) }).collect()
    }

    fn shares(split: &SplitRatios) -> Vec<f64> {
        split.shares().iter().map(|(_, share)| (share * 1e12).round() / 1e12).collect()
    }

    #[test]
    fn a_split_begins_on_the_cheapest_hop_or_in_equal_parts() {
        let hops = hops(&[5, 2, 3, 4]);
        assert_eq!(shares(&SplitRatios::new(&hops, InitialSplit::ShortestPath)), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(shares(&SplitRatios::new(&hops, InitialSplit::Equal)), [0.25; 4]);
    }

    #[test]
    fn what_one_face_loses_the_others_get_in_equal_parts_and_no_more_than_it_has() {
        let mut split = SplitRatios::new(&hops(&[1, 2, 3]), InitialSplit::ShortestPath);
        split.reduce(FaceId(1), 0.02);
        assert_eq!(shares(&split), [0.98, 0.01, 0.01]);
        split.reduce(FaceId(2), 0.5);
        assert_eq!(shares(&split), [0.985, 0.0, 0.015]);
        split.reduce(FaceId(9), 0.5);
        assert_eq!(shares(&split), [0.985, 0.0, 0.015]);
    }

    #[test]
    fn a_shift_concerns_two_next_hops_alone() {
        let mut split = SplitRatios::new(&hops(&[1, 2, 3]), InitialSplit::ShortestPath);
        split.shift(FaceId(1), FaceId(3), 0.4);
        assert_eq!(shares(&split), [0.6, 0.0, 0.4]);
        split.shift(FaceId(3), FaceId(2), 1.0);
        assert_eq!(shares(&split), [0.6, 0.4, 0.0]);
        split.shift(FaceId(1), FaceId(9), 0.1);
        split.shift(FaceId(9), FaceId(1), 0.1);
        split.shift(FaceId(1), FaceId(1), 0.1);
        assert_eq!(shares(&split), [0.6, 0.4, 0.0]);
    }

    #[test]
    fn what_one_face_gains_the_others_lose_in_proportion() {
        let mut split = SplitRatios::new(&hops(&[1, 2, 3]), InitialSplit::ShortestPath);
        split.reduce(FaceId(1), 0.8);
        assert_eq!(shares(&split), [0.2, 0.4, 0.4]);
        split.gather(FaceId(2), 0.3);
        assert_eq!(shares(&split), [0.1, 0.7, 0.2]);
        split.gather(FaceId(9), 0.3);
        assert_eq!(shares(&split), [0.1, 0.7, 0.2], "no next hop");
        split.gather(FaceId(1), 2.0);
        assert_eq!(shares(&split), [1.0, 0.0, 0.0], "no more than they have");
        split.gather(FaceId(1), 0.1);
        assert_eq!(shares(&split), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_single_next_hop_keeps_everything() {
        let mut split = SplitRatios::new(&hops(&[1]), InitialSplit::Equal);
        split.reduce(FaceId(1), 0.5);
        assert_eq!(shares(&split), [1.0]);
    }

    #[test]
    fn faces_that_stay_keep_their_proportions_when_next_hops_change() {
        let mut split = SplitRatios::new(&hops(&[1, 2]), InitialSplit::ShortestPath);
        split.reduce(FaceId(1), 0.25);
        split.follow(&hops(&[3, 2]));
        assert_eq!(shares(&split), [0.0, 1.0]);
        split.follow(&hops(&[3, 4]));
        assert_eq!(shares(&split), [1.0, 0.0], "nobody had a share: the cheapest gets all");
        split.follow(&[]);
        assert_eq!(split.choose(&[], 0.5), None);
    }

    #[test]
    fn draws_fall_in_proportion_on_the_usable_faces_alone() {
        let mut split = SplitRatios::new(&hops(&[1, 2, 3]), InitialSplit::Equal);
        split.reduce(FaceId(1), 0.1);
        let usable = [FaceId(1), FaceId(3)];
        let mut rng = Rng::stream(Seed(1), "draws");
        let first =
            (0..100_000).filter(|_| split.choose(&usable, rng.uniform()) == Some(FaceId(1))).count() as f64;
        // 1/3 - 0.1 beside 1/3 + 0.05; four standard deviations of 100,000 draws are 0.0062.
        let expected = (1.0 / 3.0 - 0.1) / (2.0 / 3.0 - 0.05);
        assert!((first / 1e5 - expected).abs() < 0.0062, "{first}");
        let mut alone = SplitRatios::new(&hops(&[1, 2]), InitialSplit::ShortestPath);
        assert_eq!(alone.choose(&[FaceId(2)], 0.7), Some(FaceId(2)), "nobody else may be asked");
        alone.reduce(FaceId(1), 1.0);
        assert_eq!(alone.choose(&[FaceId(1), FaceId(2)], 0.0), Some(FaceId(2)), "a share of nothing");
    }

    #[test]
    fn shares_stay_in_bounds_and_sum_to_one_through_a_million_changes() {
        let mut rng = Rng::stream(Seed(2), "changes");
        let mut split = SplitRatios::new(&hops(&[0, 1, 2, 3]), InitialSplit::Equal);
        for change in 0..1_000_000 {
            let face = FaceId(rng.below(4) as u16);
            let other = FaceId(rng.below(4) as u16);
            match rng.below(4) {
                0 => split.reduce(face, 0.02 * split.share(face)),
                1 => split.reduce(face, rng.uniform()),
                2 => split.shift(face, other, rng.uniform()),
                _ => split.gather(face, rng.uniform()),
            }
            let sum: f64 = split.shares().iter().map(|(_, share)| share).sum();
            assert!((sum - 1.0).abs() < 1e-12, "change {change}: {split:?}");
            assert!(split.shares().iter().all(|(_, share)| (0.0..=1.0).contains(share)), "{split:?}");
        }
    }
}
