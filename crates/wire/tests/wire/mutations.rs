//! Bytes that are not quite packets: they are answered, whatever they are.

use bytes::Bytes;
use tidegate_wire::{FrameBatch, LinkEncoder, decode_frame};

use crate::generator::Generator;
use hostile::packets::packet;

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
                packet(&sample);
            }
            sample[at] = old;
        }
    }
}

#[test]
fn every_value_of_every_byte_of_a_small_packet_is_answered() {
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
                packet(&sample);
            }
            sample[at] = old;
        }
    }
}

#[test]
fn random_bytes_are_answered() {
    let mut generator = Generator::new(12);
    for _ in 0..20_000 {
        let len = generator.below(60) as usize;
        let mut bytes = generator.bytes(len);
        if let [kind, outer, ..] = &mut bytes[..] {
            *kind = [5, 6, 100][usize::from(*kind) % 3];
            *outer = len as u8 - 2;
        }
        packet(&bytes);
    }
}
