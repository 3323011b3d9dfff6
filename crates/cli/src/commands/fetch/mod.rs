//! `tidegate fetch`: a file by its name, paced by any consumer scheme of the registry.

pub(crate) mod get;
mod output;
mod part;
pub(crate) mod scheme;
mod summary;

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use tidegate_core::units::{ByteCount, Span, Time};
use tidegate_live::client::{Client, ClientError};
use tidegate_live::fetch::{
    FetchError, FetchProgress, FetchSettings, Fetched, RECEIVE_WINDOW, RECONNECT, RETRIES, Trust,
    check_version_signer, fetch, newest_version, signer_of,
};
use tidegate_live::key_store::read_certificate;
use tidegate_live::name_uri;
use tidegate_live::signals::StopSignal;
use tidegate_live::trust_policy::TrustPolicy;
use tidegate_pages::page::{RunPage, Timeline, run_page};
use tidegate_results::tables::RunContext;
use tidegate_wire::Verifier;
use tidegate_wire::tlv::{TlvReader, types};

use super::reliability;
use super::status::uplink;
use crate::command_line::word;
use crate::exit::{Exit, Failure, Outcome};
use crate::log::LogArguments;
use crate::progress::TransferLine;
use crate::results::cannot;
use crate::{SEMANTICS, Session};
use output::Output;
use part::Progress;
use scheme::{Chosen, Label};
use summary::Summary;

/// Arguments of the command `tidegate fetch`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Name of the file; the newest version is discovered unless the name ends with a version (`/file/v=3`).
    name: String,
    /// Output file; by default, or with `-`, standard output, and the summary goes to standard error. An interrupted
    /// fetch to a file resumes from `FILE.part` when the same version is fetched again.
    #[arg(long = "out", short, alias = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Consumer scheme; `tidegate schemes` lists them. The default is bbr with parameters for hosts and shallow queues
    /// (see the book, "The default of fetch").
    #[arg(long, value_name = "SCHEME")]
    scheme: Option<String>,
    /// Set a parameter of the scheme, such as `window=20`; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = super::key_and_value)]
    set: Vec<(String, String)>,
    /// Consumer profile (timers and retransmission rules), instead of that of the scheme: ndnsim, ndnsim-nack,
    /// ndn-tools, ndnts, ndnd, hicn, pcon, own, own-at-sweep.
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Name of `--profile` before 0.2.0.
    #[arg(long, hide = true, conflicts_with = "profile")]
    shell: Option<String>,
    /// Interest lifetime, instead of that of the consumer profile.
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    lifetime: Option<Span>,
    /// The fetch fails after this number of retransmissions of a segment, and as many seconds without any Data.
    #[arg(long, value_name = "N", default_value_t = RETRIES)]
    retries: u32,
    /// Maximum amount of Data requested beyond the first missing segment. Paths with a larger bandwidth-delay product
    /// need more: 1 Gbit/s over 200 ms is 25MB.
    #[arg(long, value_name = "SIZE", default_value_t = RECEIVE_WINDOW, value_parser = receive_window)]
    receive_window: ByteCount,
    /// Time within which a forwarder that ended the connection is connected to again, so that the fetch continues; with
    /// 0 the fetch fails at once.
    #[arg(long, value_name = "TIME", default_value_t = RECONNECT)]
    reconnect: Span,
    /// Time within which a producer may register the name; without it, the fetch fails at once if the forwarder has no
    /// route to the name.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    wait: Span,
    /// Use the name as given, without version discovery.
    #[arg(long)]
    no_version_discovery: bool,
    /// Set MustBeFresh on the Interest for each segment, so that content stores do not answer with Data that is no longer fresh.
    #[arg(long)]
    fresh: bool,
    /// Accept Data without verifying its signature or digest. Without this and without `--verify-key`, only Data with a
    /// digest is accepted.
    #[arg(long, conflicts_with_all = ["verify_key", "trust_anchor"])]
    no_verify: bool,
    /// Accept only Data signed with this public key (PEM file): P-256, Ed25519 or RSA.
    #[arg(long, value_name = "FILE", conflicts_with = "trust_anchor")]
    verify_key: Option<PathBuf>,
    /// Accept only Data of a signer whose certificate leads to this one (base64, as `tidegate key export` and `ndnsec` write
    /// it); each identity may sign names under its own. May be given several times.
    #[arg(long, value_name = "FILE")]
    trust_anchor: Vec<PathBuf>,
    /// Accept only Data whose signer, and each certificate that leads from it to a trust anchor, is permitted by a rule of this
    /// trust schema (TOML).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trust_anchor", "verify_key", "no_verify"])]
    trust_schema: Option<PathBuf>,
    /// Write a page with window, goodput and RTT over time.
    #[arg(long, value_name = "PAGE.html")]
    report: Option<PathBuf>,
    /// URI of the forwarder, instead of `NDN_CLIENT_TRANSPORT` and `client.conf`.
    #[arg(long, value_name = "URI")]
    transport: Option<String>,
    /// Number the frames over UDP and send lost ones again up to three times (NDNLPv2 reliability); the forwarder has to
    /// acknowledge them. Numbered frames of the forwarder are acknowledged without this, too.
    #[arg(long)]
    reliability: bool,
    #[command(flatten)]
    pub(crate) log: LogArguments,
    /// What differs in `tidegate get`.
    #[arg(skip)]
    ndnget: Option<Ndnget>,
}

/// What differs in `tidegate get`, besides names and defaults of options.
#[derive(Clone, Debug)]
struct Ndnget {
    /// Whether the closing lines have marks, timeouts and round-trip times.
    is_adaptive: bool,
    /// Minimum of the retransmission timeout.
    min_rto: Option<Span>,
    /// File for the congestion window over time.
    log_cwnd: Option<PathBuf>,
}

impl Arguments {
    /// The command that fetches the same version in the same way.
    fn command_line(&self, versioned: &str) -> String {
        let mut line = format!("tidegate fetch {}", word(versioned));
        let mut add = |option: &str, value: &str| line.push_str(&format!(" {option} {}", word(value)));
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        path(&self.output).iter().for_each(|file| add("--out", file));
        self.scheme.iter().for_each(|scheme| add("--scheme", scheme));
        self.set.iter().for_each(|(key, value)| add("--set", &format!("{key}={value}")));
        self.profile.iter().chain(&self.shell).for_each(|profile| add("--profile", profile));
        self.lifetime.iter().for_each(|lifetime| add("--lifetime", &lifetime.to_string()));
        if self.retries != RETRIES {
            add("--retries", &self.retries.to_string());
        }
        if self.receive_window != RECEIVE_WINDOW {
            add("--receive-window", &self.receive_window.to_string());
        }
        if self.reconnect != RECONNECT {
            add("--reconnect", &self.reconnect.to_string());
        }
        if self.wait > Span::ZERO {
            add("--wait", &self.wait.to_string());
        }
        path(&self.verify_key).iter().for_each(|file| add("--verify-key", file));
        path(&self.trust_schema).iter().for_each(|file| add("--trust-schema", file));
        self.trust_anchor.iter().for_each(|file| add("--trust-anchor", &file.display().to_string()));
        path(&self.report).iter().for_each(|file| add("--report", file));
        self.transport.iter().for_each(|uri| add("--transport", uri));
        for (is_set, option) in [
            (self.no_version_discovery, " --no-version-discovery"),
            (self.fresh, " --fresh"),
            (self.no_verify, " --no-verify"),
            (self.reliability, " --reliability"),
        ] {
            line.push_str(if is_set { option } else { "" });
        }
        line
    }
}

/// Parses a lifetime. Interests carry it in whole milliseconds, and one of 0 ms expires before any Data
/// arrives.
fn lifetime(text: &str) -> Result<Span, String> {
    let span: Span = text.parse()?;
    if span >= Span::from_millis(1) { Ok(span) } else { Err(format!("{text:?} is less than 1ms")) }
}

/// Parses a receive window of at least 10 kB, which has room for a Data of the maximum size, 8800 bytes.
fn receive_window(text: &str) -> Result<ByteCount, String> {
    let (min, max) = (ByteCount::new(10_000), ByteCount::new(4_000_000_000));
    let window: ByteCount = text.parse()?;
    if (min..=max).contains(&window) {
        Ok(window)
    } else {
        Err(format!("{text:?} is not within {min} to {max}"))
    }
}

/// Runs the command `tidegate fetch`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let _log = arguments.log.begin(session)?;
    let name = name_uri::parse(&arguments.name).map_err(Failure::usage)?;
    // Mistakes on the command line are reported before the network is used.
    if let Some(page) = &arguments.report {
        check_place(page)?;
    }
    if let Some(Ndnget { log_cwnd: Some(file), .. }) = &arguments.ndnget {
        std::fs::write(file, "")
            .map_err(|why| Failure { exit: Exit::Partial, ..cannot("write", file, &why) })?;
    }
    let (Chosen { name: scheme, label, controller, .. }, profile) = scheme::make(session, arguments)?;
    let trust = trust(arguments)?;
    let policy = policy(arguments)?;
    let uplink = uplink(arguments.transport.as_deref())?;
    reliability::check(&uplink, arguments.reliability)?;
    let stop = StopSignal::new().map_err(|why| Failure::error(format!("signals: {why}")))?;
    let mut client = Client::connect(&uplink).map_err(Failure::error)?;
    reliability::set(session, &mut client, arguments.reliability);
    let stop = stop.as_fd().try_clone_to_owned().map_err(Failure::error)?;
    client.stop_on(stop).map_err(Failure::error)?;
    let is_version = arguments.no_version_discovery || has_version(&name);
    let signer = match &policy {
        None => None,
        Some(policy) => {
            let signer = signer_of(&mut client, (&name, is_version), policy, arguments.wait);
            Some(signer.map_err(|why| failure(&why, &arguments.name))?)
        }
    };
    let key = signer.as_ref().map(|signer| Verifier::Key(signer.public_key().clone()));
    let trust = key.map_or(trust, Trust::Key);
    let name = if is_version {
        name
    } else {
        discover(&mut client, &name, &trust, arguments).map_err(|why| failure(&why, &arguments.name))?
    };
    if let Some((policy, signer)) = policy.as_ref().zip(signer.as_ref()) {
        check_version_signer(policy, &name, signer).map_err(|why| failure(&why, &arguments.name))?;
    }
    let signer = signer.map(|signer| name_uri::show(signer.key_name()));
    let shown = name_uri::show(&name);
    // After discovery: a part is only resumed if it is of this version.
    let mut output = Output::open(arguments.output.as_deref(), &shown, &trust)?;
    if let Some(note) = output.note() {
        session.note(note);
    }
    let settings = FetchSettings {
        name,
        first_segment: output.first_segment(),
        content_id: output.content_id(),
        scheme,
        controller,
        profile,
        trust,
        must_be_fresh: arguments.fresh,
        receive_window: arguments.receive_window,
        reconnect: arguments.reconnect,
        wait: arguments.wait,
    };
    let mut line = TransferLine::new(session);
    let mut silence = Silence::default();
    let fetched = fetch(&mut client, settings, &mut output, &mut |progress| {
        if !progress.is_connected {
            line.clear();
            warn_lost(arguments.reconnect);
        }
        if silence.begins(progress) {
            line.clear();
            tracing::warn!("{}", silent(&shown, progress.bad));
        }
        line.show(progress);
    });
    line.clear();
    let fetched = fetched.map_err(|why| failure(&why, &shown))?;
    conclude(session, arguments, (&label, signer.as_deref()), fetched, output)
}

/// The name of the newest version; a forwarder that ends the connection meanwhile is connected to again, as during the fetch.
fn discover(
    client: &mut Client,
    name: &[u8],
    trust: &Trust,
    arguments: &Arguments,
) -> Result<Vec<u8>, FetchError> {
    loop {
        match newest_version(client, name, trust, arguments.wait) {
            Err(FetchError::Client(ClientError::Lost(_))) if arguments.reconnect > Span::ZERO => {
                warn_lost(arguments.reconnect);
                client.reconnect(Some(arguments.reconnect))?;
            }
            outcome => return outcome,
        }
    }
}

fn warn_lost(patience: Span) {
    tracing::warn!("the connection to the forwarder is lost; connecting again for up to {patience}");
}

/// Fails where no page can be written, before anything is fetched.
fn check_place(page: &Path) -> Result<(), Failure> {
    let folder = page.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(Failure::error(format!("--report {}: {} is not a folder", page.display(), folder.display())))
        }
        _ => Ok(()),
    }
}

/// Time without Data after which a warning is printed.
const SILENCE: Span = Span::from_secs(4);

/// Message about a fetch without progress; `bad`: number of Data with a wrong signature.
fn silent(name: &str, bad: u64) -> String {
    let (what, why) = match bad {
        0 => ("Data", "its producer may be unreachable".to_owned()),
        bad => {
            ("Data with a valid signature", format!("{bad} received Data packets have invalid signatures"))
        }
    };
    format!(
        "no {what} for {} s from {name}; {why}. The fetch continues; if it is interrupted, the same command resumes it",
        SILENCE.as_secs_f64()
    )
}

/// Detects that no Data has arrived for [`SILENCE`], once for each such interval.
#[derive(Default)]
struct Silence {
    was_silent: bool,
}

impl Silence {
    fn begins(&mut self, progress: &FetchProgress) -> bool {
        let is_silent = progress.silence >= SILENCE;
        let is_new = is_silent && !self.was_silent;
        self.was_silent = is_silent;
        is_new
    }
}

/// Moves the content to its place, then reports.
fn conclude(
    session: &Session,
    arguments: &Arguments,
    (label, signer): (&Label, Option<&str>),
    fetched: Fetched,
    output: Output,
) -> Outcome {
    if let Err(FetchError::Output(why)) = &fetched.end
        && why.kind() == std::io::ErrorKind::BrokenPipe
    {
        // The reader of the content closed the pipe, as `head` does.
        return Ok(Exit::PipeClosed);
    }
    // Taken before `finish`, which consumes the output.
    let (resumed, is_taken) = (output.resumed_bytes(), output.is_standard());
    let progress =
        Progress { segments: fetched.segments, bytes: fetched.bytes, content_id: fetched.content_id };
    let kept = output.finish(fetched.end.is_ok(), progress)?;
    if let Some(page) = &arguments.report {
        write_page(page, &fetched, label, &arguments.command_line(&fetched.record.flows[0].prefix))?;
    }
    let page = arguments.report.as_deref();
    let ndnget = arguments.ndnget.as_ref();
    let summary = Summary { fetched: &fetched, scheme: label, signer, resumed_bytes: resumed, page, ndnget };
    if ndnget.is_none() {
        summary.show(session.format, is_taken);
    } else if fetched.end.is_ok() && !session.quiet {
        summary.show(session.format, true);
    }
    if let Some(Ndnget { log_cwnd: Some(file), .. }) = ndnget {
        write_windows(file, &fetched)?;
    }
    match &fetched.end {
        Ok(()) => Ok(Exit::Ok),
        Err(why @ FetchError::NotThere { .. }) if ndnget.is_some() => {
            Err(Failure { exit: Exit::Unexpected, ..failure(why, &fetched.record.flows[0].prefix) })
        }
        Err(why) => {
            let mut failure = failure(why, &fetched.record.flows[0].prefix);
            if let Some(part) = kept {
                let bytes = resumed + fetched.bytes;
                failure.message.push_str(&format!("; the first {bytes} bytes are in {}", part.display()));
            }
            Err(failure)
        }
    }
}

/// Writes the congestion window over time as `ndnget` does, but sampled.
fn write_windows(file: &Path, fetched: &Fetched) -> Result<(), Failure> {
    let samples = &fetched.record.flow_samples;
    let start = fetched.record.flows[0].start;
    let line = |(at, window): (&Time, &f32)| format!("{}\t{window}\n", at.since(start).as_secs_f64());
    let lines: String = samples.time.iter().zip(&samples.window_packets).map(line).collect();
    std::fs::write(file, format!("time\tcwndsize\n{lines}")).map_err(|why| cannot("write", file, &why))
}

/// The failure of a fetch of `name`; that of a fetch that was interrupted has its own exit code.
pub(super) fn failure(why: &FetchError, name: &str) -> Failure {
    match why {
        FetchError::Client(ClientError::Stopped) => {
            Failure { exit: Exit::Interrupted, message: format!("{name}: interrupted") }
        }
        why => Failure::error(format!("{name}: {why}")),
    }
}

/// Whether the name, as concatenated components, ends with a version.
pub(super) fn has_version(name: &[u8]) -> bool {
    last_kind(name) == Some(types::VERSION_NAME_COMPONENT)
}

/// Type of the last component of a name, as concatenated components; `None` if it has none.
pub(super) fn last_kind(name: &[u8]) -> Option<u32> {
    let mut reader = TlvReader::new(name);
    let mut last = None;
    while let Ok(Some(component)) = reader.next() {
        last = Some(component.kind);
    }
    last
}

fn trust(arguments: &Arguments) -> Result<Trust, Failure> {
    let Some(file) = &arguments.verify_key else {
        return Ok(if arguments.no_verify { Trust::Anything } else { Trust::Digest });
    };
    let pem = std::fs::read_to_string(file).map_err(|why| cannot("read", file, &why))?;
    let verifier = Verifier::from_pem(&pem);
    let verifier = verifier.map_err(|why| Failure::error(format!("{}: {why}", file.display())))?;
    Ok(Trust::Key(verifier))
}

/// Who may sign what; `None` if no signers are certified.
fn policy(arguments: &Arguments) -> Result<Option<TrustPolicy>, Failure> {
    if let Some(file) = &arguments.trust_schema {
        return TrustPolicy::read_schema(file).map(Some).map_err(Failure::error);
    }
    let anchors = arguments.trust_anchor.iter().map(|file| read_certificate(file).map_err(Failure::error));
    let anchors: Vec<_> = anchors.collect::<Result<_, _>>()?;
    Ok((!anchors.is_empty()).then(|| TrustPolicy::hierarchical(anchors)))
}

/// Writes a page as for a simulated run, with one flow and without links.
fn write_page(path: &Path, fetched: &Fetched, label: &Label, command: &str) -> Result<(), Failure> {
    let flow = &fetched.record.flows[0];
    let nodes = vec![flow.consumer.clone(), flow.producer.clone()];
    let context = RunContext { semantics: SEMANTICS, nodes, ..RunContext::default() };
    let page = run_page(&RunPage {
        title: &format!("{} with {}", flow.prefix, label.short()),
        runs: std::slice::from_ref(&fetched.record),
        topology: None,
        summary: None,
        timeline: &Timeline::default(),
        seeds: None,
        command,
        context: &context,
        is_live: true,
    });
    std::fs::write(path, page).map_err(|why| cannot("write", path, &why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_among_data_with_wrong_signatures_is_not_blamed_on_a_missing_producer() {
        let gone = silent("/a", 0);
        assert!(gone.starts_with("no Data for 4 s from /a; its producer may be unreachable."), "{gone}");
        let wrong = silent("/a", 3);
        assert!(wrong.contains("3 received Data packets have invalid signatures"), "{wrong}");
        assert!(!wrong.contains("producer"), "{wrong}");
    }

    #[test]
    fn a_page_in_a_folder_that_is_not_there_is_refused() {
        assert!(check_place(Path::new("page.html")).is_ok());
        let why = check_place(Path::new("/no-such-folder/page.html")).expect_err("refused").message;
        assert_eq!(why, "error: --report /no-such-folder/page.html: /no-such-folder is not a folder");
    }
}
