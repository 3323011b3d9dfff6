//! `tidegate serve`: a file under a name, segment by segment from disk, until interrupted.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use serde_json::json;
use tidegate_core::ndn::packet::Millis;
use tidegate_core::units::Span;
use tidegate_live::client::{Client, ClientError};
use tidegate_live::name_uri;
use tidegate_live::registration::{self, RegistrationError};
use tidegate_live::serve::{MAX_SEGMENT_SIZE, SEGMENT_SIZE, ServeCounters, ServeSettings, Served, serve};
use tidegate_live::signals::StopSignal;
use tidegate_wire::{KeySigner, Signer};

use super::fetch::has_version;
use super::key::store_at;
use super::status::uplink;
use crate::exit::{Exit, Failure, Outcome, print};
use crate::{Format, Session};

/// Arguments of the command `tidegate serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Name of the file, such as `/example/file`.
    prefix: String,
    /// File to publish; read from disk on request.
    file: PathBuf,
    /// Payload bytes per segment. With the default a packet fits one UDP datagram of 1400 bytes.
    #[arg(long, value_name = "BYTES", default_value_t = SEGMENT_SIZE)]
    segment_size: usize,
    /// Freshness period of each segment.
    #[arg(long, value_name = "TIME", default_value = "10s")]
    freshness: Span,
    /// Version of the file; by default the time of its last modification in microseconds.
    #[arg(long = "version", value_name = "N")]
    object_version: Option<u64>,
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
    /// URI of the forwarder, instead of `NDN_CLIENT_TRANSPORT` and `client.conf`.
    #[arg(long, value_name = "URI")]
    transport: Option<String>,
}

/// Runs the command `tidegate serve`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    // Mistakes on the command line are reported before the network is used.
    let settings = settings(arguments)?;
    let mut prefixes = vec![settings.prefix.clone()];
    prefixes.extend(settings.certificate.as_ref().map(|certificate| certificate.key_name().to_vec()));
    let uplink = uplink(arguments.transport.as_deref())?;
    let stop = StopSignal::new().map_err(|why| Failure::error(format!("signals: {why}")))?;
    let mut client = Client::connect(&uplink).map_err(Failure::error)?;
    let stop = stop.as_fd().try_clone_to_owned().map_err(Failure::error)?;
    client.stop_on(stop).map_err(Failure::error)?;
    let of_file = |why| Failure::error(format!("{}: {why}", arguments.file.display()));
    // Before the registration, so that no route leads to a producer without its file.
    let mut served = Served::open(&arguments.file, settings, &mut client).map_err(of_file)?;
    match register_all(&mut client, &prefixes) {
        Err(RegistrationError::Client(ClientError::Stopped)) => return Ok(Exit::Interrupted),
        registered => registered.map_err(Failure::error)?,
    };
    // After the registration: a program that waits for this line can request the file at once.
    print(&begun(session.format, &arguments.file, &served));
    let outcome = serve_for_good(session, arguments, &mut client, (&mut served, &prefixes));
    // The forwarder removes the route anyway when the connection ends; an explicit unregistration does it at once.
    if outcome.is_ok() && client.finish_in_peace().is_ok() {
        for prefix in &prefixes {
            let _ = registration::unregister(&mut client, prefix);
        }
    }
    print(&ended(session.format, &served.counters()));
    match outcome? {
        None => Ok(Exit::Ok),
        Some(change) => Err(Failure::error(format!("{}: {change}", arguments.file.display()))),
    }
}

/// Serves until interrupted or until the file changes; connects again to a forwarder that ended the connection.
fn serve_for_good(
    session: &Session,
    arguments: &Arguments,
    client: &mut Client,
    (served, prefixes): (&mut Served, &[Vec<u8>]),
) -> Result<Option<String>, Failure> {
    loop {
        let outcome = serve(client, served, |trouble| {
            session.error(&format!("{}: {trouble}", arguments.file.display()));
        });
        let lost = match outcome {
            Err(lost @ ClientError::Lost(_)) => lost,
            outcome => return outcome.map_err(Failure::error),
        };
        session.warn(&format!("{lost}; connecting again"));
        match return_to(client, prefixes) {
            Err(RegistrationError::Client(ClientError::Stopped)) => return Ok(None),
            outcome => outcome.map_err(Failure::error)?,
        }
        session.begun(&format!("connected again, serving {}", name_uri::show(served.versioned_name())));
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

fn settings(arguments: &Arguments) -> Result<ServeSettings, Failure> {
    let name = |option: &str, uri: &str| {
        name_uri::parse(uri).map_err(|why| Failure::usage(format!("{option}{why}")))
    };
    if !(1..=MAX_SEGMENT_SIZE).contains(&arguments.segment_size) {
        let size = arguments.segment_size;
        return Err(Failure::usage(format!("--segment-size: {size} is not within 1 to {MAX_SEGMENT_SIZE}")));
    }
    let prefix = name("", &arguments.prefix)?;
    if prefix.is_empty() {
        return Err(Failure::usage("a file cannot be served as \"/\"; give it a name"));
    }
    if has_version(&prefix) {
        let why = "the name ends with a version; remove the version from the name and give it with --version";
        return Err(Failure::usage(format!("{}: {why}", arguments.prefix)));
    }
    let (signer, certificate) = match (&arguments.key, &arguments.key_locator, &arguments.signer) {
        (Some(file), Some(locator), _) => (signer(file, &name("--key-locator: ", locator)?)?, None),
        (_, _, Some(signer)) => {
            let store = store_at(arguments.keys.as_deref())?;
            let found = store.find(&name("--signer: ", signer)?).map_err(Failure::error)?;
            (Signer::Key(Box::new(found.signer)), Some(found.certificate))
        }
        _ => (Signer::Digest, None),
    };
    Ok(ServeSettings {
        prefix,
        segment_size: arguments.segment_size,
        freshness: Millis::from_span(arguments.freshness),
        signer,
        certificate,
        version: arguments.object_version,
    })
}

fn signer(file: &Path, key_name: &[u8]) -> Result<Signer, Failure> {
    let of_file = |why: &dyn std::fmt::Display| Failure::error(format!("{}: {why}", file.display()));
    let pem = std::fs::read_to_string(file).map_err(|why| of_file(&why))?;
    let signer = KeySigner::from_pem(&pem, key_name).map_err(|why| of_file(&why))?;
    Ok(Signer::Key(Box::new(signer)))
}

fn begun(format: Format, file: &Path, served: &Served) -> String {
    let name = name_uri::show(served.versioned_name());
    let (segments, bytes) = (served.segments(), served.len());
    match format {
        Format::Text => {
            format!("serving {} as {name}: {bytes} bytes in {segments} segments\n", file.display())
        }
        Format::Json => {
            let document = json!({
                "name": name,
                "version": served.version(),
                "bytes": bytes,
                "segments": segments,
            });
            document.to_string() + "\n"
        }
    }
}

fn ended(format: Format, counters: &ServeCounters) -> String {
    let ServeCounters { interests, segments, bytes, metadata, unanswered } = *counters;
    match format {
        Format::Text => format!(
            "{interests} Interests: {segments} segments with {bytes} bytes and {metadata} versions sent, \
             {unanswered} not satisfied\n"
        ),
        Format::Json => {
            let document = json!({
                "interests": interests,
                "segments": segments,
                "bytes": bytes,
                "versions": metadata,
                "unanswered": unanswered,
            });
            document.to_string() + "\n"
        }
    }
}
