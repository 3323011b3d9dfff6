//! Trust policy of a fetch: which signatures are accepted.

use tidegate_wire::{DataView, Verifier, signature_type};

/// Signatures that a fetch accepts.
#[derive(Clone, Debug)]
pub enum Trust {
    /// No signature is verified.
    Anything,
    /// Every Data has to have a digest that verifies. No key is known, so that other signatures are refused.
    Digest,
    /// Every Data has to be signed by this key.
    Key(Verifier),
}

impl Trust {
    /// Whether a Data may be accepted.
    pub fn holds(&self, data: &DataView<'_>) -> bool {
        match self {
            Self::Anything => true,
            Self::Digest => self.can_verify(data) && Verifier::Digest.verify_data(data).is_ok(),
            Self::Key(verifier) => verifier.verify_data(data).is_ok(),
        }
    }

    /// Whether the type of its signature is one that can be verified here, or none has to be.
    pub fn can_verify(&self, data: &DataView<'_>) -> bool {
        match self {
            Self::Anything | Self::Key(_) => true,
            Self::Digest => data.signature.kind == signature_type::DIGEST_SHA256,
        }
    }

    /// Whether signatures are verified.
    pub fn checks(&self) -> bool {
        !matches!(self, Self::Anything)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_wire::tlv::{self, types};
    use tidegate_wire::{DataBuilder, Signer};

    /// A Data with a signature of this type and a value that nobody made.
    fn forged(kind: u8) -> Vec<u8> {
        let mut inner = Vec::new();
        tlv::write_element(&mut inner, types::NAME, &[8, 1, b'a']);
        tlv::write_element(&mut inner, types::SIGNATURE_INFO, &[types::SIGNATURE_TYPE as u8, 1, kind]);
        tlv::write_element(&mut inner, types::SIGNATURE_VALUE, &[7; 32]);
        let mut data = Vec::new();
        tlv::write_element(&mut data, types::DATA, &inner);
        data
    }

    #[test]
    fn without_a_key_no_signature_but_a_digest_that_verifies_is_accepted() {
        for kind in [0, 1, 3, 4, 5, 200] {
            let bytes = forged(kind);
            let data = DataView::parse(&bytes).expect("well formed");
            assert!(!Trust::Digest.holds(&data), "type {kind}");
            assert_eq!(Trust::Digest.can_verify(&data), kind == 0);
            assert!(Trust::Anything.holds(&data) && Trust::Anything.can_verify(&data));
        }
        let bytes = DataBuilder { name: &[8, 1, b'a'], ..DataBuilder::default() };
        let bytes = bytes.sign(&Signer::Digest).expect("small");
        assert!(Trust::Digest.holds(&DataView::parse(&bytes).expect("well formed")));
    }
}
