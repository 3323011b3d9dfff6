//! NDNLPv2 reliability: every frame is acknowledged by the neighbour and retransmitted a few times otherwise.
//!
//! Paper: Vusirikala, Mastorakis, Afanasyev, Zhang, "Hop-By-Hop Best Effort Link Layer Reliability in Named Data
//! Networking" (NDN-0041); rules from NFD's `LpReliability`. Acknowledgements ride on frames
//! of the other direction, or go alone after a short wait. A frame counts as lost when three later ones were
//! acknowledged, or after a timeout.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tidegate_core::link::service::{Labels, Part};
use tidegate_core::ndn::consumer::rto::{Estimator, EstimatorKind, TimeoutLimits};
use tidegate_core::prelude::*;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "belrp",
    summary: "NDNLPv2 reliability: neighbours acknowledge frames, and lost frames are retransmitted",
    paper: "NFD LpReliability",
    provenance: Provenance::Source,
    deviations: &[
        "A timeout runs from the time when a frame is put on the wire, not from the time when it is handed to the \
         socket.",
        "When an Interest is given up, the strategy is not notified.",
    ],
    params: Params::TABLE,
    link_service: Some(|settings| Ok(Box::new(Belrp::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Maximum number of retransmissions of a frame before its packet is given up (`maxRetx`).
    retries: u32 = 3, "times", 0..=100;
    /// Acknowledged later transmissions after which a frame is considered lost (`seqNumLossThreshold`).
    greater_acks: u32 = 3, "acks", 1..=1_000;
    /// Maximum time that an acknowledgement waits to be piggybacked on a frame (`idleAckTimerPeriod`).
    ack_delay: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Minimum retransmission timeout after the first RTT sample (`minRto`).
    #[renamed_from("least_timeout")]
    min_timeout: Span = Span::from_millis(200), "time", Span::from_micros(1)..=Span::from_secs(60);
}

/// Bytes of a TxSequence or Ack: type 3, length 1, number 8.
const FIELD: u32 = 12;

/// Maximum number of acknowledgements that wait, and of sequences that are remembered: a peer must not fill memory.
const MAX_REMEMBERED: usize = 1 << 16;

/// A frame that is not acknowledged.
#[derive(Debug)]
struct Unacked {
    part: Part,
    sent: Time,
    due: Time,
    greater_acks: u32,
}

/// One end of a link.
#[derive(Debug)]
struct Belrp {
    params: Params,
    next: u64,
    /// Unacknowledged frames by transmission number.
    unacked: BTreeMap<u64, Unacked>,
    /// Their numbers by packet: a packet that is given up ends with all of them.
    of_packets: BTreeSet<(u64, u64)>,
    /// Times at which they count as lost.
    due: BTreeSet<(Time, u64)>,
    estimator: Estimator,
    acks: VecDeque<u64>,
    /// Time at which pending acknowledgements are sent in a separate frame.
    idle_at: Option<Time>,
    /// Sequences received within the last timeout, oldest first, and as a set.
    recent: VecDeque<(Time, u64)>,
    seen: BTreeSet<u64>,
}

impl Belrp {
    fn new(params: Params) -> Self {
        let limits = TimeoutLimits { min: Some(params.min_timeout), ..TimeoutLimits::default() };
        Self {
            // One sample per frame, with the factor 4: NDNts' estimator for one segment at a time.
            estimator: Estimator::new(EstimatorKind::Ndnts, limits),
            params,
            next: 0,
            unacked: BTreeMap::new(),
            of_packets: BTreeSet::new(),
            due: BTreeSet::new(),
            acks: VecDeque::new(),
            idle_at: None,
            recent: VecDeque::new(),
            seen: BTreeSet::new(),
        }
    }

    fn number(&mut self, now: Time, part: Part) -> u64 {
        let number = self.next;
        self.next += 1;
        let due = now + self.estimator.rto();
        self.due.insert((due, number));
        self.of_packets.insert((part.packet, number));
        self.unacked.insert(number, Unacked { part, sent: now, due, greater_acks: 0 });
        number
    }

    fn take(&mut self, number: u64) -> Option<Unacked> {
        let unacked = self.unacked.remove(&number)?;
        self.due.remove(&(unacked.due, number));
        self.of_packets.remove(&(unacked.part.packet, number));
        Some(unacked)
    }

    /// Handles an acknowledgement of transmission `number`.
    fn acknowledge(&mut self, now: Time, number: u64, actions: &mut LinkActions) {
        let Some(Unacked { part, sent, .. }) = self.take(number) else { return };
        // NFD takes no sample from a retransmitted frame.
        if part.resends == 0 {
            self.estimator.sample(now.since(sent), 0);
        }
        actions.releases.push(part);
        // Collected first: losing a frame may remove others of its packet from the map that is being walked.
        let mut lost = Vec::new();
        for (earlier, unacked) in self.unacked.range_mut(..number) {
            unacked.greater_acks += 1;
            if unacked.greater_acks >= self.params.greater_acks {
                lost.push(*earlier);
            }
        }
        lost.into_iter().for_each(|number| self.lose(number, actions));
    }

    /// Handles a lost transmission: its part is retransmitted, or its packet given up.
    fn lose(&mut self, number: u64, actions: &mut LinkActions) {
        let Some(Unacked { part, .. }) = self.take(number) else { return };
        if u32::from(part.resends) < self.params.retries {
            return actions.resends.push(part);
        }
        // A packet without one of its frames cannot be reassembled, so retransmitting the others is of no
        // use.
        actions.given_up.push(part.packet);
        let of_packet = (part.packet, 0)..=(part.packet, u64::MAX);
        while let Some((_, number)) = self.of_packets.range(of_packet.clone()).next().copied() {
            self.take(number);
        }
    }

    /// Returns whether `sequence` was not received within the last timeout.
    fn is_new(&mut self, now: Time, sequence: u64) -> bool {
        // Looked up before old sequences are removed, as in NFD.
        let is_new = !self.seen.contains(&sequence);
        let memory = self.estimator.rto();
        while let Some((at, old)) = self.recent.front()
            && (now.since(*at) > memory || self.recent.len() >= MAX_REMEMBERED)
        {
            self.seen.remove(old);
            self.recent.pop_front();
        }
        if self.seen.insert(sequence) {
            self.recent.push_back((now, sequence));
        }
        is_new
    }
}

impl LinkService for Belrp {
    fn label_bytes(&self) -> ByteCount {
        ByteCount::new(u64::from(FIELD))
    }

    fn on_send(&mut self, now: Time, part: Option<Part>, room: u32, actions: &mut LinkActions) -> Labels {
        let number = part.map(|part| self.number(now, part));
        let own = if number.is_some() { FIELD } else { 0 };
        // Acknowledgements only fill the room that the frame leaves under the MTU, after its own number.
        let riders = self.acks.len().min((room.saturating_sub(own) / FIELD) as usize);
        let acks: Vec<u64> = self.acks.drain(..riders).collect();
        // Acknowledgements that did not fit into this notice need another one.
        actions.notices += u32::from(number.is_none() && riders > 0 && !self.acks.is_empty());
        Labels { number, bytes: own + FIELD * acks.len() as u32, acks, gap: None }
    }

    fn on_receive(
        &mut self,
        now: Time,
        sequence: Option<u64>,
        labels: &Labels,
        actions: &mut LinkActions,
    ) -> bool {
        labels.acks.iter().for_each(|number| self.acknowledge(now, *number, actions));
        let (Some(sequence), Some(number)) = (sequence, labels.number) else { return true };
        // A duplicate is acknowledged too: its first acknowledgement may have been lost.
        if self.acks.len() < MAX_REMEMBERED {
            self.acks.push_back(number);
        }
        // Not moved by later frames, or a steady stream would postpone the acknowledgement for ever.
        self.idle_at = self.idle_at.or(Some(now + self.params.ack_delay));
        self.is_new(now, sequence)
    }

    fn next_wake(&self) -> Option<Time> {
        let due = self.due.first().map(|(at, _)| *at);
        [self.idle_at, due].into_iter().flatten().min()
    }

    fn on_wake(&mut self, now: Time, actions: &mut LinkActions) {
        if self.idle_at.is_some_and(|at| at <= now) {
            self.idle_at = None;
            actions.notices += u32::from(!self.acks.is_empty());
        }
        while let Some((_, number)) = self.due.first().filter(|(at, _)| *at <= now) {
            self.lose(*number, actions);
        }
    }
}

#[cfg(test)]
mod tests;
