//! Text traces: ndnSIM's and qlog.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::observe::event::EventMask;
use tidegate_core::units::Span;
use tidegate_pages::export::Trace;
use tidegate_pages::export::ndnsim::{AppDelayTrace, CacheTrace, DropTrace, RateTrace};
use tidegate_pages::export::qlog::{QlogTrace, Vantage};

use super::create;
use crate::exit::Failure;
use crate::replay::ReplaySource;
use crate::results::{cannot, file_name};

/// Files being written, each with its writer.
type Open = Vec<(PathBuf, Box<dyn Trace>)>;

/// Maximum number of periods of a run: the traces have lines for each face in every period.
const MAX_PERIODS: f64 = 1e5;

/// Parses a period, written as in scenarios.
pub(super) fn period(text: &str, duration: Span) -> Result<Span, Failure> {
    match text.parse::<Span>() {
        Ok(Span::ZERO) => Err(Failure::usage("--period: 0 is too short; 500ms and 1s are usual")),
        Ok(period) if period.as_secs_f64() * MAX_PERIODS < duration.as_secs_f64() => {
            let shortest = duration.as_secs_f64() / MAX_PERIODS;
            Err(Failure::usage(format!("--period: {text} is too short for this run; at least {shortest} s")))
        }
        Ok(period) => Ok(period),
        Err(why) => Err(Failure::usage(format!("--period: {why}"))),
    }
}

/// Writes ndnSIM's four traces.
pub(super) fn ndnsim(source: &ReplaySource, out: &Path, period: Span) -> Result<Vec<PathBuf>, Failure> {
    let mut open = Open::new();
    let mut add = |name: &str, make: &dyn Fn(_) -> io::Result<Box<dyn Trace>>| {
        let path = out.join(name);
        let trace = make(create(&path)?).map_err(|why| cannot("write", &path, &why))?;
        open.push((path, trace));
        Ok::<(), Failure>(())
    };
    add("rate-trace.txt", &|file| Ok(Box::new(RateTrace::new(file, period)?)))?;
    add("drop-trace.txt", &|file| Ok(Box::new(DropTrace::new(file, period)?)))?;
    add("app-delays-trace.txt", &|file| Ok(Box::new(AppDelayTrace::new(file)?)))?;
    add("cs-trace.txt", &|file| Ok(Box::new(CacheTrace::new(file, period)?)))?;
    let consumers_and_queues = EventMask::CONSUMERS.union(EventMask::QUEUES);
    let routers = EventMask::PACKETS.union(EventMask::CACHE).union(EventMask::PENDING);
    write(source, open, consumers_and_queues.union(routers))
}

/// Writes one qlog file per flow, and one for the network.
pub(super) fn qlog(source: &ReplaySource, out: &Path) -> Result<Vec<PathBuf>, Failure> {
    let network = source.network();
    let title = format!("{}, seed {}", source.plan.name, source.seed.0);
    let flows = (0..network.flows.len() as u32).map(Vantage::Consumer);
    let mut open = Open::new();
    for vantage in flows.chain([Vantage::Network]) {
        let name = match vantage {
            Vantage::Consumer(flow) => {
                format!("flow-{flow}-{}.sqlog", file_name(&network.flows[flow as usize].name))
            }
            Vantage::Network => "network.sqlog".to_owned(),
        };
        let path = out.join(name);
        let trace = QlogTrace::new(create(&path)?, &title, vantage, &network);
        let trace = trace.map_err(|why| cannot("write", &path, &why))?;
        open.push((path, Box::new(trace)));
    }
    write(source, open, EventMask::CONSUMERS.union(EventMask::QUEUES).union(EventMask::LOSSES))
}

/// Runs the simulation and passes its events to every trace.
fn write(source: &ReplaySource, mut open: Open, mask: EventMask) -> Result<Vec<PathBuf>, Failure> {
    let network = source.network();
    let mut fault = None;
    let watched = source.watch(mask, &mut |events| {
        for (path, trace) in &mut open {
            // The simulation runs to its end; only the first fault is reported.
            if let (None, Err(why)) = (&fault, trace.on_events(&network, events)) {
                fault = Some(cannot("write", path, &why));
            }
        }
    })?;
    if let Some(fault) = fault {
        return Err(fault);
    }
    for (path, trace) in &mut open {
        trace.finish(&network, watched.record.ended).map_err(|why| cannot("write", path, &why))?;
    }
    Ok(open.into_iter().map(|(path, _)| path).collect())
}
