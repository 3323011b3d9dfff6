//! Forwarding strategies: choice of the next hops of an Interest, and the effect of marks, Nacks and notices
//! on it.

use crate::context::Context;
use crate::ndn::face::FaceId;
use crate::ndn::fib::NextHop;
use crate::ndn::packet::{Header, NackReason};
use crate::ndn::pit::{PitEntry, PitId};
use crate::scheme::control::Message;
use crate::units::{Span, Time};

/// Chooses next hops for the prefixes it serves on one node.
pub trait Strategy: std::fmt::Debug {
    /// An Interest has to be forwarded, suppressed or refused; the entry has its in-record already.
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision;

    /// Data arrived from `from`, before it is copied to the in-records; `data.hop` may be changed.
    /// [`PitEntry::round_trip`] returns the round-trip time of `from`.
    fn on_data(
        &mut self,
        cx: &mut Context<'_>,
        data: &mut Header,
        from: FaceId,
        pending: PitId,
        entry: &PitEntry,
    ) {
        let _ = (cx, data, from, pending, entry);
    }

    /// A copy of the Data, or the content store's, is about to leave for the downstream `to`; marks for that face
    /// alone go here.
    fn on_data_out(&mut self, cx: &mut Context<'_>, data: &mut Header, to: FaceId) {
        let _ = (cx, data, to);
    }

    /// A Nack arrived from `from` and was recorded in its out-record.
    fn on_nack(
        &mut self,
        cx: &mut Context<'_>,
        reason: NackReason,
        from: FaceId,
        pending: PitId,
        entry: &PitEntry,
    ) -> NackDecision {
        let _ = (cx, reason, from, pending);
        entry.nack_decision()
    }

    /// A loss notice arrived from `from`; it goes on to every in-record and the entry stays.
    fn on_loss_notice(&mut self, cx: &mut Context<'_>, from: FaceId, pending: PitId, entry: &PitEntry) {
        let _ = (cx, from, pending, entry);
    }

    /// The entry stayed unsatisfied for its lifetime.
    fn on_expiry(&mut self, cx: &mut Context<'_>, pending: PitId, entry: &PitEntry) {
        let _ = (cx, pending, entry);
    }

    /// The content store answered.
    fn on_content_hit(&mut self, cx: &mut Context<'_>, data: &Header) {
        let _ = (cx, data);
    }

    /// A gate refused the Interest on `face`, or the upstream there did so and the decision was
    /// [`NackDecision::Elsewhere`], which is then recorded in the out-record. Returns another choice; the
    /// default sends the refusal downstream.
    fn on_rejected(&mut self, cx: &mut Context<'_>, face: FaceId, arrival: &mut Arrival<'_>) -> Decision {
        let _ = (cx, face, arrival);
        Decision::Nack(NackReason::Congestion)
    }

    /// Handles a directive of the network controller.
    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &dyn Message) {
        let _ = (cx, directive);
    }

    /// The requested wake-up time has come.
    fn on_wake(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }

    /// Time of the next wake-up; `None` for never. After a wake-up it must be later than that one, otherwise the run does
    /// not end.
    fn next_wake(&self) -> Option<Time> {
        None
    }

    /// Whether [`on_data`](Self::on_data), [`on_data_out`](Self::on_data_out), [`next_wake`](Self::next_wake) or
    /// [`on_wake`](Self::on_wake) does anything; queried once, when the strategy is set. With `false` a forwarder may leave
    /// these calls out; all others are made.
    fn acts_later(&self) -> bool {
        true
    }

    /// Time for which a satisfied entry is retained, so that a later answer still reaches [`on_data`](Self::on_data);
    /// queried once, when the strategy is set.
    fn straggler(&self) -> Span {
        Span::ZERO
    }
}

/// An Interest that needs a decision.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// Header of the Interest, as received.
    pub interest: &'a Header,
    /// Face on which it arrived.
    pub from: FaceId,
    /// Its PIT entry's number.
    pub pending: PitId,
    /// PIT entry of the Interest.
    pub entry: &'a mut PitEntry,
    /// Whether the same face had sent the Interest before and still waited. Set for
    /// [`on_interest`](Strategy::on_interest) only.
    pub is_repeated: bool,
    /// Next hops of the prefix, cheapest first; the face it came from may be among them.
    pub hops: &'a [NextHop],
    /// Faces to send it through; empty at the call.
    pub targets: &'a mut Vec<Target>,
}

/// Destination of one copy of an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Face that the copy is sent through.
    pub face: FaceId,
    /// Whether the copy gets a new nonce (probes).
    pub fresh_nonce: bool,
}

impl Arrival<'_> {
    /// Sends the Interest through `face`.
    #[inline]
    pub fn forward(&mut self, face: FaceId) {
        self.targets.push(Target { face, fresh_nonce: false });
    }

    /// Next hops that can be used: up, and not the face that the Interest came from.
    pub fn usable<'s>(&'s self, cx: &'s Context<'_>) -> impl Iterator<Item = FaceId> + 's {
        let faces = self.hops.iter().map(|hop| hop.face);
        // Next hops have a view of their own.
        faces.filter(|face| *face != self.from && cx.faces[face.index()].is_up())
    }
}

/// Decision about an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// It goes to the targets.
    Forward,
    /// It waits for the answer to an earlier one.
    Suppress,
    /// The Interest is refused with this reason.
    Nack(NackReason),
}

/// Decision after a Nack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NackDecision {
    /// Another upstream may still answer.
    Wait,
    /// All upstreams refused: every downstream gets a Nack with the least severe reason.
    Return(NackReason),
    /// All upstreams but one refused, and that one is itself a downstream: only it gets a Nack.
    ReturnTo(FaceId, NackReason),
    /// Another upstream is tried, with the Interest that was refused and on behalf of the first downstream that still
    /// waits; [`Strategy::on_rejected`] selects it. If none accepts it, every downstream gets a Nack with its reason.
    /// The hop limit is that of the returned Interest: hops of the refused path stay used up. Hop signals are reset.
    Elsewhere,
}

impl PitEntry {
    /// NFD's rule after a Nack: wait while any other upstream may answer; when the only one left is itself a
    /// downstream, return the Nack to it alone; when all refused, return the least severe reason to all
    /// downstreams.
    pub fn nack_decision(&self) -> NackDecision {
        let mut open = self.out_records().filter(|record| record.nacked.is_none());
        let min_severe = self.out_records().filter_map(|record| record.nacked).min();
        match (open.next(), open.next(), min_severe) {
            (None, _, Some(reason)) => NackDecision::Return(reason),
            (Some(last), None, Some(reason)) if self.in_records().any(|record| record.face == last.face) => {
                NackDecision::ReturnTo(last.face, reason)
            }
            _ => NackDecision::Wait,
        }
    }
}
