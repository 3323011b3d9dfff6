//! Public keys: ECDSA on curve P-256, Ed25519 (RFC 8032), and RSA (PKCS #1 v1.5, RFC 8017).

use p256::ecdsa::DerSignature;
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use rsa::pkcs8::DecodePublicKey;
use rsa::traits::PublicKeyParts;

use super::{KeyError, sha256};
use crate::signature::signature_type;

/// Sizes of RSA keys that are accepted, bits: shorter ones are not secure, longer ones take much time.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2_048..=8_192;

/// A key that verifies signatures.
#[derive(Clone, Debug, PartialEq)]
pub enum PublicKey {
    /// ECDSA over SHA-256 on curve P-256.
    P256(Box<p256::ecdsa::VerifyingKey>),
    /// Ed25519 over the signed part itself.
    Ed25519(Box<ed25519_dalek::VerifyingKey>),
    /// RSA with PKCS #1 v1.5 over SHA-256, of 2048 to 8192 bits.
    Rsa(Box<rsa::PublicKey>),
}

impl PublicKey {
    /// The key in PEM text (`PUBLIC KEY`: SPKI).
    ///
    /// # Errors
    /// When the text is no public key of a known algorithm.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        p256::ecdsa::VerifyingKey::from_public_key_pem(pem)
            .ok()
            .map(|key| Self::P256(Box::new(key)))
            .or_else(|| {
                let key = ed25519_dalek::VerifyingKey::from_public_key_pem(pem).ok()?;
                Some(Self::Ed25519(Box::new(key)))
            })
            .or_else(|| rsa::PublicKey::from_public_key_pem(pem).ok().and_then(Self::of_rsa))
            .ok_or(KeyError("no P-256, Ed25519 or RSA (2048 to 8192 bits) public key; accepted: PEM of SPKI"))
    }

    /// The key in DER of SPKI, as in an NDN certificate, or as a SEC1 point of P-256 (compressed or not).
    ///
    /// # Errors
    /// When the bytes are no public key of a known algorithm.
    pub fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        let p256 = p256::ecdsa::VerifyingKey::from_public_key_der(der).ok();
        p256.or_else(|| p256::ecdsa::VerifyingKey::from_sec1_bytes(der).ok())
            .map(|key| Self::P256(Box::new(key)))
            .or_else(|| {
                let key = ed25519_dalek::VerifyingKey::from_public_key_der(der).ok()?;
                Some(Self::Ed25519(Box::new(key)))
            })
            .or_else(|| rsa::PublicKey::from_public_key_der(der).ok().and_then(Self::of_rsa))
            .ok_or(KeyError("no P-256, Ed25519 or RSA (2048 to 8192 bits) public key; accepted: DER of SPKI"))
    }

    fn of_rsa(key: rsa::PublicKey) -> Option<Self> {
        RSA_BITS.contains(&(key.n().bit_width() as usize)).then(|| Self::Rsa(Box::new(key)))
    }

    /// The key in DER of SPKI, the content of a certificate.
    pub fn to_der(&self) -> Vec<u8> {
        use rsa::pkcs8::EncodePublicKey;
        let der = match self {
            Self::P256(key) => key.to_public_key_der(),
            Self::Ed25519(key) => key.to_public_key_der(),
            Self::Rsa(key) => key.to_public_key_der(),
        };
        der.expect("the key is valid, and memory is the only other reason").into_vec()
    }

    /// SignatureType of its signatures.
    pub const fn kind(&self) -> u64 {
        match self {
            Self::P256(_) => signature_type::SHA256_WITH_ECDSA,
            Self::Ed25519(_) => signature_type::ED25519,
            Self::Rsa(_) => signature_type::SHA256_WITH_RSA,
        }
    }

    /// Whether `value` is a signature over `parts` of this key.
    pub(super) fn verifies(&self, value: &[u8], parts: &[&[u8]]) -> bool {
        match self {
            Self::P256(key) => {
                let value = DerSignature::try_from(value);
                value.is_ok_and(|value| key.verify_prehash(&sha256(parts), &value).is_ok())
            }
            Self::Ed25519(key) => {
                let value = ed25519_dalek::Signature::from_slice(value);
                // Strict: a key of small order would accept signatures that it has not made.
                value.is_ok_and(|value| key.verify_strict(&parts.concat(), &value).is_ok())
            }
            Self::Rsa(key) => {
                let verifier = rsa::pkcs1v15::VerifyingKey::<sha2::Sha256>::new((**key).clone());
                let value = rsa::pkcs1v15::Signature::try_from(value);
                value.is_ok_and(|value| verifier.verify_prehash(&sha256(parts), &value).is_ok())
            }
        }
    }
}
