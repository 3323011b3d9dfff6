//! TCP flows through one bottleneck in virtual time: senders and receivers of core, a queue of core, gates around it.
//!
//! The bottleneck stands beside the senders: data reach its gates and its queue at once and the receiver half a round
//! trip after they left the line; an ACK passes the gates as the sender gets it. Only data are lost on the way.
//! Everything is drawn from `seed`. At one instant, the line comes before the queue's timers, these before the gates', then
//! data, ACKs and timers of the flows in their order.

mod course_table;
mod ends;
pub mod setup;
#[cfg(test)]
mod tests;

use tidegate_core::context::{Context, Env, NoSink, Present};
use tidegate_core::ndn::face::{FaceId, FaceView, Limit};
use tidegate_core::ndn::gate::{Direction, FaceGate, GateVerdict, Releases};
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::packet::{Header, Kind, Packet};
use tidegate_core::queue::QueueStats;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::tcp::{Segment, SenderStats, TcpOptions};
use tidegate_core::units::{BitRate, Packets, Span, Time};

use crate::standalone_queue::StandaloneQueue;

pub use course_table::course;
pub use setup::{Bottleneck, DumbbellFlow, DumbbellLoss, FixedWindow, PAYLOAD, StepMark, WIRE};

use ends::Ends;

/// Kind of the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// The line has sent a packet.
    Line,
    QueueWake,
    GateWake,
    Data(usize),
    Ack(usize),
    Wake(usize),
}

/// The flows, the bottleneck, and the time.
#[derive(Debug)]
pub struct Dumbbell {
    /// Virtual time of the dumbbell.
    pub now: Time,
    flows: Vec<Ends>,
    names: NameTable,
    faces: [FaceView; 1],
    queue: StandaloneQueue<TcpOptions>,
    gates: Vec<Box<dyn FaceGate>>,
    rate: BitRate,
    /// `None` while the line is free.
    busy_until: Option<Time>,
    loss: DumbbellLoss,
    loses_behind: bool,
    draws: Rng,
    refused: u64,
}

impl Dumbbell {
    /// A dumbbell at time zero: no connection is open and no packet is queued.
    pub fn new(bottleneck: Bottleneck, flows: Vec<DumbbellFlow>) -> Self {
        let Bottleneck { rate, buffer, disciplines, gates, loss, loses_behind, seed } = bottleneck;
        let mut names = NameTable::new();
        let flows =
            flows.into_iter().enumerate().map(|(number, flow)| Ends::new(&mut names, seed, number, flow));
        Self {
            now: Time::ZERO,
            flows: flows.collect(),
            names,
            faces: [FaceView::device(rate, Span::ZERO, Limit::Packets(Packets::new(buffer)))],
            queue: StandaloneQueue::new(FaceId(0), disciplines),
            gates,
            rate,
            busy_until: None,
            loss,
            loses_behind,
            draws: Rng::stream(Seed(seed), "loss"),
            refused: 0,
        }
    }

    /// Runs all events up to `until`, those at `until` included.
    pub fn run(&mut self, until: Time) {
        while let Some((at, what)) = self.next().filter(|(at, _)| *at <= until) {
            self.now = self.now.max(at);
            self.happen(what);
        }
        self.now = until;
    }

    /// Goodput of each flow: payload received in order from `from_s` to `until_s`, Mbit/s.
    pub fn goodputs(&mut self, from_s: f64, until_s: f64) -> Vec<f64> {
        self.run(seconds(from_s));
        let before: Vec<u64> = (0..self.flows.len()).map(|flow| self.received(flow)).collect();
        self.run(seconds(until_s));
        let goodput = |(flow, before)| (self.received(flow) - before) as f64 * 8e-6 / (until_s - from_s);
        before.into_iter().enumerate().map(goodput).collect()
    }

    /// Values of `look`, sampled at the interval `every` from now to `until_s` seconds.
    pub fn trace<T>(&mut self, until_s: f64, every: Span, look: impl Fn(&Self) -> T) -> Vec<T> {
        let mut seen = Vec::new();
        while self.now + every <= seconds(until_s) {
            self.run(self.now + every);
            seen.push(look(self));
        }
        seen
    }

    /// Congestion window of `flow`, segments.
    pub fn window(&self, flow: usize) -> f64 {
        self.flows[flow].sender.window()
    }

    /// Segments of `flow` in flight as its sender counts them.
    pub fn in_flight(&self, flow: usize) -> u32 {
        self.flows[flow].sender.view().in_flight
    }

    /// Counters of the sender of `flow`.
    pub fn stats(&self, flow: usize) -> SenderStats {
        self.flows[flow].sender.stats()
    }

    /// Payload of `flow` received in order, bytes.
    pub fn received(&self, flow: usize) -> u64 {
        self.flows[flow].receiver.received().get()
    }

    /// Time at which all data of `flow` were acknowledged; `None` before.
    pub fn completed_at(&self, flow: usize) -> Option<Time> {
        self.flows[flow].sender.completed_at()
    }

    /// Number of data segments of `flow` lost by [`DumbbellLoss`].
    pub fn lost(&self, flow: usize) -> u64 {
        self.flows[flow].lost
    }

    /// Number of packets that wait at the bottleneck.
    pub fn queued(&self) -> u32 {
        self.faces[0].queued_packets()
    }

    /// Counters of the bottleneck's queue.
    pub fn queue_stats(&self) -> &QueueStats {
        self.queue.stats()
    }

    /// Number of segments that a gate refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Sets the rate of the line for all packets sent from now on.
    pub fn set_rate(&mut self, rate: BitRate) {
        self.rate = rate;
        self.faces[0].set_rate(rate);
    }

    fn next(&self) -> Option<(Time, What)> {
        let gates = self.gates.iter().filter_map(|gate| gate.next_wake()).min();
        let shared = [
            (self.busy_until, What::Line),
            (self.queue.next_wake(), What::QueueWake),
            (gates, What::GateWake),
        ];
        let of_flows = self.flows.iter().enumerate().flat_map(|(number, flow)| {
            [
                (flow.data.front().map(|(at, _)| *at), What::Data(number)),
                (flow.acks.front().map(|(at, _)| *at), What::Ack(number)),
                (flow.wake, What::Wake(number)),
            ]
        });
        shared.into_iter().chain(of_flows).filter_map(|(at, what)| Some((at?, what))).min()
    }

    fn happen(&mut self, what: What) {
        let now = self.now;
        match what {
            What::Line => self.line_is_free(),
            What::QueueWake => {
                self.around_queue(|queue, cx| queue.on_wake(cx));
                if self.busy_until.is_none() {
                    self.line_is_free();
                }
            }
            What::GateWake => self.wake_gates(),
            What::Data(number) => self.flows[number].take_data(now),
            What::Ack(number) => {
                if let Some((_, ack)) = self.flows[number].acks.pop_front() {
                    self.take_ack(number, ack);
                }
            }
            What::Wake(number) => {
                self.with(|parts, cx| parts.flows[number].wake_up(cx));
                self.send(number);
            }
        }
    }

    fn take_ack(&mut self, number: usize, mut ack: Segment) {
        if self.pass_gates(&mut ack.header, Direction::In) {
            self.with(|parts, cx| parts.flows[number].sender.on_segment(cx, &ack.header, &ack.options));
        }
        self.send(number);
    }

    /// Sends all segments that the flow may send now.
    fn send(&mut self, number: usize) {
        while let Some(segment) = self.with(|parts, cx| parts.flows[number].sender.poll(cx)) {
            self.offer(number, segment);
        }
        self.flows[number].note_wake();
    }

    fn offer(&mut self, number: usize, mut segment: Segment) {
        if !self.loses_behind && self.loses(number, &segment.header) {
            return;
        }
        if !self.pass_gates(&mut segment.header, Direction::Out) {
            return;
        }
        let packet = Packet::new(segment.header, segment.options);
        let is_free = self.busy_until.is_none();
        if let Some(packet) = self.around_queue(|queue, cx| queue.offer(cx, packet, is_free)) {
            self.transmit(packet);
        }
    }

    fn line_is_free(&mut self) {
        self.busy_until = None;
        if let Some(packet) = self.around_queue(|queue, cx| queue.pop(cx)) {
            self.transmit(packet);
        }
    }

    fn transmit(&mut self, packet: Packet<TcpOptions>) {
        let sent = self.now + self.rate.time_to_send(packet.header.size());
        self.busy_until = Some(sent);
        let number = packet.header.name.segment.0 as usize;
        if self.loses_behind && self.loses(number, &packet.header) {
            return;
        }
        let segment = Segment { header: packet.header, options: packet.body };
        let flow = &mut self.flows[number];
        flow.data.push_back((sent + flow.one_way, segment));
    }

    fn loses(&mut self, number: usize, header: &Header) -> bool {
        if !matches!(header.kind, Kind::Tcp(segment) if segment.payload > 0) {
            return false;
        }
        let flow = &mut self.flows[number];
        flow.offered += 1;
        let starts_round = flow.begin_round(self.now);
        let is_lost = match self.loss {
            DumbbellLoss::None => false,
            DumbbellLoss::Random(probability) => self.draws.uniform() < probability,
            DumbbellLoss::Every(count) => flow.offered.is_multiple_of(count),
            DumbbellLoss::Pairs(_) if flow.offered.is_multiple_of(2) => flow.lost_last,
            DumbbellLoss::Pairs(probability) => self.draws.uniform() < probability,
            DumbbellLoss::RestOfRound(probability) => {
                (!starts_round && flow.lost_last) || self.draws.uniform() < probability
            }
        };
        flow.lost_last = is_lost;
        flow.lost += u64::from(is_lost);
        is_lost
    }

    fn pass_gates(&mut self, header: &mut Header, direction: Direction) -> bool {
        let passes = self.with(|parts, cx| {
            parts.gates.iter_mut().all(|gate| gate.on_segment(cx, header, direction) == GateVerdict::Admit)
        });
        self.refused += u64::from(!passes);
        passes
    }

    fn wake_gates(&mut self) {
        self.with(|parts, cx| {
            let now = cx.now;
            let is_due = |gate: &&mut Box<dyn FaceGate>| gate.next_wake().is_some_and(|at| at <= now);
            for gate in parts.gates.iter_mut().filter(is_due) {
                gate.on_wake(cx, &mut Releases::default());
            }
        });
    }

    fn around_queue<T>(
        &mut self,
        act: impl FnOnce(&mut StandaloneQueue<TcpOptions>, &mut Context<'_>) -> T,
    ) -> T {
        self.with(|parts, cx| act(parts.queue, cx))
    }

    /// Calls `act` with the parts of the dumbbell and a context of its node.
    fn with<T>(&mut self, act: impl FnOnce(Parts<'_>, &mut Context<'_>) -> T) -> T {
        let sink = &mut NoSink;
        let mut present = Present::observed(sink).at(self.now);
        let env = Env::new(&self.names, &mut present);
        let parts = Parts { flows: &mut self.flows, queue: &mut self.queue, gates: &mut self.gates };
        act(parts, &mut Context::new(env, &self.faces))
    }
}

/// Parts of the dumbbell that are called with a context.
struct Parts<'a> {
    flows: &'a mut [Ends],
    queue: &'a mut StandaloneQueue<TcpOptions>,
    gates: &'a mut [Box<dyn FaceGate>],
}

/// The instant `seconds` seconds after the start.
pub fn seconds(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

/// Mean of `seen`; NaN if it is empty.
pub fn mean(seen: &[f64]) -> f64 {
    seen.iter().sum::<f64>() / seen.len() as f64
}
