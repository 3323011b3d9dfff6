//! Frames to be sent over a socket: small ones and link headers in one buffer, large bodies by reference.

use std::collections::VecDeque;

use bytes::Bytes;

/// Maximum size of bodies that are copied after their header, bytes: one piece of memory per frame is cheaper
/// for the kernel than two, and copying is cheaper than a reference count.
const COPIED: usize = 256;

/// Frames to send, first to last.
#[derive(Debug, Default)]
pub struct FrameBatch {
    /// Heads of all frames, one after the other.
    heads: Vec<u8>,
    /// Number of bytes removed from the front of `heads` since the batch was last empty.
    removed: usize,
    frames: VecDeque<BatchFrame>,
    bytes: usize,
}

#[derive(Debug)]
struct BatchFrame {
    /// Offset of the head, including removed bytes, so that it stays valid when heads are removed.
    start: usize,
    head: usize,
    body: Bytes,
}

impl FrameBatch {
    /// Returns a batch without frames.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a frame that consists of `head` and `body`; either may be empty.
    #[inline]
    pub fn push(&mut self, head: &[u8], body: Bytes) {
        let start = self.begin();
        self.heads.extend_from_slice(head);
        self.end(start, body);
    }

    /// Offset at which the head of the next frame starts; it is written to [`head`](Self::head).
    #[inline]
    pub(crate) fn begin(&self) -> usize {
        self.heads.len()
    }

    /// The buffer of heads, to append to.
    #[inline]
    pub(crate) fn head(&mut self) -> &mut Vec<u8> {
        &mut self.heads
    }

    /// Completes the frame whose head starts at offset `start` of the buffer.
    #[inline]
    pub(crate) fn end(&mut self, start: usize, body: Bytes) {
        let is_copied = !body.is_empty() && body.len() <= COPIED;
        let body = if is_copied {
            self.heads.extend_from_slice(&body);
            Bytes::new()
        } else {
            body
        };
        let head = self.heads.len() - start;
        self.bytes += head + body.len();
        self.frames.push_back(BatchFrame { start: start + self.removed, head, body });
    }

    /// Number of frames in the batch.
    #[inline]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there is no frame.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Bytes of all frames.
    #[inline]
    pub fn byte_len(&self) -> usize {
        self.bytes
    }

    /// The frames, first to last, each in two pieces: its head and its body, one of which may be empty.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        self.frames.iter().map(|frame| {
            let start = frame.start - self.removed;
            (&self.heads[start..start + frame.head], &*frame.body)
        })
    }

    /// Removes all frames; the memory is reused.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.removed = 0;
        self.frames.clear();
        self.bytes = 0;
    }

    /// Removes the first `count` frames, or all if there are fewer.
    pub fn remove_first(&mut self, count: usize) {
        if count >= self.frames.len() {
            return self.clear();
        }
        for frame in self.frames.drain(..count) {
            self.bytes -= frame.head + frame.body.len();
        }
        let unused = self.frames.front().map_or(0, |frame| frame.start - self.removed);
        // Moving the rest to the front costs at most as much as writing the removed heads did.
        if unused > self.heads.len() / 2 {
            self.heads.drain(..unused);
            self.removed += unused;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(batch: &FrameBatch) -> Vec<Vec<u8>> {
        batch.iter().map(|(head, body)| [head, body].concat()).collect()
    }

    #[test]
    fn frames_come_out_as_they_went_in() {
        let mut batch = FrameBatch::new();
        let large = Bytes::from(vec![3; 1_000]);
        batch.push(b"head", Bytes::from_static(b"body"));
        batch.push(b"", large.clone());
        batch.push(b"only", Bytes::new());
        assert_eq!(frames(&batch), [b"headbody".to_vec(), large.to_vec(), b"only".to_vec()]);
        assert_eq!((batch.len(), batch.byte_len()), (3, 1_012));
    }

    #[test]
    fn a_large_body_is_not_copied() {
        let mut batch = FrameBatch::new();
        let large = Bytes::from(vec![3; 1_000]);
        batch.push(b"head", large.clone());
        let (_, body) = batch.iter().next().expect("one frame");
        assert_eq!(body.as_ptr(), large.as_ptr());
    }

    #[test]
    fn removing_the_first_frames_leaves_the_others_as_they_are() {
        let mut batch = FrameBatch::new();
        let mut expected = VecDeque::new();
        for round in 0..200_usize {
            for frame in 0..round % 7 {
                let bytes = vec![(round * 7 + frame) as u8; (round * frame) % 400];
                batch.push(&bytes[..bytes.len() / 2], Bytes::copy_from_slice(&bytes[bytes.len() / 2..]));
                expected.push_back(bytes);
            }
            let count = (round % 4).min(expected.len());
            batch.remove_first(count);
            expected.drain(..count);
            assert_eq!(expected, frames(&batch), "round {round}");
            assert_eq!(batch.byte_len(), expected.iter().map(Vec::len).sum::<usize>());
        }
        batch.remove_first(usize::MAX);
        assert_eq!((batch.len(), batch.byte_len()), (0, 0));
    }

    #[test]
    fn memory_stays_bounded_when_a_few_frames_always_wait() {
        let mut batch = FrameBatch::new();
        for _ in 0..10_000 {
            batch.push(&[1; 100], Bytes::new());
            batch.remove_first(batch.len().saturating_sub(3));
        }
        assert!(batch.heads.capacity() < 4_096, "{}", batch.heads.capacity());
    }
}
