//! Decodes Interests (NDN packet format 0.3) in place.

use tidegate_core::ndn::name::{Name, NameTable};
use tidegate_core::ndn::packet::{Interest, Millis, PitToken};

use crate::error::DecodeError;
use crate::evolvability::ElementOrder;
use crate::name::NameView;
use crate::signature::SignatureView;
use crate::tlv::{Element, TlvReader, types};

/// Default lifetime of an Interest.
pub const DEFAULT_LIFETIME: Millis = Millis(4_000);

/// A decoded Interest. Offsets count from the packet's first byte.
#[derive(Clone, Debug)]
pub struct InterestView<'a> {
    /// Name, with at least one component.
    pub name: NameView<'a>,
    /// Whether Data under the name may answer.
    pub can_be_prefix: bool,
    /// Whether only fresh Data may answer.
    pub must_be_fresh: bool,
    /// ForwardingHint as its TLV-VALUE, which is not parsed.
    pub forwarding_hint: Option<&'a [u8]>,
    /// Nonce; `None` in an Interest that has not passed a forwarder.
    pub nonce: Option<u32>,
    /// InterestLifetime, at most 2^32-1 ms.
    pub lifetime: Option<Millis>,
    /// HopLimit of the Interest, if any.
    pub hop_limit: Option<u8>,
    /// ApplicationParameters of the Interest, if any.
    pub parameters: Option<&'a [u8]>,
    /// The signature of a signed Interest; `None` unless both of its elements are present.
    pub signature: Option<SignatureView<'a>>,
    packet: &'a [u8],
    /// Offset of the ApplicationParameters element.
    parameters_at: usize,
    /// Offset of the InterestSignatureValue element.
    signature_at: usize,
}

const fn rank(kind: u32) -> u8 {
    match kind {
        types::NAME => 1,
        types::CAN_BE_PREFIX => 2,
        types::MUST_BE_FRESH => 3,
        types::FORWARDING_HINT => 4,
        types::NONCE => 5,
        types::INTEREST_LIFETIME => 6,
        types::HOP_LIMIT => 7,
        types::APPLICATION_PARAMETERS => 8,
        types::INTEREST_SIGNATURE_INFO => 9,
        types::INTEREST_SIGNATURE_VALUE => 10,
        _ => 0,
    }
}

impl<'a> InterestView<'a> {
    /// Reads `packet`, which is one Interest from its first byte to its last.
    ///
    /// # Errors
    /// If it is no Interest by packet format 0.3, or only one of ApplicationParameters and a
    /// ParametersSha256Digest in the name is present. The digest itself is verified by
    /// [`parameters_digest_holds`](crate::parameters_digest_holds).
    pub fn parse(packet: &'a [u8]) -> Result<Self, DecodeError> {
        let interest = TlvReader::new(packet).only()?;
        if interest.kind != types::INTEREST {
            return Err(DecodeError::Unexpected { element: interest.kind, accepted: "Interest (5)" });
        }
        let mut reader = interest.inside();
        let missing = DecodeError::Missing { element: types::NAME, inside: types::INTEREST };
        let first = reader.next()?.filter(|element| element.kind == types::NAME).ok_or(missing)?;
        let mut view = Self::named(packet, &first)?;
        let mut order = ElementOrder::of(types::INTEREST);
        order.admits(&first, 1)?;
        let mut signature = None;
        while let Some(element) = reader.next()? {
            if order.admits(&element, rank(element.kind))? {
                view.take(&element, &mut signature)?;
            }
        }
        view.check_digest()?;
        Ok(view)
    }

    /// An Interest with a name and no other elements.
    fn named(packet: &'a [u8], name: &Element<'a>) -> Result<Self, DecodeError> {
        let name = NameView::parse(name)?;
        if name.is_empty() {
            return Err(DecodeError::Name("the name of an Interest has no component".to_owned()));
        }
        Ok(Self {
            name,
            can_be_prefix: false,
            must_be_fresh: false,
            forwarding_hint: None,
            nonce: None,
            lifetime: None,
            hop_limit: None,
            parameters: None,
            signature: None,
            packet,
            parameters_at: packet.len(),
            signature_at: packet.len(),
        })
    }

    fn take(
        &mut self,
        element: &Element<'a>,
        signature: &mut Option<SignatureView<'a>>,
    ) -> Result<(), DecodeError> {
        match element.kind {
            types::CAN_BE_PREFIX => self.can_be_prefix = is_there(element)?,
            types::MUST_BE_FRESH => self.must_be_fresh = is_there(element)?,
            types::FORWARDING_HINT => self.forwarding_hint = Some(element.value),
            types::NONCE => self.nonce = Some(u32::from_be_bytes(element.bytes("4")?)),
            types::INTEREST_LIFETIME => self.lifetime = Some(millis(element.integer()?)),
            types::HOP_LIMIT => self.hop_limit = Some(element.bytes::<1>("1")?[0]),
            types::APPLICATION_PARAMETERS => {
                self.parameters = Some(element.value);
                self.parameters_at = element.start;
            }
            // Without ApplicationParameters the signature is not an element of this Interest (section 5.4).
            types::INTEREST_SIGNATURE_INFO if self.parameters.is_some() => {
                *signature = Some(SignatureView::parse(element)?);
            }
            types::INTEREST_SIGNATURE_VALUE if self.parameters.is_some() => {
                self.signature = signature.map(|info| SignatureView { value: element.value, ..info });
                self.signature_at = element.start;
            }
            _ => {}
        }
        Ok(())
    }

    fn check_digest(&self) -> Result<(), DecodeError> {
        match (self.name.digests(), self.parameters.is_some()) {
            (0, false) | (1, true) => Ok(()),
            (0, true) => Err(DecodeError::ParametersDigest(
                "ApplicationParameters (36) need a ParametersSha256Digest component (2) in the name",
            )),
            (1, false) => Err(DecodeError::ParametersDigest(
                "a ParametersSha256Digest component (2) in the name needs ApplicationParameters (36)",
            )),
            _ => Err(DecodeError::ParametersDigest(
                "the name has more than one ParametersSha256Digest component (2)",
            )),
        }
    }

    /// The interned name, and the fields that a forwarder needs; without a token.
    ///
    /// # Errors
    /// When the name table refuses the name.
    pub fn header(
        &self,
        names: &mut NameTable,
        fresh_nonce: &mut dyn FnMut() -> u32,
    ) -> Result<(Name, Interest), DecodeError> {
        let name = names.intern(self.name.components())?;
        let interest = Interest {
            nonce: self.nonce.unwrap_or_else(fresh_nonce),
            lifetime: self.lifetime.unwrap_or(DEFAULT_LIFETIME),
            token: PitToken::default(),
            hop_limit: self.hop_limit,
            can_be_prefix: self.can_be_prefix,
            must_be_fresh: self.must_be_fresh,
        };
        Ok((name, interest))
    }

    /// Range covered by the ParametersSha256Digest: from ApplicationParameters to the end. Empty without
    /// parameters.
    pub fn digest_covered(&self) -> &'a [u8] {
        &self.packet[self.parameters_at..]
    }

    /// Parts covered by the signature, in order: the name's components without the ParametersSha256Digest, then
    /// ApplicationParameters up to the signature's value.
    pub fn signed_parts(&self) -> [&'a [u8]; 3] {
        let name = self.name.range();
        let digest = match self.name.digest() {
            // The digest component is left out: it covers the signature, which could not cover it in turn.
            Some(digest) => digest.start..digest.end(),
            None => name.end..name.end,
        };
        [
            &self.packet[name.start..digest.start],
            &self.packet[digest.end..name.end],
            &self.packet[self.parameters_at..self.signature_at],
        ]
    }
}

fn is_there(element: &Element<'_>) -> Result<bool, DecodeError> {
    element.bytes::<0>("0").map(|_| true)
}

/// A duration of a packet in milliseconds; values above 2^32-1 are clamped.
pub(crate) fn millis(ms: u64) -> Millis {
    Millis(u32::try_from(ms).unwrap_or(u32::MAX))
}
