//! The queue of one device: a lane for each class of flows under a token bucket hierarchy (Fig. 4, §3.2 step 1).

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::context::Context;
use tidegate_core::event::Cause;
use tidegate_core::face::{FaceId, FaceView};
use tidegate_core::packet::{Header, Kind};
use tidegate_core::queue::{Lanes, Placement, QueueDiscipline, Selection, Verdict};
use tidegate_core::signal::Class as Urgency;
use tidegate_core::units::{BitRate, Time};

use super::Params;
use super::flow::Class;
use super::shares::Shares;
use super::switch::Switch;
use crate::toolbox::htb::{ClassId, Htb, Next, Shape};
use crate::toolbox::policer::Policer;

/// Lanes: BRF flows, other TCP flows, everything else.
const BRF: u32 = 0;
const OTHER: u32 = 1;
const UDP: u32 = 2;
const LANES: usize = 3;

/// Root, and a leaf for each lane.
#[derive(Debug)]
struct Tree {
    htb: Htb,
    root: ClassId,
    leaves: [ClassId; LANES],
    rate: BitRate,
    shares: Shares,
}

impl Tree {
    fn new(rate: BitRate) -> Self {
        let mut htb = Htb::new();
        let root = htb.add(None, Shape::new(rate, rate), 0, Time::ZERO);
        let leaf = |_| htb.add(Some(root), Shape::new(BitRate::from_bps(0), rate), 0, Time::ZERO);
        let leaves = [BRF, OTHER, UDP].map(leaf);
        Self { htb, root, leaves, rate, shares: Shares::default() }
    }

    /// Takes on new rates; what a class does not use is lent to the others.
    fn reshape(&mut self, now: Time, rate: BitRate, shares: Shares) {
        if self.rate == rate && self.shares == shares {
            return;
        }
        (self.rate, self.shares) = (rate, shares);
        self.htb.reshape(self.root, Shape::new(rate, rate), now);
        for (leaf, share) in self.leaves.into_iter().zip([shares.brf, shares.other, shares.udp]) {
            let own = BitRate::from_bps((share * 8.0) as u64).min(rate);
            self.htb.reshape(leaf, Shape::new(own, rate), now);
        }
    }

    fn lane(&self, leaf: ClassId) -> u32 {
        self.leaves.iter().position(|id| *id == leaf).unwrap_or(0) as u32
    }
}

/// The discipline.
#[derive(Debug)]
pub(super) struct ClassQueue {
    face: FaceId,
    switch: Rc<RefCell<Switch>>,
    tree: Tree,
    udp_share: f64,
    policer: Policer,
}

impl ClassQueue {
    pub(super) fn new(params: &Params, face: FaceId, rate: BitRate, switch: Rc<RefCell<Switch>>) -> Self {
        let udp_share = params.udp_share;
        Self { face, switch, tree: Tree::new(rate), policer: Policer::new(part(rate, udp_share), Time::ZERO), udp_share }
    }

    fn refresh(&mut self, now: Time, queue: &FaceView) {
        let Some(shares) = self.switch.borrow().ports.get(self.face.index()).map(|port| port.shares()) else { return };
        if queue.rate() != self.tree.rate {
            self.policer.set_rate(part(queue.rate(), self.udp_share), now);
        }
        self.tree.reshape(now, queue.rate(), shares);
    }

    /// Of TCP flows that are not BRF's at most half of the room waits while there are BRF flows: each class has a queue of
    /// its own.
    fn place_segment(&mut self, class: Class, header: &Header, queue: &FaceView, lanes: &dyn Lanes) -> Placement {
        let mut switch = self.switch.borrow_mut();
        let Some(port) = switch.ports.get_mut(self.face.index()) else { return Placement::Lane(OTHER) };
        if class == Class::Other {
            let room = if port.has_brf() { queue.limit_packets().div_ceil(2) } else { queue.limit_packets() };
            let is_full = lanes.packets(OTHER) >= room;
            return if is_full { Placement::Refused(Cause("class full")) } else { Placement::Lane(OTHER) };
        }
        if queue.is_full_for(Urgency::BULK, header.size()) {
            port.dropped += 1;
            return Placement::Refused(Cause("queue full"));
        }
        port.waiting = lanes.bytes()[BRF as usize] + header.size().get();
        Placement::Lane(BRF)
    }
}

impl ClassQueue {
    /// Whether a packet that is not TCP passes beside TCP flows. Without a share it is dropped "in the event of queueing"
    /// (§3.2), whosever queue that is.
    fn admits(&mut self, packet: &Header, now: Time, queue: &FaceView) -> bool {
        if self.udp_share > 0.0 { self.policer.admits(packet.size(), now) } else { queue.queued_packets() == 0 }
    }
}

fn part(rate: BitRate, share: f64) -> BitRate {
    BitRate::from_bps((rate.as_bps() as f64 * share) as u64)
}

impl QueueDiscipline for ClassQueue {
    fn lanes(&self) -> u32 {
        LANES as u32
    }

    fn sees_arrivals(&self) -> bool {
        false
    }

    fn sees_departures(&self) -> bool {
        false
    }

    fn place(&mut self, cx: &mut Context<'_>, packet: &Header, queue: &FaceView, lanes: &dyn Lanes) -> Placement {
        self.refresh(cx.now, queue);
        if let Kind::Tcp(_) = packet.kind {
            let class = self.switch.borrow().class(packet);
            return self.place_segment(class, packet, queue, lanes);
        }
        let mut is_policed = true;
        if let Some(port) = self.switch.borrow_mut().ports.get_mut(self.face.index()) {
            port.on_other(cx.now);
            is_policed = port.has_tcp();
        }
        if !is_policed || self.admits(packet, cx.now, queue) {
            Placement::Lane(UDP)
        } else {
            Placement::Refused(Cause("policed"))
        }
    }

    fn select(&mut self, cx: &mut Context<'_>, queue: &FaceView, lanes: &dyn Lanes) -> Selection {
        self.refresh(cx.now, queue);
        let Tree { htb, leaves, .. } = &mut self.tree;
        let head = |leaf: ClassId| {
            let lane = leaves.iter().position(|id| *id == leaf)? as u32;
            lanes.head(lane).map(|head| head.header.size())
        };
        match htb.dequeue(cx.now, head) {
            Next::Serve(leaf) => {
                let lane = self.tree.lane(leaf);
                if let (BRF, Some(head)) = (lane, lanes.head(lane))
                    && let Some(port) = self.switch.borrow_mut().ports.get_mut(self.face.index())
                {
                    port.waiting = lanes.bytes()[BRF as usize].saturating_sub(head.header.size().get());
                }
                Selection::Head(lane, Verdict::Pass)
            }
            Next::Until(at) => Selection::Until(at),
            Next::Empty => Selection::Until(Time::MAX),
        }
    }
}
