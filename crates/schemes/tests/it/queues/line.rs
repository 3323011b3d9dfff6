//! The line behind a queue: what the queue gives is on the wire for as long as its size takes.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use crate::queues::bench::{Bench, segment};

pub struct Line {
    pub bench: Bench,
    free_at: Option<Time>,
    /// What left the queue, and when.
    pub sent: Vec<(Time, Header)>,
}

/// A flow that sends a segment of `size` bytes every `gap`, whatever becomes of them.
#[derive(Clone, Copy)]
pub struct Flow {
    pub number: u32,
    pub ecn: Ecn,
    pub size: u64,
    pub gap: Span,
}

/// What became of one flow.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub packets: u32,
    pub bytes: u64,
    pub marked: u32,
    pub longest_wait: Span,
}

impl Line {
    pub fn new(bench: Bench) -> Self {
        Self { bench, free_at: None, sent: Vec::new() }
    }

    /// Does everything due before `until`, in order of time; wake-ups before departures.
    pub fn run_before(&mut self, until: Time) {
        loop {
            let wake = self.bench.queue.next_wake().unwrap_or(Time::MAX);
            let free = self.free_at.unwrap_or(Time::MAX);
            if wake.min(free) >= until {
                return;
            }
            self.bench.now = wake.min(free);
            if wake <= free {
                self.bench.run(|queue, cx| queue.on_wake(cx));
            } else {
                self.free_at = None;
            }
            self.send();
        }
    }

    /// Takes the next packet if the line is free.
    pub fn send(&mut self) {
        if self.free_at.is_some() {
            return;
        }
        if let Some(packet) = self.bench.run(|queue, cx| queue.pop(cx)) {
            let busy = self.bench.faces[0].rate().time_to_send(packet.header.size());
            self.free_at = Some(self.bench.now + busy);
            self.sent.push((self.bench.now, packet.header));
        }
    }

    /// A packet arrives at `at`.
    pub fn push(&mut self, at: Time, number: u32, kind: Kind, size: u64) {
        self.run_before(at);
        self.bench.now = at;
        self.bench.push_named(number, kind, size);
        self.send();
    }

    /// Lets `flows` send until `end`; the time stamp of a segment is when it was sent, in units of 100 ns.
    pub fn run_flows(&mut self, flows: &[Flow], end: Time) {
        let mut due: BTreeMap<(Time, usize), Flow> =
            flows.iter().enumerate().map(|(index, flow)| ((self.bench.now, index), *flow)).collect();
        while let Some(((at, index), flow)) = due.pop_first() {
            if at >= end {
                continue;
            }
            let stamp = (at.as_nanos() / 100) as u32;
            self.push(at, flow.number, segment(flow.ecn, stamp), flow.size);
            due.insert((at + flow.gap, index), flow);
        }
        self.run_before(end);
    }

    /// What became of flow `number` since `from`.
    pub fn outcome(&self, number: u32, from: Time) -> Outcome {
        let mut outcome = Outcome::default();
        for (at, header) in &self.sent {
            let Kind::Tcp(segment) = header.kind else { continue };
            if *at < from || header.name.segment.0 != number {
                continue;
            }
            outcome.packets += 1;
            outcome.bytes += header.size().get();
            outcome.marked += u32::from(header.hop.mark > 0);
            let stamp = u64::from(segment.timestamp) * 100;
            outcome.longest_wait = outcome.longest_wait.max(at.since(Time::from_nanos(stamp)));
        }
        outcome
    }
}

/// This many milliseconds after the start.
pub fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}
