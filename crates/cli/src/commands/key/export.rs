//! `tidegate key export`: a certificate, or a SafeBag with the private key.

use std::path::PathBuf;

use serde_json::json;
use tidegate_live::entropy;
use tidegate_live::key_store::to_base64;
use tidegate_live::name_uri;
use tidegate_wire::{SafeBagSalt, write_safe_bag};

use super::{StoreArguments, password, read_name};
use crate::Session;
use crate::exit::{Exit, Failure, Outcome};

/// Arguments of the command `tidegate key export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Identity, key or certificate.
    name: String,
    /// Export a SafeBag with the private key, encrypted with the first line of this file as the password.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArguments,
}

/// Runs the command `tidegate key export`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let key = arguments.store.store()?.find(&read_name(&arguments.name)?).map_err(Failure::error)?;
    let packet = match &arguments.password_file {
        None => key.certificate.packet().to_vec(),
        Some(file) => {
            let random = || -> std::io::Result<SafeBagSalt> {
                Ok(SafeBagSalt { salt: entropy::secret()?, iv: entropy::secret()? })
            };
            let salt = random().map_err(|why| Failure::error(format!("random numbers: {why}")))?;
            write_safe_bag(&key.certificate, &key.signer, &password(file)?, salt).map_err(Failure::error)?
        }
    };
    let text = to_base64(&packet);
    session.print(
        || text.clone(),
        || json!({ "certificate": name_uri::show(key.certificate.name()), "base64": text.replace('\n', "") }),
    );
    Ok(Exit::Ok)
}
