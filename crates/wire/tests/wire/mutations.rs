//! Bytes that are not quite packets: they are answered, whatever they are.

use bytes::Bytes;
use tidegate_core::name::NameTable;
use tidegate_core::units::Time;
use tidegate_wire::{FrameBatch, LinkEncoder, LpPacket, Reassembler, decode_frame, decode_packet};

use crate::generator::Generator;

/// Reads a frame as a forwarder does, and sends on what was read; what goes out must be readable.
fn pass_on(bytes: &[u8], names: &mut NameTable) {
    let Ok(frame) = decode_frame(Bytes::copy_from_slice(bytes)) else { return };
    let token = frame.fields.token;
    let Ok(Some(message)) = Reassembler::new().accept(Time::ZERO, frame) else { return };
    let Ok(packet) = decode_packet(&message.fields, message.fragment, names, &mut || 5) else { return };
    let mut batch = FrameBatch::new();
    let mut encoder = LinkEncoder::new(None, 0);
    encoder.encode(&packet, token.as_ref(), names, &mut batch).expect("what was read can be sent");
    let (head, body) = batch.iter().next().expect("one frame");
    let LpPacket { fields, fragment } = decode_frame(Bytes::from([head, body].concat())).expect("ours");
    let again = decode_packet(&fields, fragment, names, &mut || panic!("has a nonce")).expect("ours");
    assert_eq!(
        (fields.token, again.header.kind, again.header.hop),
        (token, packet.header.kind, packet.header.hop)
    );
}

/// Frames of every kind, whole and in fragments.
fn samples() -> Vec<Vec<u8>> {
    let mut generator = Generator::new(11);
    let mut batch = FrameBatch::new();
    for round in 0..60 {
        let sample = generator.sample();
        if sample.packet.body.len() < 400 {
            let mtu = if round % 3 == 0 { Some(200) } else { None };
            let mut encoder = LinkEncoder::new(mtu, 7);
            encoder
                .encode(&sample.packet, sample.token.as_ref(), &generator.names, &mut batch)
                .expect("fits");
        }
    }
    assert!(batch.len() > 30, "{}", batch.len());
    batch.iter().map(|(head, body)| [head, body].concat()).collect()
}

#[test]
fn a_frame_cut_short_anywhere_is_refused() {
    for sample in samples() {
        for len in 0..sample.len() {
            assert!(decode_frame(Bytes::copy_from_slice(&sample[..len])).is_err(), "{len} of {sample:02x?}");
        }
    }
}

#[test]
fn a_frame_with_any_byte_changed_is_refused_or_passed_on_soundly() {
    let mut names = NameTable::new();
    for mut sample in samples() {
        for at in 0..sample.len() {
            let old = sample[at];
            for new in [
                old ^ 1,
                old ^ 0x80,
                old.wrapping_add(1),
                old.wrapping_sub(1),
                0,
                5,
                6,
                7,
                252,
                253,
                254,
                255,
            ] {
                sample[at] = new;
                pass_on(&sample, &mut names);
            }
            sample[at] = old;
        }
    }
}

#[test]
fn every_value_of_every_byte_of_a_small_packet_is_answered() {
    let mut names = NameTable::new();
    let interest = crate::tlvs::interest(&[&[12, 2, 1, 0], &[34, 1, 9]]);
    let data = crate::tlvs::data(&[&[20, 6, 25, 1, 5, 26, 1, 50], &[21, 1, 7]]);
    let lp = |fields: &[u8], packet: &[u8]| {
        let fragment = [&[80, packet.len() as u8], packet].concat();
        [&[100, (fields.len() + fragment.len()) as u8], fields, &fragment].concat()
    };
    let marked = lp(&[98, 2, 1, 2, 253, 3, 64, 1, 1, 253, 3, 136, 1, 9], &data);
    let refused = lp(&[253, 3, 32, 5, 253, 3, 33, 1, 50], &interest);
    for mut sample in [interest, data, marked, refused] {
        for at in 0..sample.len() {
            let old = sample[at];
            for new in 0..=255 {
                sample[at] = new;
                pass_on(&sample, &mut names);
            }
            sample[at] = old;
        }
    }
}

#[test]
fn random_bytes_are_answered() {
    let mut generator = Generator::new(12);
    let mut names = NameTable::new();
    for _ in 0..20_000 {
        let len = generator.below(60) as usize;
        let mut bytes = generator.bytes(len);
        if let [kind, outer, ..] = &mut bytes[..] {
            *kind = [5, 6, 100][usize::from(*kind) % 3];
            *outer = len as u8 - 2;
        }
        pass_on(&bytes, &mut names);
    }
}
