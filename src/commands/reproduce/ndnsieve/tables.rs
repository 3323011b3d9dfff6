//! Tables 4 to 8, of which the paper's text has no numbers, and what stands beside them.

use tidegate_core::name::{Name, NameTable};
use tidegate_core::packet::wire_size;
use tidegate_report::stats::Estimate;
use tidegate_report::text::{Align, TextTable, number, short};

use super::kept::Kept;
use super::{DUMBBELL, MULTIPATH1, MULTIPATH2, PCON, ROWS, Results, SCENARIOS, SIEVE, SSR, measure};

/// A table with its title.
type Titled = (String, TextTable);

/// A column: its head and what it shows of a run.
type Column = (&'static str, fn(&Kept) -> f64);

const DEVIATIONS: [Column; 3] = [
    ("C1, ms", |run| deviation(run, 0)),
    ("C2, ms", |run| deviation(run, 1)),
    ("C3, ms", |run| deviation(run, 2)),
];
const OVERVIEW: [Column; 5] = [
    ("throughput [Mbit/s]", Kept::throughput),
    ("mean full delay [ms]", Kept::delay),
    ("Jain's index", |run| run.fairness(0.0)),
    ("dropped packets", |run| run.dropped),
    ("path changes", |run| run.moves.len() as f64),
];

fn deviation(run: &Kept, flow: usize) -> f64 {
    run.delays.get(flow).map_or(f64::NAN, |delays| delays.deviation)
}

/// All tables in the paper's order.
pub(super) fn all(results: &Results) -> Vec<Titled> {
    let mut tables = vec![
        by_row(results, "Table 4: standard deviation of full delay, dumbbell", DUMBBELL, &DEVIATIONS[..2]),
        by_row(
            results,
            "Table 5: Jain's index, dumbbell",
            DUMBBELL,
            &[("whole run", |run| run.fairness(0.0))],
        ),
        by_row(
            results,
            "Table 6: standard deviation of full delay, multipath1",
            MULTIPATH1,
            &DEVIATIONS[..1],
        ),
        by_row(
            results,
            "Table 7: Jain's index, multipath2",
            MULTIPATH2,
            &[("from 3 s on", |run| run.fairness(3.0)), ("whole run", |run| run.fairness(0.0))],
        ),
        by_row(results, "Table 8: standard deviation of full delay, multipath2", MULTIPATH2, &DEVIATIONS),
    ];
    for (place, scenario) in SCENARIOS.iter().enumerate() {
        tables.push(by_row(results, &format!("Means of each run: {}", scenario.id), place, &OVERVIEW));
    }
    tables.push(bound(results));
    tables.push(disturbed(results));
    tables
}

fn by_row(results: &Results, title: &str, scenario: usize, columns: &[Column]) -> Titled {
    let heads: Vec<(&str, Align)> = [("", Align::Left)]
        .into_iter()
        .chain(columns.iter().map(|(head, _)| (*head, Align::Right)))
        .collect();
    let mut table = TextTable::new(&heads);
    for row in ROWS {
        let cell = |(_, of): &Column| short(&Estimate::of(&results.measured(row.id, scenario, of)));
        table.row([row.name.to_owned()].into_iter().chain(columns.iter().map(cell)));
    }
    (title.to_owned(), table)
}

/// What ndnSieve is said to gain over PCON.
const CLAIMED_GAIN: f64 = 1.3355;
/// The bottleneck, Mbit/s, and content of a Data, bytes.
const LINK_MBPS: f64 = 10.0;
const PAYLOAD: u32 = 1024;

/// Content that the bottleneck carries at most, Mbit/s: its rate times the part of a Data that is content.
pub(super) fn limit_mbps() -> f64 {
    let mut names = NameTable::new();
    let prefix = names.intern_uri("/prefix/A").unwrap_or(NameTable::ROOT);
    let name_len = names.encoded_len(Name::segment(prefix, 1000));
    LINK_MBPS * f64::from(PAYLOAD) / wire_size::data(name_len, PAYLOAD).get() as f64
}

/// S1 by arithmetic: no scheme has more than the limit, so none gains more than the limit over PCON.
fn bound(results: &Results) -> Titled {
    let heads = [
        ("", Align::Left),
        ("most content [Mbit/s]", Align::Right),
        ("PCON [Mbit/s]", Align::Right),
        ("most gain possible", Align::Right),
        ("ndnSieve over PCON", Align::Right),
        ("ssr over PCON", Align::Right),
        ("published gain", Align::Right),
        ("PCON it needs [Mbit/s]", Align::Right),
    ];
    let mut table = TextTable::new(&heads);
    let limit = limit_mbps();
    for (name, scenario) in [("dumbbell", DUMBBELL), ("multipath1", MULTIPATH1)] {
        let pcon = results.measured(PCON.id, scenario, Kept::throughput);
        let most: Vec<f64> = pcon.iter().map(|pcon| limit / pcon).collect();
        let gain = |row| short(&Estimate::of(&measure::gain(results, row, scenario)));
        table.row([
            name.to_owned(),
            number(limit),
            short(&Estimate::of(&pcon)),
            short(&Estimate::of(&most)),
            gain(SIEVE.id),
            gain(SSR.id),
            number(CLAIMED_GAIN),
            format!("≤ {}", number(limit / CLAIMED_GAIN)),
        ]);
    }
    ("S1: the published gain over PCON, and the most that the link allows".to_owned(), table)
}

/// What is left of scenario 3 when control fails.
fn disturbed(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("consumers: ndnSieve (ssr)", Align::Left),
        ("throughput [Mbit/s]", Align::Right),
        ("path changes", Align::Right),
    ]);
    let disturbed = &results.disturbed;
    let names = ["controller down from 2 s on", "half of all messages lost", "messages take 1 s"];
    let calm = [
        ("as in the paper", results.at(SSR.id, MULTIPATH2)),
        ("no controller", disturbed.uncontrolled.as_slice()),
        ("best-route, no ndnSieve at routers", disturbed.best_route.as_slice()),
    ];
    for (name, runs) in
        calm.into_iter().chain(names.into_iter().zip(disturbed.cells.iter().map(Vec::as_slice)))
    {
        let cell = |of: fn(&Kept) -> f64| short(&Estimate::of(&runs.iter().map(of).collect::<Vec<f64>>()));
        table.row([name.to_owned(), cell(Kept::throughput), cell(|run| run.moves.len() as f64)]);
    }
    ("multipath2 with a disturbed control plane".to_owned(), table)
}
