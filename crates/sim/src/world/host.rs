//! Consumers and where they run. A consumer is made when its flow starts, so that a flow that waits takes little memory.

use std::sync::Arc;

use tidegate_core::clock::Clock;
use tidegate_core::ndn::consumer::{Consumer, ConsumerSetup};
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::PrefixId;
use tidegate_core::ndn::node::Node;
use tidegate_core::rng::{Rng, Seed, Streams};
use tidegate_core::units::Time;

use super::Body;
use super::build::CHECKED;
use crate::plan::FlowSettings;

/// A consumer and where it runs.
#[derive(Debug)]
pub(super) struct Host {
    /// `None` until the flow starts.
    consumer: Option<Box<Consumer>>,
    recipe: Recipe,
    pub node: u32,
    /// Application face, or the device of a direct host.
    pub face: FaceId,
    /// Whether the flow does not count as unfinished: it is complete or has no end.
    counted: bool,
    pub wake: Time,
}

/// Parts of a flow from which its consumer is made.
#[derive(Debug)]
pub(super) struct Recipe {
    pub settings: Arc<FlowSettings>,
    pub start: Time,
    pub prefix: PrefixId,
    /// Number among the flows.
    pub flow: u32,
}

/// What consumers take from the run and from their node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    pub seed: Seed,
    pub clock: Clock,
}

impl Surroundings {
    pub fn of(seed: Seed, node: &Node<Body>) -> Self {
        Self { seed, clock: node.clock() }
    }
}

impl Recipe {
    /// The consumer at time zero; equal at every call.
    fn make(&self, surroundings: Surroundings) -> Consumer {
        let Surroundings { seed, clock } = surroundings;
        let Self { settings, start, prefix, flow } = self;
        let make = settings.scheme.scheme.consumer.expect("the plan gives flows only consumer schemes");
        Consumer::new(ConsumerSetup {
            flow: *flow,
            prefix: *prefix,
            profile: settings.profile,
            controller: make(&settings.scheme.settings).expect(CHECKED),
            demand: settings.demand.clone(),
            payload: settings.payload,
            must_be_fresh: settings.must_be_fresh,
            start: *start,
            stop: settings.stop,
            nonces: Rng::stream(seed, &format!("flow/{flow}/nonce")),
            requests: Streams::of(seed).under(&format!("flow/{flow}/requests/")),
            draws: Streams::of(seed).under(&format!("flow/{flow}/scheme/")),
            receive_limit: None,
            clock,
        })
    }
}

impl Host {
    /// The host of a flow at time zero, on the face `face` of `node`.
    pub fn new(recipe: Recipe, (node, face): (u32, FaceId), surroundings: Surroundings) -> Self {
        let consumer = recipe.make(surroundings);
        // What requests nothing or starts at once does not wait.
        let waits = recipe.start > Time::ZERO && consumer.next_wake() == Some(recipe.start);
        Self {
            consumer: (!waits).then(|| Box::new(consumer)),
            counted: !recipe.settings.demand.has_end(),
            recipe,
            node,
            face,
            wake: Time::MAX,
        }
    }

    /// Number among the flows.
    pub fn flow(&self) -> u32 {
        self.recipe.flow
    }

    /// The consumer, which is made if there is none yet.
    #[inline(always)]
    pub fn consumer(&mut self, surroundings: impl FnOnce() -> Surroundings) -> &mut Consumer {
        self.consumer.get_or_insert_with(
            #[cold]
            || Box::new(self.recipe.make(surroundings())),
        )
    }

    /// Calls `read` with the consumer; with one made for the call if there is none yet.
    pub fn read<T>(&self, surroundings: Surroundings, read: impl FnOnce(&Consumer) -> T) -> T {
        match &self.consumer {
            Some(consumer) => read(consumer),
            None => read(&self.recipe.make(surroundings)),
        }
    }

    /// Whether the flow starts after `now` and has no consumer yet.
    pub fn is_waiting(&self, now: Time) -> bool {
        self.consumer.is_none() && now < self.recipe.start
    }

    /// Time at which a wake-up has to be scheduled at `now`; `None` if one is pending that comes first, or none is needed.
    /// Counts a flow that has become complete out of `unfinished`.
    #[inline(always)]
    pub fn rearm(&mut self, now: Time, unfinished: &mut usize) -> Option<Time> {
        let next = match &self.consumer {
            Some(consumer) if consumer.is_complete() => {
                *unfinished -= usize::from(!self.counted);
                self.counted = true;
                return None;
            }
            Some(consumer) => consumer.next_wake()?,
            None => self.recipe.start,
        };
        let wake = next.max(now);
        // A later time needs no event: the pending one comes first, and schedules the next when it runs.
        (wake < self.wake).then(|| {
            self.wake = wake;
            wake
        })
    }
}

// A flow that waits has nothing else.
const _: () = assert!(size_of::<Host>() <= 64);
