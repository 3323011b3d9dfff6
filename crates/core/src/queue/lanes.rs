//! Lanes: the bulk packets of a queue whose discipline chooses between several FIFOs.

use std::collections::VecDeque;

use crate::context::Context;
use crate::ndn::face::FaceView;
use crate::ndn::packet::{Header, Packet};
use crate::observe::event::Cause;
use crate::scheme::signal::Class;
use crate::units::{Span, Time};

use super::{Placement, Queue, QueueDiscipline, QueuedPacket, Selection, Verdict};

/// View of the lanes for their discipline.
pub trait Lanes {
    /// Bytes waiting in every lane.
    fn bytes(&self) -> &[u64];

    /// Packets waiting in `lane`.
    fn packets(&self, lane: u32) -> u32;

    /// The packet that `ahead` others wait for in `lane`; 0 for the first.
    fn get(&self, lane: u32, ahead: u32) -> Option<LaneHead<'_>>;

    /// The first packet of `lane`.
    fn head(&self, lane: u32) -> Option<LaneHead<'_>> {
        self.get(lane, 0)
    }
}

/// A packet that waits in a lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneHead<'a> {
    /// Header of the packet at the head.
    pub header: &'a Header,
    /// Arrival time of the packet.
    pub since: Time,
}

/// The lanes of one queue.
#[derive(Debug)]
pub(super) struct LaneStore<B> {
    /// Index of the discipline that schedules them.
    scheduler: usize,
    lanes: Vec<VecDeque<QueuedPacket<B>>>,
    bytes: Vec<u64>,
    /// Whether the last choice was to wait.
    pub(super) is_held_back: bool,
}

impl<B> LaneStore<B> {
    /// The lanes of the discipline that has some.
    pub(super) fn of(disciplines: &[Box<dyn QueueDiscipline>]) -> Option<Self> {
        let scheduler = disciplines.iter().position(|discipline| discipline.lanes() > 0)?;
        let count = disciplines[scheduler].lanes() as usize;
        let lanes = (0..count).map(|_| VecDeque::new()).collect();
        Some(Self { scheduler, lanes, bytes: vec![0; count], is_held_back: false })
    }

    /// All waiting packets, lane by lane.
    pub(super) fn iter(&self) -> impl Iterator<Item = &QueuedPacket<B>> {
        self.lanes.iter().flatten()
    }

    fn push(&mut self, lane: u32, waiting: QueuedPacket<B>) {
        self.bytes[lane as usize] += waiting.packet.header.size().get();
        self.lanes[lane as usize].push_back(waiting);
    }

    fn pop(&mut self, lane: u32) -> Option<QueuedPacket<B>> {
        let waiting = self.lanes[lane as usize].pop_front()?;
        self.bytes[lane as usize] -= waiting.packet.header.size().get();
        Some(waiting)
    }
}

impl<B> Lanes for LaneStore<B> {
    fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    fn packets(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].len() as u32
    }

    fn get(&self, lane: u32, ahead: u32) -> Option<LaneHead<'_>> {
        let waiting = self.lanes[lane as usize].get(ahead as usize)?;
        Some(LaneHead { header: &waiting.packet.header, since: waiting.since })
    }
}

impl<B: Default> Queue<B> {
    /// Places a bulk packet as its discipline decides, or drops it.
    pub(super) fn append_to_lane(&mut self, cx: &mut Context<'_>, packet: Packet<B>) {
        let Some(lanes) = self.lanes.as_deref_mut() else { return };
        let view = cx.face(self.face);
        let placement = self.disciplines[lanes.scheduler].place(cx, &packet.header, view, lanes);
        let lane = match placement {
            Placement::Lane(lane) => lane,
            Placement::Evicting { lane, victim, count, cause } => {
                self.evict(cx, victim, count, cause);
                lane
            }
            Placement::Refused(cause) => return self.drop_packet(cx, &packet.header, cause),
        };
        // After an eviction, which may have made room.
        if view.is_full_for(Class::BULK, packet.header.size()) {
            return self.drop_packet(cx, &packet.header, Cause("queue full"));
        }
        self.count_in(view, &packet.header);
        if let Some(lanes) = self.lanes.as_deref_mut() {
            lanes.push(lane, QueuedPacket { packet, since: cx.now });
        }
    }

    fn evict(&mut self, cx: &mut Context<'_>, victim: u32, count: u32, cause: Cause) {
        for _ in 0..count {
            let Some(waiting) = self.take_from_lane(cx.face(self.face), victim) else { break };
            self.drop_packet(cx, &waiting.packet.header, cause);
        }
    }

    /// The packet that the discipline with lanes selects; `None` when its lanes are empty or it postpones
    /// them.
    pub(super) fn take_scheduled(&mut self, cx: &mut Context<'_>) -> Option<QueuedPacket<B>> {
        // A new choice is made now, so the earlier decision to wait is void.
        self.release_lanes();
        let view = cx.face(self.face);
        while view.backlog(Class::BULK) > 0 {
            let lanes = self.lanes.as_deref_mut()?;
            match self.disciplines[lanes.scheduler].select(cx, view, lanes) {
                Selection::Until(at) => {
                    self.hold_back(cx, at);
                    return None;
                }
                Selection::Head(lane, verdict) => {
                    let waiting =
                        self.take_from_lane(view, lane).expect("a lane is chosen where something waits");
                    let taken = self.carry_out(cx, waiting, verdict);
                    if taken.is_some() {
                        return taken;
                    }
                }
            }
        }
        None
    }

    /// Marks or drops the packet that was chosen; `None` when it was dropped.
    fn carry_out(
        &mut self,
        cx: &mut Context<'_>,
        mut waiting: QueuedPacket<B>,
        verdict: Verdict,
    ) -> Option<QueuedPacket<B>> {
        let (header, sojourn): (_, Span) = (&mut waiting.packet.header, cx.now.since(waiting.since));
        let goes_on = match verdict {
            Verdict::Pass | Verdict::Hold(_) => true,
            Verdict::Mark(level, cause) => self.mark_packet(cx, header, level, sojourn, cause),
            Verdict::Drop(cause) => {
                self.drop_packet(cx, header, cause);
                false
            }
        };
        goes_on.then_some(waiting)
    }

    fn hold_back(&mut self, cx: &mut Context<'_>, until: Time) {
        if let Some(lanes) = &mut self.lanes {
            lanes.is_held_back = true;
        }
        // Without a time only an arrival leads to the next choice.
        if until != Time::MAX {
            self.actions.wake_at(until);
            self.act(cx);
        }
    }

    /// Ends the decision to wait.
    pub(super) fn release_lanes(&mut self) {
        if let Some(lanes) = &mut self.lanes {
            lanes.is_held_back = false;
        }
    }

    /// Removes any packet that waits in a lane.
    pub(super) fn take_from_any_lane(&mut self, cx: &Context<'_>) -> Option<QueuedPacket<B>> {
        let lane = self.lanes.as_ref()?.lanes.iter().position(|lane| !lane.is_empty())?;
        self.take_from_lane(cx.face(self.face), lane as u32)
    }

    fn take_from_lane(&mut self, view: &FaceView, lane: u32) -> Option<QueuedPacket<B>> {
        let waiting = self.lanes.as_deref_mut()?.pop(lane)?;
        view.count_out(Class::BULK.index(), waiting.packet.header.size());
        Some(waiting)
    }
}
