//! Each claim's quantity, made of what is kept of the runs.

use super::kept::{Bin, FlowKept, Kept, dead};
use super::{Results, TICKS_MS};

/// Fair rate of two flows, Interests/s.
const FAIR: f64 = 600.0;
/// Start and end of the second flow, s.
const SECOND: (f64, f64) = (3.0, 8.0);

/// The quantity of claim `id`, one sample per seed; `None` for an id that is not known.
pub(super) fn samples(results: &Results, id: &str) -> Option<Vec<f64>> {
    let parts: Vec<&str> = id.split('-').collect();
    Some(match parts.as_slice() {
        ["M1"] => results.measured(100, false, |run| rate(run, 0, 2.0, 3.0)),
        ["M2", flow] => {
            let flow = place(flow)?;
            results.measured(100, false, |run| rate(run, flow, 6.0, 8.0))
        }
        ["M3"] => results.measured(250, false, |run| settled(run, 0.15) - SECOND.0),
        ["M4", tick, flow] => {
            let flow = place(flow)?;
            results.measured(tick_ms(tick)?, false, |run| rate(run, flow, 5.0, 8.0))
        }
        ["M5", tick, flow] => losses(results, tick_ms(tick)?, false, place(flow)?),
        ["M6", tick, flow] => losses(results, tick_ms(tick)?, true, place(flow)?),
        ["M7", tick, flow] => paired(results, tick_ms(tick)?, place(flow)?, |plain, smooth| smooth - plain),
        ["M8", tick, flow] => paired(results, tick_ms(tick)?, place(flow)?, |plain, smooth| smooth / plain),
        ["M9", "500"] => results.measured(500, true, |run| settled(run, 0.1)),
        ["M9", "slower"] => {
            let times = |tick| results.measured(tick, true, |run| settled(run, 0.1));
            times(750).iter().zip(times(500)).map(|(slow, fast)| slow - fast).collect()
        }
        ["M10", "smooth", flow] => dead_bins(results, 750, true, place(flow)?, |flow| &flow.left),
        ["M10", "due", "smooth", flow] => dead_bins(results, 750, true, place(flow)?, |flow| &flow.due),
        ["M10", "due", tick, flow] => {
            dead_bins(results, tick_ms(tick)?, false, place(flow)?, |flow| &flow.due)
        }
        ["M10", tick, flow] => dead_bins(results, tick_ms(tick)?, false, place(flow)?, |flow| &flow.left),
        ["M11", tick] => results.depths.loss(400, 200, tick_ms(tick)?),
        ["M12", "onset"] => {
            let (long, short) = (losses(results, 500, false, 0), losses(results, 250, false, 0));
            long.iter().zip(short).map(|(long, short)| long - short).collect()
        }
        ["M12", "rtt"] => results.depths.loss(800, 200, 500),
        ["M12", "depth"] => results.depths.loss(400, 800, 500),
        ["M13", "alone"] => results.fine.iter().map(|run| rate(run, 0, 2.0, 3.0)).collect(),
        ["M13", flow] => at_rest(&results.fine, place(flow)?),
        ["M13", flow, "100"] => at_rest(&results.slow_fine, place(flow)?),
        _ => return None,
    })
}

/// A flow's rate at last, while there are two.
fn at_rest(runs: &[Kept], flow: usize) -> Vec<f64> {
    runs.iter().map(|run| rate(run, flow, 6.0, 8.0)).collect()
}

fn place(flow: &str) -> Option<usize> {
    ["c1", "c2"].iter().position(|known| *known == flow)
}

fn tick_ms(tick: &str) -> Option<u64> {
    tick.parse().ok().filter(|tick| TICKS_MS.contains(tick))
}

fn rate(run: &Kept, flow: usize, from_s: f64, to_s: f64) -> f64 {
    run.flows.get(flow).map_or(f64::NAN, |flow| flow.rate(from_s, to_s))
}

/// When both flows are within `part` of the fair rate, s.
pub(super) fn settled(run: &Kept, part: f64) -> f64 {
    run.settled(FAIR, part, SECOND.0, SECOND.1)
}

/// Part of a flow's Interests without Data.
pub(super) fn losses(results: &Results, tick_ms: u64, is_smooth: bool, flow: usize) -> Vec<f64> {
    results.measured(tick_ms, is_smooth, |run| loss(run, flow))
}

/// The same of one run.
pub(super) fn loss(run: &Kept, flow: usize) -> f64 {
    run.flows.get(flow).map_or(f64::NAN, |flow| flow.loss())
}

fn dead_bins(
    results: &Results,
    tick_ms: u64,
    is_smooth: bool,
    flow: usize,
    of: fn(&FlowKept) -> &[Bin],
) -> Vec<f64> {
    results.measured(tick_ms, is_smooth, |run| run.flows.get(flow).map_or(f64::NAN, |flow| dead(of(flow))))
}

/// Losses without and with smoothening, under the same phases.
fn paired(results: &Results, tick_ms: u64, flow: usize, of: fn(f64, f64) -> f64) -> Vec<f64> {
    let (plain, smooth) = (losses(results, tick_ms, false, flow), losses(results, tick_ms, true, flow));
    plain.iter().zip(smooth).map(|(plain, smooth)| of(*plain, smooth)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::CLAIMS;
    use super::*;

    #[test]
    fn every_claim_of_the_file_has_a_quantity_and_no_other() {
        let results = Results::default();
        let paper = tidegate_report::claims::parse(CLAIMS, "claims.toml").expect("the file is good");
        for claim in &paper.claims {
            assert_eq!(samples(&results, &claim.id), Some(Vec::new()), "{}", claim.id);
        }
        for unknown in ["M2", "M2-c3", "M4-300-c1", "M9-100", "M12", "M99", ""] {
            assert_eq!(samples(&results, unknown), None, "{unknown}");
        }
    }
}
