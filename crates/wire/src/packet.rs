//! From a message of the link layer to a packet of the forwarder.

use bytes::Bytes;
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::packet::{Header, Interest, Kind, LossNotice, Nack, Packet, PitToken};
use tidegate_core::scheme::signal::Class;
use tidegate_core::units::ByteCount;

use crate::data::{DataView, name_of};
use crate::error::DecodeError;
use crate::interest::InterestView;
use crate::lp::LpFields;
use crate::name::NameView;
use crate::tlv::{self, types};

/// Maximum size of a network-layer packet, bytes; NFD's MAX_NDN_PACKET_SIZE.
pub const MAX_PACKET: usize = 8_800;

/// Reads a whole packet: the payload of a frame, or of a message reassembled from several.
///
/// The packet's body is `payload` itself; that of a loss notice is empty. `fresh_nonce` makes the nonce
/// of an Interest that has none. The result has no token: the caller maps `fields.token`.
///
/// # Errors
/// If the payload is not exactly one valid Interest or Data of at most [`MAX_PACKET`] bytes, or does not
/// match the fields: a Nack has an Interest, a loss notice has a Data with only a name.
#[inline]
pub fn decode_packet(
    fields: &LpFields,
    payload: Bytes,
    names: &mut NameTable,
    fresh_nonce: &mut dyn FnMut() -> u32,
) -> Result<Packet<Bytes>, DecodeError> {
    if payload.len() > MAX_PACKET {
        return Err(DecodeError::TooLarge(payload.len()));
    }
    if fields.loss_notice {
        return decode_loss_notice(fields, &payload, names);
    }
    // A Nack has its Interest as payload.
    let is_interest = payload.first() == Some(&(types::INTEREST as u8));
    let (name, kind) = if is_interest || fields.nack.is_some() {
        let (name, interest) = InterestView::parse(&payload)?.header(names, fresh_nonce)?;
        (name, refused_or_not(interest, fields))
    } else {
        let (name, data) = DataView::parse(&payload)?.header(names)?;
        (name, Kind::Data(data))
    };
    let mut header = Header::new(name, kind, ByteCount::new(payload.len() as u64));
    header.hop = fields.hop;
    Ok(Packet::new(header, payload))
}

fn refused_or_not(interest: Interest, fields: &LpFields) -> Kind {
    match fields.nack {
        Some(reason) => Kind::Nack(Nack { interest, reason }),
        None => Kind::Interest(interest),
    }
}

fn decode_loss_notice(
    fields: &LpFields,
    payload: &Bytes,
    names: &mut NameTable,
) -> Result<Packet<Bytes>, DecodeError> {
    if fields.nack.is_some() {
        return Err(DecodeError::Unexpected { element: types::NACK, accepted: "no Nack on a loss notice" });
    }
    let (data, name) = name_of(payload)?;
    if name.end() != data.end() {
        return Err(DecodeError::Trailing(data.end() - name.end()));
    }
    let name = names.intern(NameView::parse(&name)?.components())?;
    let notice = Kind::LossNotice(LossNotice { token: PitToken::default() });
    // The size of a notice does not depend on the token and the signals of one hop.
    let mut header = Header::new(name, notice, loss_notice_size(names.encoded_len(name)));
    header.hop = fields.hop;
    // Its class is not on the wire: every loss notice is of high priority (PLR, section IV.B).
    header.hop.class = Class::NOTICE;
    Ok(Packet::new(header, Bytes::new()))
}

/// Size of a loss notice on the wire, without token and signals; `name_len` is the length of the whole Name.
pub fn loss_notice_size(name_len: u32) -> ByteCount {
    let data = tlv::element_len(types::DATA, name_len as usize);
    let fragment = tlv::element_len(types::FRAGMENT, data);
    let fields = tlv::element_len(types::LOSS_NOTICE, 0);
    ByteCount::new(tlv::element_len(types::LP_PACKET, fields + fragment) as u64)
}
