//! A watched run in the formats of other tools: ndnSIM's trace files, qlog, and the blocks of a packet capture.
//!
//! Writers receive the events of a run in order and write them immediately, so that memory does not grow with the run.

pub mod ndnsim;
pub mod pcapng;
pub mod qlog;

use std::io;

use tidegate_core::ndn::name::{Name, Segment};
use tidegate_core::observe::records::EventRecord;
use tidegate_core::units::Time;

/// Names and ports for the numbers in events.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Nodes by their number.
    pub nodes: Vec<NodePorts>,
    /// Transmitting and receiving node of each link direction: each link forward, then backward.
    pub directions: Vec<(u32, u32)>,
    /// Flows by their number.
    pub flows: Vec<FlowPorts>,
    /// Prefixes by interned id, as URIs.
    pub prefixes: Vec<String>,
}

/// A node and its faces.
#[derive(Clone, Debug, Default)]
pub struct NodePorts {
    /// Name of the node.
    pub name: String,
    /// The link direction in which each device sends; faces beyond are applications.
    pub devices: Vec<u32>,
    /// Whether there is a forwarder; else the only application sits on the only device.
    pub has_forwarder: bool,
}

/// A flow with its consumer.
#[derive(Clone, Debug, Default)]
pub struct FlowPorts {
    /// Name of the flow.
    pub name: String,
    /// Consumer, a node's number.
    pub node: u32,
    /// Place among the consumers of that node, from 0.
    pub place: u32,
    /// Scheme of the consumer.
    pub scheme: String,
}

impl Network {
    /// A name as a URI, its segment number in the typed form (`/a/seg=7`).
    pub fn uri(&self, name: Name) -> String {
        let prefix = self.prefixes.get(name.prefix.0 as usize).map_or("/", String::as_str);
        match name.segment {
            Segment::NONE => prefix.to_owned(),
            Segment(number) => format!("{}/seg={number}", prefix.trim_end_matches('/')),
        }
    }

    /// The name of a node.
    pub fn node_name(&self, node: u32) -> &str {
        self.nodes.get(node as usize).map_or("?", |node| &node.name)
    }

    /// The link direction in which a face sends; `None` for an application.
    pub fn direction(&self, node: u32, face: u16) -> Option<u32> {
        self.nodes.get(node as usize)?.devices.get(usize::from(face)).copied()
    }

    /// Name of a face by its remote end: `r1 -> r2`, or `r1 application`.
    pub fn face_name(&self, node: u32, face: u16) -> String {
        let to = self.direction(node, face).and_then(|at| self.directions.get(at as usize));
        match to {
            Some((_, to)) => format!("{} -> {}", self.node_name(node), self.node_name(*to)),
            None => format!("{} application", self.node_name(node)),
        }
    }
}

/// Writer of one file from the events of a run.
pub trait Trace {
    /// Takes the next events, in order of time.
    ///
    /// # Errors
    /// Errors of writing to the file.
    fn on_events(&mut self, network: &Network, events: &[EventRecord]) -> io::Result<()>;

    /// Completes the file at the end of the run.
    ///
    /// # Errors
    /// Errors of writing to the file.
    fn finish(&mut self, network: &Network, end: Time) -> io::Result<()>;
}
