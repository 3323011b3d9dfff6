//! Folds the events of a run, in order, into a [`EventSummary`].

use std::collections::BTreeMap;

use tidegate_core::ndn::name::{Name, PrefixId};
use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::observe::records::{EventRecord, RunRecord, Watched};
use tidegate_core::units::{Span, Time};

use super::history::{Decrease, Reason};
use super::incident::{Incident, Incidents, PacketFate};
use super::segments::{PointKind, SegmentPoint};
use super::{BINS, EventSummary, FlowSummary, IncidentCause, MAX_FLOWS, NetworkChange};
use crate::export::Network;

/// Maximum number of points of a flow.
const MAX_POINTS: usize = 4000;
/// Maximum number of points of all flows together.
const MAX_POINTS_OF_ALL: usize = 24_000;

/// Maximum number of moved paths that are shown; a path that moves with every poll would hide the plots.
const MAX_MOVES: usize = 50;

/// Builder of the event summary of one run.
#[derive(Debug)]
pub struct EventSummaryBuilder<'a> {
    network: &'a Network,
    bin: Span,
    flows: Vec<Followed>,
    /// Place in `flows` by the number of the flow.
    places: BTreeMap<u32, usize>,
    /// Indices of `flows` by the prefix of their Interests.
    prefixes: BTreeMap<PrefixId, Vec<usize>>,
    incidents: Incidents,
    bins: BTreeMap<(u32, u16, IncidentCause), u32>,
    cache_hits: BTreeMap<(u32, u16), u32>,
    /// Prefixes that a controller moved, as changes.
    moves: Vec<NetworkChange>,
    max_points: usize,
}

/// State of a flow whose segments are recorded.
#[derive(Debug, Default)]
struct Followed {
    summary: FlowSummary,
    /// Time of the first request of each outstanding segment.
    requested: BTreeMap<u32, Time>,
    window: Option<f64>,
    /// Last signal at the consumer.
    received: Option<Received>,
}

/// A congestion signal at a consumer.
#[derive(Clone, Copy, Debug)]
struct Received {
    at: Time,
    cause: &'static str,
    incident: Option<Incident>,
}

impl<'a> EventSummaryBuilder<'a> {
    /// Events that [`on_events`](Self::on_events) needs.
    pub const MASK: EventMask = EventMask::CONSUMERS
        .union(EventMask::QUEUES)
        .union(EventMask::LOSSES)
        .union(EventMask::CACHE)
        .union(EventMask::CONTROL);

    /// A summary of the run with record `record`, which defines its flows and its end.
    pub fn new(network: &'a Network, record: &RunRecord) -> Self {
        let mut order: Vec<u32> = (0..record.flows.len() as u32).collect();
        // The flows with the maximum payload are followed, and shown in the order of the run.
        order.sort_by_key(|flow| std::cmp::Reverse(record.flows[*flow as usize].delivered_payload));
        order.truncate(MAX_FLOWS);
        order.sort_unstable();
        // Rounded up, so that the end of the run is within the last bin, and a bin is never of zero length.
        let bin = Span::from_nanos(record.ended.as_nanos() / BINS + 1);
        let follow = |flow: &u32| {
            let arrivals = vec![0; BINS as usize];
            Followed {
                summary: FlowSummary { flow: *flow, arrivals, ..FlowSummary::default() },
                ..Followed::default()
            }
        };
        Self {
            network,
            bin,
            flows: order.iter().map(follow).collect(),
            places: order.iter().enumerate().map(|(place, flow)| (*flow, place)).collect(),
            prefixes: BTreeMap::new(),
            incidents: Incidents::default(),
            bins: BTreeMap::new(),
            cache_hits: BTreeMap::new(),
            moves: Vec::new(),
            max_points: MAX_POINTS.min(MAX_POINTS_OF_ALL / order.len().max(1)),
        }
    }

    /// Takes the next events, in order of time.
    pub fn on_events(&mut self, events: &[EventRecord]) {
        for EventRecord { time, node, event } in events {
            self.on_event(*time, *node, event);
        }
    }

    fn on_event(&mut self, at: Time, node: u32, event: &Event) {
        match *event {
            Event::InterestSent { flow, name, retransmission } => {
                self.requested(at, flow, name, retransmission)
            }
            Event::DataReceived { flow, name, mark, .. } => self.arrived(at, flow, name, mark),
            Event::SegmentSent { flow, name, retransmission } => {
                self.begin_at(flow, name);
                self.requested(at, flow, name, retransmission);
            }
            Event::SegmentReceived { flow, name } => self.reached(at, flow, name),
            Event::LossDetected { flow, name, cause } => self.lost(at, flow, name, cause.0),
            Event::WindowChanged { flow, window, cause } => self.window(at, flow, window, cause.0),
            Event::Dropped { face, name, cause, .. } => {
                self.fate(at, (node, face), name, PacketFate::Drop, cause.0)
            }
            Event::Marked { face, name, cause, .. } => {
                self.fate(at, (node, face), name, PacketFate::Mark, cause.0)
            }
            Event::Stored { face, name } => self.fate(at, (node, face), name, PacketFate::Stored, ""),
            Event::Lost { face, name } => self.fate(at, (node, face), name, PacketFate::WireLoss, ""),
            Event::CacheHit { name } => self.cache_hit(at, node, name),
            Event::PathMoved { name, from, to, .. } => self.moved(at, node, name, [from, to]),
            _ => {}
        }
    }

    fn bin(&self, at: Time) -> u16 {
        (at.as_nanos() / self.bin.as_nanos()).min(BINS - 1) as u16
    }

    fn place(&self, flow: u32) -> Option<usize> {
        self.places.get(&flow).copied()
    }

    fn point(&mut self, place: usize, kind: PointKind, at: Time, name: Name) {
        let origin = self.flows[place].summary.first_sequence.unwrap_or(0);
        // TCP's sequence numbers wrap at 2^32; for NDN the origin is 0.
        let point = SegmentPoint { at, segment: name.segment.0.wrapping_sub(origin) };
        self.flows[place].summary.segments.add(kind, point, self.max_points);
    }

    fn requested(&mut self, at: Time, flow: u32, name: Name, retransmission: bool) {
        let Some(place) = self.place(flow) else { return };
        let sharing = self.prefixes.entry(name.prefix).or_default();
        // Several flows can request one prefix; incidents of its packets belong to all of them.
        if !sharing.contains(&place) {
            sharing.push(place);
        }
        // The first request remains: a mark or drop of any later packet of the segment belongs to it.
        self.flows[place].requested.entry(name.segment.0).or_insert(at);
        let kind = if retransmission { PointKind::Retransmission } else { PointKind::Interest };
        self.point(place, kind, at, name);
    }

    /// Sets the origin of a connection's sequence numbers, which begin at any value, to its first segment.
    fn begin_at(&mut self, flow: u32, name: Name) {
        let Some(place) = self.place(flow) else { return };
        self.flows[place].summary.first_sequence.get_or_insert(name.segment.0);
    }

    /// Records bytes at a TCP receiver, which has neither a window nor signals.
    fn reached(&mut self, at: Time, flow: u32, name: Name) {
        let Some(place) = self.place(flow) else { return };
        let bin = usize::from(self.bin(at));
        self.flows[place].requested.remove(&name.segment.0);
        self.flows[place].summary.arrivals[bin] += 1;
        self.point(place, PointKind::Data, at, name);
    }

    fn arrived(&mut self, at: Time, flow: u32, name: Name, mark: u8) {
        let Some(place) = self.place(flow) else { return };
        let bin = usize::from(self.bin(at));
        // A duplicate has no outstanding request, and any earlier mark of its name may be its own.
        let since = self.flows[place].requested.remove(&name.segment.0).unwrap_or(Time::ZERO);
        self.flows[place].summary.arrivals[bin] += 1;
        if mark == 0 {
            self.flows[place].received = None;
            return self.point(place, PointKind::Data, at, name);
        }
        self.point(place, PointKind::MarkedData, at, name);
        let incident = self.incidents.mark(name, since);
        self.signal(place, Received { at, cause: "mark", incident });
    }

    fn lost(&mut self, at: Time, flow: u32, name: Name, cause: &'static str) {
        let Some(place) = self.place(flow) else { return };
        let kind = if cause == "loss notice" { PointKind::Notice } else { PointKind::Loss };
        self.point(place, kind, at, name);
        // Not removed: the segment is outstanding until its Data arrives.
        let since = self.flows[place].requested.get(&name.segment.0).copied().unwrap_or(Time::ZERO);
        let incident = self.incidents.loss(name, since);
        self.signal(place, Received { at, cause, incident });
    }

    /// Records a signal. Of several losses detected together, one with a known origin represents all.
    fn signal(&mut self, place: usize, received: Received) {
        let flow = &mut self.flows[place];
        flow.summary.history.on_signal(received.cause, received.incident);
        let states_less = flow.received.is_some_and(|before| {
            (before.at, before.cause) == (received.at, received.cause) && before.incident.is_some()
        });
        if !(states_less && received.incident.is_none()) {
            flow.received = Some(received);
        }
    }

    fn window(&mut self, at: Time, flow: u32, window: f64, cause: &'static str) {
        let Some(place) = self.place(flow) else { return };
        let flow = &mut self.flows[place];
        let before = flow.window.replace(window);
        let Some(from_packets) = before.filter(|before| window < *before) else { return };
        // Only a signal of the same instant and cause; any other decrease is the scheme's own.
        let received = flow.received.filter(|received| (received.at, received.cause) == (at, cause));
        let reason = Reason::new(cause, received.and_then(|received| received.incident));
        flow.summary.history.fall(Decrease { at, from_packets, to_packets: window, reason });
    }

    fn fate(
        &mut self,
        at: Time,
        (node, face): (u32, u16),
        name: Name,
        fate: PacketFate,
        cause: &'static str,
    ) {
        // Faces of applications have no link.
        let Some(direction) = self.network.direction(node, face) else { return };
        let rule = IncidentCause { fate, cause };
        *self.bins.entry((direction, self.bin(at), rule)).or_default() += 1;
        self.incidents.add(name, Incident { at, direction, rule });
        match fate {
            PacketFate::Drop => self.request_point(PointKind::Drop, at, name),
            PacketFate::WireLoss => self.request_point(PointKind::WireLoss, at, name),
            PacketFate::Mark | PacketFate::Stored => {}
        }
    }

    fn cache_hit(&mut self, at: Time, node: u32, name: Name) {
        *self.cache_hits.entry((node, self.bin(at))).or_default() += 1;
        self.request_point(PointKind::CacheHit, at, name);
    }

    fn moved(&mut self, at: Time, node: u32, name: Name, faces: [u16; 2]) {
        // The rest is not shown: a controller may move paths with every poll.
        if self.moves.len() >= MAX_MOVES {
            return;
        }
        let called = |node: u32| self.network.nodes.get(node as usize).map_or("?", |node| node.name.as_str());
        let beyond = faces.map(|face| {
            let direction = self.network.direction(node, face);
            direction
                .and_then(|at| self.network.directions.get(at as usize))
                .map_or("?", |(_, to)| called(*to))
        });
        let prefix = self.network.prefixes.get(name.prefix.0 as usize).map_or("?", String::as_str);
        let text = format!("node {}: next hop of {prefix} {} → {}", called(node), beyond[0], beyond[1]);
        self.moves.push(NetworkChange { at, text });
    }

    /// Adds a point for every followed flow with an outstanding request for the segment.
    fn request_point(&mut self, kind: PointKind, at: Time, name: Name) {
        let Some(sharing) = self.prefixes.get(&name.prefix) else { return };
        let requests = |place: &usize| self.flows[*place].requested.contains_key(&name.segment.0);
        for place in sharing.iter().copied().filter(requests).collect::<Vec<_>>() {
            self.point(place, kind, at, name);
        }
    }

    /// Returns the summary after the end of the run.
    pub fn finish(self, watched: Watched, mut changes: Vec<NetworkChange>) -> EventSummary {
        changes.extend(self.moves);
        changes.sort_by_key(|change| change.at);
        let max = self.max_points;
        let flows = self.flows.into_iter().map(|mut flow| {
            flow.summary.segments.finish(max);
            flow.summary.history.keep_max();
            flow.summary
        });
        EventSummary {
            watched,
            nodes: self.network.nodes.iter().map(|node| node.name.clone()).collect(),
            directions: self.network.directions.clone(),
            flows: flows.collect(),
            bin: self.bin,
            incidents: self.bins.into_iter().map(|((at, bin, rule), count)| (at, bin, rule, count)).collect(),
            cache_hits: self.cache_hits.into_iter().map(|((node, bin), hits)| (node, bin, hits)).collect(),
            changes,
        }
    }
}
