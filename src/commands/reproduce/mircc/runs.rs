//! The plans of all runs: the scenario's file with the values of a cell.

use tidegate_sim::plan::Plan;

use super::super::{Extent, REDUCED_SEEDS, checked};
use super::{Bench, FILE};
use crate::exit::Failure;

/// Seeds of the experiments beside the paper's.
const SIDE_SEEDS: usize = 8;

/// Nodes whose consumers have a clock, and all that compute rates.
const CONSUMERS: [&str; 2] = ["node.c1", "node.c2"];
const GATES: [&str; 3] = ["router", "node.c1", "node.c2"];

type Set<'a> = [(&'a str, String)];

/// Where the consumers' first ticks lie, beside drawn ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phases {
    /// One whole period after C1's start; drawn for C2.
    FirstFromStart,
    /// One whole period after each consumer's start.
    FromStart,
}

impl Phases {
    /// For the nodes c1 and c2, as in a scenario: any tick says where all are. One that is due just before the start
    /// makes the first one after it a whole period later.
    fn values(self) -> [&'static str; 2] {
        match self {
            Self::FirstFromStart => ["999999us", "random"],
            Self::FromStart => ["999999us", "2999999us"],
        }
    }
}

/// As [`of_clock`], with other phases.
pub(super) fn of_phases(
    bench: &Bench<'_>,
    tick_ms: u64,
    is_smooth: bool,
    phases: Phases,
) -> Result<Plan, Failure> {
    let keys = CONSUMERS.map(|node| format!("{node}.clock.phase"));
    let values = phases.values().map(|value| format!("\"{value}\""));
    let set: Vec<(&str, String)> = keys.iter().map(String::as_str).zip(values).collect();
    of_clock(bench, tick_ms, is_smooth, &set)
}

/// A clock of this tick at consumers and as routers' interval, with `more` for every gate.
pub(super) fn of_clock(
    bench: &Bench<'_>,
    tick_ms: u64,
    is_smooth: bool,
    more: &Set<'_>,
) -> Result<Plan, Failure> {
    let mut set = Vec::new();
    for node in CONSUMERS {
        set.push((format!("{node}.clock.period"), format!("\"{tick_ms}ms\"")));
        set.push((format!("{node}.clock.flush_on_arrival"), is_smooth.to_string()));
    }
    set.extend(at_gates("interval", &format!("\"{tick_ms}ms\"")));
    set.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    plan(bench, &set)
}

/// A clock without ticks, and this interval at routers.
pub(super) fn fine(bench: &Bench<'_>, interval_ms: u64) -> Result<Plan, Failure> {
    let mut plan = plan(bench, &at_gates("interval", &format!("\"{interval_ms}ms\"")))?;
    plan.nodes.iter_mut().for_each(|node| node.clock = None);
    Ok(plan)
}

/// A parameter of every gate.
pub(super) fn at_gates(parameter: &str, value: &str) -> Vec<(String, String)> {
    GATES.iter().map(|place| (format!("{place}.parts.0.{parameter}"), value.to_owned())).collect()
}

/// The first consumer alone, on fewer seeds.
pub(super) fn alone(mut plan: Plan) -> Plan {
    plan.flows.truncate(1);
    aside(plan)
}

/// On as many seeds as an experiment beside the paper's has.
pub(super) fn aside(mut plan: Plan) -> Plan {
    plan.seeds.truncate(SIDE_SEEDS);
    plan
}

/// The scenario with these values.
pub(super) fn plan(bench: &Bench<'_>, set: &[(String, String)]) -> Result<Plan, Failure> {
    let (file, text) = FILE;
    let mut plan = checked(bench.session, (&format!("scenarios/papers/mircc/{file}"), text), set)?;
    if bench.extent == Extent::Reduced {
        plan.seeds.truncate(REDUCED_SEEDS);
    }
    Ok(plan)
}
