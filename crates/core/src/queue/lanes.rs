//! Lanes: the bulk packets of a queue whose discipline chooses between several FIFOs.

use std::collections::VecDeque;

use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::face::FaceView;
use crate::ndn::packet::{Header, PacketArena};
use crate::observe::event::Cause;
use crate::scheme::signal::Class;
use crate::units::Time;

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

/// The lanes of one queue. A discipline may look at any packet of a lane, so that they are no linked lists.
#[derive(Debug)]
pub(super) struct LaneStore {
    /// Index of the discipline that schedules them.
    scheduler: usize,
    lanes: Vec<VecDeque<QueuedPacket>>,
    bytes: Vec<u64>,
    /// Whether the last choice was to wait.
    pub(super) is_held_back: bool,
}

impl LaneStore {
    /// The lanes of the discipline that has some.
    pub(super) fn of(disciplines: &[Box<dyn QueueDiscipline>]) -> Option<Self> {
        let scheduler = disciplines.iter().position(|discipline| discipline.lanes() > 0)?;
        let count = disciplines[scheduler].lanes() as usize;
        let lanes = (0..count).map(|_| VecDeque::new()).collect();
        Some(Self { scheduler, lanes, bytes: vec![0; count], is_held_back: false })
    }

    /// All waiting packets, lane by lane.
    pub(super) fn iter(&self) -> impl Iterator<Item = &QueuedPacket> {
        self.lanes.iter().flatten()
    }
}

/// The lanes of one queue with the headers of their packets.
struct LaneView<'a, B> {
    store: &'a LaneStore,
    packets: &'a PacketArena<B>,
}

impl<B> Lanes for LaneView<'_, B> {
    fn bytes(&self) -> &[u64] {
        &self.store.bytes
    }

    fn packets(&self, lane: u32) -> u32 {
        self.store.lanes[lane as usize].len() as u32
    }

    fn get(&self, lane: u32, ahead: u32) -> Option<LaneHead<'_>> {
        let waiting = self.store.lanes[lane as usize].get(ahead as usize)?;
        Some(LaneHead { header: &self.packets[&waiting.packet].header, since: waiting.since })
    }
}

impl Queue {
    /// Places a bulk packet as its discipline decides, or drops it.
    pub(super) fn append_to_lane<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        packet: PacketId,
    ) {
        let Some(store) = self.lanes.as_deref() else { return packets.end(packet) };
        let view = cx.face(self.face);
        let (header, lanes) = (&packets[&packet].header, &LaneView { store, packets });
        let placement = self.disciplines[store.scheduler].place(cx, header, view, lanes);
        let lane = match placement {
            Placement::Lane(lane) => lane,
            Placement::Evicting { lane, victim, count, cause } => {
                self.evict(cx, packets, victim, (count, cause));
                lane
            }
            Placement::Refused(cause) => return self.discard(cx, packets, packet, cause),
        };
        let header = &packets[&packet].header;
        // After an eviction, which may have made room.
        if view.is_full_for(Class::BULK, header.size()) {
            return self.discard(cx, packets, packet, Cause("queue full"));
        }
        self.count_in(view, header);
        if let Some(lanes) = self.lanes.as_deref_mut() {
            lanes.bytes[lane as usize] += header.size().get();
            lanes.lanes[lane as usize].push_back(QueuedPacket { packet, since: cx.now });
        }
    }

    fn evict<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        victim: u32,
        (count, cause): (u32, Cause),
    ) {
        for _ in 0..count {
            let Some(waiting) = self.take_from_lane(cx.face(self.face), packets, victim) else { break };
            self.discard(cx, packets, waiting.packet, cause);
        }
    }

    /// The packet that the discipline with lanes selects; `None` when its lanes are empty or it postpones
    /// them.
    pub(super) fn take_scheduled<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
    ) -> Option<QueuedPacket> {
        // A new choice is made now, so the earlier decision to wait is void.
        self.release_lanes();
        let view = cx.face(self.face);
        while view.backlog(Class::BULK) > 0 {
            let store = self.lanes.as_deref()?;
            let lanes = &LaneView { store, packets };
            match self.disciplines[store.scheduler].select(cx, view, lanes) {
                Selection::Until(at) => {
                    self.hold_back(cx, packets, at);
                    return None;
                }
                Selection::Head(lane, verdict) => {
                    let waiting = self.take_from_lane(view, packets, lane);
                    let waiting = waiting.expect("a lane is chosen where something waits");
                    let taken = self.carry_out(cx, packets, waiting, verdict);
                    if taken.is_some() {
                        return taken;
                    }
                }
            }
        }
        None
    }

    /// Marks or drops the packet that was chosen; `None` when it was dropped.
    fn carry_out<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        waiting: QueuedPacket,
        verdict: Verdict,
    ) -> Option<QueuedPacket> {
        let header = &mut packets[&waiting.packet].header;
        let sojourn = cx.now.since(waiting.since);
        let goes_on = match verdict {
            Verdict::Pass | Verdict::Hold(_) => true,
            Verdict::Mark(level, cause) => self.mark_packet(cx, header, level, sojourn, cause),
            Verdict::Drop(cause) => {
                self.drop_packet(cx, header, cause);
                false
            }
        };
        if !goes_on {
            packets.end(waiting.packet);
            return None;
        }
        Some(waiting)
    }

    fn hold_back<B: Default>(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>, until: Time) {
        if let Some(lanes) = &mut self.lanes {
            lanes.is_held_back = true;
        }
        // Without a time only an arrival leads to the next choice.
        if until != Time::MAX {
            self.actions.wake_at(until);
            self.act(cx, packets);
        }
    }

    /// Ends the decision to wait.
    pub(super) fn release_lanes(&mut self) {
        if let Some(lanes) = &mut self.lanes {
            lanes.is_held_back = false;
        }
    }

    /// Removes any packet that waits in a lane.
    pub(super) fn take_from_any_lane<B>(
        &mut self,
        cx: &Context<'_>,
        packets: &PacketArena<B>,
    ) -> Option<QueuedPacket> {
        let lane = self.lanes.as_ref()?.lanes.iter().position(|lane| !lane.is_empty())?;
        self.take_from_lane(cx.face(self.face), packets, lane as u32)
    }

    fn take_from_lane<B>(
        &mut self,
        view: &FaceView,
        packets: &PacketArena<B>,
        lane: u32,
    ) -> Option<QueuedPacket> {
        let lanes = self.lanes.as_deref_mut()?;
        let waiting = lanes.lanes[lane as usize].pop_front()?;
        let size = packets[&waiting.packet].header.size();
        lanes.bytes[lane as usize] -= size.get();
        view.count_out(Class::BULK.index(), size);
        Some(waiting)
    }
}
