//! Reassembly of the fragments of one link, in bounded memory.
//!
//! At most [`MAX_PARTIAL`] messages of together [`MAX_BYTES`] wait for fragments; beyond that the oldest one
//! is dropped. A message for which nothing arrives for [`TIMEOUT`] is dropped, as in NFD.

use std::collections::VecDeque;

use bytes::Bytes;
use tidegate_core::link::framed::REASSEMBLY_TIMEOUT;
use tidegate_core::units::{Span, Time};

use crate::error::DecodeError;
use crate::link_encoder::MAX_FRAGMENTS;
use crate::lp::{LpFields, LpPacket};
use crate::packet::MAX_PACKET;
use crate::tlv::types;

/// Maximum number of messages of one link that wait for fragments.
pub const MAX_PARTIAL: usize = 64;

/// Maximum memory for waiting fragments of one link, bytes: about 28 packets of 8,000 bytes. At 100 Mbit/s and 20 ms, with 5 % of the
/// frames lost and sent again, about 13 wait (a quarter of the packets, for 1.6 round trips).
pub const MAX_BYTES: usize = 256 << 10;

/// Time without a fragment after which a message is dropped.
pub const TIMEOUT: Span = REASSEMBLY_TIMEOUT;

/// Fragments that wait for others; one per link.
#[derive(Debug, Default)]
pub struct Reassembler {
    /// Incomplete messages, the oldest first.
    partial: VecDeque<Partial>,
    bytes: usize,
}

#[derive(Debug)]
struct Partial {
    /// Sequence of the first fragment.
    first: u64,
    count: u64,
    touched: Time,
    /// Fields of the first fragment; `None` until it arrives.
    fields: Option<LpFields>,
    /// One bit per fragment that has arrived.
    seen: u128,
    pieces: Vec<Piece>,
    /// All pieces in the order of their arrival.
    buffer: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    index: u8,
    start: u16,
    end: u16,
}

const _: () = assert!(MAX_FRAGMENTS <= 128 && MAX_PACKET <= u16::MAX as usize && MAX_BYTES > MAX_PACKET);

impl Reassembler {
    /// Returns a reassembler without fragments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of messages that wait for fragments.
    pub fn len(&self) -> usize {
        self.partial.len()
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// Memory of waiting fragments in bytes, with the room for those to come: at most [`MAX_BYTES`].
    pub const fn byte_len(&self) -> usize {
        self.bytes
    }

    /// Processes a frame that arrived at `now`; returns the whole message if this was the last part of one.
    ///
    /// The message has the link fields of its first fragment. Frames without a fragment and repeated
    /// fragments have no result.
    ///
    /// # Errors
    /// If the fragment contradicts earlier ones or the limits: it is dropped, and with it the message if
    /// that would become larger than [`MAX_PACKET`].
    #[inline]
    pub fn accept(&mut self, now: Time, frame: LpPacket) -> Result<Option<LpPacket>, DecodeError> {
        if frame.fields.frag_count == 1 && frame.fields.frag_index == 0 {
            return Ok(if frame.fragment.is_empty() { None } else { Some(frame) });
        }
        self.accept_fragment(now, &frame)
    }

    fn accept_fragment(&mut self, now: Time, frame: &LpPacket) -> Result<Option<LpPacket>, DecodeError> {
        let LpFields { frag_index: index, frag_count: count, .. } = frame.fields;
        let first = first_sequence(frame)?;
        // First, so that no fragment joins a message whose time is over.
        self.expire(now);
        let at = self.begun(first, count, now);
        let partial = &mut self.partial[at];
        // Frames of a restarted peer can use the same sequence numbers; the older message wins until it times
        // out.
        if partial.count != count {
            let why = "the fragments before it gave another count";
            return Err(DecodeError::Fragment { index, count, why });
        }
        // A duplicate of the link, not a fault of the peer.
        if partial.seen & (1 << index) != 0 {
            return Ok(None);
        }
        if partial.buffer.len() + frame.fragment.len() > MAX_PACKET {
            let bytes = partial.buffer.len() + frame.fragment.len();
            self.remove(at);
            return Err(DecodeError::TooLarge(bytes));
        }
        let before = partial.bytes();
        partial.add(now, frame);
        self.bytes += partial.bytes() - before;
        if partial.pieces.len() as u64 == count {
            return Ok(self.remove(at).and_then(Partial::whole));
        }
        // Not before: a complete message needs no room.
        self.make_room(at);
        Ok(None)
    }

    /// Index of the message whose first fragment has this sequence number; it is created if necessary.
    fn begun(&mut self, first: u64, count: u64, now: Time) -> usize {
        // From the back, since fragments usually belong to the newest message.
        if let Some(at) = self.partial.iter().rposition(|partial| partial.first == first) {
            return at;
        }
        // The oldest message is the least likely to be completed.
        if self.partial.len() == MAX_PARTIAL {
            self.remove(0);
        }
        let (pieces, buffer) = (Vec::new(), Vec::new());
        self.partial.push_back(Partial { first, count, touched: now, fields: None, seen: 0, pieces, buffer });
        self.partial.len() - 1
    }

    /// Drops the messages for which nothing arrived for [`TIMEOUT`] until `now`.
    pub fn expire(&mut self, now: Time) {
        let bytes = &mut self.bytes;
        self.partial.retain(|partial| {
            let is_young = now.since(partial.touched) < TIMEOUT;
            if !is_young {
                *bytes -= partial.bytes();
            }
            is_young
        });
    }

    /// Drops the oldest messages except the one at `keep` until the others fit.
    fn make_room(&mut self, mut keep: usize) {
        while self.bytes > MAX_BYTES {
            if keep == 0 {
                self.remove(1);
            } else {
                self.remove(0);
                keep -= 1;
            }
        }
    }

    fn remove(&mut self, at: usize) -> Option<Partial> {
        let partial = self.partial.remove(at)?;
        self.bytes -= partial.bytes();
        Some(partial)
    }
}

/// Sequence of the first fragment of the message to which this fragment belongs, if it is valid.
fn first_sequence(frame: &LpPacket) -> Result<u64, DecodeError> {
    let LpFields { frag_index: index, frag_count: count, sequence, .. } = frame.fields;
    let wrong = |why| Err(DecodeError::Fragment { index, count, why });
    if index >= count {
        return wrong("the index must be below the count");
    }
    if count > MAX_FRAGMENTS as u64 {
        return wrong("a message has at most 128 fragments");
    }
    if frame.fragment.is_empty() {
        return wrong("the fragment is empty");
    }
    let missing = DecodeError::Missing { element: types::SEQUENCE, inside: types::LP_PACKET };
    sequence.map(|sequence| sequence.wrapping_sub(index)).ok_or(missing)
}

impl Partial {
    /// Its memory, bytes: what is reserved counts, since small fragments can announce a large message.
    fn bytes(&self) -> usize {
        self.buffer.capacity() + self.pieces.capacity() * size_of::<Piece>()
    }

    fn add(&mut self, now: Time, frame: &LpPacket) {
        let index = frame.fields.frag_index;
        if self.buffer.is_empty() {
            // Fragments but the last are of one size as a rule.
            self.buffer.reserve_exact((frame.fragment.len() * self.count as usize).min(MAX_PACKET));
            self.pieces.reserve_exact(self.count as usize);
        }
        if index == 0 {
            self.fields = Some(frame.fields);
        }
        self.touched = now;
        self.seen |= 1 << index;
        let start = self.buffer.len() as u16;
        self.buffer.extend_from_slice(&frame.fragment);
        self.pieces.push(Piece { index: index as u8, start, end: self.buffer.len() as u16 });
    }

    /// The message, once all pieces have arrived.
    fn whole(mut self) -> Option<LpPacket> {
        let fields = self.fields?;
        // Fragments usually come in order, and then the buffer is the packet.
        let fragment = if self.pieces.is_sorted_by_key(|piece| piece.index) {
            Bytes::from(self.buffer)
        } else {
            self.pieces.sort_unstable_by_key(|piece| piece.index);
            let mut ordered = Vec::with_capacity(self.buffer.len());
            for piece in &self.pieces {
                ordered.extend_from_slice(&self.buffer[usize::from(piece.start)..usize::from(piece.end)]);
            }
            Bytes::from(ordered)
        };
        let fields = LpFields { sequence: None, frag_index: 0, frag_count: 1, tx_sequence: None, ..fields };
        Some(LpPacket { fields, acks: Vec::new(), fragment })
    }
}

#[cfg(test)]
mod tests;
