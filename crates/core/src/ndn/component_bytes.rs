//! Bytes of one name component: short ones, as most are, in place, so that a prefix costs no allocation of its own.

use std::fmt;
use std::ops::Deref;

/// Maximum number of bytes that are kept in place.
const IN_PLACE: usize = 22;

/// TLV of a component, never changed.
pub(super) enum ComponentBytes {
    /// Number of bytes, and the bytes.
    Short(u8, [u8; IN_PLACE]),
    Long(Box<[u8]>),
}

impl ComponentBytes {
    /// Number of bytes that have an allocation of their own.
    pub(super) fn outside_bytes(&self) -> usize {
        match self {
            Self::Short(..) => 0,
            Self::Long(bytes) => bytes.len(),
        }
    }
}

impl Default for ComponentBytes {
    fn default() -> Self {
        Self::Short(0, [0; IN_PLACE])
    }
}

impl From<&[u8]> for ComponentBytes {
    #[inline]
    fn from(bytes: &[u8]) -> Self {
        if bytes.len() > IN_PLACE {
            return Self::Long(bytes.into());
        }
        let mut place = [0; IN_PLACE];
        place[..bytes.len()].copy_from_slice(bytes);
        Self::Short(bytes.len() as u8, place)
    }
}

impl Deref for ComponentBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Short(len, place) => &place[..usize::from(*len)],
            Self::Long(bytes) => bytes,
        }
    }
}

impl fmt::Debug for ComponentBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_number_are_those_that_were_given() {
        assert!(ComponentBytes::default().is_empty());
        for len in [0, 1, IN_PLACE - 1, IN_PLACE, IN_PLACE + 1, 1_000] {
            let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
            assert_eq!(*ComponentBytes::from(&bytes[..]), bytes[..], "{len} bytes");
        }
    }

    #[test]
    fn bytes_in_place_take_three_words() {
        assert_eq!(size_of::<ComponentBytes>(), 24);
    }
}
