//! Hierarchical token buckets: a tree of classes, each with a guaranteed rate, that lend unused tokens.
//!
//! Rules: Linux `sch_htb`. A class whose own tokens suffice is served first, by priority and then by deficit round
//! robin; after those, one that may borrow from its parent, the nearest lender first. The ceiling of a class and of
//! each class between it and the lender must have tokens too. Borrowed bytes are charged to the ceilings below the
//! lender, and to everything from the lender up.
//!
//! A bucket that is not in debt lends, whatever the packet's size: if the whole packet were required, classes with
//! small packets would take every token before one with large packets saw enough.
//!
//! Deviation: the ceiling of a leaf, which nobody else uses, must hold the whole packet (or be full), so that a class
//! sends at most `ceil · t + ceil_burst` in any time t; in Linux it may be a packet more.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use crate::toolbox::shaping::token_bucket::TokenBucket;

/// Maximum depth of a tree, levels above the leaves (Linux: TC_HTB_MAXDEPTH).
const LEVELS: usize = 8;

/// A class of one [`Htb`], counted from 0 in the order of [`Htb::add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassId(pub u16);

impl ClassId {
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Rates and bursts of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Guaranteed rate. The rates of a class's children should not exceed its own in sum.
    pub rate: BitRate,
    /// Maximum rate, borrowed tokens included; at least `rate`.
    pub ceil: BitRate,
    /// Maximum burst from own tokens, bytes.
    pub burst: ByteCount,
    /// Maximum burst under the ceiling, bytes.
    pub ceil_burst: ByteCount,
    /// Bytes per turn of the round robin; at least the largest packet. Borrowed tokens are shared in the
    /// ratio of these.
    pub quantum: ByteCount,
}

impl Shape {
    /// Both bursts are 15 kB or 10 ms of their rates if that is more, the quantum 1514 bytes or 1 ms of `rate`.
    pub fn new(rate: BitRate, ceil: BitRate) -> Self {
        let burst = |rate: BitRate| rate.bytes_in(Span::from_millis(10)).max(ByteCount::new(15_000));
        let quantum = rate.bytes_in(Span::from_millis(1)).max(ByteCount::new(1514));
        Self { rate, ceil, burst: burst(rate), ceil_burst: burst(ceil), quantum }
    }
}

/// Result of a scheduling decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The first packet of this class leaves now; its tokens are taken.
    Serve(ClassId),
    /// Packets wait, but none may leave before this time; [`Time::MAX`] when none may until a shape changes.
    Until(Time),
    /// No packet is waiting.
    Empty,
}

/// A tree of classes; packets wait elsewhere, in a queue per leaf.
#[derive(Clone, Debug, Default)]
pub struct Htb {
    classes: Vec<HtbClass>,
    /// Next leaf among those served at one level and priority.
    turns: BTreeMap<(usize, u8), usize>,
}

#[derive(Clone, Debug)]
struct HtbClass {
    parent: Option<ClassId>,
    is_leaf: bool,
    /// Number of classes above this one.
    depth: usize,
    priority: u8,
    quantum: i64,
    rate: TokenBucket,
    ceil: TokenBucket,
    /// Remainder of its turn, bytes, by the level of the lender; below zero after a packet that was larger.
    deficits: [i64; LEVELS + 1],
}

/// A packet that may leave now.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    leaf: usize,
    lender: usize,
    level: usize,
    size: ByteCount,
}

impl Htb {
    /// A tree without classes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a class with full buckets: the root where `parent` is `None`. `priority` counts for a leaf only, 0 is
    /// served first.
    ///
    /// # Panics
    /// When `parent` is no class of this tree, or the tree grows deeper than eight levels above a leaf.
    pub fn add(&mut self, parent: Option<ClassId>, shape: Shape, priority: u8, now: Time) -> ClassId {
        let id = ClassId(u16::try_from(self.classes.len()).expect("a tree has fewer than 65,536 classes"));
        let depth = parent.map_or(0, |parent| self.classes[parent.index()].depth + 1);
        assert!(depth <= LEVELS, "a tree of {LEVELS} levels above its leaves");
        if let Some(parent) = parent {
            self.classes[parent.index()].is_leaf = false;
        }
        self.classes.push(HtbClass {
            parent,
            is_leaf: true,
            depth,
            priority,
            quantum: quantum(shape),
            rate: TokenBucket::new(shape.rate, shape.burst, now),
            ceil: TokenBucket::new(shape.ceil, shape.ceil_burst, now),
            deficits: [0; LEVELS + 1],
        });
        id
    }

    /// Gives `class` another shape from `now` on; tokens that it has stay, as far as they fit.
    pub fn reshape(&mut self, class: ClassId, shape: Shape, now: Time) {
        let class = &mut self.classes[class.index()];
        class.quantum = quantum(shape);
        class.rate.set_rate(shape.rate, now);
        class.rate.set_depth(shape.burst);
        class.ceil.set_rate(shape.ceil, now);
        class.ceil.set_depth(shape.ceil_burst);
    }

    /// Chooses the class to serve and takes its tokens. `head` returns the size of the first packet of a leaf, `None`
    /// if its queue is empty.
    pub fn dequeue(&mut self, now: Time, head: impl Fn(ClassId) -> Option<ByteCount>) -> Next {
        let mut best: Option<((usize, u8, usize), Candidate)> = None;
        let mut earliest = None;
        for leaf in (0..self.classes.len()).filter(|class| self.classes[*class].is_leaf).collect::<Vec<_>>() {
            // The cast is safe: `add` refuses more than 65 536 classes.
            let Some(size) = head(ClassId(leaf as u16)) else { continue };
            match self.lender(leaf, size, now) {
                Ok(lender) => {
                    let candidate = self.candidate(leaf, lender, size);
                    let order = self.order(candidate);
                    if best.is_none_or(|(min, _)| order < min) {
                        best = Some((order, candidate));
                    }
                }
                Err(wait) => {
                    let at = wait.map_or(Time::MAX, |wait| now + wait);
                    earliest = Some(earliest.map_or(at, |earliest: Time| earliest.min(at)));
                }
            }
        }
        match (best, earliest) {
            (Some((_, candidate)), _) => self.serve(candidate, now),
            (None, Some(at)) => Next::Until(at),
            (None, None) => Next::Empty,
        }
    }

    /// Returns the class whose tokens let a packet of `leaf` leave now: its own, or the nearest class above it that
    /// can lend. Otherwise returns the time until then; `None` for never.
    fn lender(&mut self, leaf: usize, size: ByteCount, now: Time) -> Result<usize, Option<Span>> {
        let mut ceilings = Span::ZERO;
        let mut soonest: Option<Span> = None;
        let mut next = Some(leaf);
        while let Some(at) = next {
            let class = &mut self.classes[at];
            // Ceilings above the leaf are shared, so they only must not be in debt; see the module head.
            let requested = if at == leaf { size } else { ByteCount::ZERO };
            // A ceiling that never has enough bars the way to all lenders above.
            let Some(ceiling) = class.ceil.wait_or_full(requested, now) else { break };
            ceilings = ceilings.max(ceiling);
            // A rate of 0 never has tokens again; the next class above may still lend.
            if let Some(own) = class.rate.wait(ByteCount::ZERO, now) {
                let wait = ceilings.max(own);
                if wait == Span::ZERO {
                    return Ok(at);
                }
                soonest = Some(soonest.map_or(wait, |soonest| soonest.min(wait)));
            }
            next = class.parent.map(ClassId::index);
        }
        Err(soonest)
    }

    fn candidate(&self, leaf: usize, lender: usize, size: ByteCount) -> Candidate {
        // Levels count from the leaves in Linux: the deeper the lender in the tree, the lower its level and
        // the earlier its turn.
        let level = if leaf == lender { 0 } else { LEVELS - self.classes[lender].depth };
        Candidate { leaf, lender, level, size }
    }

    /// Own tokens before borrowed ones, near lenders before far ones, then priority, then turns.
    fn order(&self, candidate: Candidate) -> (usize, u8, usize) {
        let Candidate { leaf, level, .. } = candidate;
        let priority = self.classes[leaf].priority;
        let turn = self.turns.get(&(level, priority)).copied().unwrap_or(0);
        let count = self.classes.len();
        // The distance from the leaf whose turn it is; adding `count` keeps the difference from falling below
        // 0.
        (level, priority, (leaf + count - turn) % count)
    }

    fn serve(&mut self, candidate: Candidate, now: Time) -> Next {
        let Candidate { leaf, lender, level, size } = candidate;
        self.charge(leaf, lender, size, now);
        let count = self.classes.len();
        let class = &mut self.classes[leaf];
        let deficit = &mut class.deficits[level];
        *deficit -= size.get() as i64;
        // A negative deficit ends the turn; the quantum is added at once, as in Linux.
        let is_over = *deficit < 0;
        if is_over {
            *deficit += class.quantum;
        }
        let turn = if is_over { (leaf + 1) % count } else { leaf };
        self.turns.insert((level, class.priority), turn);
        Next::Serve(ClassId(leaf as u16))
    }

    fn charge(&mut self, leaf: usize, lender: usize, size: ByteCount, now: Time) {
        let mut next = Some(leaf);
        let mut is_lent = false;
        while let Some(at) = next {
            // Below the lender only ceilings are charged: those classes have used tokens of another one.
            is_lent |= at == lender;
            let class = &mut self.classes[at];
            class.ceil.charge(size, now);
            if is_lent {
                class.rate.charge(size, now);
            }
            next = class.parent.map(ClassId::index);
        }
    }
}

fn quantum(shape: Shape) -> i64 {
    i64::try_from(shape.quantum.get()).unwrap_or(i64::MAX).max(1)
}
