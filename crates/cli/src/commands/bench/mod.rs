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

use std::process::Command;

use serde_json::{Value, json};
use tidegate_core::units::{Span, Time};
use tidegate_results::text::{Screen, TextTable};
use tidegate_sim::scenario;
use tidegate_sim::world::World;

use self::counters::EVENTS;
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
/// Packet-hops of that case without `--duration`.
const BARE_HOPS: u64 = 20_000_000;
/// Packet-hops of that case for each second of `--duration`.
const BARE_HOPS_PER_SECOND: f64 = 2e6;

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
    #[cfg(target_os = "linux")]
    if arguments.cases == ["live"] {
        return live::run(session, arguments.runs);
    }
    #[cfg(target_os = "linux")]
    if arguments.cases == ["fetch"] {
        return fetch::run(session, arguments);
    }
    if arguments.inside && arguments.cases == [BARE.name] {
        print(&measure_bare(arguments.duration).line());
        return Ok(Exit::Ok);
    }
    let mut cases = chosen(&arguments.cases)?;
    if arguments.inside {
        let [case] = cases.as_slice() else {
            return Err(Failure::usage("--inside takes one case"));
        };
        print(&measure(session, case, arguments.duration)?.line());
        return Ok(Exit::Ok);
    }
    cases.insert(0, &BARE);
    let mut rows = Vec::new();
    for case in cases {
        let mut runs = Vec::new();
        for _ in 0..arguments.runs {
            // A process of its own: peak memory and CPU time of a process include the cases before.
            runs.push(measure_outside(case, arguments.duration)?);
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
    /// Counts of [`EVENTS`] during the run; NaN where the kernel allows no counter.
    counts: [f64; EVENTS.len()],
}

impl CaseMeasurement {
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
    let (_, counts) = counters::count(counters::open, || tidegate_sim::bare::run(hops));
    CaseMeasurement {
        cpu_s: cpu_seconds(),
        start_s,
        hops: hops as f64,
        peak_rss_bytes: peak_rss_bytes(),
        counts,
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
    let (max, counts) = counters::count(counters::open, || {
        let looks = (1..=LOOKS).map(|look| {
            world.step_until(Time::ZERO + plan.duration * look / LOOKS);
            world.pending_interests().into_iter().max().unwrap_or_default()
        });
        // Tuples compare by the number of pending Interests first.
        looks.max().unwrap_or_default()
    });
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
        start_s,
        pending: max.0 as f64,
        pit_bytes: max.1 as f64,
        counts,
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
    let mut stated = json!({
        "name": case.name,
        "hops_per_cpu_s": middle.hops_per_cpu_s(),
        "cpu_time_over_bare": over_bare(middle, bare),
        "peak_rss_bytes": middle.peak_rss_bytes,
        "delivered": middle.delivered,
        "dropped": middle.dropped,
        "marked": middle.marked,
        "samples": middle.samples,
        "packet_hops": middle.hops,
        "start_cpu_s": middle.start_s,
        "pit_bytes_per_pending": middle.bytes_per_pending(),
        "runs": runs.len() as u64,
    });
    for (event, count) in EVENTS.into_iter().zip(middle.counts_per_hop()) {
        stated[event.key()] = json!(count);
    }
    stated
}

/// A number with `digits` after the point, `-` for one that was not measured.
fn cell(number: f64, digits: usize) -> String {
    if number.is_finite() { format!("{number:.digits$}") } else { "-".to_owned() }
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
    let heads: Vec<&str> = numbers.into_iter().chain(EVENTS.map(counters::Event::head)).collect();
    let mut table = TextTable::of(&["case"], &heads);
    for (case, runs) in rows {
        let middle = median(runs);
        let rate = |run: &CaseMeasurement| format!("{:.2}", run.hops_per_cpu_s() / 1e6);
        let row = [
            case.name.to_owned(),
            rate(middle),
            rate(&runs[0]),
            rate(&runs[runs.len() - 1]),
            case.aim.map_or_else(String::new, |aim| format!("{aim}")),
            cell(over_bare(middle, bare), 2),
            cell(middle.hops / 1e6, 1),
            cell(middle.start_s, 3),
            cell(middle.peak_rss_bytes / 1e6, 0),
            cell(middle.bytes_per_pending(), 0),
            middle.marked.to_string(),
            middle.dropped.to_string(),
            middle.samples.to_string(),
        ];
        table.row(row.into_iter().chain(middle.counts_per_hop().map(|count| cell(count, 1))));
    }
    table.render(screen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_pass_through_the_line_to_the_table_and_to_json_and_missing_ones_are_marked() {
        let run = CaseMeasurement { hops: 2.0, counts: [4000.0, 9.0, f64::NAN, 2.0], ..Default::default() };
        let run = CaseMeasurement::read(&run.line()).expect("a line");
        let shown = table(&[(&BARE, vec![run])], &run, Screen::default());
        let cells: Vec<&str> = shown.split_whitespace().rev().take(4).collect();
        assert_eq!(cells, ["1.0", "-", "4.5", "2000.0"]);
        let stated = as_json(&BARE, &[run], &run);
        assert_eq!(
            (&stated["instructions_per_hop"], &stated["l1d_misses_per_hop"]),
            (&json!(2000.0), &Value::Null)
        );
        assert!(CaseMeasurement::read("1 2 3\n").is_none());
    }
}
