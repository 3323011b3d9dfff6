//! Signatures, digests and keys.

use bytes::Bytes;
use tidegate_core::ndn::packet::Millis;
use tidegate_wire::{
    DataBuilder, DataView, EncodeError, InterestBuilder, InterestStamp, InterestView, KeyAlgorithm,
    KeySigner, PublicKey, Signer, Verifier, VerifyError, implicit_digest, parameters_digest_holds,
};

/// The key of RFC 6979, A.2.5.
const SCALAR: [u8; 32] = [
    0xC9, 0xAF, 0xA9, 0xD8, 0x45, 0xBA, 0x75, 0x16, 0x6B, 0x5C, 0x21, 0x57, 0x67, 0xB1, 0xD6, 0x93, 0x4E,
    0x50, 0xC3, 0xDB, 0x36, 0xE8, 0x9B, 0x12, 0x7B, 0x8A, 0x62, 0x2B, 0x12, 0x0F, 0x67, 0x21,
];
/// `/a/KEY/k`.
const KEY_NAME: &[u8] = b"\x08\x01a\x08\x03KEY\x08\x01k";

// The same key as OpenSSL writes it.
const PKCS8: &str = include_str!("keys/pkcs8.pem");
const SEC1: &str = include_str!("keys/sec1.pem");
const SEC1_WITH_PARAMETERS: &str = include_str!("keys/sec1-with-parameters.pem");
const SPKI: &str = include_str!("keys/spki.pem");

fn ecdsa() -> Signer {
    Signer::Key(Box::new(KeySigner::from_bytes(KeyAlgorithm::P256, &SCALAR, KEY_NAME).expect("a key")))
}

fn ed25519() -> Signer {
    Signer::Key(Box::new(
        KeySigner::from_pem(include_str!("keys/ed25519-pkcs8.pem"), KEY_NAME).expect("a key"),
    ))
}

fn signers() -> [Signer; 3] {
    [Signer::Digest, ecdsa(), ed25519()]
}

fn data(signer: &Signer) -> Bytes {
    let builder = DataBuilder {
        name: b"\x08\x01a\x32\x01\x07",
        freshness: Some(Millis(10)),
        final_block: Some(b"\x32\x01\x09"),
        content: b"content",
        ..DataBuilder::default()
    };
    builder.sign(signer).expect("small")
}

fn interest(signer: &Signer) -> Bytes {
    let builder = InterestBuilder {
        name: b"\x08\x01a",
        nonce: Some(7),
        parameters: Some(b"parameters"),
        ..InterestBuilder::default()
    };
    let stamp = InterestStamp { nonce: Some(b"12345678"), time_ms: Some(1_700_000_000_000), sequence: None };
    builder.sign(signer, &stamp).expect("small")
}

#[test]
fn a_data_is_verified_by_the_key_that_signed_it_and_by_no_other_kind() {
    for signer in signers() {
        let bytes = data(&signer);
        let view = DataView::parse(&bytes).expect("valid");
        assert_eq!(signer.verifier().verify_data(&view), Ok(()), "{signer:?}");
    }
    let bytes = data(&ecdsa());
    let view = DataView::parse(&bytes).expect("valid");
    assert_eq!(Verifier::Digest.verify_data(&view), Err(VerifyError::Kind { found: 3, expected: 0 }));
}

#[test]
fn a_data_with_any_signed_byte_changed_is_refused() {
    for signer in signers() {
        let bytes = data(&signer);
        for at in 0..bytes.len() {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1;
            if let Ok(view) = DataView::parse(&changed) {
                assert!(signer.verifier().verify_data(&view).is_err(), "byte {at}");
            }
        }
    }
}

#[test]
fn an_interest_with_any_byte_but_its_nonce_changed_is_refused() {
    for signer in signers() {
        let bytes = interest(&signer);
        let whole = InterestView::parse(&bytes).expect("valid");
        assert_eq!(signer.verifier().verify_interest(&whole), Ok(()));
        let nonce = bytes.windows(6).position(|six| six == [10, 4, 0, 0, 0, 7]).expect("a nonce") + 2;
        for at in 0..bytes.len() {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1;
            let Ok(view) = InterestView::parse(&changed) else { continue };
            let holds = signer.verifier().verify_interest(&view).is_ok();
            assert_eq!(holds, (nonce..nonce + 4).contains(&at), "byte {at}");
        }
    }
}

#[test]
fn a_signed_interest_says_who_signed_it_and_when() {
    let bytes = interest(&ecdsa());
    let view = InterestView::parse(&bytes).expect("valid");
    let signature = view.signature.expect("signed");
    assert_eq!(
        (signature.kind, signature.nonce, signature.time_ms),
        (3, Some(&b"12345678"[..]), Some(1_700_000_000_000))
    );
    let Some(tidegate_wire::KeyLocator::Name(name)) = signature.key_locator else { panic!("{signature:?}") };
    assert_eq!(name.components(), KEY_NAME);
    assert_eq!(view.name.iter().map(|component| component.kind).collect::<Vec<_>>(), [8, 2]);
}

#[test]
fn an_unsigned_interest_is_not_verified_though_its_parameters_digest_holds() {
    let bytes = InterestBuilder { name: b"\x08\x01a", parameters: Some(b""), ..InterestBuilder::default() };
    let bytes = bytes.build().expect("small");
    let view = InterestView::parse(&bytes).expect("valid");
    assert!(parameters_digest_holds(&view));
    assert_eq!(Verifier::Digest.verify_interest(&view), Err(VerifyError::Unsigned));
}

#[test]
fn a_key_is_read_from_every_form_openssl_writes() {
    let expected = data(&ecdsa());
    let view = DataView::parse(&expected).expect("valid");
    for pem in [PKCS8, SEC1, SEC1_WITH_PARAMETERS] {
        let signer = Signer::Key(Box::new(KeySigner::from_pem(pem, KEY_NAME).expect("a key")));
        assert_eq!(data(&signer), expected);
    }
    for verifier in [
        Verifier::from_pem(SPKI).expect("a key"),
        Verifier::from_der(include_bytes!("keys/spki.der")).expect("a key"),
        Verifier::from_der(include_bytes!("keys/point.bin")).expect("a key"),
    ] {
        assert_eq!(verifier.verify_data(&view), Ok(()));
    }
    for der in [&include_bytes!("keys/pkcs8.der")[..], include_bytes!("keys/sec1.der")] {
        let signer = Signer::Key(Box::new(KeySigner::from_der(der, KEY_NAME).expect("a key")));
        assert_eq!(data(&signer), expected);
    }
}

#[test]
fn signatures_that_openssl_made_are_verified_and_those_of_another_key_are_not() {
    let [rsa, ed25519] = [include_str!("keys/rsa-spki.pem"), include_str!("keys/ed25519-spki.pem")]
        .map(|pem| Verifier::from_pem(pem).expect("a key"));
    let other = self::ecdsa().verifier();
    for (data, verifier, others) in [
        (&include_bytes!("keys/rsa.data")[..], &rsa, [&ed25519, &other]),
        (include_bytes!("keys/ed25519.data"), &ed25519, [&rsa, &other]),
    ] {
        let view = DataView::parse(data).expect("valid");
        assert_eq!(verifier.verify_data(&view), Ok(()));
        assert!(others.iter().all(|other| other.verify_data(&view).is_err()));
        let mut changed = data.to_vec();
        *changed.last_mut().expect("not empty") ^= 1;
        let view = DataView::parse(&changed).expect("valid");
        assert_eq!(verifier.verify_data(&view), Err(VerifyError::Wrong));
    }
}

#[test]
fn an_ed25519_signature_is_the_one_that_openssl_makes_of_the_same_bytes() {
    let made = include_bytes!("keys/ed25519.data");
    let view = DataView::parse(made).expect("valid");
    let builder = DataBuilder {
        name: view.name.components(),
        final_block: None,
        freshness: Some(view.freshness),
        content: view.content,
        ..DataBuilder::default()
    };
    assert_eq!(builder.sign(&self::ed25519()).expect("small")[..], made[..]);
}

#[test]
fn public_keys_are_written_as_they_were_read() {
    for pem in [SPKI, include_str!("keys/rsa-spki.pem"), include_str!("keys/ed25519-spki.pem")] {
        let key = PublicKey::from_pem(pem).expect("a key");
        assert_eq!(PublicKey::from_der(&key.to_der()), Ok(key));
    }
    assert!(PublicKey::from_pem(include_str!("keys/rsa-1024-spki.pem")).is_err(), "1024 bits are too few");
}

#[test]
fn what_is_no_key_is_refused_without_repeating_it() {
    for text in ["", "secret", &PKCS8[..60], SPKI] {
        let error = KeySigner::from_pem(text, KEY_NAME).expect_err("no private key").to_string();
        assert_eq!(error, "no P-256 or Ed25519 private key; accepted: PEM of PKCS#8 or SEC1");
    }
    assert!(Verifier::from_pem(PKCS8).is_err());
    assert!(Verifier::from_der(&[4; 65]).is_err(), "not on the curve");
    assert!(KeySigner::from_bytes(KeyAlgorithm::P256, &[0; 32], KEY_NAME).is_err());
    assert!(KeySigner::from_bytes(KeyAlgorithm::P256, &[255; 32], KEY_NAME).is_err());
    assert_eq!(format!("{:?}", ecdsa()), "Key(..)");
}

#[test]
fn the_implicit_digest_is_that_of_the_whole_packet() {
    // SHA-256 by another implementation of the bytes of `data(&Signer::Digest)`.
    let bytes = data(&Signer::Digest);
    let digest = implicit_digest(&DataView::parse(&bytes).expect("valid"));
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "1c223503a13d656efe26883d7962f49c994d4634a15f7cbba541ca63b2115e6c");
}

#[test]
fn a_packet_past_8800_bytes_is_not_built() {
    let data =
        |len: usize| DataBuilder { content: &vec![0; len], ..DataBuilder::default() }.sign(&Signer::Digest);
    let overhead = data(8_000).expect("fits").len() - 8_000;
    assert_eq!(data(8_800 - overhead).map(|bytes| bytes.len()), Ok(8_800));
    assert_eq!(data(8_801 - overhead), Err(EncodeError::TooLarge(8_801)));
}

#[test]
fn an_interest_is_not_built_with_a_name_it_cannot_have() {
    let build = |name: &[u8]| InterestBuilder { name, ..InterestBuilder::default() }.build();
    assert!(matches!(build(b""), Err(EncodeError::Name(_))));
    assert!(matches!(build(&[&[2, 32][..], &[0; 32]].concat()), Err(EncodeError::Name(_))));
    assert!(matches!(build(&[8, 9]), Err(EncodeError::Body(_))));
}
