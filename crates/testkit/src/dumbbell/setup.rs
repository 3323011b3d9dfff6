//! Settings of a dumbbell: the bottleneck, its losses and its flows.

use tidegate_core::context::Context;
use tidegate_core::ndn::face::{FaceId, FaceView, Limit, NodeId};
use tidegate_core::ndn::gate::FaceGate;
use tidegate_core::ndn::packet::{Ecn, Header, Kind};
use tidegate_core::observe::event::Cause;
use tidegate_core::queue::{Actions, QueueDiscipline, Verdict};
use tidegate_core::rng::{Seed, Streams};
use tidegate_core::scheme::congestion::CongestionController;
use tidegate_core::scheme::params::Setting;
use tidegate_core::scheme::{DeviceSetup, NodeSetup, Scheme};
use tidegate_core::tcp::{AckPolicy, SenderRule, SenderSettings, Source};
use tidegate_core::units::{BitRate, Packets, Span, Time};

/// Payload of a full segment, bytes.
pub const PAYLOAD: f64 = 1448.0;
/// Size of a full segment on the wire, bytes.
pub const WIRE: f64 = 1514.0;

/// The bottleneck, which all flows share.
#[derive(Debug)]
pub struct Bottleneck {
    /// Rate of the line.
    pub rate: BitRate,
    /// Queue limit, packets; the one being sent is not counted.
    pub buffer: u32,
    /// Disciplines of the queue, called in this order.
    pub disciplines: Vec<Box<dyn QueueDiscipline>>,
    /// Gates of the bottleneck's face, called in this order.
    pub gates: Vec<Box<dyn FaceGate>>,
    /// Rule by which data segments are lost.
    pub loss: DumbbellLoss,
    /// Whether data are lost behind the bottleneck in place of before it.
    pub loses_behind: bool,
    /// Seed of all random numbers.
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
            loss: DumbbellLoss::None,
            loses_behind: false,
            seed: 1,
        }
    }

    /// Adds the gates and the disciplines that `scheme` has as a router part, with the parameters `given`.
    ///
    /// # Panics
    /// If the scheme has no router part or refuses a parameter.
    pub fn behind(self, scheme: &Scheme, given: &[(&str, Setting)]) -> Self {
        let streams = Streams::of(Seed(self.seed));
        let limit = Limit::Packets(Packets::new(self.buffer));
        let (rate, delay) = (self.rate, Span::ZERO);
        let mut device = DeviceSetup::new(FaceId(0), rate, limit, streams);
        device.delay = delay;
        let node = NodeSetup::new(NodeId(0), vec![device], streams);
        let make = scheme.router.expect("the scheme has a router part");
        let parts = make(&crate::settings(given), &node);
        let parts = parts.unwrap_or_else(|errors| panic!("{}: {errors:?}", scheme.name));
        let gates = parts.gates.into_iter().map(|(_, gate)| gate).collect();
        let disciplines = parts.disciplines.into_iter().map(|(_, discipline)| discipline).collect();
        Self { gates, disciplines, ..self }
    }

    /// A bottleneck of 100 Gbit/s without a queue limit, so that queueing delay is negligible.
    pub fn wide(loss: DumbbellLoss) -> Self {
        Self { loss, ..Self::new(100_000.0, u32::MAX) }
    }
}

/// Rule by which data segments of a flow are lost; retransmissions count as data segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DumbbellLoss {
    /// The bottleneck drops nothing at random.
    None,
    /// Each segment is lost with this probability, 0..=1.
    Random(f64),
    /// The last segment of each group of this size is lost.
    Every(u64),
    /// Each segment is lost with this probability, and then all later ones of the same round trip (Padhye et al. 1998,
    /// §2).
    RestOfRound(f64),
    /// Two consecutive segments are lost together with this probability, because Linux passes two segments to the
    /// device as one packet at low rates.
    Pairs(f64),
}

/// One flow over the dumbbell's bottleneck.
#[derive(Debug)]
pub struct DumbbellFlow {
    /// Congestion control of the sender.
    pub rule: SenderRule,
    /// The sender's other settings.
    pub settings: SenderSettings,
    /// Rule by which the receiver sends ACKs.
    pub ack_policy: AckPolicy,
    /// RTT without queueing delays and transmission times.
    pub rtt: Span,
    /// Time at which the connection opens.
    pub start: Time,
    /// Time at which the source ends; `None` for never.
    pub stop: Option<Time>,
    /// Source of the data that is sent.
    pub source: Source,
}

impl DumbbellFlow {
    /// A flow that starts at once and never ends, under `rule`; each segment is acknowledged.
    pub fn new(rule: SenderRule, rtt_ms: u64) -> Self {
        Self {
            rule,
            settings: SenderSettings::default(),
            ack_policy: AckPolicy { every: 1, ..AckPolicy::default() },
            rtt: Span::from_millis(rtt_ms),
            start: Time::ZERO,
            stop: None,
            source: Source::Endless,
        }
    }

    /// As [`new`](Self::new), under `scheme` with the parameters `given`.
    ///
    /// # Panics
    /// If the scheme has no TCP sender or refuses a parameter.
    pub fn of(scheme: &Scheme, given: &[(&str, Setting)], rtt_ms: u64) -> Self {
        Self::new(rule(scheme, given), rtt_ms)
    }
}

/// The congestion control of a TCP sender by `scheme` with the parameters `given`.
///
/// # Panics
/// If the scheme has no TCP sender or refuses a parameter.
pub fn rule(scheme: &Scheme, given: &[(&str, Setting)]) -> SenderRule {
    scheme.make_sender(crate::settings(given)).unwrap_or_else(|why| panic!("{}: {why}", scheme.name))
}

/// A controller whose window never changes, segments.
#[derive(Debug)]
pub struct FixedWindow(pub f64);

impl CongestionController for FixedWindow {
    fn window(&self) -> f64 {
        self.0
    }
}

/// A discipline that marks each segment that may be marked while this many packets wait.
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
