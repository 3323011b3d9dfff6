//! `tidegate key import`: a SafeBag, a private key of ndnd, or a certificate of a stored key.

use std::path::PathBuf;

use bytes::Bytes;
use tidegate_live::key_store::{IssueSettings, issue, read_packets};
use tidegate_live::name_uri;
use tidegate_wire::{
    Certificate, KeySigner, SecretKeyError, Signer, read_safe_bag, read_secret_key, tlv::types,
};

use super::{StoreArguments, describe, now_ms, password};
use crate::Session;
use crate::exit::{Exit, Failure, Outcome};

/// Validity of a certificate for a key that comes without one, as with `tidegate key generate`: 20 years, in seconds.
const VALID_SECONDS: u64 = 175_200 * 3_600;

/// Arguments of the command `tidegate key import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Base64 of a SafeBag (`ndnsec export`) or of a certificate for a key that is stored (`ndnsec cert-dump`), or PEM of a
    /// private key, of a certificate, or of both (`ndnd sec`). A private key without a certificate gets a self-signed one.
    file: PathBuf,
    /// Open a SafeBag with the first line of this file as the password.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

/// Runs the command `tidegate key import`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let store = arguments.store.store()?;
    let packets = read_packets(&arguments.file).map_err(Failure::error)?;
    let of_file = |why: String| Failure::error(format!("{}: {why}", arguments.file.display()));
    let (certificate, signer) = match (&arguments.password_file, packets.as_slice()) {
        (Some(file), [packet]) => {
            read_safe_bag(packet, &password(file)?).map_err(|why| of_file(why.to_string()))?
        }
        (Some(_), _) => return Err(of_file("it is no SafeBag, but has several packets".to_owned())),
        (None, packets) => {
            let Contents { key, certificates } = Contents::read(packets).map_err(of_file)?;
            match (key, certificates.into_iter().next_back()) {
                (Some(key), certificate) => {
                    let certificate = certificate.map_or_else(|| self_signed(&key), Ok)?;
                    (certificate, key)
                }
                (None, Some(certificate)) => {
                    let stored = store.find(certificate.key_name()).map_err(Failure::error)?;
                    (certificate, stored.signer)
                }
                (None, None) => return Err(of_file("it has neither a key nor a certificate".to_owned())),
            }
        }
    };
    if signer.public_key() != *certificate.public_key() {
        return Err(of_file(
            "the certificate is for another key than the private one of this name".to_owned(),
        ));
    }
    store.store(&certificate, &signer).map_err(Failure::error)?;
    session.print(|| name_uri::show(certificate.name()) + "\n", || describe(&certificate));
    Ok(Exit::Ok)
}

/// What the packets of a file are.
#[derive(Default)]
struct Contents {
    key: Option<KeySigner>,
    /// Certificates in their order, the one for the key last.
    certificates: Vec<Certificate>,
}

impl Contents {
    fn read(packets: &[Vec<u8>]) -> Result<Self, String> {
        let mut contents = Self::default();
        for packet in packets {
            if packet.first() == Some(&(types::SAFE_BAG as u8)) {
                return Err("it is a SafeBag, which --password-file opens".to_owned());
            }
            match read_secret_key(packet) {
                Ok(key) => contents.key = Some(key),
                Err(SecretKeyError::ContentType(_) | SecretKeyError::Packet(_)) => {
                    let certificate = Certificate::parse(Bytes::copy_from_slice(packet));
                    contents.certificates.push(certificate.map_err(|why| why.to_string())?);
                }
                Err(why) => return Err(why.to_string()),
            }
        }
        if let Some(key) = &contents.key {
            // Others in the file lead from this one to an anchor.
            contents.certificates.retain(|certificate| certificate.key_name() == key.key_name());
        }
        Ok(contents)
    }
}

fn self_signed(key: &KeySigner) -> Result<Certificate, Failure> {
    let settings = IssueSettings { issuer: b"self", now_ms: now_ms(), valid_seconds: VALID_SECONDS };
    let signer = Signer::Key(Box::new(key.clone()));
    issue(key.key_name(), &key.public_key(), &signer, settings).map_err(Failure::error)
}
