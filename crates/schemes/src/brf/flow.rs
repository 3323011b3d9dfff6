//! State of a switch for one TCP flow (FLOW_INFO_BRF of Fig. 4).

use tidegate_core::ndn::packet::TcpFlags;
use tidegate_core::prelude::*;

use super::allocator::{FlowClaim, FlowDemand};
use super::rate_code::{self, Grant};
use super::measure::{FlowMeter, SEGMENT};
use super::predictor::{Prediction, Predictor, GuessReview};
use super::round_trip::RoundTrip;

/// Queue that a TCP flow belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentClass {
    /// Its sender supports grants.
    Brf,
    /// CUBIC and all other TCP.
    Other,
}

/// Assumed RTT of a flow before the first sample.
pub const UNKNOWN_RTT: Span = Span::from_millis(100);
/// A flow without data for this long, or for [`IDLE_ROUND_TRIPS`], does not count in eq. 8 and 10.
const IDLE: Span = Span::from_secs(1);
const IDLE_ROUND_TRIPS: u64 = 8;
/// Lifetime of a grant of another switch of the path without updates; at least two round trips.
const RECEIVED: Span = Span::from_millis(200);

/// Time without an ACK after the arrival of a flow, at least three RTTs, after which its ACKs are assumed to take
/// another path.
const NO_ACK_TIME: Span = Span::from_millis(200);
/// Time after which a grant is reported to other switches again, unless it changes by the fraction below before.
const REFRESHED: Span = Span::from_millis(500);
const UNSENT_STEP: f64 = 0.02;

/// Route of the ACKs of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AckPath {
    /// No ACK has passed yet.
    Unknown,
    /// The ACKs pass through this switch.
    Local,
    /// Not through this switch; time and rate (bytes/s) of the last grant reported to others.
    Remote(Time, f64),
}

/// Grant that was written on an ACK last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    /// Time of the ACK.
    pub at: Time,
    /// Rate of its code, bytes/s.
    pub rate: f64,
}

/// One flow of a switch, from its SYN on.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Class of the queue that it uses.
    pub class: SegmentClass,
    /// Prefix of its data; segments of its number under another prefix are its ACKs.
    pub data: PrefixId,
    /// Time of its arrival.
    pub since: Time,
    /// Time of its last data; before the first, time of its arrival.
    pub last_data: Time,
    /// Estimate of the round-trip time.
    pub trip: RoundTrip,
    /// Meter of the sending rate.
    pub meter: FlowMeter,
    /// Route of its ACKs.
    pub acks: AckPath,
    /// Allocated rate, bytes/s (`BW_i` of the paper).
    pub rate: f64,
    /// Rate of eq. 10, bytes/s, used until the first judgement.
    pub promised: f64,
    /// Time until which it is granted no more than this rate, bytes/s, because others have not made room yet.
    pub held: Option<(Time, f64)>,
    /// Grant that was written last.
    pub written: Option<Written>,
    /// Guessed demand; `None` before it is admitted.
    pub prediction: Option<Prediction>,
    /// Whether the guess was compared with the demand.
    pub is_measured: bool,
    /// Code of the last grant of another switch, with its time.
    elsewhere: Option<(Time, u16)>,
    fins: [bool; 2],
    /// Time at which its entry can be removed; `None` before it ends.
    pub gone_at: Option<Time>,
}

impl Flow {
    /// A flow that is new at `now`.
    pub fn new(now: Time, class: SegmentClass, data: PrefixId) -> Self {
        Self {
            class,
            data,
            since: now,
            last_data: now,
            trip: RoundTrip::default(),
            meter: FlowMeter::default(),
            acks: AckPath::Unknown,
            rate: 0.0,
            promised: 0.0,
            held: None,
            written: None,
            prediction: None,
            is_measured: false,
            elsewhere: None,
            fins: [false; 2],
            gone_at: None,
        }
    }

    /// Round-trip time, or a guess.
    pub fn rtt(&self) -> Span {
        self.trip.smoothed().unwrap_or(UNKNOWN_RTT)
    }

    /// Whether it counts among the flows of its class.
    pub fn is_active(&self, now: Time) -> bool {
        self.gone_at.is_none() && now.since(self.last_data) < IDLE.max(self.rtt() * IDLE_ROUND_TRIPS)
    }

    /// Two segments per round trip: below that ACKs, and with them grants, come too rarely.
    pub fn floor(&self) -> f64 {
        2.0 * SEGMENT / self.rtt().as_secs_f64().max(1e-6)
    }

    /// Demand and limits for the allocator.
    pub fn claim(&self) -> FlowClaim {
        let demand = match self.meter.real() {
            None => FlowDemand::Promised(self.promised),
            Some(real) if self.meter.is_limited() => {
                // One judgement counts a few segments only; at the average the grant does not follow its
                // noise.
                FlowDemand::Limited { real: self.meter.average().unwrap_or(real) }
            }
            Some(real) => FlowDemand::Unlimited { real },
        };
        FlowClaim { granted: self.rate, floor: self.floor(), demand }
    }

    /// Rate that may be granted now, bytes/s.
    pub fn granted(&self, now: Time) -> f64 {
        match self.held {
            Some((until, max)) if now < until => self.rate.min(max),
            _ => self.rate,
        }
    }

    /// Trains the predictor with the demand of the flow: when that is known, and again when the flow ends. Returns
    /// the accuracy of the guess the first time.
    pub fn teach(&mut self, predictor: &mut Predictor) -> Option<GuessReview> {
        let (prediction, demand) = self.prediction.as_ref().zip(self.meter.demand())?;
        let verdict = predictor.learn(prediction, demand, self.meter.is_limited());
        let is_first = !std::mem::replace(&mut self.is_measured, true);
        verdict.filter(|_| is_first)
    }

    /// Handles a segment of its sender, after the SYN.
    pub fn on_data(&mut self, now: Time, size: ByteCount, segment: &TcpSegment) {
        self.trip.on_answer(now);
        // A pure ACK of the sender is no data and must not keep an idle flow active.
        if segment.payload > 0 {
            self.last_data = now;
            self.meter.count(size);
            self.trip.on_data(now, segment.seq, segment.seq.wrapping_add(u32::from(segment.payload)));
        }
        self.note_end(now, segment, true);
    }

    /// Handles a segment of its receiver.
    pub fn on_ack(&mut self, now: Time, is_syn_ack: bool, segment: &TcpSegment) {
        // One ACK here is enough: grants for other switches are no longer necessary.
        self.acks = AckPath::Local;
        if is_syn_ack {
            self.trip.on_syn_ack(now);
        }
        self.trip.on_ack(now, segment.ack);
        self.note_end(now, segment, false);
    }

    /// Rate that is to be reported to other switches now, bytes/s, since no ACK passes here; `None` if there is nothing
    /// to report.
    pub fn unsent_grant(&self, now: Time) -> Option<f64> {
        let granted = self.granted(now);
        let is_due = match self.acks {
            AckPath::Local => false,
            AckPath::Unknown => now.since(self.since) >= NO_ACK_TIME.max(self.rtt() * 3),
            AckPath::Remote(at, rate) => {
                now.since(at) >= REFRESHED || (granted - rate).abs() > UNSENT_STEP * rate
            }
        };
        is_due.then_some(granted)
    }

    /// Records a FIN in the direction of the data or in the other one; the flow ends after both, or with a reset.
    fn note_end(&mut self, now: Time, segment: &TcpSegment, is_of_data: bool) {
        let flags = segment.flags;
        self.fins[usize::from(is_of_data)] |= flags.has(TcpFlags::FIN);
        if (flags.has(TcpFlags::RST) || self.fins == [true; 2]) && self.gone_at.is_none() {
            // FINs may be retransmitted.
            self.gone_at = Some(now + self.rtt() * 2);
        }
    }

    /// Records the grant `standing` of another switch, nearer to the receiver. That switch writes once per RTT only,
    /// so its grant is kept for a while; otherwise ACKs between would carry the higher rate of this switch.
    pub fn receive(&mut self, now: Time, standing: Option<u32>) {
        let code = standing.and_then(|value| u16::try_from(value).ok());
        if let Some(code) = code.filter(|code| rate_code::decode(*code) != Grant::Unassigned) {
            self.elsewhere = Some((now, code));
        }
    }

    /// Whether a grant is due: once per RTT, and at once when the rate has changed by more than the fraction `step`
    /// of the written one.
    pub fn is_due(&self, now: Time, step: f64) -> bool {
        self.written.is_none_or(|written| {
            let moved = (self.granted(now) - written.rate).abs();
            now.since(written.at) >= self.rtt() || moved > step * written.rate
        })
    }

    /// The code of the minimum grant of the path, as far as it is known here.
    pub fn code(&self, now: Time) -> u16 {
        let received = RECEIVED.max(self.rtt() * 2);
        let other = self.elsewhere.filter(|(at, _)| now.since(*at) < received).map(|(_, code)| u32::from(code));
        rate_code::min(other, rate_code::encode(self.granted(now)))
    }

    /// Records that the grant of this switch, `granted`, or a lower one of another switch, was written on an ACK.
    pub fn note_written(&mut self, now: Time, granted: f64) {
        // The code rounds down, so the sender uses less than was granted; it is judged by the rate of the
        // code.
        let rate = rate_code::decode(rate_code::encode(granted)).bytes_per_second().unwrap_or(0) as f64;
        self.written = Some(Written { at: now, rate });
        self.meter.note_grant(rate);
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::Rules;
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn segment(flags: TcpFlags) -> TcpSegment {
        TcpSegment {
            seq: 1,
            ack: 1,
            timestamp: 0,
            echo: 0,
            payload: 0,
            window: 0,
            flags,
            ecn: tidegate_core::ndn::packet::Ecn::NotCapable,
        }
    }

    /// A flow with a round trip of 40 ms, granted 1 Mbyte/s at 100 ms.
    fn flow() -> Flow {
        let mut flow = Flow::new(at(0), SegmentClass::Brf, PrefixId(1));
        flow.trip.on_syn(at(0));
        flow.trip.on_answer(at(40));
        flow.rate = 1e6;
        flow.note_written(at(100), 1e6);
        flow
    }

    #[test]
    fn a_rate_is_written_once_per_round_trip_or_at_once_when_it_moved() {
        let mut flow = flow();
        assert!(!flow.is_due(at(139), 0.05) && flow.is_due(at(140), 0.05));
        flow.rate = 1.04e6;
        assert!(!flow.is_due(at(101), 0.05));
        flow.rate = 0.9e6;
        assert!(flow.is_due(at(101), 0.05) && flow.code(at(101)) == rate_code::encode(0.9e6));
    }

    #[test]
    fn between_its_writings_the_rate_of_another_switch_is_not_forgotten() {
        let mut flow = flow();
        let low = rate_code::encode(2e5);
        flow.receive(at(120), Some(low.into()));
        // An ACK without the other switch's word.
        flow.receive(at(140), Some(0));
        flow.receive(at(141), Some(1 << 20));
        assert_eq!(flow.code(at(150)), low);
        assert_eq!(flow.code(at(320)), rate_code::encode(1e6), "it has gone");
        flow.receive(at(330), Some(rate_code::encode(5e6).into()));
        assert_eq!(flow.code(at(330)), rate_code::encode(1e6));
    }

    #[test]
    fn a_newcomer_is_held_back_until_the_others_have_made_room() {
        let mut flow = flow();
        flow.held = Some((at(200), 3e5));
        assert_eq!((flow.granted(at(199)), flow.granted(at(200))), (3e5, 1e6));
    }

    #[test]
    fn a_flow_ends_with_both_fins_and_counts_no_more() {
        let mut flow = flow();
        flow.last_data = at(500);
        flow.note_end(at(500), &segment(TcpFlags::FIN), true);
        assert!(flow.is_active(at(600)) && flow.gone_at.is_none());
        flow.note_end(at(600), &segment(TcpFlags::FIN), false);
        assert_eq!((flow.is_active(at(600)), flow.gone_at), (false, Some(at(680))));
    }

    #[test]
    fn a_reset_of_either_end_ends_a_flow() {
        for is_of_data in [true, false] {
            let mut flow = flow();
            flow.note_end(at(100), &segment(TcpFlags::ACK), is_of_data);
            assert!(flow.is_active(at(100)));
            flow.note_end(at(100), &segment(TcpFlags::RST | TcpFlags::ACK), is_of_data);
            assert_eq!((flow.is_active(at(100)), flow.gone_at), (false, Some(at(180))));
        }
    }

    #[test]
    fn a_flow_without_data_does_not_count_after_a_second_or_eight_round_trips() {
        let mut flow = flow();
        assert!(flow.is_active(at(999)) && !flow.is_active(at(1000)));
        flow.trip = RoundTrip::default();
        flow.trip.on_syn(at(0));
        flow.trip.on_answer(at(200));
        assert!(flow.is_active(at(1599)) && !flow.is_active(at(1600)));
    }

    #[test]
    fn the_predictor_learns_from_a_flow_when_it_is_measured_and_when_it_ends_and_is_held_against_it_once() {
        let mut flow = flow();
        let features = [vec![0], vec![1], vec![2], vec![3]];
        let mut predictor = Predictor::default();
        flow.prediction = Some(predictor.guess(features.clone(), 1e6));
        assert_eq!(flow.teach(&mut predictor), None);
        assert_eq!(predictor.guess(features.clone(), 1e6).rate, 1e6, "nothing is known yet");
        let rules = Rules { limited_below: 0.95, confirmations: 2 };
        let (mut guesses, mut verdicts) = (Vec::new(), 0);
        for (first, segments) in [(0, 70), (5, 7)] {
            for round in first..first + 5 {
                (0..segments).for_each(|_| flow.meter.count(ByteCount::new(1514)));
                flow.meter.end_round(at(500 * round), rules);
            }
            verdicts += usize::from(flow.teach(&mut predictor).is_some());
            guesses.push(predictor.guess(features.clone(), 1e6).rate);
        }
        assert!(guesses[0] < 1e6 && guesses[1] < 0.9 * guesses[0], "{guesses:?}");
        assert_eq!(verdicts, 1);
    }
}
