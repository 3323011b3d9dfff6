//! Forwarding hints, and the link fields NextHopFaceId and CachePolicy.

use bytes::Bytes;
use tidegate_live::nfd::{ControlParameters, ControlResponse};
use tidegate_wire::tlv::{self, types};
use tidegate_wire::{DataBuilder, DataView, ForwardingHint, InterestBuilder, InterestView, Signer};

use super::bench::{Application, Forwarder, interest};
use super::neighbours::signed;

/// Carries out a command; returns the FaceId in the response.
fn command(application: &mut Application, words: [&str; 2], parameters: &ControlParameters) -> Option<u64> {
    application.send(&signed("localhost", words, Some(&parameters.encode()), None));
    let response = application.take_in().fragment;
    let content = DataView::parse(&response).expect("a Data").content.to_vec();
    let response = ControlResponse::decode(&content).expect("a response");
    assert!(response.is_ok(), "{response}");
    response.parameters.expect("a response has its parameters").face_id
}

/// An application at which Interests under `prefix` arrive, and the number of its face.
fn producer(forwarder: &Forwarder, prefix: &[u8]) -> (Application, Option<u64>) {
    let mut producer = forwarder.application();
    let parameters = ControlParameters { name: Some(prefix.to_vec()), ..ControlParameters::default() };
    let face_id = command(&mut producer, ["rib", "register"], &parameters);
    (producer, face_id)
}

/// An Interest for `name` with a hint that has the delegations.
fn hinted(name: &[u8], delegations: &[&[u8]]) -> Vec<u8> {
    let plain = InterestBuilder { name, nonce: Some(7), ..InterestBuilder::default() };
    let plain = plain.build().expect("valid");
    let (mut hint, mut inside) = (Vec::new(), Vec::new());
    delegations.iter().for_each(|name| tlv::write_element(&mut hint, types::NAME, name));
    tlv::write_element(&mut inside, types::NAME, name);
    let behind_name = 2 + inside.len();
    tlv::write_element(&mut inside, types::FORWARDING_HINT, &hint);
    inside.extend_from_slice(&plain[behind_name..]);
    let mut out = Vec::new();
    tlv::write_element(&mut out, types::INTEREST, &inside);
    out
}

fn data(name: &[u8]) -> Bytes {
    DataBuilder { name, content: b"x", ..DataBuilder::default() }.sign(&Signer::Digest).expect("valid")
}

/// A packet in a frame with a link field before it.
fn framed(kind: u32, value: &[u8], packet: &[u8]) -> Vec<u8> {
    let (mut inside, mut out) = (Vec::new(), Vec::new());
    tlv::write_element(&mut inside, kind, value);
    tlv::write_element(&mut inside, types::FRAGMENT, packet);
    tlv::write_element(&mut out, types::LP_PACKET, &inside);
    out
}

/// Whether the next packet is an Interest for `name`; with a hint or not.
fn receives(application: &mut Application, name: &[u8]) -> bool {
    let requested = application.take_in().fragment;
    assert_eq!(InterestView::parse(&requested).expect("an Interest").name.components(), name);
    ForwardingHint::of(&requested).is_some()
}

const NAME: &[u8] = &[8, 1, b'n', 8, 1, b'1'];

#[test]
fn an_interest_takes_the_route_of_the_first_delegation_that_has_one() {
    let forwarder = Forwarder::start("hint", "");
    let (mut far, _) = producer(&forwarder, &[8, 1, b'd']);
    let mut consumer = forwarder.application();
    consumer.send(&hinted(NAME, &[&[8, 1, b'u'], &[8, 1, b'd', 8, 1, b'e']]));
    assert!(receives(&mut far, NAME), "the hint goes on");
    far.send(&data(NAME));
    assert_eq!(consumer.take_in().fragment, data(NAME));
    consumer.send(&hinted(&[8, 1, b'o'], &[&[8, 1, b'u']]));
    assert!(consumer.take_in().fields.nack.is_some(), "no delegation has a route");
}

#[test]
fn a_hint_ends_in_the_region_of_its_producer() {
    let forwarder = Forwarder::start("region", "[forwarder]\nregions = [\"/d/site\"]\n");
    let (mut far, _) = producer(&forwarder, &[8, 1, b'd']);
    let (mut near, _) = producer(&forwarder, &NAME[..3]);
    let mut consumer = forwarder.application();
    consumer.send(&hinted(NAME, &[&[8, 1, b'u'], &[8, 1, b'd']]));
    assert!(!receives(&mut near, NAME), "the hint is removed");
    // Not a prefix of the region.
    consumer.send(&hinted(&[8, 1, b'o'], &[&[8, 1, b'd', 8, 1, b's']]));
    assert!(receives(&mut far, &[8, 1, b'o']));
}

#[test]
fn an_application_with_local_fields_chooses_the_face_of_an_interest() {
    let forwarder = Forwarder::start("next-hop", "");
    let (mut other, face_id) = producer(&forwarder, &[8, 1, b'o']);
    let number = face_id.expect("a number").to_be_bytes();
    let mut consumer = forwarder.application();
    let chosen = |nonce| {
        let plain = InterestBuilder { name: NAME, nonce: Some(nonce), ..InterestBuilder::default() };
        framed(types::NEXT_HOP_FACE_ID, &number, &plain.build().expect("valid"))
    };
    // Dropped; the next Interest is answered by a Nack, as there is no route.
    consumer.send(&chosen(1));
    consumer.send(&interest(&[8, 1, b'y'], 0));
    let refused = consumer.take_in();
    let name = InterestView::parse(&refused.fragment).expect("an Interest").name.components().to_vec();
    assert_eq!((refused.fields.nack.is_some(), name), (true, vec![8, 1, b'y', 50, 1, 0]));
    let local_fields = ControlParameters { flags: Some(1), mask: Some(1), ..ControlParameters::default() };
    command(&mut consumer, ["faces", "update"], &local_fields);
    consumer.send(&chosen(2));
    receives(&mut other, NAME);
    other.send(&data(NAME));
    assert_eq!(consumer.take_in().fragment, data(NAME));
}

#[test]
fn data_with_the_policy_no_cache_is_requested_again() {
    let forwarder = Forwarder::start("no-cache", "");
    let (mut producer, _) = producer(&forwarder, &NAME[..3]);
    let mut consumer = forwarder.application();
    let policy = [0xFD, 3, 53, 1, 1];
    let requested = |nonce| {
        let plain = InterestBuilder { name: NAME, nonce: Some(nonce), ..InterestBuilder::default() };
        plain.build().expect("valid")
    };
    for nonce in [1, 2] {
        consumer.send(&requested(nonce));
        receives(&mut producer, NAME);
        producer.send(&framed(types::CACHE_POLICY, &policy, &data(NAME)));
        assert_eq!(consumer.take_in().fragment, data(NAME));
    }
    consumer.send(&requested(3));
    receives(&mut producer, NAME);
    producer.send(&data(NAME));
    assert_eq!(consumer.take_in().fragment, data(NAME));
    consumer.send(&requested(4));
    assert_eq!(consumer.take_in().fragment, data(NAME), "the one before is cached");
}

#[test]
fn a_route_to_one_segment_leads_to_it_and_the_others_go_by_the_shorter_prefix() {
    let forwarder = Forwarder::start("segment-route", "");
    let segment = |number: u8| [&[8, 1, b'f', 50, 1][..], &[number]].concat();
    // It has the route of the shorter prefix, too; of two routes of equal cost the first face counts.
    let (mut one, face_id) = producer(&forwarder, &segment(3));
    let (mut all, _) = producer(&forwarder, &[8, 1, b'f']);
    let mut consumer = forwarder.application();
    let mut exchange = |producer: &mut Application, number: u8| {
        let name = segment(number);
        consumer.send(&interest(&[8, 1, b'f'], u32::from(number)));
        receives(producer, &name);
        producer.send(&data(&name));
        assert_eq!(consumer.take_in().fragment, data(&name), "segment {number}");
    };
    exchange(&mut one, 3);
    exchange(&mut all, 4);
    let parameters = ControlParameters { name: Some(segment(3)), face_id, ..ControlParameters::default() };
    command(&mut one, ["rib", "unregister"], &parameters);
    exchange(&mut all, 5);
}
