//! A BRF switch: the ports of one node behind their gates, and the agent that exchanges messages with the controller.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_core::prelude::*;
use crate::brf::messages::{Directive, FlowGrant, QueueLoad, Report};

use super::detector::{Detector, Rules};
use super::flow::SegmentClass;
use super::flow_table::FlowNumber;
use super::port::Port;
use super::{Backlog, Control, Params, rate_code};
use crate::brf::rate_code::GRANTED_RATE;

/// Lifetime of a grant of another switch without a refresh.
const FOREIGN_LASTS: Span = Span::from_secs(2);
/// A message with a lower number than the last one of its switch was overtaken if it arrives within this time; later
/// it is from a switch that was restarted. Half of the interval after which each grant is repeated.
const OVERTAKEN: Span = Span::from_millis(250);

/// A grant of another switch for a flow whose ACKs may pass here.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    grant: FlowGrant,
    at: Time,
}

/// State that the roles on one node share.
#[derive(Debug)]
pub(super) struct Switch {
    /// Ports by face number.
    pub(super) ports: Vec<Port>,
    /// Grants by flow and switch: a flow may pass several switches that its ACKs do not.
    foreign: BTreeMap<(FlowNumber, NodeId), Foreign>,
    max_foreign: usize,
}

impl Switch {
    pub(super) fn new(params: &Params, node: &NodeSetup) -> Self {
        let port = |device: &tidegate_core::scheme::DeviceSetup| Port::new(params, device.rate);
        Self {
            ports: node.devices.iter().map(port).collect(),
            foreign: BTreeMap::new(),
            max_foreign: params.table_entries as usize,
        }
    }

    /// Class of a segment, in either direction of its flow.
    pub(super) fn class(&self, header: &Header) -> SegmentClass {
        let number = header.name.segment.0;
        // Any port: the data of a flow may leave through another device than the one its ACKs leave through.
        let known = self.ports.iter().find_map(|port| port.class(number));
        // A flow for which the table has no room gets no grant, so that its sender is CUBIC.
        known.unwrap_or(SegmentClass::Other)
    }

    /// Whether a segment belongs to an application-limited flow.
    pub(super) fn is_limited(&self, header: &Header) -> bool {
        self.ports.iter().any(|port| port.is_limited(header.name.segment.0))
    }

    /// Records the new events of the ports.
    fn record(&mut self, cx: &mut Context<'_>) {
        for (face, port) in (0..).map(FaceId).zip(&mut self.ports) {
            port.take_news(face, &mut |event| cx.record(event));
        }
    }

    fn on_out(&mut self, cx: &Context<'_>, face: FaceId, header: &Header) {
        let Some(port) = self.ports.get_mut(face.index()) else { return };
        // A round that was due before this segment ends first, so that the segment counts for the next one.
        port.tick(cx.now, cx.face(face).rate());
        match header.kind {
            Kind::Tcp(segment) => port.on_out(cx.now, cx.names, header, &segment),
            _ => port.on_other(cx.now),
        }
    }

    /// Handles an arriving segment without payload: an ACK, if its flow is known by another name.
    fn on_in(&mut self, cx: &Context<'_>, face: FaceId, header: &mut Header, segment: &TcpSegment) {
        let own = face.index();
        let others = (0..self.ports.len()).filter(|port| *port != own);
        // An ACK comes in where its data goes out on symmetric routes, so that port is tried first.
        for index in [own].into_iter().chain(others) {
            let Some(port) = self.ports.get_mut(index) else { continue };
            port.tick(cx.now, cx.faces[index].rate());
            if port.on_ack(cx.now, cx.names, header, segment) {
                break;
            }
        }
        self.write_foreign(cx.now, header);
    }

    /// Writes the minimum of the grants of other switches (eq. 7).
    fn write_foreign(&mut self, now: Time, header: &mut Header) {
        let number = header.name.segment.0;
        let all = (number, NodeId(0))..=(number, NodeId(u32::MAX));
        let counts = |foreign: &&Foreign| {
            // A segment under the prefix of the data is data itself, not an ACK.
            foreign.grant.flow.prefix != header.name.prefix && now.since(foreign.at) < FOREIGN_LASTS
        };
        let granted = self.foreign.range(all).map(|(_, foreign)| foreign).filter(counts);
        let Some(min) = granted.map(|foreign| foreign.grant.rate).min() else { return };
        let own = rate_code::encode(min.as_bps() as f64 / 8.0);
        let min = rate_code::min(header.hop.get(GRANTED_RATE), own);
        header.hop.put(GRANTED_RATE, u32::from(min));
    }

    /// Receives a grant of another switch; one that is older than the last is ignored.
    fn on_grant(&mut self, now: Time, grant: FlowGrant) {
        let key = (grant.flow.segment.0, grant.origin);
        let known = self.foreign.get(&key);
        let is_overtaken = |known: &Foreign| {
            known.grant.sequence >= grant.sequence && now.since(known.at) < OVERTAKEN
        };
        if known.is_some_and(is_overtaken) {
            return;
        }
        if known.is_none() && self.foreign.len() >= self.max_foreign {
            self.foreign.retain(|_, foreign| now.since(foreign.at) < FOREIGN_LASTS);
            // Still full: grants in use stay, since dropping one would let its sender exceed another switch.
            if self.foreign.len() >= self.max_foreign {
                return;
            }
        }
        self.foreign.insert(key, Foreign { grant, at: now });
    }

    fn tick(&mut self, cx: &Context<'_>) {
        for (port, view) in self.ports.iter_mut().zip(cx.faces) {
            port.tick(cx.now, view.rate());
        }
        self.foreign.retain(|_, foreign| cx.now.since(foreign.at) < FOREIGN_LASTS);
    }
}

/// The gate of one device.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) face: FaceId,
    pub(super) switch: Rc<RefCell<Switch>>,
}

impl FaceGate for Gate {
    fn on_segment(&mut self, cx: &mut Context<'_>, header: &mut Header, direction: Direction) -> GateVerdict {
        let mut switch = self.switch.borrow_mut();
        match (direction, header.kind) {
            // Packets other than TCP too: their share in eq. 8 depends on whether there are any.
            (Direction::Out, _) => switch.on_out(cx, self.face, header),
            // Only pure ACKs carry grants; data that comes in is counted where it leaves.
            (Direction::In, Kind::Tcp(segment)) if segment.payload == 0 => {
                switch.on_in(cx, self.face, header, &segment);
            }
            (Direction::In, _) => {}
        }
        switch.record(cx);
        GateVerdict::Admit
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, _: &mut Releases) {
        let mut switch = self.switch.borrow_mut();
        let Some(port) = switch.ports.get_mut(self.face.index()) else { return };
        port.tick(cx.now, cx.face(self.face).rate());
        switch.record(cx);
    }

    fn next_wake(&self) -> Option<Time> {
        self.switch.borrow().ports.get(self.face.index())?.round_ends()
    }
}

/// Polls the counters of the ports, for the controller or for the switch itself, and reports grants that no ACK can
/// carry from here.
#[derive(Debug)]
pub(super) struct Agent {
    control: Control,
    rules: Rules,
    poll: Span,
    switch: Rc<RefCell<Switch>>,
    detectors: Vec<Detector>,
    next_poll: Time,
    sequence: u32,
}

impl Agent {
    pub(super) fn new(params: &Params, switch: Rc<RefCell<Switch>>) -> Self {
        let ports = switch.borrow().ports.len();
        Self {
            control: params.control,
            // The switch reads its own queues, so it needs no estimate.
            rules: Rules { backlog: Backlog::Exact, ..params.detection_rules() },
            poll: params.poll,
            switch,
            detectors: vec![Detector::default(); ports],
            next_poll: Time::ZERO + params.poll,
            sequence: 0,
        }
    }

    fn look(&mut self, cx: &mut Context<'_>) {
        let loads = loads(cx, &self.switch.borrow());
        match self.control {
            Control::Controller => cx.report(Report::Queues(loads)),
            Control::Local => {
                let mut switch = self.switch.borrow_mut();
                for ((detector, port), load) in self.detectors.iter_mut().zip(&mut switch.ports).zip(&loads) {
                    if let Some(state) = detector.look(&self.rules, cx.now, load) {
                        port.on_congestion(cx.now, state);
                    }
                    if let Some(crossed) = detector.crossed() {
                        cx.record(Event::Worked { part: crossed.word(), operations: 1 });
                    }
                }
            }
            Control::None => {}
        }
    }

    fn report_grants(&mut self, cx: &mut Context<'_>) {
        let mut switch = self.switch.borrow_mut();
        let reported: Vec<_> = switch.ports.iter_mut().flat_map(|port| port.take_unsent_grants(cx.now)).collect();
        for (flow, rate) in reported {
            // Based on the clock, so that it exceeds all numbers sent before a restart.
            let clock = cx.now.since(Time::ZERO).as_nanos() / 1_000_000;
            self.sequence = self.sequence.saturating_add(1).max(u32::try_from(clock).unwrap_or(u32::MAX));
            let rate = BitRate::from_bps((rate * 8.0) as u64);
            cx.report(Report::Grant(FlowGrant { origin: cx.node, sequence: self.sequence, flow, rate }));
        }
    }
}

fn loads(cx: &Context<'_>, switch: &Switch) -> Vec<QueueLoad> {
    let load = |(face, port): (FaceId, &Port)| {
        let view = cx.face(face);
        QueueLoad {
            face,
            rate: view.rate(),
            sent_packets: view.sent_packets(),
            sent: view.sent_bytes(),
            arrived: ByteCount::new(port.arrived),
            dropped: view.dropped_packets(),
            waiting: Packets::new(view.queued_packets()),
            limit: Packets::new(view.limit_packets()),
            // The clearing of a queue is not reported to the port, so the real length bounds the count.
            governed: ByteCount::new(port.waiting).min(view.queued_bytes()),
            governed_dropped: port.dropped,
        }
    };
    (0..).map(FaceId).zip(&switch.ports).map(load).collect()
}

impl RouterAgent for Agent {
    fn on_wake(&mut self, cx: &mut Context<'_>) {
        if self.next_poll <= cx.now {
            self.next_poll = cx.now + self.poll;
            self.switch.borrow_mut().tick(cx);
            self.look(cx);
            self.report_grants(cx);
            self.switch.borrow_mut().record(cx);
        }
    }

    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &dyn Message) {
        let mut switch = self.switch.borrow_mut();
        match directive.get() {
            Some(Directive::Congestion { face, state }) if self.control == Control::Controller => {
                if let Some(port) = switch.ports.get_mut(face.index()) {
                    port.on_congestion(cx.now, *state);
                }
            }
            Some(Directive::Grant(grant)) => switch.on_grant(cx.now, *grant),
            _ => {}
        }
        switch.record(cx);
    }

    fn next_wake(&self) -> Option<Time> {
        Some(self.next_poll)
    }
}

#[cfg(test)]
mod tests;
