//! What joins cost when round trips differ, and what the controller is worth: Figure 7b with a newcomer.

use tidegate_report::text::{Align, TextTable};
use tidegate_sim::plan::Plan;

use super::kept::Kept;
use super::runs::{ROUND_TRIPS, Scheme, Setup};
use super::tables::{Titled, estimate};
use super::{Bench, Extent};
use crate::exit::Failure;

/// When the newcomer starts, s; the run ends as long after it.
const JOIN_S: f64 = 5.0;
/// Bytes that the bottleneck sends in a millisecond.
const BYTES_PER_MS: f64 = 12_500.0;
/// A queue that is worth counting, ms.
const STANDING_MS: f64 = 5.0;

/// Forms of BRF.
const FORMS: [(&str, &str); 3] = [
    ("corrected", ""),
    ("newcomers admitted at once", ", make_before_break = false"),
    ("as printed", ", mode = \"literal\""),
];
/// Who finds congestion.
const CONTROLS: [(&str, &str); 4] = [
    ("controller every 10 ms", ""),
    ("controller every 3 s", ", poll = \"3s\""),
    ("the switch itself", ", control = \"local\""),
    ("nobody", ", control = \"none\""),
];
/// Which of the scenario's two flows comes second: its place and its round trip.
const NEWCOMERS: [(usize, &str); 2] = [(1, "20 ms beside 100"), (0, "100 ms beside 20")];

/// Newcomer, form and control of every row.
fn rows() -> impl Iterator<Item = ((usize, &'static str), (&'static str, String), &'static str)> {
    NEWCOMERS.into_iter().flat_map(|newcomer| {
        FORMS.into_iter().flat_map(move |(form, form_set)| {
            CONTROLS
                .into_iter()
                .map(move |(control, set)| (newcomer, (form, format!("{form_set}{set}")), control))
        })
    })
}

pub(super) fn plans(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    rows().map(|((newcomer, _), (_, settings), _)| plan(bench, newcomer, &settings)).collect()
}

fn plan(bench: &Bench<'_>, newcomer: usize, settings: &str) -> Result<Plan, Failure> {
    let brf = Scheme::Brf.sender().value(settings);
    let mut setup = Setup::bare(&ROUND_TRIPS, &[]);
    setup.set("tcp.*.scheme", brf.as_str());
    setup.switch(ROUND_TRIPS.switch, &brf);
    setup.set(&format!("tcp.{newcomer}.start"), format!("\"{JOIN_S}s\""));
    setup.set("scenario.duration", format!("\"{}s\"", 2.0 * JOIN_S));
    setup.set("scenario.sample", "\"1ms\"");
    let mut plan = setup.plan(bench)?;
    plan.seeds.truncate(match bench.extent {
        Extent::Reduced => 1,
        Extent::Paper => 2,
        Extent::Full => 4,
    });
    Ok(plan)
}

pub(super) fn table(next: &mut impl FnMut() -> Vec<Kept>) -> Titled {
    let mut table = TextTable::new(&[
        ("newcomer", Align::Left),
        ("BRF", Align::Left),
        ("congestion is found by", Align::Left),
        ("longest queue after the join [ms]", Align::Right),
        ("time with more than 5 ms of queue, ms", Align::Right),
        ("Jain's index of the second after the first", Align::Right),
        ("dropped [%]", Align::Right),
    ]);
    let end_s = 2.0 * JOIN_S;
    for ((_, newcomer), (form, _), control) in rows() {
        let runs = next();
        table.row([
            newcomer.to_owned(),
            form.to_owned(),
            control.to_owned(),
            estimate(&runs, |run| run.max_queued(JOIN_S, end_s) / BYTES_PER_MS),
            estimate(&runs, |run| 1e3 * run.queued_above_s(STANDING_MS * BYTES_PER_MS, JOIN_S, end_s)),
            estimate(&runs, |run| run.jain(JOIN_S + 1.0, JOIN_S + 2.0)),
            estimate(&runs, |run| run.dropped_percent(0.0)),
        ]);
    }
    (
        "A BRF flow joins another one after 5 s on Figure 7b, by form and by who finds congestion".to_owned(),
        table,
    )
}
