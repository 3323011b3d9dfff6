//! `tidegate key list`: keys and their certificates.

use serde_json::{Value, json};
use tidegate_live::name_uri;
use tidegate_results::text::{Align, TextTable};

use super::{StoreArguments, algorithm, describe, now_ms};
use crate::Session;
use crate::exit::{Exit, Failure, Outcome};

/// Arguments of the command `tidegate key list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    store: StoreArguments,
}

/// Runs the command `tidegate key list`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let keys = arguments.store.store()?.keys().map_err(Failure::error)?;
    let table = || {
        let columns = ["certificate", "algorithm", "valid"].map(|heading| (heading, Align::Left));
        let mut table = TextTable::new(&columns);
        for key in &keys {
            let certificate = &key.certificate;
            let is_valid = certificate.validity().includes(now_ms() / 1_000);
            let valid = if is_valid { "yes" } else { "no" };
            let name = name_uri::show(certificate.name());
            table.row([name, algorithm(certificate.public_key()).to_owned(), valid.to_owned()]);
        }
        table.render(session.screen)
    };
    session.print(
        table,
        || json!({ "keys": keys.iter().map(|key| describe(&key.certificate)).collect::<Vec<Value>>() }),
    );
    Ok(Exit::Ok)
}
