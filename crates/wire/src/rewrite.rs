//! Rewrites the two elements of an Interest that change between hops: Nonce and HopLimit.

use std::ops::Range;

use tidegate_core::ndn::packet::Interest;

use crate::error::DecodeError;
use crate::tlv::{self, Element, TlvReader, types};

/// Ranges of the two elements in an Interest; an absent one has an empty range at its position.
struct Layout {
    /// Offset of the name.
    first: usize,
    nonce: Range<usize>,
    hop_limit: Range<usize>,
}

impl Layout {
    /// Finds them in an Interest that was parsed before: other elements are not checked.
    #[inline]
    fn of(interest: &[u8]) -> Result<Self, DecodeError> {
        let outer = TlvReader::new(interest).only()?;
        if outer.kind != types::INTEREST {
            return Err(DecodeError::Unexpected { element: outer.kind, accepted: "Interest (5)" });
        }
        let (mut reader, first) = (outer.inside(), outer.value_start);
        let mut layout = Self { first, nonce: first..first, hop_limit: first..first };
        while let Some(element) = reader.next()? {
            match element.kind {
                types::NONCE => layout.nonce = range(&element),
                types::HOP_LIMIT => {
                    layout.hop_limit = range(&element);
                    break;
                }
                types::INTEREST_LIFETIME => {}
                // Behind these a HopLimit is out of order, and so ignored.
                types::APPLICATION_PARAMETERS
                | types::INTEREST_SIGNATURE_INFO
                | types::INTEREST_SIGNATURE_VALUE => break,
                types::NAME | types::CAN_BE_PREFIX | types::MUST_BE_FRESH | types::FORWARDING_HINT => {
                    // Without a Nonce the new one goes behind the last element that comes before it in the
                    // packet format.
                    layout.nonce = element.end()..element.end();
                }
                // Unknown elements are permitted at any position.
                _ => continue,
            }
            if layout.hop_limit.is_empty() {
                layout.hop_limit = element.end()..element.end();
            }
        }
        Ok(layout)
    }
}

fn range(element: &Element<'_>) -> Range<usize> {
    element.start..element.end()
}

/// Writes the Interest `bytes` to `out` with the nonce and the hop limit of `header`; returns `false`,
/// without a result in `out`, if `bytes` has them already. A forwarder adds or changes a hop limit and never removes one: without
/// it, a second one, which every node ignores, would count.
///
/// # Errors
/// When the bytes are no Interest.
pub fn rewrite(header: &Interest, bytes: &[u8], out: &mut Vec<u8>) -> Result<bool, DecodeError> {
    let layout = Layout::of(bytes)?;
    let nonce = header.nonce.to_be_bytes();
    let nonce_element = [types::NONCE as u8, 4, nonce[0], nonce[1], nonce[2], nonce[3]];
    let hop_limit_element = header.hop_limit.map(|hops| [types::HOP_LIMIT as u8, 1, hops]);
    let hop_limit_element = hop_limit_element.as_ref().map_or(&[][..], |element| element);
    let (old_nonce, old_hop_limit) = (&bytes[layout.nonce.clone()], &bytes[layout.hop_limit.clone()]);
    if old_nonce == nonce_element && old_hop_limit == hop_limit_element {
        return Ok(false);
    }
    out.clear();
    // Equal sizes: no length changes, and the packet is patched in place.
    if old_nonce.len() == nonce_element.len() && old_hop_limit.len() == hop_limit_element.len() {
        out.extend_from_slice(bytes);
        out[layout.nonce].copy_from_slice(&nonce_element);
        out[layout.hop_limit].copy_from_slice(hop_limit_element);
        return Ok(true);
    }
    let parts = [
        &bytes[layout.first..layout.nonce.start],
        &nonce_element,
        &bytes[layout.nonce.end..layout.hop_limit.start],
        hop_limit_element,
        &bytes[layout.hop_limit.end..],
    ];
    tlv::write_header(out, types::INTEREST, parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| out.extend_from_slice(part));
    Ok(true)
}
