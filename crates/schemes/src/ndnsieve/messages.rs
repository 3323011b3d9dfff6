//! Reports of the routers and the directive of the controller (§4.1 and §4.2).

use tidegate_core::prelude::*;

/// A report of a router.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// Devices of the router and routes of its FIB. Repeated periodically, so that a controller that
    /// starts late or missed it receives them.
    Topology {
        /// Devices of the router, in any order.
        ports: Vec<Port>,
        /// Next hops of the prefixes that it forwards.
        routes: Vec<Route>,
    },
    /// Load of every device.
    Links(Vec<FaceLoad>),
    /// A face is congested.
    Congestion {
        /// Load of the congested face.
        load: FaceLoad,
        /// Bytes by prefix that left through the face in the last period, the largest first; never empty.
        prefixes: Vec<(PrefixId, ByteCount)>,
    },
}

impl Message for Report {
    fn kind(&self) -> &'static str {
        match self {
            Self::Topology { .. } => "topology",
            Self::Links(_) => "links",
            Self::Congestion { .. } => "congestion",
        }
    }
}

/// A device as its router reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Face that the device belongs to.
    pub face: FaceId,
    /// The node at the other end; `None` when it is not known.
    pub neighbour: Option<NodeId>,
    /// Sending rate of the device.
    pub rate: BitRate,
    /// Propagation delay of the link.
    pub delay: Span,
    /// Whether the link is up.
    pub is_up: bool,
}

/// Next hops and downstream faces of a prefix at one router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Prefix that the router forwards.
    pub prefix: PrefixId,
    /// Next hops, the one in use first.
    pub faces: Vec<FaceId>,
    /// Faces through which Data of the prefix left recently.
    pub downstream: Vec<FaceId>,
}

/// Load of one face.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaceLoad {
    /// Face that the load belongs to.
    pub face: FaceId,
    /// Offered load over capacity, at least 0; may exceed 1.
    pub utilisation: f64,
    /// Queue length over its limit, 0..=1.
    pub occupancy: f64,
}

/// Costs of the faces of a router for a prefix, unitless, at least 0; the lowest is used.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// Prefix that the costs apply to.
    pub prefix: PrefixId,
    /// Costs with the faces that they belong to.
    pub costs: Vec<(FaceId, f64)>,
}

impl Message for Metrics {
    fn kind(&self) -> &'static str {
        "metrics"
    }
}
