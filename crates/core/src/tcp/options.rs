//! Options of a segment, and their length.

use crate::ndn::packet::{Header, Millis};
use crate::units::{ByteCount, Time};

/// Number of SACK blocks that fit in addition to a time stamp (RFC 2018, section 3).
pub const MAX_SACK_BLOCKS: usize = 3;

/// Sequence numbers received out of order: first number and the number after the last, the newest block first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// Adds a block behind those that are there; a fourth is left out.
    pub fn push(&mut self, first: u32, end: u32) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.count)) {
            *slot = (first, end);
            self.count += 1;
        }
    }

    /// The blocks in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.blocks.iter().take(usize::from(self.count)).copied()
    }

    /// Number of blocks, 0..=3.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no block.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Options that only a SYN carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynOptions {
    /// Maximum payload that its sender accepts in one segment, bytes (RFC 9293, section 3.7.1).
    pub mss: u16,
    /// Its sender's windows count in units of 2 to this power, 0..=14 (RFC 7323, section 2).
    pub window_scale: u8,
}

/// Options of a segment. Every segment has a time stamp, SACK is always permitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Blocks of data received out of order.
    pub sack: SackBlocks,
    /// Options of a SYN; `None` for other segments.
    pub syn: Option<SynOptions>,
}

impl TcpOptions {
    /// Whether there is nothing but the time stamp.
    pub const fn is_plain(&self) -> bool {
        self.sack.is_empty() && self.syn.is_none()
    }
}

/// A segment that leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Flow, size, [`Kind::Tcp`](crate::ndn::packet::Kind::Tcp) and hop signals.
    pub header: Header,
    /// Options of the segment's header.
    pub options: TcpOptions,
}

/// Ethernet 14, IPv4 20, TCP 20, time stamp with two NOPs 12.
const HEADERS: u64 = 66;
/// MSS 4, window scale with a NOP 4; SACK-permitted takes the place of the time stamp's NOPs.
const SYN_OPTIONS: u64 = 8;

/// Bytes on the wire of a segment with `payload` bytes: 1448 bytes of payload make 1514.
pub fn segment_size(payload: ByteCount, options: &TcpOptions) -> ByteCount {
    let blocks = options.sack.len() as u64;
    // RFC 2018, section 3: kind, length and two NOPs for alignment, then two sequence numbers per block.
    let sack = if blocks == 0 { 0 } else { 4 + 8 * blocks };
    let syn = if options.syn.is_some() { SYN_OPTIONS } else { 0 };
    payload + ByteCount::new(HEADERS + sack + syn)
}

/// The time stamp of a segment that leaves at `now`.
pub(super) fn stamp(now: Time) -> Millis {
    Millis::from_span(now.since(Time::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_a_segment_with_time_stamps_on_ethernet() {
        let size = |payload, options| segment_size(ByteCount::new(payload), &options).get();
        assert_eq!(size(1448, TcpOptions::default()), 1514);
        let mut options = TcpOptions::default();
        for block in 0..4 {
            options.sack.push(block, block + 1);
        }
        // 40 bytes of options at most: 12 and 2 NOPs, kind, length, three blocks.
        assert_eq!((options.sack.len(), size(0, options)), (3, 66 + 28));
        let syn =
            TcpOptions { syn: Some(SynOptions { mss: 1448, window_scale: 7 }), ..TcpOptions::default() };
        assert_eq!(size(0, syn), 74);
    }
}
