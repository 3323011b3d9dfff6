//! The packet: a structured header that every node reads, and a body that only the ends interpret.

use std::ops::BitOr;

use crate::arena::{Arena, Stored};
use crate::ndn::name::{Name, Segment};
use crate::scheme::signal::HopSignals;
use crate::units::{ByteCount, Span};

/// Packets in places of their own.
pub type PacketArena<B> = Arena<Packet<B>>;

/// A packet, from the start of a cache line on; `B` is the received bytes on a live node and nearly empty in a simulation.
#[derive(Clone, Debug, PartialEq)]
#[repr(align(64))]
pub struct Packet<B> {
    /// Fields by which a node makes its decisions.
    pub header: Header,
    /// Payload, which nodes do not inspect.
    pub body: B,
}

impl<B> Packet<B> {
    /// A packet with this header and body.
    #[inline]
    pub const fn new(header: Header, body: B) -> Self {
        Self { header, body }
    }

    /// The header and the body.
    pub fn into_parts(self) -> (Header, B) {
        (self.header, self.body)
    }
}

impl<B: Default> Stored for Packet<B> {
    #[inline]
    fn take(&mut self) -> Self {
        Self { header: self.header, body: std::mem::take(&mut self.body) }
    }
}

/// The decoded header of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// Name of the Interest or Data; the flow of a TCP segment.
    pub name: Name,
    /// Packet type and its fields.
    pub kind: Kind,
    /// Signals of this hop only; never cached, never signed.
    pub hop: HopSignals,
    pub(crate) size: u32,
}

// With a body of 8 bytes a packet fills one cache line.
const _: () = assert!(size_of::<Header>() <= 56);

impl Header {
    /// A header for a packet of `size` bytes on the wire, with no hop signals.
    ///
    /// # Panics
    /// When `size` does not fit 32 bits.
    pub fn new(name: Name, kind: Kind, size: ByteCount) -> Self {
        let size = u32::try_from(size.get()).expect("a packet is smaller than 4 GiB");
        Self { name, kind, hop: HopSignals::default(), size }
    }

    /// Bytes on the wire.
    #[inline]
    pub const fn size(&self) -> ByteCount {
        ByteCount::new(self.size as u64)
    }

    /// The token that an answer returns, or that an Interest came with.
    pub const fn token(&self) -> PitToken {
        match self.kind {
            Kind::Interest(interest) => interest.token,
            Kind::Data(data) => data.token,
            Kind::Nack(nack) => nack.interest.token,
            Kind::LossNotice(notice) => notice.token,
            Kind::Tcp(_) => PitToken(0),
        }
    }

    /// Whether a queue may mark it instead of dropping it: all packets but TCP segments without ECN (RFC
    /// 3168, section 5).
    #[inline]
    pub const fn may_be_marked(&self) -> bool {
        match self.kind {
            Kind::Tcp(segment) => !matches!(segment.ecn, Ecn::NotCapable),
            _ => true,
        }
    }

    /// The name by which events refer to it. A TCP segment has its first sequence number in place of its
    /// connection's; one without a position of its own (an ACK) has no segment.
    pub const fn label(&self) -> Name {
        let Kind::Tcp(segment) = self.kind else { return self.name };
        let holds_some =
            segment.payload > 0 || segment.flags.has(TcpFlags::SYN) || segment.flags.has(TcpFlags::FIN);
        Name {
            prefix: self.name.prefix,
            segment: if holds_some { Segment(segment.seq) } else { Segment::NONE },
        }
    }

    /// Whether this is a loss notice.
    #[inline]
    pub const fn is_loss_notice(&self) -> bool {
        matches!(self.kind, Kind::LossNotice(_))
    }
}

/// Packet types; Tcp segments share links and queues with NDN packets.
#[derive(Clone, Copy, Debug, PartialEq)]
// Exhaustive: a codec that missed a new packet type must be found by the compiler.
pub enum Kind {
    /// A request for one Data.
    Interest(Interest),
    /// The answer to one Interest, with its content.
    Data(Data),
    /// The refusal of one Interest, with the reason.
    Nack(Nack),
    /// Reports that the Data of this name overflowed a queue and will come later (PLR, section IV.B, "ELN").
    LossNotice(LossNotice),
    /// A TCP segment, which forwarders pass on by its destination.
    Tcp(TcpSegment),
}

/// Whole milliseconds, 0..=2^32-1, as lifetimes and freshness periods stand on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(pub u32);

impl Millis {
    /// `span` rounded down to the millisecond; saturates.
    pub fn from_span(span: Span) -> Self {
        Self(u32::try_from(span.as_nanos() / 1_000_000).unwrap_or(u32::MAX))
    }

    /// The same length of time as a [`Span`].
    #[inline]
    pub const fn span(self) -> Span {
        Span::from_millis(self.0 as u64)
    }
}

/// An opaque handle that the answer must echo; the live driver maps it to the peer's PIT token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PitToken(pub u32);

/// Fields of an Interest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interest {
    /// Fresh per transmission; recognises loops.
    pub nonce: u32,
    /// Maximum time for which the Interest may stay pending.
    pub lifetime: Millis,
    /// Echoed in the answer.
    pub token: PitToken,
    /// Hops left; decremented by every node. `None` when no limit was given.
    pub hop_limit: Option<u8>,
    /// Whether Data under the name may answer.
    pub can_be_prefix: bool,
    /// Whether only fresh Data may answer.
    pub must_be_fresh: bool,
}

/// Fields of a Data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Data {
    /// Time for which a cache may answer a MustBeFresh Interest.
    pub freshness: Millis,
    /// Last segment of the object, [`Segment::NONE`] if unknown.
    pub final_segment: Segment,
    /// Number of content bytes, without header and signature.
    pub payload: u32,
    /// Token of the Interest it answers.
    pub token: PitToken,
}

/// Fields of a Nack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nack {
    /// Fields of the refused Interest.
    pub interest: Interest,
    /// Reason of the refusal (NDNLPv2).
    pub reason: NackReason,
}

/// Why an Interest was refused (NDNLPv2), least severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
// Exhaustive: NDNLPv2 defines these three, and each needs its number on the wire.
pub enum NackReason {
    /// The link is congested (50).
    Congestion,
    /// The nonce was seen before (100).
    Duplicate,
    /// There is no route to the name (150).
    NoRoute,
}

/// Fields of a loss notice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossNotice {
    /// Token of the Interest it answers.
    pub token: PitToken,
}

/// Fields of a TCP segment; the flow is the packet's name. Packed, so that a header of 56 bytes has room for it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(Rust, packed(2))]
pub struct TcpSegment {
    /// First byte of the payload.
    pub seq: u32,
    /// Next sequence number that the receiver expects.
    pub ack: u32,
    /// Sender's time stamp (RFC 7323), milliseconds.
    pub timestamp: u32,
    /// Echoed time stamp, milliseconds.
    pub echo: u32,
    /// Number of payload bytes, 0 for a pure ACK.
    pub payload: u16,
    /// Bytes that the receiver of the other direction still takes, in units of the scale given on its SYN (RFC 7323, section 2).
    pub window: u16,
    /// SYN, FIN, ACK, ECE, CWR as in the TCP header.
    pub flags: TcpFlags,
    /// ECN capability of the IP header; a mark itself is part of the hop signals.
    pub ecn: Ecn,
}

/// Control bits of the TCP header (RFC 9293, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// SYN: the segment opens the connection.
    pub const SYN: Self = Self(0x02);
    /// The connection is aborted. No end here sends it; traffic monitors parse it.
    pub const RST: Self = Self(0x04);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// A congestion mark arrived (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// The window was reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// These flags, and those of `other` where `is_set`.
    pub fn with_if(self, is_set: bool, other: Self) -> Self {
        if is_set { self | other } else { self }
    }

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for TcpFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// ECN capability of a segment (RFC 3168, section 5; RFC 9331, section 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable: a queue that would mark drops it.
    #[default]
    NotCapable,
    /// ECT(0): a mark has the effect of a loss (RFC 3168).
    Classic,
    /// ECT(1): marked early and often (RFC 9331).
    LowLatency,
}

/// Sizes of the link headers and packet types around a name, for packets made without encoding.
pub mod wire_size {
    use crate::units::ByteCount;

    /// Bytes of an Interest without its name: type and length 2, Nonce 6, lifetime 4, CanBePrefix or hop limit 2.
    const INTEREST_OVERHEAD: u32 = 14;
    /// Bytes of a Data without name and content: type and length 4, MetaInfo 8, SignatureInfo 5, content
    /// header 4, and the 5-byte signature that simulations use in place of a real one.
    const DATA_OVERHEAD: u32 = 26;
    /// Bytes of a loss notice without its name: LpPacket, field 901, Fragment, Data.
    const NOTICE_OVERHEAD: u32 = 12;

    /// Size of an Interest whose Name TLV has `name_len` bytes.
    pub fn interest(name_len: u32) -> ByteCount {
        ByteCount::new(u64::from(name_len + INTEREST_OVERHEAD))
    }

    /// A Data with `payload` bytes of content.
    pub fn data(name_len: u32, payload: u32) -> ByteCount {
        ByteCount::new(u64::from(name_len) + u64::from(DATA_OVERHEAD) + u64::from(payload))
    }

    /// Size of a loss notice, for a name of `name_len` bytes.
    pub fn loss_notice(name_len: u32) -> ByteCount {
        ByteCount::new(u64::from(name_len + NOTICE_OVERHEAD))
    }
}
