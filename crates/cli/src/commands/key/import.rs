//! `tidegate key import`: a SafeBag, or a certificate of a stored key.

use std::path::PathBuf;

use bytes::Bytes;
use tidegate_live::key_store::read_base64;
use tidegate_live::name_uri;
use tidegate_wire::{Certificate, KeySigner, read_safe_bag};

use super::{StoreArguments, describe, password};
use crate::Session;
use crate::exit::{Exit, Failure, Outcome};

/// Arguments of the command `tidegate key import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Base64 of a SafeBag (`ndnsec export`), or of a certificate for a key that is stored (`ndnsec cert-dump`).
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
    let packet = read_base64(&arguments.file).map_err(Failure::error)?;
    let of_file =
        |why: &dyn std::fmt::Display| Failure::error(format!("{}: {why}", arguments.file.display()));
    let (certificate, signer): (Certificate, KeySigner) = match &arguments.password_file {
        Some(file) => read_safe_bag(&packet, &password(file)?).map_err(|why| of_file(&why))?,
        None => {
            let certificate = Certificate::parse(Bytes::from(packet)).map_err(|why| of_file(&why))?;
            let stored = store.find(certificate.key_name()).map_err(Failure::error)?;
            if stored.signer.public_key() != *certificate.public_key() {
                return Err(of_file(&"the certificate is for another key than the stored one of this name"));
            }
            (certificate, stored.signer)
        }
    };
    store.store(&certificate, &signer).map_err(Failure::error)?;
    session.print(|| name_uri::show(certificate.name()) + "\n", || describe(&certificate));
    Ok(Exit::Ok)
}
