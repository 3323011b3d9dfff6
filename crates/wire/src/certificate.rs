//! NDN certificates (certificate format 2.0): a public key under a name, signed by its issuer.
//!
//! Names are `/<identity>/KEY/<key id>/<issuer>/<version>`, with a version of type 54.

use bytes::Bytes;
use tidegate_core::ndn::packet::Millis;

use crate::builder::DataBuilder;
use crate::data::DataView;
use crate::error::{DecodeError, EncodeError};
use crate::rdr::push_version;
use crate::sign::{KeyError, PublicKey, Signer};
use crate::signature::KeyLocator;
use crate::tlv::{Element, types};
use crate::validity::ValidityPeriod;

/// ContentType of a key.
const CONTENT_KEY: u64 = 2;

/// FreshnessPeriod of certificates: one hour, as ndn-cxx sets it.
const FRESHNESS: Millis = Millis(3_600_000);

/// Components of a name from KEY on: KEY, the key's id, issuer and version.
const SUFFIX: usize = 4;

/// A certificate whose form is checked; its signature is not.
#[derive(Clone, Debug)]
pub struct Certificate {
    packet: Bytes,
    name: Vec<u8>,
    /// Lengths of the identity and of the key's name within `name`.
    identity_len: usize,
    key_name_len: usize,
    public_key: PublicKey,
    validity: ValidityPeriod,
    issuer: Option<Vec<u8>>,
}

/// Reason why a Data is no certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The bytes are no Data.
    #[error("it is no Data: {0}")]
    Packet(#[from] DecodeError),
    /// The name is not that of a certificate.
    #[error("its name is not of the form /<identity>/KEY/<key id>/<issuer>/<version>")]
    Name,
    /// The ContentType is not that of a key.
    #[error("its ContentType is {0}; a certificate has 2")]
    ContentType(u64),
    /// The content is no public key of a known algorithm.
    #[error("{0}")]
    Key(#[from] KeyError),
    /// There is no well-formed ValidityPeriod.
    #[error("it has no well-formed ValidityPeriod")]
    NoValidity,
}

/// Fields of a certificate to be issued.
#[derive(Clone, Copy, Debug)]
pub struct CertificateSettings<'a> {
    /// Name of the key, `/<identity>/KEY/<key id>`: concatenated components.
    pub key_name: &'a [u8],
    /// The key that is certified.
    pub public_key: &'a PublicKey,
    /// Issuer's part of the name, one generic component: `self` for a self-signed certificate, `NA` by default.
    pub issuer: &'a [u8],
    /// Version, milliseconds since 1970.
    pub version: u64,
    /// Time within which it is valid.
    pub validity: ValidityPeriod,
}

impl CertificateSettings<'_> {
    /// The certificate, signed by `signer`.
    ///
    /// # Errors
    /// When it is larger than a packet.
    pub fn issue(&self, signer: &Signer) -> Result<Bytes, EncodeError> {
        let mut name = self.key_name.to_vec();
        crate::name::push_component(&mut name, types::GENERIC_NAME_COMPONENT as u16, self.issuer);
        push_version(&mut name, self.version);
        let content = self.public_key.to_der();
        let data = DataBuilder {
            name: &name,
            content_type: CONTENT_KEY,
            freshness: Some(FRESHNESS),
            content: &content,
            validity: Some(self.validity),
            ..DataBuilder::default()
        };
        data.sign(signer)
    }
}

impl Certificate {
    /// Reads a certificate from the bytes of its Data.
    ///
    /// # Errors
    /// When it has not the form of a certificate, or a key of an unknown algorithm.
    pub fn parse(packet: Bytes) -> Result<Self, CertificateError> {
        let data = DataView::parse(&packet)?;
        if data.content_type != CONTENT_KEY {
            return Err(CertificateError::ContentType(data.content_type));
        }
        let components: Vec<Element<'_>> = data.name.iter().collect();
        let identity = components.len().checked_sub(SUFFIX).ok_or(CertificateError::Name)?;
        let [key, _, _, version] = &components[identity..] else { return Err(CertificateError::Name) };
        let is_key = key.kind == types::GENERIC_NAME_COMPONENT && key.value == b"KEY";
        if !is_key || version.kind != types::VERSION_NAME_COMPONENT {
            return Err(CertificateError::Name);
        }
        let start = components[0].start;
        Ok(Self {
            name: data.name.components().to_vec(),
            identity_len: key.start - start,
            key_name_len: components[identity + 2].start - start,
            public_key: PublicKey::from_der(data.content)?,
            validity: data.signature.validity.ok_or(CertificateError::NoValidity)?,
            issuer: match data.signature.key_locator {
                Some(KeyLocator::Name(name)) => Some(name.components().to_vec()),
                _ => None,
            },
            packet,
        })
    }

    /// The Data as it was received or issued.
    pub fn packet(&self) -> &Bytes {
        &self.packet
    }

    /// Its name, concatenated components.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Name of the entity that the key belongs to; may be `/`.
    pub fn identity(&self) -> &[u8] {
        &self.name[..self.identity_len]
    }

    /// Name of the key, without issuer and version.
    pub fn key_name(&self) -> &[u8] {
        &self.name[..self.key_name_len]
    }

    /// The key that is certified.
    pub fn public_key(&self) -> &PublicKey {
        &self.public_key
    }

    /// Time within which it is valid.
    pub fn validity(&self) -> ValidityPeriod {
        self.validity
    }

    /// KeyLocator: name of the issuer's key or certificate; `None` if it is not a name.
    pub fn issuer(&self) -> Option<&[u8]> {
        self.issuer.as_deref()
    }

    /// Whether `name`, as a KeyLocator, denotes this certificate or its key.
    pub fn is_denoted_by(&self, name: &[u8]) -> bool {
        name == self.key_name() || name == self.name
    }

    /// The certificate as a Data packet if an Interest for `name` (concatenated components) requests it: by its whole name or, with
    /// CanBePrefix, by a part of it from that of its key on.
    pub fn packet_for(&self, name: &[u8], can_be_prefix: bool) -> Option<&Bytes> {
        let is_part = name.starts_with(self.key_name()) && self.name.starts_with(name);
        let is_requested = is_part && (can_be_prefix || name == self.name);
        is_requested.then_some(&self.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign::{KeyAlgorithm, KeySigner, Verifier};

    /// `/a/KEY/k`.
    const KEY_NAME: &[u8] = b"\x08\x01a\x08\x03KEY\x08\x01k";
    const VALIDITY: ValidityPeriod = ValidityPeriod { not_before: 1_000, not_after: 2_000_000_000 };

    fn signer(algorithm: KeyAlgorithm) -> Signer {
        Signer::Key(Box::new(KeySigner::from_bytes(algorithm, &[7; 32], KEY_NAME).expect("a key")))
    }

    fn issued(algorithm: KeyAlgorithm) -> Bytes {
        let signer = signer(algorithm);
        let Verifier::Key(public_key) = signer.verifier() else { panic!("a key") };
        let settings = CertificateSettings {
            key_name: KEY_NAME,
            public_key: &public_key,
            issuer: b"self",
            version: 1_764_095_400_000,
            validity: VALIDITY,
        };
        settings.issue(&signer).expect("small")
    }

    #[test]
    fn a_certificate_comes_back_as_it_was_issued() {
        for algorithm in [KeyAlgorithm::P256, KeyAlgorithm::Ed25519] {
            let certificate = Certificate::parse(issued(algorithm)).expect("a certificate");
            assert_eq!(certificate.identity(), b"\x08\x01a");
            assert_eq!(certificate.key_name(), KEY_NAME);
            assert_eq!((certificate.validity(), certificate.issuer()), (VALIDITY, Some(KEY_NAME)));
            assert!(certificate.is_denoted_by(KEY_NAME) && certificate.is_denoted_by(certificate.name()));
            assert!(!certificate.is_denoted_by(certificate.identity()));
            let verifier = Verifier::Key(certificate.public_key().clone());
            let view = DataView::parse(certificate.packet()).expect("valid");
            assert_eq!(verifier.verify_data(&view), Ok(()));
        }
    }

    #[test]
    fn what_is_no_certificate_is_refused_with_its_reason() {
        let key = signer(KeyAlgorithm::Ed25519);
        let Verifier::Key(public_key) = key.verifier() else { panic!("a key") };
        let content = public_key.to_der();
        let name = [KEY_NAME, b"\x08\x02NA\x36\x01\x07"].concat();
        let whole = DataBuilder {
            name: &name,
            content_type: CONTENT_KEY,
            content: &content,
            validity: Some(VALIDITY),
            ..DataBuilder::default()
        };
        let why = |data: DataBuilder<'_>| {
            Certificate::parse(data.sign(&key).expect("small")).map(|_| ()).expect_err("refused")
        };
        assert!(Certificate::parse(whole.sign(&key).expect("small")).is_ok());
        for name in [&b"\x08\x03KEY\x08\x01k"[..], b"\x08\x01a\x08\x03key\x08\x01k\x08\x02NA\x36\x01\x07"] {
            assert_eq!(why(DataBuilder { name, ..whole }), CertificateError::Name);
        }
        assert_eq!(why(DataBuilder { name: &name[..name.len() - 3], ..whole }), CertificateError::Name);
        assert_eq!(why(DataBuilder { content_type: 0, ..whole }), CertificateError::ContentType(0));
        assert!(matches!(why(DataBuilder { content: b"key", ..whole }), CertificateError::Key(_)));
        assert_eq!(why(DataBuilder { validity: None, ..whole }), CertificateError::NoValidity);
    }
}
