//! All names that a scheme outside the repository needs, for every role: `use tidegate_core::prelude::*;`.
//!
//! Left out is what only programs need that run schemes ([`Env`](crate::context::Env),
//! [`Queue`](crate::queue::Queue), [`Node`](crate::ndn::node::Node)). `Limit` is that of a queue; the reason why a scheme
//! leaves a link partly unused is [`whole::Limit`](crate::scheme::whole::Limit).
//!
//! ```
//! use tidegate_core::prelude::*;
//!
//! /// Packets that a queue holds, of those that are requested.
//! fn held(limit: Limit, requested: &Interest, data: Data) -> Option<Millis> {
//!     let fits = limit == Limit::Packets(Packets::new(1));
//!     (fits && requested.token == PitToken(0)).then_some(data.freshness)
//! }
//! ```

// Catalogue entry and parameters.
pub use crate::ndn::consumer::profile::ConsumerProfile;
pub use crate::scheme::params::{ParamError, Setting, Settings};
pub use crate::scheme::whole::{Companion, Counterpart, Marking, Need, Role, Whole};
pub use crate::scheme::{DeviceSetup, MakeError, NodeSetup, Provenance, RouterParts, Scheme};
pub use crate::{choice, params};

// What every role is called with.
pub use crate::context::{Context, Present};
pub use crate::observe::event::{Cause, Event, EventMask, Side};
pub use crate::rng::{Rng, Seed, Streams};
pub use crate::units::{BitRate, ByteCount, Packets, Span, Time};

// Packets, names and faces.
pub use crate::ndn::face::{FaceId, FaceView, Limit, NodeId};
pub use crate::ndn::name::{Name, NameTable, PrefixId, Segment};
pub use crate::ndn::packet::{
    Data, Ecn, Header, Interest, Kind, LossNotice, Millis, Nack, NackReason, PitToken, TcpFlags, TcpSegment,
};
pub use crate::scheme::signal::{Class, HopSignals, Merge, Signal, Travel};

// Consumers and TCP senders.
pub use crate::scheme::congestion::{
    CongestionController, Delivery, FlowView, Loss, LossSample, LossSignal, Pacing, RateSample, Recovery,
    SendOrder, Sent,
};
pub use crate::tcp::SenderRule;

// Queue disciplines.
pub use crate::queue::{Actions, LaneHead, Lanes, Placement, QueueDiscipline, Selection, Verdict};

// Gates of faces.
pub use crate::ndn::gate::{DataSource, Direction, FaceGate, FlowKey, GateVerdict, Releases};

// Forwarding strategies.
pub use crate::ndn::pit::{PitEntry, PitId};
pub use crate::ndn::strategy::{Arrival, Decision, NackDecision, Strategy, Target};

// Network controllers and the router agents that talk to them.
pub use crate::scheme::control::{Message, NetworkController, Orders, RouterAgent};

// Loss recovery on a link.
pub use crate::link::service::{Labels, LinkActions, LinkService, Part};
