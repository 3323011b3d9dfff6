//! The page of a scenario's runs, as `run` writes it and `report` makes it again.

use tidegate_core::observe::records::RunRecord;
use tidegate_pages::page::{RunPage, SeedPlots, run_page};
use tidegate_results::tables::RunContext;
use tidegate_sim::plan::Plan;

use crate::event_summary::summarize;
use crate::network_drawing;
use crate::plans::installed;
use crate::replay::is_same;

/// File in a folder of results with the command that made them.
pub(crate) const COMMAND: &str = "command.txt";

/// The page of all `runs` of `plan`; the first has its samples, and `sampled` reads those of the others by place.
pub(crate) fn of_runs(
    plan: &Plan,
    context: &RunContext,
    runs: &[RunRecord],
    command: &str,
    sampled: impl Fn(usize) -> Option<RunRecord>,
) -> String {
    let topology = network_drawing::topology(plan);
    let timeline = network_drawing::timeline(plan);
    let installed = installed(std::iter::once((String::new(), plan)));
    let context = RunContext { installed, ..context.clone() };
    // Of results of other code, this program may make other runs than those in the tables.
    let watched = |first| summarize(plan, first).filter(|summary| is_same(first, &summary.watched.record));
    let summary = runs.first().and_then(watched);
    let seeds = runs.first().filter(|_| runs.len() > 1).map(|first| {
        // The first run is on the page in any case.
        let places = 1..runs.len().min(SeedPlots::MAX_SEEDS);
        let mut plots = SeedPlots::new(first, &timeline, places.len());
        places.filter_map(sampled).for_each(|run| plots.add(&[run]));
        plots
    });
    run_page(&RunPage {
        title: &plan.name,
        runs,
        topology: Some(&topology),
        summary: summary.as_ref(),
        timeline: &timeline,
        seeds: seeds.as_ref(),
        command,
        context: &context,
        is_live: false,
    })
}
