//! Private keys as ndnd keeps and exports them: a Data named as the key, signed by itself, with the key in DER as its content.

use crate::data::DataView;
use crate::error::DecodeError;
use crate::sign::{KeyError, KeySigner, Verifier};
use crate::tlv::{Element, types};

/// ContentType of a private key in ndnd (`SigningKey`).
const CONTENT_SIGNING_KEY: u64 = 9;

/// Reason why bytes are no private key of ndnd.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretKeyError {
    /// The bytes are no Data.
    #[error("it is no Data: {0}")]
    Packet(#[from] DecodeError),
    /// The Data contains something else.
    #[error("its ContentType is {0}; a private key has 9")]
    ContentType(u64),
    /// The name is not that of a key.
    #[error("its name is not of the form /<identity>/KEY/<key id>")]
    Name,
    /// The content is no private key of a known algorithm.
    #[error("{0}")]
    Key(#[from] KeyError),
    /// The signature is that of another key.
    #[error("it is not signed by itself")]
    Signature,
}

/// Reads a private key from the bytes of its Data.
///
/// # Errors
/// When it has another form, is of an algorithm that does not sign here, such as RSA, or was changed.
pub fn read_secret_key(packet: &[u8]) -> Result<KeySigner, SecretKeyError> {
    let data = DataView::parse(packet)?;
    if data.content_type != CONTENT_SIGNING_KEY {
        return Err(SecretKeyError::ContentType(data.content_type));
    }
    let components: Vec<Element<'_>> = data.name.iter().collect();
    let [.., key, _] = components.as_slice() else { return Err(SecretKeyError::Name) };
    if key.kind != types::GENERIC_NAME_COMPONENT || key.value != b"KEY" {
        return Err(SecretKeyError::Name);
    }
    let signer = KeySigner::from_der(data.content, data.name.components())?;
    let verifier = Verifier::Key(signer.public_key());
    verifier.verify_data(&data).map_err(|_| SecretKeyError::Signature)?;
    Ok(signer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::DataBuilder;
    use crate::sign::{KeyAlgorithm, Signer};
    use bytes::Bytes;

    /// `/a/KEY/k`.
    const NAME: &[u8] = b"\x08\x01a\x08\x03KEY\x08\x01k";

    fn key(number: u8) -> KeySigner {
        KeySigner::from_bytes(KeyAlgorithm::P256, &[number; 32], NAME).expect("a key")
    }

    fn packet(name: &[u8], content_type: u64, content: &[u8], by: KeySigner) -> Bytes {
        let data = DataBuilder { name, content_type, content, ..DataBuilder::default() };
        data.sign(&Signer::Key(Box::new(by))).expect("small")
    }

    #[test]
    fn a_private_key_has_the_name_of_its_data() {
        let read = read_secret_key(&packet(NAME, 9, &key(7).to_pkcs8(), key(7))).expect("a key");
        assert_eq!((read.key_name(), read.public_key()), (NAME, key(7).public_key()));
    }

    #[test]
    fn what_is_no_private_key_is_refused_with_its_reason() {
        let content = key(7).to_pkcs8();
        let why = |packet: Bytes| read_secret_key(&packet).map(|_| ()).expect_err("refused");
        assert_eq!(why(packet(NAME, 0, &content, key(7))), SecretKeyError::ContentType(0));
        assert_eq!(why(packet(b"\x08\x01a\x08\x01k", 9, &content, key(7))), SecretKeyError::Name);
        assert_eq!(why(packet(NAME, 9, &content, key(8))), SecretKeyError::Signature);
        assert!(matches!(why(packet(NAME, 9, b"key", key(7))), SecretKeyError::Key(_)));
        assert!(matches!(why(Bytes::from_static(b"\x05\x00")), SecretKeyError::Packet(_)));
    }
}
