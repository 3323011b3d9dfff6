//! Both ends of one flow, with the segments in flight between them.

use std::collections::VecDeque;

use tidegate_core::clock::Clock;
use tidegate_core::context::Context;
use tidegate_core::ndn::name::{Name, NameTable};
use tidegate_core::rng::{Seed, Streams};
use tidegate_core::tcp::{Receiver, ReceiverSetup, Segment, Sender, SenderSetup};
use tidegate_core::units::{ByteCount, Span, Time};

use super::DumbbellFlow;

/// Buffer of the receiver, so large that it never limits a sender.
const BUFFER: ByteCount = ByteCount::new(1 << 30);

/// Sender and receiver of one flow, with the delay between them.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) one_way: Span,
    /// Segments in flight in order of arrival: to the receiver, and to the sender.
    pub(super) data: VecDeque<(Time, Segment)>,
    pub(super) acks: VecDeque<(Time, Segment)>,
    /// Time of the next timer of sender or receiver.
    pub(super) wake: Option<Time>,
    /// Data segments that left the sender, and those of them lost on the way.
    pub(super) offered: u64,
    pub(super) lost: u64,
    /// End of the round trip that began with a data segment, and whether the last one was lost.
    round_ends: Time,
    pub(super) lost_last: bool,
}

impl Ends {
    pub(super) fn new(names: &mut NameTable, seed: u64, number: usize, flow: DumbbellFlow) -> Self {
        let mut name = |to: &str, from: &str| {
            let prefix = names.intern_uri(&format!("/tcp/{to}/{from}/{number}")).expect("a valid name");
            Name::segment(prefix, number as u32)
        };
        let echo = (flow.rule.echo, flow.rule.ack_option);
        let receiver = Receiver::new(ReceiverSetup {
            name: name("sender", "receiver"),
            mss: flow.settings.mss,
            buffer: BUFFER,
            reads_at_once: true,
            ack_policy: flow.ack_policy,
            ecn: true,
            echo: echo.0,
            ack_option: echo.1,
            initial_sequence: 0,
            clock: Clock::FINE,
        });
        let sender = Sender::new(SenderSetup {
            flow: number as u32,
            name: name("receiver", "sender"),
            rule: flow.rule,
            settings: flow.settings,
            source: flow.source,
            start: flow.start,
            stop: flow.stop,
            initial_sequence: 0,
            draws: Streams::of(Seed(seed)).under(&format!("flow/{number}/")),
            clock: Clock::FINE,
        });
        Self {
            wake: sender.next_wake(),
            sender,
            receiver,
            one_way: Span::from_nanos(flow.rtt.as_nanos() / 2),
            data: VecDeque::new(),
            acks: VecDeque::new(),
            offered: 0,
            lost: 0,
            round_ends: Time::ZERO,
            lost_last: false,
        }
    }

    /// Whether a data segment that leaves now is the first of a round trip.
    pub(super) fn begin_round(&mut self, now: Time) -> bool {
        let begins = now >= self.round_ends;
        if begins {
            self.round_ends = now + self.one_way + self.one_way;
        }
        begins
    }

    /// Delivers the segment that is due to the receiver.
    pub(super) fn take_data(&mut self, now: Time) {
        if let Some((_, segment)) = self.data.pop_front() {
            self.receiver.on_segment(now, &segment.header);
        }
        self.answer(now);
        self.note_wake();
    }

    pub(super) fn wake_up(&mut self, cx: &mut Context<'_>) {
        self.receiver.on_wake(cx.now);
        self.answer(cx.now);
        self.sender.on_wake(cx);
    }

    pub(super) fn note_wake(&mut self) {
        self.wake = [self.sender.next_wake(), self.receiver.next_wake()].into_iter().flatten().min();
    }

    fn answer(&mut self, now: Time) {
        while let Some(ack) = self.receiver.poll() {
            self.acks.push_back((now + self.one_way, ack));
        }
    }
}
