//! Gates: treatment of Interests at a face before they leave, and of the packets that come back.
//!
//! A face's gates stand in a row. An Interest passes them in order, before the face's queue; the first
//! verdict other than [`GateVerdict::Admit`] counts. All of them are notified of everything else that happens
//! at the face, in order.

mod row;
mod store;

pub use row::GateStats;
pub(crate) use row::{GateRow, Passage};

use crate::context::Context;
use crate::ndn::name::PrefixId;
use crate::ndn::packet::{Header, NackReason};
use crate::ndn::pit::PitId;
use crate::scheme::control::Message;
use crate::units::{Packets, Span, Time};

/// Polices, shapes or stamps the traffic of one face. Every method has a default that does nothing.
///
/// `pending` is the number of the Interest's PIT entry, for side tables. A gate that has admitted or holds
/// the Interest of a number is notified of every end of it: [`on_data_in`](Self::on_data_in),
/// [`on_nack_in`](Self::on_nack_in), [`on_expiry`](Self::on_expiry) or [`on_withdrawn`](Self::on_withdrawn).
/// A number can be admitted more than once before that, because an Interest was retransmitted.
pub trait FaceGate: std::fmt::Debug {
    /// An Interest is about to leave through the face. Its header is as sent; hop signals may be written.
    fn on_interest_out(
        &mut self,
        cx: &mut Context<'_>,
        pending: PitId,
        interest: &mut Header,
    ) -> GateVerdict {
        let _ = (cx, pending, interest);
        GateVerdict::Admit
    }

    /// Data that answers a pending Interest arrived through the face, `rtt` after the Interest left it.
    /// `None` if the Interest was sent there more than once, or not at all.
    fn on_data_in(&mut self, cx: &mut Context<'_>, pending: PitId, data: &mut Header, rtt: Option<Span>) {
        let _ = (cx, pending, data, rtt);
    }

    /// A copy of a Data is about to leave through the face.
    fn on_data_out(&mut self, cx: &mut Context<'_>, data: &mut Header, source: DataSource) {
        let _ = (cx, data, source);
    }

    /// A Nack arrived through the face and answers the last Interest that went there.
    fn on_nack_in(&mut self, cx: &mut Context<'_>, pending: PitId, reason: NackReason) {
        let _ = (cx, pending, reason);
    }

    /// An Interest sent through the face stayed unanswered for its lifetime.
    fn on_expiry(&mut self, cx: &mut Context<'_>, pending: PitId) {
        let _ = (cx, pending);
    }

    /// An Interest that the gate admitted or held gets no answer here: another face answered, a gate after
    /// this one refused it, or it did not leave. `held` is its flow if the gate held it until now, or
    /// requested that when there was no room.
    fn on_withdrawn(&mut self, cx: &mut Context<'_>, pending: PitId, held: Option<FlowKey>) {
        let _ = (cx, pending, held);
    }

    /// A TCP segment passes. It cannot be held, as the queue behind the gate has lanes for that. A Nack drops
    /// it.
    fn on_segment(
        &mut self,
        cx: &mut Context<'_>,
        segment: &mut Header,
        direction: Direction,
    ) -> GateVerdict {
        let _ = (cx, segment, direction);
        GateVerdict::Admit
    }

    /// The requested wake-up time has come; held packets may be released.
    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        let _ = (cx, releases);
    }

    /// Handles a directive of the network controller.
    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &dyn Message) {
        let _ = (cx, directive);
    }

    /// Time of the next wake-up; `None` for never. After a wake-up it must be later than that one. It is read
    /// after every packet, wake-up and directive of the forwarder; a change by a queue discipline has effect
    /// with the next of them.
    fn next_wake(&self) -> Option<Time> {
        None
    }

    /// Maximum number of Interests that it may hold at once, read once, when the gate is set; one more is
    /// refused as congestion.
    fn held_limit(&self) -> Packets {
        Packets::new(1000)
    }
}

/// Decision of a gate about one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateVerdict {
    /// The Interest goes on to the next gate or the queue.
    Admit,
    /// It is refused; the strategy chooses another way or passes the Nack on.
    Nack(NackReason),
    /// It is dropped silently. A PIT entry that no other face can answer ends with it, so that a
    /// retransmission of the consumer is forwarded as a first Interest.
    Drop,
    /// It waits in the gate's side store, behind the others of this flow. For the strategy it was sent; its round
    /// trip begins when it leaves. Another one for the same PIT entry does not wait beside it: it is suppressed.
    Hold(FlowKey),
}

/// Identity of a flow at a gate: a prefix, or the name of a TCP flow.
pub type FlowKey = PrefixId;

/// Packets that a gate releases from its side store, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Releases(Vec<(FlowKey, u32)>);

impl Releases {
    /// Lets the `count` oldest packets of `flow` go.
    pub fn release(&mut self, flow: FlowKey, count: u32) {
        self.0.push((flow, count));
    }

    /// Removes and returns all releases.
    pub fn drain(&mut self) -> impl Iterator<Item = (FlowKey, u32)> + '_ {
        self.0.drain(..)
    }
}

/// Origin of a Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSource {
    /// The Data arrived from another face.
    Face,
    /// The content store had the Data.
    Cache,
    /// An application on this node.
    Application,
}

/// Direction in which a TCP segment crosses a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Packets that the node sends through the face.
    Out,
    /// Packets that the node receives through the face.
    In,
}
