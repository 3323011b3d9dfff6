//! Variants of a scenario: each sets one or several keys to one value.

use tidegate_sim::plan::{FlowPlan, Plan};

use super::Arguments;
use crate::Session;
use crate::exit::{Exit, Failure};
use crate::parameter_grid::{self, Tried};
use crate::store::Identity;

/// A variant without errors in its plan.
#[derive(Debug)]
pub(super) struct VariantPlan {
    /// Name of the variant in tables.
    pub(super) label: String,
    /// Plan with the variant's changes.
    pub(super) plan: Plan,
    /// Identity of the plan in the store.
    pub(super) identity: Identity,
}

impl Arguments {
    /// Reads every variant of the scenario `plan`; with `may_be_one` a single variant is accepted, also the
    /// scenario as written.
    pub(super) fn variants(
        &self,
        session: &Session,
        plan: &Plan,
        may_be_one: bool,
    ) -> Result<Vec<VariantPlan>, Failure> {
        if !self.flow.is_empty() && self.schemes.as_ref().or(self.consumers.as_ref()).is_none() {
            return Err(Failure::usage("--flow requires --schemes or --consumers"));
        }
        let of_flows = |option, schemes: &str, keys: Vec<String>| {
            parameter_grid::parse_schemes(option, schemes).map_err(Failure::usage).map(|axis| (axis, keys))
        };
        let (axis, keys) = match (&self.schemes, &self.consumers, &self.vary) {
            (Some(schemes), ..) => of_flows("--schemes", schemes, self.whole_keys(plan)?)?,
            (_, Some(schemes), _) => of_flows("--consumers", schemes, self.scheme_keys(plan)?)?,
            (None, None, Some(axis)) => (axis.clone(), vec![axis.key.clone()]),
            (None, None, None) if may_be_one => {
                let (label, identity) = ("as written".to_owned(), Identity::of(plan));
                return Ok(vec![VariantPlan { label, plan: plan.clone(), identity }]);
            }
            (None, None, None) => {
                let options = "--schemes A,B,..., --consumers A,B,... or --vary KEY=V1,V2,...";
                return Err(Failure::usage(format!("give {options}")));
            }
        };
        let option = match (&self.schemes, &self.consumers) {
            (Some(_), _) => "--schemes",
            (_, Some(_)) => "--consumers",
            _ => "--vary",
        };
        keys.iter().try_for_each(|key| parameter_grid::refuse_set(option, key, &self.overrides.set))?;
        let label = |tried: &Tried| match self.schemes.as_ref().or(self.consumers.as_ref()) {
            Some(_) => tried.shown(),
            None => format!("{}={}", axis.key, tried.shown()),
        };
        let mut variants = Vec::new();
        let mut messages = Vec::new();
        for tried in &axis.values {
            let mut overrides = self.overrides.set.clone();
            overrides.extend(keys.iter().map(|key| (key.clone(), tried.written.clone())));
            match parameter_grid::read_tried(session, &self.scenario, &overrides, tried)? {
                Ok((plan, identity)) => variants.push(VariantPlan { label: label(tried), plan, identity }),
                Err(message) => messages.push(message),
            }
        }
        match (messages.is_empty(), variants.as_slice()) {
            (false, _) => Err(Failure { exit: Exit::Error, message: messages.join("\n") }),
            (true, [_]) if !may_be_one => {
                Err(Failure::usage("one variant cannot be compared; give two or more"))
            }
            (true, _) => Ok(variants),
        }
    }

    /// The overrides that install whole schemes.
    fn whole_keys(&self, plan: &Plan) -> Result<Vec<String>, Failure> {
        if self.flow.is_empty() {
            return Ok(vec!["scheme".to_owned()]);
        }
        let keys = self.scheme_keys(plan)?;
        Ok(keys.iter().map(|key| format!("scheme.{}", key.trim_end_matches(".scheme"))).collect())
    }

    /// Paths of the schemes of consumers and TCP senders.
    fn scheme_keys(&self, plan: &Plan) -> Result<Vec<String>, Failure> {
        if self.flow.is_empty() {
            let is_tcp = plan.flows.iter().all(|flow| flow.tcp.is_some());
            return Ok(vec![format!("{}.*.scheme", if is_tcp { "tcp" } else { "flow" })]);
        }
        let key = |name: &String| {
            let flow = plan.flows.iter().find(|flow| flow.name == *name);
            let table = |flow: &FlowPlan| if flow.tcp.is_some() { "tcp" } else { "flow" };
            flow.map(|flow| format!("{}.{}.scheme", table(flow), flow.table)).ok_or_else(|| {
                let known: Vec<&str> = plan.flows.iter().take(12).map(|flow| flow.name.as_str()).collect();
                Failure::usage(format!(
                    "--flow {name:?} is not a flow of the scenario; flows: {}",
                    known.join(", ")
                ))
            })
        };
        let mut keys = self.flow.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        // Flows that one table repeats share their scheme.
        keys.dedup();
        Ok(keys)
    }
}
