//! Checks for arbitrary bytes: the fuzz targets call these, and `cargo test` replays their corpora.

use std::sync::LazyLock;

use bytes::Bytes;
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::packet::{Interest, Kind, Nack, Packet};
use tidegate_core::units::{Span, Time};
use tidegate_wire::{
    DataView, FrameBatch, InterestView, KeyAlgorithm, KeySigner, LinkEncoder, LpFields, LpPacket, MAX_BYTES,
    MAX_PACKET, MAX_PARTIAL, Reassembler, Token, Verifier, decode_frame, decode_packet, implicit_digest,
    parameters_digest_holds, rdr,
};

/// A frame from the network: what a forwarder reads of it comes out again, whole and in fragments.
pub fn packet(data: &[u8]) {
    let Ok(frame) = decode_frame(Bytes::copy_from_slice(data)) else { return };
    let token = frame.fields.token;
    let Ok(Some(message)) = Reassembler::new().accept(Time::ZERO, frame) else { return };
    let mut names = NameTable::new();
    let Ok(mut packet) = decode_packet(&message.fields, message.fragment, &mut names, &mut || 5) else {
        return;
    };
    for mtu in [None, Some(250)] {
        comes_back(&packet, token.as_ref(), mtu, &mut names);
    }
    if let Some(interest) = interest_of(&mut packet) {
        interest.nonce ^= u32::from(data[data.len() - 1]);
        interest.hop_limit = Some(interest.hop_limit.map_or(9, |hops| hops.saturating_sub(1)));
        comes_back(&packet, token.as_ref(), None, &mut names);
    }
}

/// The Interest in a packet or in the Nack of one.
fn interest_of(packet: &mut Packet<Bytes>) -> Option<&mut Interest> {
    match &mut packet.header.kind {
        Kind::Interest(interest) | Kind::Nack(Nack { interest, .. }) => Some(interest),
        _ => None,
    }
}

fn comes_back(packet: &Packet<Bytes>, token: Option<&Token>, mtu: Option<usize>, names: &mut NameTable) {
    let mut batch = FrameBatch::new();
    // A nonce and a hop limit more may be too much for a packet that had just the right size.
    let Ok(()) = LinkEncoder::new(mtu, u64::MAX).encode(packet, token, names, &mut batch) else {
        assert!(packet.body.len() > MAX_PACKET - 9, "{} bytes", packet.body.len());
        return;
    };
    let mut reassembler = Reassembler::new();
    let mut whole = None;
    for (head, body) in batch.iter() {
        assert!(mtu.is_none_or(|mtu| head.len() + body.len() <= mtu));
        assert!(whole.is_none());
        let frame = decode_frame(Bytes::from([head, body].concat())).expect("a frame of ours");
        whole = reassembler.accept(Time::ZERO, frame).expect("a fragment of ours");
    }
    let LpPacket { fields, fragment, .. } = whole.expect("all fragments were there");
    let again =
        decode_packet(&fields, fragment, names, &mut || panic!("has a nonce")).expect("a packet of ours");
    assert_eq!(fields.token.as_ref(), token);
    assert_eq!((again.header.name, again.header.kind), (packet.header.name, packet.header.kind));
    assert_eq!(again.header.hop, packet.header.hop);
    if matches!(again.header.kind, Kind::Data(_)) {
        assert!(again.body == packet.body);
    }
}

/// Frames one after the other, each as seven bytes that say what it is, or as bytes from the network.
pub fn reassembly(data: &[u8]) {
    let Some((mode, mut rest)) = data.split_first() else { return };
    let mut reassembler = Reassembler::new();
    let mut now = Time::ZERO;
    while let Some((head, tail)) = rest.split_first_chunk::<7>() {
        let [ms, sequence, index, count, len @ ..] = *head;
        let len =
            usize::from(u16::from_be_bytes([len[0], len[1]])) % (MAX_PACKET + 100) + usize::from(len[2] & 1);
        now += Span::from_millis(u64::from(ms));
        let frame = if mode & 1 == 0 {
            let (bytes, tail) = tail.split_at(len.min(tail.len()));
            rest = tail;
            decode_frame(Bytes::copy_from_slice(bytes)).ok()
        } else {
            rest = tail;
            Some(fragment(sequence, index, count, len))
        };
        let Some(frame) = frame else { continue };
        let is_made = mode & 1 == 1 && frame.fields.frag_count > 1;
        if let Ok(Some(whole)) = reassembler.accept(now, frame) {
            assert_eq!((whole.fields.frag_index, whole.fields.frag_count), (0, 1));
            if is_made {
                is_in_order(&whole);
            }
        }
        assert!(reassembler.len() <= MAX_PARTIAL && reassembler.byte_len() <= MAX_BYTES);
    }
}

/// A fragment that is identified by its bytes, and the first one also by its token.
fn fragment(sequence: u8, index: u8, count: u8, len: usize) -> LpPacket {
    let fields = LpFields {
        sequence: Some(u64::from(sequence).wrapping_sub(8)),
        frag_index: index.into(),
        frag_count: count.into(),
        token: Token::new(&[index]).ok(),
        ..LpFields::default()
    };
    LpPacket { fields, acks: Vec::new(), fragment: Bytes::from(vec![index; len]) }
}

fn is_in_order(whole: &LpPacket) {
    let bytes = &whole.fragment;
    assert!(bytes.len() <= MAX_PACKET && bytes.is_sorted() && bytes[0] == 0);
    assert!(bytes.windows(2).all(|pair| pair[1] - pair[0] <= 1), "a fragment is missing");
    assert_eq!(whole.fields.token, Token::new(&[0]).ok(), "the first fragment's fields count");
}

static KEY: LazyLock<KeySigner> = LazyLock::new(|| {
    KeySigner::from_bytes(KeyAlgorithm::P256, &[7; 32], &[]).expect("a number below the curve's order")
});

/// Views of packets, metadata and keys; the first byte says what the others are.
pub fn views(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind % 4 {
        0 => interest(bytes),
        1 => data_packet(bytes),
        2 => metadata(bytes),
        _ => keys(bytes),
    }
}

fn interest(bytes: &[u8]) {
    let Ok(view) = InterestView::parse(bytes) else { return };
    let holds = parameters_digest_holds(&view);
    for verifier in [Verifier::Digest, Verifier::Key(KEY.public_key())] {
        let is_signed = verifier.verify_interest(&view).is_ok();
        assert!(!is_signed || (holds && view.signature.is_some()));
    }
    assert_eq!(view.name.iter().count(), view.name.len());
    let parts: usize = view.signed_parts().iter().map(|part| part.len()).sum();
    assert!(parts <= bytes.len());
}

fn data_packet(bytes: &[u8]) {
    let Ok(view) = DataView::parse(bytes) else { return };
    assert_eq!(&bytes[view.content_range.clone()], view.content);
    assert_eq!(view.name.iter().count(), view.name.len());
    for verifier in [Verifier::Digest, Verifier::Key(KEY.public_key())] {
        let _ = verifier.verify_data(&view);
    }
    let _ = (implicit_digest(&view), view.final_segment());
    metadata(view.content);
}

fn metadata(bytes: &[u8]) {
    let Ok(name) = rdr::versioned_name(bytes) else { return };
    let _ = rdr::version_of(&name);
    let again = rdr::metadata(name.components());
    let again = rdr::versioned_name(&again).expect("content of ours");
    assert_eq!(again.components(), name.components());
}

fn keys(bytes: &[u8]) {
    let _ = (KeySigner::from_der(bytes, &[]), Verifier::from_der(bytes));
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = (KeySigner::from_pem(text, &[]), Verifier::from_pem(text));
    }
}
