//! The connection of a producer: registers its prefixes and answers, again after each loss of the forwarder.

use std::os::fd::AsFd;

use tidegate_live::client::{Client, ClientError};
use tidegate_live::name_uri;
use tidegate_live::registration::{self, RegistrationError};
use tidegate_live::serve::{Publications, serve};
use tidegate_live::signals::StopSignal;

use crate::Session;
use crate::commands::status::uplink;
use crate::exit::{Exit, Failure, Outcome};

/// Serves until interrupted or until the content changes, which is an error. `begun` is called once the prefixes are registered.
/// [`Exit::Interrupted`]: the interruption came before that.
pub(super) fn serve_for_good(
    session: &Session,
    transport: Option<&str>,
    (served, prefixes): (&mut Publications, &[Vec<u8>]),
    begun: impl FnOnce(),
) -> Outcome {
    let uplink = uplink(transport)?;
    let stop = StopSignal::new().map_err(|why| Failure::error(format!("signals: {why}")))?;
    let mut client = Client::connect(&uplink).map_err(Failure::error)?;
    let stop = stop.as_fd().try_clone_to_owned().map_err(Failure::error)?;
    client.stop_on(stop).map_err(Failure::error)?;
    match register_all(&mut client, prefixes) {
        Err(RegistrationError::Client(ClientError::Stopped)) => return Ok(Exit::Interrupted),
        registered => registered.map_err(Failure::error)?,
    };
    // After the registration: a program that waits for this can request the content at once.
    begun();
    let outcome = answer_and_return(session, &mut client, served, prefixes);
    // The forwarder removes the route anyway when the connection ends; an explicit unregistration does it at once.
    if outcome.is_ok() && client.finish_in_peace().is_ok() {
        for prefix in prefixes {
            let _ = registration::unregister(&mut client, prefix);
        }
    }
    outcome?.map_or(Ok(Exit::Ok), |change| Err(Failure::error(change)))
}

/// Answers until interrupted or until the content changes; connects again to a forwarder that ended the connection.
fn answer_and_return(
    session: &Session,
    client: &mut Client,
    served: &mut Publications,
    prefixes: &[Vec<u8>],
) -> Result<Option<String>, Failure> {
    loop {
        let lost = match serve(client, served, |trouble| tracing::error!("{trouble}")) {
            Err(lost @ ClientError::Lost(_)) => lost,
            outcome => return outcome.map_err(Failure::error),
        };
        tracing::warn!("{lost}; connecting again");
        match return_to(client, prefixes) {
            Err(RegistrationError::Client(ClientError::Stopped)) => return Ok(None),
            outcome => outcome.map_err(Failure::error)?,
        }
        let names: Vec<String> = prefixes.iter().map(|prefix| name_uri::show(prefix)).collect();
        session.begun(&format!("connected again, serving {}", names.join(", ")));
    }
}

/// Connects and registers `prefixes`, until all has succeeded with one connection.
fn return_to(client: &mut Client, prefixes: &[Vec<u8>]) -> Result<(), RegistrationError> {
    loop {
        client.reconnect(None)?;
        match register_all(client, prefixes) {
            // The forwarder ended again, or is busy.
            Err(RegistrationError::Client(ClientError::Lost(_)) | RegistrationError::Timeout { .. }) => {}
            outcome => return outcome,
        }
    }
}

fn register_all(client: &mut Client, prefixes: &[Vec<u8>]) -> Result<(), RegistrationError> {
    prefixes.iter().try_for_each(|prefix| registration::register(client, prefix).map(|_| ()))
}
