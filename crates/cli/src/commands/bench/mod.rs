//! `tidegate bench`: packet-hops per CPU second in named cases, each in a process of its own.
//!
//! A packet-hop is one packet taken off one link. The CPU time is that of the whole process: reading the
//! scenario, the run, and writing the tables. The case `bare` has no nodes: calendar, queues and lines alone, as
//! a measure of the machine. Counters of the processor count the run alone, in the thread that simulates.

mod counters;
#[cfg(target_os = "linux")]
mod fetch;
#[cfg(target_os = "linux")]
mod live;
mod table;

use std::process::Command;

use serde_json::Value;
use tidegate_core::units::{Span, Time};
use tidegate_sim::scenario;
use tidegate_sim::world::World;

use self::counters::{Counters, EVENTS};
use self::table::{Row, as_json, median_rate, table};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::results::Folder;
use crate::{Format, Session};

/// A case of the benchmark, with the name in its table.
struct BenchCase {
    name: &'static str,
    scenario: &'static str,
}

/// The case without nodes, with which the others are compared.
const BARE: BenchCase = BenchCase { name: "bare", scenario: "" };
/// Packet-hops of that case without `--duration`.
const BARE_HOPS: u64 = 20_000_000;
/// Packet-hops of that case for each second of `--duration`.
const BARE_HOPS_PER_SECOND: f64 = 2e6;

const CASES: [BenchCase; 7] = [
    BenchCase { name: "papers", scenario: include_str!("../../../benches/papers.toml") },
    BenchCase { name: "papers-cache", scenario: include_str!("../../../benches/papers-cache.toml") },
    BenchCase { name: "gigabit", scenario: include_str!("../../../benches/gigabit.toml") },
    BenchCase { name: "ten-gigabit", scenario: include_str!("../../../benches/ten-gigabit.toml") },
    BenchCase { name: "grid", scenario: include_str!("../../../benches/grid.toml") },
    BenchCase { name: "wide", scenario: include_str!("../../../benches/wide.toml") },
    BenchCase { name: "tcp", scenario: include_str!("../../../benches/tcp.toml") },
];

/// Cases with tables of their own, each of which is measured without others.
const ALONE: &[&str] = if cfg!(target_os = "linux") { &["live", "fetch"] } else { &[] };

/// Arguments of the command `tidegate bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Cases to run: `papers`, `papers-cache`, `gigabit`, `ten-gigabit`, `grid`, `wide` and `tcp`, which are the
    /// default. `bare`, hops without nodes, is always measured first. Alone: `live` measures the forwarder on real
    /// sockets, `fetch` the goodput of schemes over local sockets and emulated links (more than an hour).
    cases: Vec<String>,
    /// Runs of each case, of which the median is reported.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Case `fetch`: file for the measurements, from which the same command continues.
    #[arg(long, value_name = "FILE", default_value = "bench-fetch.tsv")]
    results: std::path::PathBuf,
    /// Case `fetch`: schemes to measure; `default` is the scheme of `tidegate fetch` without --scheme. Without this
    /// option, it and five others.
    #[arg(long, value_name = "SCHEMES", value_delimiter = ',')]
    schemes: Vec<String>,
    /// Case `fetch`: measure only cells whose names contain this text, such as `20 ms, 1 BDP`.
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
    /// Case `fetch`: duration of each fetch.
    #[arg(long, value_name = "TIME", default_value = "8s")]
    time: Span,
    /// Case `fetch`: also use measurements of other builds of the program; the table lists the builds.
    #[arg(long)]
    any_build: bool,
    /// Case `fetch`: print the table of existing measurements without measuring.
    #[arg(long)]
    table_only: bool,
    /// Measure one case in this process (how the command calls itself).
    #[arg(long, hide = true)]
    inside: bool,
    /// Simulate so long in place of the case's own time, such as `100ms`: to try the command, not to compare.
    #[arg(long, hide = true, value_name = "TIME")]
    duration: Option<Span>,
}

/// Runs the command `tidegate bench`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let names = distinct(&arguments.cases);
    #[cfg(target_os = "linux")]
    match names.as_slice() {
        ["live"] => return live::run(session, arguments.runs),
        ["fetch"] => return fetch::run(session, arguments),
        _ => {}
    }
    let cases = chosen(&names)?;
    if arguments.inside {
        print(&measure_inside(session, &cases, arguments.duration)?.line());
        return Ok(Exit::Ok);
    }
    if let Some(reasons) = counters::refusals(counters::open) {
        session.note(&reasons);
    }
    let measured = |case| measure_runs(case, arguments.runs, arguments.duration).map(|runs| (case, runs));
    let rows = cases.into_iter().map(measured).collect::<Result<Vec<Row>, _>>()?;
    let bare = median_rate(&rows[0].1);
    print(&match session.format {
        Format::Json => rows.iter().map(|row| as_json(row, bare)).collect::<Value>().to_string() + "\n",
        Format::Text => table(&rows, bare, session.screen),
    });
    Ok(Exit::Ok)
}

/// Names of all cases.
pub(crate) fn case_names() -> Vec<&'static str> {
    [&BARE].into_iter().chain(&CASES).map(|case| case.name).chain(ALONE.iter().copied()).collect()
}

/// The names in their order, each once.
fn distinct(names: &[String]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    found
}

/// The cases to measure: [`BARE`], then those with these names, all without names.
fn chosen(names: &[&str]) -> Result<Vec<&'static BenchCase>, Failure> {
    let find = |name: &&str| {
        CASES.iter().find(|case| case.name == *name).ok_or_else(|| Failure::usage(not_chosen(name)))
    };
    let named = match names {
        [] => CASES.iter().collect(),
        names => names.iter().filter(|name| **name != BARE.name).map(find).collect::<Result<Vec<_>, _>>()?,
    };
    Ok([&BARE].into_iter().chain(named).collect())
}

/// Message about a case that cannot be measured with others.
fn not_chosen(name: &str) -> String {
    if ALONE.contains(&name) {
        return format!("case {name:?} cannot be combined with others; {} stand alone", ALONE.join(" and "));
    }
    format!("case {name:?} is not known; known: {}", case_names().join(", "))
}

/// Measurements of one run of one case; written as a line of numbers between the two processes.
#[derive(Clone, Copy, Debug, Default)]
struct CaseMeasurement {
    cpu_s: f64,
    start_s: f64,
    hops: f64,
    peak_rss_bytes: f64,
    delivered: f64,
    dropped: f64,
    marked: f64,
    samples: f64,
    pending: f64,
    pit_bytes: f64,
    /// Counts of [`EVENTS`] during the run; NaN where the kernel allows no counter.
    counts: [f64; EVENTS.len()],
}

impl CaseMeasurement {
    /// Not finite where no CPU time was measured, or none passed; tables and medians leave that out.
    fn hops_per_cpu_s(&self) -> f64 {
        self.hops / self.cpu_s
    }

    /// Number of events of each kind per hop, NaN where it was not counted.
    fn counts_per_hop(&self) -> [f64; EVENTS.len()] {
        self.counts.map(|count| count / self.hops)
    }

    fn bytes_per_pending(&self) -> f64 {
        self.pit_bytes / self.pending
    }

    /// Every field in the order of a line.
    fn fields(&mut self) -> [&mut f64; 10 + EVENTS.len()] {
        let Self {
            cpu_s,
            start_s,
            hops,
            peak_rss_bytes,
            delivered,
            dropped,
            marked,
            samples,
            pending,
            pit_bytes,
            counts: [a, b, c, d],
        } = self;
        [
            cpu_s,
            start_s,
            hops,
            peak_rss_bytes,
            delivered,
            dropped,
            marked,
            samples,
            pending,
            pit_bytes,
            a,
            b,
            c,
            d,
        ]
    }

    /// The line, in the form that [`read`](Self::read) accepts.
    fn line(mut self) -> String {
        self.fields().map(|field| field.to_string()).join(" ") + "\n"
    }

    fn read(line: &str) -> Option<Self> {
        let (mut read, mut words) = (Self::default(), line.split_whitespace());
        for field in read.fields() {
            *field = words.next()?.parse().ok()?;
        }
        words.next().is_none().then_some(read)
    }
}

/// Measures in this process: the one case beside [`BARE`], or that case.
fn measure_inside(
    session: &Session,
    cases: &[&BenchCase],
    duration: Option<Span>,
) -> Result<CaseMeasurement, Failure> {
    match cases {
        [_] => Ok(measure_bare(duration)),
        [_, case] => measure(session, case, duration),
        _ => Err(Failure::usage("--inside takes one case")),
    }
}

/// Measures each run in a process of its own: peak memory and CPU time of a process include the cases before.
fn measure_runs(
    case: &BenchCase,
    runs: u32,
    duration: Option<Span>,
) -> Result<Vec<CaseMeasurement>, Failure> {
    (0..runs).map(|_| measure_outside(case, duration)).collect()
}

fn measure_outside(case: &BenchCase, duration: Option<Span>) -> Result<CaseMeasurement, Failure> {
    let program = std::env::current_exe().map_err(|why| Failure::error(format!("own program: {why}")))?;
    let output = Command::new(program)
        .args(["bench", "--inside", case.name])
        .args(duration.map(|duration| format!("--duration={duration}")))
        .output()
        .map_err(|why| Failure::error(format!("case {}: {why}", case.name)))?;
    let line = String::from_utf8_lossy(&output.stdout);
    CaseMeasurement::read(&line).ok_or_else(|| {
        Failure::error(format!("case {}: {}", case.name, String::from_utf8_lossy(&output.stderr).trim()))
    })
}

/// Parts of a run, after each of which the PIT is measured: its maximum counts, not its size at the end.
const LOOKS: u64 = 20;

/// Measures the case without nodes.
fn measure_bare(duration: Option<Span>) -> CaseMeasurement {
    let hops = duration.map_or(BARE_HOPS, |time| (BARE_HOPS_PER_SECOND * time.as_secs_f64()) as u64);
    let start_s = cpu_seconds();
    let mut counters = Counters::open(counters::open);
    counters.during(|| tidegate_sim::bare::run(hops));
    CaseMeasurement {
        cpu_s: cpu_seconds(),
        start_s,
        hops: hops as f64,
        peak_rss_bytes: peak_rss_bytes(),
        counts: counters.counts_or_nan(),
        ..CaseMeasurement::default()
    }
}

fn measure(session: &Session, case: &BenchCase, duration: Option<Span>) -> Result<CaseMeasurement, Failure> {
    let set: Vec<_> =
        duration.map(|time| ("scenario.duration".to_owned(), time.to_string())).into_iter().collect();
    let plan = scenario::parse(case.name, case.scenario, &set, &session.schemes).map_err(Failure::error)?;
    let seed = plan.seeds[0];
    let mut world = World::new(&plan, seed);
    let start_s = cpu_seconds();
    let mut counters = Counters::open(counters::open);
    let looks = (1..=LOOKS).map(|look| {
        counters.during(|| world.step_until(Time::ZERO + plan.duration * look / LOOKS));
        world.pending_interests().into_iter().max().unwrap_or_default()
    });
    // Tuples compare by the number of pending Interests first.
    let max = looks.max().unwrap_or_default();
    let run = world.into_record(&plan, seed);
    let folder = std::env::temp_dir().join(format!("tidegate-bench-{}", std::process::id()));
    Folder::open(&folder, &plan)?.keep(0, &run)?;
    // The tables are written for their cost alone, so it is no error if their folder remains.
    let _ = std::fs::remove_dir_all(&folder);
    let sum = |of: fn(&tidegate_core::observe::records::LinkRecord) -> u64| {
        run.links.iter().map(of).sum::<u64>() as f64
    };
    Ok(CaseMeasurement {
        cpu_s: cpu_seconds(),
        hops: run.packet_hops as f64,
        peak_rss_bytes: peak_rss_bytes(),
        delivered: sum(|link| link.delivered_packets),
        dropped: sum(|link| link.dropped_packets + link.lost_packets),
        marked: sum(|link| link.marked_packets),
        samples: (run.flow_samples.time.len() + run.link_samples.time.len()) as f64,
        start_s,
        pending: max.0 as f64,
        pit_bytes: max.1 as f64,
        counts: counters.counts_or_nan(),
    })
}

/// CPU time of this single-threaded process so far, s; NaN if the system does not provide it.
fn cpu_seconds() -> f64 {
    cpu_seconds_of("self")
}

/// CPU time of the process with this number or `self`, s; NaN if the system does not provide it.
fn cpu_seconds_of(process: &str) -> f64 {
    // In nanoseconds, where `/proc/PID/stat` counts ticks of 10 ms.
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    let nanos = text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok());
    nanos.map_or(f64::NAN, |nanos| nanos / 1e9)
}

/// Peak resident memory of this process, bytes; NaN if the system does not provide it.
fn peak_rss_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written_and_no_other_line() {
        let run = CaseMeasurement { hops: 2.0, counts: [4000.0, 9.0, f64::NAN, 2.0], ..Default::default() };
        let read = CaseMeasurement::read(&run.line()).expect("a line");
        assert_eq!(format!("{read:?}"), format!("{run:?}"));
        assert!(CaseMeasurement::read("1 2 3\n").is_none());
    }

    #[test]
    fn bare_is_first_and_each_case_is_measured_once() {
        let names = |words: &[&str]| -> Result<Vec<&str>, String> {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let cases = chosen(&distinct(&words)).map_err(|why| why.message)?;
            Ok(cases.into_iter().map(|case| case.name).collect())
        };
        assert_eq!(names(&["tcp", "bare", "papers", "tcp"]).expect("cases"), ["bare", "tcp", "papers"]);
        assert_eq!(names(&["bare", "bare"]).expect("cases"), ["bare"]);
        assert_eq!(names(&[]).expect("cases").len(), 1 + CASES.len());
        for (word, reason) in
            [("x", case_names().join(", ")), ("live", "live and fetch stand alone".to_owned())]
        {
            let refused = names(&["papers", word]).expect_err("not simulated");
            assert!(refused.contains(&reason) || (word == "live" && ALONE.is_empty()), "{refused}");
        }
    }

    #[test]
    fn the_help_lists_every_case() {
        let mut command = <Arguments as clap::Args>::augment_args(clap::Command::new("bench"));
        let help = command.render_long_help().to_string();
        for name in [&BARE].into_iter().chain(&CASES).map(|case| case.name).chain(["live", "fetch"]) {
            assert!(help.contains(&format!("`{name}`")), "{name} is not in\n{help}");
        }
    }
}
