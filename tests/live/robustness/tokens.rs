//! PIT tokens: opaque, of 1 to 32 bytes, echoed on every answer.

use tidegate_core::ndn::packet::Millis;
use tidegate_wire::tlv::types;
use tidegate_wire::{DataBuilder, InterestBuilder, Signer, name};

use super::Target;
use super::scope::Upstream;
use crate::peer::{Peer, element, field, frame, interest, name_in, packet, uri};
use support::running::Way;

/// Token of `len` bytes for the packet of this number.
fn token(len: usize, number: u32) -> Vec<u8> {
    (0..len).map(|at| (number as u8).wrapping_mul(37) ^ (at as u8) ^ (len as u8)).collect()
}

fn with_token(token: &[u8], packet: &[u8]) -> Vec<u8> {
    frame(&[&element(types::PIT_TOKEN, &[token])], packet)
}

/// Segment of the target's file.
fn segment(number: u32) -> Vec<u8> {
    let mut components = uri(&["well"]);
    components.extend_from_slice(&[54, 1, 5]);
    name::push_segment(&mut components, number);
    components
}

#[test]
fn tokens_of_every_length_come_back_on_data_and_nack() {
    let target = Target::start("tokens", "");
    for way in Way::ALL {
        target.assert_well(way);
        let mut peer = Peer::connect(&target.forwarder, way);
        for len in 1..=32 {
            for (number, requested) in [(0, segment(len as u32)), (1, uri(&["no-route", "x"]))] {
                peer.send(&with_token(&token(len, number), &interest(&requested)));
            }
            let answers = peer.answers();
            assert_eq!(answers.len(), 2, "{len} over {way:?}: {answers:?}");
            let [data, nack] = [&answers[0], &answers[1]];
            assert_eq!((packet(data)[0], name_in(data)), (types::DATA as u8, Some(segment(len as u32))));
            assert_eq!(field(data, types::PIT_TOKEN), Some(token(len, 0)), "{len} over {way:?}");
            assert!(field(nack, types::NACK).is_some());
            assert_eq!(field(nack, types::PIT_TOKEN), Some(token(len, 1)), "{len} over {way:?}");
        }
    }
}

#[test]
fn tokens_of_every_length_come_back_on_loss_notices() {
    let plr = "[face_defaults]\nrate = \"4Mbps\"\nqueue = { limit = \"8pkt\" }\nrouter_parts = [{ scheme = \"plr\" }]\n";
    let target = Target::start("notices", plr);
    for way in Way::ALL {
        target.assert_well(way);
        // All stay open: a later one with the port of an earlier one would get what is still queued for that.
        let mut peers = Vec::new();
        for len in 1..=32 {
            let requested = |number| with_token(&token(len, number), &interest(&segment(number)));
            let mut peer = Peer::connect(&target.forwarder, way);
            let all: Vec<Vec<u8>> = (0..20).map(requested).collect();
            match way {
                Way::Udp => all.iter().for_each(|bytes| peer.send(bytes)),
                _ => peer.send(&all.concat()),
            }
            let mut has_notice = false;
            while !has_notice {
                let answer = peer.receive().expect("a loss notice");
                let number =
                    (0..20).find(|number| Some(segment(*number)) == name_in(&answer)).expect("asked for");
                assert_eq!(field(&answer, types::PIT_TOKEN), Some(token(len, number)), "{len} over {way:?}");
                has_notice = field(&answer, types::LOSS_NOTICE).is_some();
            }
            peers.push(peer);
        }
    }
}

#[test]
fn tokens_that_are_none_are_counted_and_not_answered() {
    let target = Target::start("no-tokens", "");
    let lengths = [0, 33, 34, 64, 255, 300, 4_000];
    for way in Way::ALL {
        target.assert_counts(way, lengths.len(), "tokens", || {
            let mut peer = Peer::connect(&target.forwarder, way);
            for len in lengths {
                peer.send(&with_token(&token(len, 0), &interest(&uri(&["no-route"]))));
            }
            assert_eq!(peer.answers(), Vec::<Vec<u8>>::new());
        });
    }
}

#[test]
fn two_consumers_of_the_same_data_get_their_own_tokens_back() {
    let upstream = Upstream::bind();
    let target = Target::start("aggregated", &upstream.config());
    let requested = uri(&["up", "same"]);
    let mut peers = [Way::Tcp, Way::Unix].map(|way| Peer::connect(&target.forwarder, way));
    let tokens = [token(3, 1), token(32, 2)];
    for (peer, token) in peers.iter_mut().zip(&tokens) {
        let interest = InterestBuilder {
            name: &requested,
            lifetime: Some(Millis(60_000)),
            ..InterestBuilder::default()
        };
        peer.send(&with_token(token, &interest.build().expect("valid")));
        assert_eq!(peer.answers(), Vec::<Vec<u8>>::new());
    }
    let mut producer = upstream.peer();
    let forwarded = producer.receive().expect("an Interest");
    assert_eq!((forwarded[0], name_in(&forwarded)), (types::INTEREST as u8, Some(requested.clone())));
    let data = DataBuilder { name: &requested, content: b"content", ..DataBuilder::default() };
    let data = data.sign(&Signer::Digest).expect("valid").to_vec();
    // A token on an answer that nobody asked with is nobody's.
    producer.send(&with_token(&token(5, 9), &data));
    for (peer, token) in peers.iter_mut().zip(&tokens) {
        assert_eq!(peer.receive(), Some(with_token(token, &data)));
    }
}
