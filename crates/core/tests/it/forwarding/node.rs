//! A node: forwarder, queues and applications together.

use tidegate_core::arena::PacketId;
use tidegate_core::context::{Context, Env, NoSink, Present};
use tidegate_core::ndn::face::{FaceId, FaceView, Limit};
use tidegate_core::ndn::name::{Name, PrefixId};
use tidegate_core::ndn::node::{Device, Devices, Node};
use tidegate_core::ndn::packet::{Header, Packet, PacketArena};
use tidegate_core::observe::event::Cause;
use tidegate_core::queue::{Actions, Lanes, Queue, QueueDiscipline, Selection, Verdict};
use tidegate_core::scheme::control::Message;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

use crate::forwarding::harness::{APPLICATION, Metric, Router, interest, ms};

/// Devices that keep what they send and what is asked of them.
#[derive(Debug, Default)]
struct Wires {
    packets: PacketArena<u32>,
    is_busy: bool,
    sent: Vec<(FaceId, Packet<u32>)>,
    requested: Vec<(FaceId, bool, Option<Time>)>,
}

impl Devices<u32> for Wires {
    type Device<'a> = Wire<'a>;

    fn device(&mut self, face: FaceId) -> Wire<'_> {
        Wire(face, self)
    }

    fn packets(&mut self) -> &mut PacketArena<u32> {
        &mut self.packets
    }
}

impl Wires {
    fn interest(&mut self, prefix: PrefixId, segment: u32) -> PacketId {
        self.packets.insert(interest(Name::segment(prefix, segment), segment))
    }
}

/// Device of one face, during a call.
struct Wire<'a>(FaceId, &'a mut Wires);

impl Device<u32> for Wire<'_> {
    fn is_free(&self) -> bool {
        !self.1.is_busy
    }

    fn packets(&mut self) -> &mut PacketArena<u32> {
        &mut self.1.packets
    }

    fn transmit(&mut self, packet: PacketId, size: ByteCount) -> bool {
        let packet = self.1.packets.take(packet);
        assert_eq!(packet.header.size(), size);
        self.1.sent.push((self.0, packet));
        true
    }

    fn needs_service(&mut self, has_packets: bool, wake: Option<Time>) {
        self.1.requested.push((self.0, has_packets, wake));
    }
}

fn bodies(wires: &Wires) -> Vec<u32> {
    wires.sent.iter().map(|(_, packet)| packet.body).collect()
}

#[test]
fn an_application_gets_its_packets_in_the_order_they_came() {
    let router = Router::new(&[APPLICATION]);
    let (names, prefix) = (router.names, router.prefix);
    let queues = (0..APPLICATION).map(|face| Queue::new(FaceId(face), Vec::new())).collect();
    let mut node = Node::new(router.forwarder, queues, router.faces);
    let mut wires = Wires::default();
    for segment in [1, 2, 3] {
        let mut present = Present::new(NoSink);
        let packet = wires.interest(prefix, segment);
        node.receive(Env::new(&names, &mut present), FaceId(0), packet, &mut wires);
    }
    let taken: Vec<_> = std::iter::from_fn(|| node.poll_application()).collect();
    let order: Vec<_> = taken.iter().map(|(face, packet)| (face.0, wires.packets[packet].body)).collect();
    assert_eq!(order, [(6, 2001), (6, 2002), (6, 2003)]);
}

#[test]
fn a_forwarded_packet_waits_in_the_queue_of_its_face() {
    let router = Router::new(&[3]);
    let (names, prefix) = (router.names, router.prefix);
    let queues = (0..APPLICATION).map(|face| Queue::new(FaceId(face), Vec::new())).collect();
    let mut node = Node::new(router.forwarder, queues, router.faces);
    let (mut present, mut wires) = (Present::new(NoSink), Wires { is_busy: true, ..Wires::default() });
    let packet = wires.interest(prefix, 1);
    node.receive(Env::new(&names, &mut present), FaceId(0), packet, &mut wires);
    assert_eq!((wires.sent.len(), &wires.requested[..]), (0, &[(FaceId(3), true, None)][..]));
    assert_eq!(node.faces()[3].queued_packets(), 1);
    node.service(Env::new(&names, &mut present), FaceId(3), &mut wires);
    assert_eq!((bodies(&wires), wires.requested.len()), (vec![2001], 1));
    assert_eq!(node.forwarder_wake(), Some(ms(1000)));
}

#[test]
fn a_free_device_takes_a_packet_past_its_queue_and_counts_it_as_one_that_did_not_wait() {
    let router = Router::new(&[3]);
    let (names, prefix) = (router.names, router.prefix);
    let queues = (0..APPLICATION).map(|face| Queue::new(FaceId(face), Vec::new())).collect();
    let mut node = Node::new(router.forwarder, queues, router.faces);
    let (mut present, mut wires) = (Present::new(NoSink), Wires::default());
    let packet = wires.interest(prefix, 1);
    node.receive(Env::new(&names, &mut present), FaceId(0), packet, &mut wires);
    assert_eq!((bodies(&wires), wires.requested.len()), (vec![2001], 0));
    let (view, stats) = (&node.faces()[3], node.queue(FaceId(3)).stats());
    assert_eq!((view.sent_packets(), view.accepted_packets(), view.queued_packets()), (1, 1, 0));
    assert_eq!((stats.offered, stats.peak, stats.delays.summary().max), (1, 0, Span::ZERO));
}

#[test]
fn a_full_queue_drops_and_a_class_above_the_highest_is_served_as_the_highest() {
    let router = Router::new(&[0]);
    let (names, prefix) = (router.names, router.prefix);
    let faces = vec![FaceView::device(BitRate::from_mbps(1.0), Span::ZERO, Limit::Packets(Packets::new(1)))];
    let queues = vec![Queue::new(FaceId(0), Vec::new())];
    let mut node = Node::new(router.forwarder, queues, faces);
    let (mut present, mut wires) = (Present::new(NoSink), Wires { is_busy: true, ..Wires::default() });
    for (nonce, class) in [(1, 0), (2, 0), (3, 200)] {
        let mut packet = interest(Name::segment(prefix, nonce), nonce);
        packet.header.hop.class.0 = class;
        let packet = wires.packets.insert(packet);
        node.send(Env::new(&names, &mut present), FaceId(0), packet, &mut wires);
    }
    for _ in 0..3 {
        node.service(Env::new(&names, &mut present), FaceId(0), &mut wires);
    }
    assert_eq!((bodies(&wires), node.queue(FaceId(0)).stats().dropped), (vec![2003, 2001], 1));
}

/// Gives the same verdict on every packet that arrives.
#[derive(Debug)]
struct Always(Verdict);

impl QueueDiscipline for Always {
    fn on_enqueue(&mut self, _: &mut Context<'_>, _: &mut Header, _: &FaceView, _: &mut Actions) -> Verdict {
        self.0
    }

    fn on_wake(&mut self, _: &mut Context<'_>, _: &FaceView, actions: &mut Actions) {
        actions.release(1);
    }

    fn on_directive(&mut self, cx: &mut Context<'_>, _: &dyn Message, actions: &mut Actions) {
        actions.wake_at(cx.now);
    }
}

#[test]
fn a_packet_held_after_a_mark_leaves_with_it_and_directives_reach_disciplines() {
    let router = Router::new(&[0]);
    let (names, prefix) = (router.names, router.prefix);
    let faces = vec![FaceView::device(BitRate::from_mbps(1.0), Span::ZERO, Limit::Packets(Packets::new(9)))];
    let cause = Cause("always");
    let disciplines: Vec<Box<dyn QueueDiscipline>> =
        vec![Box::new(Always(Verdict::Mark(2, cause))), Box::new(Always(Verdict::Hold(ms(100))))];
    let mut node = Node::new(router.forwarder, vec![Queue::new(FaceId(0), disciplines)], faces);
    let (mut present, mut wires) = (Present::new(NoSink), Wires::default());
    let packet = wires.interest(prefix, 1);
    node.send(Env::new(&names, &mut present), FaceId(0), packet, &mut wires);
    assert_eq!((node.faces()[0].held_packets(), wires.sent.len(), wires.requested.len()), (1, 0, 0));
    let directive = Metric(1.0);
    node.on_directive(Env::new(&names, &mut present), &directive, &mut wires);
    assert_eq!(wires.requested, [(FaceId(0), false, Some(ms(0)))]);
    node.wake_queue(Env::new(&names, &mut present), FaceId(0), &mut wires);
    assert_eq!(wires.sent.first().map(|(_, packet)| packet.header.hop.mark), Some(2));
}

/// Sends nothing before this time.
#[derive(Debug)]
struct NotBefore(Time);

impl QueueDiscipline for NotBefore {
    fn lanes(&self) -> u32 {
        1
    }

    fn select(&mut self, cx: &mut Context<'_>, _: &FaceView, _: &dyn Lanes) -> Selection {
        if cx.now < self.0 { Selection::Until(self.0) } else { Selection::Head(0, Verdict::Pass) }
    }
}

#[test]
fn a_device_is_not_requested_again_before_the_time_that_its_queue_waits_for() {
    let router = Router::new(&[0]);
    let (names, prefix) = (router.names, router.prefix);
    let faces = vec![FaceView::device(BitRate::from_mbps(1.0), Span::ZERO, Limit::Packets(Packets::new(9)))];
    let disciplines: Vec<Box<dyn QueueDiscipline>> = vec![Box::new(NotBefore(ms(7)))];
    let mut node = Node::new(router.forwarder, vec![Queue::new(FaceId(0), disciplines)], faces);
    let (mut present, mut wires) = (Present::new(NoSink), Wires::default());
    let packet = wires.interest(prefix, 1);
    node.send(Env::new(&names, &mut present), FaceId(0), packet, &mut wires);
    // A device asked to serve at once would find nothing, and ask again at the same time for ever.
    assert_eq!((wires.sent.len(), &wires.requested[..]), (0, &[(FaceId(0), false, Some(ms(7)))][..]));
    present.now = ms(7);
    node.wake_queue(Env::new(&names, &mut present), FaceId(0), &mut wires);
    assert_eq!((bodies(&wires), wires.requested.len()), (vec![2001], 1));
}

#[test]
fn a_device_takes_the_number_of_one_that_is_gone_and_nothing_of_it() {
    let router = Router::new(&[0]);
    let (names, prefix) = (router.names, router.prefix);
    let mut node = Node::new(router.forwarder, Vec::new(), Vec::new());
    let view = || FaceView::device(BitRate::from_mbps(1.0), Span::ZERO, Limit::Packets(Packets::new(9)));
    let faces: Vec<_> = (0..3).map(|_| node.attach(view(), |face| Queue::new(face, Vec::new()))).collect();
    assert_eq!(faces, [Some(FaceId(0)), Some(FaceId(1)), Some(FaceId(2))]);
    let (mut present, mut wires) = (Present::new(NoSink), Wires { is_busy: true, ..Wires::default() });
    for segment in [1, 2] {
        let packet = wires.interest(prefix, segment);
        node.receive(Env::new(&names, &mut present), FaceId(1), packet, &mut wires);
    }
    let mut held = Vec::new();
    node.visit_names(&wires.packets, &mut |name, token| held.push((name.segment.0, token.0)));
    held.sort_unstable();
    let (first, second) = ([(1, 0), (1, 1001), (1, 1001)], [(2, 0), (2, 1002), (2, 1002)]);
    assert_eq!(held[..6], [first, second].concat());
    assert_eq!(wires.packets.count(), 2);
    assert_eq!(node.detach(Env::new(&names, &mut present), &mut wires.packets, FaceId(0)), 2);
    assert_eq!(wires.packets.count(), 0);
    assert!(!node.faces()[0].is_up());
    assert_eq!(node.attach(view(), |face| Queue::new(face, Vec::new())), Some(FaceId(0)));
    assert_eq!((node.faces()[0].dropped_packets(), node.queue(FaceId(0)).stats().offered), (0, 0));
    assert!(node.faces()[0].is_up());
}
