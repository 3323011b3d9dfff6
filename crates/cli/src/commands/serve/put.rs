//! `tidegate put`: `serve` with the options and the lines of ndn-tools' `ndnserve` (`ndnputchunks` before 2025).
//!
//! The content is read from standard input, or from a file, before it is published; everything else is [`serve_for_good`].

use std::io::Read;
use std::path::PathBuf;

use tidegate_core::ndn::packet::Millis;
use tidegate_core::units::Span;
use tidegate_live::name_uri;
use tidegate_live::serve::{CACHE_SIZE, MAX_SEGMENT_SIZE, Publications, ServeSettings, Served};
use tidegate_wire::tlv::{TlvReader, types};

use super::check_name;
use super::connection::{Registrations, Upstream, serve_for_good};
use super::signing::{Signing, name, of_identity};
use crate::Session;
use crate::commands::fetch::get::typed;
use crate::exit::{Failure, Outcome, print};
use crate::log::LogArguments;
use crate::results::cannot;

/// Maximum size of the content, which is held in memory, bytes.
const MAX_CONTENT: u64 = 4_000_000_000;

/// Arguments of the command `tidegate put`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Name of the content; the version at its end, else the present time in microseconds, is the version.
    name: String,
    /// File to read instead of standard input.
    file: Option<PathBuf>,
    /// Freshness period of each segment, milliseconds.
    #[arg(long, short, value_name = "MS", default_value_t = 10_000)]
    freshness: u32,
    /// Maximum payload bytes per segment.
    #[arg(long, short, value_name = "BYTES", default_value_t = MAX_SEGMENT_SIZE)]
    size: usize,
    /// Encoding of versions and segments; only `typed` (naming conventions, revision 3) is supported.
    #[arg(long, short = 'N', value_name = "CONVENTION", value_parser = typed)]
    naming_convention: Option<String>,
    /// Signer: `id:NAME` for the key of an identity (`tidegate key list`), `id:/localhost/identity/digest-sha256` for a digest,
    /// as without this option.
    #[arg(long, short = 'S', value_name = "SIGNER")]
    signing_info: Option<String>,
    /// Print the version to standard output.
    #[arg(long, short)]
    print_data_version: bool,
    /// Accepted for `ndnserve`'s sake; there are no lines for single Interests.
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
    /// Folder of the keys for `--signing-info`, instead of `TIDEGATE_KEYS` and `~/.ndn/tidegate-keys`.
    #[arg(long, value_name = "DIR", requires = "signing_info")]
    keys: Option<PathBuf>,
    /// URI of the forwarder, instead of `NDN_CLIENT_TRANSPORT` and `client.conf`.
    #[arg(long, value_name = "URI")]
    transport: Option<String>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// Runs the command `tidegate put`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let _log = arguments.log.begin(session)?;
    let (prefix, version) = split_version(name("", &arguments.name)?);
    check_name(&arguments.name, &prefix)?;
    if !(1..=MAX_SEGMENT_SIZE).contains(&arguments.size) {
        return Err(Failure::usage(format!(
            "--size: {} is not within 1 to {MAX_SEGMENT_SIZE}",
            arguments.size
        )));
    }
    let signing = signing(arguments)?;
    session.begun("Loading input ...");
    let settings = ServeSettings {
        prefix: prefix.clone(),
        segment_size: arguments.size,
        freshness: Millis(arguments.freshness),
        signer: signing.signer.clone(),
        certificate: signing.certificate.clone(),
        version,
    };
    let served = Served::of_content(content(arguments)?, settings).map_err(Failure::error)?;
    let (segments, version) = (served.segments(), served.version());
    let versioned = name_uri::show(served.versioned_name());
    let mut prefixes = vec![prefix];
    prefixes.extend(signing.certificate.as_ref().map(|certificate| certificate.key_name().to_vec()));
    let mut served = Publications::new(vec![(arguments.name.clone(), Box::new(served))], CACHE_SIZE);
    let at = Upstream { uri: arguments.transport.as_deref(), wait: Span::ZERO };
    let certificate = signing.certificate.as_ref();
    let registrations = Registrations { prefixes: &prefixes, signer: &signing.signer, certificate };
    serve_for_good(session, at, (&mut served, registrations), || {
        if arguments.print_data_version {
            print(&format!("v={version}\n"));
        }
        let packets = if segments == 1 { "Data packet" } else { "Data packets" };
        session.begun(&format!("Published {segments} {packets} with prefix {versioned}"));
    })
}

/// The name without a version at its end, and that version.
fn split_version(mut name: Vec<u8>) -> (Vec<u8>, Option<u64>) {
    let (mut reader, mut last) = (TlvReader::new(&name), None);
    while let Ok(Some(component)) = reader.next() {
        last = Some((component.start, component.kind, component.integer().ok()));
    }
    match last {
        Some((start, types::VERSION_NAME_COMPONENT, Some(version))) => {
            name.truncate(start);
            (name, Some(version))
        }
        _ => (name, None),
    }
}

/// The signer that `--signing-info` selects, as ndn-cxx writes it.
fn signing(arguments: &Arguments) -> Result<Signing, Failure> {
    const DIGEST: &str = "/localhost/identity/digest-sha256";
    match arguments.signing_info.as_deref() {
        None | Some("") => Ok(Signing::digest()),
        Some(text) => match text.strip_prefix("id:") {
            Some(DIGEST) => Ok(Signing::digest()),
            Some(identity) => of_identity(arguments.keys.as_deref(), &name("--signing-info: ", identity)?),
            None => Err(Failure::usage(format!("--signing-info: {text:?} is not of the form \"id:NAME\""))),
        },
    }
}

/// All of the content; it stays in memory.
fn content(arguments: &Arguments) -> Result<Vec<u8>, Failure> {
    let mut content = Vec::new();
    let read = match &arguments.file {
        Some(file) => {
            let of_file = |why| cannot("read", file, &why);
            let input = std::fs::File::open(file).map_err(of_file)?;
            input.take(MAX_CONTENT + 1).read_to_end(&mut content).map_err(of_file)
        }
        None => {
            let read = std::io::stdin().lock().take(MAX_CONTENT + 1).read_to_end(&mut content);
            read.map_err(|why| Failure::error(format!("standard input: {why}")))
        }
    };
    match read? as u64 {
        0..=MAX_CONTENT => Ok(content),
        _ => Err(Failure::error(format!(
            "the content has more than {MAX_CONTENT} bytes, which `put` holds in memory; `tidegate serve` reads a file from disk"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_at_the_end_of_the_name_is_that_of_the_content() {
        let split = |uri: &str| {
            let (prefix, version) = split_version(name("", uri).expect("a name"));
            (name_uri::show(&prefix), version)
        };
        assert_eq!(split("/a/v=7"), ("/a".to_owned(), Some(7)));
        assert_eq!(split("/a/v=7/b"), ("/a/v=7/b".to_owned(), None));
        assert_eq!(split("/a"), ("/a".to_owned(), None));
    }
}
