//! One direction of a link: a line between two faces, which may be down.

use tidegate_core::link::framed::FramedLine;
use tidegate_core::link::line::{Line, LineSetup};
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::packet::PacketArena;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{BitRate, ByteCount, Span, Time};

use crate::plan::LinkPlan;
use crate::world::Body;

/// One end of a link.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Number of the node.
    pub node: u32,
    /// Face of the node at this end.
    pub face: FaceId,
}

/// The radios of one direction of a link on a medium.
#[derive(Clone, Copy, Debug)]
pub struct Radio {
    /// Number of the medium.
    pub medium: usize,
    /// Number of the radio that sends.
    pub from: usize,
    /// Number of the radio that receives.
    pub to: usize,
}

/// One direction of a link.
#[derive(Debug)]
pub struct LinkDirection {
    /// End that transmits packets.
    pub from: End,
    /// End that receives packets.
    pub to: End,
    /// Line that carries the packets; for a link with frames only its `busy_until` is used.
    pub line: Line,
    /// Line that carries the packets of a link with frames.
    pub framed: Option<Box<FramedLine>>,
    /// The radios of a link on a medium.
    pub radio: Option<Radio>,
    /// Whether an event at the end of sending is pending.
    pub is_armed: bool,
    /// Earliest pending wake of the queue; [`Time::MAX`] for none.
    pub queue_wake: Time,
    /// Earliest pending wake of the link service; [`Time::MAX`] for none.
    pub link_wake: Time,
    /// Whether the link is up.
    pub is_up: bool,
    /// Whether the queue retains its packets while the link is down.
    pub keeps_queue: bool,
}

impl LinkDirection {
    /// Direction `way` (0 from a to b, 1 back) of the planned link between `ends` (a, b), with its delay already varied.
    pub fn new(plan: &LinkPlan, way: usize, ends: [End; 2], delay: Span, seed: Seed) -> Self {
        let setup = LineSetup {
            rate: plan.rate[way],
            delay,
            jitter: plan.jitter,
            reorder: plan.reorder,
            loss: plan.loss[way].clone(),
        };
        let stream = |what: &str| Rng::stream(seed, &format!("link/{}/{way}/{what}", plan.name));
        let service = plan.service();
        let is_framed = plan.mtu.is_some() || service.is_some() || plan.medium.is_some();
        let framed = is_framed.then(|| Box::new(FramedLine::new(&setup, plan.mtu, service, stream)));
        Self {
            from: ends[way],
            to: ends[1 - way],
            line: Line::new(&setup, stream),
            framed,
            radio: None,
            is_armed: false,
            queue_wake: Time::MAX,
            link_wake: Time::MAX,
            is_up: true,
            keeps_queue: false,
        }
    }

    /// Number of packets lost.
    pub fn lost(&self) -> u64 {
        self.framed.as_ref().map_or_else(|| self.line.lost(), |framed| framed.lost())
    }

    /// Number of packets that arrived.
    pub fn delivered(&self) -> u64 {
        self.framed.as_ref().map_or_else(|| self.line.delivered(), |framed| framed.delivered())
    }

    /// Packets sent that may yet arrive.
    pub fn in_flight(&self, packets: &PacketArena<Body>) -> u64 {
        match &self.framed {
            Some(framed) => framed.in_flight(),
            None => self.line.in_flight(packets) as u64,
        }
    }

    /// Frames sent, lost and retransmitted; without frames a packet is one.
    pub fn frames(&self, packets: &PacketArena<Body>) -> [u64; 3] {
        match &self.framed {
            Some(framed) => {
                let counts = framed.counts();
                [counts.sent, counts.lost, counts.resent]
            }
            None => [self.lost() + self.in_flight(packets) + self.delivered(), self.lost(), 0],
        }
    }

    /// Bytes that have left by `now`, when the queue has given `packets`; of what is being sent, the fraction
    /// that has left. Frames that wait at a radio count as if they had left.
    pub fn sent_bytes(&self, packets: ByteCount, now: Time) -> ByteCount {
        match &self.framed {
            Some(framed) => framed.sent_bytes(now),
            None => ByteCount::new(packets.get() - self.line.unsent(now).get()),
        }
    }

    /// Sets the rate from the next packet or frame on.
    pub fn set_rate(&mut self, rate: BitRate, now: Time) {
        match &mut self.framed {
            Some(framed) => framed.set_rate(rate, now),
            None => self.line.set_rate(rate, now),
        }
    }

    /// Mean rate from the start to `now`; a change counts from the time at which it takes effect.
    pub fn mean_rate(&self, now: Time) -> BitRate {
        self.framed.as_ref().map_or_else(|| self.line.mean_rate(now), |framed| framed.mean_rate(now))
    }
}
