//! Results of `tidegate bench` as a table and as JSON: of each number the median of the runs.

use serde_json::{Value, json};
use tidegate_results::stats;
use tidegate_results::text::{Screen, TextTable};

use super::counters::{EVENTS, Event};
use super::{BenchCase, CaseMeasurement};

/// A case with its runs.
pub(super) type Row = (&'static BenchCase, Vec<CaseMeasurement>);

/// Median of the numbers that were measured: of an even number of them the mean of the middle two, of none NaN.
pub(super) fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    stats::median(numbers.filter(|number| number.is_finite()).collect())
}

/// Minimum and maximum of the numbers that were measured; NaN if there are none.
pub(super) fn extremes(numbers: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    // `min` and `max` return the number where the other is NaN.
    let measured = numbers.filter(|number| number.is_finite());
    [measured.clone().fold(f64::NAN, f64::min), measured.fold(f64::NAN, f64::max)]
}

/// Median of the packet-hops per CPU second.
pub(super) fn median_rate(runs: &[CaseMeasurement]) -> f64 {
    median(runs.iter().map(CaseMeasurement::hops_per_cpu_s))
}

/// Median of the events of this kind per hop.
fn median_count(runs: &[CaseMeasurement], event: Event) -> f64 {
    let place = EVENTS.iter().position(|known| *known == event);
    median(runs.iter().filter_map(|run| Some(run.counts_per_hop()[place?])))
}

/// One case as JSON; `bare` is the median rate of the case without nodes.
pub(super) fn as_json((case, runs): &Row, bare: f64) -> Value {
    let middle = |of: fn(&CaseMeasurement) -> f64| median(runs.iter().map(of));
    let [min, max] = extremes(runs.iter().map(CaseMeasurement::hops_per_cpu_s));
    let mut stated = json!({
        "name": case.name,
        "hops_per_cpu_s": median_rate(runs),
        "min_hops_per_cpu_s": min,
        "max_hops_per_cpu_s": max,
        "cpu_time_over_bare": bare / median_rate(runs),
        "peak_rss_bytes": middle(|run| run.peak_rss_bytes),
        "delivered": middle(|run| run.delivered),
        "dropped": middle(|run| run.dropped),
        "marked": middle(|run| run.marked),
        "samples": middle(|run| run.samples),
        "packet_hops": middle(|run| run.hops),
        "start_cpu_s": middle(|run| run.start_s),
        "pit_bytes_per_pending": middle(CaseMeasurement::bytes_per_pending),
        "runs": runs.len() as u64,
    });
    for event in EVENTS {
        stated[event.key()] = json!(median_count(runs, event));
    }
    stated
}

/// A number with `digits` after the point, `-` for one that was not measured.
pub(super) fn cell(number: f64, digits: usize) -> String {
    if number.is_finite() { format!("{number:.digits$}") } else { "-".to_owned() }
}

/// Heads of the columns of numbers, before those of [`EVENTS`].
const HEADS: [&str; 11] = [
    "M hops per CPU s",
    "minimum",
    "maximum",
    "CPU time over bare",
    "M hops",
    "start, CPU s",
    "peak memory, MB",
    "PIT, B per pending",
    "marked",
    "dropped",
    "samples",
];

/// All cases, one on a line; `bare` is the median rate of the case without nodes.
pub(super) fn table(rows: &[Row], bare: f64, screen: Screen) -> String {
    let heads: Vec<&str> = HEADS.into_iter().chain(EVENTS.map(Event::head)).collect();
    let mut table = TextTable::of(&["case"], &heads);
    for (case, runs) in rows {
        let middle = |of: fn(&CaseMeasurement) -> f64| median(runs.iter().map(of));
        let [min, max] = extremes(runs.iter().map(CaseMeasurement::hops_per_cpu_s));
        let row = [
            case.name.to_owned(),
            cell(median_rate(runs) / 1e6, 2),
            cell(min / 1e6, 2),
            cell(max / 1e6, 2),
            cell(bare / median_rate(runs), 2),
            cell(middle(|run| run.hops) / 1e6, 1),
            cell(middle(|run| run.start_s), 3),
            cell(middle(|run| run.peak_rss_bytes) / 1e6, 0),
            cell(middle(CaseMeasurement::bytes_per_pending), 0),
            cell(middle(|run| run.marked), 0),
            cell(middle(|run| run.dropped), 0),
            cell(middle(|run| run.samples), 0),
        ];
        table.row(row.into_iter().chain(EVENTS.map(|event| cell(median_count(runs, event), 1))));
    }
    table.render(screen)
}

#[cfg(test)]
mod tests {
    use super::super::BARE;
    use super::*;
    use crate::guide::Guide;

    /// The cells of the row of one case.
    fn cells(runs: Vec<CaseMeasurement>) -> Vec<String> {
        let shown = table(&[(&BARE, runs)], 1e6, Screen::default());
        let row = shown.lines().last().expect("a row");
        row.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn counts_are_in_the_table_and_in_json_and_missing_ones_are_marked() {
        let run = CaseMeasurement { hops: 2.0, counts: [4000.0, 9.0, f64::NAN, 2.0], ..Default::default() };
        assert_eq!(cells(vec![run])[12..], ["2000.0", "4.5", "-", "1.0"]);
        let stated = as_json(&(&BARE, vec![run]), 1.0);
        assert_eq!(
            (&stated["instructions_per_hop"], &stated["l1d_misses_per_hop"]),
            (&json!(2000.0), &Value::Null)
        );
    }

    #[test]
    fn the_median_of_two_runs_is_their_mean_and_extremes_are_those_of_all() {
        let run = |cpu_s| CaseMeasurement { hops: 6e6, cpu_s, ..Default::default() };
        assert_eq!(cells(vec![run(2.0), run(6.0)])[1..5], ["2.00", "1.00", "3.00", "0.50"]);
        assert_eq!(cells(vec![run(2.0), run(6.0), run(6.0)])[1..5], ["1.00", "1.00", "3.00", "1.00"]);
        let stated = as_json(&(&BARE, vec![run(2.0), run(6.0)]), 1e6);
        let rates = ["hops_per_cpu_s", "min_hops_per_cpu_s", "max_hops_per_cpu_s"].map(|key| &stated[key]);
        assert_eq!(rates, [&json!(2e6), &json!(1e6), &json!(3e6)]);
    }

    #[test]
    fn cpu_time_that_is_zero_or_missing_is_not_a_measurement() {
        for cpu_s in [0.0, f64::NAN] {
            let run = CaseMeasurement { hops: 6e6, cpu_s, ..Default::default() };
            assert_eq!(cells(vec![run])[1..5], ["-", "-", "-", "-"]);
            assert_eq!(as_json(&(&BARE, vec![run]), 1e6)["max_hops_per_cpu_s"], Value::Null);
        }
    }

    #[test]
    fn the_help_explains_every_column() {
        let explained: Vec<&str> =
            Guide::find("bench").expect("an entry").columns.iter().map(|column| column.0).collect();
        let heads: Vec<&str> = HEADS.into_iter().chain(EVENTS.map(Event::head)).collect();
        assert_eq!(explained, heads);
    }
}
