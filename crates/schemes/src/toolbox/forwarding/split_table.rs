//! The part of a splitting strategy that its rules share: one split per prefix, next hops drawn by it, and the
//! decision on an Interest that is pending already.
//!
//! Source: `pcon-strategy.cpp` of PCON's authors. A prefix is that of the requested names, which in a simulation is
//! the FIB's.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use crate::toolbox::forwarding::split_ratios::{InitialSplit, SplitRatios};

/// All splits of one node.
#[derive(Debug)]
pub struct SplitTable {
    initial: InitialSplit,
    draws: Rng,
    splits: BTreeMap<PrefixId, SplitRatios>,
    /// Buffer that is reused to avoid allocations.
    usable: Vec<FaceId>,
}

/// The next hop that a split chose.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Face that the Interest is sent to.
    pub face: FaceId,
    /// The draw that fell on it, 0..1, uniform.
    pub draw: f64,
    /// Whether the Interest was sent before and is pending.
    pub is_pending: bool,
}

impl SplitTable {
    /// A table without prefixes; the shares of each begin with `initial`.
    pub fn new(initial: InitialSplit, draws: Rng) -> Self {
        Self { initial, draws, splits: BTreeMap::new(), usable: Vec::new() }
    }

    /// Draws a next hop for the Interest.
    ///
    /// # Errors
    /// The decision to take instead: an Interest of another downstream for pending Data is suppressed, and so is a
    /// retransmission without a usable next hop; a first Interest without one is refused.
    pub fn choose(&mut self, cx: &Context<'_>, arrival: &Arrival<'_>) -> Result<Choice, Decision> {
        let is_pending = arrival.entry.out_records().next().is_some();
        // The Data will also satisfy this downstream, by its in-record.
        if is_pending && !arrival.is_repeated {
            return Err(Decision::Suppress);
        }
        self.usable.clear();
        self.usable.extend(arrival.usable(cx));
        let fresh = || SplitRatios::new(arrival.hops, self.initial);
        let split = self.splits.entry(arrival.interest.name.prefix).or_insert_with(fresh);
        split.follow(arrival.hops);
        let draw = self.draws.uniform();
        match split.choose(&self.usable, draw) {
            Some(face) => Ok(Choice { face, draw, is_pending }),
            None if is_pending => Err(Decision::Suppress),
            None => Err(Decision::Nack(NackReason::NoRoute)),
        }
    }

    /// Sends the Interest to the next hop drawn, and to no other.
    pub fn forward(&mut self, cx: &Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        match self.choose(cx, arrival) {
            Ok(Choice { face, is_pending, .. }) => {
                // An upstream would drop a retransmission with the nonce of the pending Interest as a loop.
                arrival.targets.push(Target { face, fresh_nonce: is_pending });
                Decision::Forward
            }
            Err(otherwise) => otherwise,
        }
    }

    /// The other next hops that the last Interest could have taken.
    pub fn others(&self, chosen: FaceId) -> impl Iterator<Item = FaceId> + '_ {
        self.usable.iter().copied().filter(move |face| *face != chosen)
    }

    /// The shares of the prefix of `entry`; `None` before its first Interest.
    pub fn split_of(&mut self, entry: &PitEntry) -> Option<&mut SplitRatios> {
        self.splits.get_mut(&entry.name().prefix)
    }
}
