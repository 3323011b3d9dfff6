//! One device of a switch: its flows, and the grants on their ACKs.
//!
//! Data leaves through the device; the ACKs of its flows arrive through it too, or through another device of the
//! switch, or pass another switch. All actions take place when a segment passes or a round ends.

mod rounds;

use tidegate_core::ndn::packet::TcpFlags;
use tidegate_core::prelude::*;
use crate::brf::messages::Congestion;

use super::allocator;
use super::rate_code::{self, Grant};
use super::flow::{AckPath, SegmentClass, Flow};
use super::flow_table::{FlowNumber, FlowTable};
use super::state_machine::{Machine, Phase};
use super::predictor::{Predictor, GuessReview, features};
use super::shares::{Census, Shares};
use super::{Initial, Params};
use crate::brf::rate_code::GRANTED_RATE;

/// Time after their last packet for which traffic other than TCP, and flows without an entry in the table, retain
/// their share.
const UNLISTED_COUNTS: Span = Span::from_secs(1);

/// Fraction of its grant that a new flow must find free in order not to be held back.
const ROOM: f64 = 0.95;

/// A device and its flows.
#[derive(Debug)]
pub(super) struct Port {
    params: Params,
    /// Rate of the link, bytes/s.
    capacity: f64,
    table: FlowTable,
    machine: Machine,
    /// State that was reported last.
    reported: Phase,
    predictor: Predictor,
    /// Evaluated predictions that are not reported yet.
    verdicts: Vec<GuessReview>,
    shares: Shares,
    /// Part of the BRF flows' share that is granted to flows limited by their applications, bytes/s.
    limited: f64,
    udp_at: Option<Time>,
    /// Time of the last data of a flow that found the table full.
    refused_at: Option<Time>,
    has_tcp: bool,
    /// BRF flows counted in eq. 8 and 10.
    brf_flows: usize,
    /// Congestion that the machine reacts to, with its time.
    congestion: (Congestion, Time),
    round_ends: Option<Time>,
    /// Bytes of all packets that arrived at the queue; updated by it.
    pub(super) arrived: u64,
    /// Bytes of BRF flows that wait; updated by the queue.
    pub(super) waiting: u64,
    /// Packets of BRF flows dropped; updated by the queue.
    pub(super) dropped: u64,
}

/// Origin of a flow at a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// It begins to send.
    New,
    /// Its data passes without an entry: the switch was restarted, or the route changed.
    Adopted,
}

/// Class of a segment: BRF if its sender supports grants.
fn class_of(header: &Header) -> SegmentClass {
    if header.hop.get(GRANTED_RATE).is_some() { SegmentClass::Brf } else { SegmentClass::Other }
}

/// Whether traffic that was last seen at `at` still counts.
fn counts(at: Option<Time>, now: Time) -> bool {
    at.is_some_and(|at| now.since(at) < UNLISTED_COUNTS)
}

impl Port {
    pub(super) fn new(params: &Params, rate: BitRate) -> Self {
        let capacity = rate.as_bps() as f64 / 8.0;
        Self {
            capacity,
            table: FlowTable::new(params.table_entries as usize),
            machine: Machine::new(params.mode),
            reported: Phase::Init,
            predictor: Predictor::default(),
            verdicts: Vec::new(),
            shares: Shares::of(params, capacity, Census::default()),
            limited: 0.0,
            udp_at: None,
            refused_at: None,
            has_tcp: false,
            brf_flows: 0,
            congestion: (Congestion::Clear, Time::ZERO),
            round_ends: None,
            arrived: 0,
            waiting: 0,
            dropped: 0,
            params: params.clone(),
        }
    }

    /// Bandwidth of each class.
    pub(super) fn shares(&self) -> Shares {
        self.shares
    }

    /// State of Fig. 5.
    fn phase(&self) -> Phase {
        self.machine.phase()
    }

    /// Share of the BRF flows' bandwidth for flows limited by their applications, bytes/s.
    pub(super) fn limited_share(&self) -> f64 {
        self.limited.min(self.shares.brf)
    }

    /// Whether a flow is known here as limited by its application.
    pub(super) fn is_limited(&self, number: FlowNumber) -> bool {
        self.table.get(number).is_some_and(|flow| flow.class == SegmentClass::Brf && flow.meter.is_limited())
    }

    /// Reports events since the last call: a change of the state, and the accuracy of first grants beside that of the
    /// average share, which flows would have got without a guess; bytes/s.
    pub(super) fn take_news(&mut self, face: FaceId, notify: &mut dyn FnMut(Event)) {
        let phase = self.phase();
        if std::mem::replace(&mut self.reported, phase) != phase {
            notify(Event::StateChanged { face: face.0, state: phase.word() });
        }
        for GuessReview { guess, average, demand } in self.verdicts.drain(..) {
            let reported = [("first grant", guess), ("average share", average)];
            for (what, estimate) in reported {
                notify(Event::Estimated { face: face.0, what: Cause(what), estimate, truth: demand });
            }
        }
    }

    /// Class of a flow, if it is known here.
    pub(super) fn class(&self, number: FlowNumber) -> Option<SegmentClass> {
        let flow = self.table.get(number).map(|flow| flow.class);
        flow.or_else(|| self.table.half_open(number).map(|half_open| half_open.class))
    }

    /// Rate allocated to a flow, bytes/s.
    #[cfg(test)]
    pub(super) fn rate_of(&self, number: FlowNumber) -> Option<f64> {
        self.table.get(number).map(|flow| flow.rate)
    }

    /// Whether there are TCP flows, which limit other traffic to its share.
    pub(super) fn has_tcp(&self) -> bool {
        self.has_tcp
    }

    /// Whether there are BRF flows that need room.
    pub(super) fn has_brf(&self) -> bool {
        self.shares.brf > 0.0
    }

    /// Records that a packet other than TCP leaves.
    pub(super) fn on_other(&mut self, now: Time) {
        if !counts(self.udp_at.replace(now), now) {
            self.recount(now);
        }
    }

    /// Records data of a flow without an entry. All such flows together count as one flow of the other class.
    fn on_refused(&mut self, now: Time) {
        if !counts(self.refused_at.replace(now), now) {
            self.recount(now);
        }
    }

    /// Handles a TCP segment that leaves through the device.
    pub(super) fn on_out(&mut self, now: Time, names: &NameTable, header: &Header, segment: &TcpSegment) {
        let number = header.name.segment.0;
        let flags = segment.flags;
        if flags.has(TcpFlags::SYN) {
            if !flags.has(TcpFlags::ACK) {
                self.table.on_syn(now, number, class_of(header), header.name.prefix);
            }
            return;
        }
        if self.table.get(number).is_none() && !self.discover(now, names, header, segment) {
            return;
        }
        let Some(flow) = self.table.get_mut(number).filter(|flow| flow.data == header.name.prefix) else { return };
        let was_active = flow.is_active(now);
        flow.on_data(now, header.size(), segment);
        let has_ended = flow.gone_at.is_some();
        match (was_active, has_ended) {
            // Its share returns to the others at once, not at the end of the round.
            (true, true) => self.on_end(now, number),
            (false, false) => {
                // Back after an idle time: rates measured before it do not show its new demand.
                flow.meter.restart();
                self.admit(now, names, number, Arrival::New);
            }
            _ => {}
        }
    }

    /// Handles a segment of an unknown flow, whose SYN-ACK took another path, or which is older than this switch.
    /// Returns whether the flow has an entry now.
    fn discover(&mut self, now: Time, names: &NameTable, header: &Header, segment: &TcpSegment) -> bool {
        let number = header.name.segment.0;
        let arrival = match self.table.half_open(number) {
            Some(half_open) if half_open.data != header.name.prefix => return false,
            Some(_) => {
                self.table.open(now, number);
                Arrival::New
            }
            None if segment.payload > 0 => {
                let flow = Flow::new(now, class_of(header), header.name.prefix);
                if self.table.insert(now, number, flow).is_none() {
                    self.on_refused(now);
                    return false;
                }
                Arrival::Adopted
            }
            None => return false,
        };
        self.admit(now, names, number, arrival);
        true
    }

    /// Handles an ACK that arrives through this device or another, and writes the grant when it is due. Returns
    /// whether its flow is known here.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        names: &NameTable,
        header: &mut Header,
        segment: &TcpSegment,
    ) -> bool {
        let number = header.name.segment.0;
        let is_syn_ack = segment.flags.has(TcpFlags::SYN | TcpFlags::ACK);
        // Opened by the SYN-ACK, which can carry the first grant, and not by data: the sender is then paced
        // from its first segment.
        if is_syn_ack && self.table.half_open(number).is_some_and(|half| half.data != header.name.prefix) {
            self.table.open(now, number);
            self.admit(now, names, number, Arrival::New);
        }
        let Some(flow) = self.table.get_mut(number).filter(|flow| flow.data != header.name.prefix) else {
            return false;
        };
        let was_open = flow.gone_at.is_none();
        flow.on_ack(now, is_syn_ack, segment);
        // The rate of an idle flow is out of date.
        if flow.class == SegmentClass::Brf && flow.is_active(now) {
            write_grant(flow, now, header, is_syn_ack, self.params.feedback_step);
        }
        if was_open && flow.gone_at.is_some() {
            self.on_end(now, number);
        }
        true
    }

    /// Ends a flow, which no longer counts.
    fn on_end(&mut self, now: Time, number: FlowNumber) {
        if let Some(flow) = self.table.get_mut(number) {
            self.verdicts.extend(flow.teach(&mut self.predictor));
        }
        self.recount(now);
    }

    /// Counts flows and divides the link anew (eq. 8). A loss of the BRF class lowers its flows at once; a gain is
    /// allocated at the end of the round.
    fn recount(&mut self, now: Time) {
        let other = usize::from(counts(self.refused_at, now));
        let mut census = Census { brf: 0, other, has_udp: counts(self.udp_at, now) };
        let is_counted =
            |flow: &Flow| flow.is_active(now) || (self.params.count_idle && flow.gone_at.is_none());
        for (_, flow) in self.table.flows().filter(|(_, flow)| is_counted(flow)) {
            match flow.class {
                SegmentClass::Brf => census.brf += 1,
                SegmentClass::Other => census.other += 1,
            }
        }
        self.has_tcp = census.brf + census.other > 0;
        self.brf_flows = census.brf;
        let before = std::mem::replace(&mut self.shares, Shares::of(&self.params, self.capacity, census));
        if self.shares.brf < before.brf && census.brf > 0 && self.machine.phase() != Phase::Reduce {
            self.allocate(now);
        }
        if self.round_ends.is_none() && census != Census::default() {
            self.begin_round(now);
        }
    }

    /// Admits a flow (eq. 9 to 13) that is new, back after an idle time, or older than this switch. The last gets the
    /// average share and is not held back, since it sends already.
    fn admit(&mut self, now: Time, names: &NameTable, number: FlowNumber, arrival: Arrival) {
        self.recount(now);
        let flow = self.table.get(number).filter(|flow| flow.class == SegmentClass::Brf);
        let Some(data) = flow.map(|flow| flow.data) else { return };
        let numbers = self.active(now);
        let Some(place) = numbers.iter().position(|active| *active == number) else { return };
        // The newcomer is counted already, so that one flow on an idle link has the whole share (eq. 10).
        let average = self.shares.brf / self.brf_flows.max(1) as f64;
        let prediction = self.predictor.guess(features(names, data), average);
        let promised = match (self.params.initial, arrival) {
            (Initial::Shrinkage, Arrival::New) => prediction.rate.min(average),
            _ => average,
        };
        if let Some(flow) = self.table.get_mut(number) {
            (flow.promised, flow.prediction, flow.is_measured) = (promised, Some(prediction), false);
        }
        let claims: Vec<_> = self.flows_of(&numbers).map(Flow::claim).collect();
        let free = self.shares.brf - self.in_force(&numbers, number);
        let rates = allocator::admit(self.params.mode, self.shares.brf, &claims, place);
        self.grant(&numbers, &rates);
        let longest = self.longest_rtt(&numbers, Some(number));
        if let Some(flow) = self.table.get_mut(number) {
            let holds = self.params.make_before_break && arrival == Arrival::New;
            let is_short = free < flow.rate * ROOM;
            // A rate that cannot keep ACKs coming is sent as a hold.
            let max = if free < flow.floor() { 0.0 } else { free };
            // Until the slowest other flow can have received its lower grant and acted on it.
            flow.held = (holds && is_short).then(|| (now + longest, max));
        }
        self.machine.on_admission();
    }

    /// Sum of the rates that other flows may still use.
    fn in_force(&self, numbers: &[FlowNumber], newcomer: FlowNumber) -> f64 {
        let others = numbers.iter().filter(|number| **number != newcomer);
        let flows = others.filter_map(|number| self.table.get(*number));
        // A sender follows the rate written last, not one that is allocated but not written yet.
        flows.map(|flow| flow.written.map_or(flow.rate, |written| written.rate)).sum()
    }

    /// BRF flows that count, by number.
    fn active(&self, now: Time) -> Vec<FlowNumber> {
        let brf = |(_, flow): &(FlowNumber, &Flow)| flow.class == SegmentClass::Brf && flow.is_active(now);
        self.table.flows().filter(brf).map(|(number, _)| number).collect()
    }

    fn flows_of<'a>(&'a self, numbers: &'a [FlowNumber]) -> impl Iterator<Item = &'a Flow> {
        numbers.iter().filter_map(|number| self.table.get(*number))
    }

    fn grant(&mut self, numbers: &[FlowNumber], rates: &[f64]) {
        self.limited = 0.0;
        for (number, rate) in numbers.iter().zip(rates) {
            if let Some(flow) = self.table.get_mut(*number) {
                flow.rate = *rate;
                self.limited += if flow.meter.is_limited() { *rate } else { 0.0 };
            }
        }
    }

    /// Returns the grants to report to other switches, because no ACK of the flow passes here: name, and rate in
    /// bytes/s.
    pub(super) fn take_unsent_grants(&mut self, now: Time) -> Vec<(Name, f64)> {
        let mut reported = Vec::new();
        let numbers = self.active(now);
        for number in numbers {
            let Some(flow) = self.table.get_mut(number) else { continue };
            if let Some(rate) = flow.unsent_grant(now) {
                flow.acks = AckPath::Remote(now, rate);
                reported.push((Name::segment(flow.data, number), rate));
            }
        }
        reported
    }
}

/// Writes the minimum grant of the path on an ACK, if one is due: always on a SYN-ACK, which may be a retransmission,
/// and always where another switch has written, or its higher rate would reach the sender.
fn write_grant(flow: &mut Flow, now: Time, header: &mut Header, is_syn_ack: bool, step: f64) {
    let standing = header.hop.get(GRANTED_RATE);
    flow.receive(now, standing);
    let is_assigned = standing.is_some_and(|value| rate_code::read(value) != Grant::Unassigned);
    if !is_syn_ack && !is_assigned && !flow.is_due(now, step) {
        return;
    }
    let min = rate_code::min(standing, flow.code(now));
    // If the ACK cannot take the grant it stays due.
    if header.hop.put(GRANTED_RATE, u32::from(min)) {
        flow.note_written(now, flow.granted(now));
    }
}
