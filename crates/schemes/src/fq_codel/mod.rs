//! FQ-CoDel: every flow has its own queue with CoDel, and flows without a standing queue go first.
//!
//! Paper: RFC 8290.

mod flows;

use tidegate_core::ndn::face::Limit;
use tidegate_core::prelude::*;

use crate::toolbox::queue::codel_state::{CodelSignal, CodelState};
use flows::Flows;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "fq-codel",
    summary: "a queue with CoDel for each flow, served in turn; sparse flows are served first",
    paper: "RFC 8290",
    provenance: Provenance::Paper,
    deviations: &[
        "The queue's own limit applies in addition to the parameter; when either is reached, packets of the longest \
         flow queue are dropped.",
        "Packets are dropped before the arriving packet joins its queue, not after; the excess is the same.",
        "A flow's turn ends when its credits are exactly used up, as in Linux; the text requires a negative value.",
        "A flow of NDN packets consists of all names under one prefix; the hash is not that of Linux.",
    ],
    uses_randomness: true,
    params: Params::TABLE,
    discipline: Some(|settings, device| Ok(Box::new(FqCodel::new(Params::from_settings(settings)?, device)))),
    marking: Marking::If("ecn", "true"),
    ..Scheme::NONE
};

params! {
    /// Number of queues that flows are hashed to (§4.1.1).
    flows: u32 = 1_024, "count", 1..=65_536;
    /// Bytes that a flow sends per turn (§4.2).
    quantum: ByteCount = ByteCount::new(1_514), "bytes", ByteCount::new(256)..=ByteCount::new(1_000_000);
    /// Maximum number of packets in all queues (§5.2.3).
    limit: Packets = Packets::new(10_240), "packets", Packets::new(1)..=Packets::new(10_000_000);
    /// Maximum number of packets dropped at once from the longest flow queue, up to half of it; 1 is the literal form
    /// of the text (§4.1.3), 64 that of Linux.
    batch: u32 = 64, "packets", 1..=10_000;
    /// Acceptable standing queueing delay (TARGET).
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Time that the delay has to stay above the target before the first drop; also the initial interval between drops
    /// (INTERVAL).
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Whether packets are marked instead of dropped; TCP segments only if they are ECN-capable.
    ecn: bool = true;
}

#[derive(Debug)]
struct FqCodel {
    params: Params,
    /// Key of the hash, so that no sender can aim at a queue.
    key: u64,
    flows: Flows,
    codel: Vec<CodelState>,
    /// Size of the largest packet seen; a flow queue of at most that size counts as empty.
    max: ByteCount,
}

impl FqCodel {
    fn new(params: Params, device: &DeviceSetup) -> Self {
        Self {
            key: device.streams.stream("fq-codel").bits(),
            flows: Flows::new(params.flows),
            codel: vec![CodelState::new(); params.flows as usize],
            max: ByteCount::ZERO,
            params,
        }
    }

    /// The queue of a packet: by prefix, and with TCP by the number of the connection.
    fn flow_of(&self, packet: &Header) -> u32 {
        // NDN packets of one prefix are one flow: a flow per name would give every Data packet a queue of its
        // own.
        let connection = match packet.kind {
            Kind::Tcp(_) => packet.name.segment.0,
            _ => 0,
        };
        let flow = u64::from(packet.name.prefix.0) << 32 | u64::from(connection);
        let spread = u128::from(mix(flow ^ self.key)) * u128::from(self.params.flows);
        // A multiplication maps the hash to 0..flows without the bias of a remainder; the result fits because
        // `flows` does.
        (spread >> 64) as u32
    }

    /// Bytes to be dropped before a packet of `size` has room; `None` if it has.
    fn excess(&self, queue: &FaceView, size: ByteCount) -> Option<u64> {
        let waiting = queue.backlog(Class::BULK);
        // Packets, not bytes, are the limit: any packet that leaves makes room, whatever its size.
        if waiting >= self.params.limit.get() {
            return Some(0);
        }
        match queue.limit() {
            Limit::Packets(limit) => (waiting >= limit.get()).then_some(0),
            Limit::Bytes(limit) => {
                let over = (queue.queued_bytes() + size).get().saturating_sub(limit.get());
                (over > 0).then_some(over)
            }
        }
    }

    /// Makes room in the flow queue with most bytes, the arriving packet included.
    fn make_room(&self, flow: u32, size: ByteCount, excess: u64, lanes: &dyn Lanes) -> Placement {
        const CAUSE: Cause = Cause("fattest flow");
        let counted = |lane: u32, bytes: u64| if lane == flow { bytes + size.get() } else { bytes };
        let backlogs = (0..).zip(lanes.bytes()).map(|(lane, bytes)| (lane, counted(lane, *bytes)));
        // The first of several equal ones: the comparison is strict.
        let fattest = backlogs.reduce(|max, next| if next.1 > max.1 { next } else { max });
        let (victim, backlog) = fattest.unwrap_or((flow, 0));
        // Half of the backlog at once, as in Linux (`fq_codel_drop`): the search for the victim looks at every flow.
        let enough = (backlog / 2).max(excess);
        let (mut count, mut bytes) = (0, 0);
        while let Some(head) = lanes.get(victim, count) {
            count += 1;
            bytes += head.header.size().get();
            if bytes >= excess && (bytes >= enough || count >= self.params.batch) {
                break;
            }
        }
        if count == 0 { Placement::Refused(CAUSE) } else { Placement::Evicting { lane: flow, victim, count, cause: CAUSE } }
    }

    /// CoDel's verdict on the first packet of `flow`; `left` bytes stay behind it.
    fn decide(&mut self, now: Time, flow: u32, head: LaneHead<'_>, left: u64) -> Verdict {
        const CAUSE: Cause = Cause("codel");
        let state = &mut self.codel[flow as usize];
        // With less than one packet behind it, a drop would leave the link idle (RFC 8289, MAXPACKET).
        if now.since(head.since) < self.params.target || left <= self.max.get() {
            state.on_good();
            return Verdict::Pass;
        }
        let marks = self.params.ecn && head.header.may_be_marked();
        let signal = if marks { CodelSignal::Mark } else { CodelSignal::Drop };
        match state.on_above(now, self.params.interval, signal) {
            true if marks => Verdict::Mark(1, CAUSE),
            true => Verdict::Drop(CAUSE),
            false => Verdict::Pass,
        }
    }
}

impl QueueDiscipline for FqCodel {
    fn sees_arrivals(&self) -> bool {
        false
    }

    fn sees_departures(&self) -> bool {
        false
    }

    fn lanes(&self) -> u32 {
        self.params.flows
    }

    fn place(
        &mut self,
        _: &mut Context<'_>,
        packet: &Header,
        queue: &FaceView,
        lanes: &dyn Lanes,
    ) -> Placement {
        let (flow, size) = (self.flow_of(packet), packet.size());
        self.max = self.max.max(size);
        let placement = match self.excess(queue, size) {
            Some(excess) => self.make_room(flow, size, excess, lanes),
            None => Placement::Lane(flow),
        };
        // A refused packet is in no queue, and a flow without packets would only cost a turn.
        if !matches!(placement, Placement::Refused(_)) {
            self.flows.activate(flow, self.params.quantum);
        }
        placement
    }

    fn select(&mut self, cx: &mut Context<'_>, _: &FaceView, lanes: &dyn Lanes) -> Selection {
        let has_packets = |flow: u32| lanes.packets(flow) > 0;
        let next = self.flows.next(self.params.quantum, has_packets);
        let Some((flow, head)) = next.and_then(|flow| Some((flow, lanes.head(flow)?))) else {
            return Selection::Until(Time::MAX);
        };
        let size = head.header.size();
        let verdict = self.decide(cx.now, flow, head, lanes.bytes()[flow as usize] - size.get());
        // A dropped packet takes no time on the link, so the flow keeps its credit.
        if !matches!(verdict, Verdict::Drop(_)) {
            self.flows.charge(flow, size);
        }
        Selection::Head(flow, verdict)
    }
}

/// A bijection that spreads every bit over all (the finaliser of SplitMix64).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
