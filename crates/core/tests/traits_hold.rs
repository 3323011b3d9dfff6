//! Sketches of schemes to come, each just large enough to show that the traits carry it.
//!
//! A sketch goes when its scheme arrives.

#![allow(clippy::disallowed_types, reason = "sketches keep small tables; nothing iterates over them")]

use std::collections::{BTreeMap, VecDeque};

use tidegate_core::context::{Context, Env, NoRoutes, Sink};
use tidegate_core::control::{Directive, Report};
use tidegate_core::event::{Event, EventMask};
use tidegate_core::face::{FaceView, Limit, NodeId};
use tidegate_core::gate::{Direction, FaceGate, GateVerdict};
use tidegate_core::name::{Name, NameTable, PrefixId};
use tidegate_core::packet::{Data, Header, Kind, Millis, PitToken, TcpSegment};
use tidegate_core::signal::Signal;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

/// The node's surroundings: three devices, and what was reported.
struct Bench {
    names: NameTable,
    faces: Vec<FaceView>,
    reports: Reports,
}

#[derive(Default)]
struct Reports(Vec<Report>);

impl Sink for Reports {
    fn record(&mut self, _: Time, _: NodeId, _: Event) {}

    fn report(&mut self, _: Time, _: NodeId, report: Report) {
        self.0.push(report);
    }
}

impl Bench {
    fn new() -> Self {
        let device =
            || FaceView::device(BitRate::from_mbps(10.0), Span::ZERO, Limit::Packets(Packets::new(100)));
        Self {
            names: NameTable::new(),
            faces: vec![device(), device(), device()],
            reports: Reports::default(),
        }
    }

    fn at<T>(&mut self, at_ms: u64, part: impl FnOnce(&mut Context<'_>) -> T) -> T {
        let (node, names, mask) = (NodeId(0), &self.names, EventMask::NONE);
        let env = Env { now: ms(at_ms), node, names, routes: &NoRoutes, sink: &mut self.reports, mask };
        part(&mut Context::new(env, &self.faces))
    }
}

fn ms(at: u64) -> Time {
    Time::ZERO + Span::from_millis(at)
}

fn data() -> Header {
    let final_segment = tidegate_core::name::Segment::NONE;
    let data = Data { freshness: Millis(0), final_segment, payload: 1024, token: PitToken(0) };
    Header::new(name(), Kind::Data(data), ByteCount::new(1100))
}

fn name() -> Name {
    Name::segment(NameTable::ROOT, 1)
}

// BRF: segments towards the receiver are counted by flow; the flow's ACKs carry the rate it is granted.

#[derive(Debug)]
struct BrfGate {
    bytes: BTreeMap<PrefixId, u64>,
    granted_kbps: u32,
}

impl FaceGate for BrfGate {
    fn on_segment(&mut self, _: &mut Context<'_>, segment: &mut Header, direction: Direction) -> GateVerdict {
        match direction {
            Direction::Out => {
                *self.bytes.entry(segment.name.prefix).or_default() += segment.size().get();
            }
            Direction::In => {
                segment.hop.put(Signal::GrantedRate, self.granted_kbps);
            }
        }
        GateVerdict::Admit
    }

    fn on_directive(&mut self, _: &mut Context<'_>, directive: &Directive) {
        if let Directive::Rate { rate, .. } = directive {
            self.granted_kbps = u32::try_from(rate.as_bps() / 1000).unwrap_or(u32::MAX);
        }
    }
}

#[test]
fn brf_grants_the_controllers_rate_on_acks_and_the_smallest_on_the_path_stays() {
    let mut gate = BrfGate { bytes: BTreeMap::new(), granted_kbps: 0 };
    let segment = TcpSegment { seq: 0, ack: 1, timestamp: 0, echo: 0, payload: 0, flags: 0 };
    let mut ack = Header::new(name(), Kind::Tcp(segment), ByteCount::new(66));
    let granted = Directive::Rate { key: NameTable::ROOT, rate: BitRate::from_mbps(12.0) };
    let mut bench = Bench::new();
    bench.at(0, |cx| {
        gate.on_directive(cx, &granted);
        gate.on_segment(cx, &mut ack, Direction::In);
        assert_eq!(ack.hop.get(Signal::GrantedRate), Some(12_000));
        gate.granted_kbps = 90_000;
        gate.on_segment(cx, &mut ack, Direction::In);
        gate.on_segment(cx, &mut ack.clone(), Direction::Out);
    });
    assert_eq!(ack.hop.get(Signal::GrantedRate), Some(12_000));
    assert_eq!(gate.bytes, BTreeMap::from([(NameTable::ROOT, 66)]));
}

// WLDR: a link service numbers frames, hears of gaps and has frames sent again. The link owns the frames; the
// service sees tags alone, as disciplines see headers alone.

/// A packet or a part of one on a link.
#[derive(Clone, Debug, PartialEq)]
struct Frame {
    packet: Header,
    /// Which part of how many.
    index: u16,
    count: u16,
    tag: Tag,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Tag {
    None,
    Label(u16),
    /// The receiver expected the first label and received the second.
    Gap {
        expected: u16,
        received: u16,
    },
}

/// What a service wants done.
#[derive(Debug, Default)]
struct LinkActions {
    /// A frame of its own with this tag goes to the peer.
    answers: Vec<Tag>,
    /// The frames with these tags are sent again, under new tags.
    resends: Vec<Tag>,
}

/// Sees frames on one end of a link.
trait LinkService: std::fmt::Debug {
    /// A frame is about to be sent; its tag, and whether the link keeps a copy.
    fn on_send(&mut self, now: Time) -> (Tag, bool);
    /// A frame arrived.
    fn on_receive(&mut self, now: Time, tag: Tag, actions: &mut LinkActions);
}

#[derive(Debug)]
struct Wldr {
    next: u16,
    expected: u16,
}

impl LinkService for Wldr {
    fn on_send(&mut self, _: Time) -> (Tag, bool) {
        let label = self.next;
        // Label 0 stands for "off".
        self.next = label.checked_add(1).unwrap_or(1);
        (Tag::Label(label), true)
    }

    fn on_receive(&mut self, _: Time, tag: Tag, actions: &mut LinkActions) {
        match tag {
            Tag::None => {}
            Tag::Label(received) => {
                if received != self.expected {
                    actions.answers.push(Tag::Gap { expected: self.expected, received });
                }
                self.expected = received.checked_add(1).unwrap_or(1);
            }
            Tag::Gap { expected, received } => actions.resends.extend((expected..received).map(Tag::Label)),
        }
    }
}

#[test]
fn wldr_sends_the_frames_of_a_gap_again_under_new_labels() {
    let [mut near, mut far] = [Wldr { next: 1, expected: 1 }, Wldr { next: 1, expected: 1 }];
    let mut kept: VecDeque<Frame> = VecDeque::new();
    for _ in 0..4 {
        let (tag, keeps) = near.on_send(Time::ZERO);
        assert!(keeps);
        kept.push_back(Frame { packet: data(), index: 0, count: 1, tag });
    }
    let mut actions = LinkActions::default();
    for frame in [&kept[0], &kept[3]] {
        far.on_receive(Time::ZERO, frame.tag, &mut actions);
    }
    assert_eq!(actions.answers, [Tag::Gap { expected: 2, received: 4 }]);
    let answers = std::mem::take(&mut actions.answers);
    near.on_receive(Time::ZERO, answers[0], &mut actions);
    assert_eq!(actions.resends, [Tag::Label(2), Tag::Label(3)]);
    let again = actions.resends.iter().filter_map(|tag| kept.iter().find(|frame| frame.tag == *tag)).cloned();
    let again: Vec<Frame> = again.map(|frame| Frame { tag: near.on_send(Time::ZERO).0, ..frame }).collect();
    assert_eq!(again.iter().map(|frame| frame.tag).collect::<Vec<_>>(), [Tag::Label(5), Tag::Label(6)]);
    far.on_receive(Time::ZERO, Tag::None, &mut actions);
    assert!(again.iter().all(|frame| frame.index < frame.count && frame.packet == data()));
}
