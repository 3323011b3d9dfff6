//! Memory into which a driver's sockets receive, shared by all of them.

use bytes::{Bytes, BytesMut};

use crate::sys::Slots;

/// Size of one chunk of memory for received packets, bytes.
///
/// A packet that is kept for long (cached, pending) keeps its whole chunk alive, so that chunks are only as
/// large as is worth an allocation: about fifty packets.
pub(crate) const CHUNK: usize = 64 * 1024;

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
/// allocation for many.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    rest: BytesMut,
}

impl Chunks {
    /// A copy of `bytes` that owns a share of the chunk.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Bytes {
        if self.rest.capacity() < bytes.len() {
            self.rest = BytesMut::with_capacity(CHUNK.max(bytes.len()));
        }
        self.rest.extend_from_slice(bytes);
        self.rest.split().freeze()
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
}
