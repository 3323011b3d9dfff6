//! The connection of a producer: registers its prefixes and answers, again after each loss of the forwarder.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use tidegate_core::units::Span;
use tidegate_live::client::{Client, ClientError};
use tidegate_live::name_uri;
use tidegate_live::registration::{self, RegistrationError};
use tidegate_live::serve::{Publications, serve};
use tidegate_live::signals::StopSignal;
use tidegate_live::uplink::Uplink;
use tidegate_wire::{Certificate, Signer};

use crate::Session;
use crate::commands::status::uplink;
use crate::exit::{Exit, Failure, Outcome};

/// Interval between two attempts to connect to a forwarder that has not started.
const ATTEMPTS: Duration = Duration::from_millis(200);

/// The forwarder of a producer.
#[derive(Clone, Copy)]
pub(super) struct Upstream<'a> {
    /// Its URI; `None` for that of the environment.
    pub(super) uri: Option<&'a str>,
    /// Time within which it may start.
    pub(super) wait: Span,
}

/// Prefixes of a producer, and the signer of the commands that register them.
#[derive(Clone, Copy)]
pub(super) struct Registrations<'a> {
    pub(super) prefixes: &'a [Vec<u8>],
    pub(super) signer: &'a Signer,
    /// Certificate of the signer, which the forwarder may request before it accepts a command.
    pub(super) certificate: Option<&'a Certificate>,
}

impl Registrations<'_> {
    fn register(&self, client: &mut Client) -> Result<(), RegistrationError> {
        let one = |prefix: &Vec<u8>| registration::register(client, prefix, self.signer).map(|_| ());
        self.prefixes.iter().try_for_each(one)
    }
}

/// Serves until interrupted or until the content changes, which is an error. `begun` is called once the prefixes are registered.
/// [`Exit::Interrupted`]: the interruption came before that.
pub(super) fn serve_for_good(
    session: &Session,
    at: Upstream<'_>,
    (served, registrations): (&mut Publications, Registrations<'_>),
    begun: impl FnOnce(),
) -> Outcome {
    let uplink = uplink(at.uri)?;
    let mut stop = StopSignal::new().map_err(|why| Failure::error(format!("signals: {why}")))?;
    let Some(mut client) = connect(&uplink, at.wait, &mut stop)? else { return Ok(Exit::Interrupted) };
    let stop = stop.as_fd().try_clone_to_owned().map_err(Failure::error)?;
    client.stop_on(stop).map_err(Failure::error)?;
    if let Some(certificate) = registrations.certificate {
        client.present(certificate.clone());
    }
    match registrations.register(&mut client) {
        Err(RegistrationError::Client(ClientError::Stopped)) => return Ok(Exit::Interrupted),
        registered => registered.map_err(Failure::error)?,
    };
    // After the registration: a program that waits for this can request the content at once.
    begun();
    let outcome = answer_and_return(session, &mut client, served, registrations);
    // The forwarder removes the route anyway when the connection ends; an explicit unregistration does it at once.
    if outcome.is_ok() && client.finish_in_peace().is_ok() {
        for prefix in registrations.prefixes {
            let _ = registration::unregister(&mut client, prefix, registrations.signer);
        }
    }
    outcome?.map_or(Ok(Exit::Ok), |change| Err(Failure::error(change)))
}

/// Connects within `wait`; `None` if it is interrupted before.
fn connect(uplink: &Uplink, wait: Span, stop: &mut StopSignal) -> Result<Option<Client>, Failure> {
    let (begun, wait) = (Instant::now(), Duration::from_nanos(wait.as_nanos()));
    let mut is_reported = false;
    loop {
        let left = wait.saturating_sub(begun.elapsed());
        match Client::connect(uplink) {
            Ok(client) => return Ok(Some(client)),
            Err(ClientError::Connect { why, .. }) if is_absent(&why) && !left.is_zero() => {
                if !std::mem::replace(&mut is_reported, true) {
                    tracing::warn!("no forwarder at {} yet: {why}; trying again for {wait:?}", uplink.uri);
                }
            }
            Err(why) => return Err(Failure::error(why)),
        }
        if stop.wait(left.min(ATTEMPTS)).map_err(Failure::error)? {
            return Ok(None);
        }
    }
}

/// Whether a forwarder that starts later can be connected to in spite of this error.
fn is_absent(why: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, NotFound, TimedOut, WouldBlock};
    matches!(why.kind(), ConnectionRefused | NotFound | TimedOut | WouldBlock)
}

/// Answers until interrupted or until the content changes; connects again to a forwarder that ended the connection.
fn answer_and_return(
    session: &Session,
    client: &mut Client,
    served: &mut Publications,
    registrations: Registrations<'_>,
) -> Result<Option<String>, Failure> {
    loop {
        let lost = match serve(client, served, |trouble| tracing::error!("{trouble}")) {
            Err(lost @ ClientError::Lost(_)) => lost,
            outcome => return outcome.map_err(Failure::error),
        };
        tracing::warn!("{lost}; connecting again");
        match return_to(client, registrations) {
            Err(RegistrationError::Client(ClientError::Stopped)) => return Ok(None),
            outcome => outcome.map_err(Failure::error)?,
        }
        let names: Vec<String> = registrations.prefixes.iter().map(|prefix| name_uri::show(prefix)).collect();
        session.begun(&format!("connected again, serving {}", names.join(", ")));
    }
}

/// Connects and registers the prefixes, until all has succeeded with one connection.
fn return_to(client: &mut Client, registrations: Registrations<'_>) -> Result<(), RegistrationError> {
    loop {
        client.reconnect(None)?;
        match registrations.register(client) {
            // The forwarder ended again, or is busy.
            Err(RegistrationError::Client(ClientError::Lost(_)) | RegistrationError::Timeout { .. }) => {}
            outcome => return outcome,
        }
    }
}
