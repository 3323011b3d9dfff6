//! Names in received packets, and construction of components.

use std::ops::Range;

use tidegate_core::ndn::name::{NameTable, Segment};

use crate::error::DecodeError;
use crate::tlv::{self, Element, TlvReader, types};

/// Maximum number of components in a name.
const MAX_COMPONENTS: usize = NameTable::MAX_COMPONENTS;

/// The name of a received packet, checked: every component is complete and has a type in 1..=65535.
#[derive(Clone, Copy, Debug)]
pub struct NameView<'a> {
    components: &'a [u8],
    start: usize,
    len: usize,
    digests: usize,
    digest: Option<Element<'a>>,
}

impl<'a> NameView<'a> {
    /// The value of `name` as components.
    ///
    /// # Errors
    /// When a component is cut short or of a type outside 1..=65535, a digest has not 32 bytes, or there are
    /// more than [`NameTable::MAX_COMPONENTS`].
    pub fn parse(name: &Element<'a>) -> Result<Self, DecodeError> {
        let mut view =
            Self { components: name.value, start: name.value_start, len: 0, digests: 0, digest: None };
        let mut reader = name.inside();
        while let Some(component) = reader.next()? {
            view.len += 1;
            view.check(component)?;
        }
        Ok(view)
    }

    #[inline]
    fn check(&mut self, component: Element<'a>) -> Result<(), DecodeError> {
        if component.kind > 0xFFFF {
            return Err(DecodeError::Name(format!(
                "component type {} is not a number in 1..=65535",
                component.kind
            )));
        }
        if self.len > MAX_COMPONENTS {
            return Err(DecodeError::Components(MAX_COMPONENTS));
        }
        // Both digest components have 32 bytes (section 2).
        if component.kind <= types::PARAMETERS_SHA256_DIGEST {
            component.bytes::<32>("32")?;
            if component.kind == types::PARAMETERS_SHA256_DIGEST {
                self.digests += 1;
                self.digest.get_or_insert(component);
            }
        }
        Ok(())
    }

    /// The concatenated components, in the form that `NameTable::intern` accepts.
    pub const fn components(&self) -> &'a [u8] {
        self.components
    }

    /// Number of components in the name.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the name is `/`.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The components, first to last.
    pub fn iter(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let mut reader = TlvReader::at(self.components, self.start);
        // Parsed once without error, so reading again meets none.
        std::iter::from_fn(move || reader.next().ok().flatten())
    }

    /// The last component; `None` in `/`.
    pub fn last(&self) -> Option<Element<'a>> {
        self.iter().last()
    }

    /// Number of ParametersSha256Digest components.
    pub(crate) const fn digests(&self) -> usize {
        self.digests
    }

    /// The ParametersSha256Digest component, offsets counted from the packet's first byte.
    pub(crate) const fn digest(&self) -> Option<Element<'a>> {
        self.digest
    }

    /// Range of the components in the packet.
    pub(crate) const fn range(&self) -> Range<usize> {
        self.start..self.start + self.components.len()
    }
}

/// Appends a name component to concatenated components.
pub fn push_component(components: &mut Vec<u8>, kind: u16, value: &[u8]) {
    tlv::write_element(components, u32::from(kind), value);
}

/// Appends a segment number component (`seg=`).
pub fn push_segment(components: &mut Vec<u8>, segment: u32) {
    tlv::write_integer(components, types::SEGMENT_NAME_COMPONENT, u64::from(segment));
}

/// The segment number of a component in its shortest form; [`Segment::NONE`] for any other component.
pub(crate) fn segment_of(component: &Element<'_>) -> Segment {
    match component.integer() {
        Ok(number)
            if component.kind == types::SEGMENT_NAME_COMPONENT
                && number < u64::from(Segment::NONE.0)
                // A number in a longer form is another component, and so another name.
                && tlv::integer_len(number) == component.value.len() =>
        {
            Segment(number as u32)
        }
        _ => Segment::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(components: &[u8]) -> Result<(usize, usize), DecodeError> {
        let mut bytes = Vec::new();
        tlv::write_element(&mut bytes, types::NAME, components);
        let name = TlvReader::new(&bytes).only().expect("whole");
        NameView::parse(&name).map(|view| (view.len(), view.digests()))
    }

    #[test]
    fn a_component_type_past_16_bits_is_refused() {
        assert_eq!(parse(&[253, 255, 255, 0]), Ok((1, 0)));
        assert!(matches!(parse(&[254, 0, 1, 0, 0, 0]), Err(DecodeError::Name(_))));
    }

    #[test]
    fn a_digest_component_has_32_bytes() {
        for kind in [1, 2] {
            for len in [0, 31, 33] {
                let mut components = Vec::new();
                push_component(&mut components, kind, &vec![0; len]);
                assert!(matches!(parse(&components), Err(DecodeError::Length { .. })), "{len}");
            }
            let mut components = Vec::new();
            push_component(&mut components, kind, &[0; 32]);
            assert_eq!(parse(&components), Ok((1, usize::from(kind == 2))));
        }
    }

    #[test]
    fn a_name_of_129_components_is_refused() {
        assert_eq!(parse(&[8, 0].repeat(128)), Ok((128, 0)));
        assert!(matches!(parse(&[8, 0].repeat(129)), Err(DecodeError::Components(128))));
    }

    #[test]
    fn only_the_shortest_number_below_2_pow_32_minus_1_is_a_segment() {
        let segment = |kind: u16, value: &[u8]| {
            let mut bytes = Vec::new();
            push_component(&mut bytes, kind, value);
            segment_of(&TlvReader::new(&bytes).only().expect("whole"))
        };
        assert_eq!(segment(50, &[7]), Segment(7));
        assert_eq!(segment(50, &[1, 44]), Segment(300));
        assert_eq!(segment(50, &[255, 255, 255, 254]), Segment(u32::MAX - 1));
        for longer in [&[][..], &[0, 7], &[0, 0, 1, 44], &[255, 255, 255, 255], &[0, 0, 0, 1, 0, 0, 0, 0]] {
            assert_eq!(segment(50, longer), Segment::NONE, "{longer:?}");
        }
        assert_eq!(segment(54, &[7]), Segment::NONE);
    }
}
