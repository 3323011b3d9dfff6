//! Sketches of schemes to come, each just large enough to show that the traits carry it.
//!
//! A sketch goes when its scheme arrives.

#![allow(clippy::disallowed_types, reason = "sketches keep small tables; nothing iterates over them")]

use std::collections::BTreeMap;

use tidegate_core::context::{Context, Env, NoRoutes, Sink};
use tidegate_core::control::{Directive, Report};
use tidegate_core::event::{Event, EventMask};
use tidegate_core::face::{FaceView, Limit, NodeId};
use tidegate_core::gate::{Direction, FaceGate, GateVerdict};
use tidegate_core::name::{Name, NameTable, PrefixId};
use tidegate_core::packet::{Ecn, Header, Kind, TcpSegment};
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
                let least = segment.hop.get(Signal::GrantedRate).unwrap_or(u32::MAX).min(self.granted_kbps);
                segment.hop.put(Signal::GrantedRate, least);
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
    let segment = TcpSegment {
        seq: 0,
        ack: 1,
        timestamp: 0,
        echo: 0,
        payload: 0,
        window: 0,
        flags: 0,
        ecn: Ecn::NotCapable,
    };
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
