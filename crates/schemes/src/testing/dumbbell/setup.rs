//! What a run through the bottleneck is made of.

use tidegate_core::congestion::CongestionController;
use tidegate_core::context::Context;
use tidegate_core::event::Cause;
use tidegate_core::face::{FaceId, FaceView, Limit, NodeId};
use tidegate_core::gate::FaceGate;
use tidegate_core::packet::{Ecn, Header, Kind};
use tidegate_core::params::{Settings, Value};
use tidegate_core::queue::{Actions, QueueDiscipline, Verdict};
use tidegate_core::rng::{Seed, Streams};
use tidegate_core::scheme::{DeviceSetup, NodeSetup, Scheme};
use tidegate_core::tcp::{AckHabit, SenderRule, SenderSettings, Source};
use tidegate_core::units::{BitRate, Packets, Span, Time};

/// Payload of a full segment, bytes, and what it takes on the wire.
pub const PAYLOAD: f64 = 1448.0;
pub const WIRE: f64 = 1514.0;

/// What the flows share.
#[derive(Debug)]
pub struct Bottleneck {
    pub rate: BitRate,
    /// Packets that may wait, the one being sent not counted.
    pub buffer: u32,
    pub disciplines: Vec<Box<dyn QueueDiscipline>>,
    /// Of the bottleneck's face, asked in this order.
    pub gates: Vec<Box<dyn FaceGate>>,
    pub loss: Loss,
    /// Whether data are lost behind the bottleneck in place of before it.
    pub loses_behind: bool,
    pub seed: u64,
}

impl Bottleneck {
    /// A drop-tail queue without loss.
    pub fn new(rate_mbps: f64, buffer: u32) -> Self {
        Self {
            rate: BitRate::from_mbps(rate_mbps),
            buffer,
            disciplines: Vec::new(),
            gates: Vec::new(),
            loss: Loss::None,
            loses_behind: false,
            seed: 1,
        }
    }

    /// Behind the gates and under the disciplines of `scheme` as a router part.
    pub fn behind(self, scheme: &Scheme, given: &[(&str, Value)]) -> Self {
        let streams = Streams::of(Seed(self.seed));
        let limit = Limit::Packets(Packets::new(self.buffer));
        let (rate, delay) = (self.rate, Span::ZERO);
        let device = DeviceSetup { face: FaceId(0), rate, delay, neighbour: None, limit, streams };
        let node = NodeSetup { node: NodeId(0), devices: vec![device], streams };
        let make = scheme.router.expect("the scheme has a router part");
        let parts = make(&settings(given), &node);
        let parts = parts.unwrap_or_else(|errors| panic!("{}: {errors:?}", scheme.name));
        let gates = parts.gates.into_iter().map(|(_, gate)| gate).collect();
        let disciplines = parts.disciplines.into_iter().map(|(_, discipline)| discipline).collect();
        Self { gates, disciplines, ..self }
    }

    /// So fast that nothing ever waits for long: 100 Gbit/s.
    pub fn wide(loss: Loss) -> Self {
        Self { loss, ..Self::new(100_000.0, u32::MAX) }
    }
}

/// Which data segments of a flow get lost, retransmissions counted as others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    None,
    /// Each with this probability.
    Random(f64),
    /// Every so manieth.
    Every(u64),
    /// Each with this probability, and then all that leave in the same round trip (Padhye et al. 1998 §2).
    RestOfRound(f64),
    /// Each two that follow one another with this probability: what Linux hands down as one packet when it is slow.
    Pairs(f64),
}

/// One flow.
#[derive(Debug)]
pub struct Flow {
    pub rule: SenderRule,
    pub settings: SenderSettings,
    pub habit: AckHabit,
    /// Round trip without queues, sending times not counted.
    pub rtt: Span,
    pub start: Time,
    pub stop: Option<Time>,
    pub source: Source,
}

impl Flow {
    /// Starts at once, never ends; each segment is acknowledged.
    pub fn new(rule: SenderRule, rtt_ms: u64) -> Self {
        Self {
            rule,
            settings: SenderSettings::default(),
            habit: AckHabit { every: 1, ..AckHabit::default() },
            rtt: Span::from_millis(rtt_ms),
            start: Time::ZERO,
            stop: None,
            source: Source::Endless,
        }
    }

    /// As [`new`](Self::new), under a scheme with the settings given.
    pub fn of(scheme: &Scheme, given: &[(&str, Value)], rtt_ms: u64) -> Self {
        Self::new(rule(scheme, given), rtt_ms)
    }
}

/// What `scheme` makes of a connection.
pub fn rule(scheme: &Scheme, given: &[(&str, Value)]) -> SenderRule {
    let make = scheme.sender.expect("the scheme has a TCP sender");
    make(&settings(given)).unwrap_or_else(|errors| panic!("{}: {errors:?}", scheme.name))
}

fn settings(given: &[(&str, Value)]) -> Settings {
    Settings(given.iter().map(|(name, value)| ((*name).into(), value.clone())).collect())
}

/// A window that stays.
#[derive(Debug)]
pub struct FixedWindow(pub f64);

impl CongestionController for FixedWindow {
    fn window(&self) -> f64 {
        self.0
    }
}

/// Marks what may be marked and finds so many packets waiting.
#[derive(Debug)]
pub struct StepMark(pub u32);

impl QueueDiscipline for StepMark {
    fn on_enqueue(
        &mut self,
        _: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        let may_be_marked = matches!(packet.kind, Kind::Tcp(segment) if segment.ecn != Ecn::NotCapable);
        if may_be_marked && queue.queued_packets() >= self.0 {
            return Verdict::Mark(1, Cause("step"));
        }
        Verdict::Pass
    }
}
