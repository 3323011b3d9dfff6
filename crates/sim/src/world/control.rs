//! The controller and its channel: every message takes the same time, and may be lost.

use std::collections::VecDeque;

use tidegate_core::ndn::face::NodeId;
use tidegate_core::observe::event::{Cause, Event, EventMask};
use tidegate_core::observe::records::EventRecord;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::control::{Message, NetworkController, Orders};
use tidegate_core::units::Time;

use super::{EventKind, World};
use crate::plan::ControllerPlan;

/// Messages in one direction, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageLedger {
    /// Number of messages sent.
    pub sent: u64,
    /// Lost on the way, or arrived at a controller that was down.
    pub lost: u64,
    /// Number of messages in transit.
    pub in_flight: u64,
    /// Number of messages delivered.
    pub delivered: u64,
}

impl MessageLedger {
    /// Whether every message is accounted for.
    pub fn balances(&self) -> bool {
        self.sent == self.lost + self.in_flight + self.delivered
    }
}

/// A message on its way.
#[derive(Debug)]
struct InTransit {
    at: Time,
    sent_at: Time,
    node: NodeId,
    content: Box<dyn Message>,
}

/// One direction of the channel; delays are equal, so messages keep their order.
#[derive(Debug)]
struct ChannelDirection {
    messages: VecDeque<InTransit>,
    ledger: MessageLedger,
    losses: Rng,
}

impl ChannelDirection {
    fn new(losses: Rng) -> Self {
        Self { messages: VecDeque::new(), ledger: MessageLedger::default(), losses }
    }

    /// Sends a message; returns its arrival time, `None` if it is lost.
    fn send(
        &mut self,
        now: Time,
        channel: &ControllerPlan,
        node: NodeId,
        content: Box<dyn Message>,
    ) -> Option<Time> {
        self.ledger.sent += 1;
        if channel.loss > 0.0 && self.losses.uniform() < channel.loss {
            self.ledger.lost += 1;
            return None;
        }
        let at = now + channel.delay;
        self.messages.push_back(InTransit { at, sent_at: now, node, content });
        Some(at)
    }

    /// The message that arrives now.
    fn take(&mut self, now: Time) -> Option<InTransit> {
        // All messages have the same delay, so they arrive in the order in which they were sent.
        self.messages.front().is_some_and(|message| message.at <= now).then(|| self.messages.pop_front())?
    }

    fn ledger(&self) -> MessageLedger {
        MessageLedger { in_flight: self.messages.len() as u64, ..self.ledger }
    }
}

/// The network controller with the messages on its channel.
#[derive(Debug)]
pub(super) struct Control {
    plan: ControllerPlan,
    /// `None` while it is down.
    controller: Option<Box<dyn NetworkController>>,
    reports: ChannelDirection,
    directives: ChannelDirection,
    wake: Time,
    orders: Orders,
}

impl Control {
    pub(super) fn new(plan: &ControllerPlan, seed: Seed) -> Self {
        let losses = |way| Rng::stream(seed, &format!("controller/{way}"));
        Self {
            controller: Some(make(plan)),
            plan: plan.clone(),
            reports: ChannelDirection::new(losses("reports")),
            directives: ChannelDirection::new(losses("directives")),
            wake: Time::MAX,
            orders: Orders::default(),
        }
    }
}

fn make(plan: &ControllerPlan) -> Box<dyn NetworkController> {
    let make = plan.scheme.scheme.controller.expect("the plan has only controller schemes here");
    make(&plan.scheme.settings).expect(super::build::CHECKED)
}

/// A report that a part of a node made during a call, to be sent after it.
#[derive(Debug)]
pub(super) struct Reported {
    pub(super) node: NodeId,
    pub(super) report: Box<dyn Message>,
}

impl World {
    /// Reports and directives, by outcome; zeros without a controller.
    pub fn message_ledgers(&self) -> [MessageLedger; 2] {
        self.control
            .as_ref()
            .map_or_else(Default::default, |control| [control.reports.ledger(), control.directives.ledger()])
    }

    /// Sends the reports that components made during the last call.
    #[cold]
    pub(super) fn send_reports(&mut self) {
        let mut reports = std::mem::take(&mut self.present.outside_mut().sink.reports);
        for Reported { node, report } in reports.drain(..) {
            let kind = Cause(report.kind());
            self.note(node, Event::Reported { kind });
            // A node that is off sends no reports.
            let is_on = self.nodes[node.0 as usize].is_on;
            let Some(control) = self.control.as_mut().filter(|_| is_on) else { continue };
            if let Some(at) = control.reports.send(self.agenda.now, &control.plan, node, report) {
                self.agenda.events.push(at, EventKind::Report, 0);
            }
        }
        self.present.outside_mut().sink.reports = reports;
    }

    fn note(&mut self, node: NodeId, event: Event) {
        if self.present.mask.has(EventMask::CONTROL) {
            tidegate_core::context::Sink::record(
                &mut self.present.outside_mut().sink,
                self.agenda.now,
                node,
                event,
            );
        }
    }

    /// A report reached the controller.
    pub(super) fn deliver_report(&mut self) {
        let now = self.agenda.now;
        let Some(control) = &mut self.control else { return };
        let Some(message) = control.reports.take(now) else { return };
        let InTransit { sent_at, node, content, .. } = message;
        let Some(controller) = &mut control.controller else {
            // A controller that is down receives nothing; the report counts as lost, so that the ledger balances.
            control.reports.ledger.lost += 1;
            return;
        };
        control.reports.ledger.delivered += 1;
        controller.on_report(now, node, sent_at, &*content, &mut control.orders);
        self.send_orders();
    }

    /// Runs the controller's timers that are due.
    pub(super) fn wake_controller(&mut self) {
        let now = self.agenda.now;
        let Some(control) = &mut self.control else { return };
        // Stale: the timer was moved forward after this event was scheduled.
        if control.wake != now {
            return;
        }
        control.wake = Time::MAX;
        if let Some(controller) = &mut control.controller {
            controller.on_wake(now, &mut control.orders);
        }
        self.send_orders();
    }

    /// Sends the directives of the controller and schedules its next timer.
    fn send_orders(&mut self) {
        let Some(control) = &mut self.control else { return };
        let mut orders = std::mem::take(&mut control.orders);
        // Collected first, because `control` borrows the world until all directives are sent.
        let mut due = Vec::new();
        for (node, directive) in orders.directives.drain(..) {
            due.extend(control.directives.send(self.agenda.now, &control.plan, node, directive));
        }
        for at in due {
            self.agenda.events.push(at, EventKind::Directive, 0);
        }
        for (part, operations) in orders.work.drain(..) {
            self.note(CONTROLLER, Event::Worked { part, operations });
        }
        for (about, event) in orders.found.drain(..) {
            self.note(about, event);
        }
        if let Some(control) = &mut self.control {
            control.orders = orders;
        }
        self.rearm_controller();
    }

    pub(super) fn rearm_controller(&mut self) {
        let now = self.agenda.now;
        let Some(control) = &mut self.control else { return };
        let wake = control.controller.as_ref().and_then(|controller| controller.next_wake());
        if let Some(wake) = wake.map(|wake| wake.max(now))
            && wake < control.wake
        {
            control.wake = wake;
            self.agenda.events.push(wake, EventKind::ControllerWake, 0);
        }
    }

    /// A directive reached its router.
    pub(super) fn deliver_directive(&mut self) {
        let now = self.agenda.now;
        let Some(control) = &mut self.control else { return };
        let Some(InTransit { node, content, .. }) = control.directives.take(now) else { return };
        let index = node.0 as usize;
        // The controller may address a node that is off since its report; the directive is then dropped.
        if !self.nodes.get(index).is_some_and(|node| node.is_on) {
            control.directives.ledger.lost += 1;
            return;
        }
        control.directives.ledger.delivered += 1;
        self.note(node, Event::Directed { kind: Cause(content.kind()) });
        let super::SimNode { core, directions, .. } = &mut self.nodes[index];
        core.on_directive(env!(self, index), &*content, lines!(self, directions));
        self.settle(index);
        self.rearm_agents(index);
        self.drain_ready();
    }

    /// The controller stops, or a new one starts.
    pub(super) fn set_controller(&mut self, up: bool) {
        let Some(control) = &mut self.control else { return };
        // A new instance starts without the state and the timers of the one before.
        control.wake = Time::MAX;
        control.controller = up.then(|| make(&control.plan));
        self.rearm_controller();
    }

    /// Runs the timers of an agent of `node` that are due.
    pub(super) fn wake_agents(&mut self, node: usize) {
        let sim = &mut self.nodes[node];
        // Stale: the timer was moved forward after this event was scheduled.
        if sim.agent_wake != self.agenda.now {
            return;
        }
        sim.agent_wake = Time::MAX;
        sim.wakeups.note(self.agenda.now);
        sim.core.wake_agents(env!(self, node));
        // A directive can make gates and the strategy of the same scheme due earlier than scheduled.
        self.rearm_node(node);
        self.rearm_agents(node);
    }

    pub(super) fn rearm_agents(&mut self, node: usize) {
        let sim = &mut self.nodes[node];
        if let Some(wake) = sim.core.agent_wake().map(|wake| wake.max(self.agenda.now))
            && wake < sim.agent_wake
        {
            sim.agent_wake = wake;
            self.agenda.events.push(wake, EventKind::AgentWake, node);
        }
    }
}

/// The node that events of the controller carry: none of the network.
const CONTROLLER: NodeId = NodeId(EventRecord::CONTROLLER);
