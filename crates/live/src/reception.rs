//! Memory into which a driver's sockets receive, shared by all of them.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::sys::Slots;

/// Size of one chunk of memory for received packets, bytes.
///
/// A packet that is kept for long (queued, pending) keeps its whole chunk alive, so that chunks are only as
/// large as is worth an allocation: about fifty packets.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Maximum number of chunks, 16 MiB together. One packet of each may be kept for long, among others that are dropped.
const MAX_CHUNKS: usize = 256;

/// Number of full chunks of which one without packets is looked for when another one is needed.
const EXAMINED: usize = 4;

/// Slots that the kernel writes into, and chunks that hold received packets.
pub struct Reception {
    pub(crate) slots: Slots,
    pub(crate) chunks: Chunks,
}

impl std::fmt::Debug for Reception {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reception").finish_non_exhaustive()
    }
}

impl Default for Reception {
    fn default() -> Self {
        Self::new()
    }
}

impl Reception {
    /// Memory for one driver, about 640 KiB.
    pub fn new() -> Self {
        Self { slots: Slots::new(), chunks: Chunks::default() }
    }
}

/// Memory in which received packets lie side by side.
///
/// A datagram's slot has the maximum size, because its length is not known before it arrives; packets that
/// stay in their slots would occupy a multiple of their size. They are copied together instead, one
/// allocation for many. While packets are kept in all chunks, each new one has memory of its own, so that
/// what is kept never occupies more than its size and that of the chunks.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    rest: BytesMut,
    /// Full chunks, which may be used again when no packet is left in them.
    full: VecDeque<BytesMut>,
}

impl Chunks {
    /// A copy of `bytes`.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Bytes {
        if self.rest.capacity() < bytes.len() && !self.has_next(bytes.len()) {
            return Bytes::copy_from_slice(bytes);
        }
        self.rest.extend_from_slice(bytes);
        self.rest.split().freeze()
    }

    /// Goes on to a chunk with room for `len` bytes; false if there is none.
    #[cold]
    fn has_next(&mut self, len: usize) -> bool {
        if len > CHUNK {
            return false;
        }
        match self.unused() {
            Some(chunk) => self.full.push_back(std::mem::replace(&mut self.rest, chunk)),
            None if self.full.len() + 1 < MAX_CHUNKS => {
                self.full.push_back(std::mem::replace(&mut self.rest, BytesMut::with_capacity(CHUNK)));
            }
            None => return false,
        }
        true
    }

    /// A full chunk without packets. A second one is given back to the system.
    fn unused(&mut self) -> Option<BytesMut> {
        let mut found: Option<BytesMut> = None;
        for _ in 0..EXAMINED.min(self.full.len()) {
            let mut chunk = self.full.pop_front()?;
            match (chunk.try_reclaim(CHUNK), &found) {
                (true, None) => found = Some(chunk),
                (true, Some(_)) => break,
                (false, _) => self.full.push_back(chunk),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_lie_side_by_side_in_one_chunk() {
        let mut chunks = Chunks::default();
        let (a, b) = (chunks.keep(&[1; 100]), chunks.keep(&[2; 50]));
        assert_eq!(a.as_ptr() as usize + 100, b.as_ptr() as usize);
        assert_eq!((&a[..], &b[..]), (&[1; 100][..], &[2; 50][..]));
    }

    #[test]
    fn a_packet_larger_than_a_chunk_is_kept_whole() {
        let large = vec![3; CHUNK + 1];
        assert_eq!(Chunks::default().keep(&large), large);
    }

    #[test]
    fn kept_packets_of_all_chunks_leave_each_new_one_memory_of_its_own() {
        let mut chunks = Chunks::default();
        let kept: Vec<Bytes> = (0..2 * MAX_CHUNKS)
            .map(|number| {
                (1..CHUNK / 1024).for_each(|_| drop(chunks.keep(&[0; 1024])));
                chunks.keep(&(number as u64).to_be_bytes().repeat(128))
            })
            .collect();
        assert!(chunks.full.len() < MAX_CHUNKS);
        for (number, packet) in kept.iter().enumerate() {
            assert_eq!(packet, &(number as u64).to_be_bytes().repeat(128));
        }
    }

    #[test]
    fn chunks_without_packets_are_used_again_and_given_back() {
        let mut chunks = Chunks::default();
        for _ in 0..1_000 {
            drop(chunks.keep(&[0; 8000]));
        }
        assert!(chunks.full.len() <= 2, "{}", chunks.full.len());
        let kept: Vec<Bytes> = (0..1_000).map(|_| chunks.keep(&[0; 8000])).collect();
        assert!(chunks.full.len() > 100);
        drop(kept);
        for _ in 0..4_000 {
            drop(chunks.keep(&[0; 8000]));
        }
        assert!(chunks.full.len() <= EXAMINED, "{}", chunks.full.len());
    }
}
