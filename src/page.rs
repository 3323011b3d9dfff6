//! The page of a scenario's runs, as `run` writes it and `report` makes it again.

use tidegate_core::records::RunRecord;
use tidegate_report::page::{RunPage, run_page};
use tidegate_report::tables::RunContext;
use tidegate_sim::plan::Plan;
use tidegate_sim::roles;

use crate::digest::digest;
use crate::drawing;

/// File in a folder of results that holds the command which made them.
pub(crate) const COMMAND: &str = "command.txt";

/// The page of all `runs` of `plan`; the first has its samples.
pub(crate) fn of_runs(plan: &Plan, context: &RunContext, runs: &[RunRecord], command: &str) -> String {
    let topology = drawing::topology(plan);
    let timeline = drawing::timeline(plan);
    let installed = roles::installed(plan).into_iter().map(|installed| (String::new(), installed)).collect();
    let context = RunContext { installed, ..context.clone() };
    let digest = runs.first().and_then(|first| digest(plan, first));
    run_page(&RunPage {
        title: &plan.name,
        runs,
        topology: Some(&topology),
        digest: digest.as_ref(),
        timeline: &timeline,
        command,
        context: &context,
        is_live: false,
    })
}
