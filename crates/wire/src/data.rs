//! Decodes Data (NDN packet format 0.3) in place.

use std::ops::Range;

use tidegate_core::ndn::name::{Name, NameTable, Segment};
use tidegate_core::ndn::packet::{Data, Millis, PitToken};

use crate::error::DecodeError;
use crate::evolvability::ElementOrder;
use crate::interest::millis;
use crate::name::{NameView, segment_of};
use crate::signature::SignatureView;
use crate::tlv::{Element, TlvReader, types};

/// A decoded Data. Offsets count from the packet's first byte.
#[derive(Clone, Debug)]
pub struct DataView<'a> {
    /// Name; may be `/`.
    pub name: NameView<'a>,
    /// ContentType; 0 is plain content, 3 an application's Nack.
    pub content_type: u64,
    /// FreshnessPeriod, at most 2^32-1 ms; zero if not given.
    pub freshness: Millis,
    /// The component in FinalBlockId.
    pub final_block: Option<Element<'a>>,
    /// Number that all segments of one content have, if the producer gives it.
    pub content_id: Option<u64>,
    /// Content; empty if there is none.
    pub content: &'a [u8],
    /// Range of the content in the packet.
    pub content_range: Range<usize>,
    /// The signature, not verified.
    pub signature: SignatureView<'a>,
    packet: &'a [u8],
    signed: Range<usize>,
}

const fn rank(kind: u32) -> u8 {
    match kind {
        types::NAME => 1,
        types::META_INFO => 2,
        types::CONTENT => 3,
        types::SIGNATURE_INFO => 4,
        types::SIGNATURE_VALUE => 5,
        _ => 0,
    }
}

/// Fields of the element MetaInfo.
#[derive(Clone, Copy, Default)]
struct MetaInfo<'a> {
    content_type: u64,
    freshness: Millis,
    final_block: Option<Element<'a>>,
    content_id: Option<u64>,
}

impl<'a> DataView<'a> {
    /// Reads `packet`, which is one Data from its first byte to its last.
    ///
    /// # Errors
    /// When it is no Data by packet format 0.3.
    pub fn parse(packet: &'a [u8]) -> Result<Self, DecodeError> {
        let (data, name) = name_of(packet)?;
        let mut view_of = Parts { meta: MetaInfo::default(), content: None, info: None, value: None };
        let mut order = ElementOrder::of(types::DATA);
        order.admits(&name, 1)?;
        let mut reader = TlvReader::at(&packet[name.end()..], name.end());
        while let Some(element) = reader.next()? {
            if order.admits(&element, rank(element.kind))? {
                view_of.take(&element)?;
            }
        }
        let missing = |element| DecodeError::Missing { element, inside: types::DATA };
        let info = view_of.info.ok_or(missing(types::SIGNATURE_INFO))?;
        let value = view_of.value.ok_or(missing(types::SIGNATURE_VALUE))?;
        // Content is optional; an empty one has the same meaning.
        let no_content = Element { kind: types::CONTENT, value: &[], start: 0, value_start: 0 };
        let content = view_of.content.unwrap_or(no_content);
        Ok(Self {
            name: NameView::parse(&name)?,
            content_type: view_of.meta.content_type,
            freshness: view_of.meta.freshness,
            final_block: view_of.meta.final_block,
            content_id: view_of.meta.content_id,
            content: content.value,
            content_range: content.value_range(),
            signature: SignatureView { value: value.value, ..info },
            packet,
            signed: data.value_start..value.start,
        })
    }

    /// The interned name, and the fields that a forwarder needs; without a token.
    ///
    /// # Errors
    /// When the name table refuses the name.
    pub fn header(&self, names: &mut NameTable) -> Result<(Name, Data), DecodeError> {
        let name = names.intern(self.name.components())?;
        let data = Data {
            freshness: self.freshness,
            final_segment: self.final_segment(),
            payload: self.content.len() as u32,
            token: PitToken::default(),
        };
        Ok((name, data))
    }

    /// FinalBlockId as a segment number; [`Segment::NONE`] if it is another component, or not given.
    pub fn final_segment(&self) -> Segment {
        self.final_block.as_ref().map_or(Segment::NONE, segment_of)
    }

    /// Range covered by the signature: from the name to SignatureInfo.
    pub fn signed_part(&self) -> &'a [u8] {
        &self.packet[self.signed.clone()]
    }

    /// Bytes of the whole packet.
    pub const fn packet(&self) -> &'a [u8] {
        self.packet
    }
}

/// The Data element and its name, which must come first.
pub(crate) fn name_of(packet: &[u8]) -> Result<(Element<'_>, Element<'_>), DecodeError> {
    let data = TlvReader::new(packet).only()?;
    if data.kind != types::DATA {
        return Err(DecodeError::Unexpected { element: data.kind, accepted: "Interest (5) or Data (6)" });
    }
    let missing = DecodeError::Missing { element: types::NAME, inside: types::DATA };
    let name = data.inside().next()?.filter(|element| element.kind == types::NAME).ok_or(missing)?;
    Ok((data, name))
}

/// Elements of a Data read so far.
struct Parts<'a> {
    meta: MetaInfo<'a>,
    content: Option<Element<'a>>,
    info: Option<SignatureView<'a>>,
    value: Option<Element<'a>>,
}

impl<'a> Parts<'a> {
    #[inline]
    fn take(&mut self, element: &Element<'a>) -> Result<(), DecodeError> {
        match element.kind {
            types::META_INFO => self.meta = MetaInfo::parse(element)?,
            types::CONTENT => self.content = Some(*element),
            types::SIGNATURE_INFO => self.info = Some(SignatureView::parse(element)?),
            // `rank` admits no other type.
            _ => self.value = Some(*element),
        }
        Ok(())
    }
}

impl<'a> MetaInfo<'a> {
    fn parse(info: &Element<'a>) -> Result<Self, DecodeError> {
        let mut meta = Self::default();
        let mut order = ElementOrder::of(types::META_INFO);
        let mut reader = info.inside();
        while let Some(element) = reader.next()? {
            if element.kind == types::CONTENT_ID {
                // Another program may use the number for something else, at any place.
                meta.content_id = element.integer().ok();
                continue;
            }
            let rank = match element.kind {
                types::CONTENT_TYPE => 1,
                types::FRESHNESS_PERIOD => 2,
                types::FINAL_BLOCK_ID => 3,
                _ => 0,
            };
            if !order.admits(&element, rank)? {
                continue;
            }
            match rank {
                1 => meta.content_type = element.integer()?,
                2 => meta.freshness = millis(element.integer()?),
                _ => meta.final_block = Some(final_block(&element)?),
            }
        }
        Ok(meta)
    }
}

/// The one component in FinalBlockId.
fn final_block<'a>(id: &Element<'a>) -> Result<Element<'a>, DecodeError> {
    let component = id.inside().only()?;
    // Component types have 16 bits (packet format 0.3, section 2).
    if component.kind > 0xFFFF {
        let kind = component.kind;
        return Err(DecodeError::Name(format!("component type {kind} is not a number in 1..=65535")));
    }
    Ok(component)
}
