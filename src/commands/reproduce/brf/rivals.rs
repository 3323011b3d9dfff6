//! Other schemes over the path of Figure 7a, and what radio links do to all of them.

use tidegate_report::stats::mean;
use tidegate_report::text::{Align, TextTable};
use tidegate_sim::plan::Plan;

use super::Bench;
use super::kept::Kept;
use super::measure::most;
use super::runs::{MANY, PATH, ROUND_TRIPS, Sender, Setup, loss_of};
use super::tables::{Titled, estimate};
use crate::exit::Failure;

/// A sender and what stands at R1, before the bottleneck.
struct Row {
    name: &'static str,
    sender: Sender,
    /// Disciplines of its queue, as TOML.
    queue: &'static str,
    /// Its router parts, as TOML.
    parts: &'static str,
}

/// BRF with its switch at R0, which does not see the radio link.
const FAR: &str = "BRF, switch at R0";

const fn row(
    name: &'static str,
    (scheme, settings): (&'static str, &'static str),
    queue: &'static str,
    parts: &'static str,
) -> Row {
    Row { name, sender: Sender { scheme, settings }, queue, parts }
}

/// DCTCP's threshold is a seventh of the product of rate and round trip.
const ROWS: [Row; 13] = [
    row("BRF", ("brf", ""), "", ""),
    row(FAR, ("brf", ""), "", ""),
    row("BRF as printed", ("brf", ", mode = \"literal\""), "", ""),
    row("BBR", ("tcp-bbr1", ""), "", ""),
    row("BBRv3", ("tcp-bbr3", ""), "", ""),
    row("CUBIC", ("tcp-cubic-linux", ""), "", ""),
    row("CUBIC, FQ-CoDel", ("tcp-cubic-linux", ""), "\"fq-codel\"", ""),
    row("BBR, FQ-CoDel", ("tcp-bbr1", ""), "\"fq-codel\"", ""),
    row("CUBIC with ECN, DualPI2", ("tcp-cubic", ", ecn = true"), "\"dualpi2\"", ""),
    row(
        "DCTCP, marks above 24 packets",
        ("tcp-dctcp", ""),
        "{ name = \"step-ecn\", packets = \"24pkt\" }",
        "",
    ),
    row("DCTCP as low latency, DualPI2", ("tcp-dctcp", ", low_latency = true"), "\"dualpi2\"", ""),
    row("RCP", ("rcp", ""), "", "\"rcp\""),
    row("XCP", ("xcp", ""), "", "\"xcp\""),
];

/// Seeds of these runs.
const SEEDS: usize = 4;
/// Length of these runs, s.
const LENGTH_S: f64 = 25.0;
/// Rates of the bottleneck, Mbit/s, each for as long.
const STEPS_MBPS: [f64; 5] = [100.0, 50.0, 20.0, 80.0, 100.0];
const STEP_S: f64 = LENGTH_S / STEPS_MBPS.len() as f64;
/// A hand-over in the middle of each step's time, s.
const HAND_OVER_S: f64 = 0.1;
/// Part of the packets that is lost.
const LOSS: f64 = 0.01;
/// Mean length of a spell of losses, ms.
const SPELL_MS: f64 = 10.0;
/// When the flow with the shorter round trip joins the other one, s.
const JOIN_S: f64 = 5.0;
/// Jain's index of flows that have converged, and the windows over which it is taken, s.
const FAIR: f64 = 0.95;
const WINDOW_S: f64 = 1.0;
/// Short flows: how many.
const SHORT: usize = 100;

/// What happens on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Five,
    Losses,
    Spells,
    HandOvers,
    Steps,
    Short,
    RoundTrips,
}

const CONDITIONS: [Condition; 7] = [
    Condition::Five,
    Condition::Losses,
    Condition::Spells,
    Condition::HandOvers,
    Condition::Steps,
    Condition::Short,
    Condition::RoundTrips,
];

impl Condition {
    fn set(self, setup: &mut Setup, sender: Sender) {
        match self {
            Self::Five => setup.set("tcp.0.repeat", MANY.to_string()),
            Self::Losses => setup.set("link.1.forward.loss", loss_of(LOSS)),
            Self::Spells => setup.set("link.1.forward.loss", spells(LOSS, SPELL_MS)),
            Self::HandOvers => setup.set("event", events(hand_over)),
            Self::Steps => setup.set("event", events(step)),
            Self::Short => setup.set("tcp", short_flows(sender)),
            // The flow of 20 ms joins the one of 100 ms.
            Self::RoundTrips => setup.set("tcp.1.start", format!("\"{JOIN_S}s\"")),
        }
    }
}

/// Gilbert's model in time, as TOML: everything is lost in spells of so many milliseconds on average, which make this part
/// of all time.
fn spells(part: f64, millis: f64) -> String {
    format!("{{ model = \"spells\", good = \"{}ms\", bad = \"{millis}ms\" }}", millis * (1.0 - part) / part)
}

/// Events, some for each step.
fn events(of: fn(usize, f64) -> String) -> String {
    let each: Vec<String> = STEPS_MBPS.iter().enumerate().map(|(place, rate)| of(place, *rate)).collect();
    format!("[{}]", each.join(", "))
}

/// The radio is gone for a while: what is on it is lost, what waits for it stays, and routers go on sending to it.
fn hand_over(place: usize, _: f64) -> String {
    let at_s = (place as f64 + 0.5) * STEP_S;
    format!(
        "{{ at = \"{at_s}s\", link = \"r1-c1\", state = \"down\", keep_queue = true, silent = true }}, \
         {{ at = \"{}s\", link = \"r1-c1\", state = \"up\" }}",
        at_s + HAND_OVER_S
    )
}

fn step(place: usize, rate_mbps: f64) -> String {
    format!("{{ at = \"{}s\", link = \"r1-c1\", rate = \"{rate_mbps}Mbps\" }}", place as f64 * STEP_S)
}

/// A long flow, and short ones that come and go.
fn short_flows(sender: Sender) -> String {
    let scheme = sender.value("");
    format!(
        "[{{ name = \"F1\", sender = \"s1\", receiver = \"c1\", scheme = {scheme} }}, \
         {{ repeat = {SHORT}, name = \"S{{i}}\", sender = \"s1\", receiver = \"c1\", scheme = {scheme}, port = 443, \
         size = \"100kB\", start = \"2s\", stagger = \"200ms\" }}]"
    )
}

pub(super) fn plans(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    let cells = ROWS.iter().flat_map(|row| CONDITIONS.map(|condition| (row, condition)));
    cells.map(|(row, condition)| plan(bench, row, condition)).collect()
}

fn plan(bench: &Bench<'_>, row: &Row, condition: Condition) -> Result<Plan, Failure> {
    let is_far = row.name == FAR;
    // Where R2 is the only router before the bottleneck, the far switch is the near one.
    let (topology, router, link) = match condition {
        Condition::RoundTrips => (&ROUND_TRIPS, ROUND_TRIPS.switch, 4),
        _ => (&PATH, 2, 2),
    };
    let senders = if condition == Condition::RoundTrips { vec![row.sender; 2] } else { vec![row.sender] };
    let mut setup = if is_far { Setup::new(topology, &senders) } else { Setup::bare(topology, &senders) };
    setup.set("scenario.duration", format!("\"{LENGTH_S}s\""));
    if row.sender.has_switch() && !is_far {
        // At the radio's own router, so that it can know the rate.
        setup.switch(router, &row.sender.value(""));
    } else if !row.parts.is_empty() {
        setup.set(&format!("node.{router}.parts"), format!("[{}]", row.parts));
    }
    setup.set(&format!("link.{link}.queue.disciplines"), format!("[{}]", row.queue));
    condition.set(&mut setup, row.sender);
    let mut plan = setup.plan(bench)?;
    plan.seeds.truncate(SEEDS);
    Ok(plan)
}

pub(super) fn tables(next: &mut impl FnMut() -> Vec<Kept>) -> [Titled; 4] {
    let cells: Vec<[Vec<Kept>; CONDITIONS.len()]> = ROWS.iter().map(|_| CONDITIONS.map(|_| next())).collect();
    let of = |condition: Condition| -> Vec<&[Kept]> {
        let place = CONDITIONS.iter().position(|known| *known == condition).unwrap_or(0);
        cells.iter().map(|row| row[place].as_slice()).collect()
    };
    [
        table(
            "Rivals: five flows 2 s apart, the last 15 s",
            &of(Condition::Five),
            &[
                ("goodput [Mbit/s]", &|run| run.total_mbps(10.0, run.end_s())),
                ("Jain's index", &|run| run.jain(10.0, run.end_s())),
                ("to 0.95 over 1 s, s", &|run| run.converged_s(FAIR, WINDOW_S)),
                ("wait, 50 %, ms", &|run| run.wait_ms[0]),
                ("95 %", &|run| run.wait_ms[1]),
                ("99 %", &|run| run.wait_ms[2]),
                ("dropped [%]", &|run| run.dropped_percent(0.0)),
                ("bytes of ACKs, % of data", &|run| 100.0 * run.ack_part),
            ],
        ),
        table(
            "Rivals: a flow of 20 ms joins one of 100 ms after 5 s, Figure 7b, the 15 s from 10 s on",
            &of(Condition::RoundTrips),
            &[
                ("100 ms, Mbit/s", &|run| run.goodput_mbps(0, 10.0, run.end_s())),
                ("20 ms, Mbit/s", &|run| run.goodput_mbps(1, 10.0, run.end_s())),
                ("Jain's index", &|run| run.jain(10.0, run.end_s())),
                ("to 0.95 over 1 s, s", &|run| run.converged_s(FAIR, WINDOW_S)),
                ("wait, 50 %, ms", &|run| run.wait_ms[0]),
                ("95 %", &|run| run.wait_ms[1]),
                ("99 %", &|run| run.wait_ms[2]),
                ("longest queue [packets]", &|run| run.peak_packets as f64),
                ("dropped [%]", &|run| run.dropped_percent(0.0)),
            ],
        ),
        radio(&[
            of(Condition::Losses),
            of(Condition::Spells),
            of(Condition::HandOvers),
            of(Condition::Steps),
        ]),
        table(
            "Rivals: one long flow and 100 short ones of 100 kB, one each 200 ms",
            &of(Condition::Short),
            &[
                ("mean completion [ms]", &|run| mean(&completions(run))),
                ("most [ms]", &|run| most(&completions(run))),
                ("not done", &|run| (SHORT - completions(run).len()) as f64),
                ("long flow [Mbit/s]", &|run| run.throughput_mbps(0)),
                ("wait, 95 %, ms", &|run| run.wait_ms[1]),
            ],
        ),
    ]
}

fn completions(run: &Kept) -> Vec<f64> {
    run.flows.iter().filter_map(|flow| flow.completion_ms).collect()
}

type Column<'a> = (&'a str, &'a dyn Fn(&Kept) -> f64);

fn table(title: &str, rows: &[&[Kept]], columns: &[Column<'_>]) -> Titled {
    let mut heads = vec![("scheme", Align::Left)];
    heads.extend(columns.iter().map(|(head, _)| (*head, Align::Right)));
    let mut table = TextTable::new(&heads);
    for (row, runs) in ROWS.iter().zip(rows) {
        let cells = columns.iter().map(|(_, of)| estimate(runs, of));
        table.row([row.name.to_owned()].into_iter().chain(cells));
    }
    (title.to_owned(), table)
}

/// One flow over a radio link: losses one by one and in spells, hand-overs, steps of the rate.
fn radio([losses, spells, hand_overs, steps]: &[Vec<&[Kept]>; 4]) -> Titled {
    let mut table = TextTable::new(&[
        ("scheme", Align::Left),
        ("losses of 1 %, Mbit/s", Align::Right),
        ("1 % in spells of 10 ms", Align::Right),
        ("out for 100 ms each 5 s", Align::Right),
        ("wait, 95 %, ms", Align::Right),
        ("100, 50, 20, 80, 100 Mbit/s", Align::Right),
        ("wait, 95 %, ms", Align::Right),
        ("dropped [%]", Align::Right),
    ]);
    let throughput = |runs: &[Kept]| estimate(runs, |run| run.throughput_mbps(0));
    let wait = |runs: &[Kept]| estimate(runs, |run| run.wait_ms[1]);
    for (place, row) in ROWS.iter().enumerate() {
        table.row([
            row.name.to_owned(),
            throughput(losses[place]),
            throughput(spells[place]),
            throughput(hand_overs[place]),
            wait(hand_overs[place]),
            throughput(steps[place]),
            wait(steps[place]),
            estimate(steps[place], |run| run.dropped_percent(0.0)),
        ]);
    }
    ("Rivals: one flow over a radio link".to_owned(), table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_take_the_part_of_time_that_was_asked_for() {
        assert_eq!(spells(0.01, 10.0), "{ model = \"spells\", good = \"990ms\", bad = \"10ms\" }");
    }

    #[test]
    fn hand_overs_lie_within_the_run_and_apart_from_steps() {
        assert!(hand_over(4, 0.0).contains("\"22.5s\"") && hand_over(4, 0.0).contains("\"22.6s\""));
        assert!(step(1, 50.0).contains("\"5s\"") && step(1, 50.0).contains("\"50Mbps\""));
    }
}
