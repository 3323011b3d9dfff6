//! A node that restarts: everything on it is made anew as at the start, and draws other random numbers.

use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{Span, Time};

use super::build::{Ports, build_node};
use super::{SimNode, World};
use crate::plan::{Change, Plan};

/// What nodes are made of.
#[derive(Debug)]
pub(super) struct Kit {
    plan: Plan,
    ports: Ports,
    delays: Vec<Span>,
    seed: Seed,
    /// Restarts until now.
    restarts: u64,
}

impl Kit {
    /// `None` for a plan in which nothing restarts.
    pub(super) fn of(plan: &Plan, ports: Ports, delays: Vec<Span>, seed: Seed) -> Option<Box<Self>> {
        let restarts = plan.events.iter().any(|event| matches!(event.change, Change::NodeRestart { .. }));
        restarts.then(|| Box::new(Self { plan: plan.clone(), ports, delays, seed, restarts: 0 }))
    }
}

impl World {
    /// A node forgets everything; one that is off has nothing to forget but what it kept.
    pub(super) fn restart_node(&mut self, node: usize) {
        let Some(mut kit) = self.kit.take() else { return };
        kit.restarts += 1;
        let seed = Seed(Rng::stream(kit.seed, &format!("restart/{}", kit.restarts)).bits());
        for direction in &self.nodes[node].directions {
            let wire = &self.directions[*direction as usize];
            let rate = self.nodes[node].core.faces()[wire.from.face.index()].rate();
            kit.plan.links[*direction as usize / 2].rate[*direction as usize % 2] = rate;
        }
        let fresh = build_node(&kit.plan, &kit.ports, &kit.delays, node, seed, &mut self.names);
        self.kit = Some(kit);
        let SimNode { core, wake, agent_wake, .. } = &mut self.nodes[node];
        core.restart(env!(self, node), fresh.core);
        (*wake, *agent_wake) = (Time::MAX, Time::MAX);
        self.clear_servers(node);
        self.settle(node);
        self.rearm_agents(node);
        self.drain_ready();
    }
}
