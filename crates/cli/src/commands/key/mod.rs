//! `tidegate key`: private keys and NDN certificates of this user.

mod export;
mod generate;
mod import;
mod issue;
mod list;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_core::units::Span;
use tidegate_live::clock::MonotonicClock;
use tidegate_live::key_store::KeyStore;
use tidegate_live::name_uri;
use tidegate_wire::{Certificate, KeyAlgorithm, PublicKey};

use crate::Session;
use crate::exit::{Failure, Outcome};

/// Subcommands of the command `tidegate key`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a key with a self-signed certificate.
    Generate(generate::Arguments),
    /// List keys and their certificates.
    List(list::Arguments),
    /// Print a certificate, or with a password the key as well, as a SafeBag.
    Export(export::Arguments),
    /// Store a SafeBag, or a certificate of a stored key.
    Import(import::Arguments),
    /// Certify the key of a certificate by a stored key.
    Issue(issue::Arguments),
}

/// Runs the command `tidegate key`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    match &arguments.action {
        Action::Generate(arguments) => generate::run(session, arguments),
        Action::List(arguments) => list::run(session, arguments),
        Action::Export(arguments) => export::run(session, arguments),
        Action::Import(arguments) => import::run(session, arguments),
        Action::Issue(arguments) => issue::run(session, arguments),
    }
}

/// Options of all subcommands.
#[derive(Debug, clap::Args)]
struct StoreArguments {
    /// Folder of the keys, instead of `TIDEGATE_KEYS` and `~/.ndn/tidegate-keys`.
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
}

impl StoreArguments {
    fn store(&self) -> Result<KeyStore, Failure> {
        store_at(self.keys.as_deref())
    }
}

/// The keys in the folder of the option `--keys`, else those of this user.
pub(super) fn store_at(folder: Option<&Path>) -> Result<KeyStore, Failure> {
    let store = folder.map(|folder| KeyStore::at(folder.to_owned())).or_else(KeyStore::of_process);
    store.ok_or_else(|| Failure::usage("--keys: neither TIDEGATE_KEYS nor HOME is set"))
}

/// Components of a name on the command line.
fn read_name(text: &str) -> Result<Vec<u8>, Failure> {
    name_uri::parse(text).map_err(Failure::usage)
}

/// The present, milliseconds since 1970.
fn now_ms() -> u64 {
    MonotonicClock::wall_micros() / 1_000
}

fn seconds(span: Span) -> u64 {
    span.as_nanos() / 1_000_000_000
}

fn password(file: &Path) -> Result<Vec<u8>, Failure> {
    let text = std::fs::read(file).map_err(|why| Failure::error(format!("{}: {why}", file.display())))?;
    // The line end belongs to the file, not to the password.
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    Ok(text.strip_suffix(b"\r").unwrap_or(text).to_vec())
}

fn algorithm(key: &PublicKey) -> &'static str {
    match key {
        PublicKey::P256(_) => "p256",
        PublicKey::Ed25519(_) => "ed25519",
        PublicKey::Rsa(_) => "rsa",
    }
}

/// A certificate as a JSON object.
fn describe(certificate: &Certificate) -> Value {
    json!({
        "identity": name_uri::show(certificate.identity()),
        "key": name_uri::show(certificate.key_name()),
        "certificate": name_uri::show(certificate.name()),
        "algorithm": algorithm(certificate.public_key()),
        "issuer": certificate.issuer().map(name_uri::show),
        "not_before": certificate.validity().not_before,
        "not_after": certificate.validity().not_after,
    })
}

/// The algorithm that is written `text`.
fn read_algorithm(text: &str) -> Result<KeyAlgorithm, String> {
    match text {
        "p256" => Ok(KeyAlgorithm::P256),
        "ed25519" => Ok(KeyAlgorithm::Ed25519),
        _ => Err(format!("{text:?} is neither p256 nor ed25519")),
    }
}
