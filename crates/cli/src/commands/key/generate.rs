//! `tidegate key generate`: a key with a self-signed certificate.

use tidegate_core::units::Span;
use tidegate_live::entropy;
use tidegate_live::key_store::IssueSettings;
use tidegate_live::name_uri;
use tidegate_wire::KeyAlgorithm;

use super::{StoreArguments, describe, now_ms, read_algorithm, read_name, seconds};
use crate::Session;
use crate::exit::{Exit, Failure, Outcome};

/// Arguments of the command `tidegate key generate`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Name of the entity that the key belongs to, such as `/example/alice`.
    identity: String,
    /// Algorithm of the key: p256 or ed25519. NDN's other programs read both, but not all verify ed25519.
    #[arg(long, value_name = "NAME", default_value = "p256", value_parser = read_algorithm)]
    algorithm: KeyAlgorithm,
    /// Time for which the certificate is valid; 20 years by default, as with ndnsec.
    #[arg(long, value_name = "TIME", default_value = "175200h")]
    validity: Span,
    #[command(flatten)]
    store: StoreArguments,
}

/// Runs the command `tidegate key generate`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let identity = read_name(&arguments.identity)?;
    let random = || -> std::io::Result<([u8; 32], [u8; 8])> { Ok((entropy::secret()?, entropy::secret()?)) };
    let random = random().map_err(|why| Failure::error(format!("random numbers: {why}")))?;
    let settings =
        IssueSettings { issuer: b"self", now_ms: now_ms(), valid_seconds: seconds(arguments.validity) };
    let store = arguments.store.store()?;
    let made = store.generate(&identity, arguments.algorithm, random, settings).map_err(Failure::error)?;
    session.print(|| name_uri::show(made.certificate.name()) + "\n", || describe(&made.certificate));
    Ok(Exit::Ok)
}
