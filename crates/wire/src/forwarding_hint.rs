//! ForwardingHint of an Interest (NDN packet format 0.3, section "Forwarding Hint"): names under which it can be forwarded.

use crate::tlv::{self, Element, TlvReader, types};

/// The forwarding hint of an Interest.
#[derive(Clone, Copy, Debug)]
pub struct ForwardingHint<'a> {
    interest: &'a [u8],
    /// Offset of the Interest's first element.
    first: usize,
    element: Element<'a>,
}

impl<'a> ForwardingHint<'a> {
    /// The hint of an Interest that was parsed before; `None` if it has none.
    pub fn of(interest: &'a [u8]) -> Option<Self> {
        let outer = TlvReader::new(interest).only().ok().filter(|outer| outer.kind == types::INTEREST)?;
        let (mut reader, first) = (outer.inside(), outer.value_start);
        while let Ok(Some(element)) = reader.next() {
            match element.kind {
                types::FORWARDING_HINT => return Some(Self { interest, first, element }),
                // A hint behind these is out of order.
                types::NONCE
                | types::INTEREST_LIFETIME
                | types::HOP_LIMIT
                | types::APPLICATION_PARAMETERS => {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// The delegations, most preferred first, each as its concatenated components; other elements are left out.
    pub fn delegations(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut reader = self.element.inside();
        let elements = std::iter::from_fn(move || reader.next().ok().flatten());
        elements.filter(|element| element.kind == types::NAME).map(|element| element.value)
    }

    /// The Interest without its hint.
    pub fn removed(&self) -> Vec<u8> {
        let parts = [&self.interest[self.first..self.element.start], &self.interest[self.element.end()..]];
        let mut out = Vec::with_capacity(self.interest.len());
        tlv::write_header(&mut out, types::INTEREST, parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| out.extend_from_slice(part));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InterestBuilder, InterestView};

    /// An Interest for `/a` with a nonce and the elements `more` behind its name.
    fn interest(more: &[u8]) -> Vec<u8> {
        let plain = InterestBuilder { name: &[8, 1, b'a'], nonce: Some(7), ..InterestBuilder::default() };
        let plain = plain.build().expect("valid");
        let mut inside = plain[2..7].to_vec();
        inside.extend_from_slice(more);
        inside.extend_from_slice(&plain[7..]);
        let mut out = Vec::new();
        tlv::write_element(&mut out, types::INTEREST, &inside);
        out
    }

    #[test]
    fn delegations_are_read_in_their_order_and_the_hint_is_removed() {
        let bytes = interest(&[33, 0, 30, 10, 7, 3, 8, 1, b'x', 7, 3, 8, 1, b'y']);
        assert!(InterestView::parse(&bytes).is_ok());
        let hint = ForwardingHint::of(&bytes).expect("it has one");
        assert_eq!(hint.delegations().collect::<Vec<_>>(), [&[8, 1, b'x'], &[8, 1, b'y']]);
        assert_eq!(hint.removed(), interest(&[33, 0]));
    }

    #[test]
    fn an_interest_without_a_hint_has_none() {
        for bytes in [&interest(&[])[..], &interest(&[33, 0]), &[6, 0], &[], &[5, 1]] {
            assert!(ForwardingHint::of(bytes).is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn damage_in_a_hint_ends_its_delegations() {
        let bytes = interest(&[30, 8, 7, 3, 8, 1, b'x', 7, 9, 8]);
        let hint = ForwardingHint::of(&bytes).expect("it has one");
        assert_eq!(hint.delegations().collect::<Vec<_>>(), [[8, 1, b'x']]);
    }
}
