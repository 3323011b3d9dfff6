//! Which key may sign which name: hierarchical trust, or the rules of a trust schema. Both begin at trust anchors, and lead from
//! certificate to certificate.
//!
//! With hierarchical trust a key may sign the names under its own identity. A trust schema has rules in place of this, like
//! those of LightVerSec (`data <= signer`).

mod name_pattern;
mod schema;

use std::collections::BTreeMap;
use std::path::Path;

use tidegate_wire::{Certificate, DataView, ValidityPeriod, Verifier, VerifyError};

use crate::key_store::KeyStoreError;
use crate::name_uri::show;
use name_pattern::Captures;
use schema::TrustRule;

pub use schema::{TrustSchemaError, reference};

/// Maximum number of certificates between a Data and a trust anchor.
pub const MAX_CERTIFICATES: usize = 5;

/// Maximum number of ways from one certificate to trust anchors that count.
const MAX_WAYS: usize = 8;

/// Maximum number of signatures of certificates that are verified together: certificates that name each other as issuers could cause
/// one for each pair.
const MAX_VERIFIED: usize = 5_000;

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

    /// Reads the text of a trust schema; `name` is its name in messages, and `anchor` reads the certificate of an anchor at a path.
    ///
    /// # Errors
    /// When there are mistakes in the schema, or an anchor cannot be read.
    pub fn parse_schema(
        name: &str,
        text: &[u8],
        anchor: impl FnMut(&Path) -> Result<Certificate, KeyStoreError>,
    ) -> Result<Self, TrustSchemaError> {
        schema::policy(name, text, anchor)
    }

    /// The trust anchors of this policy.
    pub fn anchors(&self) -> &[Certificate] {
        &self.anchors
    }

    /// The trust anchor that a KeyLocator (concatenated components) denotes: of several of one key, one that is valid at `now`
    /// (seconds since 1970) if there is any.
    pub fn anchor(&self, locator: &[u8], now: u64) -> Option<&Certificate> {
        let denoted = || self.anchors.iter().filter(|anchor| anchor.is_denoted_by(locator));
        denoted().find(|anchor| anchor.validity().includes(now)).or_else(|| denoted().next())
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

    /// The certificates among `others` from which at most [`MAX_CERTIFICATES`], themselves included, lead to a trust anchor, each with
    /// the time within which all of these are valid. A certificate with several ways to an anchor is there several times.
    pub fn certified(&self, others: &[Certificate]) -> Vec<(Certificate, ValidityPeriod)> {
        let mut search = ChainSearch::new(self, others);
        let mut last: Vec<(usize, ValidityPeriod)> =
            self.anchors.iter().map(Certificate::validity).enumerate().collect();
        for _ in 0..MAX_CERTIFICATES {
            last = search.continue_from(&last);
        }
        if search.issued.len() >= MAX_VERIFIED {
            tracing::warn!(
                "only {MAX_VERIFIED} signatures of certificates were verified; further certificates are not accepted"
            );
        }
        search.found.into_iter().map(|(at, period)| (search.all[at].clone(), period)).collect()
    }
}

/// Certificates found so far from anchors on.
struct ChainSearch<'a> {
    policy: &'a TrustPolicy,
    /// The trust anchors, then the other certificates.
    all: Vec<&'a Certificate>,
    found: Vec<(usize, ValidityPeriod)>,
    /// Whether one certificate has issued another, of those that were compared.
    issued: BTreeMap<(usize, usize), bool>,
}

impl<'a> ChainSearch<'a> {
    fn new(policy: &'a TrustPolicy, others: &'a [Certificate]) -> Self {
        let all = policy.anchors.iter().chain(others).collect();
        Self { policy, all, found: Vec::new(), issued: BTreeMap::new() }
    }

    /// Certificates that were issued by those of `last`, if they were not found with the same time of validity before.
    fn continue_from(&mut self, last: &[(usize, ValidityPeriod)]) -> Vec<(usize, ValidityPeriod)> {
        let mut next = Vec::new();
        for &(issuer, above) in last {
            for at in self.policy.anchors.len()..self.all.len() {
                if !self.has_issued(issuer, at) {
                    continue;
                }
                let own = self.all[at].validity();
                let both = ValidityPeriod {
                    not_before: own.not_before.max(above.not_before),
                    not_after: own.not_after.min(above.not_after),
                };
                let ways = || self.found.iter().filter(|(found, _)| *found == at);
                let is_known = ways().any(|(_, known)| *known == both);
                if both.not_before <= both.not_after && !is_known && ways().count() < MAX_WAYS {
                    self.found.push((at, both));
                    next.push((at, both));
                }
            }
        }
        next
    }

    /// Whether `issuer` may sign the certificate `at`, and has. Signatures are verified once, and at most [`MAX_VERIFIED`].
    fn has_issued(&mut self, issuer: usize, at: usize) -> bool {
        let (by, certificate) = (self.all[issuer], self.all[at]);
        if !certificate.issuer().is_some_and(|name| by.is_denoted_by(name)) {
            return false;
        }
        if let Some(known) = self.issued.get(&(issuer, at)) {
            return *known;
        }
        let is_permitted = self.policy.check_signer(certificate.name(), by).is_ok();
        let data = DataView::parse(certificate.packet());
        let has = self.issued.len() < MAX_VERIFIED
            && is_permitted
            && data.is_ok_and(|data| verify(&data, by).is_ok());
        self.issued.insert((issuer, at), has);
        has
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
        named(identity, (&key(identity), &key(by)), validity)
    }

    /// A certificate for the first key under the name of an identity's, signed by the second.
    fn named(identity: &str, (key, by): (&KeySigner, &KeySigner), validity: (u64, u64)) -> Certificate {
        let by = Signer::Key(Box::new(by.clone()));
        let settings = CertificateSettings {
            key_name: &name_uri::parse(&format!("{identity}/KEY/k")).expect("a name"),
            public_key: &key.public_key(),
            issuer: b"NA",
            version: validity.1,
            validity: ValidityPeriod { not_before: validity.0, not_after: validity.1 },
        };
        Certificate::parse(settings.issue(&by).expect("small")).expect("a certificate")
    }

    /// Times within which a certificate counts, with `others` beside it.
    fn periods(policy: &TrustPolicy, others: &[Certificate], certificate: &Certificate) -> Vec<(u64, u64)> {
        let all = [others, std::slice::from_ref(certificate)].concat();
        let found = policy.certified(&all).into_iter();
        let own = found.filter(|(found, _)| found.packet() == certificate.packet());
        own.map(|(_, period)| (period.not_before, period.not_after)).collect()
    }

    #[test]
    fn certificates_that_lead_to_an_anchor_are_valid_while_all_of_them_are() {
        let anchor = issued("/a", "/a", (100, 900));
        let policy = TrustPolicy::hierarchical(vec![anchor.clone()]);
        let (office, renewed) = (issued("/a/b", "/a", (200, 400)), issued("/a/b", "/a", (200, 800)));
        let user = issued("/a/b/c", "/a/b", (0, 700));
        assert_eq!(periods(&policy, std::slice::from_ref(&office), &user), [(200, 400)]);
        assert_eq!(periods(&policy, &[office.clone(), renewed], &user), [(200, 400), (200, 700)]);
        assert_eq!(periods(&policy, &[], &user), [], "the certificate between them is not there");
        assert_eq!(periods(&policy, std::slice::from_ref(&office), &issued("/a/b/c", "/a/x", (0, 700))), []);
        assert_eq!(
            periods(&policy, std::slice::from_ref(&office), &issued("/a/b/c", "/a/b", (500, 700))),
            [],
            "never valid"
        );
        assert_eq!(
            periods(&policy, &[office], &issued("/a/d", "/a/b", (0, 700))),
            [],
            "outside of the identity"
        );
        let other = TrustPolicy::hierarchical(vec![issued("/x", "/x", (0, 1))]);
        assert_eq!(periods(&other, &[], &anchor), [], "signed by itself");
    }

    #[test]
    fn a_certificate_with_the_name_of_an_anchor_is_none() {
        let policy = TrustPolicy::hierarchical(vec![issued("/a", "/a", (100, 900))]);
        let forged = named("/a", (&key("/mallory"), &key("/mallory")), (100, 900));
        assert_eq!(forged.name(), policy.anchors()[0].name());
        let user = named("/a/b", (&key("/a/b"), &key("/mallory")), (100, 900));
        assert_eq!(periods(&policy, std::slice::from_ref(&user), &forged), []);
        assert_eq!(periods(&policy, &[forged], &user), []);
    }

    #[test]
    fn certificates_of_one_key_that_name_each_other_cost_one_verification_for_each_pair() {
        let policy = TrustPolicy::hierarchical(vec![issued("/x", "/x", (0, 9))]);
        let of_one_key: Vec<Certificate> = (1..=12).map(|at| issued("/a", "/a", (0, at))).collect();
        assert_eq!(policy.certified(&of_one_key).len(), 0);
        let policy = TrustPolicy::hierarchical(vec![issued("/a", "/a", (0, 99))]);
        let mut search = ChainSearch::new(&policy, &of_one_key);
        let anchors = search.continue_from(&[(0, policy.anchors()[0].validity())]);
        assert_eq!(anchors.len(), 12);
        search.continue_from(&anchors);
        assert_eq!(search.issued.len(), 12 + 12 * 12);
        assert!(search.found.len() <= 12 * MAX_WAYS);
    }

    #[test]
    fn of_several_anchors_of_one_key_one_that_is_valid_is_used() {
        let (old, new) = (issued("/a", "/a", (0, 10)), issued("/a", "/a", (11, 20)));
        let policy = TrustPolicy::hierarchical(vec![old.clone(), new.clone()]);
        let at = |now| policy.anchor(old.key_name(), now).map(Certificate::validity);
        assert_eq!(
            (at(5), at(15), at(25)),
            (Some(old.validity()), Some(new.validity()), Some(old.validity()))
        );
    }

    #[test]
    fn at_most_five_certificates_lead_to_an_anchor() {
        let names = ["/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/b/c/d/e", "/a/b/c/d/e/f", "/a/b/c/d/e/f/g"];
        let policy = TrustPolicy::hierarchical(vec![issued("/a", "/a", (0, 9))]);
        let chain: Vec<Certificate> = names.windows(2).map(|pair| issued(pair[1], pair[0], (0, 9))).collect();
        let found = chain.iter().map(|certificate| !periods(&policy, &chain, certificate).is_empty());
        assert_eq!(found.collect::<Vec<_>>(), [true, true, true, true, true, false]);
    }
}
