//! Files of keys: certificates, SafeBags, secret keys of ndnd, and texts with them.

use bytes::Bytes;
use tidegate_live::armour;
use tidegate_live::key_store::{check_self_signed, to_base64};
use tidegate_wire::{Certificate, SafeBag, read_secret_key};

/// Iterations of the derivation of a key from a password for which a SafeBag is opened.
const MAX_WORK: u64 = 4;

/// The first byte says what the others are.
pub fn check(data: &[u8]) {
    let Some((kind, bytes)) = data.split_first() else { return };
    match kind % 4 {
        0 => certificate(bytes),
        1 => safe_bag(bytes),
        2 => secret_key(bytes),
        _ => text(bytes),
    }
}

fn certificate(bytes: &[u8]) {
    let Ok(certificate) = Certificate::parse(Bytes::copy_from_slice(bytes)) else { return };
    assert_eq!(certificate.packet(), bytes);
    let (name, key_name) = (certificate.name(), certificate.key_name());
    assert!(name.starts_with(key_name) && key_name.starts_with(certificate.identity()));
    assert!(certificate.is_denoted_by(name) && certificate.is_denoted_by(key_name));
    assert!(!certificate.is_denoted_by(certificate.identity()));
    let again = Certificate::parse(certificate.packet().clone());
    assert!(again.is_ok_and(|again| again.public_key() == certificate.public_key()));
    let _ = check_self_signed(&certificate);
}

fn safe_bag(bytes: &[u8]) {
    let Ok(bag) = SafeBag::parse(bytes) else { return };
    if bag.work() <= MAX_WORK
        && let Ok((certificate, key)) = bag.open(b"secret")
    {
        assert_eq!(key.public_key(), *certificate.public_key());
    }
}

fn secret_key(bytes: &[u8]) {
    if let Ok(key) = read_secret_key(bytes) {
        assert!(!key.key_name().is_empty());
    }
}

fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for packet in armour::packets(text).unwrap_or_default() {
        assert_eq!(armour::packets(&to_base64(&packet)), Some(vec![packet]));
    }
}
