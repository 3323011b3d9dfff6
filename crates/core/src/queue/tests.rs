//! Lanes, marks on segments that may not be marked, and disciplines that are replaced.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::*;
use crate::context::{Env, NoSink, Present};
use crate::ndn::face::{FaceView, Limit};
use crate::ndn::name::{Name, NameTable, PrefixId};
use crate::ndn::packet::{Data, Ecn, Kind, LossNotice, Millis, Packet, PitToken, TcpFlags, TcpSegment};
use crate::units::{BitRate, ByteCount, Packets};

/// What a [`Scripted`] discipline does, and what it saw at each choice: packets and bytes by lane.
#[derive(Debug, Default)]
struct Script {
    placements: VecDeque<Placement>,
    selections: VecDeque<Selection>,
    seen: Vec<[(u32, u64); 2]>,
}

/// Two lanes, filled and served as the script says; even segments go to lane 0 and odd ones to 1 without it.
#[derive(Debug)]
struct Scripted(Rc<RefCell<Script>>);

impl QueueDiscipline for Scripted {
    fn sees_arrivals(&self) -> bool {
        false
    }

    fn sees_departures(&self) -> bool {
        false
    }

    fn lanes(&self) -> u32 {
        2
    }

    fn place(&mut self, _: &mut Context<'_>, packet: &Header, _: &FaceView, _: &dyn Lanes) -> Placement {
        let placement = self.0.borrow_mut().placements.pop_front();
        placement.unwrap_or(Placement::Lane(packet.name.segment.0 % 2))
    }

    fn select(&mut self, _: &mut Context<'_>, _: &FaceView, lanes: &dyn Lanes) -> Selection {
        let mut script = self.0.borrow_mut();
        script.seen.push([0, 1].map(|lane| (lanes.packets(lane), lanes.bytes()[lane as usize])));
        script.selections.pop_front().expect("no choice was expected")
    }
}

/// A queue for 4 packets, and its script.
struct Bench {
    names: NameTable,
    faces: [FaceView; 1],
    queue: Queue,
    packets: PacketArena<()>,
    script: Rc<RefCell<Script>>,
    now: Time,
}

impl Bench {
    fn new() -> Self {
        let script = Rc::<RefCell<Script>>::default();
        let disciplines: Vec<Box<dyn QueueDiscipline>> = vec![Box::new(Scripted(Rc::clone(&script)))];
        Self { script, ..Self::of(disciplines) }
    }

    fn of(disciplines: Vec<Box<dyn QueueDiscipline>>) -> Self {
        let limit = Limit::Packets(Packets::new(4));
        Self {
            names: NameTable::new(),
            faces: [FaceView::device(BitRate::from_mbps(1.0), Span::ZERO, limit)],
            queue: Queue::new(FaceId(0), disciplines),
            packets: PacketArena::default(),
            script: Rc::default(),
            now: Time::ZERO,
        }
    }

    fn run<T>(&mut self, act: impl FnOnce(&mut Queue, &mut Context<'_>, &mut PacketArena<()>) -> T) -> T {
        let (names, sink) = (&self.names, &mut NoSink);
        let mut present = Present::observed(sink).at(self.now);
        let env = Env::new(names, &mut present);
        let done = act(&mut self.queue, &mut Context::new(env, &self.faces), &mut self.packets);
        let in_queue = self.queue.headers(&self.packets).count();
        assert!(self.packets.count() <= in_queue + 1, "only a packet that leaves is in no queue");
        done
    }

    fn push(&mut self, segment: u32, kind: Kind) {
        let mut header = Header::new(Name::segment(PrefixId(0), segment), kind, ByteCount::new(100));
        if header.is_loss_notice() {
            header.hop.class = Class::NOTICE;
        }
        let packet = self.packets.insert(Packet::new(header, ()));
        self.run(|queue, cx, packets| queue.push(cx, packets, packet));
    }

    fn push_data(&mut self, segments: &[u32]) {
        segments.iter().for_each(|segment| self.push(*segment, data()));
    }

    fn pop(&mut self) -> Option<(u32, u8)> {
        let packet = self.run(|queue, cx, packets| queue.pop(cx, packets))?;
        let packet = self.packets.take(packet);
        Some((packet.header.name.segment.0, packet.header.hop.mark))
    }

    fn choose(&self, selections: &[Selection]) {
        self.script.borrow_mut().selections.extend(selections);
    }

    fn waiting(&self) -> Vec<u32> {
        self.queue.headers(&self.packets).map(|header| header.name.segment.0).collect()
    }
}

fn data() -> Kind {
    let (freshness, token) = (Millis(0), PitToken(0));
    Kind::Data(Data { freshness, final_segment: crate::ndn::name::Segment::NONE, payload: 80, token })
}

fn segment(ecn: Ecn) -> Kind {
    let (seq, ack, timestamp, echo, payload, window) = (0, 0, 0, 0, 60, 0);
    let flags = TcpFlags::default();
    Kind::Tcp(TcpSegment { seq, ack, timestamp, echo, payload, window, flags, ecn })
}

const CAUSE: Cause = Cause("test");
const PASS_0: Selection = Selection::Head(0, Verdict::Pass);
const PASS_1: Selection = Selection::Head(1, Verdict::Pass);

#[test]
fn packets_leave_in_order_from_the_lane_that_is_chosen() {
    let mut bench = Bench::new();
    bench.push_data(&[0, 1, 2, 3]);
    assert_eq!((bench.faces[0].backlog(Class::BULK), bench.faces[0].queued_bytes().get()), (4, 400));
    bench.choose(&[PASS_1, PASS_0, PASS_1, PASS_0]);
    let sent: Vec<_> = (0..4).map(|_| bench.pop()).collect();
    assert_eq!(sent, [1, 0, 3, 2].map(|segment| Some((segment, 0))));
    assert_eq!(bench.pop(), None);
    let seen = &bench.script.borrow().seen;
    assert_eq!(
        seen[..],
        [[(2, 200), (2, 200)], [(2, 200), (1, 100)], [(1, 100), (1, 100)], [(1, 100), (0, 0)]]
    );
    let stats = bench.queue.stats();
    assert_eq!((stats.offered, stats.dropped, stats.peak, stats.delays.summary().count), (4, 0, 4, 4));
    assert_eq!((bench.faces[0].queued_packets(), bench.faces[0].queued_bytes().get()), (0, 0));
}

#[test]
fn a_free_device_requests_a_choice_too() {
    let mut bench = Bench::new();
    bench.choose(&[PASS_1]);
    let header = Header::new(Name::segment(PrefixId(0), 1), data(), ByteCount::new(100));
    let packet = bench.packets.insert(Packet::new(header, ()));
    let is_sent = bench.run(|queue, cx, packets| queue.offer(cx, packets, packet, true)).is_some();
    assert!(is_sent);
    assert_eq!(bench.script.borrow().seen, [[(0, 0), (1, 100)]]);
}

#[test]
fn the_limit_is_that_of_all_lanes_together_and_a_victim_makes_room() {
    let mut bench = Bench::new();
    bench.push_data(&[0, 2, 4, 1]);
    bench.push_data(&[3]);
    assert_eq!((bench.waiting(), bench.queue.stats().dropped), (vec![0, 2, 4, 1], 1));
    let evicting = Placement::Evicting { lane: 1, victim: 0, count: 2, cause: CAUSE };
    bench.script.borrow_mut().placements.push_back(evicting);
    bench.push_data(&[5]);
    assert_eq!((bench.waiting(), bench.queue.stats().dropped), (vec![4, 1, 5], 3));
    bench.script.borrow_mut().placements.push_back(Placement::Refused(CAUSE));
    bench.push_data(&[7]);
    assert_eq!((bench.waiting(), bench.faces[0].dropped_packets()), (vec![4, 1, 5], 4));
    // More than there is, of a lane that may be empty.
    let evicting = Placement::Evicting { lane: 1, victim: 0, count: 9, cause: CAUSE };
    bench.script.borrow_mut().placements.extend([evicting, evicting]);
    bench.push_data(&[7, 9]);
    assert_eq!((bench.waiting(), bench.faces[0].backlog(Class::BULK)), (vec![1, 5, 7, 9], 4));
}

#[test]
fn after_a_drop_the_next_choice_is_requested() {
    let mut bench = Bench::new();
    bench.push_data(&[0, 2, 1]);
    let drop = Selection::Head(0, Verdict::Drop(CAUSE));
    bench.choose(&[drop, drop, Selection::Head(1, Verdict::Mark(2, CAUSE))]);
    assert_eq!(bench.pop(), Some((1, 2)));
    bench.push_data(&[4]);
    bench.choose(&[drop]);
    assert_eq!(bench.pop(), None);
    let stats = bench.queue.stats();
    assert_eq!((stats.dropped, stats.marked, stats.delays.summary().count), (3, 1, 1));
}

#[test]
fn a_choice_to_wait_holds_all_back_until_its_time_or_an_arrival() {
    let mut bench = Bench::new();
    let at = Time::from_nanos(1_000);
    bench.push_data(&[0]);
    assert!(!bench.queue.is_held_back());
    bench.choose(&[Selection::Until(at), Selection::Until(Time::MAX), PASS_1]);
    assert_eq!((bench.pop(), bench.queue.is_held_back(), bench.queue.next_wake()), (None, true, Some(at)));
    bench.now = at;
    bench.run(|queue, cx, packets| queue.on_wake(cx, packets));
    assert!(!bench.queue.is_held_back());
    assert_eq!((bench.pop(), bench.queue.is_held_back(), bench.queue.next_wake()), (None, true, None));
    bench.push_data(&[1]);
    assert_eq!((bench.pop(), bench.queue.is_held_back()), (Some((1, 0)), false));
}

#[test]
fn notices_overtake_the_lanes() {
    let mut bench = Bench::new();
    bench.push_data(&[0]);
    bench.push(9, Kind::LossNotice(LossNotice { token: PitToken(0) }));
    assert_eq!(bench.pop(), Some((9, 0)));
    bench.choose(&[PASS_0]);
    assert_eq!(bench.pop(), Some((0, 0)));
}

#[test]
fn a_link_that_goes_down_empties_the_lanes() {
    let mut bench = Bench::new();
    bench.push_data(&[0, 1, 2]);
    assert_eq!(bench.run(|queue, cx, packets| queue.clear(cx, packets)), 3);
    assert_eq!((bench.waiting(), bench.faces[0].queued_packets()), (vec![], 0));
    assert_eq!(bench.faces[0].queued_bytes(), ByteCount::ZERO);
}

/// Marks everything, when it comes or when it goes.
#[derive(Debug)]
struct Marks {
    at_arrival: bool,
}

impl QueueDiscipline for Marks {
    fn on_enqueue(&mut self, _: &mut Context<'_>, _: &mut Header, _: &FaceView, _: &mut Actions) -> Verdict {
        if self.at_arrival { Verdict::Mark(1, CAUSE) } else { Verdict::Pass }
    }

    fn on_dequeue(
        &mut self,
        _: &mut Context<'_>,
        _: &mut Header,
        _: Span,
        _: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        if self.at_arrival { Verdict::Pass } else { Verdict::Mark(1, CAUSE) }
    }
}

#[test]
fn a_segment_that_may_not_be_marked_is_dropped_in_place_of_a_mark() {
    for at_arrival in [true, false] {
        let mut bench = Bench::of(vec![Box::new(Marks { at_arrival })]);
        bench.push(0, segment(Ecn::NotCapable));
        bench.push(1, segment(Ecn::Classic));
        bench.push(2, segment(Ecn::LowLatency));
        bench.push(3, data());
        let sent: Vec<_> = std::iter::from_fn(|| bench.pop()).collect();
        assert_eq!(sent, [(1, 1), (2, 1), (3, 1)], "at arrival: {at_arrival}");
        let stats = bench.queue.stats();
        assert_eq!((stats.dropped, stats.marked), (1, 3), "at arrival: {at_arrival}");
    }
    let mut bench = Bench::new();
    bench.push(0, segment(Ecn::NotCapable));
    bench.push(2, segment(Ecn::Classic));
    let mark = Selection::Head(0, Verdict::Mark(1, CAUSE));
    bench.choose(&[mark, mark]);
    assert_eq!((bench.pop(), bench.queue.stats().dropped), (Some((2, 1)), 1));
}

#[test]
fn a_discipline_is_replaced_while_packets_wait() {
    let mut bench = Bench::of(Vec::new());
    bench.push_data(&[0]);
    let place = bench.queue.set_discipline(usize::MAX, Box::new(Marks { at_arrival: true }));
    bench.push_data(&[1]);
    assert_eq!(bench.queue.set_discipline(place, Box::new(Marks { at_arrival: false })), 0);
    bench.push_data(&[2]);
    // The last one marks at departure, whatever the packets met at their arrival.
    assert_eq!([bench.pop(), bench.pop(), bench.pop()], [Some((0, 1)), Some((1, 1)), Some((2, 1))]);
    bench.queue.set_discipline(place, Box::new(Marks { at_arrival: true }));
    bench.push_data(&[3]);
    assert_eq!(bench.pop(), Some((3, 1)));
}
