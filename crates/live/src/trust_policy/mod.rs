//! Which key may sign which name: hierarchical trust, or the rules of a trust schema. Both begin at trust anchors, and lead from
//! certificate to certificate.
//!
//! With hierarchical trust a key may sign the names under its own identity. A trust schema has rules in place of this, like
//! those of LightVerSec (`data <= signer`).

mod name_pattern;
mod schema;

use std::path::Path;

use tidegate_wire::{Certificate, DataView, Verifier};

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
        let verifier = Verifier::Key(certificate.public_key().clone());
        verifier.verify_data(data).map_err(|_| format!("has not the signature of {identity}"))
    }
}
