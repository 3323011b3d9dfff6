//! Gates: what a face does with Interests before they leave, and with what comes back.

use crate::context::Context;
use crate::control::Directive;
use crate::name::PrefixId;
use crate::packet::{Header, NackReason};
use crate::pit::PitId;
use crate::units::{Span, Time};

/// Polices, shapes or stamps the traffic of one face. Every method has a default that does nothing.
pub trait FaceGate: std::fmt::Debug {
    /// An Interest wants to leave through the face; a refused one leaves no out-record.
    fn on_interest_out(
        &mut self,
        cx: &mut Context<'_>,
        pending: PitId,
        interest: &mut Header,
    ) -> GateVerdict {
        let _ = (cx, pending, interest);
        GateVerdict::Admit
    }

    /// Data arrived through the face `rtt` after its Interest left (`None` when not known).
    fn on_data_in(&mut self, cx: &mut Context<'_>, pending: PitId, data: &mut Header, rtt: Option<Span>) {
        let _ = (cx, pending, data, rtt);
    }

    /// Data is about to leave through the face.
    fn on_data_out(&mut self, cx: &mut Context<'_>, data: &mut Header, source: DataSource) {
        let _ = (cx, data, source);
    }

    /// A Nack arrived through the face.
    fn on_nack_in(&mut self, cx: &mut Context<'_>, pending: PitId, reason: NackReason) {
        let _ = (cx, pending, reason);
    }

    /// An Interest sent through the face stayed unanswered for its lifetime.
    fn on_expiry(&mut self, cx: &mut Context<'_>, pending: PitId) {
        let _ = (cx, pending);
    }

    /// A TCP segment passes.
    fn on_segment(
        &mut self,
        cx: &mut Context<'_>,
        segment: &mut Header,
        direction: Direction,
    ) -> GateVerdict {
        let _ = (cx, segment, direction);
        GateVerdict::Admit
    }

    /// The time asked for has come; held packets may be let go.
    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        let _ = (cx, releases);
    }

    /// The controller's word arrived.
    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &Directive) {
        let _ = (cx, directive);
    }

    /// When to wake; `None` for never.
    fn next_wake(&self) -> Option<Time> {
        None
    }
}

/// What a gate decides about one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateVerdict {
    /// It may pass.
    Admit,
    /// It is refused; the strategy chooses another way or passes the Nack on.
    Nack(NackReason),
    /// It is dropped silently.
    Drop,
    /// It waits in the gate's side store, behind the others of this flow.
    Hold(FlowKey),
}

/// A flow as a gate tells flows apart: a prefix, or the name of a TCP flow.
pub type FlowKey = PrefixId;

/// What a gate lets out of its side store, in the order asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Releases(Vec<(FlowKey, u32)>);

impl Releases {
    /// Lets the `count` oldest packets of `flow` go.
    pub fn release(&mut self, flow: FlowKey, count: u32) {
        self.0.push((flow, count));
    }

    /// Takes what was asked for.
    pub fn drain(&mut self) -> impl Iterator<Item = (FlowKey, u32)> + '_ {
        self.0.drain(..)
    }
}

/// Where a Data comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSource {
    /// Another face.
    Face,
    /// The content store.
    Cache,
    /// An application on this node.
    Application,
}

/// Which way a TCP segment crosses a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the peer.
    Out,
    /// From the peer.
    In,
}
