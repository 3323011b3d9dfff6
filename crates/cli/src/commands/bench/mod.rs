//! `tidegate bench`: packet-hops per CPU second in named cases, each in a process of its own.
//!
//! A packet-hop is one packet taken off one link. The CPU time is that of the whole process: reading the
//! scenario, the run, and writing the tables. The case `bare` has no nodes: calendar, queues and lines alone, as
//! a measure of the machine.

#[cfg(target_os = "linux")]
mod fetch;
#[cfg(target_os = "linux")]
mod live;

use std::process::Command;

use serde_json::{Value, json};
use tidegate_results::text::{Screen, TextTable};
use tidegate_sim::scenario;
use tidegate_sim::world::World;

use crate::exit::{Exit, Failure, Outcome, print};
use crate::results::Folder;
use crate::{Format, Session};

/// A case of the benchmark, with the name in its table.
struct BenchCase {
    name: &'static str,
    scenario: &'static str,
    /// Target for packet-hops per CPU second, millions; `None` where another figure has a target.
    aim: Option<f64>,
}

/// The case without nodes, with which the others are compared.
const BARE: BenchCase = BenchCase { name: "bare", scenario: "", aim: None };
/// Packet-hops of that case.
const BARE_HOPS: u64 = 20_000_000;

const CASES: [BenchCase; 7] = [
    BenchCase { name: "papers", scenario: include_str!("../../../benches/papers.toml"), aim: Some(10.0) },
    BenchCase {
        name: "papers-cache",
        scenario: include_str!("../../../benches/papers-cache.toml"),
        aim: None,
    },
    BenchCase { name: "gigabit", scenario: include_str!("../../../benches/gigabit.toml"), aim: Some(4.0) },
    BenchCase {
        name: "ten-gigabit",
        scenario: include_str!("../../../benches/ten-gigabit.toml"),
        aim: Some(3.5),
    },
    BenchCase { name: "grid", scenario: include_str!("../../../benches/grid.toml"), aim: Some(4.0) },
    BenchCase { name: "wide", scenario: include_str!("../../../benches/wide.toml"), aim: None },
    BenchCase { name: "tcp", scenario: include_str!("../../../benches/tcp.toml"), aim: Some(5.0) },
];

/// Arguments of the command `tidegate bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Cases to run; all cases of the simulator by default. `live` measures the forwarder on real sockets, `fetch` the
    /// goodput of schemes over local sockets and emulated links (more than an hour).
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
    time: tidegate_core::units::Span,
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
    duration: Option<String>,
}

/// Runs the command `tidegate bench`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    #[cfg(target_os = "linux")]
    if arguments.cases == ["live"] {
        return live::run(session, arguments.runs);
    }
    #[cfg(target_os = "linux")]
    if arguments.cases == ["fetch"] {
        return fetch::run(session, arguments);
    }
    if arguments.inside && arguments.cases == [BARE.name] {
        print(&measure_bare(arguments.duration.is_some()).line());
        return Ok(Exit::Ok);
    }
    let mut cases = chosen(&arguments.cases)?;
    if arguments.inside {
        let [case] = cases.as_slice() else {
            return Err(Failure::usage("--inside takes one case"));
        };
        print(&measure(session, case, arguments.duration.as_deref())?.line());
        return Ok(Exit::Ok);
    }
    cases.insert(0, &BARE);
    let mut rows = Vec::new();
    for case in cases {
        let mut runs = Vec::new();
        for _ in 0..arguments.runs {
            // A process of its own: peak memory and CPU time of a process include the cases before.
            runs.push(measure_outside(case, arguments.duration.as_deref())?);
        }
        runs.sort_by(|a, b| a.hops_per_cpu_s().total_cmp(&b.hops_per_cpu_s()));
        rows.push((case, runs));
    }
    let bare = median(&rows[0].1);
    print(&match session.format {
        Format::Json => {
            rows.iter().map(|(case, runs)| as_json(case, runs, bare)).collect::<Value>().to_string() + "\n"
        }
        Format::Text => table(&rows, bare, session.screen),
    });
    Ok(Exit::Ok)
}

/// Names of all cases.
pub(crate) fn case_names() -> Vec<&'static str> {
    let on_linux: &[&str] = if cfg!(target_os = "linux") { &["live", "fetch"] } else { &[] };
    [&BARE].into_iter().chain(&CASES).map(|case| case.name).chain(on_linux.iter().copied()).collect()
}

fn chosen(names: &[String]) -> Result<Vec<&'static BenchCase>, Failure> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let find = |name: &String| {
        CASES.iter().find(|case| case.name == name).ok_or_else(|| {
            let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
            Failure::usage(format!("case {name:?} is not known; known: {}", known.join(", ")))
        })
    };
    names.iter().filter(|name| *name != BARE.name).map(find).collect()
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
}

impl CaseMeasurement {
    fn hops_per_cpu_s(&self) -> f64 {
        self.hops / self.cpu_s
    }

    fn bytes_per_pending(&self) -> f64 {
        self.pit_bytes / self.pending
    }

    /// Every field in the order of a line.
    fn fields(&mut self) -> [&mut f64; 10] {
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
        } = self;
        [cpu_s, start_s, hops, peak_rss_bytes, delivered, dropped, marked, samples, pending, pit_bytes]
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

fn measure_outside(case: &BenchCase, duration: Option<&str>) -> Result<CaseMeasurement, Failure> {
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

/// Measures the case without nodes; a short run has a hundredth of its hops.
fn measure_bare(is_short: bool) -> CaseMeasurement {
    let hops = if is_short { BARE_HOPS / 100 } else { BARE_HOPS };
    let start_s = cpu_seconds();
    tidegate_sim::bare::run(hops);
    CaseMeasurement {
        cpu_s: cpu_seconds(),
        start_s,
        hops: hops as f64,
        peak_rss_bytes: peak_rss_bytes(),
        ..CaseMeasurement::default()
    }
}

fn measure(session: &Session, case: &BenchCase, duration: Option<&str>) -> Result<CaseMeasurement, Failure> {
    let set: Vec<_> =
        duration.map(|time| ("scenario.duration".to_owned(), time.to_owned())).into_iter().collect();
    let plan = scenario::parse(case.name, case.scenario, &set, &session.schemes).map_err(Failure::error)?;
    let seed = plan.seeds[0];
    let mut world = World::new(&plan, seed);
    let start_s = cpu_seconds();
    let mut measured = CaseMeasurement { start_s, ..CaseMeasurement::default() };
    for look in 1..=LOOKS {
        world.step_until(tidegate_core::units::Time::ZERO + plan.duration * look / LOOKS);
        let tables = world.pending_interests();
        // Tuples compare by the number of pending Interests first.
        let max = tables.into_iter().max().unwrap_or_default();
        if max.0 as f64 > measured.pending {
            (measured.pending, measured.pit_bytes) = (max.0 as f64, max.1 as f64);
        }
    }
    let run = world.into_record(&plan, seed);
    let folder = std::env::temp_dir().join(format!("tidegate-bench-{}", std::process::id()));
    Folder::open(&folder, &plan)?.keep(0, &run)?;
    // The tables were only written for their cost; a folder that remains does no harm.
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
        ..measured
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

fn median(runs: &[CaseMeasurement]) -> &CaseMeasurement {
    &runs[runs.len() / 2]
}

/// CPU time of a hop as a multiple of that of a hop without nodes.
fn over_bare(middle: &CaseMeasurement, bare: &CaseMeasurement) -> f64 {
    bare.hops_per_cpu_s() / middle.hops_per_cpu_s()
}

fn as_json(case: &BenchCase, runs: &[CaseMeasurement], bare: &CaseMeasurement) -> Value {
    let middle = median(runs);
    json!({
        "name": case.name,
        "hops_per_cpu_s": middle.hops_per_cpu_s(),
        "cpu_time_over_bare": over_bare(middle, bare),
        "instructions_per_hop": null,
        "peak_rss_bytes": middle.peak_rss_bytes,
        "delivered": middle.delivered,
        "dropped": middle.dropped,
        "marked": middle.marked,
        "samples": middle.samples,
        "packet_hops": middle.hops,
        "start_cpu_s": middle.start_s,
        "pit_bytes_per_pending": middle.bytes_per_pending(),
        "runs": runs.len() as u64,
    })
}

fn table(rows: &[(&BenchCase, Vec<CaseMeasurement>)], bare: &CaseMeasurement, screen: Screen) -> String {
    let numbers = [
        "M hops per CPU s",
        "minimum",
        "maximum",
        "aim",
        "CPU time over bare",
        "M hops",
        "start, CPU s",
        "peak memory, MB",
        "PIT, B per pending",
        "marked",
        "dropped",
        "samples",
    ];
    let mut table = TextTable::of(&["case"], &numbers);
    for (case, runs) in rows {
        let middle = median(runs);
        let rate = |run: &CaseMeasurement| format!("{:.2}", run.hops_per_cpu_s() / 1e6);
        table.row([
            case.name.to_owned(),
            rate(middle),
            rate(&runs[0]),
            rate(&runs[runs.len() - 1]),
            case.aim.map_or_else(String::new, |aim| format!("{aim}")),
            format!("{:.2}", over_bare(middle, bare)),
            format!("{:.1}", middle.hops / 1e6),
            format!("{:.3}", middle.start_s),
            format!("{:.0}", middle.peak_rss_bytes / 1e6),
            format!("{:.0}", middle.bytes_per_pending()),
            format!("{}", middle.marked),
            format!("{}", middle.dropped),
            format!("{}", middle.samples),
        ]);
    }
    table.render(screen)
}
