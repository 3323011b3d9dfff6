//! A sender with a controller that records its reports, and ACKs made by hand.

use std::sync::{Arc, Mutex};

use crate::clock::Clock;
use crate::context::{Context, Env, NoSink, Present};
use crate::ndn::name::{Name, NameTable};
use crate::ndn::packet::TcpFlags;
use crate::ndn::packet::{Ecn, Header, Kind, TcpSegment};
use crate::rng::{Seed, Streams};
use crate::scheme::congestion::{
    CongestionController, Delivery, FlowView, Loss, LossSignal, Pacing, Recovery, Sent,
};
use crate::scheme::signal::{HopSignals, Merge, Signal};
use crate::tcp::Source;
use crate::tcp::options::{SackBlocks, Segment, SynOptions, TcpOptions, segment_size};
use crate::tcp::sender::{Reduction, Sender, SenderRule, SenderSettings, SenderSetup};
use crate::units::{ByteCount, Span, Time};

const SHARED_RATE: Signal = Signal::new(888, Merge::Min);

pub const MSS: u16 = 1000;

/// Reports to the controller, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Received {
    Loss(u32, LossSignal),
    Recovery(Recovery),
    Delivery(Delivery),
    Feedback(u32),
}

/// A window that halves with each recovery and is 1 after a timeout.
#[derive(Debug)]
struct Ear {
    window: f64,
    pacing: Pacing,
    received: Arc<Mutex<Vec<(Received, FlowView)>>>,
}

impl Ear {
    fn note(&self, received: (Received, FlowView)) {
        self.received.lock().expect("no test panicked with it").push(received);
    }
}

impl CongestionController for Ear {
    fn window(&self) -> f64 {
        self.window
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }

    fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, flow: &FlowView) {
        assert!(sent.segment < flow.next_segment && flow.in_flight > 0);
    }

    fn on_feedback(&mut self, _: &mut Context<'_>, hop: &HopSignals, flow: &FlowView) {
        let rate = hop.get(SHARED_RATE).expect("there is no other");
        self.note((Received::Feedback(rate), *flow));
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        self.note((Received::Delivery(*delivery), *flow));
    }

    fn on_loss(&mut self, _: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        self.note((Received::Loss(loss.segment, loss.signal), *flow));
    }

    fn on_recovery(&mut self, _: &mut Context<'_>, recovery: Recovery, flow: &FlowView) {
        self.window = match recovery {
            Recovery::Enter { .. } => (self.window / 2.0).floor(),
            Recovery::Timeout { .. } => 1.0,
            Recovery::Exit | Recovery::Spurious => self.window,
        };
        self.note((Received::Recovery(recovery), *flow));
    }
}

pub struct Bench {
    pub sender: Sender,
    pub now: Time,
    received: Arc<Mutex<Vec<(Received, FlowView)>>>,
    names: NameTable,
}

/// A segment that left: its number in whole segments, payload, flags.
pub type Left = (u32, u16, u8);

impl Bench {
    pub(super) fn new(window: f64, source: Source, settings: SenderSettings) -> Self {
        Self::paced(window, Pacing::Unpaced, source, settings)
    }

    pub(super) fn paced(window: f64, pacing: Pacing, source: Source, settings: SenderSettings) -> Self {
        Self::reducing(Reduction::Proportional, window, pacing, source, settings)
    }

    /// A window of so many segments that holds at once.
    pub(super) fn immediate(window: f64) -> Self {
        Self::immediate_with(window, Source::Endless, SenderSettings::default())
    }

    /// The same with another source and other settings.
    pub(super) fn immediate_with(window: f64, source: Source, settings: SenderSettings) -> Self {
        Self::reducing(Reduction::Immediate, window, Pacing::Unpaced, source, settings)
    }

    fn reducing(
        reduction: Reduction,
        window: f64,
        pacing: Pacing,
        source: Source,
        settings: SenderSettings,
    ) -> Self {
        Self::of(window, pacing, source, settings, |rule| SenderRule { reduction, ..rule })
    }

    /// A sender that asks for ECN in this way.
    pub(super) fn requester(ecn: Ecn) -> Self {
        let with_ecn = |rule| SenderRule { ecn, ..rule };
        Self::of(4.0, Pacing::Unpaced, Source::Endless, SenderSettings::default(), with_ecn)
    }

    fn of(
        window: f64,
        pacing: Pacing,
        source: Source,
        settings: SenderSettings,
        change: impl FnOnce(SenderRule) -> SenderRule,
    ) -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let controller = Box::new(Ear { window, pacing, received: received.clone() });
        let sender = Sender::new(SenderSetup {
            flow: 0,
            name: Name::whole(NameTable::ROOT),
            rule: change(SenderRule::new(controller)),
            settings: SenderSettings { mss: MSS, ..settings },
            source,
            start: Time::ZERO,
            stop: None,
            initial_sequence: u32::MAX - 1500,
            draws: Streams::of(Seed(1)),
            clock: Clock::FINE,
        });
        Self { sender, now: Time::ZERO, received, names: NameTable::new() }
    }

    /// After the handshake, which took 20 ms from 100 ms on; the receiver takes `window` bytes.
    pub(super) fn open(mut self, window: u16) -> Self {
        self.set(100);
        assert_eq!(self.poll().len(), 1);
        self.set(120);
        let syn = SynOptions { mss: 9000, window_scale: 0 };
        let options = TcpOptions { syn: Some(syn), ..TcpOptions::default() };
        self.give(0, window, TcpFlags::SYN | TcpFlags::ACK, options, 100);
        self
    }

    pub(super) fn set(&mut self, millis: u64) {
        self.now = Time::ZERO + Span::from_millis(millis);
    }

    pub(super) fn with<T>(&mut self, call: impl FnOnce(&mut Sender, &mut Context<'_>) -> T) -> T {
        let mut sink = NoSink;
        let mut present = Present::observed(&mut sink).at(self.now);
        let env = Env::new(&self.names, &mut present);
        call(&mut self.sender, &mut Context::new(env, &[]))
    }

    /// Everything that leaves now.
    pub(super) fn segments(&mut self) -> Vec<(TcpSegment, Segment)> {
        std::iter::from_fn(|| self.with(|sender, cx| sender.poll(cx)))
            .map(|segment| match segment.header.kind {
                Kind::Tcp(fields) => (fields, segment),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    pub(super) fn poll(&mut self) -> Vec<Left> {
        let number = |seq: u32| seq.wrapping_sub(u32::MAX - 1500).wrapping_sub(1) / u32::from(MSS);
        self.segments().iter().map(|(tcp, _)| (number(tcp.seq), tcp.payload, tcp.flags.0)).collect()
    }

    /// Numbers of the segments with data that leave now.
    pub(super) fn sent(&mut self) -> Vec<u32> {
        self.poll().iter().filter(|(_, payload, _)| *payload > 0).map(|(number, ..)| *number).collect()
    }

    /// Lets time pass to `millis`, waking the sender whenever it asks for it; what leaves by then with the time, ms.
    pub(super) fn run_to(&mut self, millis: u64) -> Vec<(f64, u32)> {
        let end = Time::ZERO + Span::from_millis(millis);
        let mut left = Vec::new();
        while let Some(at) = self.sender.next_wake().filter(|at| *at <= end) {
            assert!(at > self.now || left.len() < 10_000, "time stands still");
            self.now = self.now.max(at);
            self.with(|sender, cx| sender.on_wake(cx));
            let now = self.now.since(Time::ZERO).as_millis_f64();
            left.extend(self.sent().into_iter().map(|number| (now, number)));
        }
        self.now = end;
        left
    }

    /// An ACK for everything before segment `number`, with SACK blocks in whole segments, that echoes `echo` ms.
    pub(super) fn ack(&mut self, number: u32, blocks: &[(u32, u32)], echo: u32) {
        let mut sack = SackBlocks::default();
        for (first, end) in blocks {
            sack.push(Self::seq(*first), Self::seq(*end));
        }
        let at = 1 + number * u32::from(MSS);
        self.give(at - 1, u16::MAX, TcpFlags::ACK, TcpOptions { sack, syn: None }, echo);
    }

    /// As [`ack`](Self::ack) for everything before segment `number`, with one block from segment `first` over the FIN.
    pub(super) fn ack_with_fin(&mut self, number: u32, first: u32, last: u32, echo: u32) {
        let mut sack = SackBlocks::default();
        sack.push(Self::seq(first), Self::seq(last + 1).wrapping_add(1));
        let length = number * u32::from(MSS);
        self.give(length, u16::MAX, TcpFlags::ACK, TcpOptions { sack, syn: None }, echo);
    }

    fn seq(number: u32) -> u32 {
        (u32::MAX - 1500).wrapping_add(1 + number * u32::from(MSS))
    }

    /// A segment of the receiver's that acknowledges `length` bytes.
    pub(super) fn give(&mut self, length: u32, window: u16, flags: TcpFlags, options: TcpOptions, echo: u32) {
        self.give_header(Self::header(length, window, flags, &options, echo), &options);
    }

    fn header(length: u32, window: u16, flags: TcpFlags, options: &TcpOptions, echo: u32) -> Header {
        let segment = TcpSegment {
            seq: u32::from(!flags.has(TcpFlags::SYN)),
            ack: (u32::MAX - 1500).wrapping_add(1 + length),
            timestamp: 1,
            echo,
            payload: 0,
            window,
            flags,
            ecn: Ecn::NotCapable,
        };
        let size = segment_size(ByteCount::ZERO, options);
        Header::new(Name::whole(NameTable::ROOT), Kind::Tcp(segment), size)
    }

    fn give_header(&mut self, header: Header, options: &TcpOptions) {
        self.with(|sender, cx| sender.on_segment(cx, &header, options));
    }

    /// An ACK for everything before segment `number` that left at `stamp` and carries `rate`.
    pub(super) fn feedback(&mut self, number: u32, stamp: u32, rate: u32) {
        let options = TcpOptions::default();
        let mut header = Self::header(number * u32::from(MSS), u16::MAX, TcpFlags::ACK, &options, 0);
        header.hop.put(SHARED_RATE, rate);
        if let Kind::Tcp(segment) = &mut header.kind {
            segment.timestamp = stamp;
        }
        self.give_header(header, &options);
    }

    /// Rates that were reported to the controller since the last call.
    pub(super) fn rates(&mut self) -> Vec<u32> {
        let rate = |(received, _)| if let Received::Feedback(rate) = received { Some(rate) } else { None };
        self.received().into_iter().filter_map(rate).collect()
    }

    /// Reports to the controller since the last call.
    pub(super) fn received(&mut self) -> Vec<(Received, FlowView)> {
        std::mem::take(&mut self.received.lock().expect("no test panicked with it"))
    }

    /// The same without deliveries and views.
    pub(super) fn trouble(&mut self) -> Vec<Received> {
        let is_trouble = |received: &Received| !matches!(received, Received::Delivery(_));
        self.received().into_iter().map(|(received, _)| received).filter(is_trouble).collect()
    }

    pub(super) fn deliveries(&mut self) -> Vec<Delivery> {
        self.received()
            .into_iter()
            .filter_map(|(received, _)| match received {
                Received::Delivery(delivery) => Some(delivery),
                _ => None,
            })
            .collect()
    }
}
