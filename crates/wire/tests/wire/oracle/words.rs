//! Packets in words, the same words that the Python script uses.

use std::fmt::Write as _;

use bytes::Bytes;
use tidegate_core::ndn::packet::NackReason;
use tidegate_wire::{
    DataView, InterestView, KeyLocator, KeySigner, SignatureView, Signer, Verifier, decode_frame,
    parameters_digest_holds,
};

/// `/k/KEY/1`, as the Python script calls its key.
pub const KEY_NAME: &[u8] = b"\x08\x01k\x08\x03KEY\x08\x011";
pub fn ecdsa() -> Signer {
    let pem = include_str!("../keys/pkcs8.pem");
    Signer::Key(Box::new(KeySigner::from_pem(pem, KEY_NAME).expect("a key")))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("to a string");
        text
    })
}

/// One packet in words, as the script says it.
pub struct Line(pub String);

impl Line {
    pub fn number(mut self, key: &str, value: Option<u64>) -> Self {
        let value = value.map_or("-".to_owned(), |value| value.to_string());
        write!(self.0, " {key}={value}").expect("to a string");
        self
    }

    pub fn bytes(mut self, key: &str, value: Option<&[u8]>) -> Self {
        let value = value.map_or("-".to_owned(), hex);
        write!(self.0, " {key}={value}").expect("to a string");
        self
    }
}

/// Who signed, in the parts that both kinds of packets have.
fn key_of<'a>(signature: Option<&SignatureView<'a>>) -> Option<&'a [u8]> {
    match signature?.key_locator? {
        KeyLocator::Name(name) => Some(name.components()),
        other => panic!("{other:?}"),
    }
}

fn verifier_of(kind: u64) -> Verifier {
    if kind == 0 { Verifier::Digest } else { ecdsa().verifier() }
}

/// The number in a SignatureNonce, which python-ndn takes for one.
pub fn nonce_number(nonce: &[u8]) -> u64 {
    nonce.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn describe_interest(bytes: &[u8]) -> String {
    let view = InterestView::parse(bytes).expect("an Interest");
    let signature = view.signature.as_ref();
    let without_digest = view.name.iter().filter(|component| component.kind != 2);
    let name = without_digest.flat_map(|component| bytes[component.start..component.end()].to_vec());
    let digest = view.parameters.map(|_| u64::from(parameters_digest_holds(&view)));
    let holds = signature.map(|signature| verifier_of(signature.kind).verify_interest(&view).is_ok());
    Line("interest".to_owned())
        .bytes("name", Some(&name.collect::<Vec<u8>>()))
        .number("prefix", Some(view.can_be_prefix.into()))
        .number("fresh", Some(view.must_be_fresh.into()))
        .bytes("hint", view.forwarding_hint)
        .number("nonce", view.nonce.map(u64::from))
        .number("lifetime", view.lifetime.map(|lifetime| lifetime.0.into()))
        .number("hops", view.hop_limit.map(u64::from))
        .bytes("parameters", view.parameters)
        .number("digest", digest)
        .number("signature", signature.map(|signature| signature.kind))
        .bytes("key", key_of(signature))
        .number("stamp_nonce", signature.and_then(|signature| signature.nonce).map(nonce_number))
        .number("time", signature.and_then(|signature| signature.time_ms))
        .number("sequence", signature.and_then(|signature| signature.sequence))
        .number("holds", holds.map(u64::from))
        .0
}

fn describe_data(bytes: &[u8]) -> String {
    let view = DataView::parse(bytes).expect("a Data");
    let final_block = view.final_block.map(|component| &bytes[component.start..component.end()]);
    let holds = verifier_of(view.signature.kind).verify_data(&view).is_ok();
    Line("data".to_owned())
        .bytes("name", Some(view.name.components()))
        .number("type", Some(view.content_type))
        .number("freshness", Some(view.freshness.0.into()))
        .bytes("final", final_block)
        .bytes("content", Some(view.content))
        .number("signature", Some(view.signature.kind))
        .bytes("key", key_of(Some(&view.signature)))
        .number("holds", Some(holds.into()))
        .0
}

fn describe_lp(bytes: &[u8]) -> String {
    let lp = decode_frame(Bytes::copy_from_slice(bytes)).expect("a frame");
    let nack = lp.fields.nack.map(code);
    Line("lp".to_owned())
        .bytes("token", lp.fields.token.as_ref().map(|token| token.as_bytes()))
        .number("nack", nack)
        .number("mark", Some(lp.fields.hop.mark.into()))
        .bytes("fragment", Some(&lp.fragment))
        .0
}

pub fn code(reason: NackReason) -> u64 {
    match reason {
        NackReason::Congestion => 50,
        NackReason::Duplicate => 100,
        NackReason::NoRoute => 150,
    }
}

pub fn describe(bytes: &[u8]) -> String {
    match bytes[0] {
        5 => describe_interest(bytes),
        6 => describe_data(bytes),
        _ => describe_lp(bytes),
    }
}
