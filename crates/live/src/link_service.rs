//! The link layer of one face: makes packets of received frames, and frames of packets to send.
//!
//! Input from a peer never causes an error: frames and packets that cannot be parsed are counted and dropped.

use std::fmt;

use bytes::Bytes;
use tidegate_core::link::service::{Labels, LinkService};
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::packet::{Kind, Packet, PitToken};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::Time;
use tidegate_wire::{FrameBatch, LinkEncoder, LpFields, LpPacket, Reassembler, decode_frame, decode_packet};

use crate::path_mtu::PathMtu;
use crate::path_probes::PathProbes;
use crate::reliability::{ReliabilityCounters, ReliableFrames};
use crate::tokens::TokenTable;
use crate::transport::{Transport, UDP_MTU};

/// State that a node's faces share while frames are decoded into packets.
#[derive(Debug)]
pub struct LinkContext<'a> {
    /// Time of the call.
    pub now: Time,
    /// All names of the node.
    pub names: &'a mut NameTable,
    /// PIT tokens of the node's peers.
    pub tokens: &'a mut TokenTable,
    /// Nonces for Interests that came without one.
    pub nonces: &'a mut Rng,
}

/// Counters of one face's link layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Number of frames received.
    pub frames_in: u64,
    /// Number of packets made of them.
    pub packets_in: u64,
    /// Frames handed to the socket's batch.
    pub frames_out: u64,
    /// Packets contained in these frames.
    pub packets_out: u64,
    /// Received frames and packets that are malformed or not understood.
    pub malformed: u64,
    /// Packets reassembled from several frames.
    pub reassembled: u64,
    /// Packets split into several frames.
    pub fragmented: u64,
    /// Frames without a packet.
    pub idle: u64,
    /// Interests dropped because too many PIT tokens are held.
    pub tokens_refused: u64,
    /// Packets that cannot be sent here: too large for the frames, or none of ours.
    pub unsendable: u64,
}

/// Link fields of a received packet that tell the forwarder what to do with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalFields {
    /// NextHopFaceId, if there is one.
    pub next_hop: Option<u64>,
    /// Whether the CachePolicy is NoCache.
    pub no_cache: bool,
}

/// How the maximum size of a face's frames is chosen; frames of a stream have any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtuPlan {
    /// This size, bytes, which is configured.
    Configured(usize),
    /// Frames of [`UDP_MTU`] bytes.
    Default,
    /// The default, and more over UDP where probes were confirmed.
    Probed,
}

impl MtuPlan {
    /// Size that needs no probes, bytes.
    pub const fn base(self) -> usize {
        match self {
            Self::Configured(size) => size,
            Self::Default | Self::Probed => UDP_MTU,
        }
    }
}

/// Origin of the maximum size of a face's frames at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtuOrigin {
    /// A size in the configuration.
    Configured,
    /// No larger size was confirmed.
    Default,
    /// A probe of that size was confirmed.
    Probed,
}

impl fmt::Display for MtuOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configured => "configured",
            Self::Default => "default",
            Self::Probed => "probed",
        })
    }
}

impl LocalFields {
    /// Those among the fields of a message.
    #[inline]
    pub fn of(fields: &LpFields) -> Self {
        Self { next_hop: fields.next_hop, no_cache: fields.no_cache }
    }
}

/// Reason why a message is not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecoded {
    /// It is malformed or not understood.
    Malformed,
    /// Too many PIT tokens are held.
    TooManyTokens,
}

/// The packet in a message, with the PIT token of an Interest in the table of `cx`.
///
/// # Errors
/// As in [`Undecoded`].
#[inline]
pub fn decode_message(
    fields: &LpFields,
    payload: Bytes,
    cx: &mut LinkContext<'_>,
) -> Result<Packet<Bytes>, Undecoded> {
    let mut nonce = || (cx.nonces.bits() >> 32) as u32;
    let decoded = decode_packet(fields, payload, cx.names, &mut nonce);
    let mut packet = decoded.map_err(|_| Undecoded::Malformed)?;
    // Tokens on answers echo ours; we send none.
    if let (Kind::Interest(interest), Some(token)) = (&mut packet.header.kind, fields.token) {
        interest.token = cx.tokens.insert(token).ok_or(Undecoded::TooManyTokens)?;
    }
    Ok(packet)
}

/// The link layer of one face.
#[derive(Debug)]
pub struct GenericLinkService {
    /// Those of the packet that was received last.
    local_fields: LocalFields,
    reassembler: Reassembler,
    encoder: LinkEncoder,
    reliability: Option<Box<ReliableFrames>>,
    /// Whether own frames have numbers, so that they are acknowledged and sent again.
    is_numbering: bool,
    plan: MtuPlan,
    /// Probes of the path's MTU; `None` where there are none, on streams and links of several stations.
    probes: Option<Box<PathProbes>>,
    counters: LinkCounters,
}

impl GenericLinkService {
    /// A link layer for frames of at most `mtu` bytes (`None` for any size); `first_sequence` numbers its
    /// first fragment and should be random. It neither sends nor confirms probes of the path's MTU.
    pub fn new(mtu: Option<usize>, first_sequence: u64) -> Self {
        Self {
            local_fields: LocalFields::default(),
            reassembler: Reassembler::default(),
            encoder: LinkEncoder::new(mtu, first_sequence),
            reliability: None,
            is_numbering: false,
            plan: MtuPlan::Default,
            probes: None,
            counters: LinkCounters::default(),
        }
    }

    /// A link layer for frames over `transport`, whose sizes follow `plan`, with random `numbers` for what must differ between
    /// runs.
    pub fn over(transport: &Transport, plan: MtuPlan, numbers: &mut Rng) -> Self {
        let mut link = Self::new(transport.mtu(), numbers.bits());
        link.set_plan(transport, plan, numbers);
        link
    }

    /// Changes how the maximum size of frames is chosen. A link with several stations has no probes: it would be confirmed by some.
    pub fn set_plan(&mut self, transport: &Transport, plan: MtuPlan, numbers: &mut Rng) {
        let Some(base) = transport.mtu() else { return };
        self.plan = plan;
        self.set_mtu(if let MtuPlan::Configured(mtu) = plan { mtu } else { base });
        if transport.is_multi_access() {
            return;
        }
        let is_probed = plan == MtuPlan::Probed && matches!(transport, Transport::Udp(_));
        let search = is_probed.then(|| {
            let mut search = PathMtu::new(base, Rng::stream(Seed(numbers.bits()), "probes"));
            search.set_ceiling(transport.max_datagram());
            search
        });
        self.probes = Some(Box::new(PathProbes::new(search)));
    }

    /// The same link layer with the counters of an earlier one.
    #[must_use]
    pub fn with_counters(self, counters: LinkCounters) -> Self {
        Self { counters, ..self }
    }

    /// Drops messages whose fragments stopped arriving.
    pub fn expire(&mut self, now: Time) {
        self.reassembler.expire(now);
    }

    /// Memory of messages that wait for fragments and of frames that wait for acknowledgements, bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.reassembler.byte_len() + self.reliability.as_ref().map_or(0, |frames| frames.kept_bytes())
    }

    /// Retransmits lost frames from now on as `service` decides; `None` for no retransmissions.
    pub fn set_reliability(&mut self, service: Option<Box<dyn LinkService>>) {
        let mtu = self.mtu().unwrap_or(tidegate_wire::MAX_PACKET);
        self.is_numbering = service.is_some();
        self.reliability = service.map(|service| Box::new(ReliableFrames::new(service, mtu)));
    }

    /// Acknowledges numbered frames of the peer by `service` from now on, and sends frames without numbers.
    pub fn set_acknowledging(&mut self, service: Box<dyn LinkService>) {
        self.set_reliability(Some(service));
        self.is_numbering = false;
    }

    /// Counters of retransmissions; `None` without them.
    pub fn reliability(&self) -> Option<ReliabilityCounters> {
        self.reliability.as_ref().map(|frames| frames.counters())
    }

    /// Whether [`serve`](Self::serve) has something to send.
    #[inline]
    pub fn has_due(&self) -> bool {
        self.reliability.as_ref().is_some_and(|frames| frames.has_due())
            || self.probes.as_ref().is_some_and(|probes| probes.has_due())
    }

    /// Appends to `batch` the frames that are sent again, acknowledgements that found no other frame, and probes.
    pub fn serve(&mut self, now: Time, batch: &mut FrameBatch) {
        let before = batch.len();
        if let Some(probes) = &mut self.probes {
            probes.serve(batch);
        }
        if let Some(frames) = &mut self.reliability {
            frames.resend(now, batch);
        }
        self.counters.frames_out += (batch.len() - before) as u64;
    }

    /// Time of the next call to [`on_wake`](Self::on_wake); `None` for never.
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        let reliability = self.reliability.as_ref().and_then(|frames| frames.next_wake());
        let search = self.search().and_then(PathMtu::next_wake);
        // `None` is the least of options.
        if reliability.is_some() && search.is_some() {
            reliability.min(search)
        } else {
            reliability.or(search)
        }
    }

    /// Runs what is due; [`serve`](Self::serve) then sends what follows from it. `limit` returns the largest
    /// datagram that the system permits on the path.
    pub fn on_wake(&mut self, now: Time, limit: impl FnOnce() -> usize) {
        self.wake_search(now, limit);
        if let Some(frames) = &mut self.reliability {
            frames.on_wake(now);
        }
    }

    /// The search for the MTU of the path; `None` if there is none.
    fn search(&self) -> Option<&PathMtu> {
        self.probes.as_ref()?.search()
    }

    /// Runs what is due in the search.
    fn wake_search(&mut self, now: Time, limit: impl FnOnce() -> usize) {
        let Some(search) = self.probes.as_mut().and_then(|probes| probes.search_mut()) else { return };
        if search.next_wake().is_some_and(|at| at <= now) {
            // The system may have learned of a narrower path meanwhile (ICMP).
            search.set_ceiling(limit());
            search.on_wake(now);
            self.follow_search();
        }
    }

    /// Processes the system's refusal of a frame that was too large; it permits `limit` bytes on the path.
    pub fn on_refusal(&mut self, now: Time, limit: usize) {
        let Some(search) = self.probes.as_mut().and_then(|probes| probes.search_mut()) else { return };
        search.set_ceiling(limit);
        search.on_refusal(now);
        self.follow_search();
    }

    /// Uses the size that the search permits.
    fn follow_search(&mut self) {
        if let Some(mtu) = self.search().map(PathMtu::mtu)
            && self.mtu() != Some(mtu)
        {
            self.set_mtu(mtu);
        }
    }

    /// Notes that frames above the base size are of use.
    #[inline]
    fn note_size(&mut self, now: Time, bytes: usize) {
        if let Some(search) = self.probes.as_mut().and_then(|probes| probes.search_mut())
            && bytes > search.base()
        {
            search.on_use(now);
        }
    }

    /// Processes the labels of a frame; returns whether its fragment was not received before.
    #[inline]
    fn take_labels(&mut self, now: Time, message: &mut LpPacket) -> bool {
        let Some(frames) = &mut self.reliability else { return true };
        // A frame without a fragment is not acknowledged (NDNLPv2).
        let number = message.fields.tx_sequence.filter(|_| !message.fragment.is_empty());
        let acks = std::mem::take(&mut message.acks);
        let labels = Labels { number, acks, ..Labels::default() };
        frames.receive(now, message.fields.sequence, &labels)
    }

    /// Processes a received frame; returns the packet that it completes.
    pub fn receive(&mut self, frame: Bytes, cx: &mut LinkContext<'_>) -> Option<Packet<Bytes>> {
        let (LpPacket { fields, fragment, .. }, is_reassembled) = self.receive_message(frame, cx.now)?;
        match decode_message(&fields, fragment, cx) {
            Ok(packet) => {
                self.local_fields = LocalFields::of(&fields);
                self.count_packet(is_reassembled);
                Some(packet)
            }
            Err(Undecoded::Malformed) => self.drop_malformed(),
            Err(Undecoded::TooManyTokens) => {
                self.counters.tokens_refused += 1;
                None
            }
        }
    }

    /// Processes a frame that is received at `now`; returns the message that it completes, for [`decode_message`], and
    /// whether it came in several frames.
    #[inline]
    pub fn receive_message(&mut self, frame: Bytes, now: Time) -> Option<(LpPacket, bool)> {
        self.counters.frames_in += 1;
        let Ok(mut message) = decode_frame(frame) else { return self.drop_malformed() };
        if !self.take_labels(now, &mut message) {
            return None;
        }
        if let (Some(probe), Some(probes)) = (message.fields.path_probe, &mut self.probes) {
            probes.receive(now, probe);
            self.follow_search();
        }
        let is_part = message.fields.frag_count > 1;
        if is_part {
            match self.reassembler.accept(now, message) {
                Ok(whole) => message = whole?,
                Err(_) => return self.drop_malformed(),
            }
        }
        // A frame of header fields alone is legal (NDNLPv2, IDLE).
        if message.fragment.is_empty() {
            self.counters.idle += 1;
            return None;
        }
        Some((message, is_part))
    }

    /// Counts a message that is a packet.
    #[inline]
    pub fn count_packet(&mut self, is_reassembled: bool) {
        self.counters.reassembled += u64::from(is_reassembled);
        self.counters.packets_in += 1;
    }

    fn drop_malformed<T>(&mut self) -> Option<T> {
        self.counters.malformed += 1;
        None
    }

    /// Appends the frames of `packet`, which leaves at `now`, to `batch`; a packet that cannot be sent here is counted and
    /// dropped.
    pub fn send(
        &mut self,
        now: Time,
        packet: &Packet<Bytes>,
        names: &NameTable,
        tokens: &TokenTable,
        batch: &mut FrameBatch,
    ) {
        let token = echoed(&packet.header.kind).and_then(|handle| tokens.get(handle));
        // Fragments of one packet follow each other in the batch; their number is the difference.
        let (before, bytes) = (batch.len(), batch.byte_len());
        let outcome = match self.reliability.as_mut().filter(|_| self.is_numbering) {
            None => self.encoder.encode(packet, token, names, batch),
            Some(reliable) => {
                let frames = self.encoder.cut(packet, token, names, true);
                frames.map(|frames| reliable.send(now, frames, batch))
            }
        };
        if outcome.is_err() {
            self.counters.unsendable += 1;
            return;
        }
        let frames = (batch.len() - before) as u64;
        self.counters.packets_out += 1;
        self.counters.frames_out += frames;
        self.counters.fragmented += u64::from(frames > 1);
        self.note_size(now, batch.byte_len() - bytes);
    }

    /// Fields of the packet that [`receive`](Self::receive) returned last.
    pub fn local_fields(&self) -> LocalFields {
        self.local_fields
    }

    /// Counters of the link layer so far.
    pub fn counters(&self) -> LinkCounters {
        self.counters
    }

    /// Sets the IncomingFaceId that the next packets have; `None` for none.
    pub fn set_incoming_face(&mut self, number: Option<u64>) {
        self.encoder.set_incoming_face(number);
    }

    /// How the maximum size of a frame is chosen.
    pub fn plan(&self) -> MtuPlan {
        self.plan
    }

    /// Origin of the maximum size of a frame; `None` if frames have any size.
    pub fn mtu_origin(&self) -> Option<MtuOrigin> {
        let mtu = self.mtu()?;
        Some(match self.plan {
            MtuPlan::Configured(_) => MtuOrigin::Configured,
            MtuPlan::Probed if self.search().is_some_and(|search| mtu > search.base()) => MtuOrigin::Probed,
            MtuPlan::Probed | MtuPlan::Default => MtuOrigin::Default,
        })
    }

    /// Changes the maximum size of a frame, bytes.
    fn set_mtu(&mut self, mtu: usize) {
        self.encoder.set_mtu(mtu);
        if let Some(frames) = &mut self.reliability {
            frames.set_mtu(mtu);
        }
    }

    /// Maximum size of a frame, bytes; `None` for any size.
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

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::{Data, Header, Interest, Millis, Nack, NackReason};
    use tidegate_core::rng::Seed;
    use tidegate_core::scheme::params::{Setting, Settings};
    use tidegate_wire::{DataBuilder, InterestBuilder, PathProbe, Signer, tlv};

    struct Node {
        names: NameTable,
        tokens: TokenTable,
        nonces: Rng,
        link: GenericLinkService,
    }

    impl Node {
        fn new(mtu: Option<usize>) -> Self {
            let nonces = Rng::stream(Seed(1), "nonces");
            let link = GenericLinkService::new(mtu, 7);
            Self { names: NameTable::new(), tokens: TokenTable::new(), nonces, link }
        }

        fn receive(&mut self, frame: &[u8]) -> Option<Packet<Bytes>> {
            self.receive_at(Time::ZERO, frame)
        }

        fn receive_at(&mut self, now: Time, frame: &[u8]) -> Option<Packet<Bytes>> {
            let Self { names, tokens, nonces, link } = self;
            let mut cx = LinkContext { now, names, tokens, nonces };
            link.receive(Bytes::copy_from_slice(frame), &mut cx)
        }

        fn send(&mut self, packet: &Packet<Bytes>) -> Vec<Vec<u8>> {
            self.send_at(Time::ZERO, packet)
        }

        fn send_at(&mut self, now: Time, packet: &Packet<Bytes>) -> Vec<Vec<u8>> {
            let mut batch = FrameBatch::new();
            self.link.send(now, packet, &self.names, &self.tokens, &mut batch);
            batch.iter().map(|(head, body)| [head, body].concat()).collect()
        }
    }

    const NAME: &[u8] = &[8, 1, b'a'];

    fn interest() -> Bytes {
        InterestBuilder { name: NAME, nonce: Some(9), ..InterestBuilder::default() }.build().expect("valid")
    }

    fn data(len: usize) -> Bytes {
        let content = vec![7; len];
        let data = DataBuilder { name: NAME, content: &content, ..DataBuilder::default() };
        data.sign(&Signer::Digest).expect("small enough")
    }

    /// `packet` in a frame with `fields` before it.
    fn frame(fields: &[u8], packet: &[u8]) -> Vec<u8> {
        let mut inner = fields.to_vec();
        tlv::write_element(&mut inner, tlv::types::FRAGMENT, packet);
        let mut frame = Vec::new();
        tlv::write_element(&mut frame, tlv::types::LP_PACKET, &inner);
        frame
    }

    fn token_of(packet: &Packet<Bytes>) -> PitToken {
        match packet.header.kind {
            Kind::Interest(Interest { token, .. }) | Kind::Data(Data { token, .. }) => token,
            _ => PitToken(0),
        }
    }

    #[test]
    fn a_token_of_any_length_is_echoed_by_data_and_by_nack() {
        for len in 1..=32u8 {
            let mut node = Node::new(None);
            let token: Vec<u8> = [98, len].into_iter().chain((0..len).map(|at| at ^ 0xA5)).collect();
            let requested = node.receive(&frame(&token, &interest())).expect("an Interest");
            let handle = token_of(&requested);
            assert_ne!(handle, PitToken(0));
            let mut answer = Node::new(None).receive(&data(10)).expect("a Data");
            answer.header.kind = match answer.header.kind {
                Kind::Data(data) => Kind::Data(Data { token: handle, ..data }),
                other => other,
            };
            assert_eq!(node.send(&answer), [frame(&token, &data(10))]);
            let Kind::Interest(interest) = requested.header.kind else { panic!("{requested:?}") };
            let kind = Kind::Nack(Nack { interest, reason: NackReason::NoRoute });
            let header = Header::new(requested.header.name, kind, requested.header.size());
            let refused = node.send(&Packet::new(header, requested.into_parts().1));
            assert!(refused[0].windows(token.len()).any(|part| part == token), "{len}: {refused:?}");
        }
    }

    #[test]
    fn no_token_goes_upstream_and_none_is_taken_from_an_answer() {
        let mut node = Node::new(None);
        let requested = node.receive(&frame(&[98, 1, 5], &interest())).expect("an Interest");
        assert_eq!(node.send(&requested), [interest().to_vec()]);
        let answer = node.receive(&frame(&[98, 1, 5], &data(1))).expect("a Data");
        assert_eq!((token_of(&answer), node.tokens.len()), (PitToken(0), 1));
    }

    #[test]
    fn an_incoming_face_stands_between_the_reason_and_the_mark() {
        let mut node = Node::new(None);
        let mut packet = node.receive(&frame(&[0xFD, 3, 64, 1, 1], &interest())).expect("an Interest");
        node.link.set_incoming_face(Some(258));
        let field = [0xFD, 3, 44, 2, 1, 2];
        let mark = [0xFD, 3, 64, 1, 1];
        assert_eq!(node.send(&packet), [frame(&[&field[..], &mark].concat(), &interest())]);
        packet.header.hop.mark = 0;
        node.link.set_incoming_face(None);
        assert_eq!(node.send(&packet), [interest().to_vec()]);
    }

    #[test]
    fn a_packet_larger_than_the_frames_is_cut_and_put_together_again() {
        let (mut near, mut far) = (Node::new(Some(1400)), Node::new(Some(1400)));
        let packet = near.receive(&data(8000)).expect("a Data");
        let frames = near.send(&packet);
        assert!(frames.len() == 6 && frames.iter().all(|frame| frame.len() <= 1400), "{}", frames.len());
        let whole: Vec<Packet<Bytes>> = frames.iter().filter_map(|frame| far.receive(frame)).collect();
        assert_eq!(whole.len(), 1);
        assert_eq!(whole[0].body, data(8000));
        assert_eq!((near.link.counters().fragmented, far.link.counters().reassembled), (1, 1));
    }

    #[test]
    fn malformed_frames_are_counted_and_the_face_lives() {
        let mut node = Node::new(None);
        for bad in [&[][..], &[5, 1], &[100, 2, 80, 9], &[6, 2, 7, 0], &[9, 0], &[255; 9000]] {
            assert_eq!(node.receive(bad), None);
        }
        assert_eq!(node.receive(&[100, 0]), None);
        assert!(node.receive(&interest()).is_some());
        let counters = node.link.counters();
        assert_eq!((counters.malformed, counters.idle, counters.packets_in), (6, 1, 1));
        assert_eq!(counters.frames_in, 8);
    }

    #[test]
    fn an_interest_without_a_nonce_gets_one() {
        let mut node = Node::new(None);
        let bare = InterestBuilder { name: NAME, lifetime: Some(Millis(50)), ..InterestBuilder::default() };
        let packet = node.receive(&bare.build().expect("valid")).expect("an Interest");
        let Kind::Interest(Interest { nonce, .. }) = packet.header.kind else { panic!("{packet:?}") };
        assert_ne!(nonce, 0);
        let sent = node.send(&packet);
        assert!(sent[0].windows(4).any(|part| part == nonce.to_be_bytes()), "{sent:?}");
    }

    const fn ms(at: u64) -> Time {
        Time::from_nanos(1_000_000 * at)
    }

    /// A link of NDNLPv2 reliability with frames of 1400 bytes.
    fn reliable(settings: &[(&str, f64)]) -> Node {
        reliable_over(1400, settings)
    }

    fn reliable_over(mtu: usize, settings: &[(&str, f64)]) -> Node {
        let mut node = Node::new(Some(mtu));
        let scheme = tidegate_schemes::find(tidegate_schemes::SCHEMES, "belrp").expect("a scheme");
        let mut made = Settings::default();
        settings.iter().for_each(|(name, value)| made.0.push(((*name).to_owned(), Setting::Number(*value))));
        node.link.set_reliability(Some(scheme.link_service.expect("a link service")(&made).expect("valid")));
        node
    }

    /// Frames that the link sends on its own at `now`.
    fn served(node: &mut Node, now: Time) -> Vec<Vec<u8>> {
        node.link.on_wake(now, || usize::MAX);
        let mut batch = FrameBatch::new();
        node.link.serve(now, &mut batch);
        batch.iter().map(|(head, body)| [head, body].concat()).collect()
    }

    fn label(kind: u8, number: u8) -> [u8; 12] {
        [0xFD, 3, kind, 8, 0, 0, 0, 0, 0, 0, 0, number]
    }

    const SEQUENCE: [u8; 10] = [81, 8, 0, 0, 0, 0, 0, 0, 0, 7];
    const ACK: u8 = 0x44;
    const TX_SEQUENCE: u8 = 0x48;

    #[test]
    fn a_reliable_frame_is_sent_again_under_its_sequence_with_another_number_and_three_times_at_most() {
        let mut node = reliable(&[]);
        let packet = node.receive(&data(10)).expect("a Data");
        let numbered = |number| frame(&[&SEQUENCE[..], &label(TX_SEQUENCE, number)].concat(), &data(10));
        assert_eq!(node.send(&packet), [numbered(0)]);
        assert_eq!(served(&mut node, ms(999)), [] as [Vec<u8>; 0]);
        for (number, at) in [(1, 1000), (2, 2000), (3, 3000)] {
            assert_eq!(node.link.next_wake(), Some(ms(at)));
            assert_eq!(served(&mut node, ms(at)), [numbered(number)]);
        }
        assert_eq!(served(&mut node, ms(4000)), [] as [Vec<u8>; 0]);
        let counters = node.link.reliability().expect("it is reliable");
        assert_eq!((counters.resent, counters.given_up, node.link.next_wake()), (3, 1, None));
    }

    #[test]
    fn frames_that_nobody_acknowledges_are_kept_up_to_a_number_and_a_size() {
        // By number, 8192, and by size, 16 MiB in frames of 8000 bytes and their headers.
        for (mtu, len, kept) in [(1400, 10, 8192..=8192), (8800, 8000, 2000..=2097)] {
            let mut node = reliable_over(mtu, &[]);
            let packet = node.receive(&data(len)).expect("a Data");
            for _ in 0..10_000 {
                assert_eq!(node.send(&packet).len(), 1);
            }
            assert!(node.link.waiting_bytes() <= 16 << 20, "{} bytes", node.link.waiting_bytes());
            let sent = served(&mut node, ms(1000)).len();
            assert!(kept.contains(&sent), "{sent}");
        }
    }

    #[test]
    fn an_acknowledged_frame_is_not_sent_again() {
        let mut node = reliable(&[]);
        let packet = node.receive(&data(10)).expect("a Data");
        node.send(&packet);
        assert_eq!(node.receive(&[&[100, 12][..], &label(ACK, 0)].concat()), None);
        assert_eq!((node.link.next_wake(), node.link.counters().idle), (None, 1));
    }

    #[test]
    fn a_numbered_frame_is_acknowledged_by_the_next_one_or_alone_and_its_repetition_is_dropped() {
        let mut node = reliable(&[]);
        let numbered = |number| frame(&[&SEQUENCE[..], &label(TX_SEQUENCE, number)].concat(), &interest());
        assert!(node.receive(&numbered(4)).is_some());
        assert_eq!(node.receive(&numbered(5)), None);
        let packet = node.receive(&data(10)).expect("a Data");
        let labels = [&SEQUENCE[..], &label(ACK, 4), &label(ACK, 5), &label(TX_SEQUENCE, 0)].concat();
        assert_eq!(node.send(&packet), [frame(&labels, &data(10))]);
        assert!(node.receive(&numbered(6)).is_none());
        assert_eq!(served(&mut node, ms(5)), [[&[100, 12][..], &label(ACK, 6)].concat()]);
        assert_eq!(node.link.reliability().expect("it is reliable").duplicates, 2);
    }

    #[test]
    fn a_link_that_only_acknowledges_sends_plain_frames_and_no_frame_twice() {
        let mut node = reliable(&[]);
        let scheme = tidegate_schemes::find(tidegate_schemes::SCHEMES, "belrp").expect("a scheme");
        let make = scheme.link_service.expect("a link service");
        node.link.set_acknowledging(make(&Settings::default()).expect("valid"));
        let packet = node.receive(&data(10)).expect("a Data");
        assert_eq!(node.send(&packet), [data(10).to_vec()]);
        let numbered = |number| frame(&[&SEQUENCE[..], &label(TX_SEQUENCE, number)].concat(), &interest());
        assert!(node.receive(&numbered(4)).is_some());
        assert_eq!(node.receive(&numbered(5)), None);
        let acks = [&[100, 24][..], &label(ACK, 4), &label(ACK, 5)].concat();
        assert_eq!(served(&mut node, ms(5)), [acks]);
        assert_eq!((served(&mut node, ms(60_000)).len(), node.link.next_wake()), (0, None));
    }

    #[test]
    fn without_reliability_labels_are_ignored() {
        let mut node = Node::new(Some(1400));
        let labels = [&SEQUENCE[..], &label(ACK, 4), &label(TX_SEQUENCE, 0)].concat();
        assert!(node.receive(&frame(&labels, &interest())).is_some());
        assert!(node.receive(&frame(&labels, &interest())).is_some());
        assert!(!node.link.has_due() && node.link.next_wake().is_none());
    }

    /// Frames on the way from one node to the other, with their times of arrival.
    type Wire = std::collections::VecDeque<(Time, Vec<u8>)>;

    /// Puts on the wire what is not lost.
    fn carry(wire: &mut Wire, now: Time, frames: Vec<Vec<u8>>, draws: &mut Rng, loss: f64) {
        for frame in frames {
            if draws.uniform() >= loss {
                wire.push_back((now + tidegate_core::units::Span::from_millis(10), frame));
            }
        }
    }

    #[test]
    fn every_packet_arrives_whatever_fraction_of_frames_is_lost() {
        for (case, loss) in [0.0, 0.05, 0.3, 0.5].into_iter().enumerate() {
            let mut draws = Rng::stream(Seed(case as u64), "loss");
            let (mut near, mut far) = (reliable(&[("retries", 100.0)]), reliable(&[("retries", 100.0)]));
            let packet = near.receive(&data(1_000)).expect("a Data");
            let (mut there, mut back) = (Wire::new(), Wire::new());
            let (mut arrived, mut at) = (0, 0);
            // 200 packets, one each millisecond, then until nothing is unacknowledged.
            while at < 200 || near.link.next_wake().is_some() {
                let now = ms(at);
                if at < 200 {
                    let frames = near.send_at(now, &packet);
                    carry(&mut there, now, frames, &mut draws, loss);
                }
                let frames = served(&mut near, now);
                carry(&mut there, now, frames, &mut draws, loss);
                while there.front().is_some_and(|(due, _)| *due <= now) {
                    let (_, frame) = there.pop_front().expect("one");
                    arrived += u32::from(far.receive_at(now, &frame).is_some());
                }
                let frames = served(&mut far, now);
                carry(&mut back, now, frames, &mut draws, loss);
                while back.front().is_some_and(|(due, _)| *due <= now) {
                    let (_, frame) = back.pop_front().expect("one");
                    near.receive_at(now, &frame);
                }
                at += 1;
                assert!(at < 600_000, "{loss}: it does not end");
            }
            // A repetition that comes later than a timeout counts as new, as in NFD.
            assert!(arrived == 200 || (loss == 0.5 && arrived > 200), "{loss}: {arrived}");
        }
    }

    /// A link of frames of 1400 bytes that sends probes.
    fn probing() -> Node {
        let mut node = Node::new(Some(1400));
        let search = PathMtu::new(1400, Rng::stream(Seed(3), "numbers"));
        (node.link.plan, node.link.probes) = (MtuPlan::Probed, Some(Box::new(PathProbes::new(Some(search)))));
        node
    }

    #[test]
    fn a_peer_that_confirms_probes_gets_packets_of_8000_bytes_in_one_frame_and_the_other_direction_is_not_changed()
     {
        let (mut near, mut far) = (probing(), probing());
        let packet = near.receive(&data(8000)).expect("a Data");
        assert_eq!(near.send(&packet).len(), 6);
        assert_eq!(near.link.mtu_origin(), Some(MtuOrigin::Default));
        // The question, and the size that is tried.
        for size in [14, 8800] {
            assert!(near.link.has_due());
            let probes = served(&mut near, ms(1));
            assert_eq!(probes.iter().map(Vec::len).collect::<Vec<_>>(), [size]);
            assert_eq!(far.receive_at(ms(1), &probes[0]), None);
            let replies = served(&mut far, ms(1));
            assert_eq!(replies.iter().map(Vec::len).collect::<Vec<_>>(), [14]);
            assert_eq!(near.receive_at(ms(2), &replies[0]), None);
        }
        assert_eq!((near.link.mtu(), near.link.mtu_origin()), (Some(8800), Some(MtuOrigin::Probed)));
        assert_eq!((far.link.mtu(), far.link.mtu_origin()), (Some(1400), Some(MtuOrigin::Default)));
        assert_eq!(near.send(&packet).len(), 1);
        near.link.on_refusal(ms(3), 1472);
        assert_eq!((near.link.mtu(), near.send(&packet).len()), (Some(1472), 6));
    }

    #[test]
    fn one_frame_of_a_peer_is_answered_by_at_most_one_confirmation() {
        let mut node = probing();
        let mut batch = FrameBatch::new();
        for number in 0..10_000 {
            tidegate_wire::write_path_probe(PathProbe::Request(number), 0, &mut batch);
        }
        let requests: Vec<Vec<u8>> = batch.iter().map(|(head, body)| [head, body].concat()).collect();
        let mut replies = FrameBatch::new();
        for request in &requests {
            node.receive(request);
            node.link.serve(ms(1), &mut replies);
        }
        assert_eq!(replies.len(), 1024);
        let mut silent = Node::new(Some(1400));
        silent.receive(&requests[0]);
        assert!(!silent.link.has_due());
    }

    #[test]
    fn a_packet_that_does_not_fit_any_number_of_frames_is_counted() {
        let mut node = Node::new(Some(40));
        let packet = node.receive(&data(5000)).expect("a Data");
        assert!(node.send(&packet).is_empty());
        assert_eq!(node.link.counters().unsendable, 1);
    }
}
