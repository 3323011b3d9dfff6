//! The first run of a batch, watched again for its page.

use tidegate_core::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_core::units::Time;
use tidegate_report::digest::{Change, Digest, Folding, too_large};
use tidegate_sim::plan::{self, Plan};
use tidegate_sim::run::watch;

use crate::source;

/// Runs `plan` with the seed of `record` again and folds what happens; `None` for a run that is too large.
pub(crate) fn digest(plan: &Plan, record: &RunRecord) -> Option<Digest> {
    if too_large(record).is_some() {
        return None;
    }
    let network = source::network(plan);
    let mut folding = Folding::new(&network, record);
    let watched = watch(plan, Seed(record.seed), Folding::MASK, &mut |events| folding.hear(events));
    Some(folding.finish(watched, changes(plan)))
}

/// What the scenario changes while flows run, in words.
pub(crate) fn changes(plan: &Plan) -> Vec<Change> {
    let link = |index: usize| format!("link {}", plan.links[index].name);
    let node = |index: usize| format!("node {}", plan.nodes[index].name);
    let text = |change: &plan::Change| match *change {
        plan::Change::LinkDown { link: of, .. } => format!("{} went down", link(of)),
        plan::Change::LinkUp { link: of } => format!("{} came back", link(of)),
        plan::Change::LinkRate { link: of, rate } => format!("{} changed to {rate}", link(of)),
        plan::Change::NodeOff { node: of } => format!("{} stopped", node(of)),
        plan::Change::NodeOn { node: of } => format!("{} came back", node(of)),
    };
    let end = Time::ZERO + plan.duration;
    let within = plan.events.iter().filter(|event| event.at <= end);
    within.map(|event| Change { at: event.at, text: text(&event.change) }).collect()
}
