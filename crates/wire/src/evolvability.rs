//! The evolvability rules: which elements of a packet count, which are ignored, which make it unreadable.
//!
//! NDN packet format 0.3, "Considerations for Evolvability of TLV-Based Encoding"; what is out of order is
//! treated as ndn-cxx does: an error if critical, else ignored.

use crate::error::DecodeError;
use crate::tlv::{Element, is_critical};

/// Holds the elements inside one element to their order.
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

    /// Whether `element` counts; false: it is to be ignored. `rank` is its place in the order, from 1, and 0
    /// for an element that is not known.
    #[inline]
    pub fn admits(&mut self, element: &Element<'_>, rank: u8) -> Result<bool, DecodeError> {
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
