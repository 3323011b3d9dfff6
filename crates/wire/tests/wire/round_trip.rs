//! decode(encode(x)) = x.

use bytes::Bytes;
use tidegate_core::ndn::packet::{Header, Kind, Packet};
use tidegate_core::units::{ByteCount, Time};
use tidegate_wire::{
    EncodeError, FrameBatch, InterestView, LinkEncoder, LpPacket, MAX_PACKET, Reassembler, Token,
    decode_frame, decode_packet,
};

use crate::generator::{Generator, Sample};

/// The frames of a packet, as one piece each.
fn frames(batch: &FrameBatch) -> Vec<Bytes> {
    batch.iter().map(|(head, body)| Bytes::from([head, body].concat())).collect()
}

/// What the receiver of `frames` has in the end.
fn receive(frames: impl IntoIterator<Item = Bytes>) -> LpPacket {
    let mut reassembler = Reassembler::new();
    let mut whole = Vec::new();
    for frame in frames {
        let frame = decode_frame(frame).expect("a frame of ours");
        whole.extend(reassembler.accept(Time::ZERO, frame).expect("fragments of ours"));
    }
    assert_eq!((whole.len(), reassembler.len()), (1, 0));
    whole.remove(0)
}

fn assert_same(sent: &Sample, message: LpPacket, generator: &mut Generator) {
    assert_eq!(message.fields.token, sent.token);
    let received =
        decode_packet(&message.fields, message.fragment, &mut generator.names, &mut || panic!("has a nonce"));
    let received = received.expect("a packet of ours");
    let mut expected = sent.packet.clone();
    if let Kind::Interest(interest) | Kind::Nack(tidegate_core::ndn::packet::Nack { interest, .. }) =
        expected.header.kind
    {
        let view = InterestView::parse(&expected.body).expect("valid");
        // Rewritten: only the header knows the nonce and the hop limit, and the size may change by them.
        if (view.nonce, view.hop_limit) != (Some(interest.nonce), interest.hop_limit) {
            expected = rewritten(expected, &received);
        }
    }
    assert_eq!(received.header, expected.header);
    assert!(received.body == expected.body, "{:02x?}", &*expected.body);
}

fn rewritten(sent: Packet<Bytes>, received: &Packet<Bytes>) -> Packet<Bytes> {
    let (before, after) = (
        InterestView::parse(&sent.body).expect("valid"),
        InterestView::parse(&received.body).expect("valid"),
    );
    assert_eq!(before.forwarding_hint, after.forwarding_hint);
    assert_eq!(before.digest_covered(), after.digest_covered());
    let mut header =
        Header::new(sent.header.name, sent.header.kind, ByteCount::new(received.body.len() as u64));
    header.hop = sent.header.hop;
    Packet::new(header, received.body.clone())
}

#[test]
fn every_packet_comes_back_over_a_link_of_any_mtu() {
    let mut generator = Generator::new(1);
    let mut fragmented = 0;
    for _ in 0..4_000 {
        let sample = generator.sample();
        let mtu = match generator.below(6) {
            0 => None,
            1 => Some(1_400),
            2 => Some(128 + generator.below(140) as usize),
            3 => Some(9_000),
            _ => Some(200 + generator.below(9_000) as usize),
        };
        let mut batch = FrameBatch::new();
        let first = if generator.often() { u64::MAX } else { 0 };
        let mut encoder = LinkEncoder::new(mtu, first);
        match encoder.encode(&sample.packet, sample.token.as_ref(), &generator.names, &mut batch) {
            Ok(()) => {}
            Err(EncodeError::Mtu { packet, mtu }) if mtu < 256 && packet > mtu => continue,
            Err(why) => panic!("{why}: {sample:?}"),
        }
        let frames = frames(&batch);
        assert!(frames.iter().all(|frame| mtu.is_none_or(|mtu| frame.len() <= mtu)));
        assert_eq!(batch.byte_len(), frames.iter().map(Bytes::len).sum::<usize>());
        fragmented += usize::from(frames.len() > 1);
        assert_same(&sample, receive(shuffled(frames, &mut generator)), &mut generator);
    }
    assert!(fragmented > 300, "{fragmented}");
}

fn shuffled(mut frames: Vec<Bytes>, generator: &mut Generator) -> Vec<Bytes> {
    if generator.often() {
        for at in (1..frames.len()).rev() {
            frames.swap(at, generator.below(at as u32 + 1) as usize);
        }
    }
    frames
}

#[test]
fn a_token_of_every_length_comes_back() {
    let mut generator = Generator::new(2);
    for len in 1..=Token::MAX {
        let token = Token::new(&generator.bytes(len)).expect("1 to 32 bytes");
        let mut sample = generator.sample();
        sample.token = Some(token);
        let mut batch = FrameBatch::new();
        let mut encoder = LinkEncoder::new(Some(1_400), 0);
        encoder.encode(&sample.packet, Some(&token), &generator.names, &mut batch).expect("fits");
        assert_same(&sample, receive(frames(&batch)), &mut generator);
    }
    assert!(Token::new(&[]).is_err());
    assert!(Token::new(&[0; 33]).is_err());
}

#[test]
fn a_packet_of_8800_bytes_passes_frames_of_128_and_one_of_8801_is_refused() {
    let mut generator = Generator::new(3);
    for (len, is_sent) in [(MAX_PACKET, true), (MAX_PACKET + 1, false)] {
        let mut packet = loop {
            let sample = generator.sample();
            if matches!(sample.packet.header.kind, Kind::Data(_)) && !sample.packet.body.is_empty() {
                break sample.packet;
            }
        };
        packet.header.hop = Default::default();
        packet.body = Bytes::from(vec![6; len]);
        let mut batch = FrameBatch::new();
        let result = LinkEncoder::new(Some(128), 0).encode(&packet, None, &generator.names, &mut batch);
        assert_eq!(result.is_ok(), is_sent, "{result:?}");
        assert_eq!(batch.is_empty(), !is_sent);
        if is_sent {
            assert_eq!(receive(frames(&batch)).fragment, packet.body);
        }
    }
}

#[test]
fn a_packet_with_nothing_to_say_about_goes_out_as_it_came() {
    let mut generator = Generator::new(4);
    for _ in 0..200 {
        let mut packet = generator.sample().packet;
        packet.header.hop = Default::default();
        if !matches!(packet.header.kind, Kind::Data(_)) {
            continue;
        }
        let mut batch = FrameBatch::new();
        LinkEncoder::new(None, 0).encode(&packet, None, &generator.names, &mut batch).expect("fits");
        assert_eq!(frames(&batch), [packet.into_parts().1]);
    }
}

#[test]
fn a_link_too_narrow_for_its_fields_gets_an_error() {
    let mut generator = Generator::new(5);
    let token = generator.token();
    let sample = generator.sample();
    for mtu in 0..20 {
        let mut batch = FrameBatch::new();
        let mut encoder = LinkEncoder::new(Some(mtu), 0);
        let result = encoder.encode(&sample.packet, Some(&token), &generator.names, &mut batch);
        assert!(matches!(result, Err(EncodeError::Mtu { .. })), "{result:?}");
        assert!(batch.is_empty());
    }
}

#[test]
fn fragments_count_on_from_one_packet_to_the_next() {
    let mut generator = Generator::new(6);
    let mut encoder = LinkEncoder::new(Some(400), 1_000);
    let mut batch = FrameBatch::new();
    for _ in 0..80 {
        let sample = generator.sample();
        encoder.encode(&sample.packet, None, &generator.names, &mut batch).expect("fits");
    }
    let sequences =
        frames(&batch).into_iter().filter_map(|frame| decode_frame(frame).expect("ours").fields.sequence);
    let sequences: Vec<u64> = sequences.collect();
    assert!(sequences.len() > 20);
    assert!(sequences.iter().copied().eq(1_000..1_000 + sequences.len() as u64), "{sequences:?}");
}
