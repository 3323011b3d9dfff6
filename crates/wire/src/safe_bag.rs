//! SafeBags: a certificate with its private key, encrypted by a password, as `ndnsec export` writes them.

use bytes::Bytes;
use pkcs8::der::Decode;
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::{self, Kdf};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef};

use crate::certificate::{Certificate, CertificateError};
use crate::error::DecodeError;
use crate::sign::{KeyError, KeySigner};
use crate::tlv::{self, TlvReader, types};

/// Iterations of PBKDF2, as OWASP recommends for HMAC-SHA-256 since 2023.
const ITERATIONS: u32 = if cfg!(test) { 1_000 } else { 600_000 };

/// Maximum iterations of PBKDF2 in a SafeBag of others, which take some ten seconds.
const MAX_ITERATIONS: u32 = 10_000_000;

/// Maximum number of blocks of scrypt (RFC 7914: cost, block size and parallelization multiplied) in a SafeBag of others. Each
/// has 128 bytes of memory.
const MAX_SCRYPT_BLOCKS: u64 = 1 << 21;

/// Random bytes of one encryption; none may be used twice.
#[derive(Clone, Copy, Debug)]
pub struct SafeBagSalt {
    /// Salt of the derivation of the key from the password.
    pub salt: [u8; 16],
    /// Initialisation vector of AES-256-CBC.
    pub iv: [u8; 16],
}

/// Reason why bytes are no SafeBag, or one that cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SafeBagError {
    /// The bytes are no SafeBag.
    #[error("it is no SafeBag: {0}")]
    Packet(#[from] DecodeError),
    /// The certificate in it is malformed.
    #[error("the certificate in it: {0}")]
    Certificate(#[from] CertificateError),
    /// The private key is not encrypted in a known way.
    #[error("its private key is not in PKCS #8 with an encryption of PKCS #5")]
    Encryption,
    /// It takes too much time or memory to derive the key of the encryption from the password.
    #[error(
        "the derivation of its key from the password takes too much time or memory: at most {MAX_ITERATIONS} iterations of \
         PBKDF2 or {MAX_SCRYPT_BLOCKS} blocks of scrypt are accepted"
    )]
    Work,
    /// The password does not open it.
    #[error("the password is wrong")]
    Password,
    /// The private key in it is of an unknown algorithm.
    #[error("{0}")]
    Key(#[from] KeyError),
    /// The private key is not the one that the certificate is for.
    #[error("the private key is not that of the certificate")]
    Mismatch,
}

/// The SafeBag of a certificate and its key. Takes about half a second of CPU time, as guesses of the password do.
///
/// # Errors
/// When the key cannot be encrypted, for want of memory.
pub fn write_safe_bag(
    certificate: &Certificate,
    key: &KeySigner,
    password: &[u8],
    salt: SafeBagSalt,
) -> Result<Vec<u8>, SafeBagError> {
    let parameters = pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(ITERATIONS, &salt.salt, salt.iv);
    let parameters = parameters.map_err(|_| SafeBagError::Encryption)?;
    let mut inner = certificate.packet().to_vec();
    tlv::write_element(&mut inner, types::ENCRYPTED_KEY, &encrypt(key, password, parameters)?);
    let mut bag = Vec::new();
    tlv::write_element(&mut bag, types::SAFE_BAG, &inner);
    Ok(bag)
}

fn encrypt(key: &KeySigner, password: &[u8], parameters: pbes2::Parameters) -> Result<Vec<u8>, SafeBagError> {
    let der = key.to_pkcs8();
    let plain = PrivateKeyInfoRef::from_der(&der).map_err(|_| SafeBagError::Encryption)?;
    let encrypted = plain.encrypt_with_params(parameters, password).map_err(|_| SafeBagError::Encryption)?;
    Ok(encrypted.as_bytes().to_vec())
}

/// Opens a SafeBag.
///
/// # Errors
/// When it is malformed, the password is wrong, key and certificate do not belong together, or the derivation of the key from the
/// password takes too much time or memory.
pub fn read_safe_bag(bytes: &[u8], password: &[u8]) -> Result<(Certificate, KeySigner), SafeBagError> {
    SafeBag::parse(bytes)?.open(password)
}

/// A SafeBag that has not been opened.
#[derive(Debug)]
pub struct SafeBag<'a> {
    certificate: Certificate,
    key: EncryptedPrivateKeyInfoRef<'a>,
}

impl<'a> SafeBag<'a> {
    /// Reads a SafeBag except for the encrypted key.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, SafeBagError> {
        let bag = TlvReader::new(bytes).only()?;
        let unexpected = |element, accepted| DecodeError::Unexpected { element, accepted };
        if bag.kind != types::SAFE_BAG {
            return Err(unexpected(bag.kind, "SafeBag (128)").into());
        }
        let mut reader = bag.inside();
        let missing = |element| DecodeError::Missing { element, inside: types::SAFE_BAG };
        let data = reader.next()?.ok_or(missing(types::DATA))?;
        let key = reader.next()?.ok_or(missing(types::ENCRYPTED_KEY))?;
        if key.kind != types::ENCRYPTED_KEY {
            return Err(unexpected(key.kind, "EncryptedKey (129)").into());
        }
        let certificate = Certificate::parse(Bytes::copy_from_slice(&bytes[data.start..data.end()]))?;
        let key = EncryptedPrivateKeyInfoRef::from_der(key.value).map_err(|_| SafeBagError::Encryption)?;
        Ok(Self { certificate, key })
    }

    /// Iterations of PBKDF2 or blocks of scrypt that it takes to derive the key of the encryption from the password.
    pub fn work(&self) -> u64 {
        match self.kdf() {
            Some(Kdf::Pbkdf2(parameters)) => u64::from(parameters.iteration_count),
            Some(Kdf::Scrypt(parameters)) => {
                let size = u64::from(parameters.block_size) * u64::from(parameters.parallelization);
                parameters.cost_parameter.saturating_mul(size)
            }
            _ => 0,
        }
    }

    fn kdf(&self) -> Option<&Kdf> {
        match &self.key.encryption_algorithm {
            EncryptionScheme::Pbes2(parameters) => Some(&parameters.kdf),
            _ => None,
        }
    }

    /// The certificate and the key.
    ///
    /// # Errors
    /// As [`read_safe_bag`].
    pub fn open(self, password: &[u8]) -> Result<(Certificate, KeySigner), SafeBagError> {
        let max_work = match self.kdf() {
            Some(Kdf::Scrypt(_)) => MAX_SCRYPT_BLOCKS,
            _ => u64::from(MAX_ITERATIONS),
        };
        if self.work() > max_work {
            return Err(SafeBagError::Work);
        }
        let plain = self.key.decrypt(password).map_err(|_| SafeBagError::Password)?;
        let signer = KeySigner::from_der(plain.as_bytes(), self.certificate.key_name())?;
        if signer.public_key() != *self.certificate.public_key() {
            return Err(SafeBagError::Mismatch);
        }
        Ok((self.certificate, signer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkcs8::der::Encode;

    use crate::certificate::CertificateSettings;
    use crate::sign::{KeyAlgorithm, Signer};
    use crate::validity::ValidityPeriod;

    /// `/a/KEY/k`.
    const KEY_NAME: &[u8] = b"\x08\x01a\x08\x03KEY\x08\x01k";
    const SALT: SafeBagSalt = SafeBagSalt { salt: [1; 16], iv: [2; 16] };

    fn key(algorithm: KeyAlgorithm, number: u8) -> KeySigner {
        KeySigner::from_bytes(algorithm, &[number; 32], KEY_NAME).expect("a key")
    }

    fn certificate(key: &KeySigner) -> Certificate {
        let settings = CertificateSettings {
            key_name: KEY_NAME,
            public_key: &key.public_key(),
            issuer: b"self",
            version: 1,
            validity: ValidityPeriod { not_before: 0, not_after: 1 },
        };
        let issued = settings.issue(&Signer::Key(Box::new(key.clone()))).expect("small");
        Certificate::parse(issued).expect("a certificate")
    }

    #[test]
    fn a_safe_bag_is_opened_with_its_password_alone() {
        for algorithm in [KeyAlgorithm::P256, KeyAlgorithm::Ed25519] {
            let key = key(algorithm, 7);
            let bag = write_safe_bag(&certificate(&key), &key, b"secret", SALT).expect("encrypted");
            let (certificate, opened) = read_safe_bag(&bag, b"secret").expect("opened");
            assert_eq!(certificate.key_name(), KEY_NAME);
            assert_eq!(opened.public_key(), key.public_key());
            assert_eq!(read_safe_bag(&bag, b"Secret").map(|_| ()), Err(SafeBagError::Password));
        }
    }

    #[test]
    fn a_key_that_is_not_the_certificates_is_refused() {
        let (own, other) = (key(KeyAlgorithm::P256, 7), key(KeyAlgorithm::P256, 8));
        let bag = write_safe_bag(&certificate(&own), &other, b"x", SALT).expect("encrypted");
        assert_eq!(read_safe_bag(&bag, b"x").map(|_| ()), Err(SafeBagError::Mismatch));
    }

    #[test]
    fn a_key_whose_derivation_takes_too_much_is_refused() {
        let own = key(KeyAlgorithm::P256, 7);
        let certificate = certificate(&own);
        let bag = write_safe_bag(&certificate, &own, b"x", SALT).expect("encrypted");
        let scrypt = |cost| {
            let salt = pbes2::Salt::new([1; 16]).expect("short");
            Kdf::Scrypt(pbes2::ScryptParams {
                salt,
                cost_parameter: cost,
                block_size: 8,
                parallelization: 1,
                key_length: None,
            })
        };
        let pbkdf2 = |count| Kdf::Pbkdf2(pbes2::Pbkdf2Params::hmac_sha256(count, &[1; 16]).expect("sound"));
        // Those that are accepted lead to another key than the one that it is encrypted with.
        for (kdf, refused) in [
            (pbkdf2(2), SafeBagError::Password),
            (pbkdf2(MAX_ITERATIONS + 1), SafeBagError::Work),
            (scrypt(16), SafeBagError::Password),
            (scrypt(MAX_SCRYPT_BLOCKS / 4), SafeBagError::Work),
            (scrypt(1 << 60), SafeBagError::Work),
            (scrypt(u64::MAX), SafeBagError::Work),
        ] {
            let mut key = SafeBag::parse(&bag).expect("ours").key;
            let EncryptionScheme::Pbes2(parameters) = &mut key.encryption_algorithm else { panic!("PBES2") };
            parameters.kdf = kdf;
            let key = key.to_der().expect("short");
            let mut changed = certificate.packet().to_vec();
            tlv::write_element(&mut changed, types::ENCRYPTED_KEY, &key);
            let mut bag = Vec::new();
            tlv::write_element(&mut bag, types::SAFE_BAG, &changed);
            assert_eq!(read_safe_bag(&bag, b"x").map(|_| ()), Err(refused));
        }
    }

    #[test]
    fn any_other_bytes_are_refused_with_the_reason() {
        let own = key(KeyAlgorithm::P256, 7);
        let whole = certificate(&own).packet().to_vec();
        for bytes in [&b""[..], &whole, &[128, 0], &[128, 2, 129, 0]] {
            let refused = read_safe_bag(bytes, b"x").map(|_| ());
            let is_named = matches!(refused, Err(SafeBagError::Packet(_) | SafeBagError::Certificate(_)));
            assert!(is_named, "{bytes:?}: {refused:?}");
        }
        let mut bag = Vec::new();
        tlv::write_element(&mut bag, types::SAFE_BAG, &[&whole[..], &[129, 2, 5, 0]].concat());
        assert_eq!(read_safe_bag(&bag, b"x").map(|_| ()), Err(SafeBagError::Encryption));
    }
}
