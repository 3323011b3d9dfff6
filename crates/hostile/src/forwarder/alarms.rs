//! Virtual time of a forwarder, whose timers fire on time or late.

use tidegate_core::context::{Env, NoSink, Present};
use tidegate_core::ndn::face::FaceId;
use tidegate_core::units::{Span, Time};

use super::bench::{Bench, env, wires};
use super::devices::Wires;

/// Maximum number of timers of one queue that fire in one step; the others are late.
const MAX_QUEUE_TIMERS: usize = 32;

impl Bench {
    /// Advances the time by `span`; no timer fires.
    pub fn wait(&mut self, span: Span) {
        self.now += span;
    }

    /// Calls the forwarder and the queue of `face`, whether a timer is due or not.
    pub fn wake_now(&mut self, face: FaceId) {
        self.wake_forwarder();
        self.wake_queue(face);
    }

    fn wake_forwarder(&mut self) {
        self.node.wake_forwarder(env!(self), wires!(self));
        let next = self.node.forwarder_wake();
        assert!(next.is_none_or(|next| next > self.now), "{next:?} is over at {:?}", self.now);
    }

    fn wake_queue(&mut self, face: FaceId) {
        if self.ports[face.index()].is_none() {
            return;
        }
        self.node.wake_queue(env!(self), face, wires!(self));
        let next = self.node.queue(face).next_wake();
        assert!(next.is_none_or(|next| next > self.now), "{next:?} is over at {:?}", self.now);
    }

    /// Advances the time by `span`; all timers that are due fire.
    pub fn run(&mut self, span: Span) {
        let end = self.now + span;
        self.run_queues(end.min(self.now + Span::from_secs(2)));
        for fired in 0.. {
            assert!(fired < 10_000, "the forwarder is woken again and again");
            match self.node.forwarder_wake().filter(|at| *at <= end) {
                Some(at) => self.now = self.now.max(at),
                None => break,
            }
            self.wake_forwarder();
        }
        self.now = self.now.max(end);
    }

    fn run_queues(&mut self, end: Time) {
        for face in (0..self.ports.len()).map(|face| FaceId(face as u16)) {
            let begin = self.now;
            for _ in 0..MAX_QUEUE_TIMERS {
                let Some(at) = self.node.queue(face).next_wake().filter(|at| *at <= end) else { break };
                self.now = self.now.max(at);
                self.wake_queue(face);
                if self.ports[face.index()].is_none() {
                    break;
                }
            }
            self.now = begin;
        }
    }
}
