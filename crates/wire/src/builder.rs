//! Construction of Interests and Data.

use bytes::Bytes;
use tidegate_core::ndn::packet::Millis;

use crate::error::EncodeError;
use crate::packet::MAX_PACKET;
use crate::sign::{Signer, sha256};
use crate::tlv::{self, TlvReader, types};
use crate::validity::ValidityPeriod;

/// An Interest to be built. Names and components are in TLV, without the enclosing Name.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterestBuilder<'a> {
    /// Concatenated components, at least one.
    pub name: &'a [u8],
    /// Whether Data under the name may answer.
    pub can_be_prefix: bool,
    /// Whether only fresh Data may answer.
    pub must_be_fresh: bool,
    /// Value of ForwardingHint: concatenated Names.
    pub forwarding_hint: Option<&'a [u8]>,
    /// Nonce; `None` for that of the header, which the link encoder writes.
    pub nonce: Option<u32>,
    /// InterestLifetime; `None` for the default of the format, 4 s.
    pub lifetime: Option<Millis>,
    /// HopLimit of the Interest, if any.
    pub hop_limit: Option<u8>,
    /// ApplicationParameters; their digest is appended to the name.
    pub parameters: Option<&'a [u8]>,
}

/// Fields that make each signed Interest unique. All that are present are signed.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterestStamp<'a> {
    /// SignatureNonce: random bytes, if any.
    pub nonce: Option<&'a [u8]>,
    /// SignatureTime, milliseconds since 1970.
    pub time_ms: Option<u64>,
    /// SignatureSeqNum of the signature, if any.
    pub sequence: Option<u64>,
}

impl InterestBuilder<'_> {
    /// The Interest, not signed.
    ///
    /// # Errors
    /// When the packet is larger than [`MAX_PACKET`], or the name is malformed, empty, or has a
    /// ParametersSha256Digest.
    pub fn build(&self) -> Result<Bytes, EncodeError> {
        let mut parameters = Vec::new();
        if let Some(value) = self.parameters {
            tlv::write_element(&mut parameters, types::APPLICATION_PARAMETERS, value);
        }
        self.with_parameters(&parameters)
    }

    /// The Interest, signed; it has ApplicationParameters, empty ones if none are given.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn sign(&self, signer: &Signer, stamp: &InterestStamp<'_>) -> Result<Bytes, EncodeError> {
        let mut parameters = Vec::new();
        // Packet format 0.3, section 5.4: a signed Interest needs ApplicationParameters, even empty ones.
        let value = self.parameters.unwrap_or_default();
        tlv::write_element(&mut parameters, types::APPLICATION_PARAMETERS, value);
        let mut info = Vec::new();
        signer.write_info(&mut info);
        if let Some(nonce) = stamp.nonce {
            tlv::write_element(&mut info, types::SIGNATURE_NONCE, nonce);
        }
        if let Some(time) = stamp.time_ms {
            tlv::write_integer(&mut info, types::SIGNATURE_TIME, time);
        }
        if let Some(sequence) = stamp.sequence {
            tlv::write_integer(&mut info, types::SIGNATURE_SEQ_NUM, sequence);
        }
        tlv::write_element(&mut parameters, types::INTEREST_SIGNATURE_INFO, &info);
        let mut value = Vec::new();
        signer.write_value(types::INTEREST_SIGNATURE_VALUE, &[self.name, &parameters], &mut value);
        parameters.extend_from_slice(&value);
        self.with_parameters(&parameters)
    }

    /// The Interest with `parameters`, the elements from ApplicationParameters on; their digest is appended
    /// to the name.
    fn with_parameters(&self, parameters: &[u8]) -> Result<Bytes, EncodeError> {
        check_name(self.name)?;
        let mut name = self.name.to_vec();
        if !parameters.is_empty() {
            // The digest covers everything from ApplicationParameters on, the signature included.
            tlv::write_element(&mut name, types::PARAMETERS_SHA256_DIGEST, &sha256(&[parameters]));
        }
        let mut inner = Vec::with_capacity(name.len() + parameters.len() + 64);
        tlv::write_element(&mut inner, types::NAME, &name);
        self.write_middle(&mut inner);
        inner.extend_from_slice(parameters);
        enclose(types::INTEREST, &inner)
    }

    fn write_middle(&self, out: &mut Vec<u8>) {
        if self.can_be_prefix {
            tlv::write_element(out, types::CAN_BE_PREFIX, &[]);
        }
        if self.must_be_fresh {
            tlv::write_element(out, types::MUST_BE_FRESH, &[]);
        }
        if let Some(hint) = self.forwarding_hint {
            tlv::write_element(out, types::FORWARDING_HINT, hint);
        }
        if let Some(nonce) = self.nonce {
            tlv::write_element(out, types::NONCE, &nonce.to_be_bytes());
        }
        if let Some(Millis(lifetime)) = self.lifetime {
            tlv::write_integer(out, types::INTEREST_LIFETIME, u64::from(lifetime));
        }
        if let Some(hops) = self.hop_limit {
            tlv::write_element(out, types::HOP_LIMIT, &[hops]);
        }
    }
}

/// A Data to be built. Names and components are in TLV, without the enclosing Name.
#[derive(Clone, Copy, Debug, Default)]
pub struct DataBuilder<'a> {
    /// Components of the name, concatenated.
    pub name: &'a [u8],
    /// ContentType; 0, plain content, is not written.
    pub content_type: u64,
    /// FreshnessPeriod; `None` to leave it out.
    pub freshness: Option<Millis>,
    /// FinalBlockId: one encoded component, if any.
    pub final_block: Option<&'a [u8]>,
    /// Number that all segments of one content have; `None` to leave it out.
    pub content_id: Option<u64>,
    /// Content of the Data packet.
    pub content: &'a [u8],
    /// Validity period, which certificates have.
    pub validity: Option<ValidityPeriod>,
}

impl DataBuilder<'_> {
    /// The Data, signed.
    ///
    /// # Errors
    /// When the packet is larger than [`MAX_PACKET`].
    pub fn sign(&self, signer: &Signer) -> Result<Bytes, EncodeError> {
        let mut packet = Vec::with_capacity(HEADER_ROOM + self.name.len() + self.content.len() + 160);
        packet.extend_from_slice(&[0; HEADER_ROOM]);
        tlv::write_element(&mut packet, types::NAME, self.name);
        let mut info = Vec::with_capacity(64);
        self.write_meta_info(&mut info);
        if !info.is_empty() {
            tlv::write_element(&mut packet, types::META_INFO, &info);
        }
        tlv::write_element(&mut packet, types::CONTENT, self.content);
        info.clear();
        signer.write_info(&mut info);
        if let Some(validity) = &self.validity {
            validity.encode(&mut info);
        }
        tlv::write_element(&mut packet, types::SIGNATURE_INFO, &info);
        info.clear();
        signer.write_value(types::SIGNATURE_VALUE, &[&packet[HEADER_ROOM..]], &mut info);
        packet.extend_from_slice(&info);
        put_header(types::DATA, packet)
    }

    fn write_meta_info(&self, out: &mut Vec<u8>) {
        if self.content_type != 0 {
            tlv::write_integer(out, types::CONTENT_TYPE, self.content_type);
        }
        if let Some(Millis(freshness)) = self.freshness {
            tlv::write_integer(out, types::FRESHNESS_PERIOD, u64::from(freshness));
        }
        if let Some(component) = self.final_block {
            tlv::write_element(out, types::FINAL_BLOCK_ID, component);
        }
        if let Some(id) = self.content_id {
            tlv::write_integer(out, types::CONTENT_ID, id);
        }
    }
}

/// Bytes of the header of a packet: a type of one byte, and a length of up to three.
const HEADER_ROOM: usize = 4;

/// Completes a packet whose elements begin at [`HEADER_ROOM`], without copying them.
fn put_header(kind: u32, mut packet: Vec<u8>) -> Result<Bytes, EncodeError> {
    let inner = packet.len() - HEADER_ROOM;
    let len = tlv::element_len(kind, inner);
    if len > MAX_PACKET {
        return Err(EncodeError::TooLarge(len));
    }
    let mut header = Vec::with_capacity(HEADER_ROOM);
    tlv::write_header(&mut header, kind, inner);
    let start = HEADER_ROOM - header.len();
    packet[start..HEADER_ROOM].copy_from_slice(&header);
    Ok(Bytes::from(packet).slice(start..))
}

fn check_name(name: &[u8]) -> Result<(), EncodeError> {
    let mut reader = TlvReader::new(name);
    let mut len = 0;
    while let Some(component) = reader.next()? {
        len += 1;
        if component.kind == types::PARAMETERS_SHA256_DIGEST {
            return Err(EncodeError::Name("the ParametersSha256Digest component (2) is appended, not given"));
        }
    }
    if len == 0 { Err(EncodeError::Name("the name of an Interest needs a component")) } else { Ok(()) }
}

fn enclose(kind: u32, inner: &[u8]) -> Result<Bytes, EncodeError> {
    let len = tlv::element_len(kind, inner.len());
    if len > MAX_PACKET {
        return Err(EncodeError::TooLarge(len));
    }
    let mut packet = Vec::with_capacity(len);
    tlv::write_element(&mut packet, kind, inner);
    Ok(Bytes::from(packet))
}
