//! Signer of what is served, from the command line.

use std::path::{Path, PathBuf};

use tidegate_live::name_uri;
use tidegate_wire::{Certificate, KeySigner, Signer};

use crate::commands::key::store_at;
use crate::exit::Failure;

/// Options that select the signer; without one, Data has a digest.
#[derive(Debug, clap::Args)]
pub(super) struct SigningArguments {
    /// Sign with this P-256 or Ed25519 private key (PEM file) instead of a SHA-256 digest.
    #[arg(long, value_name = "FILE", requires = "key_locator")]
    key: Option<PathBuf>,
    /// KeyLocator: name by which a verifier finds the key.
    #[arg(long, value_name = "NAME", requires = "key")]
    key_locator: Option<String>,
    /// Sign with the key of this identity (`tidegate key list`), and serve its certificate.
    #[arg(long, value_name = "NAME", conflicts_with = "key")]
    signer: Option<String>,
    /// Folder of the keys for `--signer`, instead of `TIDEGATE_KEYS` and `~/.ndn/tidegate-keys`.
    #[arg(long, value_name = "DIR", requires = "signer")]
    keys: Option<PathBuf>,
}

/// A signer, and its certificate if there is one.
pub(super) struct Signing {
    /// Signer of every Data.
    pub(super) signer: Signer,
    /// Certificate of the signer, to be served as well.
    pub(super) certificate: Option<Certificate>,
}

impl Signing {
    /// Data has a SHA-256 digest in place of a signature.
    pub(super) fn digest() -> Self {
        Self { signer: Signer::Digest, certificate: None }
    }
}

impl SigningArguments {
    /// The signer that the options select.
    pub(super) fn signing(&self) -> Result<Signing, Failure> {
        match (&self.key, &self.key_locator, &self.signer) {
            (Some(file), Some(locator), _) => {
                let signer = of_file(file, &name("--key-locator: ", locator)?)?;
                Ok(Signing { signer, certificate: None })
            }
            (_, _, Some(identity)) => of_identity(self.keys.as_deref(), &name("--signer: ", identity)?),
            _ => Ok(Signing::digest()),
        }
    }
}

/// The signer of an identity whose key is in the folder `keys`, or in that of this user.
pub(super) fn of_identity(keys: Option<&Path>, identity: &[u8]) -> Result<Signing, Failure> {
    let found = store_at(keys)?.find(identity).map_err(Failure::error)?;
    Ok(Signing { signer: Signer::Key(Box::new(found.signer)), certificate: Some(found.certificate) })
}

fn of_file(file: &Path, key_name: &[u8]) -> Result<Signer, Failure> {
    let of_file = |why: &dyn std::fmt::Display| Failure::error(format!("{}: {why}", file.display()));
    let pem = std::fs::read_to_string(file).map_err(|why| of_file(&why))?;
    let signer = KeySigner::from_pem(&pem, key_name).map_err(|why| of_file(&why))?;
    Ok(Signer::Key(Box::new(signer)))
}

/// A name on the command line; `option` begins the message about a mistake.
pub(super) fn name(option: &str, uri: &str) -> Result<Vec<u8>, Failure> {
    name_uri::parse(uri).map_err(|why| Failure::usage(format!("{option}{why}")))
}
