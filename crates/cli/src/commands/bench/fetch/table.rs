//! The table of all cells, as Markdown and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::cells::BenchCell;
use super::record::{FetchMeasurement, FetchMeasurements};

/// Retransmissions beyond the loss of the path, percentage points, up to which a scheme counts as a
/// competitor.
const MAX_AGAIN_PCT: f64 = 2.0;

/// Tolerated distance of a goodput below the best one, as a fraction.
const MAX_BELOW: f64 = 0.1;

/// The scheme that is compared with the best of the others.
const JUDGED: &str = "default";

/// Follows a measurement in which the link was late.
const LATE: &str = " (late)";

/// Best goodput in `cell` of other schemes without excessive retransmissions, Mbit/s; `None` without any.
fn best_mbps(cell: &BenchCell, results: &FetchMeasurements) -> Option<f64> {
    // More retransmissions than the path causes are the scheme's own: overruns of the queue or spurious
    // timeouts.
    let max_again_pct = cell.lost_data_pct() + MAX_AGAIN_PCT;
    let others = results.schemes(JUDGED).into_iter().filter(|scheme| *scheme != JUDGED);
    let measured = others.filter_map(|scheme| results.get(&cell.name(), scheme));
    let fair = measured.filter(|measured| measured.retransmitted_pct <= max_again_pct);
    fair.map(|measured| measured.goodput_mbps).max_by(f64::total_cmp)
}

/// Whether the default is too far below the best; `None` where either was not measured, or the link was late under the
/// default.
fn is_below(cell: &BenchCell, results: &FetchMeasurements) -> Option<bool> {
    let (best, judged) = (best_mbps(cell, results)?, results.get(&cell.name(), JUDGED)?);
    // A late link has added delay that the scheme may have reacted to: the machine would be judged.
    let is_late = judged.late_ms > cell.max_late_ms();
    (!is_late).then_some(judged.goodput_mbps < (1.0 - MAX_BELOW) * best)
}

fn shown(cell: &BenchCell, measured: Option<&FetchMeasurement>) -> String {
    let Some(FetchMeasurement { goodput_mbps, retransmitted_pct, queue_ms, late_ms, .. }) = measured else {
        return "–".to_owned();
    };
    let queue = if queue_ms.is_nan() { String::new() } else { format!(", {queue_ms:.1} ms") };
    let late = if *late_ms > cell.max_late_ms() { LATE } else { "" };
    format!("{goodput_mbps:.1}, {retransmitted_pct:.2} %{queue}{late}")
}

/// A row per cell: goodput in Mbit/s, retransmissions in percent of the Interests, mean wait in the link's queue.
pub(super) fn markdown(cells: &[BenchCell], results: &FetchMeasurements) -> String {
    let schemes = results.schemes(JUDGED);
    let mut text =
        format!("| path | {} | |\n|---|{}---|\n", schemes.join(" | "), "---|".repeat(schemes.len()));
    for cell in cells {
        let values: Vec<String> =
            schemes.iter().map(|scheme| shown(cell, results.get(&cell.name(), scheme))).collect();
        let verdict = match is_below(cell, results) {
            Some(true) => "below",
            Some(false) | None => "",
        };
        let _ = writeln!(text, "| {} | {} | {verdict} |", cell.name(), values.join(" | "));
    }
    let judged: Vec<bool> = cells.iter().filter_map(|cell| is_below(cell, results)).collect();
    if judged.is_empty() {
        return text;
    }
    let below = judged.iter().filter(|is_below| **is_below).count();
    let _ = writeln!(
        text,
        "\n{below} of {} cells: the default is more than {:.0} % below the best other scheme whose fraction of \
         retransmissions is below the loss rate of Data plus {MAX_AGAIN_PCT} percentage points.",
        judged.len(),
        100.0 * MAX_BELOW
    );
    if text.contains(LATE) {
        text += "\nlate: the emulated link sent datagrams later than a tenth of the round trip (at least 0.5 ms) at the \
                 99th percentile, in each of three tries. Cells in which it was late for the default are not \
                 judged; measurements of other schemes are used in any case.\n";
    }
    if let builds @ [_, _, ..] = results.builds().as_slice() {
        let _ =
            writeln!(text, "\nMeasured by {} builds of the program: {}.", builds.len(), builds.join(", "));
    }
    text
}

/// The table as JSON, with all measures.
pub(super) fn json(cells: &[BenchCell], results: &FetchMeasurements) -> Value {
    let measured = |cell: &BenchCell, scheme: &str| {
        let found = results.get(&cell.name(), scheme)?;
        Some(json!({
            "scheme": scheme,
            "goodput_mbps": found.goodput_mbps,
            "retransmitted_pct": found.retransmitted_pct,
            "queue_ms": found.queue_ms,
            "rtt_ms": found.rtt_ms,
            "late_ms": found.late_ms,
            "is_late": found.late_ms > cell.max_late_ms(),
        }))
    };
    let row = |cell: &BenchCell| {
        let schemes = results.schemes(JUDGED).into_iter().filter_map(|scheme| measured(cell, scheme));
        json!({
            "cell": cell.name(),
            "lost_data_pct": cell.lost_data_pct(),
            "default_is_below": is_below(cell, results).map_or(Value::Null, Value::from),
            "measured": schemes.collect::<Value>(),
        })
    };
    cells.iter().map(row).collect::<Value>()
}
