//! Private keys: ECDSA on curve P-256 (RFC 6979) and Ed25519 (RFC 8032).

use ed25519_dalek::Signer as _;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey};
use p256::ecdsa::Signature;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use pkcs8::LineEnding;

use super::{KeyError, PublicKey, sha256};
use crate::signature::signature_type;

/// Algorithm of a key that signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAlgorithm {
    /// ECDSA over SHA-256 on curve P-256.
    P256,
    /// Ed25519 over the signed part itself.
    Ed25519,
}

/// A key that signs.
#[derive(Clone)]
pub(super) enum PrivateKey {
    P256(p256::ecdsa::SigningKey),
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

impl PrivateKey {
    /// The key in PEM text.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        // `openssl ecparam -genkey` writes the curve's parameters before the key.
        let sec1 = pem.find("-----BEGIN EC PRIVATE KEY-----").map_or(pem, |at| &pem[at..]);
        let p256 = p256::ecdsa::SigningKey::from_pkcs8_pem(pem).ok();
        // OpenSSL writes SEC1, NDN's tools write PKCS#8.
        p256.or_else(|| p256::SecretKey::from_sec1_pem(sec1).ok().map(Into::into))
            .map(Self::P256)
            .or_else(|| ed25519_dalek::SigningKey::from_pkcs8_pem(pem).ok().map(Box::new).map(Self::Ed25519))
            .ok_or(KeyError("no P-256 or Ed25519 private key; accepted: PEM of PKCS#8 or SEC1"))
    }

    /// Reads PKCS#8 or SEC1.
    pub fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        let p256 = p256::ecdsa::SigningKey::from_pkcs8_der(der).ok();
        p256.or_else(|| p256::SecretKey::from_sec1_der(der).ok().map(Into::into))
            .map(Self::P256)
            .or_else(|| ed25519_dalek::SigningKey::from_pkcs8_der(der).ok().map(Box::new).map(Self::Ed25519))
            .ok_or(KeyError("no P-256 or Ed25519 private key; accepted: DER of PKCS#8 or SEC1"))
    }

    /// The key that 32 bytes are.
    pub fn from_bytes(algorithm: KeyAlgorithm, bytes: &[u8; 32]) -> Result<Self, KeyError> {
        match algorithm {
            KeyAlgorithm::P256 => p256::ecdsa::SigningKey::from_slice(bytes)
                .map(Self::P256)
                .map_err(|_| KeyError("the number is no P-256 private key")),
            KeyAlgorithm::Ed25519 => {
                Ok(Self::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(bytes))))
            }
        }
    }

    /// The key in DER of PKCS#8.
    pub fn to_pkcs8(&self) -> Vec<u8> {
        let document = match self {
            Self::P256(key) => key.to_pkcs8_der(),
            Self::Ed25519(key) => key.to_pkcs8_der(),
        };
        document.expect("the key is valid, and memory is the only other reason").as_bytes().to_vec()
    }

    /// The key in PEM of PKCS#8.
    pub fn to_pem(&self) -> String {
        let text = match self {
            Self::P256(key) => key.to_pkcs8_pem(LineEnding::LF),
            Self::Ed25519(key) => key.to_pkcs8_pem(LineEnding::LF),
        };
        text.expect("the key is valid, and memory is the only other reason").to_string()
    }

    /// SignatureType of its signatures.
    pub const fn kind(&self) -> u64 {
        match self {
            Self::P256(_) => signature_type::SHA256_WITH_ECDSA,
            Self::Ed25519(_) => signature_type::ED25519,
        }
    }

    /// The key that verifies its signatures.
    pub fn public(&self) -> PublicKey {
        match self {
            Self::P256(key) => PublicKey::P256(Box::new(*key.verifying_key())),
            Self::Ed25519(key) => PublicKey::Ed25519(Box::new(key.verifying_key())),
        }
    }

    /// The value of a signature over `parts`.
    pub fn sign(&self, parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::P256(key) => {
                // Deterministic (RFC 6979); fails only for a hash of less than half the key's length.
                let signature: Signature =
                    key.sign_prehash(&sha256(parts)).expect("32 bytes are enough for P-256");
                signature.to_der().as_bytes().to_vec()
            }
            Self::Ed25519(key) => key.sign(&parts.concat()).to_bytes().to_vec(),
        }
    }
}
