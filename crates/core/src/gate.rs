//! Gates: what a face does with Interests before they leave, and with what comes back.

use crate::context::Context;
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

    /// The time asked for has come; the number of held packets to let go.
    fn on_wake(&mut self, cx: &mut Context<'_>) -> u32 {
        let _ = cx;
        0
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
    /// It waits in the gate's side store.
    Hold,
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
