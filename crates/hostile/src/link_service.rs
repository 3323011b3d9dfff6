//! Frames from anywhere: what a link layer makes of them goes over a narrow link and arrives as it was.

use bytes::Bytes;
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::packet::{Data, Interest, Kind, LossNotice, Nack, NackReason, Packet, PitToken};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{Span, Time};
use tidegate_live::link_service::{GenericLinkService, LinkContext};
use tidegate_live::tokens::TokenTable;
use tidegate_wire::{FrameBatch, MAX_PACKET, decode_frame};

/// Frames this wide hold all link fields and, 128 of them, the largest packet.
const WIDE_ENOUGH: usize = 200;

/// Bytes that a nonce and a hop limit add to an Interest that came without.
const ADDED: usize = 13;

/// How wide the narrow link is, then frames: time before each, length, bytes. A length past the end takes the
/// rest.
pub fn check(data: &[u8]) {
    let Some((width, mut rest)) = data.split_first() else { return };
    let mut world = World::new(64 + usize::from(*width) * 6);
    while let Some(([time, high, low], tail)) = rest.split_first_chunk::<3>() {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(tail.len());
        let (frame, tail) = tail.split_at(len);
        rest = tail;
        world.now += Span::from_millis(u64::from(*time));
        world.take_in(frame);
    }
}

struct World {
    now: Time,
    names: NameTable,
    tokens: TokenTable,
    nonces: Rng,
    received: GenericLinkService,
    near: GenericLinkService,
    far: GenericLinkService,
    width: usize,
    token: PitToken,
}

impl World {
    fn new(width: usize) -> Self {
        Self {
            now: Time::ZERO,
            names: NameTable::new(),
            tokens: TokenTable::new(),
            nonces: Rng::stream(Seed(1), "nonces"),
            received: GenericLinkService::new(Some(1400), 0),
            near: GenericLinkService::new(Some(width), u64::MAX - 3),
            far: GenericLinkService::new(Some(width), 0),
            width,
            token: PitToken(0),
        }
    }

    fn take_in(&mut self, frame: &[u8]) {
        let frame = Bytes::copy_from_slice(frame);
        let Self { now, names, tokens, nonces, received, .. } = self;
        let packet = received.receive(frame, &mut LinkContext { now: *now, names, tokens, nonces });
        let counters = received.counters();
        let reported = counters.packets_in + counters.malformed + counters.idle + counters.tokens_refused;
        assert!(reported <= counters.frames_in);
        let Some(mut packet) = packet else { return };
        match packet.header.kind {
            Kind::Interest(interest) => {
                self.token = interest.token;
                self.goes_over(&packet, PitToken(0));
                let reason =
                    [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute][self.width % 3];
                packet.header.kind = Kind::Nack(Nack { interest, reason });
                self.goes_over(&packet, interest.token);
            }
            Kind::Data(data) => {
                packet.header.kind = Kind::Data(Data { token: self.token, ..data });
                self.goes_over(&packet, self.token);
            }
            Kind::LossNotice(_) => {
                packet.header.kind = Kind::LossNotice(LossNotice { token: self.token });
                self.goes_over(&packet, self.token);
            }
            _ => self.goes_over(&packet, PitToken(0)),
        }
    }

    /// Sends a packet over the narrow link, where it has to arrive with the token `token`.
    fn goes_over(&mut self, packet: &Packet<Bytes>, token: PitToken) {
        let mut batch = FrameBatch::new();
        let unsendable = self.near.counters().unsendable;
        self.near.send(Time::ZERO, packet, &self.names, &self.tokens, &mut batch);
        if self.near.counters().unsendable > unsendable {
            assert!(batch.is_empty());
            assert!(self.width < WIDE_ENOUGH || packet.body.len() + ADDED > MAX_PACKET, "{}", self.width);
            return;
        }
        let frames: Vec<Bytes> = batch.iter().map(|(head, body)| [head, body].concat().into()).collect();
        assert!(frames.iter().all(|frame| frame.len() <= self.width));
        let first = decode_frame(frames[0].clone()).expect("a frame of ours");
        assert_eq!(first.fields.token.as_ref(), self.tokens.get(token));
        let mut arrived = Vec::new();
        for frame in frames {
            let Self { now, names, tokens, nonces, far, .. } = self;
            arrived.extend(far.receive(frame, &mut LinkContext { now: *now, names, tokens, nonces }));
        }
        let [arrived] = &arrived[..] else { panic!("{} packets", arrived.len()) };
        are_equal(packet, arrived);
        assert_eq!(self.far.counters().malformed, 0);
    }
}

/// Equal but for tokens, which stay on their link, and for the places of nonce and hop limit in the bytes.
fn are_equal(sent: &Packet<Bytes>, arrived: &Packet<Bytes>) {
    assert_eq!((sent.header.name, sent.header.hop), (arrived.header.name, arrived.header.hop));
    assert_eq!(without_token(sent.header.kind), without_token(arrived.header.kind));
    match sent.header.kind {
        Kind::Data(_) => assert_eq!(sent.body, arrived.body),
        Kind::LossNotice(_) => assert_eq!(sent.header.size(), arrived.header.size()),
        _ => assert!(arrived.body.len() <= sent.body.len() + ADDED),
    }
}

fn without_token(kind: Kind) -> Kind {
    let token = PitToken(0);
    match kind {
        Kind::Interest(interest) => Kind::Interest(Interest { token, ..interest }),
        Kind::Data(data) => Kind::Data(Data { token, ..data }),
        Kind::Nack(nack) => Kind::Nack(Nack { interest: Interest { token, ..nack.interest }, ..nack }),
        Kind::LossNotice(_) => Kind::LossNotice(LossNotice { token }),
        Kind::Tcp(segment) => Kind::Tcp(segment),
    }
}
