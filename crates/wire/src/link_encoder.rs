//! From the forwarder's packet to frames: with link fields if there are any, and fragments if the
//! packet is larger than the MTU of the link.

use bytes::Bytes;
use tidegate_core::ndn::name::{Name, NameTable};
use tidegate_core::ndn::packet::{Header, Kind, NackReason, Packet};
use tidegate_core::scheme::signal::HopSignals;

use crate::batch::FrameBatch;
use crate::error::EncodeError;
use crate::link_frame::{LABEL_LEN, LinkFrame};
use crate::lp::reason_code;
use crate::packet::MAX_PACKET;
use crate::rewrite::rewrite;
use crate::tlv::{self, types};
use crate::token::Token;

/// Maximum number of fragments of a packet. 128 frames of 128 bytes carry the largest packet.
pub const MAX_FRAGMENTS: usize = 128;

/// Makes the frames of one link, in one direction.
#[derive(Debug)]
pub struct LinkEncoder {
    mtu: Option<usize>,
    sequence: u64,
    /// IncomingFaceId of the next packets.
    incoming_face: Option<u64>,
    /// Link fields of the current packet.
    fields: Vec<u8>,
    /// The current packet, if it is not sent as received.
    rewritten: Vec<u8>,
}

/// Link fields other than those of fragmentation.
struct Stated<'a> {
    token: Option<&'a Token>,
    nack: Option<NackReason>,
    loss_notice: bool,
    incoming_face: Option<u64>,
    hop: &'a HopSignals,
}

impl LinkEncoder {
    /// An encoder for frames of at most `mtu` bytes (`None` for any size) that counts its fragments from
    /// `first_sequence`, which should differ between runs.
    pub const fn new(mtu: Option<usize>, first_sequence: u64) -> Self {
        Self { mtu, sequence: first_sequence, incoming_face: None, fields: Vec::new(), rewritten: Vec::new() }
    }

    /// Changes the maximum size of a frame, bytes.
    pub const fn set_mtu(&mut self, mtu: usize) {
        self.mtu = Some(mtu);
    }

    /// Maximum size of a frame, bytes; `None` for any size.
    pub const fn mtu(&self) -> Option<usize> {
        self.mtu
    }

    /// Sets the IncomingFaceId that the next packets have; `None` for none.
    pub const fn set_incoming_face(&mut self, number: Option<u64>) {
        self.incoming_face = number;
    }

    /// Appends the frames of `packet` to `batch`.
    ///
    /// The bytes of an Interest, refused or not, get the nonce and the hop limit of the header; everything else
    /// is sent as it is. `token` is the peer's to be echoed, or ours on an Interest. After an error `batch` is
    /// as before.
    ///
    /// # Errors
    /// When the packet is larger than [`MAX_PACKET`], needs more than [`MAX_FRAGMENTS`] fragments, or its body
    /// is no Interest though the header says so.
    pub fn encode(
        &mut self,
        packet: &Packet<Bytes>,
        token: Option<&Token>,
        names: &NameTable,
        batch: &mut FrameBatch,
    ) -> Result<(), EncodeError> {
        let (is_rewritten, payload_len, _) = self.prepare(packet, token, names)?;
        let payload =
            if is_rewritten { Payload::Copied(&self.rewritten) } else { Payload::Shared(&packet.body) };
        // A packet without link fields needs no LpPacket around it (NDNLPv2).
        let whole = match self.fields.len() {
            0 => payload_len,
            fields => {
                tlv::element_len(types::LP_PACKET, fields + tlv::element_len(types::FRAGMENT, payload_len))
            }
        };
        match self.mtu {
            Some(mtu) if whole > mtu => {
                let cut = Cut::of(payload_len, self.fields.len(), mtu)?;
                cut.write(&self.fields, payload, self.sequence, batch);
                self.sequence = self.sequence.wrapping_add(cut.count as u64);
            }
            _ => write_whole(&self.fields, payload, batch),
        }
        Ok(())
    }

    /// Divides `packet` into frames whose labels are added later, each with room for a TxSequence. With `is_numbered`
    /// a packet that fits one frame has a Sequence, too, as NDNLPv2 requires of what may be retransmitted.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn cut(
        &mut self,
        packet: &Packet<Bytes>,
        token: Option<&Token>,
        names: &NameTable,
        is_numbered: bool,
    ) -> Result<Vec<LinkFrame>, EncodeError> {
        let (is_rewritten, payload_len, labels_at) = self.prepare(packet, token, names)?;
        let payload =
            if is_rewritten { Bytes::copy_from_slice(&self.rewritten) } else { packet.body.clone() };
        let own = if is_numbered { SEQUENCE_LEN } else { 0 };
        let inner = own + self.fields.len() + tlv::element_len(types::FRAGMENT, payload_len);
        let room = self.mtu.map(|mtu| mtu.saturating_sub(label_room(mtu)));
        if room.is_none_or(|room| tlv::element_len(types::LP_PACKET, inner) <= room) {
            let sequence = is_numbered.then(|| self.next_sequence());
            let frame = LinkFrame::new(sequence.map(|at| (at, 0, 1)), &self.fields, labels_at, payload);
            return Ok(vec![frame]);
        }
        let cut = Cut::of(payload_len, self.fields.len(), room.unwrap_or(usize::MAX))?;
        let frames = (0..cut.count).map(|index| {
            let (fields, labels_at) = if index == 0 { (&self.fields[..], labels_at) } else { (&[][..], 0) };
            let sequence = self.sequence.wrapping_add(index as u64);
            let place = Some((sequence, index, cut.count));
            LinkFrame::new(place, fields, labels_at, payload.slice(cut.range(index, payload_len)))
        });
        let frames = frames.collect();
        self.sequence = self.sequence.wrapping_add(cut.count as u64);
        Ok(frames)
    }

    fn next_sequence(&mut self) -> u64 {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        sequence
    }

    /// Writes the link fields of a packet, and its bytes if they change; returns whether they do, their number, and the
    /// offset of labels among the fields.
    #[inline]
    fn prepare(
        &mut self,
        packet: &Packet<Bytes>,
        token: Option<&Token>,
        names: &NameTable,
    ) -> Result<(bool, usize, usize), EncodeError> {
        let header = &packet.header;
        // Most packets leave with the bytes that they came with; only changed ones are copied.
        let is_rewritten = self.rewrite(header, &packet.body, names)?;
        let payload_len = if is_rewritten { self.rewritten.len() } else { packet.body.len() };
        if payload_len > MAX_PACKET {
            return Err(EncodeError::TooLarge(payload_len));
        }
        self.fields.clear();
        let stated = Stated { incoming_face: self.incoming_face, ..Stated::about(header, token) };
        let labels_at = stated.write(&mut self.fields);
        Ok((is_rewritten, payload_len, labels_at))
    }

    /// Re-encodes the packet if its bytes cannot be sent unchanged; returns whether it did.
    #[inline]
    fn rewrite(&mut self, header: &Header, body: &[u8], names: &NameTable) -> Result<bool, EncodeError> {
        match &header.kind {
            Kind::Data(_) => Ok(false),
            Kind::Interest(interest) => Ok(rewrite(interest, body, &mut self.rewritten)?),
            // The peer compares the nonce of a Nack with that of its Interest.
            Kind::Nack(nack) => Ok(rewrite(&nack.interest, body, &mut self.rewritten)?),
            Kind::LossNotice(_) => {
                self.write_named_data(header.name, names);
                Ok(true)
            }
            Kind::Tcp(_) => Err(EncodeError::NotNdn),
        }
    }

    /// Writes `Data { Name }`, the payload of a loss notice.
    fn write_named_data(&mut self, name: Name, names: &NameTable) {
        let out = &mut self.rewritten;
        out.clear();
        let name_len = names.encoded_len(name) as usize;
        tlv::write_header(out, types::DATA, name_len);
        // A length of up to 252 takes one byte, a longer one three; the type of a name takes one.
        let header_len = if name_len <= 254 { 2 } else { 4 };
        tlv::write_header(out, types::NAME, name_len - header_len);
        names.write_components(name, out);
    }
}

impl<'a> Stated<'a> {
    const fn about(header: &'a Header, token: Option<&'a Token>) -> Self {
        let (nack, loss_notice) = match &header.kind {
            Kind::Nack(nack) => (Some(nack.reason), false),
            Kind::LossNotice(_) => (None, true),
            _ => (None, false),
        };
        Self { token, nack, loss_notice, incoming_face: None, hop: &header.hop }
    }

    /// Appends the fields in the order of their numbers; returns the offset at which acknowledgements belong.
    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> usize {
        if let Some(token) = self.token {
            tlv::write_element(out, types::PIT_TOKEN, token.as_bytes());
        }
        if let Some(reason) = self.nack {
            let code = reason_code(reason);
            let reason_len = tlv::element_len(types::NACK_REASON, tlv::integer_len(code));
            tlv::write_header(out, types::NACK, reason_len);
            tlv::write_integer(out, types::NACK_REASON, code);
        }
        if let Some(number) = self.incoming_face {
            tlv::write_integer(out, types::INCOMING_FACE_ID, number);
        }
        if self.hop.mark > 0 {
            tlv::write_integer(out, types::CONGESTION_MARK, u64::from(self.hop.mark));
        }
        let labels_at = out.len();
        // Fields stand in the order of their types, so the loss notice goes between the signals.
        if self.hop.has_any() {
            self.write_signals(|number| number < types::LOSS_NOTICE, out);
        }
        if self.loss_notice {
            tlv::write_element(out, types::LOSS_NOTICE, &[]);
        }
        if self.hop.has_any() {
            self.write_signals(|number| number > types::LOSS_NOTICE, out);
        }
        labels_at
    }

    /// Appends the signals whose types fulfil `belong`.
    fn write_signals(&self, belong: fn(u32) -> bool, out: &mut Vec<u8>) {
        for (number, value) in self.hop.fields().filter(|(number, _)| belong(*number)) {
            tlv::write_integer(out, number, u64::from(value));
        }
    }
}

/// Bytes of a packet: from the buffer of the encoder, or from one that can be shared.
#[derive(Clone, Copy)]
enum Payload<'a> {
    Copied(&'a [u8]),
    Shared(&'a Bytes),
}

impl Payload<'_> {
    fn len(self) -> usize {
        match self {
            Self::Copied(bytes) => bytes.len(),
            Self::Shared(bytes) => bytes.len(),
        }
    }

    /// Completes the frame whose head starts at `start` with a range of the payload.
    #[inline]
    fn end(self, range: std::ops::Range<usize>, start: usize, batch: &mut FrameBatch) {
        match self {
            Self::Copied(bytes) => {
                batch.head().extend_from_slice(&bytes[range]);
                batch.end(start, Bytes::new());
            }
            Self::Shared(bytes) => batch.end(start, bytes.slice(range)),
        }
    }
}

/// Writes the whole packet as one frame; without an LpPacket if there are no fields.
#[inline]
fn write_whole(fields: &[u8], payload: Payload<'_>, batch: &mut FrameBatch) {
    let start = batch.begin();
    if !fields.is_empty() {
        let out = batch.head();
        let fragment = tlv::element_len(types::FRAGMENT, payload.len());
        tlv::write_header(out, types::LP_PACKET, fields.len() + fragment);
        out.extend_from_slice(fields);
        tlv::write_header(out, types::FRAGMENT, payload.len());
    }
    payload.end(0..payload.len(), start, batch);
}

/// Division of a packet into fragments.
#[derive(Debug, PartialEq)]
struct Cut {
    /// Payload bytes of the first fragment, which carries the other link fields.
    first: usize,
    /// Payload bytes of every other fragment but the last.
    other: usize,
    count: usize,
}

/// Bytes of a Sequence.
const SEQUENCE_LEN: usize = 10;

/// Bytes of Sequence, FragIndex and FragCount, of which the last two have one byte of value.
const FRAGMENT_FIELDS: usize = SEQUENCE_LEN + 3 + 3;
const _: () = assert!(MAX_FRAGMENTS <= 255);

impl Cut {
    /// Cuts `payload` bytes for frames of at most `mtu` bytes.
    fn of(payload: usize, fields: usize, mtu: usize) -> Result<Self, EncodeError> {
        let too_small = EncodeError::Mtu { packet: payload, mtu };
        // Twice: once for the frame's own header, once for that of the fragment in it.
        let room = |fields: usize| value_room(value_room(mtu).saturating_sub(fields));
        let (first, other) = (room(FRAGMENT_FIELDS + fields), room(FRAGMENT_FIELDS));
        if first == 0 || first >= payload {
            return Err(too_small);
        }
        let count = 1 + (payload - first).div_ceil(other);
        if count > MAX_FRAGMENTS { Err(too_small) } else { Ok(Self { first, other, count }) }
    }

    /// Bytes of fragment `index` of `payload` bytes.
    fn range(&self, index: usize, payload: usize) -> std::ops::Range<usize> {
        let start = |index: usize| if index == 0 { 0 } else { self.first + (index - 1) * self.other };
        start(index)..start(index + 1).min(payload)
    }

    fn write(&self, fields: &[u8], payload: Payload<'_>, sequence: u64, batch: &mut FrameBatch) {
        for index in 0..self.count {
            // NDNLPv2 puts the fields of the packet on the first fragment only.
            let fields = if index == 0 { fields } else { &[] };
            let range = self.range(index, payload.len());
            let start = batch.begin();
            let out = batch.head();
            let fragment = tlv::element_len(types::FRAGMENT, range.len());
            tlv::write_header(out, types::LP_PACKET, FRAGMENT_FIELDS + fields.len() + fragment);
            write_place(out, sequence.wrapping_add(index as u64), index, self.count);
            out.extend_from_slice(fields);
            tlv::write_header(out, types::FRAGMENT, range.len());
            payload.end(range, start, batch);
        }
    }
}

/// Appends Sequence, FragIndex and FragCount; the last two only if there are several fragments.
pub(crate) fn write_place(out: &mut Vec<u8>, sequence: u64, index: usize, count: usize) {
    tlv::write_element(out, types::SEQUENCE, &sequence.to_be_bytes());
    if count > 1 {
        tlv::write_integer(out, types::FRAG_INDEX, index as u64);
        tlv::write_integer(out, types::FRAG_COUNT, count as u64);
    }
}

/// Bytes of a frame of at most `mtu` that stay free for its TxSequence.
const fn label_room(mtu: usize) -> usize {
    // A short frame, of at most 254 bytes, becomes one whose length takes two bytes more; none has 255 or 256.
    if mtu <= 255 + LABEL_LEN { LABEL_LEN + 2 } else { LABEL_LEN }
}

/// Maximum size of the value in an element of at most `len` bytes whose type takes one byte.
const fn value_room(len: usize) -> usize {
    match len {
        0..=1 => 0,
        2..=254 => len - 2,
        // A value of 253 bytes would need a longer length.
        255..=257 => 252,
        _ => len - 4,
    }
}
