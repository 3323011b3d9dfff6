//! `tidegate bench fetch`: goodput of schemes for fetches over paths of every kind, from which the default of
//! `fetch` is chosen.
//!
//! Each cell is a path and a size of segments. A forwarder and a server are processes of their own; the
//! emulated link, where there is one, and the fetch run in this process. Measurements are appended to a file
//! line by line, and the same command continues after an interruption.

mod cells;
mod record;
mod table;

use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tidegate_core::units::Span;
use tidegate_live::client::{Client, ClientError};
use tidegate_live::emulator::{Link, LinkReport, LinkSetup};
use tidegate_live::fetch::{
    FetchError, FetchSettings, Fetched, RECEIVE_WINDOW, RETRIES, Trust, fetch, live_profile, newest_version,
};
use tidegate_live::name_uri;

use super::Arguments;
use crate::commands::children::{Running, Scratch, Speaks, shown};
use crate::commands::fetch::scheme::{self, Chosen};
use crate::commands::status::uplink;
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt::Stop;
use crate::results::cannot;
use crate::{Session, code};
use cells::{BenchCell, BenchPath};
use record::{FetchMeasurement, FetchMeasurements, Origin};

/// Content of the file that is served, bytes: more than any path carries in a cell's time. It takes no room on disk.
const FILE_LEN: u64 = 16 << 30;

const PREFIX: &str = "/bench/fetch";

/// Schemes that are measured unless some are named; the first is the default of `fetch`.
const SCHEMES: [&str; 6] = ["default", "catchunks-cubic", "catchunks-aimd", "icp", "bbr", "bbr-cd"];

/// Minimum duration of a measured fetch.
const MIN_TIME: Span = Span::from_millis(100);

/// Interval between two checks for an interruption.
const LOOK: Duration = Duration::from_millis(50);

/// Maximum number of measurements of a cell while its link is late, with the first one.
const TRIES: u32 = 3;

/// Runs the comparison of the default of `fetch` with other schemes.
pub(super) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    if arguments.time < MIN_TIME {
        return Err(Failure::usage(format!("--time {} is too short; at least {MIN_TIME}", arguments.time)));
    }
    if arguments.table_only && !arguments.results.exists() {
        return Err(Failure::error(format!("{}: there is no such file", arguments.results.display())));
    }
    let build = code::executable()[..8].to_owned();
    let origin = Origin { build, time_s: arguments.time.as_secs_f64() };
    let mut results = FetchMeasurements::read(&arguments.results, origin, arguments.any_build)?;
    if results.left_out > 0 {
        session.note(&format!(
            "{}: {} measurements of other builds or of another --time are not used; --any-build uses those of other builds",
            arguments.results.display(),
            results.left_out
        ));
    }
    let named: Vec<&str> = match arguments.schemes.as_slice() {
        [] => SCHEMES.to_vec(),
        named => named.iter().map(String::as_str).collect(),
    };
    let only = arguments.only.as_deref().unwrap_or_default();
    let cells: Vec<BenchCell> = cells::all().into_iter().filter(|cell| cell.name().contains(only)).collect();
    if cells.is_empty() {
        return Err(Failure::usage(format!("no cell's name contains {only:?}, as in \"100 Mbit/s\"")));
    }
    // A mistyped scheme fails here and not after the minutes that the schemes before it take.
    for scheme in &named {
        scheme::make_named(session, not_default(scheme))?;
    }
    let stop = Stop::listen()?;
    for cell in cells.iter().filter(|_| !arguments.table_only) {
        for scheme in &named {
            if results.has(&cell.name(), scheme) {
                continue;
            }
            let measured = Measurement { session, cell, scheme, time: arguments.time, stop: &stop }.best();
            // Checked before the result: a fetch that was cut short is an error or a false measurement.
            if stop.is_requested() {
                return Err(interrupted());
            }
            let measured = measured?;
            session.note(&format!("{}, {scheme}: {measured}", cell.name()));
            results.add(&cell.name(), scheme, measured)?;
        }
    }
    if cells.iter().all(|cell| named.iter().all(|scheme| !results.has(&cell.name(), scheme))) {
        let path = arguments.results.display();
        return Err(Failure::error(format!("{path} has no measurement of these cells by this build")));
    }
    session.print(|| table::markdown(&cells, &results), || table::json(&cells, &results));
    Ok(Exit::Ok)
}

/// One fetch to measure.
struct Measurement<'a> {
    session: &'a Session,
    cell: &'a BenchCell,
    scheme: &'a str,
    /// Duration of the fetch.
    time: Span,
    stop: &'a Stop,
}

impl Measurement<'_> {
    /// Measures, repeatedly while the link is late; the measurement with the minimum lateness.
    fn best(&self) -> Result<FetchMeasurement, Failure> {
        let mut best = self.once()?;
        for _ in 1..TRIES {
            if best.late_ms <= self.cell.max_late_ms() {
                break;
            }
            let again = self.once()?;
            if again.late_ms < best.late_ms {
                best = again;
            }
        }
        Ok(best)
    }

    fn once(&self) -> Result<FetchMeasurement, Failure> {
        let network = FetchTestbed::start(self.cell)?;
        let link = match self.cell.link(network.listening) {
            // The link outlives the fetch by the time that connecting and the search for the version take.
            Some(setup) => Some(carry(setup, self.time + Span::from_secs(2))?),
            None => None,
        };
        let to =
            link.as_ref().map_or_else(|| network.uri.clone(), |(address, _)| format!("udp4://{address}"));
        let chosen = scheme::make_named(self.session, not_default(self.scheme))?;
        let fetched = fetch_for(&to, chosen, self.time, self.stop)?;
        if self.stop.is_requested() {
            return Err(interrupted());
        }
        let report = match link {
            Some((_, thread)) => Some(thread.join().map_err(|_| Failure::error("the link ended early"))??),
            None => None,
        };
        Ok(FetchMeasurement::of(&fetched, report.as_ref()))
    }
}

/// The scheme of this name; `None` for the default of `fetch`.
fn not_default(scheme: &str) -> Option<&str> {
    (scheme != SCHEMES[0]).then_some(scheme)
}

fn interrupted() -> Failure {
    let message = "interrupted; the same command continues with the measurement in progress";
    Failure { exit: Exit::Interrupted, message: message.to_owned() }
}

type LinkThread = JoinHandle<Result<LinkReport, Failure>>;

/// Runs a link in a thread for `time`; returns the address at which it listens.
fn carry(setup: LinkSetup, time: Span) -> Result<(SocketAddr, LinkThread), Failure> {
    let (bound, is_bound) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let fault = |why: std::io::Error| Failure::error(format!("link: {why}"));
        let mut link = Link::bind(&setup).map_err(fault)?;
        // The receiver waits below until the address or the end of this thread arrives.
        let _ = bound.send(link.local());
        link.run(None, Some(time), None, |_| {}).map_err(fault)?;
        Ok(link.report())
    });
    match is_bound.recv() {
        Ok(address) => Ok((address, thread)),
        Err(_) => match thread.join() {
            Ok(Err(why)) => Err(why),
            _ => Err(Failure::error("the link ended early")),
        },
    }
}

/// Fetches for at most this time, or until interrupted.
fn fetch_for(to: &str, chosen: Chosen, time: Span, request: &Stop) -> Result<Fetched, Failure> {
    let mut client = Client::connect(&uplink(Some(to))?).map_err(Failure::error)?;
    let name = name_uri::parse(PREFIX).map_err(Failure::error)?;
    let name = newest_version(&mut client, &name, &Trust::Digest, Span::ZERO).map_err(Failure::error)?;
    let (stop, stopped) = UnixStream::pair().map_err(Failure::error)?;
    client.stop_on(OwnedFd::from(stopped)).map_err(Failure::error)?;
    let (request, end) = (request.clone(), Instant::now() + Duration::from_nanos(time.as_nanos()));
    // The fetch blocks in this thread. Dropping the other end of the pair wakes it, at the end and on Ctrl-C.
    let timer = std::thread::spawn(move || {
        while !request.is_requested() && Instant::now() < end {
            std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
        }
        drop(stop);
    });
    let settings = FetchSettings {
        must_be_fresh: false,
        name,
        first_segment: 0,
        content_id: None,
        scheme: chosen.name,
        controller: chosen.controller,
        profile: live_profile(chosen.kind, RETRIES, None),
        trust: Trust::Digest,
        receive_window: RECEIVE_WINDOW,
        reconnect: Span::ZERO,
        wait: Span::ZERO,
    };
    let fetched = fetch(&mut client, settings, &mut std::io::sink(), &mut |_| {}).map_err(Failure::error)?;
    let _ = timer.join();
    match &fetched.end {
        // The file has no end in this time, so the timer ends every fetch. A scheme that gave up has the
        // goodput that it reached.
        Ok(()) | Err(FetchError::Client(ClientError::Stopped) | FetchError::GaveUp { .. }) => Ok(fetched),
        Err(why) => Err(Failure::error(why)),
    }
}

/// The processes around a fetch, and where it connects.
struct FetchTestbed {
    _processes: [Running; 2],
    uri: String,
    /// Address of a forwarder that listens on UDP.
    listening: Option<SocketAddr>,
    _folder: Scratch,
}

impl FetchTestbed {
    fn start(cell: &BenchCell) -> Result<Self, Failure> {
        let folder = Scratch::new("bench-fetch")?;
        let unix = format!("unix://{}", folder.path("f").display());
        let (listen, stated) = match cell.path {
            // The server always connects over the Unix socket; only the path of the fetch varies.
            BenchPath::Unix => ("", "listening at unix://"),
            BenchPath::Tcp => ("tcp4://127.0.0.1:0", "listening at tcp4://"),
            BenchPath::Link { .. } => ("udp4://127.0.0.1:0", "listening at udp4://"),
        };
        let mut arguments = vec!["forward", "--listen", &unix];
        if !listen.is_empty() {
            arguments.extend(["--listen", listen]);
        }
        let forwarder = Running::start(&arguments, Speaks::OnError, stated)?;
        let uri = match cell.path {
            BenchPath::Unix => unix.clone(),
            BenchPath::Tcp => format!("tcp4://{}", forwarder.stated()),
            BenchPath::Link { .. } => String::new(),
        };
        let listening = forwarder.stated().parse().ok();
        let file = folder.path("file");
        let made =
            File::create(&file).and_then(|mut made| made.set_len(FILE_LEN).and_then(|()| made.flush()));
        made.map_err(|why| cannot("make", &file, &why))?;
        let size = cell.segment.to_string();
        let serve = ["serve", PREFIX, &shown(&file), "--segment-size", &size, "--transport", &unix];
        let serve = Running::start(&serve, Speaks::OnOutput, "serving ")?;
        Ok(Self { _processes: [serve, forwarder], uri, listening, _folder: folder })
    }
}
