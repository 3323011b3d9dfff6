//! Tables 4 and 5 over many phases, and what stands beside them.

use tidegate_report::stats::Estimate;
use tidegate_report::text::{Align, TextTable, number, short};

use super::figures::{TABLE_4, TABLE_5, quantile};
use super::{Results, TICKS_MS, measure};

/// A table with its title.
type Titled = (String, TextTable);

pub(super) fn all(results: &Results) -> Vec<Titled> {
    vec![
        phases(results, "Table 4: overall loss, over drawn phases of the ticks", false, TABLE_4),
        phases(results, "Table 5: overall loss with smoothening, over drawn phases", true, TABLE_5),
        other_phases(results),
        settling(results),
        depths(results),
        results.costs.table(),
        results.others.table(),
    ]
}

/// Where the published losses lie in ours.
fn phases(results: &Results, title: &str, is_smooth: bool, published: [[f64; 2]; 4]) -> Titled {
    let mut table = TextTable::new(&[
        ("flow", Align::Left),
        ("tick [ms]", Align::Right),
        ("published", Align::Right),
        ("mean", Align::Right),
        ("least", Align::Right),
        ("median", Align::Right),
        ("most", Align::Right),
        ("phases below the published", Align::Right),
    ]);
    for (tick_ms, published) in TICKS_MS.into_iter().zip(published) {
        for (flow, published) in published.into_iter().enumerate() {
            let mut losses = measure::losses(results, tick_ms, is_smooth, flow);
            losses.sort_by(f64::total_cmp);
            let below = losses.iter().filter(|loss| **loss < published).count();
            table.row([
                format!("C{}", flow + 1),
                tick_ms.to_string(),
                number(published),
                short(&Estimate::of(&losses)),
                number(quantile(&losses, 0.0)),
                number(quantile(&losses, 0.5)),
                number(quantile(&losses, 1.0)),
                format!("{below} of {}", losses.len()),
            ]);
        }
    }
    (title.to_owned(), table)
}

/// Losses when ticks are counted from the flows' starts.
fn other_phases(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("flow", Align::Left),
        ("tick [ms]", Align::Right),
        ("published", Align::Right),
        ("C1 from its start", Align::Right),
        ("both from their starts", Align::Right),
        ("published, smoothened", Align::Right),
        ("C1 from its start", Align::Right),
        ("both from their starts", Align::Right),
    ]);
    for (place, tick_ms) in TICKS_MS.into_iter().enumerate() {
        for flow in 0..2 {
            let cell = |phases: usize, is_smooth: bool| {
                let cells = results.phased.get(phases).and_then(|ticks| ticks.get(place));
                let runs = cells.map_or(&[][..], |cell| cell[usize::from(is_smooth)].as_slice());
                let losses: Vec<f64> = runs.iter().map(|run| measure::loss(run, flow)).collect();
                short(&Estimate::of(&losses))
            };
            table.row([
                format!("C{}", flow + 1),
                tick_ms.to_string(),
                number(TABLE_4[place][flow]),
                cell(0, false),
                cell(1, false),
                number(TABLE_5[place][flow]),
                cell(0, true),
                cell(1, true),
            ]);
        }
    }
    (
        "Tables 4 and 5 with ticks counted from the flows' starts, the first one a period later".to_owned(),
        table,
    )
}

/// When rates come near the fair one.
fn settling(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("tick [ms]", Align::Right),
        ("within 15 %, s", Align::Right),
        ("within 10 %, s", Align::Right),
        ("within 15 % with smoothening, s", Align::Right),
        ("within 10 % with smoothening, s", Align::Right),
    ]);
    for tick_ms in TICKS_MS {
        let time = |is_smooth, part| {
            short(&Estimate::of(&results.measured(tick_ms, is_smooth, |run| measure::settled(run, part))))
        };
        table.row([
            tick_ms.to_string(),
            time(false, 0.15),
            time(false, 0.1),
            time(true, 0.15),
            time(true, 0.1),
        ]);
    }
    ("Time from which both rates stay near 600 Interests/s for a second; 8 s is never".to_owned(), table)
}

/// Loss of one consumer by depth and round trip.
fn depths(results: &Results) -> Titled {
    let mut table = TextTable::new(&[
        ("clock of 500 ms", Align::Left),
        ("round trips of 400 ms", Align::Right),
        ("round trips of 800 ms", Align::Right),
    ]);
    for depth in [50, 100, 200, 400, 800] {
        let loss = |round_trip| short(&Estimate::of(&results.depths.loss(round_trip, depth, 500)));
        table.row([format!("bucket of {depth}"), loss(400), loss(800)]);
    }
    let title = format!(
        "Loss of one consumer alone; over all ticks and depths the two round trips differ by {} at most",
        number(results.depths.largest_difference())
    );
    (title, table)
}
