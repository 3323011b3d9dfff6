//! Sequence numbers: positions in the stream never wrap; headers carry their last 32 bits.

/// The numbers of one direction of a connection (RFC 9293, section 3.4). Position 0 is the SYN's, the first byte has 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SequenceSpace {
    initial: u32,
}

impl SequenceSpace {
    /// The space whose SYN has the number `initial`.
    pub(super) const fn new(initial: u32) -> Self {
        Self { initial }
    }

    /// The number of `position` in a header.
    pub(super) const fn number(self, position: u64) -> u32 {
        self.initial.wrapping_add(position as u32)
    }

    /// The position with the number `number` that is nearest to `near`; `None` when it would lie before the SYN.
    pub(super) fn position(self, number: u32, near: u64) -> Option<u64> {
        // As a signed number the distance is unambiguous within 2^31 positions of `near`.
        let ahead = number.wrapping_sub(self.number(near)).cast_signed();
        near.checked_add_signed(i64::from(ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_position_nearest_to_what_is_expected_across_the_wrap() {
        let space = SequenceSpace::new(u32::MAX - 9);
        for position in [0, 9, 10, 11, 1 << 31, (1 << 32) - 1, 1 << 32, (5 << 32) + 7] {
            for near in [position, position + 1_000_000, u64::saturating_sub(position, 1_000_000)] {
                assert_eq!(space.position(space.number(position), near), Some(position), "near {near}");
            }
        }
        assert_eq!((space.number(9), space.number(10)), (u32::MAX, 0));
    }

    #[test]
    fn a_number_before_the_syn_has_no_position() {
        let space = SequenceSpace::new(5);
        assert_eq!(space.position(4, 0), None);
        assert_eq!(space.position(4, 1 << 32), Some((1 << 32) - 1));
    }
}
