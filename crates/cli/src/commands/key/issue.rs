//! `tidegate key issue`: a certificate for the key of another certificate.

use std::path::PathBuf;

use serde_json::json;
use tidegate_core::units::Span;
use tidegate_live::key_store::{IssueSettings, check_self_signed, issue, read_certificate, to_base64};
use tidegate_live::name_uri;
use tidegate_wire::Signer;

use super::{StoreArguments, now_ms, read_name, seconds};
use crate::Session;
use crate::exit::{Exit, Failure, Outcome};

/// Arguments of the command `tidegate key issue`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Base64 of a self-signed certificate of the key to certify: the request.
    request: PathBuf,
    /// Identity or key of the issuer.
    #[arg(long, value_name = "NAME")]
    signer: String,
    /// Issuer's part of the certificate's name.
    #[arg(long, value_name = "TEXT", default_value = "NA")]
    issuer: String,
    /// Time for which the certificate is valid; one year by default, as with ndnsec.
    #[arg(long, value_name = "TIME", default_value = "8760h")]
    validity: Span,
    #[command(flatten)]
    store: StoreArguments,
}

/// Runs the command `tidegate key issue`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let request = read_certificate(&arguments.request).map_err(Failure::error)?;
    // It proves that the requester has the private key.
    check_self_signed(&request).map_err(|why| {
        Failure::error(format!(
            "{}: the request is not signed by its own key: {why}",
            arguments.request.display()
        ))
    })?;
    let by = arguments.store.store()?.find(&read_name(&arguments.signer)?).map_err(Failure::error)?;
    let settings = IssueSettings {
        issuer: arguments.issuer.as_bytes(),
        now_ms: now_ms(),
        valid_seconds: seconds(arguments.validity),
    };
    let signer = Signer::Key(Box::new(by.signer));
    let issued =
        issue(request.key_name(), request.public_key(), &signer, settings).map_err(Failure::error)?;
    let text = to_base64(issued.packet());
    session.print(
        || text.clone(),
        || json!({ "certificate": name_uri::show(issued.name()), "base64": text.replace('\n', "") }),
    );
    Ok(Exit::Ok)
}
