//! `rate-trace.txt`: packets in and out of every face.

use std::collections::BTreeMap;
use std::io::{self, Write};

use tidegate_core::ndn::packet::{Header, Kind};
use tidegate_core::observe::event::{Event, Side};
use tidegate_core::observe::records::EventRecord;
use tidegate_core::units::{Span, Time};

use super::super::{Network, NodePorts, Trace};
use super::{FIRST_FACE, Periods, Rate, plain};

/// Types of a face, in the order of its rows; outgoing after incoming.
const TYPES: [&str; 10] = [
    "InInterests",
    "OutInterests",
    "InData",
    "OutData",
    "InNacks",
    "OutNacks",
    "InSatisfiedInterests",
    "InTimedOutInterests",
    "OutSatisfiedInterests",
    "OutTimedOutInterests",
];
/// Incoming Interests, Data and Nacks; outgoing ones come right after.
const INTERESTS: usize = 0;
const DATA: usize = 2;
const NACKS: usize = 4;
const OUT: usize = 1;
/// Pending Interests that ended, on downstream faces; satisfied ones first, then timed out ones.
const ENDED: usize = 6;
/// The counters of upstream faces follow.
const UPSTREAM: usize = 2;

/// Types of a node as a whole: satisfied, then timed out.
const NODE_TYPES: [&str; 2] = ["SatisfiedInterests", "TimedOutInterests"];

/// Writer of ndnSIM's `rate-trace.txt`.
#[derive(Debug)]
pub struct RateTrace<W> {
    out: W,
    periods: Periods,
    nodes: Vec<NodeRates>,
}

#[derive(Debug, Default)]
struct NodeRates {
    /// Faces with packets; ndnSIM lists no others.
    faces: BTreeMap<u16, [Rate; TYPES.len()]>,
    whole: Option<[Rate; NODE_TYPES.len()]>,
}

impl<W: Write> RateTrace<W> {
    /// A trace with a row per face and type at the end of every `period`.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn new(mut out: W, period: Span) -> io::Result<Self> {
        let head = "Time\tNode\tFaceId\tFaceDescr\tType\tPackets\tKilobytes\tPacketRaw\tKilobytesRaw";
        writeln!(out, "{head}")?;
        Ok(Self { out, periods: Periods::new(period), nodes: Vec::new() })
    }

    fn print(&mut self, network: &Network, end: Time) -> io::Result<()> {
        let time = plain(end.as_secs_f64());
        let period = self.periods.length;
        for (node, rates) in (0u32..).zip(&mut self.nodes) {
            let name = network.node_name(node);
            for (face, rows) in &mut rates.faces {
                let (id, what) = (FIRST_FACE + u32::from(*face), describe(network, node, *face));
                for (kind, rate) in TYPES.iter().zip(rows) {
                    let columns = rate.columns(period);
                    writeln!(self.out, "{time}\t{name}\t{id}\t{what}\t{kind}\t{columns}")?;
                }
            }
            for (kind, rate) in NODE_TYPES.iter().zip(rates.whole.iter_mut().flatten()) {
                writeln!(self.out, "{time}\t{name}\t-1\tall\t{kind}\t{}", rate.columns(period))?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Trace for RateTrace<W> {
    fn on_events(&mut self, network: &Network, events: &[EventRecord]) -> io::Result<()> {
        // The constructor does not have the network.
        self.nodes.resize_with(network.nodes.len(), NodeRates::default);
        for record in events {
            // Before the event is counted: periods without an event have rows, too.
            while let Some(end) = self.periods.over(record.time) {
                self.print(network, end)?;
            }
            let node = record.node as usize;
            if let (Some(rates), Some(ports)) = (self.nodes.get_mut(node), network.nodes.get(node)) {
                rates.note(&record.event, ports);
            }
        }
        Ok(())
    }

    fn finish(&mut self, network: &Network, end: Time) -> io::Result<()> {
        while let Some(end) = self.periods.over(end) {
            self.print(network, end)?;
        }
        self.out.flush()
    }
}

impl NodeRates {
    fn note(&mut self, event: &Event, ports: &NodePorts) {
        match event {
            Event::Received { face, header } => self.count_packet(*face, header, false),
            Event::Sent { face, header } => self.count_packet(*face, header, true),
            Event::Satisfied { .. } => self.count_end(0),
            Event::Expired { .. } => self.count_end(1),
            Event::EndedFor { face, side, satisfied, .. } => {
                let upstream = if *side == Side::Upstream { UPSTREAM } else { 0 };
                self.count(*face, ENDED + upstream + usize::from(!satisfied), 0);
            }
            _ => {}
        }
        if !ports.has_forwarder {
            self.note_host(event, ports.devices.len() as u16);
        }
    }

    /// Counts the events of a host as a forwarder between its only device, 0, and its only application.
    fn note_host(&mut self, event: &Event, application: u16) {
        match event {
            Event::Received { header, .. } => self.count_packet(application, header, true),
            Event::Sent { header, .. } => {
                self.count_packet(application, header, false);
                if matches!(header.kind, Kind::Data(_)) {
                    self.satisfy(0, application);
                }
            }
            Event::DataReceived { .. } => self.satisfy(application, 0),
            _ => {}
        }
    }

    fn satisfy(&mut self, downstream: u16, upstream: u16) {
        self.count(downstream, ENDED, 0);
        self.count(upstream, ENDED + UPSTREAM, 0);
        self.count_end(0);
    }

    fn count_packet(&mut self, face: u16, header: &Header, is_out: bool) {
        let row = match header.kind {
            Kind::Interest(_) => INTERESTS,
            Kind::Data(_) => DATA,
            Kind::Nack(_) => NACKS,
            // Loss notices and TCP segments are in no column of ndnSIM.
            _ => return,
        };
        self.count(face, row + if is_out { OUT } else { 0 }, header.size().get());
    }

    fn count(&mut self, face: u16, row: usize, bytes: u64) {
        self.faces.entry(face).or_default()[row].count(bytes);
    }

    fn count_end(&mut self, row: usize) {
        self.whole.get_or_insert_default()[row].count(0);
    }
}

fn describe(network: &Network, node: u32, face: u16) -> String {
    match network.direction(node, face).and_then(|direction| network.directions.get(direction as usize)) {
        Some((from, to)) => format!("netdev://[{}-{}]", network.node_name(*from), network.node_name(*to)),
        None => "appFace://".to_owned(),
    }
}
