//! Messages between routers and a network controller: small closed vocabularies.

use crate::context::Context;
use crate::face::{FaceId, NodeId};
use crate::name::PrefixId;
use crate::units::{BitRate, Time};

/// What a router tells the controller.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// Load of one face: offered load over capacity (may exceed 1), queue over its limit (0..=1).
    FaceLoad {
        /// The face.
        face: FaceId,
        /// Offered load over capacity.
        utilisation: f64,
        /// Queue length over its limit.
        occupancy: f64,
    },
    /// A face became congested; `prefix` carries the most bytes there.
    Congestion {
        /// The face.
        face: FaceId,
        /// Offered load over capacity.
        utilisation: f64,
        /// Queue length over its limit.
        occupancy: f64,
        /// Prefix with the most bytes.
        prefix: PrefixId,
    },
}

/// What the controller tells a router.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// Cost of a prefix by face; the lowest is used.
    Metric {
        /// The prefix.
        prefix: PrefixId,
        /// The face.
        face: FaceId,
        /// Cost, unitless, at least 0.
        metric: f64,
    },
    /// Rate granted to a flow or prefix.
    Rate {
        /// Flow or prefix.
        key: PrefixId,
        /// The rate.
        rate: BitRate,
    },
}

/// A network controller.
pub trait NetworkController: std::fmt::Debug {
    /// A router reported; directives go into `orders` with the node they are for.
    fn on_report(&mut self, now: Time, from: NodeId, report: &Report, orders: &mut Vec<(NodeId, Directive)>);

    /// The time asked for has come.
    fn on_wake(&mut self, now: Time, orders: &mut Vec<(NodeId, Directive)>) {
        let _ = (now, orders);
    }

    /// When to wake; `None` for never.
    fn next_wake(&self) -> Option<Time> {
        None
    }
}

/// A scheme's part on a router that talks to the controller.
pub trait RouterAgent: std::fmt::Debug {
    /// The time asked for has come; reports go out through the context.
    fn on_wake(&mut self, cx: &mut Context<'_>);

    /// The controller's word arrived.
    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &Directive) {
        let _ = (cx, directive);
    }

    /// When to wake; `None` for never.
    fn next_wake(&self) -> Option<Time>;
}
