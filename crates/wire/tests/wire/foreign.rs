//! Packets as other implementations write them, byte by byte.

use bytes::Bytes;
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::packet::Kind;
use tidegate_wire::{
    DecodeError, InterestBuilder, InterestStamp, InterestView, Signer, Verifier, VerifyError, decode_frame,
    decode_packet, parameters_digest_holds,
};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| byte.is_ascii_hexdigit()).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).expect("a digit") as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// `/local/ndn/prefix`.
const NAME: &str = "08056c6f63616c 08036e646e 0806707265666978";

// Packets of ndn-cxx (tests/unit/interest.t.cpp and lp/packet.t.cpp).
const FULL: &str = "0556 0736 08056c6f63616c 08036e646e 0806707265666978
    0220 ff9100e04eaadcf30674d98026a051ba25f56b69bfa026dcccd72c6ea0f7315a
    2100 1200 1e05 0703080148 0a04 4c1ecb4a 0c02 76a1 2201 dc 2404 c0c1c2c3";
const SIGNED: &str = "0577 0736 08056c6f63616c 08036e646e 0806707265666978
    0220 6f29586053ee9fccd8a422122925287c0a18435f4074c40abb0d5b30e4aa6220
    1200 0a04 4c1ecb4a 2404 c0c1c2c3 2c0d 1b0100 2608 0102030405060708
    2e20 12471ae0f8723ac1156c370a38711ebebf2817de9b2dd94e9b7e62f117b876c1";
const MORE_PARAMETERS: &str = "058f 0736 08056c6f63616c 08036e646e 0806707265666978
    0220 bc3630a4d65e0db5483dfa0d28b3312fcac1d441ec8961d4175e61751778108e
    1200 0a04 4c1ecb4a 2404 c0c1c2c3 fd01fe08 1020304050607080 2c0d 1b0100 2608 0102030405060708
    2e20 12471ae0f8723ac1156c370a38711ebebf2817de9b2dd94e9b7e62f117b876c1
    fd020008 1122334455667788";

#[test]
fn an_interest_with_every_element_is_read_as_ndn_cxx_wrote_it() {
    let bytes = hex(FULL);
    let view = InterestView::parse(&bytes).expect("valid");
    assert!(view.can_be_prefix && view.must_be_fresh && parameters_digest_holds(&view));
    assert_eq!(view.forwarding_hint, Some(&hex("0703080148")[..]));
    assert_eq!((view.nonce, view.hop_limit), (Some(0x4c1e_cb4a), Some(220)));
    assert_eq!(view.lifetime.map(|lifetime| lifetime.0), Some(30_369));
    assert_eq!(view.parameters, Some(&hex("c0c1c2c3")[..]));
}

#[test]
fn an_interest_with_every_element_is_written_as_ndn_cxx_writes_it() {
    let builder = InterestBuilder {
        name: &hex(NAME),
        can_be_prefix: true,
        must_be_fresh: true,
        forwarding_hint: Some(&hex("0703080148")),
        nonce: Some(0x4c1e_cb4a),
        lifetime: Some(tidegate_core::ndn::packet::Millis(30_369)),
        hop_limit: Some(220),
        parameters: Some(&hex("c0c1c2c3")),
    };
    assert_eq!(builder.build().expect("small"), hex(FULL));
}

#[test]
fn the_parameters_digest_covers_elements_behind_the_signature() {
    for text in [SIGNED, MORE_PARAMETERS] {
        let bytes = hex(text);
        let view = InterestView::parse(&bytes).expect("valid");
        assert!(parameters_digest_holds(&view));
        let signature = view.signature.expect("signed");
        assert_eq!((signature.kind, signature.nonce), (0, Some(&[1, 2, 3, 4, 5, 6, 7, 8][..])));
    }
}

#[test]
fn a_signature_made_up_for_a_test_does_not_hold_and_ours_in_its_place_does() {
    let bytes = hex(SIGNED);
    let view = InterestView::parse(&bytes).expect("valid");
    assert_eq!(Verifier::Digest.verify_interest(&view), Err(VerifyError::Wrong));
    let builder =
        InterestBuilder { name: &hex(NAME), parameters: Some(&hex("c0c1c2c3")), ..Default::default() };
    let stamp = InterestStamp { nonce: Some(&[1, 2, 3, 4, 5, 6, 7, 8]), ..Default::default() };
    let ours = builder.sign(&Signer::Digest, &stamp).expect("small");
    let view = InterestView::parse(&ours).expect("valid");
    assert_eq!(Verifier::Digest.verify_interest(&view), Ok(()));
}

#[test]
fn an_interest_with_parameters_and_no_digest_is_refused_as_by_ndn_cxx() {
    let bytes = hex("050F 0703080149 0A04F000F000 2402CAFE");
    assert!(matches!(InterestView::parse(&bytes), Err(DecodeError::ParametersDigest(_))));
}

#[test]
fn frames_are_judged_as_by_ndn_cxx() {
    let judge = |text: &str| decode_frame(Bytes::from(hex(text))).map(|lp| lp.fragment.to_vec());
    let fragment = Ok(vec![0x03, 0xe8]);
    assert_eq!(judge("640e 5108 00000000000003e8 5002 03e8"), fragment);
    let acknowledging = "642e 520100 530101 fd034408 0000000000000001 fd034408 0000000000000003
        fd034408 0000000000000002 5002 03e8";
    assert_eq!(judge(acknowledging), fragment);
    assert_eq!(judge("6406 520100 530101"), Ok(vec![]));
    assert_eq!(judge("6404 5002 03e8"), fragment);
    assert_eq!(judge("6404 fd034c00"), Ok(vec![]));
    assert_eq!(judge("6400"), Ok(vec![]));
    assert_eq!(judge("640c 520100 fd03240102 5002 03e8"), fragment, "804 is ignored");
    for refused in [
        "6406 520100 520101",
        "6408 5002 03e8 5002 03e9",
        "640a 530101 520100 5002 03e8",
        "640a 520100 5002 03e8 530101",
        "640c 520100 fd03220102 5002 03e8",
        "640A 5104A4A5A6A7 5002FFFF",
        "0700",
    ] {
        assert!(judge(refused).is_err(), "{refused}");
    }
}

#[test]
fn a_bare_interest_whose_name_is_broken_is_a_frame_and_no_packet() {
    let lp = decode_frame(Bytes::from(hex("050a 070203e8 0a0401020304"))).expect("a frame");
    assert!(decode_packet(&lp.fields, lp.fragment, &mut NameTable::new(), &mut || 1).is_err());
}

#[test]
fn a_refused_interest_is_read_as_nfd_sends_it() {
    let lp = decode_frame(Bytes::from(hex("6418 fd032005 fd03210164 500d 050b 0703080149 0a0401020304")));
    let lp = lp.expect("a frame");
    let packet = decode_packet(&lp.fields, lp.fragment, &mut NameTable::new(), &mut || 1).expect("a Nack");
    let Kind::Nack(nack) = packet.header.kind else { panic!("{packet:?}") };
    assert_eq!(nack.reason, tidegate_core::ndn::packet::NackReason::Duplicate);
    assert_eq!((nack.interest.nonce, nack.interest.lifetime.0), (0x0102_0304, 4_000));
}
