//! What choices that the paper leaves open do: limited flows first, a queue that is estimated, first grants.

use tidegate_core::math;
use tidegate_report::stats::mean;
use tidegate_report::text::{Align, TextTable};
use tidegate_sim::plan::Plan;

use super::Bench;
use super::kept::Kept;
use super::runs::{PATH, ROUND_TRIPS, SHARED, Scheme, Setup};
use super::tables::{Titled, estimate};
use crate::exit::Failure;

/// Seeds of these runs.
const SEEDS: usize = 3;

/// One run with one setting of BRF.
#[derive(Clone, Copy, Debug)]
struct Case {
    name: &'static str,
    kind: Kind,
    /// Parameters, as TOML.
    settings: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A limited flow beside one of 100 ms, which one of 20 ms joins.
    Limited,
    /// A flow of 20 ms joins one of 100 ms.
    Join,
    /// Beside CUBIC.
    Shared,
    /// Limited flows come and go beside short files and a bulk flow.
    Demands(Ports),
}

/// What ports say of demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ports {
    /// A port asks for the same again and again.
    Tell,
    /// Nothing: both demands come by both ports.
    Shuffle,
    /// Nothing: no flow is limited.
    Bulk,
}

const fn case(name: &'static str, kind: Kind, settings: &'static str) -> Case {
    Case { name, kind, settings }
}

const AT_ONCE: &str = ", make_before_break = false";
const AT_ONCE_FIRST: &str = ", make_before_break = false, priorities = true";
const AT_ONCE_ESTIMATED: &str = ", make_before_break = false, backlog = \"estimated\"";

const FIRST: [Case; 4] = [
    case("one class", Kind::Limited, ""),
    case("limited flows first", Kind::Limited, ", priorities = true"),
    case("one class, newcomers admitted at once", Kind::Limited, AT_ONCE),
    case("limited flows first, newcomers admitted at once", Kind::Limited, AT_ONCE_FIRST),
];
const BACKLOG: [Case; 4] = [
    case("a join, told", Kind::Join, AT_ONCE),
    case("a join, estimated", Kind::Join, AT_ONCE_ESTIMATED),
    case("beside CUBIC, told", Kind::Shared, ""),
    case("beside CUBIC, estimated", Kind::Shared, ", backlog = \"estimated\""),
];
const AVERAGE: &str = ", initial = \"average\"";
const GRANTS: [Case; 6] = [
    case("ports tell demands, average share", Kind::Demands(Ports::Tell), AVERAGE),
    case("ports tell demands, guessed", Kind::Demands(Ports::Tell), ""),
    case("ports tell nothing, average share", Kind::Demands(Ports::Shuffle), AVERAGE),
    case("ports tell nothing, guessed", Kind::Demands(Ports::Shuffle), ""),
    case("no flow is limited, average share", Kind::Demands(Ports::Bulk), AVERAGE),
    case("no flow is limited, guessed", Kind::Demands(Ports::Bulk), ""),
];

pub(super) fn plans(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    FIRST.iter().chain(&BACKLOG).chain(&GRANTS).map(|case| plan(bench, *case)).collect()
}

fn plan(bench: &Bench<'_>, case: Case) -> Result<Plan, Failure> {
    let brf = Scheme::Brf.sender().value(case.settings);
    let (topology, length_s) = match case.kind {
        Kind::Limited | Kind::Join => (&ROUND_TRIPS, 10),
        Kind::Shared => (&SHARED, 30),
        Kind::Demands(_) => (&PATH, DEMANDS_S),
    };
    let mut setup = match case.kind {
        Kind::Shared => Setup::new(topology, &[Scheme::Brf.sender(), Scheme::Cubic.sender()]),
        Kind::Demands(_) => Setup::new(topology, &[Scheme::Brf.sender()]),
        Kind::Limited | Kind::Join => Setup::new(topology, &[Scheme::Brf.sender(); 2]),
    };
    setup.switch(topology.switch, &brf);
    setup.set("scenario.duration", format!("\"{length_s}s\""));
    setup.set("scenario.events", "[\"estimated\"]");
    match case.kind {
        Kind::Limited => setup.set("tcp", beside_limited(&brf)),
        Kind::Join => setup.set("tcp.1.start", "\"5s\""),
        Kind::Shared => setup.set("scenario.sample", "\"100ms\""),
        Kind::Demands(ports) => setup.set("tcp", demands(&brf, ports)),
    }
    let mut plan = setup.plan(bench)?;
    plan.seeds.truncate(SEEDS);
    Ok(plan)
}

fn beside_limited(brf: &str) -> String {
    let flow = |name, sender, more| {
        format!("{{ name = \"{name}\", sender = \"{sender}\", receiver = \"c1\", scheme = {brf}, {more} }}")
    };
    let flows = [
        flow("limited", "s2", "port = 554, rate = \"5Mbps\""),
        flow("far", "s1", "start = \"1s\""),
        flow("near", "s2", "start = \"5s\""),
    ];
    format!("[{}]", flows.join(", "))
}

/// Length of runs with limited flows, s: one comes each second and stays for some.
const DEMANDS_S: usize = 30;
const STAY_S: usize = 4;
/// Ports of limited flows, and what these want, Mbit/s.
const PORTS: [u32; 2] = [554, 8554];
const WANTED_MBPS: [u32; 2] = [2, 10];
/// Short files, from 2 s on.
const FILES: usize = 100;

fn demands(brf: &str, ports: Ports) -> String {
    let common = format!("sender = \"s1\", receiver = \"c1\", scheme = {brf}");
    let mut flows = vec![
        format!("{{ name = \"bulk\", {common}, port = 5001 }}"),
        format!(
            "{{ repeat = {FILES}, name = \"file {{i}}\", {common}, port = 443, size = \"100kB\", start = \"2s\", stagger = \"250ms\" }}"
        ),
    ];
    for number in 0..DEMANDS_S - STAY_S - 1 {
        let wanted = number % 2;
        let port = PORTS[if ports == Ports::Shuffle { number / 2 % 2 } else { wanted }];
        let start_s = number + 1;
        let rate = if ports == Ports::Bulk {
            String::new()
        } else {
            format!("rate = \"{}Mbps\", ", WANTED_MBPS[wanted])
        };
        flows.push(format!(
            "{{ name = \"limited {number}\", {common}, port = {port}, {rate}start = \"{start_s}s\", stop = \"{}s\" }}",
            start_s + STAY_S
        ));
    }
    format!("[{}]", flows.join(", "))
}

pub(super) fn tables(next: &mut impl FnMut() -> Vec<Kept>) -> [Titled; 3] {
    [first(next), backlog(next), grants(next)]
}

type Column = (&'static str, fn(&Kept) -> f64);

fn table(title: &str, cases: &[Case], columns: &[Column], next: &mut impl FnMut() -> Vec<Kept>) -> Titled {
    let mut heads = vec![("BRF", Align::Left)];
    heads.extend(columns.iter().map(|(head, _)| (*head, Align::Right)));
    let mut table = TextTable::new(&heads);
    for case in cases {
        let runs = next();
        let cells = columns.iter().map(|(_, of)| estimate(&runs, of));
        table.row([case.name.to_owned()].into_iter().chain(cells));
    }
    (title.to_owned(), table)
}

fn first(next: &mut impl FnMut() -> Vec<Kept>) -> Titled {
    table(
        "A flow limited to 5 Mbit/s beside one of 100 ms, which one of 20 ms joins: with and without a class of its own",
        &FIRST,
        &[
            ("longest round trip of the limited flow [ms]", |run| {
                run.flows.first().map_or(f64::NAN, |flow| flow.longest_ms)
            }),
            ("most queued [ms]", |run| run.max_queued(5.0, run.end_s()) / BYTES_PER_MS),
            ("limited flow [Mbit/s]", |run| run.goodput_mbps(0, 6.0, run.end_s())),
            ("far flow", |run| run.goodput_mbps(1, 6.0, run.end_s())),
            ("near flow", |run| run.goodput_mbps(2, 6.0, run.end_s())),
        ],
        next,
    )
}

/// Bytes that the bottleneck sends in a millisecond.
const BYTES_PER_MS: f64 = 12_500.0;

fn backlog(next: &mut impl FnMut() -> Vec<Kept>) -> Titled {
    table(
        "What the controller knows of queues: told by the switch, or estimated from OpenFlow's counters (polls that find or guess any)",
        &BACKLOG,
        &[
            ("mean error, of BRF's queue, kB", |run| error_kb(run, "backlog of BRF flows")),
            ("of the port's queue, kB", |run| error_kb(run, "backlog of the port")),
            ("first flow [Mbit/s]", |run| run.goodput_mbps(0, 6.0, run.end_s())),
            ("second flow", |run| run.goodput_mbps(1, 6.0, run.end_s())),
            ("most queued [ms]", |run| run.max_queued(5.0, run.end_s()) / BYTES_PER_MS),
        ],
        next,
    )
}

/// Mean distance of estimate and truth where either is above zero; NaN where nothing was estimated.
fn error_kb(run: &Kept, kind: &str) -> f64 {
    let polls = run.estimates.iter().filter(|(what, ours, truth)| *what == kind && ours.max(*truth) > 0.0);
    mean(&polls.map(|(_, ours, truth)| (ours - truth).abs() / 1e3).collect::<Vec<f64>>())
}

fn grants(next: &mut impl FnMut() -> Vec<Kept>) -> Titled {
    table(
        "First grants (eq. 9): limited flows of 2 and 10 Mbit/s, 100 files of 100 kB, a bulk flow",
        &GRANTS,
        &[
            ("limited flows judged", |run| judged(run, "first grant").len() as f64),
            ("mean |ln(guess / demand)|", |run| mean(&judged(run, "first grant"))),
            ("of the average share", |run| mean(&judged(run, "average share"))),
            ("files: mean completion, ms", |run| mean(&completions(run))),
            ("files not done", |run| (FILES - completions(run).len()) as f64),
            ("all flows [Mbit/s]", |run| run.total_mbps(2.0, run.end_s())),
        ],
        next,
    )
}

/// Absolute errors of logarithms.
fn judged(run: &Kept, kind: &str) -> Vec<f64> {
    let of_kind = run.estimates.iter().filter(|(what, ..)| *what == kind);
    of_kind.map(|(_, ours, truth)| math::ln(ours / truth).abs()).collect()
}

fn completions(run: &Kept) -> Vec<f64> {
    run.flows.iter().filter_map(|flow| flow.completion_ms).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_tell_demands_or_do_not() {
        let of = |ports, port: u32, wanted: u32| {
            demands("\"brf\"", ports).matches(&format!("port = {port}, rate = \"{wanted}Mbps\"")).count()
        };
        assert_eq!(
            [of(Ports::Tell, 554, 2), of(Ports::Tell, 554, 10), of(Ports::Tell, 8554, 10)],
            [13, 0, 12]
        );
        assert!([of(Ports::Shuffle, 554, 2), of(Ports::Shuffle, 554, 10)].iter().all(|count| *count >= 6));
        assert_eq!(demands("\"brf\"", Ports::Bulk).matches("rate =").count(), 0);
    }
}
