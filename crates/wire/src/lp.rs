//! Link frames (NDNLPv2): a bare Interest or Data, one with link fields, or a fragment of one.
//!
//! Deviation: a field that is unknown but ignorable may be repeated, since only its specification states
//! whether it may; every known field is present at most once, as ndn-cxx requires. An integer under the
//! number of a signal counts as known, whatever scheme it belongs to.

use bytes::Bytes;
use tidegate_core::ndn::packet::NackReason;
use tidegate_core::scheme::signal::{HopSignals, Signal};

use crate::error::DecodeError;
use crate::tlv::{Element, TlvReader, types};
use crate::token::Token;

/// A field by which the ends of a link find out how large its frames may be, each of which has the number of the probe. The
/// sender chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathProbe {
    /// A frame of the size to be tried, whose receiver confirms it.
    Request(u64),
    /// The frame with the request of this number has arrived.
    Reply(u64),
}

/// Link fields of one frame, or of the message reassembled from several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LpFields {
    /// Sequence; required if the frame is one of several.
    pub sequence: Option<u64>,
    /// FragIndex of the fragment, below `frag_count`.
    pub frag_index: u64,
    /// FragCount; 1 if the frame has the whole packet.
    pub frag_count: u64,
    /// PitToken of the sender, if any.
    pub token: Option<Token>,
    /// Reason why the Interest in the frame was refused; `None` if it was not.
    pub nack: Option<NackReason>,
    /// Whether the Data in the frame is a loss notice, which has only a name.
    pub loss_notice: bool,
    /// NextHopFaceId: the face that the Interest in the frame is to be sent to, if one is requested.
    pub next_hop: Option<u64>,
    /// Whether the CachePolicy of the Data in the frame is NoCache.
    pub no_cache: bool,
    /// Probe of the path's MTU in the frame, or confirmation of one.
    pub path_probe: Option<PathProbe>,
    /// Mark and signals of the link.
    pub hop: HopSignals,
    /// TxSequence: number of this transmission, which the receiver acknowledges.
    pub tx_sequence: Option<u64>,
}

impl Default for LpFields {
    fn default() -> Self {
        Self {
            sequence: None,
            frag_index: 0,
            frag_count: 1,
            token: None,
            nack: None,
            loss_notice: false,
            next_hop: None,
            no_cache: false,
            path_probe: None,
            hop: HopSignals::default(),
            tx_sequence: None,
        }
    }
}

/// A frame, or the message reassembled from several.
#[derive(Clone, Debug, PartialEq)]
pub struct LpPacket {
    /// Link fields of the packet.
    pub fields: LpFields,
    /// TxSequence numbers that the sender acknowledges (Ack); of a reassembled message none.
    pub acks: Vec<u64>,
    /// The packet or a part of it; empty in a frame that carries none (IDLE).
    pub fragment: Bytes,
}

/// Reads one frame; an Interest or Data without link fields is a frame as well.
///
/// The fragment is a part of `frame`, not a copy. Fields of which only those of the first fragment count are
/// read on every fragment; [`Reassembler`](crate::Reassembler) keeps those of the first.
///
/// # Errors
/// When the frame is not exactly one Interest, Data or LpPacket, or a link field is wrong.
#[inline]
pub fn decode_frame(frame: Bytes) -> Result<LpPacket, DecodeError> {
    let outer = TlvReader::new(&frame).only()?;
    match outer.kind {
        types::INTEREST | types::DATA => {
            Ok(LpPacket { fields: LpFields::default(), acks: Vec::new(), fragment: frame })
        }
        types::LP_PACKET => {
            let (mut fields, mut acks) = (LpFields::default(), Vec::new());
            let range = match fields.read(&outer, &mut acks)? {
                Some(fragment) => fragment.value_range(),
                None => 0..0,
            };
            Ok(LpPacket { fields, acks, fragment: frame.slice(range) })
        }
        element => {
            Err(DecodeError::Unexpected { element, accepted: "Interest (5), Data (6), LpPacket (100)" })
        }
    }
}

impl LpFields {
    /// Reads the fields of an LpPacket, of which `acks` may be repeated; returns the Fragment if there is one.
    fn read<'a>(
        &mut self,
        outer: &Element<'a>,
        acks: &mut Vec<u64>,
    ) -> Result<Option<Element<'a>>, DecodeError> {
        let mut reader = outer.inside();
        let mut last = 0;
        let mut fragment = None;
        while let Some(element) = reader.next()? {
            let kind = element.kind;
            // Fragment, which has the lowest number, comes last.
            if fragment.is_some() || (kind != types::FRAGMENT && kind < last) {
                return Err(DecodeError::OutOfOrder { element: kind, inside: types::LP_PACKET });
            }
            if kind == types::FRAGMENT {
                fragment = Some(element);
            } else if kind == types::ACK {
                acks.push(u64::from_be_bytes(element.bytes("8")?));
                last = kind;
            // Only fields that are understood may not be repeated; of an ignorable one nothing is known.
            } else if self.take(&element)? && kind == last {
                return Err(DecodeError::OutOfOrder { element: kind, inside: types::LP_PACKET });
            } else {
                last = kind;
            }
        }
        if self.frag_index >= self.frag_count {
            let (index, count) = (self.frag_index, self.frag_count);
            return Err(DecodeError::Fragment { index, count, why: "the index must be below the count" });
        }
        // Fragments are matched by sequence numbers alone (NDNLPv2, Fragmentation).
        if self.frag_count > 1 && self.sequence.is_none() {
            return Err(DecodeError::Missing { element: types::SEQUENCE, inside: types::LP_PACKET });
        }
        Ok(fragment)
    }

    /// Reads one field; returns `false` if it must be ignored.
    fn take(&mut self, field: &Element<'_>) -> Result<bool, DecodeError> {
        match field.kind {
            types::SEQUENCE => self.sequence = Some(u64::from_be_bytes(field.bytes("8")?)),
            types::FRAG_INDEX => self.frag_index = field.integer()?,
            types::FRAG_COUNT => self.frag_count = field.integer()?,
            types::PIT_TOKEN => self.token = Some(Token::new(field.value)?),
            types::NACK => self.nack = Some(nack_reason(field)?),
            types::NEXT_HOP_FACE_ID => self.next_hop = Some(field.integer()?),
            types::CACHE_POLICY => self.no_cache = read_no_cache(field)?,
            types::PATH_PROBE => self.path_probe = Some(PathProbe::Request(probe_number(field)?)),
            types::PATH_PROBE_REPLY => self.path_probe = Some(PathProbe::Reply(probe_number(field)?)),
            // Any value above 0 is a mark; larger ones than a byte keep that meaning.
            types::CONGESTION_MARK => self.hop.mark = u8::try_from(field.integer()?).unwrap_or(u8::MAX),
            types::TX_SEQUENCE => self.tx_sequence = Some(u64::from_be_bytes(field.bytes("8")?)),
            types::LOSS_NOTICE => self.loss_notice = field.bytes::<0>("0").map(|_| true)?,
            kind => match Signal::with_type(kind) {
                Some(signal) => {
                    // A value that is no integer belongs to an extension that is not known here.
                    let Ok(value) = field.integer() else { return Ok(false) };
                    // A fourth signal finds no place and is ignored.
                    self.hop.set(signal, u32::try_from(value).unwrap_or(u32::MAX));
                }
                None if is_ignorable(kind) => return Ok(false),
                None => return Err(DecodeError::Critical { element: kind, inside: types::LP_PACKET }),
            },
        }
        Ok(true)
    }
}

/// Whether an unknown link field may be ignored (NDNLPv2).
pub const fn is_ignorable(kind: u32) -> bool {
    kind >= 800 && kind <= 959 && kind.is_multiple_of(4)
}

/// The number at the start of a probe; what follows it makes the frame as large as it has to be.
fn probe_number(probe: &Element<'_>) -> Result<u64, DecodeError> {
    let number = probe.value.first_chunk().copied();
    number.map(u64::from_be_bytes).ok_or(DecodeError::Length {
        element: probe.kind,
        bytes: probe.value.len(),
        accepted: "at least 8",
    })
}

/// Whether a CachePolicy, which has one type, is NoCache (1), the only one that is defined.
fn read_no_cache(policy: &Element<'_>) -> Result<bool, DecodeError> {
    let missing = DecodeError::Missing { element: types::CACHE_POLICY_TYPE, inside: types::CACHE_POLICY };
    let kind = policy.inside().next()?.filter(|element| element.kind == types::CACHE_POLICY_TYPE);
    kind.ok_or(missing)?.integer().map(|kind| kind == 1)
}

/// The reason in a Nack field. A missing or unknown reason counts as [`NackReason::NoRoute`]: it is only
/// certain that this path does not lead to the Data; nothing indicates congestion.
fn nack_reason(nack: &Element<'_>) -> Result<NackReason, DecodeError> {
    let mut reader = nack.inside();
    let mut reason = None;
    while let Some(element) = reader.next()? {
        if element.kind == types::NACK_REASON && reason.is_none() {
            reason = Some(element.integer()?);
        } else if element.kind == types::NACK_REASON {
            return Err(DecodeError::OutOfOrder { element: element.kind, inside: types::NACK });
        // NDNLPv2: a receiver drops a packet with an unknown field that is not ignorable.
        } else if !is_ignorable(element.kind) {
            return Err(DecodeError::Critical { element: element.kind, inside: types::NACK });
        }
    }
    Ok(match reason {
        Some(50) => NackReason::Congestion,
        Some(100) => NackReason::Duplicate,
        // NFD treats an absent or unknown reason as None; the core has no such reason and treats it as the
        // final one.
        _ => NackReason::NoRoute,
    })
}

/// The NDNLPv2 number of a reason.
pub(crate) const fn reason_code(reason: NackReason) -> u64 {
    match reason {
        NackReason::Congestion => 50,
        NackReason::Duplicate => 100,
        NackReason::NoRoute => 150,
    }
}
