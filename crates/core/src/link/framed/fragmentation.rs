//! Packets larger than a link's frames: how they are cut, and when their parts still make a packet.
//!
//! Frames are NDNLPv2's (<https://redmine.named-data.net/projects/nfd/wiki/NDNLPv2>): an LpPacket (type 0x64) of
//! Sequence (10 bytes: type, length, 8 of number), FragIndex and FragCount (3 bytes each up to 255, 4 above) and
//! the part itself in a Fragment. The two elements around take 2 bytes each for up to 252 of value, 4 from there
//! on: 24 bytes in a frame of 1500. A packet that fits a frame goes as it is, unless a link service labels it: then
//! it has a Sequence, too.

use crate::units::{ByteCount, Span};

/// Time without a new part after which a packet is given up (NFD's `LpReassembler`: 500 ms).
pub const REASSEMBLY_TIMEOUT: Span = Span::from_millis(500);

/// Minimum size of a line's frames, bytes.
pub const MIN_MTU: ByteCount = ByteCount::new(128);

/// Division of a packet into frames: every frame but the last is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of frames, at least 1.
    pub count: u64,
    /// Bytes on the wire of each frame but the last.
    pub full: ByteCount,
    /// Bytes on the wire of the last.
    pub last: ByteCount,
}

impl Cut {
    /// The frames of a packet of `size` on a line with frames of at most `mtu`; less than [`MIN_MTU`] counts
    /// as that. With a link service `labels` bytes of each frame stay free.
    pub fn of(size: ByteCount, mtu: ByteCount, labels: Option<ByteCount>) -> Self {
        let (size, mtu) = (size.get(), mtu.max(MIN_MTU).get());
        let one = |bytes| Self { count: 1, full: ByteCount::new(bytes), last: ByteCount::new(bytes) };
        let Some(labels) = labels else {
            return if size <= mtu { one(size) } else { Self::in_parts(size, mtu) };
        };
        // At most half of a frame is left to labels, so that packets still advance.
        let mtu = mtu - labels.get().min(mtu / 2);
        let alone = element(SEQUENCE + element(size));
        if alone <= mtu { one(alone) } else { Self::in_parts(size, mtu) }
    }

    fn in_parts(size: u64, mtu: u64) -> Self {
        // FragIndex and FragCount need a second byte above 255; the smaller form is tried first, as the count
        // depends on the form.
        let few = Self::with_fields(size, mtu, fields(1));
        if few.count <= 255 { few } else { Self::with_fields(size, mtu, fields(2)) }
    }

    fn with_fields(size: u64, mtu: u64, fields: u64) -> Self {
        let part = value_room(value_room(mtu) - fields);
        let count = size.div_ceil(part);
        let frame = |part| ByteCount::new(element(fields + element(part)));
        Self { count, full: frame(part), last: frame(size - (count - 1) * part) }
    }

    /// Bytes on the wire of frame `index`.
    #[inline]
    pub fn size(&self, index: u64) -> ByteCount {
        if index + 1 < self.count { self.full } else { self.last }
    }

    /// Bytes on the wire of all frames.
    pub fn total(&self) -> ByteCount {
        ByteCount::new((self.count - 1) * self.full.get() + self.last.get())
    }
}

/// Bytes of a Sequence.
const SEQUENCE: u64 = 10;
/// Bytes of an LpPacket around labels alone.
pub(super) const ENVELOPE: u32 = 4;

/// Size of Sequence, FragIndex and FragCount with numbers of `width` bytes, bytes.
const fn fields(width: u64) -> u64 {
    SEQUENCE + 2 * (2 + width)
}

/// Bytes of an element with a type of one byte and a value of `len`, at most 65,535.
const fn element(len: u64) -> u64 {
    if len <= 252 { 2 + len } else { 4 + len }
}

/// Bytes of value in an element of at most `len` bytes.
const fn value_room(len: u64) -> u64 {
    match len {
        0..=1 => 0,
        2..=254 => len - 2,
        // A value of 253 bytes would need a longer length.
        255..=257 => 252,
        _ => len - 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(size: u64, mtu: u64) -> Cut {
        Cut::of(ByteCount::new(size), ByteCount::new(mtu), None)
    }

    #[test]
    fn a_frame_of_1500_bytes_carries_1476_of_a_packet() {
        let bytes = ByteCount::new;
        assert_eq!(cut(1500, 1500), Cut { count: 1, full: bytes(1500), last: bytes(1500) });
        assert_eq!(cut(1501, 1500), Cut { count: 2, full: bytes(1500), last: bytes(20 + 25) });
        assert_eq!(cut(2 * 1476, 1500), Cut { count: 2, full: bytes(1500), last: bytes(1500) });
        assert_eq!(cut(2 * 1476 + 1, 1500), Cut { count: 3, full: bytes(1500), last: bytes(21) });
        assert_eq!(cut(4000, 1500).total(), bytes(4000 + 3 * 24));
    }

    #[test]
    fn no_frame_is_larger_than_the_mtu_and_all_parts_are_carried() {
        for mtu in (128..600).chain([1280, 1500, 9000, 65_535]) {
            for size in [129, 250, 255, 300, 1249, 8800, 66_000] {
                let cut = cut(size, mtu);
                let width = if cut.count > 255 { 2 } else { 1 };
                assert!(cut.full.get() <= mtu && cut.last.get() <= mtu, "{size} in {mtu}: {cut:?}");
                let value = |element: u64| element - if element <= 254 { 2 } else { 4 };
                let part = |frame: u64| value(value(frame) - fields(width));
                if cut.count > 1 {
                    let carried = (cut.count - 1) * part(cut.full.get()) + part(cut.last.get());
                    assert_eq!(carried, size, "in {mtu}: {cut:?}");
                }
            }
        }
    }
}
