//! Data that an application gives to a sender, and the times of its writes.

use crate::units::{BitRate, ByteCount, Span, Time};

/// An application that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Always has more data.
    Endless,
    /// A number of bytes at once, after which the connection closes.
    File(ByteCount),
    /// Whole segments at a mean rate: a sender limited by its application.
    Constant(BitRate),
}

impl Source {
    /// Bytes written in all, a time `elapsed` after the connection was open, by a source that writes `chunk` at a time.
    pub(super) fn written(self, elapsed: Span, chunk: ByteCount) -> u64 {
        match self {
            Self::Endless => u64::MAX,
            Self::File(length) => length.get(),
            Self::Constant(rate) => {
                let due = rate.bytes_in(elapsed).get() / chunk.get().max(1);
                // One more than has fallen due, because the first chunk is written at the opening.
                due.saturating_add(1).saturating_mul(chunk.get())
            }
        }
    }

    /// Time at which more than `written` bytes will have been written; `None` for never.
    pub(super) fn next_write(self, opened: Time, written: u64) -> Option<Time> {
        let Self::Constant(rate) = self else { return None };
        if rate.as_bps() == 0 {
            return None;
        }
        // A whole nanosecond later, as both conversions round down.
        Some(opened + rate.time_to_send(ByteCount::new(written)) + Span::from_nanos(1))
    }

    /// Bytes in all; `None` for a source without end.
    pub(super) fn length(self) -> Option<u64> {
        match self {
            Self::File(length) => Some(length.get()),
            Self::Endless | Self::Constant(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_source_writes_whole_segments_at_its_rate() {
        // 1000 bytes at 8 Mbit/s: one per millisecond, the first at once.
        let source = Source::Constant(BitRate::from_mbps(8.0));
        let written = |micros| source.written(Span::from_micros(micros), ByteCount::new(1000));
        assert_eq!((written(0), written(999), written(1000), written(2500)), (1000, 1000, 2000, 3000));
        let opened = Time::ZERO + Span::from_secs(1);
        let next = source.next_write(opened, 3000).expect("more to come");
        assert_eq!(source.written(next.since(opened), ByteCount::new(1000)), 4000);
        assert!(next.since(opened) <= Span::from_micros(3001));
        assert_eq!(Source::Constant(BitRate::from_bps(0)).next_write(opened, 1000), None);
    }
}
