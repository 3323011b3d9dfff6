//! Sensing of overflow, and recovery of stored packets (§IV.C-E, Algorithm 1, eq. 1-5).
//!
//! Algorithm 1 runs every `interval`; its inputs do not change between packets, so its rounds are made up for at the
//! next arrival or departure. Only while packets are stored does the queue wake for a round.

use std::collections::VecDeque;

use tidegate_core::ndn::face::Limit;
use tidegate_core::prelude::*;

use super::{FullForNotice, Params, Release, SentCounted, loss_notice};

/// The PLR instance of one interface. It must be the only discipline of its queue that stores packets.
#[derive(Debug)]
pub struct RetransmissionStore {
    params: Params,
    recovery: Recovery,
    /// Deadlines of the stored packets, oldest first.
    deadlines: VecDeque<Time>,
    /// Largest packet seen; with a queue limit in bytes, this room is reserved for each stored packet.
    max: ByteCount,
}

impl RetransmissionStore {
    pub(super) fn new(params: Params) -> Self {
        let recovery = Recovery { next_round: Time::ZERO + params.interval, ..Recovery::default() };
        Self { params, recovery, deadlines: VecDeque::new(), max: ByteCount::ZERO }
    }

    /// Makes up for all rounds until now. `leaving` is a packet that the queue no longer counts.
    #[inline]
    fn catch_up(
        &mut self,
        now: Time,
        queue: &FaceView,
        leaving: Option<&Header>,
        actions: &mut Actions,
    ) -> Moved {
        if now < self.recovery.next_round {
            return Moved::default();
        }
        let seen = self.look(now, queue, leaving);
        let count = self.recovery.run_until(now, &self.params, seen);
        actions.release(count);
        Moved { count, fill_queue: count != 0 && count == seen.room }
    }

    /// Measurements of the rounds until now: the state before the packet of this call.
    fn look(&mut self, now: Time, queue: &FaceView, leaving: Option<&Header>) -> MonitorInput {
        let (mut waiting, mut bytes) = (queue.backlog(Class::BULK), queue.queued_bytes());
        if let Some(packet) = leaving {
            // The rounds up to now ran while the packet was still in the queue.
            waiting += u32::from(packet.hop.class == Class::BULK);
            bytes += packet.size();
        }
        let room = match queue.limit() {
            Limit::Packets(limit) => limit.get().saturating_sub(waiting),
            // Rounded down with the largest size, so that every packet moved is sure to fit.
            Limit::Bytes(limit) => whole_packets(limit - bytes, self.max),
        };
        MonitorInput {
            waiting,
            accepted: queue.accepted_packets(),
            stored: self.stored(now, queue),
            room,
            limit: queue.limit_packets(),
        }
    }

    /// Packets in the store whose time has not expired.
    fn stored(&mut self, now: Time, queue: &FaceView) -> u32 {
        let held = queue.held_packets() as usize;
        // The queue releases the oldest first, and all have the same residence: what is gone is at the front.
        let gone = self.deadlines.len().saturating_sub(held);
        self.deadlines.drain(..gone);
        let expired = self.deadlines.partition_point(|deadline| *deadline <= now);
        (self.deadlines.len() - expired) as u32
    }

    /// Handles a notice from another node.
    ///
    /// Deviation: §IV.D discards it when "the queue" is full, by default that of its own class here
    /// (`full_for_notice = "any-class"`).
    fn on_notice(&self, notice: &Header, queue: &FaceView) -> Verdict {
        let any = self.params.full_for_notice == FullForNotice::AnyClass;
        if any && queue.is_full_for(Class::BULK, notice.size()) {
            return Verdict::Drop(Cause("queue full"));
        }
        Verdict::Pass
    }

    /// Handles an ordinary packet that finds the queue full (§IV.D); `moved` packets are leaving the store.
    #[cold]
    fn on_overflow(
        &mut self,
        cx: &Context<'_>,
        packet: &Header,
        queue: &FaceView,
        moved: u32,
        actions: &mut Actions,
    ) -> Verdict {
        let recovered = match packet.kind {
            Kind::Data(_) => true,
            // Deviation: the paper has no Nacks; they share the Interests' rule.
            Kind::Interest(_) | Kind::Nack(_) => self.params.recover_interests,
            Kind::LossNotice(_) | Kind::Tcp(_) => false,
        };
        if !recovered {
            return Verdict::Drop(Cause("queue full"));
        }
        // Packets that this call moves to the queue still count as held, but they free their place.
        let stored = self.stored(cx.now, queue) - moved;
        if stored >= store_size(self.params.alpha, queue.limit_packets()) {
            return Verdict::Drop(Cause("store full"));
        }
        // A notice leaves by the face of the stored packet; for an Interest that is upstream, away from the
        // consumer.
        if let Kind::Data(data) = &packet.kind {
            actions.notify(loss_notice::notice_for(cx.names, packet, data));
        }
        // No packet may come for a while, so the store needs a timer of its own now.
        actions.wake_at(self.recovery.next_round);
        let until = cx.now + self.params.residence;
        self.deadlines.push_back(until);
        Verdict::Hold(until)
    }
}

impl QueueDiscipline for RetransmissionStore {
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        self.max = self.max.max(packet.size());
        // Before the packet is judged: due rounds may fill the room that it would take, or free the store.
        let moved = self.catch_up(cx.now, queue, None, actions);
        if packet.hop.class != Class::BULK {
            return self.on_notice(packet, queue);
        }
        if !moved.fill_queue && !queue.is_full_for(Class::BULK, packet.size()) {
            return Verdict::Pass;
        }
        self.on_overflow(cx, packet, queue, moved.count, actions)
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        _: Span,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        self.catch_up(cx.now, queue, Some(packet), actions);
        Verdict::Pass
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, queue: &FaceView, actions: &mut Actions) {
        let moved = self.catch_up(cx.now, queue, None, actions);
        // An empty store needs no rounds until a packet is stored; they are made up for then.
        if queue.held_packets() > moved.count {
            actions.wake_at(self.recovery.next_round);
        }
    }
}

/// Size of the store, packets (eq. 1).
fn store_size(alpha: f64, limit: u32) -> u32 {
    part_of(alpha, limit) as u32
}

/// `part * limit` without the rounding error of a decimal fraction, so that 0.29 of 100 is 29.
fn part_of(part: f64, limit: u32) -> f64 {
    (part * f64::from(limit) * 1e6).round() / 1e6
}

fn whole_packets(room: ByteCount, size: ByteCount) -> u32 {
    u32::try_from(room.get() / size.get().max(1)).unwrap_or(u32::MAX)
}

/// Packets that the rounds of one call move from the store to the queue.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    count: u32,
    /// The queue has no room in addition to them.
    fill_queue: bool,
}

/// Input of a round from the network monitor ("NMM").
#[derive(Clone, Copy, Debug)]
struct MonitorInput {
    /// Ordinary packets in the queue.
    waiting: u32,
    /// Ordinary packets put into the queue since the start.
    accepted: u64,
    /// Packets in the store.
    stored: u32,
    /// Further packets that the queue can take.
    room: u32,
    /// Limit of the queue, packets.
    limit: u32,
}

impl MonitorInput {
    fn sent(&self, counted: SentCounted) -> u64 {
        match counted {
            SentCounted::Enqueue => self.accepted,
            SentCounted::Dequeue => self.accepted - u64::from(self.waiting),
        }
    }

    /// The input after `moved` packets went from the store to the queue.
    fn after(&self, moved: u32) -> Self {
        Self {
            waiting: self.waiting + moved,
            accepted: self.accepted + u64::from(moved),
            stored: self.stored - moved,
            room: self.room - moved,
            limit: self.limit,
        }
    }
}

/// State of Algorithm 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Recovery {
    /// Time of the next round.
    next_round: Time,
    /// Cumulative rate R in half packets, so that halves stay exact over any time.
    credit: i64,
    /// Estimated bandwidth N_bw, packets per round.
    bandwidth: i64,
    /// Queue length at the end of the last round, packets.
    last_waiting: u32,
    /// Total number of sent packets at the last round.
    last_sent: u64,
}

impl Recovery {
    /// Runs every round due until `now` on an interface whose state is `seen`; returns the number of packets moved.
    fn run_until(&mut self, now: Time, params: &Params, mut seen: MonitorInput) -> u32 {
        // `next_round` is not after `now`, as `catch_up` checks, so at least one round is due.
        let rounds = now.since(self.next_round).as_nanos() / params.interval.as_nanos() + 1;
        self.next_round += params.interval * rounds;
        let stored = seen.stored;
        for round in 1..=rounds {
            let before = *self;
            let moved = self.round(params, &seen);
            seen = seen.after(moved);
            // From here every round is the same; an idle link could owe millions of them.
            if moved == 0 && self.repeats(&before, &seen) {
                self.repeat(rounds - round, params, &seen);
                break;
            }
        }
        stored - seen.stored
    }

    /// Runs one round (lines 3-19); returns the number of packets moved.
    fn round(&mut self, params: &Params, seen: &MonitorInput) -> u32 {
        let sent = seen.sent(params.sent_counted);
        let mut moved = 0;
        // At or above tau the queue is congested: nothing is estimated or sent until it drains (line 5).
        if f64::from(seen.waiting) < part_of(params.tau, seen.limit) {
            self.estimate(params, seen.waiting, sent.wrapping_sub(self.last_sent) as i64);
            self.limit_credit(params, seen);
            moved = self.take_due(params, seen);
        }
        self.last_waiting = seen.waiting + moved;
        let counted_ahead = params.sent_counted == SentCounted::Enqueue && !params.released_counted;
        self.last_sent = sent + u64::from(if counted_ahead { moved } else { 0 });
        moved
    }

    /// Lines 7-12 (eq. 3-5).
    fn estimate(&mut self, params: &Params, waiting: u32, sent: i64) {
        if self.last_waiting == 0 && waiting == 0 {
            // An empty queue is no sample of the bandwidth, so the last estimate remains.
            self.credit = self.credit.saturating_add(self.bandwidth - sent).max(0);
            return;
        }
        let drained = i64::from(self.last_waiting) - i64::from(waiting);
        // (q_last - q) / 2 of eq. 3 is `drained` in half packets.
        self.credit = (self.credit + drained).max(0);
        self.bandwidth = match params.sent_counted {
            SentCounted::Enqueue => sent + drained,
            SentCounted::Dequeue => sent,
        };
    }

    /// Deviation: the paper lets R grow without bound (`cap = false`).
    fn limit_credit(&mut self, params: &Params, seen: &MonitorInput) {
        if params.cap && seen.stored == 0 {
            self.credit = self.credit.min(2 * i64::from(store_size(params.alpha, seen.limit)));
        }
    }

    /// Lines 13-17. Where store or queue end before floor(R), only the packets that do move are counted.
    fn take_due(&mut self, params: &Params, seen: &MonitorInput) -> u32 {
        let due = match params.release {
            Release::AboveOne => self.credit > 2,
            Release::FromOne => self.credit >= 2,
        };
        if !due || seen.stored == 0 {
            return 0;
        }
        // The whole floor(R) is spent even if fewer packets move: unused rate is not saved up.
        let whole = self.credit / 2;
        self.credit -= 2 * whole;
        u32::try_from(whole).unwrap_or(u32::MAX).min(seen.stored).min(seen.room)
    }

    /// Whether further rounds would repeat the last one, which began as `before` and moved nothing.
    fn repeats(&self, before: &Self, seen: &MonitorInput) -> bool {
        let same = (self.last_waiting, self.last_sent) == (before.last_waiting, before.last_sent);
        same && (seen.stored == 0 || self.credit == before.credit)
    }

    /// Adds what `rounds` further rounds would: only an empty queue with an empty store lets R grow (eq. 5).
    fn repeat(&mut self, rounds: u64, params: &Params, seen: &MonitorInput) {
        if seen.waiting == 0 && seen.stored == 0 {
            let rounds = i64::try_from(rounds).unwrap_or(i64::MAX);
            self.credit = self.credit.saturating_add(self.bandwidth.saturating_mul(rounds)).max(0);
            self.limit_credit(params, seen);
        }
    }
}

#[cfg(test)]
mod tests;
