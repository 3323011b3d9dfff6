//! Variants that used less than half of their links, with the reason if a scheme's catalogue entry gives one.

use tidegate_core::observe::records::RunRecord;
use tidegate_core::units::Time;
use tidegate_results::compare::Variant;
use tidegate_results::measures;
use tidegate_sim::roles;

use super::variants::VariantPlan;

/// Utilisation of the busiest link below which a scheme's limit is worth a note.
const HALF: f64 = 0.5;
/// The bound for a scheme without a limit, whose short flows may leave a link idle for other reasons.
const FIFTH: f64 = 0.2;

/// `note`, and a sentence for every variant whose busiest link stays nearly empty on average, or below half where the
/// catalogue names a limit of its schemes.
pub(super) fn with_note(note: Option<String>, variants: &[VariantPlan], runs: &[Variant]) -> Option<String> {
    let sentences = variants.iter().zip(runs).filter_map(|(variant, runs)| {
        let limits = roles::limits(&variant.plan);
        let enough = if limits.is_empty() { FIFTH } else { HALF };
        let used = mean_utilisation(runs).filter(|used| *used < enough)?;
        let used = format!("{} used {:.0} % of its busiest link", variant.label, used * 100.0);
        Some(match limits.is_empty() {
            true => {
                format!("{used}. The descriptions of its schemes state no reason for so low a utilisation.")
            }
            false => format!("{used}: {}.", limits.join("; ")),
        })
    });
    let all: Vec<String> = note.into_iter().chain(sentences).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// Mean over the runs, 0..=1; `None` where no run has a link or a flow.
fn mean_utilisation(variant: &Variant) -> Option<f64> {
    let values: Vec<f64> = variant.runs.iter().filter_map(utilisation).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Utilisation of the busiest link or medium while there were flows, 0..=1.
fn utilisation(run: &RunRecord) -> Option<f64> {
    let of_run = (measures::find("utilisation")?.of)(run)?;
    // The measure is over the whole run; time without a flow does not count against the schemes.
    let start = run.flows.iter().map(|flow| flow.start).min()?;
    let over = run.flows.iter().map(|flow| flow.over(run.ended)).max()?;
    let part = over.since(start).as_secs_f64() / run.ended.since(Time::ZERO).as_secs_f64();
    (part > 0.0).then(|| (of_run / part).min(1.0))
}
