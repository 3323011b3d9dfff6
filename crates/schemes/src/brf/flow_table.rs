//! The flows that leave through one device, in bounded memory.
//!
//! A SYN alone takes a half-open entry only, and the oldest of these is evicted first: a flood of SYNs does not evict
//! active flows, and does not count as flows.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::prelude::*;

use super::flow::{SegmentClass, Flow};

/// Time after which a SYN without an answer is removed.
const UNANSWERED: Span = Span::from_secs(3);
/// Time after which a flow without data is removed.
const FORGOTTEN: Span = Span::from_secs(60);

/// Number of a flow: it represents the addresses and ports of both ends, one for each connection.
pub type FlowNumber = u32;

/// A connection whose SYN has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfOpen {
    /// Class of the flow by its SYN: whether the sender supports grants.
    pub class: SegmentClass,
    /// Prefix of its data.
    pub data: PrefixId,
    /// Time of the last SYN.
    pub syn_at: Time,
}

/// The flows of one device.
#[derive(Debug)]
pub struct FlowTable {
    /// Maximum number of entries, half-open ones included.
    limit: usize,
    flows: BTreeMap<FlowNumber, Flow>,
    /// Every flow once, by the time of its data when it was last checked.
    by_data: BTreeSet<(Time, FlowNumber)>,
    half_open: BTreeMap<FlowNumber, HalfOpen>,
    by_syn: BTreeSet<(Time, FlowNumber)>,
}

impl FlowTable {
    /// An empty table for at most `limit` entries, at least one.
    pub fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            flows: BTreeMap::new(),
            by_data: BTreeSet::new(),
            half_open: BTreeMap::new(),
            by_syn: BTreeSet::new(),
        }
    }

    /// Number of entries, half-open ones included.
    pub fn len(&self) -> usize {
        self.flows.len() + self.half_open.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The flow with this number, if it has an entry.
    pub fn get(&self, number: FlowNumber) -> Option<&Flow> {
        self.flows.get(&number)
    }

    /// The flow with this number, to change it.
    pub fn get_mut(&mut self, number: FlowNumber) -> Option<&mut Flow> {
        self.flows.get_mut(&number)
    }

    /// All flows, without half-open connections, by number.
    pub fn flows(&self) -> impl Iterator<Item = (FlowNumber, &Flow)> {
        self.flows.iter().map(|(number, flow)| (*number, flow))
    }

    /// The same flows as [`flows`](Self::flows), mutable.
    pub fn flows_mut(&mut self) -> impl Iterator<Item = &mut Flow> {
        self.flows.values_mut()
    }

    /// Records a SYN. A repeated one restarts the clock.
    pub fn on_syn(&mut self, now: Time, number: FlowNumber, class: SegmentClass, data: PrefixId) {
        if let Some(flow) = self.flows.get_mut(&number)
            && flow.gone_at.is_none()
        {
            // A retransmitted SYN of a flow that is known already; only the measurement of the handshake
            // begins again.
            return flow.trip.on_syn(now);
        }
        // A SYN with the number of a flow that has ended is a new connection.
        self.remove(number);
        self.take_half_open(number);
        if self.len() >= self.limit && !self.make_room(now) {
            return;
        }
        self.half_open.insert(number, HalfOpen { class, data, syn_at: now });
        self.by_syn.insert((now, number));
    }

    /// The connection whose SYN was seen without an answer yet.
    pub fn half_open(&self, number: FlowNumber) -> Option<&HalfOpen> {
        self.half_open.get(&number)
    }

    fn take_half_open(&mut self, number: FlowNumber) -> Option<HalfOpen> {
        let half_open = self.half_open.remove(&number)?;
        self.by_syn.remove(&(half_open.syn_at, number));
        Some(half_open)
    }

    /// Turns a half-open connection into a flow, as it is answered.
    pub fn open(&mut self, now: Time, number: FlowNumber) -> Option<&mut Flow> {
        let HalfOpen { class, data, syn_at } = self.take_half_open(number)?;
        let mut flow = Flow::new(now, class, data);
        flow.trip.on_syn(syn_at);
        self.insert(now, number, flow)
    }

    /// Inserts a flow; `None` if the table is full of active flows.
    pub fn insert(&mut self, now: Time, number: FlowNumber, flow: Flow) -> Option<&mut Flow> {
        if self.len() >= self.limit && !self.make_room(now) {
            return None;
        }
        self.by_data.insert((flow.last_data, number));
        self.flows.insert(number, flow);
        self.flows.get_mut(&number)
    }

    /// Evicts the oldest half-open entry, or the flow that was idle longest, but no active one. Returns whether there
    /// is room now.
    fn make_room(&mut self, now: Time) -> bool {
        if let Some((_, oldest)) = self.by_syn.first().copied() {
            return self.take_half_open(oldest).is_some();
        }
        while let Some((seen, number)) = self.by_data.pop_first() {
            let Some(flow) = self.flows.get(&number) else { continue };
            // Entries are brought up to date only here, so that a data segment costs no update of the index.
            if flow.last_data == seen {
                if flow.is_active(now) {
                    // Even the flow that was idle longest is active, so none is evicted.
                    self.by_data.insert((seen, number));
                    return false;
                }
                self.flows.remove(&number);
                return true;
            }
            self.by_data.insert((flow.last_data, number));
        }
        false
    }

    fn remove(&mut self, number: FlowNumber) {
        self.flows.remove(&number);
    }

    /// Removes flows that have ended, were not answered, or were idle too long.
    pub fn sweep(&mut self, now: Time) {
        while let Some((syn_at, number)) = self.by_syn.first().copied()
            && now.since(syn_at) >= UNANSWERED
        {
            self.take_half_open(number);
        }
        let before = self.flows.len();
        self.flows.retain(|_, flow| {
            flow.gone_at.is_none_or(|at| now < at) && now.since(flow.last_data) < FORGOTTEN
        });
        // Rebuilt only if a flow has gone: `remove` leaves its entry in the index.
        if self.flows.len() != before || self.by_data.len() != self.flows.len() {
            self.by_data = self.flows.iter().map(|(number, flow)| (flow.last_data, *number)).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: PrefixId = PrefixId(7);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn live(table: &mut FlowTable, now: Time, number: FlowNumber) {
        table.on_syn(now, number, SegmentClass::Brf, DATA);
        table.open(now, number).expect("there is room").rate = f64::from(number);
    }

    #[test]
    fn a_million_syns_leave_live_flows_alone_and_memory_bounded() {
        let mut table = FlowTable::new(65_536);
        (0..100).for_each(|number| live(&mut table, at(0), number));
        // 100 kSYN/s; the flows send once a second meanwhile.
        for number in 0..1_000_000u32 {
            let now = Time::ZERO + Span::from_micros(10) * u64::from(number);
            if number % 50_000 == 0 {
                table.flows_mut().for_each(|flow| flow.last_data = now);
            }
            table.on_syn(now, 1_000 + number, SegmentClass::Other, DATA);
            assert!(table.len() <= 65_536);
        }
        assert_eq!(table.flows().count(), 100);
        assert!((0..100).all(|number| table.get(number).is_some_and(|flow| flow.rate == f64::from(number))));
        assert!(table.half_open(1_000_999).is_some() && table.half_open(1_000).is_none(), "the oldest went");
        live(&mut table, at(10_000), 500);
        assert!(table.get(500).is_some(), "a flow still finds room");
        table.sweep(at(20_000));
        assert_eq!((table.len(), table.by_syn.len(), table.by_data.len()), (101, 0, 101));
    }

    #[test]
    fn a_full_table_evicts_the_flow_that_was_idle_longest_but_none_that_lives() {
        let mut table = FlowTable::new(3);
        (0..3).for_each(|number| live(&mut table, at(u64::from(number)), number));
        table.on_syn(at(500), 9, SegmentClass::Brf, DATA);
        assert!(table.half_open(9).is_none() && table.flows().count() == 3, "all live");
        table.get_mut(0).unwrap().last_data = at(2_500);
        table.on_syn(at(3_000), 9, SegmentClass::Brf, DATA);
        assert!(table.half_open(9).is_some() && table.get(1).is_none(), "the second was idle longest");
        assert!(table.get(0).is_some() && table.get(2).is_some());
    }

    #[test]
    fn a_syn_that_comes_again_starts_the_clock_of_the_handshake_anew() {
        let mut table = FlowTable::new(10);
        table.on_syn(at(0), 1, SegmentClass::Brf, DATA);
        table.on_syn(at(1_000), 1, SegmentClass::Brf, DATA);
        table.sweep(at(3_500));
        let flow = table.open(at(3_500), 1).expect("not three seconds yet");
        flow.trip.on_answer(at(3_600));
        assert_eq!(flow.rtt(), Span::from_millis(2_600));
        assert_eq!((table.len(), table.by_syn.len()), (1, 0));
    }

    #[test]
    fn what_has_ended_or_is_idle_for_a_minute_or_was_not_answered_is_forgotten() {
        let mut table = FlowTable::new(10);
        (0..3).for_each(|number| live(&mut table, at(0), number));
        table.on_syn(at(0), 4, SegmentClass::Other, DATA);
        table.get_mut(0).unwrap().gone_at = Some(at(100));
        table.get_mut(2).unwrap().last_data = at(30_000);
        table.sweep(at(99));
        assert_eq!(table.len(), 4);
        table.sweep(at(100));
        assert_eq!(table.len(), 3);
        table.sweep(at(3_000));
        assert_eq!(table.len(), 2);
        table.sweep(at(60_000));
        assert_eq!(table.flows().map(|(number, _)| number).collect::<Vec<_>>(), [2]);
    }
}
