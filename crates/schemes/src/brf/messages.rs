//! Reports of the switches and directives of the controller (§3.1): OpenFlow experimenter messages.

use tidegate_core::prelude::*;

/// A report of a switch.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// Counters of the queue of every device.
    Queues(Vec<QueueLoad>),
    /// Rate granted to a flow whose ACKs do not pass the switch, for switches that they pass.
    Grant(FlowGrant),
}

impl Message for Report {
    fn kind(&self) -> &'static str {
        match self {
            Self::Queues(_) => "queues",
            Self::Grant(_) => "grant",
        }
    }
}

/// A directive of the controller.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// Congestion of a face as detected by the controller; repeated while it lasts.
    Congestion {
        /// Face towards the congested link.
        face: FaceId,
        /// State of the congestion.
        state: Congestion,
    },
    /// Another switch grants a rate to a flow whose ACKs may pass this one.
    Grant(FlowGrant),
}

impl Message for Directive {
    fn kind(&self) -> &'static str {
        match self {
            Self::Congestion { .. } => "congestion",
            Self::Grant(_) => "grant",
        }
    }
}

/// Counters of one device's queue, as a controller polls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLoad {
    /// Face of the device's queue.
    pub face: FaceId,
    /// Sending rate of the device.
    pub rate: BitRate,
    /// Packets sent since the start.
    pub sent_packets: u64,
    /// Bytes sent since the start.
    pub sent: ByteCount,
    /// Bytes handed to the queue since the start, dropped ones included.
    pub arrived: ByteCount,
    /// Packets dropped since the start.
    pub dropped: u64,
    /// Number of packets that wait in the queue.
    pub waiting: Packets,
    /// Queue limit of the device, packets.
    pub limit: Packets,
    /// Waiting bytes of flows whose rates the router grants.
    pub governed: ByteCount,
    /// Packets of such flows dropped since the start.
    pub governed_dropped: u64,
}

/// Rate granted to a flow by one router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowGrant {
    /// Switch that grants the rate.
    pub origin: NodeId,
    /// Number of the message, which rises with each one of the switch; receivers ignore older ones.
    pub sequence: u32,
    /// Name of the flow's data.
    pub flow: Name,
    /// Rate that the switch grants.
    pub rate: BitRate,
}

/// Congestion of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// The face is not congested.
    Clear,
    /// The queue holds this number of bytes.
    Queue(ByteCount),
    /// The arrival rate exceeds the capacity, but there is no queue yet.
    Burst,
}
