//! Puts segments in order, in bounded memory.

use std::collections::VecDeque;

use bytes::Bytes;

/// Segments that arrived before one ahead of them.
#[derive(Debug)]
pub(super) struct Reorder {
    /// The first segment that is missing.
    first: u32,
    /// From `first` on; `None` is missing.
    waiting: VecDeque<Option<Bytes>>,
    limit: u32,
}

impl Reorder {
    /// A buffer of at most `limit` segments from the first missing one on.
    pub(super) fn new(limit: u32) -> Self {
        Self { first: 0, waiting: VecDeque::new(), limit }
    }

    /// The first segment that is missing.
    pub(super) fn first_missing(&self) -> u32 {
        self.first
    }

    /// Stores a segment; returns `false` if it is present already or too far ahead.
    pub(super) fn insert(&mut self, segment: u32, content: Bytes) -> bool {
        let Some(ahead) = segment.checked_sub(self.first).filter(|ahead| *ahead < self.limit) else {
            return false;
        };
        let at = ahead as usize;
        // Content that waits is copied: a slice of a few bytes would keep its whole receive buffer alive.
        let content = if at == 0 { content } else { Bytes::copy_from_slice(&content) };
        // Segments before this one are missing: empty places keep the order.
        if self.waiting.len() <= at {
            self.waiting.resize(at + 1, None);
        }
        let place = &mut self.waiting[at];
        let is_new = place.is_none();
        place.get_or_insert(content);
        is_new
    }

    /// Removes and returns the content of the first missing segment, once it is there; the next one is then
    /// the first missing.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        let content = self.waiting.front_mut()?.take()?;
        self.waiting.pop_front();
        self.first += 1;
        Some(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(reorder: &mut Reorder) -> Vec<u8> {
        std::iter::from_fn(|| reorder.next()).flatten().collect()
    }

    #[test]
    fn segments_come_out_in_order_whatever_the_order_they_came_in() {
        let mut reorder = Reorder::new(10);
        assert!(reorder.insert(1, Bytes::from_static(b"b")));
        assert!(reorder.insert(3, Bytes::from_static(b"d")));
        assert_eq!(all(&mut reorder), b"");
        assert!(reorder.insert(0, Bytes::from_static(b"a")));
        assert_eq!(all(&mut reorder), b"ab");
        assert_eq!(reorder.first_missing(), 2);
        assert!(reorder.insert(2, Bytes::new()));
        assert_eq!(all(&mut reorder), b"d");
        assert_eq!(reorder.first_missing(), 4);
    }

    #[test]
    fn what_is_there_or_too_far_ahead_is_not_kept() {
        let mut reorder = Reorder::new(2);
        assert!(reorder.insert(1, Bytes::from_static(b"first")));
        assert!(!reorder.insert(1, Bytes::from_static(b"again")));
        assert!(!reorder.insert(2, Bytes::from_static(b"far")));
        assert!(reorder.insert(0, Bytes::new()));
        assert_eq!(all(&mut reorder), b"first");
        assert!(!reorder.insert(1, Bytes::from_static(b"late")));
    }
}
