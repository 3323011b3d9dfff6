//! Trust policy of a fetch: which signatures are accepted.

use tidegate_wire::{DataView, Verifier, signature_type};

/// Signatures that a fetch accepts.
#[derive(Clone, Debug)]
pub enum Trust {
    /// No signature is verified.
    Anything,
    /// Digests are verified; other signatures are not, since no key is known.
    Digest,
    /// Every Data has to be signed by this key.
    Key(Verifier),
}

impl Trust {
    /// Whether a Data may be accepted.
    pub fn holds(&self, data: &DataView<'_>) -> bool {
        match self {
            Self::Anything => true,
            Self::Digest => {
                data.signature.kind != signature_type::DIGEST_SHA256
                    || Verifier::Digest.verify_data(data).is_ok()
            }
            Self::Key(verifier) => verifier.verify_data(data).is_ok(),
        }
    }

    /// Whether its signature is verified.
    pub fn checks(&self, data: &DataView<'_>) -> bool {
        match self {
            Self::Anything => false,
            Self::Digest => data.signature.kind == signature_type::DIGEST_SHA256,
            Self::Key(_) => true,
        }
    }
}
