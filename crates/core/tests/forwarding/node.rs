//! A node: forwarder, queues and applications together.

use tidegate_core::context::{Context, Env, NoRoutes, NoSink};
use tidegate_core::control::Directive;
use tidegate_core::event::{Cause, EventMask};
use tidegate_core::face::{FaceId, FaceView, Limit, NodeId};
use tidegate_core::name::{Name, NameTable};
use tidegate_core::node::Node;
use tidegate_core::packet::Header;
use tidegate_core::queue::{Actions, Queue, QueueDiscipline, Verdict};
use tidegate_core::units::{BitRate, Packets, Span};

use crate::harness::{APPLICATION, Router, interest, ms};

#[test]
fn an_application_gets_its_packets_in_the_order_they_came() {
    let router = Router::new(&[APPLICATION]);
    let (names, prefix) = (router.names, router.prefix);
    let queues = (0..APPLICATION).map(|face| Queue::new(FaceId(face), Vec::new())).collect();
    let mut node = Node::new(router.forwarder, queues, router.faces);
    for segment in [1, 2, 3] {
        let mut sink = NoSink;
        node.receive(env(&names, &mut sink), FaceId(0), interest(Name::segment(prefix, segment), segment));
    }
    let taken: Vec<_> = std::iter::from_fn(|| node.poll_application()).collect();
    let order: Vec<_> = taken.iter().map(|(face, packet)| (face.0, packet.body)).collect();
    assert_eq!(order, [(6, 2001), (6, 2002), (6, 2003)]);
}

#[test]
fn a_forwarded_packet_waits_in_the_queue_of_its_face() {
    let router = Router::new(&[3]);
    let (names, prefix) = (router.names, router.prefix);
    let queues = (0..APPLICATION).map(|face| Queue::new(FaceId(face), Vec::new())).collect();
    let mut node = Node::new(router.forwarder, queues, router.faces);
    let mut sink = NoSink;
    node.receive(env(&names, &mut sink), FaceId(0), interest(Name::segment(prefix, 1), 1));
    assert_eq!((node.poll_touched(), node.poll_touched()), (Some(FaceId(3)), None));
    assert_eq!(node.faces()[3].queued_packets(), 1);
    let sent = node.poll_transmit(env(&names, &mut sink), FaceId(3));
    assert_eq!(sent.map(|packet| packet.body), Some(2001));
    assert_eq!(node.forwarder_wake(), Some(ms(1000)));
}

fn env<'a>(names: &'a NameTable, sink: &'a mut NoSink) -> Env<'a> {
    Env { now: ms(0), node: NodeId(0), names, routes: &NoRoutes, sink, mask: EventMask::NONE }
}

#[test]
fn a_full_queue_drops_and_a_class_above_the_highest_is_served_as_the_highest() {
    let router = Router::new(&[0]);
    let (names, prefix) = (router.names, router.prefix);
    let faces = vec![FaceView::device(BitRate::from_mbps(1.0), Span::ZERO, Limit::Packets(Packets::new(1)))];
    let queues = vec![Queue::new(FaceId(0), Vec::new())];
    let mut node = Node::new(router.forwarder, queues, faces);
    let mut sink = NoSink;
    for (nonce, class) in [(1, 0), (2, 0), (3, 200)] {
        let mut packet = interest(Name::segment(prefix, nonce), nonce);
        packet.header.hop.class.0 = class;
        node.enqueue(env(&names, &mut sink), FaceId(0), packet);
    }
    let sent: Vec<u32> = std::iter::from_fn(|| {
        node.poll_transmit(env(&names, &mut sink), FaceId(0)).map(|packet| packet.body)
    })
    .collect();
    assert_eq!((sent, node.queue(FaceId(0)).stats().dropped), (vec![2003, 2001], 1));
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

    fn on_directive(&mut self, cx: &mut Context<'_>, _: &Directive, actions: &mut Actions) {
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
    let mut sink = NoSink;
    node.enqueue(env(&names, &mut sink), FaceId(0), interest(Name::segment(prefix, 1), 1));
    assert_eq!((node.faces()[0].held_packets(), node.queue_wake(FaceId(0))), (1, None));
    let directive = Directive::Metric { prefix, face: FaceId(0), metric: 1.0 };
    node.on_directive(env(&names, &mut sink), &directive);
    assert_eq!(node.queue_wake(FaceId(0)), Some(ms(0)));
    node.wake_queue(env(&names, &mut sink), FaceId(0));
    let sent = node.poll_transmit(env(&names, &mut sink), FaceId(0));
    assert_eq!(sent.map(|packet| packet.header.hop.mark), Some(2));
}
