//! `tidegate serve`: files and directories under names, segment by segment from disk, until interrupted.

mod connection;
pub(crate) mod put;
mod signing;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::json;
use tidegate_core::ndn::packet::Millis;
use tidegate_core::units::{ByteCount, Span};
use tidegate_live::name_uri;
use tidegate_live::serve::{
    CACHE_SIZE, MAX_SEGMENT_SIZE, Publications, Responder, SEGMENT_SIZE, ServeCounters, ServeSettings,
    Served, ServedTree,
};
use tidegate_wire::tlv::types;

use super::fetch::{has_version, last_kind};
use crate::exit::{Failure, Outcome, print};
use crate::log::LogArguments;
use crate::{Format, Session};
use connection::{Registrations, Upstream, serve_for_good};
use signing::{Signing, SigningArguments};

/// Arguments of the command `tidegate serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Name, such as `/example/file`, and the file or directory to publish; further pairs may follow. Content is read from
    /// disk on request. A file `dir/file` in a directory has the name `PREFIX/dir/file`, and the listing of `dir` the name
    /// `PREFIX/dir/32=ls`.
    #[arg(required = true, num_args = 2.., value_names = ["PREFIX", "PATH"])]
    published: Vec<OsString>,
    /// Payload bytes per segment. With the default a packet fits one UDP datagram of 1400 bytes.
    #[arg(long, value_name = "BYTES", default_value_t = SEGMENT_SIZE)]
    segment_size: usize,
    /// Freshness period of each segment.
    #[arg(long, value_name = "TIME", default_value = "10s")]
    freshness: Span,
    /// Version of a single file; by default the time of its last modification in microseconds.
    #[arg(long = "version", value_name = "N")]
    object_version: Option<u64>,
    /// Maximum size of the signed segments that are kept in memory for further Interests; 0B for none.
    #[arg(long, value_name = "SIZE", default_value_t = ByteCount::new(CACHE_SIZE as u64))]
    cache_size: ByteCount,
    #[command(flatten)]
    signing: SigningArguments,
    /// Time within which the forwarder may start; without it, the command fails at once if there is none.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    wait: Span,
    /// URI of the forwarder, instead of `NDN_CLIENT_TRANSPORT` and `client.conf`.
    #[arg(long, value_name = "URI")]
    transport: Option<String>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// What is to be served: an object or a directory, with its name for messages.
struct Offer {
    label: String,
    prefix: Vec<u8>,
    producer: Box<dyn Responder>,
    /// Line or JSON document on standard output, once it can be fetched.
    begun: String,
}

/// Runs the command `tidegate serve`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let _log = arguments.log.begin(session)?;
    // Mistakes on the command line are reported before the network is used.
    let signing = arguments.signing.signing()?;
    let (pairs, rest) = arguments.published.as_chunks::<2>();
    if let [prefix] = rest {
        return Err(Failure::usage(format!("{}: a PATH is missing after this PREFIX", prefix.display())));
    }
    let is_single_file = matches!(pairs, [[_, path]] if !Path::new(path).is_dir());
    if arguments.object_version.is_some() && !is_single_file {
        return Err(Failure::usage("--version: only a single file has a version that can be chosen"));
    }
    let offers: Vec<Offer> = pairs
        .iter()
        .map(|[prefix, path]| offer(session, arguments, &signing, (prefix, Path::new(path))))
        .collect::<Result<_, _>>()?;
    let mut prefixes: Vec<Vec<u8>> = offers.iter().map(|offer| offer.prefix.clone()).collect();
    prefixes.extend(signing.certificate.as_ref().map(|certificate| certificate.key_name().to_vec()));
    let begun: String = offers.iter().map(|offer| offer.begun.as_str()).collect();
    let producers = offers.into_iter().map(|offer| (offer.label, offer.producer)).collect();
    let cache_size = usize::try_from(arguments.cache_size.get()).unwrap_or(usize::MAX);
    let mut served = Publications::new(producers, cache_size);
    let at = Upstream { uri: arguments.transport.as_deref(), wait: arguments.wait };
    let mut has_begun = false;
    let certificate = signing.certificate.as_ref();
    let registrations = Registrations { prefixes: &prefixes, signer: &signing.signer, certificate };
    let outcome = serve_for_good(session, at, (&mut served, registrations), || {
        has_begun = true;
        print(&begun);
    });
    if has_begun {
        print(&ended(session.format, &served.counters()));
    }
    outcome
}

/// Opens a file or directory.
fn offer(
    session: &Session,
    arguments: &Arguments,
    signing: &Signing,
    (prefix, path): (&OsStr, &Path),
) -> Result<Offer, Failure> {
    let label = path.display().to_string();
    let settings = settings(arguments, signing, &prefix.to_string_lossy())?;
    let of_path = |why| Failure::error(format!("{label}: {why}"));
    let prefix = settings.prefix.clone();
    let (producer, begun): (Box<dyn Responder>, String) = if path.is_dir() {
        let tree = ServedTree::open(path, settings).map_err(of_path)?;
        (Box::new(tree), begun_tree(session.format, path, &prefix))
    } else {
        let served = Served::open(path, settings).map_err(of_path)?;
        let begun = begun(session.format, path, &served);
        (Box::new(served), begun)
    };
    Ok(Offer { label, prefix, producer, begun })
}

/// Refuses the name of an object that cannot have versions and segments below it.
fn check_name(shown: &str, name: &[u8]) -> Result<(), Failure> {
    match last_kind(name) {
        None => Err(Failure::usage("content cannot be published as \"/\"; give it a name")),
        Some(types::SEGMENT_NAME_COMPONENT) => {
            let why = "the name ends with the number of a segment; segments are numbered below the name of the content";
            Err(Failure::usage(format!("{shown}: {why}")))
        }
        Some(_) => Ok(()),
    }
}

fn settings(arguments: &Arguments, signing: &Signing, prefix: &str) -> Result<ServeSettings, Failure> {
    let segment_size = arguments.segment_size;
    if !(1..=MAX_SEGMENT_SIZE).contains(&segment_size) {
        return Err(Failure::usage(format!(
            "--segment-size: {segment_size} is not within 1 to {MAX_SEGMENT_SIZE}"
        )));
    }
    let name = name_uri::parse(prefix).map_err(Failure::usage)?;
    check_name(prefix, &name)?;
    if has_version(&name) {
        let why = "the name ends with a version; remove the version from the name and give it with --version";
        return Err(Failure::usage(format!("{prefix}: {why}")));
    }
    Ok(ServeSettings {
        prefix: name,
        segment_size,
        freshness: Millis::from_span(arguments.freshness),
        signer: signing.signer.clone(),
        certificate: signing.certificate.clone(),
        version: arguments.object_version,
    })
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

fn begun_tree(format: Format, directory: &Path, prefix: &[u8]) -> String {
    let name = name_uri::show(prefix);
    match format {
        Format::Text => format!("serving the directory {} below {name}\n", directory.display()),
        Format::Json => json!({ "name": name, "is_directory": true }).to_string() + "\n",
    }
}

fn ended(format: Format, counters: &ServeCounters) -> String {
    let ServeCounters { interests, segments, cached, bytes, metadata, unanswered } = *counters;
    match format {
        Format::Text => format!(
            "{interests} Interests: {segments} segments ({cached} signed before) with {bytes} bytes and {metadata} versions \
             sent, {unanswered} not satisfied\n"
        ),
        Format::Json => {
            let document = json!({
                "interests": interests,
                "segments": segments,
                "cached_segments": cached,
                "bytes": bytes,
                "versions": metadata,
                "unanswered": unanswered,
            });
            document.to_string() + "\n"
        }
    }
}
