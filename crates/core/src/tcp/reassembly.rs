//! The receiver's half of the stream: bytes in order, bytes that arrived early, and the SACK blocks that
//! report them.

use std::ops::Range;

use super::options::{MAX_SACK_BLOCKS, SackBlocks};
use super::ranges::RangeSet;
use super::sequence::SequenceSpace;

/// Position of a segment in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// The next in order, with nothing missing before or behind it.
    InOrder,
    /// The next in order while later data waits for what is missing.
    FillsGap,
    /// The segment begins after RCV.NXT: something before it is missing.
    Early,
    /// The segment contained no new bytes.
    Duplicate,
}

/// Puts a stream in order.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    /// RCV.NXT of RFC 9293: position of the next byte in order.
    next: u64,
    early: RangeSet,
    /// The blocks reported last, the newest first (RFC 2018, section 4); some may be contiguous since.
    recent: Vec<Range<u64>>,
    /// Bytes received twice, to be reported once (RFC 2883, section 4).
    duplicate: Option<Range<u64>>,
}

impl Reassembly {
    /// Expects the position `next`.
    pub(super) fn new(next: u64) -> Self {
        Self { next, early: RangeSet::default(), recent: Vec::new(), duplicate: None }
    }

    /// The position expected next.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Takes in a segment that occupies `range`, at least one position.
    pub(super) fn place(&mut self, range: Range<u64>) -> Placed {
        if range.end <= self.next {
            self.duplicate = Some(range);
            return Placed::Duplicate;
        }
        if range.start <= self.next {
            return self.advance(range.end);
        }
        let mut is_new = false;
        let block = self.early.insert(range.clone(), |_| is_new = true);
        // For a duplicate, too: the range that contains it has to be the block behind it (RFC 2883, section
        // 4).
        self.note(block);
        if is_new {
            return Placed::Early;
        }
        self.duplicate = Some(range);
        Placed::Duplicate
    }

    fn advance(&mut self, end: u64) -> Placed {
        let had_early = !self.early.is_empty();
        self.next = end;
        while let Some(first) = self.early.first().filter(|first| first.start <= self.next) {
            self.next = self.next.max(first.end);
            self.early.remove_below(first.end);
        }
        if had_early { Placed::FillsGap } else { Placed::InOrder }
    }

    /// `block` is now the newest, in place of those that are part of it.
    fn note(&mut self, block: Range<u64>) {
        self.recent.retain(|old| !block.contains(&old.start));
        self.recent.truncate(MAX_SACK_BLOCKS - 1);
        self.recent.insert(0, block);
    }

    /// Blocks for the next ACK: a duplicate first, once, then the newest ones.
    pub(super) fn sack_blocks(&mut self, space: SequenceSpace) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let mut push = |range: Range<u64>| blocks.push(space.number(range.start), space.number(range.end));
        if let Some(range) = self.duplicate.take() {
            push(range);
        }
        // Blocks that have become contiguous are covered by the acknowledgement number.
        self.recent.retain(|block| block.start > self.next);
        self.recent.iter().cloned().for_each(push);
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(stream: &mut Reassembly) -> Vec<(u32, u32)> {
        stream.sack_blocks(SequenceSpace::new(0)).iter().collect()
    }

    #[test]
    fn the_newest_block_comes_first_and_a_joined_block_counts_once() {
        let mut stream = Reassembly::new(1);
        assert_eq!(stream.place(1..11), Placed::InOrder);
        for start in [21, 41, 61, 81] {
            assert_eq!(stream.place(start..start + 10), Placed::Early);
        }
        assert_eq!(blocks(&mut stream), [(81, 91), (61, 71), (41, 51)]);
        // The gap between the two lowest closes: one block from 21 to 51, now the newest.
        assert_eq!(stream.place(31..41), Placed::Early);
        assert_eq!(blocks(&mut stream), [(21, 51), (81, 91), (61, 71)]);
        assert_eq!(stream.place(11..21), Placed::FillsGap);
        assert_eq!(stream.next(), 51);
        assert_eq!(blocks(&mut stream), [(81, 91), (61, 71)]);
        assert_eq!(stream.place(51..95), Placed::FillsGap);
        assert_eq!((stream.next(), blocks(&mut stream)), (95, vec![]));
        assert_eq!(stream.place(95..96), Placed::InOrder);
    }

    #[test]
    fn what_came_twice_is_reported_once_in_the_first_block() {
        let mut stream = Reassembly::new(1);
        stream.place(1..11);
        assert_eq!(stream.place(1..11), Placed::Duplicate);
        assert_eq!(blocks(&mut stream), [(1, 11)]);
        assert_eq!(blocks(&mut stream), []);
        stream.place(21..41);
        assert_eq!(stream.place(21..31), Placed::Duplicate);
        // RFC 2883, section 4.2: the block around the duplicate follows it.
        assert_eq!(blocks(&mut stream), [(21, 31), (21, 41)]);
        assert_eq!(blocks(&mut stream), [(21, 41)]);
    }
}
