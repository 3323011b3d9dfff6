//! One direction of a link: a line between two faces, which may be down.

use tidegate_core::face::FaceId;
use tidegate_core::line::{Line, LineSetup};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{Span, Time};

use crate::plan::LinkPlan;

/// One end of a link.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Node.
    pub node: u32,
    /// Its face.
    pub face: FaceId,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Direction<B> {
    /// Transmitting end.
    pub from: End,
    /// Receiving end.
    pub to: End,
    /// What carries the packets.
    pub line: Line<B>,
    /// An event at the end of sending is pending.
    pub is_armed: bool,
    /// Earliest pending wake of the queue; [`Time::MAX`] for none.
    pub queue_wake: Time,
    /// Whether packets pass.
    pub is_up: bool,
    /// Whether the queue keeps its packets while the link is down.
    pub keeps_queue: bool,
}

impl<B> Direction<B> {
    /// Direction `way` (0 from a to b, 1 back) of the planned link, with its delay already varied.
    pub fn new(plan: &LinkPlan, way: usize, from: End, to: End, delay: Span, seed: Seed) -> Self {
        let setup = LineSetup {
            rate: plan.rate[way],
            delay,
            jitter: plan.jitter,
            reorder: plan.reorder,
            loss: plan.loss[way].clone(),
            mtu: plan.mtu,
        };
        let stream = |what: &str| Rng::stream(seed, &format!("link/{}/{way}/{what}", plan.name));
        Self {
            from,
            to,
            line: Line::new(&setup, stream),
            is_armed: false,
            queue_wake: Time::MAX,
            is_up: true,
            keeps_queue: false,
        }
    }
}
