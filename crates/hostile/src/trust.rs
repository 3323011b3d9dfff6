//! Trust schemas and the names that are checked with them.

use std::sync::LazyLock;

use tidegate_live::name_uri;
use tidegate_live::trust_policy::{TrustPolicy, TrustSchemaError};
use tidegate_wire::{
    Certificate, CertificateSettings, KeyAlgorithm, KeySigner, Signer, ValidityPeriod, name,
};

/// Certificates of keys of `/a`, `/a/b` and `/`.
static CERTIFICATES: LazyLock<[Certificate; 3]> =
    LazyLock::new(|| [&[&b"a"[..]][..], &[b"a", b"b"], &[]].map(certificate));

fn certificate(identity: &[&[u8]]) -> Certificate {
    let mut key_name = Vec::new();
    let words = identity.iter().copied().chain([&b"KEY"[..], b"k"]);
    words.for_each(|word| name::push_component(&mut key_name, 8, word));
    let key = KeySigner::from_bytes(KeyAlgorithm::Ed25519, &[7; 32], &key_name).expect("a key");
    let settings = CertificateSettings {
        key_name: &key_name,
        public_key: &key.public_key(),
        issuer: b"self",
        version: 1,
        validity: ValidityPeriod { not_before: 0, not_after: 1_000 },
    };
    let packet = settings.issue(&Signer::Key(Box::new(key.clone()))).expect("small");
    Certificate::parse(packet).expect("a certificate of ours")
}

/// The text of a schema, then names, each after a zero byte.
pub fn check(data: &[u8]) {
    let mut parts = data.split(|byte| *byte == 0);
    let text = parts.next().unwrap_or_default();
    let mut anchors = 0;
    let policy = TrustPolicy::parse_schema("schema.toml", text, |_| {
        anchors += 1;
        Ok(CERTIFICATES[anchors % 3].clone())
    });
    let policy = match policy {
        Ok(policy) => policy,
        Err(TrustSchemaError::Content(errors)) => {
            assert!(errors.iter().count() > 0 && !errors.to_string().is_empty());
            return;
        }
        Err(why) => panic!("{why}"),
    };
    assert_eq!(policy.anchors().len(), anchors);
    for name in parts.filter_map(|part| name_uri::parse(std::str::from_utf8(part).ok()?).ok()).take(4) {
        for certificate in &*CERTIFICATES {
            let _ = policy.check_signer(&name, certificate).map_err(|why| assert!(!why.is_empty()));
        }
        let anchor = policy.anchor(&name, 10);
        assert!(anchor.is_none_or(|anchor| anchor.is_denoted_by(&name)));
    }
}
