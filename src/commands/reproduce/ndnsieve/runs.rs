//! The plans of all runs: a scenario's file with the values of a row.

use tidegate_core::event::EventMask;
use tidegate_core::units::{Span, Time};
use tidegate_sim::plan::{Change, EventPlan, Plan};

use super::super::{Extent, REDUCED_SEEDS, checked};
use super::{Bench, MULTIPATH2, Row, SCENARIOS, SIEVE, SSR, Scenario, invariants};
use crate::exit::Failure;

/// Simulated time of a quick look, s: the third flow of scenario 3 starts at 2 s.
const REDUCED_SECONDS: u64 = 4;

/// Ways in which the control of routers fails; in claim ids.
pub(super) const DISTURBANCES: [&str; 3] = ["down", "loss", "late"];

/// A row in a scenario; ndnSieve's own leaves a trace of every packet for its invariants.
pub(super) fn of_row(bench: &Bench<'_>, scenario: &Scenario, row: Row) -> Result<Plan, Failure> {
    let mut plan = with(bench, scenario, row, &[])?;
    if row.id == SIEVE.id {
        plan.recorded = plan.recorded.and(invariants::EVENTS);
    }
    Ok(plan)
}

/// A row in a scenario with more values set.
pub(super) fn with(
    bench: &Bench<'_>,
    scenario: &Scenario,
    row: Row,
    more: &[(&str, &str)],
) -> Result<Plan, Failure> {
    let set = [("flow.*.scheme", row.consumer), ("router.parts", row.routers)];
    let set: Vec<(String, String)> =
        set.iter().chain(more).map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let file = format!("scenarios/papers/ndnsieve/{}", scenario.file);
    let mut plan = checked(bench.session, (&file, scenario.text), &set)?;
    plan.recorded = EventMask::CONSUMERS.and(EventMask::CONTROL).and(EventMask::QUEUES);
    if bench.extent == Extent::Reduced {
        plan.seeds.truncate(REDUCED_SEEDS);
        plan.duration = plan.duration.min(Span::from_secs(REDUCED_SECONDS));
    }
    Ok(plan)
}

/// Scenario 3 with each disturbance, then undisturbed without a controller, then with routers that only forward.
pub(super) fn disturbed(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    let calm = with(bench, &SCENARIOS[MULTIPATH2], SSR, &[])?;
    let mut plans: Vec<Plan> = DISTURBANCES.iter().map(|which| disturb(calm.clone(), which)).collect();
    plans.push(Plan { controller: None, ..calm });
    plans.push(with(bench, &SCENARIOS[MULTIPATH2], Row { routers: "[]", ..SSR }, &[])?);
    Ok(plans)
}

fn disturb(mut plan: Plan, which: &str) -> Plan {
    let Some(controller) = &mut plan.controller else { return plan };
    match which {
        "loss" => controller.loss = 0.5,
        "late" => controller.delay = Span::from_secs(1),
        _ => {
            let at = Time::ZERO + Span::from_secs(2);
            plan.events.push(EventPlan { at, change: Change::ControllerDown });
        }
    }
    plan
}
