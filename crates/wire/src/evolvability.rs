//! The evolvability rules: which elements of a packet are used, which are ignored, and which make it invalid.
//!
//! NDN packet format 0.3, "Considerations for Evolvability of TLV-Based Encoding". An element out of order is
//! treated as in ndn-cxx: an error if critical, otherwise ignored.

use crate::error::DecodeError;
use crate::tlv::{Element, is_critical};

/// Checks the order of the elements inside one element.
#[derive(Debug)]
pub struct ElementOrder {
    inside: u32,
    last: u8,
}

impl ElementOrder {
    /// State before the first element of the element of type `inside`.
    pub const fn of(inside: u32) -> Self {
        Self { inside, last: 0 }
    }

    /// Whether `element` is used; `false` if it must be ignored. `rank` is its place in the order, from 1,
    /// and 0 for an unknown element.
    #[inline]
    pub fn admits(&mut self, element: &Element<'_>, rank: u8) -> Result<bool, DecodeError> {
        // All elements may be absent, so that any higher rank is in order.
        if rank > self.last {
            self.last = rank;
            return Ok(true);
        }
        if !is_critical(element.kind) {
            return Ok(false);
        }
        let (element, inside) = (element.kind, self.inside);
        Err(match rank {
            0 => DecodeError::Critical { element, inside },
            _ => DecodeError::OutOfOrder { element, inside },
        })
    }
}
