//! SignatureInfo and SignatureValue of Data and signed Interests.

use crate::error::DecodeError;
use crate::evolvability::ElementOrder;
use crate::name::NameView;
use crate::tlv::{Element, types};
use crate::validity::ValidityPeriod;

/// Signature types by number.
pub mod signature_type {
    /// SHA-256 of the signed part: integrity only, no key.
    pub const DIGEST_SHA256: u64 = 0;
    /// RSA with PKCS #1 v1.5 over SHA-256.
    pub const SHA256_WITH_RSA: u64 = 1;
    /// ECDSA over SHA-256; on curve P-256 here.
    pub const SHA256_WITH_ECDSA: u64 = 3;
    /// Ed25519 over the signed part itself (RFC 8032).
    pub const ED25519: u64 = 5;
}

/// A signature in a received packet; not verified.
#[derive(Clone, Copy, Debug)]
pub struct SignatureView<'a> {
    /// SignatureType of the packet; see [`signature_type`].
    pub kind: u64,
    /// Identification of the signing key, if any.
    pub key_locator: Option<KeyLocator<'a>>,
    /// SignatureNonce of a signed Interest.
    pub nonce: Option<&'a [u8]>,
    /// SignatureTime of a signed Interest, milliseconds since 1970.
    pub time_ms: Option<u64>,
    /// SignatureSeqNum of a signed Interest.
    pub sequence: Option<u64>,
    /// ValidityPeriod of a certificate; `None` also if it is malformed.
    pub validity: Option<ValidityPeriod>,
    /// SignatureValue of the packet.
    pub value: &'a [u8],
}

/// Identification of a signing key.
#[derive(Clone, Copy, Debug)]
pub enum KeyLocator<'a> {
    /// The name of the key or its certificate.
    Name(NameView<'a>),
    /// SHA-256 of the public key.
    KeyDigest(&'a [u8]),
    /// Another element than those of packet format 0.3: the whole value.
    Other(&'a [u8]),
}

const fn rank(kind: u32) -> u8 {
    match kind {
        types::SIGNATURE_TYPE => 1,
        types::KEY_LOCATOR => 2,
        types::SIGNATURE_NONCE => 3,
        types::SIGNATURE_TIME => 4,
        types::SIGNATURE_SEQ_NUM => 5,
        types::VALIDITY_PERIOD => 6,
        _ => 0,
    }
}

impl<'a> SignatureView<'a> {
    /// Reads SignatureInfo or InterestSignatureInfo, without the value.
    pub(crate) fn parse(info: &Element<'a>) -> Result<Self, DecodeError> {
        let mut order = ElementOrder::of(info.kind);
        let mut kind = None;
        let mut view = Self {
            kind: 0,
            key_locator: None,
            nonce: None,
            time_ms: None,
            sequence: None,
            validity: None,
            value: &[],
        };
        let mut reader = info.inside();
        while let Some(element) = reader.next()? {
            if !order.admits(&element, rank(element.kind))? {
                continue;
            }
            match element.kind {
                types::SIGNATURE_TYPE => kind = Some(element.integer()?),
                types::KEY_LOCATOR => view.key_locator = Some(KeyLocator::parse(&element)?),
                types::SIGNATURE_NONCE => view.nonce = Some(element.value),
                types::SIGNATURE_TIME => view.time_ms = Some(element.integer()?),
                types::SIGNATURE_SEQ_NUM => view.sequence = Some(element.integer()?),
                // Only certificates need it; other Data is not refused because of it.
                types::VALIDITY_PERIOD => view.validity = ValidityPeriod::parse(&element).ok(),
                _ => {}
            }
        }
        let missing = DecodeError::Missing { element: types::SIGNATURE_TYPE, inside: info.kind };
        view.kind = kind.ok_or(missing)?;
        Ok(view)
    }
}

impl<'a> KeyLocator<'a> {
    fn parse(locator: &Element<'a>) -> Result<Self, DecodeError> {
        Ok(match locator.inside().next()? {
            Some(element) if element.kind == types::NAME => Self::Name(NameView::parse(&element)?),
            Some(element) if element.kind == types::KEY_DIGEST => Self::KeyDigest(element.value),
            _ => Self::Other(locator.value),
        })
    }
}
