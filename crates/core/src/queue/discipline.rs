//! The interface of queue disciplines: calls and verdicts.

use crate::context::Context;
use crate::ndn::face::FaceView;
use crate::ndn::packet::Header;
use crate::observe::event::Cause;
use crate::scheme::control::Message;
use crate::units::{Span, Time};

use super::lanes::Lanes;

/// Rules over one queue. Every method has a default that does nothing.
///
/// Of a packet's header a discipline may change `hop` only, its mark and its signals. Name and kind are for reading:
/// forwarders and consumers match packets by them.
pub trait QueueDiscipline: std::fmt::Debug {
    /// A packet arrives; `queue` does not count it yet.
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        let _ = (cx, packet, queue, actions);
        Verdict::Pass
    }

    /// A packet that waited for `sojourn` leaves; `queue` no longer counts it. `Hold` has no meaning here.
    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        sojourn: Span,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        let _ = (cx, packet, sojourn, queue, actions);
        Verdict::Pass
    }

    /// All packets of the queue were dropped, because its link failed or its node restarts.
    fn on_clear(&mut self) {}

    /// Called at the time requested by [`Actions::wake_at`], or earlier.
    fn on_wake(&mut self, cx: &mut Context<'_>, queue: &FaceView, actions: &mut Actions) {
        let _ = (cx, queue, actions);
    }

    /// Handles a directive of the network controller.
    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &dyn Message, actions: &mut Actions) {
        let _ = (cx, directive, actions);
    }

    /// Whether [`on_enqueue`](Self::on_enqueue) does anything; `false` saves a call per packet.
    fn sees_arrivals(&self) -> bool {
        true
    }

    /// Whether [`on_dequeue`](Self::on_dequeue) does anything; `false` saves a call per packet.
    fn sees_departures(&self) -> bool {
        true
    }

    /// Number of lanes into which this discipline sorts bulk packets, to choose between them; 0 for a
    /// discipline without lanes. At most one per queue has some. Notices have no lane, as they overtake all
    /// others.
    fn lanes(&self) -> u32 {
        0
    }

    /// The lane of a bulk packet that no discipline drops; called only for the discipline with lanes. `queue`
    /// and `lanes` do not count the packet yet. A lane can grow to the limit of the whole queue; a discipline
    /// that reserves room for the others has to refuse or evict.
    fn place(
        &mut self,
        cx: &mut Context<'_>,
        packet: &Header,
        queue: &FaceView,
        lanes: &dyn Lanes,
    ) -> Placement {
        let _ = (cx, packet, queue, lanes);
        Placement::Lane(0)
    }

    /// Selects the lane to serve; called only for the discipline with lanes, if at least one is not empty.
    fn select(&mut self, cx: &mut Context<'_>, queue: &FaceView, lanes: &dyn Lanes) -> Selection {
        let _ = (cx, queue, lanes);
        Selection::Until(Time::MAX)
    }
}

/// Decision of a discipline about one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The packet is enqueued (or sent) unchanged.
    Pass,
    /// It passes with a congestion mark of at least this level; a TCP segment that is not ECN-capable is
    /// dropped (RFC 3168, section 7).
    Mark(u8, Cause),
    /// The packet is dropped, for this cause.
    Drop(Cause),
    /// It goes into the side store until released, at the latest until this time.
    Hold(Time),
}

/// Placement of a packet; lanes are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// To the end of this lane.
    Lane(u32),
    /// To the end of `lane`, after the first `count` packets of the lane `victim` were dropped.
    Evicting {
        /// Lane that the packet enters.
        lane: u32,
        /// The lane that loses packets.
        victim: u32,
        /// Number of packets that it loses.
        count: u32,
        /// Reason of the eviction.
        cause: Cause,
    },
    /// The packet is dropped, for this cause.
    Refused(Cause),
}

/// Next action of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// The first packet of this lane, which must not be empty, is removed, and sent, marked or dropped; after
    /// a drop the discipline selects again. `Hold` has no meaning here.
    Head(u32, Verdict),
    /// Nothing is sent before this time, unless a packet arrives; [`Time::MAX`] for until one arrives. It must be later
    /// than the time of the call, otherwise the run does not end.
    Until(Time),
}

/// Actions that a discipline requests in addition to its verdict.
#[derive(Debug, Default)]
pub struct Actions {
    /// Whether any of them is requested.
    pub(super) is_any: bool,
    pub(super) release: u32,
    pub(super) notices: Vec<Header>,
    pub(super) wake: Option<Time>,
}

impl Actions {
    /// Moves the `count` oldest packets of the side store to the end of their class.
    pub fn release(&mut self, count: u32) {
        self.is_any = true;
        self.release = self.release.saturating_add(count);
    }

    /// Sends a loss notice through this queue, past all bulk packets; disciplines do not see it here.
    pub fn notify(&mut self, notice: Header) {
        self.is_any = true;
        self.notices.push(notice);
    }

    /// Requests a call of [`QueueDiscipline::on_wake`] at `at` or earlier. A request of `on_wake` itself must be later than
    /// the time of that call, otherwise the run does not end.
    pub fn wake_at(&mut self, at: Time) {
        self.is_any = true;
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }
}
