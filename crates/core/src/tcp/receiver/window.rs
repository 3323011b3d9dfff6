//! The window that a receiver advertises (RFC 9293, section 3.8.6).

use crate::units::ByteCount;

/// Largest shift of a window (RFC 7323, section 2.3).
const MAX_SCALE: u8 = 14;

/// Receive window. Its right edge never moves back.
#[derive(Clone, Debug)]
pub(super) struct ReceiveWindow {
    buffer: u64,
    /// Minimum increase that is advertised at once: two segments, or half the buffer if that is less (section 3.8.6.2.2).
    step: u64,
    reads_at_once: bool,
    /// Bytes in order that the application has not read.
    unread: u64,
    /// First position that it does not take.
    edge: u64,
    scale: u8,
}

impl ReceiveWindow {
    pub(super) fn new(buffer: ByteCount, mss: u16, reads_at_once: bool) -> Self {
        let max = u64::from(u16::MAX) << MAX_SCALE;
        let buffer = buffer.get().clamp(1, max);
        // Smaller scales advertise the window more finely. The largest always suffices, as `buffer` is
        // limited to `max`.
        let scale = (0..MAX_SCALE).find(|scale| buffer >> scale <= u64::from(u16::MAX)).unwrap_or(MAX_SCALE);
        let step = (2 * u64::from(mss)).min(buffer.div_ceil(2));
        Self { buffer, step, reads_at_once, unread: 0, edge: 1 + buffer, scale }
    }

    pub(super) fn scale(&self) -> u8 {
        self.scale
    }

    /// First position that is refused.
    pub(super) fn limit(&self) -> u64 {
        self.edge
    }

    /// `length` more bytes came in order.
    pub(super) fn take_in(&mut self, length: u64) {
        if !self.reads_at_once {
            self.unread += length;
        }
    }

    /// The application reads; returns whether an update is due. `next` is the position expected next.
    pub(super) fn read(&mut self, length: ByteCount, next: u64) -> bool {
        self.unread = self.unread.saturating_sub(length.get());
        self.target_edge(next) >= self.edge + self.step
    }

    fn target_edge(&self, next: u64) -> u64 {
        next + self.buffer.saturating_sub(self.unread)
    }

    /// The window field of an ACK for `next`, rounded up to the scale: what is promised by that is taken.
    pub(super) fn advertise(&mut self, next: u64) -> u16 {
        let required = self.target_edge(next);
        // Silly window avoidance: a window opens by a step or not at all.
        if required >= self.edge + self.step || self.reads_at_once {
            self.edge = self.edge.max(required);
        }
        let units = self.edge.saturating_sub(next).div_ceil(1 << self.scale).min(u64::from(u16::MAX));
        // Rounding up may have advertised a few bytes more than `required`; the sender may use them.
        self.edge = self.edge.max(next + (units << self.scale));
        units as u16
    }

    /// The window field of a SYN, which has no scale.
    pub(super) fn unscaled(&self, next: u64) -> u16 {
        self.edge.saturating_sub(next).min(u64::from(u16::MAX)) as u16
    }
}
