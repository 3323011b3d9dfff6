//! Backlog of every flow's Data at each downstream face.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_core::prelude::*;

use super::shaping::Flows;

/// All downstream faces of one node.
#[derive(Debug)]
pub(super) struct DataQueues {
    memory: Span,
    faces: BTreeMap<FaceId, FaceQueue>,
}

/// The Data that waits at one face.
#[derive(Debug, Default)]
struct FaceQueue {
    waiting: u32,
    flows: BTreeMap<FlowKey, FlowQueue>,
    swept_at: Time,
}

/// The Data of one flow at one face.
#[derive(Debug, Default)]
struct FlowQueue {
    waiting: u32,
    /// Arrival time of its last Data.
    seen_at: Time,
}

/// A flow's Data queue at a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backlog {
    /// Data of the flow, packets.
    pub own: u32,
    /// Data of all flows, packets.
    pub total: u32,
}

impl DataQueues {
    pub(super) fn new(memory: Span) -> Self {
        Self { memory, faces: BTreeMap::new() }
    }

    /// Records that Data of `flow` is about to leave through `face`.
    pub(super) fn see(&mut self, face: FaceId, flow: FlowKey, now: Time) {
        let memory = self.memory;
        let queue = self.faces.entry(face).or_default();
        queue.flows.entry(flow).or_default().seen_at = now;
        if now.since(queue.swept_at) >= memory {
            queue.swept_at = now;
            // Swept once per `memory`: doing so for each Data would cost as much as the number of flows.
            queue.flows.retain(|_, flow| flow.waiting > 0 || now.since(flow.seen_at) < memory);
        }
    }

    /// Number of flows whose Data left through `face` recently, at least 1.
    pub(super) fn flows(&self, face: FaceId) -> f64 {
        self.faces.get(&face).map_or(1.0, |queue| queue.flows.len().max(1) as f64)
    }

    /// Backlog of `flow` at `face`.
    pub(super) fn backlog(&self, face: FaceId, flow: FlowKey) -> Backlog {
        let queue = self.faces.get(&face);
        let own = queue.and_then(|queue| queue.flows.get(&flow)).map_or(0, |flow| flow.waiting);
        Backlog { own, total: queue.map_or(0, |queue| queue.waiting) }
    }

    /// Faces through which Data of `flow` left within `memory` or waits to leave.
    pub(super) fn downstreams(&self, flow: FlowKey, now: Time) -> impl Iterator<Item = FaceId> + '_ {
        let is_used = move |flow: &FlowQueue| flow.waiting > 0 || now.since(flow.seen_at) < self.memory;
        let of_flow = move |(face, queue): (&FaceId, &FaceQueue)| {
            queue.flows.get(&flow).is_some_and(is_used).then_some(*face)
        };
        self.faces.iter().filter_map(of_flow)
    }

    fn join(&mut self, face: FaceId, flow: FlowKey) {
        let queue = self.faces.entry(face).or_default();
        queue.waiting += 1;
        queue.flows.entry(flow).or_default().waiting += 1;
    }

    fn leave(&mut self, face: FaceId, flow: FlowKey) {
        let Some(queue) = self.faces.get_mut(&face) else { return };
        // `clear` may have removed this Data from the count already.
        queue.waiting = queue.waiting.saturating_sub(1);
        if let Some(flow) = queue.flows.get_mut(&flow) {
            flow.waiting = flow.waiting.saturating_sub(1);
        }
    }

    fn clear(&mut self, face: FaceId) {
        let Some(queue) = self.faces.get_mut(&face) else { return };
        queue.waiting = 0;
        queue.flows.values_mut().for_each(|flow| flow.waiting = 0);
    }
}

/// Counts the Data in the queue of one face.
#[derive(Debug)]
pub(super) struct Counter {
    face: FaceId,
    flows: Rc<RefCell<Flows>>,
}

impl Counter {
    pub(super) fn new(face: FaceId, flows: Rc<RefCell<Flows>>) -> Self {
        Self { face, flows }
    }
}

impl QueueDiscipline for Counter {
    fn on_enqueue(
        &mut self,
        _: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        let queues = &mut self.flows.borrow_mut().queues;
        // Packets that another discipline or a link failure removes are not reported here; an empty queue
        // corrects the count.
        if queue.queued_packets() == 0 {
            queues.clear(self.face);
        }
        // A packet that does not fit is dropped after this call and never dequeued, so it must not be
        // counted.
        if matches!(packet.kind, Kind::Data(_)) && !queue.is_full_for(packet.hop.class, packet.size()) {
            queues.join(self.face, packet.name.prefix);
        }
        Verdict::Pass
    }

    fn on_dequeue(
        &mut self,
        _: &mut Context<'_>,
        packet: &mut Header,
        _: Span,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        let queues = &mut self.flows.borrow_mut().queues;
        if queue.queued_packets() == 0 {
            queues.clear(self.face);
        } else if matches!(packet.kind, Kind::Data(_)) {
            queues.leave(self.face, packet.name.prefix);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::ndn::packet::Packet;
    use tidegate_testkit::standalone_queue::StandaloneQueue;

    use super::super::shaping::ShapingRule;
    use super::*;
    use tidegate_testkit::gate_bench::{GateBench, data, interest, micros};

    const FACE: FaceId = FaceId(0);
    const ONE: FlowKey = PrefixId(1);
    const OTHER: FlowKey = PrefixId(2);

    fn flows() -> Rc<RefCell<Flows>> {
        let rule = ShapingRule { design: 0.1, target: 50.0 };
        Rc::new(RefCell::new(Flows::new(rule, Span::from_secs(1))))
    }

    #[test]
    fn data_that_wait_are_counted_by_flow_and_nothing_else_is() {
        let (flows, mut bench) = (flows(), GateBench::new());
        let counter = Counter::new(FACE, Rc::clone(&flows));
        let mut queue: StandaloneQueue<()> = StandaloneQueue::new(FACE, vec![Box::new(counter)]);
        let own = |flow| flows.borrow().queues.backlog(FACE, flow).own;
        let total = || flows.borrow().queues.backlog(FACE, ONE).total;
        let mut push = |header| bench.at(0, |cx| queue.push(cx, Packet::new(header, ())));
        (0..3).for_each(|segment| push(data(ONE, segment, 1_000)));
        push(data(OTHER, 0, 1_000));
        push(interest(ONE, 9));
        assert_eq!((own(ONE), own(OTHER), total()), (3, 1, 4));
        // Room for 100: of 97 more, two find none.
        (10..107).for_each(|segment| push(data(OTHER, segment, 1_000)));
        assert_eq!((own(ONE), own(OTHER), total()), (3, 96, 99));
        let mut pop = || bench.at(0, |cx| queue.pop(cx).is_some());
        assert!(pop() && pop());
        assert_eq!((own(ONE), own(OTHER), total()), (1, 96, 97));
        while pop() {}
        assert_eq!((own(ONE), own(OTHER), total()), (0, 0, 0));
    }

    #[test]
    fn what_was_taken_without_a_word_is_forgotten_when_the_queue_is_empty() {
        let (flows, mut bench) = (flows(), GateBench::new());
        let counter = Counter::new(FACE, Rc::clone(&flows));
        let mut queue: StandaloneQueue<()> = StandaloneQueue::new(FACE, vec![Box::new(counter)]);
        bench.at(0, |cx| {
            queue.push(cx, Packet::new(data(ONE, 0, 1_000), ()));
            queue.clear(cx);
            assert_eq!(flows.borrow().queues.backlog(FACE, ONE).own, 1);
            queue.push(cx, Packet::new(data(ONE, 1, 1_000), ()));
        });
        assert_eq!(flows.borrow().queues.backlog(FACE, ONE), Backlog { own: 1, total: 1 });
    }

    #[test]
    fn a_flow_counts_at_a_face_until_the_memory_is_over() {
        let mut queues = DataQueues::new(Span::from_secs(1));
        assert_eq!(queues.flows(FACE), 1.0);
        queues.see(FACE, ONE, micros(0));
        queues.see(FACE, OTHER, micros(900_000));
        assert_eq!(queues.flows(FACE), 2.0);
        assert_eq!(queues.downstreams(ONE, micros(999_999)).collect::<Vec<_>>(), [FACE]);
        assert_eq!(queues.downstreams(ONE, micros(1_000_000)).count(), 0);
        queues.see(FACE, OTHER, micros(1_000_000));
        assert_eq!(queues.flows(FACE), 1.0);
    }
}
