//! The link layer of one face: frames in, packets out, and the reverse.
//!
//! What a peer sends is never a reason to fail: what cannot be read is counted and dropped.

use bytes::Bytes;
use tidegate_core::name::NameTable;
use tidegate_core::packet::{Kind, Packet, PitToken};
use tidegate_core::rng::Rng;
use tidegate_core::units::Time;
use tidegate_wire::{FrameBatch, LinkEncoder, Reassembler, Token, decode_frame, decode_packet};

use crate::tokens::TokenTable;

/// What a node's faces share while frames become packets.
#[derive(Debug)]
pub struct LinkContext<'a> {
    /// The time now.
    pub now: Time,
    /// All names of the node.
    pub names: &'a mut NameTable,
    /// PIT tokens of the node's peers.
    pub tokens: &'a mut TokenTable,
    /// Nonces for Interests that came without one.
    pub nonces: &'a mut Rng,
}

/// What one face's link layer counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Frames received.
    pub frames_in: u64,
    /// Packets made of them.
    pub packets_in: u64,
    /// Frames handed to the socket's batch.
    pub frames_out: u64,
    /// Packets they carry.
    pub packets_out: u64,
    /// Received frames and packets that are malformed or not understood.
    pub malformed: u64,
    /// Packets put together from several frames.
    pub reassembled: u64,
    /// Packets cut into several frames.
    pub fragmented: u64,
    /// Frames without a packet.
    pub idle: u64,
    /// Interests dropped because too many PIT tokens are held.
    pub tokens_refused: u64,
    /// Packets that cannot be sent here: too large for the frames, or none of ours.
    pub unsendable: u64,
}

/// The link layer of one face.
#[derive(Debug)]
pub struct LinkService {
    reassembler: Reassembler,
    encoder: LinkEncoder,
    counters: LinkCounters,
}

impl LinkService {
    /// A link layer for frames of at most `mtu` bytes (`None`: any size); `first_sequence` numbers its first
    /// fragment and should be random.
    pub fn new(mtu: Option<usize>, first_sequence: u64) -> Self {
        Self {
            reassembler: Reassembler::default(),
            encoder: LinkEncoder::new(mtu, first_sequence),
            counters: LinkCounters::default(),
        }
    }

    /// Takes in a frame; the packet that it completes, if it does.
    pub fn receive(&mut self, frame: Bytes, cx: &mut LinkContext<'_>) -> Option<Packet<Bytes>> {
        self.counters.frames_in += 1;
        let Ok(message) = decode_frame(frame) else { return self.drop_malformed() };
        let is_part = message.fields.frag_count > 1;
        let message = if is_part {
            match self.reassembler.accept(cx.now, message) {
                Ok(message) => message?,
                Err(_) => return self.drop_malformed(),
            }
        } else {
            message
        };
        if message.fragment.is_empty() {
            self.counters.idle += 1;
            return None;
        }
        let mut nonce = || (cx.nonces.bits() >> 32) as u32;
        let decoded = decode_packet(&message.fields, message.fragment, cx.names, &mut nonce);
        let Ok(mut packet) = decoded else { return self.drop_malformed() };
        // Tokens on answers echo ours; we send none.
        if let (Kind::Interest(interest), Some(token)) = (&mut packet.header.kind, message.fields.token) {
            let Some(handle) = cx.tokens.insert(token) else {
                self.counters.tokens_refused += 1;
                return None;
            };
            interest.token = handle;
        }
        self.counters.reassembled += u64::from(is_part);
        self.counters.packets_in += 1;
        Some(packet)
    }

    fn drop_malformed(&mut self) -> Option<Packet<Bytes>> {
        self.counters.malformed += 1;
        None
    }

    /// Appends the frames of `packet` to `batch`; a packet that cannot be sent here is counted and dropped.
    pub fn send(
        &mut self,
        packet: &Packet<Bytes>,
        names: &NameTable,
        tokens: &TokenTable,
        batch: &mut FrameBatch,
    ) {
        let token = echoed(&packet.header.kind).and_then(|handle| tokens.get(handle));
        let before = batch.len();
        if self.encoder.encode(packet, token, names, batch).is_err() {
            self.counters.unsendable += 1;
            return;
        }
        let frames = (batch.len() - before) as u64;
        self.counters.packets_out += 1;
        self.counters.frames_out += frames;
        self.counters.fragmented += u64::from(frames > 1);
    }

    /// What was counted so far.
    pub fn counters(&self) -> LinkCounters {
        self.counters
    }

    /// Bytes of the largest frame sent; `None`: any size.
    pub fn mtu(&self) -> Option<usize> {
        self.encoder.mtu()
    }
}

/// The token that an answer echoes. An Interest carries none upstream: we find our entry by name.
fn echoed(kind: &Kind) -> Option<PitToken> {
    match kind {
        Kind::Data(data) => Some(data.token),
        Kind::Nack(nack) => Some(nack.interest.token),
        Kind::LossNotice(notice) => Some(notice.token),
        Kind::Interest(_) | Kind::Tcp(_) => None,
    }
}
