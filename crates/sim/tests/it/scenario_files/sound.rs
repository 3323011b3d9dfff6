//! What holds of every answer of the parser, whatever the input.

use tidegate_core::units::{Span, Time};
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::{Change, Plan};
use tidegate_sim::scenario::{Errors, Limits, Parser};

/// Small enough that a mutated number cannot take long.
const LIMITS: Limits =
    Limits { text_bytes: 1 << 20, nodes: 2_000, links: 4_000, flows: 2_000, plan_bytes: 64 << 20 };

/// Parses `bytes` and checks the answer.
pub fn check(bytes: &[u8], overrides: &[(String, String)]) -> Result<Plan, Errors> {
    let read =
        |name: &str| if name == "loss.txt" { Ok("0001".to_owned()) } else { Err("not there".to_owned()) };
    let parser =
        Parser { overrides, files: Some(&read), limits: LIMITS, ..Parser::new("input.toml", SCHEMES) };
    let answer = parser.parse_bytes(bytes);
    match &answer {
        Ok(plan) => check_plan(plan),
        Err(errors) => check_errors(errors),
    }
    answer
}

fn check_errors(errors: &Errors) {
    assert!(errors.iter().count() > 0, "a refusal has a reason");
    for error in errors {
        assert!(error.line > 0 && error.column > 0 && error.width > 0, "{error:?}");
        let length = error.excerpt.chars().count();
        assert!(length <= 130 && error.pointer <= length, "{error:?}");
        assert!(error.pointer + error.width <= length.max(error.pointer + 1), "{error:?}");
        assert!(!error.message.is_empty() && error.message.len() < 1_000, "{error:?}");
        assert!(!error.message.contains('\n') && !error.excerpt.contains('\n'), "{error:?}");
    }
}

fn check_plan(plan: &Plan) {
    let (nodes, links) = (plan.nodes.len(), plan.links.len());
    assert!(nodes <= LIMITS.nodes && links <= LIMITS.links && plan.flows.len() <= LIMITS.flows);
    assert!(plan.duration > Span::ZERO && !plan.seeds.is_empty() && !plan.flows.is_empty());
    for link in &plan.links {
        assert!(link.a < nodes && link.b < nodes && link.a != link.b, "{}", link.name);
        assert!(link.rate.iter().all(|rate| rate.as_bps() > 0), "{}", link.name);
    }
    for flow in &plan.flows {
        assert!(flow.consumer < nodes && !flow.producers.is_empty(), "{}", flow.name);
        assert!(flow.producers.iter().all(|node| *node < nodes && *node != flow.consumer), "{}", flow.name);
        assert!((1..=65_536).contains(&flow.payload.get()), "{}", flow.name);
    }
    assert!(plan.events.is_sorted_by_key(|event| event.at));
    for event in &plan.events {
        assert!(event.at < Time::ZERO + plan.duration);
        let is_there = match event.change {
            Change::LinkDown { link, .. } | Change::LinkUp { link } | Change::LinkRate { link, .. } => {
                link < links
            }
            Change::NodeOff { node, .. } | Change::NodeOn { node } | Change::NodeRestart { node } => {
                node < nodes
            }
            Change::ControllerDown | Change::ControllerUp => plan.controller.is_some(),
        };
        assert!(is_there, "{event:?}");
    }
}
