//! The queue of one device: a lane for each class of flows under a token bucket hierarchy (Fig. 4, §3.2 step 1).

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::prelude::*;

use super::flow::SegmentClass;
use super::shares::Shares;
use super::switch::Switch;
use super::Params;
use crate::toolbox::shaping::htb::{ClassId, Htb, Next, Shape};
use crate::toolbox::shaping::policer::Policer;

/// Lanes: BRF flows, other TCP flows, all other packets; with priorities also application-limited BRF flows.
const BRF: u32 = 0;
const OTHER: u32 = 1;
const UDP: u32 = 2;
const LIMITED: u32 = 3;

/// Root, and a leaf for each lane. With priorities the leaves of BRF flows have a parent class, whose rate they
/// share; that of limited flows is served first.
#[derive(Debug)]
struct Tree {
    htb: Htb,
    root: ClassId,
    /// Parent of both leaves of BRF flows; `None` without priorities.
    brf: Option<ClassId>,
    /// Leaf classes by lane.
    leaves: Vec<ClassId>,
    rate: BitRate,
    shares: Shares,
    /// Share of the limited BRF flows, bytes/s.
    limited: f64,
}

impl Tree {
    fn new(rate: BitRate, has_priorities: bool) -> Self {
        let mut htb = Htb::new();
        let root = htb.add(None, Shape::new(rate, rate), 0, Time::ZERO);
        let mut add = |parent, priority| {
            // Without flows there are no shares yet; `reshape` sets the rates when there are.
            htb.add(Some(parent), Shape::new(BitRate::from_bps(0), rate), priority, Time::ZERO)
        };
        let brf = has_priorities.then(|| add(root, 0));
        let mut leaves = vec![add(brf.unwrap_or(root), 1), add(root, 1), add(root, 1)];
        leaves.extend(brf.map(|brf| add(brf, 0)));
        Self { htb, root, brf, leaves, rate, shares: Shares::default(), limited: 0.0 }
    }

    /// Applies new rates; unused rate of a class is lent to the others.
    fn reshape(&mut self, now: Time, rate: BitRate, shares: Shares, limited: f64) {
        let limited = if self.brf.is_some() { limited } else { 0.0 };
        if self.rate == rate && self.shares == shares && self.limited == limited {
            return;
        }
        (self.rate, self.shares, self.limited) = (rate, shares, limited);
        let own = |share: f64| BitRate::from_bps((share * 8.0) as u64).min(rate);
        let mut reshape = |class, own| self.htb.reshape(class, Shape::new(own, rate), now);
        reshape(self.root, rate);
        if let Some(brf) = self.brf {
            reshape(brf, own(shares.brf));
        }
        // In the order of the lanes; without priorities there are three leaves, and `limited` is 0.
        let lanes = [shares.brf - limited, shares.other, shares.udp, limited];
        self.leaves.iter().zip(lanes).for_each(|(leaf, share)| reshape(*leaf, own(share)));
    }

    fn has_priorities(&self) -> bool {
        self.brf.is_some()
    }

    fn lane(&self, leaf: ClassId) -> u32 {
        self.leaves.iter().position(|id| *id == leaf).unwrap_or(0) as u32
    }
}

/// Queue discipline of one device, with a tree of classes.
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
        let tree = Tree::new(rate, params.priorities);
        Self { face, switch, tree, policer: Policer::new(part(rate, udp_share), Time::ZERO), udp_share }
    }

    fn refresh(&mut self, now: Time, queue: &FaceView) {
        let switch = self.switch.borrow();
        let Some(port) = switch.ports.get(self.face.index()) else { return };
        // Compared before `reshape`, which stores the new rate.
        if queue.rate() != self.tree.rate {
            self.policer.set_rate(part(queue.rate(), self.udp_share), now);
        }
        self.tree.reshape(now, queue.rate(), port.shares(), port.limited_share());
    }

    /// Places a TCP segment. Other TCP flows may fill at most half of the queue while there are BRF flows, because
    /// each class has a queue of its own.
    fn place_segment(&mut self, class: SegmentClass, header: &Header, queue: &FaceView, lanes: &dyn Lanes) -> Placement {
        let mut switch = self.switch.borrow_mut();
        let lane = if self.tree.has_priorities() && switch.is_limited(header) { LIMITED } else { BRF };
        let Some(port) = switch.ports.get_mut(self.face.index()) else { return Placement::Lane(OTHER) };
        if class == SegmentClass::Other {
            // Without BRF flows there is no class to protect, and the whole queue is available.
            let room = if port.has_brf() { queue.limit_packets().div_ceil(2) } else { queue.limit_packets() };
            let is_full = lanes.packets(OTHER) >= room;
            return if is_full { Placement::Refused(Cause("class full")) } else { Placement::Lane(OTHER) };
        }
        if queue.is_full_for(Class::BULK, header.size()) {
            port.dropped += 1;
            return Placement::Refused(Cause("queue full"));
        }
        // `lanes` does not contain the arriving packet yet.
        port.waiting = brf_bytes(lanes) + header.size().get();
        Placement::Lane(lane)
    }
}

impl ClassQueue {
    /// Whether a packet other than TCP is admitted beside TCP flows. Without a share it is dropped "in the event of
    /// queueing" (§3.2), in whichever class.
    fn admits(&mut self, packet: &Header, now: Time, queue: &FaceView) -> bool {
        if self.udp_share > 0.0 { self.policer.admits(packet.size(), now) } else { queue.queued_packets() == 0 }
    }
}

/// Waiting bytes of BRF flows.
fn brf_bytes(lanes: &dyn Lanes) -> u64 {
    let bytes = lanes.bytes();
    [BRF, LIMITED].into_iter().filter_map(|lane| bytes.get(lane as usize)).sum()
}

fn part(rate: BitRate, share: f64) -> BitRate {
    BitRate::from_bps((rate.as_bps() as f64 * share) as u64)
}

impl QueueDiscipline for ClassQueue {
    fn lanes(&self) -> u32 {
        self.tree.leaves.len() as u32
    }

    fn sees_arrivals(&self) -> bool {
        false
    }

    fn sees_departures(&self) -> bool {
        false
    }

    fn place(&mut self, cx: &mut Context<'_>, packet: &Header, queue: &FaceView, lanes: &dyn Lanes) -> Placement {
        self.refresh(cx.now, queue);
        if let Some(port) = self.switch.borrow_mut().ports.get_mut(self.face.index()) {
            port.arrived += packet.size().get();
        }
        if let Kind::Tcp(_) = packet.kind {
            // A statement of its own, because `place_segment` borrows the switch mutably.
            let class = self.switch.borrow().class(packet);
            return self.place_segment(class, packet, queue, lanes);
        }
        let mut is_policed = true;
        if let Some(port) = self.switch.borrow_mut().ports.get_mut(self.face.index()) {
            port.on_other(cx.now);
            // Alone on the link such packets take nothing from anyone.
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
                if let (BRF | LIMITED, Some(head)) = (lane, lanes.head(lane))
                    && let Some(port) = self.switch.borrow_mut().ports.get_mut(self.face.index())
                {
                    // `lanes` still contains the packet that leaves.
                    port.waiting = brf_bytes(lanes).saturating_sub(head.header.size().get());
                }
                Selection::Head(lane, Verdict::Pass)
            }
            Next::Until(at) => Selection::Until(at),
            Next::Empty => Selection::Until(Time::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1514 bytes that leave each lane within a second of 100 Mbps when something waits in all `busy` ones.
    fn served(has_priorities: bool, busy: &[u32]) -> Vec<u64> {
        let rate = BitRate::from_mbps(100.0);
        let mut tree = Tree::new(rate, has_priorities);
        // 60 for BRF flows, 10 of that for limited ones, and 30 for others.
        tree.reshape(Time::ZERO, rate, Shares { brf: 7.5e6, other: 3.75e6, udp: 0.0 }, 1.25e6);
        let (size, mut now, mut count) = (ByteCount::new(1514), Time::ZERO, vec![0; tree.leaves.len()]);
        while now < Time::from_nanos(1_000_000_000) {
            let Tree { htb, leaves, .. } = &mut tree;
            let waits = |leaf: ClassId| busy.iter().any(|lane| leaves[*lane as usize] == leaf).then_some(size);
            match htb.dequeue(now, waits) {
                Next::Serve(leaf) => {
                    count[tree.lane(leaf) as usize] += 1;
                    now += rate.time_to_send(size);
                }
                Next::Until(at) => now = at,
                Next::Empty => unreachable!("something waits"),
            }
        }
        count
    }

    #[test]
    fn limited_flows_have_what_they_are_granted_out_of_the_share_of_all_brf_flows() {
        // A second carries 8256 packets; bursts are worth 82 of the rate at most.
        let count = served(true, &[BRF, OTHER, LIMITED]);
        let near = |lane: u32, part: f64| (count[lane as usize] as f64 - 8256.0 * part).abs() < 0.06 * 8256.0;
        // The unassigned tenth is lent to them first.
        assert!(near(BRF, 0.5) && near(OTHER, 0.3) && near(LIMITED, 0.2), "{count:?}");
        // What limited flows leave goes to other BRF flows first.
        let count = served(true, &[BRF, OTHER]);
        assert!((count[BRF as usize] as f64 / count[OTHER as usize] as f64 - 2.0).abs() < 0.15, "{count:?}");
        assert_eq!(served(false, &[BRF, OTHER]).len(), 3, "one class without priorities");
    }

    #[test]
    fn a_limited_flow_is_served_first() {
        let rate = BitRate::from_mbps(100.0);
        let mut tree = Tree::new(rate, true);
        tree.reshape(Time::ZERO, rate, Shares { brf: 7.5e6, other: 3.75e6, udp: 0.0 }, 1.25e6);
        let next = tree.htb.dequeue(Time::ZERO, |_| Some(ByteCount::new(1514)));
        assert_eq!(next, Next::Serve(tree.leaves[LIMITED as usize]));
    }
}
