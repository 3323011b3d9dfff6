//! Signatures: DigestSha256, which proves integrity, and those of keys, which prove the origin as well.

mod private_key;
mod public_key;

use std::fmt;

use sha2::{Digest, Sha256};

use crate::data::DataView;
use crate::interest::InterestView;
use crate::signature::{SignatureView, signature_type};
use crate::tlv::{self, types};
use private_key::PrivateKey;

pub use private_key::KeyAlgorithm;
pub use public_key::PublicKey;

/// Signs Data and Interests.
#[derive(Clone)]
pub enum Signer {
    /// DigestSha256: without a key, so that it does not prove the origin.
    Digest,
    /// A private key with its name.
    Key(Box<KeySigner>),
}

/// A private key and its name, which packets that it signs have as their KeyLocator.
#[derive(Clone)]
pub struct KeySigner {
    key: PrivateKey,
    /// Components of the key's name, encoded and concatenated.
    key_name: Vec<u8>,
}

/// Verifies signatures of one key.
#[derive(Clone, Debug)]
pub enum Verifier {
    /// DigestSha256: a hash without a key.
    Digest,
    /// A public key of any algorithm.
    Key(PublicKey),
}

/// Reason why text or bytes are no key; the text of a private key is never repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KeyError(&'static str);

/// Reason why a signature is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The Interest is not signed.
    #[error("the Interest is not signed")]
    Unsigned,
    /// The signature type differs from the verifier's.
    #[error("signature type {found}; expected {expected}")]
    Kind {
        /// SignatureType in the packet.
        found: u64,
        /// SignatureType of the verifier.
        expected: u64,
    },
    /// The signature is not of this packet and key.
    #[error("the signature is not of this packet and key")]
    Wrong,
    /// The name's ParametersSha256Digest is not that of the parameters.
    #[error("the ParametersSha256Digest in the name is not right")]
    ParametersDigest,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Digest => "Digest",
            Self::Key(_) => "Key(..)",
        })
    }
}

impl fmt::Debug for KeySigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySigner(..)")
    }
}

impl KeySigner {
    /// A signer with the key name `key_name` (concatenated components), from the key's PEM text
    /// (`PRIVATE KEY`: PKCS#8, or `EC PRIVATE KEY`: SEC1).
    ///
    /// # Errors
    /// When the text is no P-256 or Ed25519 private key in one of these forms.
    pub fn from_pem(pem: &str, key_name: &[u8]) -> Result<Self, KeyError> {
        Ok(Self { key: PrivateKey::from_pem(pem)?, key_name: key_name.to_vec() })
    }

    /// As [`from_pem`](Self::from_pem), from the key's DER.
    ///
    /// # Errors
    /// When the bytes are no P-256 or Ed25519 private key in PKCS#8 or SEC1.
    pub fn from_der(der: &[u8], key_name: &[u8]) -> Result<Self, KeyError> {
        Ok(Self { key: PrivateKey::from_der(der)?, key_name: key_name.to_vec() })
    }

    /// As [`from_pem`](Self::from_pem), from the key's 32 bytes: a number (P-256) or a seed (Ed25519).
    ///
    /// # Errors
    /// When a number is zero, or not below the order of the curve.
    pub fn from_bytes(algorithm: KeyAlgorithm, bytes: &[u8; 32], key_name: &[u8]) -> Result<Self, KeyError> {
        Ok(Self { key: PrivateKey::from_bytes(algorithm, bytes)?, key_name: key_name.to_vec() })
    }

    /// The name of the key, concatenated components.
    pub fn key_name(&self) -> &[u8] {
        &self.key_name
    }

    /// The key in DER of PKCS#8, not encrypted.
    pub fn to_pkcs8(&self) -> Vec<u8> {
        self.key.to_pkcs8()
    }

    /// The key in PEM of PKCS#8, not encrypted.
    pub fn to_pem(&self) -> String {
        self.key.to_pem()
    }

    /// The key that verifies its signatures.
    pub fn public_key(&self) -> PublicKey {
        self.key.public()
    }
}

impl Signer {
    /// SignatureType of this signer.
    pub fn kind(&self) -> u64 {
        match self {
            Self::Digest => signature_type::DIGEST_SHA256,
            Self::Key(signer) => signer.key.kind(),
        }
    }

    /// Verifier of its signatures.
    pub fn verifier(&self) -> Verifier {
        match self {
            Self::Digest => Verifier::Digest,
            Self::Key(signer) => Verifier::Key(signer.public_key()),
        }
    }

    /// Appends SignatureType and KeyLocator: the beginning of SignatureInfo's value.
    pub(crate) fn write_info(&self, out: &mut Vec<u8>) {
        tlv::write_integer(out, types::SIGNATURE_TYPE, self.kind());
        if let Self::Key(signer) = self {
            let name_len = tlv::element_len(types::NAME, signer.key_name.len());
            tlv::write_header(out, types::KEY_LOCATOR, name_len);
            tlv::write_element(out, types::NAME, &signer.key_name);
        }
    }

    /// Appends the SignatureValue, an element of type `kind`, over `parts`.
    pub(crate) fn write_value(&self, kind: u32, parts: &[&[u8]], out: &mut Vec<u8>) {
        match self {
            Self::Digest => tlv::write_element(out, kind, &sha256(parts)),
            Self::Key(signer) => tlv::write_element(out, kind, &signer.key.sign(parts)),
        }
    }
}

impl Verifier {
    /// A verifier with the public key in PEM text; see [`PublicKey::from_pem`].
    ///
    /// # Errors
    /// When the text is no public key of a known algorithm.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        PublicKey::from_pem(pem).map(Self::Key)
    }

    /// A verifier with the public key in DER; see [`PublicKey::from_der`].
    ///
    /// # Errors
    /// When the bytes are no public key of a known algorithm.
    pub fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        PublicKey::from_der(der).map(Self::Key)
    }

    fn check(&self, signature: &SignatureView<'_>, parts: &[&[u8]]) -> Result<(), VerifyError> {
        let expected = match self {
            Self::Digest => signature_type::DIGEST_SHA256,
            Self::Key(key) => key.kind(),
        };
        if signature.kind != expected {
            return Err(VerifyError::Kind { found: signature.kind, expected });
        }
        let holds = match self {
            Self::Digest => signature.value == sha256(parts),
            Self::Key(key) => key.verifies(signature.value, parts),
        };
        if holds { Ok(()) } else { Err(VerifyError::Wrong) }
    }

    /// Verifies that the Data is signed by the verifier's key.
    ///
    /// # Errors
    /// If it is not, with the reason.
    pub fn verify_data(&self, data: &DataView<'_>) -> Result<(), VerifyError> {
        self.check(&data.signature, &[data.signed_part()])
    }

    /// Verifies that the Interest is signed by the verifier's key, and that its ParametersSha256Digest is
    /// right.
    ///
    /// # Errors
    /// If it is not, with the reason. Whether nonce and time are fresh is not checked.
    pub fn verify_interest(&self, interest: &InterestView<'_>) -> Result<(), VerifyError> {
        let signature = interest.signature.as_ref().ok_or(VerifyError::Unsigned)?;
        if !parameters_digest_holds(interest) {
            return Err(VerifyError::ParametersDigest);
        }
        self.check(signature, &interest.signed_parts())
    }
}

/// Whether the name's ParametersSha256Digest is that of the parameters; `true` for an Interest without.
pub fn parameters_digest_holds(interest: &InterestView<'_>) -> bool {
    let Some(digest) = interest.name.digest() else { return true };
    digest.value == sha256(&[interest.digest_covered()])
}

/// The implicit digest of a Data: SHA-256 of the whole packet, the last component of its full name.
pub fn implicit_digest(data: &DataView<'_>) -> [u8; 32] {
    sha256(&[data.packet()])
}

/// SHA-256 of the concatenated parts.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ecdsa_signs_as_rfc_6979_shows() {
        let hex = |hex: &str| -> Vec<u8> {
            (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex"))
                .collect()
        };
        // A.2.5: key, and the signature of "sample" with SHA-256.
        let key = hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721");
        let r = hex("EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716");
        let s = hex("F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8");
        let key: [u8; 32] = key.try_into().expect("32 bytes");
        let signer =
            Signer::Key(Box::new(KeySigner::from_bytes(KeyAlgorithm::P256, &key, &[]).expect("a key")));
        let mut out = Vec::new();
        signer.write_value(types::SIGNATURE_VALUE, &[b"sam", b"ple"], &mut out);
        // DER: both numbers have their highest bit set, so each is led by a zero.
        let expected = [&[23, 72, 0x30, 70, 2, 33, 0][..], &r, &[2, 33, 0], &s].concat();
        assert_eq!(out, expected);
    }
}
