//! Which key may sign which name: hierarchical trust, or the rules of a trust schema. Both begin at trust anchors, and lead from
//! certificate to certificate.
//!
//! With hierarchical trust a key may sign the names under its own identity. A trust schema has rules in place of this, like
//! those of LightVerSec (`data <= signer`).

mod name_pattern;
mod schema;

use std::path::Path;

use tidegate_wire::{Certificate, DataView, ValidityPeriod, Verifier, VerifyError};

use crate::name_uri::show;
use name_pattern::Captures;
use schema::TrustRule;

pub use schema::{TrustSchemaError, reference};

/// Maximum number of certificates between a Data and a trust anchor.
pub const MAX_CERTIFICATES: usize = 5;

/// Trust anchors, and who may sign what.
#[derive(Clone, Debug)]
pub struct TrustPolicy {
    anchors: Vec<Certificate>,
    /// Rules of a trust schema; `None` for hierarchical trust.
    rules: Option<Vec<TrustRule>>,
}

impl TrustPolicy {
    /// Hierarchical trust in keys that `anchors` have certified.
    pub fn hierarchical(anchors: Vec<Certificate>) -> Self {
        Self { anchors, rules: None }
    }

    /// Reads the trust schema at `path`, and the certificates of its anchors.
    ///
    /// # Errors
    /// When a file cannot be read, or there are mistakes in the schema.
    pub fn read_schema(path: &Path) -> Result<Self, TrustSchemaError> {
        schema::read(path)
    }

    /// The trust anchors of this policy.
    pub fn anchors(&self) -> &[Certificate] {
        &self.anchors
    }

    /// The trust anchor that a KeyLocator (concatenated components) denotes.
    pub fn anchor(&self, locator: &[u8]) -> Option<&Certificate> {
        self.anchors.iter().find(|anchor| anchor.is_denoted_by(locator))
    }

    /// Checks that the key of a certificate may sign a name (concatenated components).
    ///
    /// # Errors
    /// The reason, as the end of a sentence about the name.
    pub fn check_signer(&self, name: &[u8], certificate: &Certificate) -> Result<(), String> {
        let Some(rules) = &self.rules else {
            return match name.starts_with(certificate.identity()) {
                true => Ok(()),
                false => {
                    let identity = show(certificate.identity());
                    Err(format!("is not under the identity of its signer, {identity}"))
                }
            };
        };
        let mut required = Vec::new();
        for rule in rules {
            let mut captures = Captures::new();
            if !rule.data.matches(name, &mut captures) {
                continue;
            }
            let signer = rule.signer.filled(&captures);
            if rule.signer.matches(certificate.key_name(), &mut captures) {
                return Ok(());
            }
            required.push(format!(
                "rule \"{} <= {}\" requires {signer}",
                rule.data.text(),
                rule.signer.text()
            ));
        }
        let signer = show(certificate.key_name());
        Err(match required.is_empty() {
            true => format!("is signed by {signer}, and no rule of the trust schema is for this name"),
            false => format!("may not be signed by {signer}: {}", required.join("; ")),
        })
    }

    /// Checks that the key of a certificate may have signed a Data at a time (seconds since 1970), and has.
    ///
    /// # Errors
    /// The reason, as the end of a sentence about the Data.
    pub fn check_data(&self, data: &DataView<'_>, certificate: &Certificate, now: u64) -> Result<(), String> {
        self.check_signer(data.name.components(), certificate)?;
        let identity = show(certificate.identity());
        if !certificate.validity().includes(now) {
            return Err(format!("is signed by {identity}, whose certificate is not valid now"));
        }
        verify(data, certificate).map_err(|_| format!("has not the signature of {identity}"))
    }

    /// The time within which a certificate and those that lead from it to a trust anchor are valid; `None` if there are none
    /// among `others` that do, at most [`MAX_CERTIFICATES`] with this one. Of several ways the one that is valid longest counts.
    pub fn certified(&self, certificate: &Certificate, others: &[Certificate]) -> Option<ValidityPeriod> {
        self.certified_by(certificate, others, MAX_CERTIFICATES)
    }

    fn certified_by(
        &self,
        certificate: &Certificate,
        others: &[Certificate],
        left: usize,
    ) -> Option<ValidityPeriod> {
        let own = certificate.validity();
        if self.anchors.iter().any(|anchor| anchor.name() == certificate.name()) {
            return Some(own);
        }
        let left = left.checked_sub(1)?;
        let (issuer, data) = (certificate.issuer()?, DataView::parse(certificate.packet()).ok()?);
        let issuers = self.anchors.iter().chain(others).filter(|other| {
            other.is_denoted_by(issuer)
                && self.check_signer(certificate.name(), other).is_ok()
                && verify(&data, other).is_ok()
        });
        let above = issuers.filter_map(|issuer| self.certified_by(issuer, others, left));
        let both = above.map(|above| ValidityPeriod {
            not_before: own.not_before.max(above.not_before),
            not_after: own.not_after.min(above.not_after),
        });
        both.max_by_key(|period| period.not_after)
    }
}

fn verify(data: &DataView<'_>, certificate: &Certificate) -> Result<(), VerifyError> {
    Verifier::Key(certificate.public_key().clone()).verify_data(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name_uri;
    use tidegate_wire::{CertificateSettings, KeyAlgorithm, KeySigner, Signer};

    fn key(identity: &str) -> KeySigner {
        let name = name_uri::parse(&format!("{identity}/KEY/k")).expect("a name");
        let mut secret = [1; 32];
        name.iter().enumerate().for_each(|(at, byte)| secret[at % 31] ^= byte);
        KeySigner::from_bytes(KeyAlgorithm::Ed25519, &secret, &name).expect("a key")
    }

    /// A certificate for the key of an identity, signed by another one.
    fn issued(identity: &str, by: &str, validity: (u64, u64)) -> Certificate {
        let (key, by) = (key(identity), Signer::Key(Box::new(key(by))));
        let settings = CertificateSettings {
            key_name: &name_uri::parse(&format!("{identity}/KEY/k")).expect("a name"),
            public_key: &key.public_key(),
            issuer: b"NA",
            version: validity.1,
            validity: ValidityPeriod { not_before: validity.0, not_after: validity.1 },
        };
        Certificate::parse(settings.issue(&by).expect("small")).expect("a certificate")
    }

    fn period(policy: &TrustPolicy, others: &[Certificate], certificate: &Certificate) -> Option<(u64, u64)> {
        let period = policy.certified(certificate, others)?;
        Some((period.not_before, period.not_after))
    }

    #[test]
    fn certificates_that_lead_to_an_anchor_are_valid_while_all_of_them_are() {
        let anchor = issued("/a", "/a", (100, 900));
        let policy = TrustPolicy::hierarchical(vec![anchor.clone()]);
        let (office, renewed) = (issued("/a/b", "/a", (200, 400)), issued("/a/b", "/a", (200, 800)));
        let user = issued("/a/b/c", "/a/b", (0, 700));
        assert_eq!(period(&policy, &[], &anchor), Some((100, 900)));
        assert_eq!(period(&policy, std::slice::from_ref(&office), &user), Some((200, 400)));
        assert_eq!(period(&policy, &[office.clone(), renewed], &user), Some((200, 700)));
        assert_eq!(period(&policy, &[], &user), None, "the certificate between them is not there");
        assert_eq!(period(&policy, std::slice::from_ref(&office), &issued("/a/b/c", "/a/x", (0, 700))), None);
        assert_eq!(
            period(&policy, &[office], &issued("/a/d", "/a/b", (0, 700))),
            None,
            "outside of the identity"
        );
        let other = TrustPolicy::hierarchical(vec![issued("/x", "/x", (0, 1))]);
        assert_eq!(period(&other, std::slice::from_ref(&anchor), &anchor), None, "signed by itself");
    }

    #[test]
    fn at_most_five_certificates_lead_to_an_anchor() {
        let names = ["/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/b/c/d/e", "/a/b/c/d/e/f", "/a/b/c/d/e/f/g"];
        let policy = TrustPolicy::hierarchical(vec![issued("/a", "/a", (0, 9))]);
        let chain: Vec<Certificate> = names.windows(2).map(|pair| issued(pair[1], pair[0], (0, 9))).collect();
        let found = chain.iter().map(|certificate| policy.certified(certificate, &chain).is_some());
        assert_eq!(found.collect::<Vec<_>>(), [true, true, true, true, true, false]);
    }
}
