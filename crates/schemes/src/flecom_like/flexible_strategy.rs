//! The strategy: Interests leave a congested next hop as long as another one is free, and are shaped otherwise.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_core::prelude::*;

use super::{HIGHEST, Params};
use crate::toolbox::forwarding::split_ratios::InitialSplit;
use crate::toolbox::forwarding::split_table::SplitTable;
use crate::toolbox::shaping::interest_shaper::InterestShaper;

/// The strategy of one node.
#[derive(Debug)]
pub(super) struct FlexibleStrategy {
    params: Params,
    splits: SplitTable,
    paths: BTreeMap<(PrefixId, FaceId), PathLevels>,
    shapers: Vec<FaceShaper>,
}

/// Levels of the Data of one prefix from one next hop.
#[derive(Debug, Default)]
struct PathLevels {
    /// Highest level of the last period.
    level: u8,
    /// Highest level of this period.
    highest: u8,
    received_at: Time,
    period_ends: Time,
}

/// The shaper of one face.
#[derive(Debug)]
struct FaceShaper {
    face: FaceId,
    shaper: Rc<RefCell<InterestShaper>>,
    rate: Option<BitRate>,
}

impl FaceShaper {
    /// Shapes to `part` of the rate of the face's link.
    fn slow_down(&mut self, cx: &Context<'_>, part: f64) {
        let link = cx.face(self.face).rate();
        self.set_rate(cx.now, Some(bits_per_second(link.as_bps() as f64 * part)));
    }

    /// Raises the rate by the fraction `part`; ends the shaping once no Interest waits.
    fn speed_up(&mut self, now: Time, part: f64) {
        let Some(rate) = self.rate else { return };
        // A shaper without waiting Interests no longer limits anything, so it is removed instead of raised
        // step by step.
        let is_used = self.shaper.borrow().waiting() > 0;
        let faster = bits_per_second(rate.as_bps() as f64 * (1.0 + part));
        self.set_rate(now, is_used.then_some(faster));
    }

    fn set_rate(&mut self, now: Time, rate: Option<BitRate>) {
        self.rate = rate;
        self.shaper.borrow_mut().set_rate(rate, now);
    }
}

/// A rate of at least one bit per second, so that waiting packets can leave.
fn bits_per_second(rate: f64) -> BitRate {
    BitRate::from_bps((rate as u64).max(1))
}

impl FlexibleStrategy {
    pub(super) fn new(params: Params, shapers: Vec<(FaceId, Rc<RefCell<InterestShaper>>)>, draws: Rng) -> Self {
        let shaper = |(face, shaper)| FaceShaper { face, shaper, rate: None };
        let splits = SplitTable::new(InitialSplit::ShortestPath, draws);
        let shapers = shapers.into_iter().map(shaper).collect();
        Self { params, splits, paths: BTreeMap::new(), shapers }
    }

    /// Records the level of a Data packet; returns the level of the period if it ends with this packet.
    fn note(&mut self, now: Time, path: (PrefixId, FaceId), level: u8) -> Option<u8> {
        let path = self.paths.entry(path).or_default();
        path.highest = path.highest.max(level.min(HIGHEST));
        path.received_at = now;
        if now < path.period_ends {
            return None;
        }
        path.period_ends = now + self.params.period;
        path.level = std::mem::take(&mut path.highest);
        Some(path.level)
    }

    /// The cheapest other next hop that is up and not known to be congested.
    fn free_hop(&mut self, cx: &Context<'_>, entry: &PitEntry, congested: FaceId) -> Option<FaceId> {
        let (prefix, memory) = (entry.name().prefix, self.params.memory);
        let paths = &self.paths;
        let is_free = |face: FaceId| {
            let path = paths.get(&(prefix, face));
            // A path without recent Data is taken as free: otherwise a congested one that is avoided would
            // never be tried again.
            path.is_none_or(|path| path.level == 0 || cx.now.since(path.received_at) > memory)
        };
        let hops = self.splits.split_of(entry)?.shares().iter().map(|(face, _)| *face);
        hops.filter(|face| *face != congested && cx.face(*face).is_up()).find(|face| is_free(*face))
    }

    /// Reacts to the level of a period.
    fn act(&mut self, cx: &Context<'_>, from: FaceId, level: u8, entry: &PitEntry) {
        let free = if level > 0 { self.free_hop(cx, entry, from) } else { None };
        if let (Some(free), Some(split)) = (free, self.splits.split_of(entry)) {
            let part = self.params.shift_per_level * f64::from(level);
            split.shift(from, free, part * split.share(from));
        }
        let per_level = self.params.shape_per_level;
        let Some(shaper) = self.shapers.iter_mut().find(|shaper| shaper.face == from) else { return };
        // With a free next hop the Interests are diverted; shaping them as well would answer the congestion
        // twice.
        if level > 0 && free.is_none() {
            shaper.slow_down(cx, 1.0 - per_level * f64::from(level));
        } else {
            shaper.speed_up(cx.now, per_level);
        }
    }
}

impl Strategy for FlexibleStrategy {
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        self.splits.forward(cx, arrival)
    }

    fn on_data(
        &mut self,
        cx: &mut Context<'_>,
        data: &mut Header,
        from: FaceId,
        _: PitId,
        entry: &PitEntry,
    ) {
        if cx.face(from).is_local() {
            return;
        }
        if let Some(level) = self.note(cx.now, (entry.name().prefix, from), data.hop.mark) {
            self.act(cx, from, level, entry);
        }
    }
}
