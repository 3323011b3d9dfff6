//! `tidegate forward`: a forwarder on real sockets, until interrupted.

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};

use sd_notify::NotifyState;
use serde_json::json;
use tidegate_core::rng::Seed;
use tidegate_live::daemon::config::{ForwarderConfig, Listener};
use tidegate_live::daemon::status::StatusLine;
use tidegate_live::daemon::{Daemon, PeerAddresses, StartError, check_surroundings};
use tidegate_live::signals::StopSignal;
use tidegate_live::uri::FaceUri;
use tidegate_settings::error::Errors;

use crate::exit::{Exit, Failure, Outcome, print};
use crate::log::LogArguments;
use crate::{Format, Session, file_errors};

/// Arguments of the command `tidegate forward`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Configuration file (TOML); without one, all settings have their defaults. SIGHUP reads it again, unless standard
    /// input is a terminal.
    config: Option<PathBuf>,
    /// Listen at this address instead of those of the configuration: `unix:///path`, `udp4://host:port`,
    /// `tcp4://host:port`, `ws://host:port`; may be given several times.
    #[arg(long, value_name = "URI")]
    listen: Vec<String>,
    /// Check the configuration, and that the certificates, groups and network interfaces in it exist, and exit.
    #[arg(long)]
    check: bool,
    /// Seed of nonces and hash tables, instead of a random one; printed at the start.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// Runs the command `tidegate forward`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let _log = arguments.log.begin(session)?;
    let mut config = match read_config(session, arguments)? {
        Ok(config) => config,
        Err(errors) if arguments.check && session.format == Format::Json => {
            print(&(file_errors::json(&errors).to_string() + "\n"));
            return Ok(Exit::Error);
        }
        Err(errors) => return Err(Failure { exit: Exit::Error, message: errors.to_string() }),
    };
    config.renamed.iter().for_each(|line| session.note(line));
    replace_listeners(&mut config, &arguments.listen)?;
    if arguments.check {
        if let Err(faults) = check_surroundings(&config) {
            return refuse(session, arguments, &faults);
        }
        session.print(|| "the configuration is valid\n".to_owned(), || json!({ "valid": true }));
        return Ok(Exit::Ok);
    }
    let seed = arguments.seed.map_or_else(random_seed, Ok)?;
    // Before the sockets: a signal without a handler would leave the file of a Unix socket behind.
    let signals = if reloads(arguments) { StopSignal::with_reload() } else { StopSignal::new() };
    let mut stop = signals.map_err(|why| Failure::error(format!("signals: {why}")))?;
    let mut daemon = Daemon::start(config, Seed(seed)).map_err(Failure::error)?;
    session.begun(&format!("seed {seed}"));
    for at in daemon.listening() {
        session.begun(&format!("listening at {at}"));
    }
    if let Some(url) = daemon.metrics_url() {
        session.begun(&format!("metrics at {url}"));
    }
    notify_manager(NotifyState::Ready);
    let mut pending: Option<Pending> = None;
    loop {
        daemon.run(&stop).map_err(Failure::error)?;
        if stop.is_stop_requested() {
            break;
        }
        if stop.take_reload() {
            // An earlier one that still looks host names up counts no more.
            pending = match begin_reload(session, arguments, (&daemon, &stop)) {
                Ok(begun) => Some(begun),
                Err(failure) => {
                    end_reload(session, Err(failure));
                    None
                }
            };
        }
        if let Some(Ok(addresses)) = pending.as_ref().map(|pending| pending.addresses.try_recv())
            && let Some(Pending { config, .. }) = pending.take()
        {
            let outcome = addresses.and_then(|addresses| daemon.reload(config, &addresses));
            end_reload(session, outcome.map_err(Failure::error));
        }
    }
    notify_manager(NotifyState::Stopping);
    report(session, &daemon.status());
    Ok(Exit::Ok)
}

/// Reports what a configuration names and this machine does not have.
fn refuse(session: &Session, arguments: &Arguments, faults: &[StartError]) -> Outcome {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    match &arguments.config {
        Some(file) if session.format == Format::Json => {
            print(&(file_errors::unplaced_json(file, &faults).to_string() + "\n"));
            Ok(Exit::Error)
        }
        _ => Err(Failure::error(faults.join("\nerror: "))),
    }
}

/// Whether SIGHUP requests to read the configuration again. On a terminal it is the end of the session.
fn reloads(arguments: &Arguments) -> bool {
    arguments.config.is_some() && !std::io::stdin().is_terminal()
}

/// Refuses a pipe in place of the configuration, which would be waited for while nothing is forwarded.
fn check_regular(arguments: &Arguments) -> Result<(), Failure> {
    let Some(file) = &arguments.config else { return Ok(()) };
    let of_file = |why: &dyn std::fmt::Display| Failure::error(format!("{}: {why}", file.display()));
    match std::fs::metadata(file) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(of_file(&"it is not a regular file")),
        Err(why) => Err(of_file(&why)),
    }
}

/// A configuration whose new host names are being looked up, while the forwarder goes on.
struct Pending {
    config: ForwarderConfig,
    addresses: Receiver<Result<PeerAddresses, StartError>>,
}

/// Reads the configuration as it is now, and begins to look up its new host names in another thread, which wakes `stop` at its end.
fn begin_reload(
    session: &Session,
    arguments: &Arguments,
    (daemon, stop): (&Daemon, &StopSignal),
) -> Result<Pending, Failure> {
    notify_manager(NotifyState::Reloading);
    check_regular(arguments)?;
    let read = read_config(session, arguments)?;
    let mut config = read.map_err(|errors| Failure { exit: Exit::Error, message: errors.to_string() })?;
    replace_listeners(&mut config, &arguments.listen)?;
    let unknown = daemon.unknown_hosts(&config);
    let (sender, addresses) = mpsc::channel();
    // Nobody receives the addresses of a configuration that was replaced meanwhile.
    if unknown.is_empty() {
        let _ = sender.send(Ok(PeerAddresses::default()));
    } else {
        let mut waker = stop.waker().map_err(Failure::error)?;
        let look_up = move || {
            let _ = sender.send(PeerAddresses::look_up(unknown));
            let _ = waker.write(&[0]);
        };
        std::thread::Builder::new().spawn(look_up).map_err(Failure::error)?;
    }
    Ok(Pending { config, addresses })
}

/// Reports the outcome of a configuration that was read again.
fn end_reload(session: &Session, outcome: Result<Vec<String>, Failure>) {
    match outcome {
        Ok(notes) => {
            notes.iter().for_each(|note| tracing::warn!("{note}"));
            session.begun("the configuration was read again");
        }
        Err(Failure { message, .. }) => tracing::error!("{}", message.trim_start_matches("error: ")),
    }
    notify_manager(NotifyState::Ready);
}

/// Notifies systemd, if it has started this process as a service of the type `notify` (sd_notify(3)).
fn notify_manager(state: NotifyState<'_>) {
    if let Err(why) = sd_notify::notify(&[state]) {
        tracing::warn!("NOTIFY_SOCKET: {why}");
    }
}

/// The configuration; the inner result is about its content.
fn read_config(session: &Session, arguments: &Arguments) -> Result<Result<ForwarderConfig, Errors>, Failure> {
    let (name, bytes) = match &arguments.config {
        Some(file) => {
            let name = file.display().to_string();
            (name, super::read_text(file)?)
        }
        None => ("(defaults)".to_owned(), b"format = 1".to_vec()),
    };
    let folder = arguments.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let config = ForwarderConfig::parse(&name, &bytes, &session.schemes);
    Ok(config.map(|config| config.with_paths_from(folder)))
}

/// Puts the listeners of the command line in place of the configured ones.
fn replace_listeners(config: &mut ForwarderConfig, uris: &[String]) -> Result<(), Failure> {
    if uris.is_empty() {
        return Ok(());
    }
    (config.udp, config.tcp, config.unix) = (Vec::new(), Vec::new(), Vec::new());
    config.websocket = Vec::new();
    for uri in uris {
        // Unlike a default, an address on the command line has to be available.
        match FaceUri::resolve(uri).map_err(|why| Failure::usage(format!("--listen: {why}")))? {
            FaceUri::Udp(address) => config.udp.push(Listener { address, is_required: true }),
            FaceUri::Tcp(address) => config.tcp.push(Listener { address, is_required: true }),
            FaceUri::Unix(address) => config.unix.push(Listener { address, is_required: true }),
            FaceUri::WebSocket(address) => {
                config.websocket.push(Listener { address, is_required: true });
            }
            FaceUri::Fd(_) | FaceUri::WebSocketClient(_) | FaceUri::Ether(_) | FaceUri::Dev(_) => {
                return Err(Failure::usage(format!(
                    "--listen: {uri:?} is not an address that peers can connect to"
                )));
            }
        }
    }
    Ok(())
}

fn random_seed() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|why| Failure::error(format!("/dev/urandom: {why}")))?;
    Ok(u64::from_ne_bytes(bytes))
}

fn report(session: &Session, lines: &[StatusLine]) {
    if session.quiet {
        return;
    }
    match session.format {
        Format::Text => print(&super::status::text(lines, session.screen)),
        Format::Json => print(&(super::status::json(lines).to_string() + "\n")),
    }
}
