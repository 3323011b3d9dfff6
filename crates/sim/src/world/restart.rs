//! Restart of a node: its components are rebuilt as at the start of the run, with other random streams.

use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{Span, Time};

use super::build::{Blueprint, Ports, build_node};
use super::{SimNode, World};
use crate::plan::{Change, Plan};

/// Template from which a restarted node is built.
#[derive(Debug)]
pub(super) struct RestartTemplate {
    plan: Plan,
    ports: Ports,
    delays: Vec<Span>,
    seed: Seed,
    /// Number of restarts so far.
    restarts: u64,
}

impl RestartTemplate {
    /// `None` for a plan in which nothing restarts.
    pub(super) fn of(plan: &Plan, ports: Ports, delays: Vec<Span>, seed: Seed) -> Option<Box<Self>> {
        let restarts = plan.events.iter().any(|event| matches!(event.change, Change::NodeRestart { .. }));
        restarts.then(|| Box::new(Self { plan: plan.clone(), ports, delays, seed, restarts: 0 }))
    }
}

impl World {
    /// Resets all state of a node; a node that is off has only the state that it retained.
    pub(super) fn restart_node(&mut self, node: usize) {
        let Some(mut restart_template) = self.restart_template.take() else { return };
        restart_template.restarts += 1;
        // Another seed for each restart, or the node would draw the same numbers again.
        let seed = Seed(
            Rng::stream(restart_template.seed, &format!("restart/{}", restart_template.restarts)).bits(),
        );
        // A rate that an event has changed belongs to the link and survives the restart.
        for direction in &self.nodes[node].directions {
            let wire = &self.directions[*direction as usize];
            let rate = self.nodes[node].core.faces()[wire.from.face.index()].rate();
            restart_template.plan.links[*direction as usize / 2].rate[*direction as usize % 2] = rate;
        }
        let RestartTemplate { plan, ports, delays, .. } = &*restart_template;
        let fresh = build_node(&Blueprint { plan, ports, delays, seed }, node, &mut self.names);
        self.restart_template = Some(restart_template);
        let SimNode { core, wake, agent_wake, .. } = &mut self.nodes[node];
        core.restart(env!(self, node), &mut self.agenda.packets, fresh.core);
        // Events that are pending for the old timers become stale.
        (*wake, *agent_wake) = (Time::MAX, Time::MAX);
        self.clear_servers(node);
        self.settle(node);
        self.rearm_agents(node);
        self.drain_ready();
    }
}
