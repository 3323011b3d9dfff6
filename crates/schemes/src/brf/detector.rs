//! Detects congestion from the counters of a queue (eq. 5 and 6), at the controller or on the switch itself.

use tidegate_core::prelude::*;
use crate::brf::messages::{Congestion, QueueLoad};

use super::backlog::BacklogEstimate;
use super::measure::SEGMENT;
use super::Backlog;

choice! {
    /// How congestion is distinguished from load.
    pub enum DetectionRule {
        /// As printed: a port that is busy or has a queue is congested. Packets are counted as if each were full.
        Literal = "literal",
        /// Bytes are counted; only the queue of flows that the switch governs counts, by time too; a busy port is
        /// congested when that queue grows or drops. Two clean polls clear it.
        Robust = "robust",
    }
}

/// Thresholds of the congestion detector.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Rule that detects congestion from load.
    pub detection: DetectionRule,
    /// Utilisation above which a port is busy (the paper's α).
    pub utilisation: f64,
    /// Fraction of the queue limit above which a queue counts as standing (β of the paper).
    pub occupancy: f64,
    /// Draining time above which a queue counts as standing: a tenth of a limit of 100,000 packets is 1.2 s at 100
    /// Mbps.
    pub target: Span,
    /// Whether the backlog is reported or estimated.
    pub backlog: Backlog,
}

/// Threshold that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// Part of the queue limit (eq. 6).
    Occupancy,
    /// Draining time of the queue.
    Delay,
    /// Utilisation of the device (eq. 5).
    Utilisation,
}

impl Threshold {
    /// Name of the threshold in events.
    pub const fn word(self) -> Cause {
        Cause(match self {
            Self::Occupancy => "queue by its limit",
            Self::Delay => "queue by its time",
            Self::Utilisation => "busy port",
        })
    }
}

/// Watches one queue for congestion.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    crossed: Option<Threshold>,
    before: Option<(Time, QueueLoad)>,
    estimate: BacklogEstimate,
    is_congested: bool,
    clean: u32,
}

/// Clean polls in a row that clear a congestion.
const CLEAN_POLLS: u32 = 2;

impl Detector {
    /// Processes the counters of the time `at`. Returns every congestion, and once that it has ended; otherwise
    /// `None`. Counters older than the last ones are ignored.
    pub fn look(&mut self, rules: &Rules, at: Time, load: &QueueLoad) -> Option<Congestion> {
        if self.before.is_some_and(|(before, _)| at <= before) {
            return None;
        }
        let load = &match rules.backlog {
            Backlog::Exact => *load,
            Backlog::Estimated => self.estimate.poll(load),
        };
        let before = self.before.replace((at, *load));
        self.crossed = match rules.detection {
            DetectionRule::Literal => literal(rules, before, at, load),
            DetectionRule::Robust => robust(rules, before, at, load),
        };
        // eq. 17 needs the length of the queue, eq. 18 only the rates, so the threshold decides on the state.
        let found = match self.crossed {
            Some(Threshold::Occupancy | Threshold::Delay) => Congestion::Queue(load.governed),
            Some(Threshold::Utilisation) => Congestion::Burst,
            None => Congestion::Clear,
        };
        self.settle(rules, found, load)
    }

    /// The first threshold that was exceeded at the last poll.
    pub fn crossed(&self) -> Option<Threshold> {
        self.crossed
    }

    /// Estimated backlog, bytes; 0 if the backlog is reported.
    pub fn estimate(&self) -> f64 {
        self.estimate.bytes()
    }

    fn settle(&mut self, rules: &Rules, found: Congestion, load: &QueueLoad) -> Option<Congestion> {
        if found != Congestion::Clear {
            (self.is_congested, self.clean) = (true, 0);
            return Some(found);
        }
        if !self.is_congested {
            return None;
        }
        self.clean += 1;
        // Reported as a queue once more, so that rates stay reduced until a second clean poll confirms the
        // end.
        if rules.detection == DetectionRule::Robust && self.clean < CLEAN_POLLS {
            return Some(Congestion::Queue(load.governed));
        }
        self.is_congested = false;
        Some(Congestion::Clear)
    }
}

/// Bits sent over the bits that the port could have sent since the last poll; 0 at the first one.
fn utilisation(before: Option<(Time, QueueLoad)>, at: Time, rate: f64, bytes: impl Fn(&QueueLoad) -> f64) -> f64 {
    before.map_or(0.0, |(then, load)| {
        let possible = rate * at.since(then).as_secs_f64();
        if possible > 0.0 { bytes(&load) * 8.0 / possible } else { 0.0 }
    })
}

/// eq. 5 and 6 as printed, with Q as the limit of the queue: with its length the quotient would be 1. A counter that
/// decreased belongs to a switch that was restarted.
fn literal(rules: &Rules, before: Option<(Time, QueueLoad)>, at: Time, load: &QueueLoad) -> Option<Threshold> {
    let sent = |old: &QueueLoad| load.sent_packets.saturating_sub(old.sent_packets) as f64 * SEGMENT;
    let busy = utilisation(before, at, load.rate.as_bps() as f64, sent) > rules.utilisation;
    let full = f64::from(load.waiting.get()) / f64::from(load.limit.get().max(1)) > rules.occupancy;
    match (full, busy) {
        (true, _) => Some(Threshold::Occupancy),
        (false, true) => Some(Threshold::Utilisation),
        (false, false) => None,
    }
}

fn robust(rules: &Rules, before: Option<(Time, QueueLoad)>, at: Time, load: &QueueLoad) -> Option<Threshold> {
    let room = f64::from(load.limit.get().max(1)) * SEGMENT;
    if load.governed.get() as f64 / room > rules.occupancy {
        return Some(Threshold::Occupancy);
    }
    if load.rate.time_to_send(load.governed) > rules.target && load.governed.get() > 0 {
        return Some(Threshold::Delay);
    }
    let sent = |old: &QueueLoad| load.sent.get().saturating_sub(old.sent.get()) as f64;
    let busy = utilisation(before, at, load.rate.as_bps() as f64, sent) > rules.utilisation;
    let grows = before.is_some_and(|(_, old)| {
        // A segment more or less is the phase of the poll, not growth.
        load.governed.get() > old.governed.get() + SEGMENT as u64 || load.governed_dropped > old.governed_dropped
    });
    (busy && grows).then_some(Threshold::Utilisation)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A device of 100 Mbps with room for 1000 packets, which sent so much.
    pub fn load(sent_packets: u64, governed_bytes: u64) -> QueueLoad {
        QueueLoad {
            face: FaceId(0),
            rate: BitRate::from_mbps(100.0),
            sent_packets,
            sent: ByteCount::new(sent_packets * 1514),
            arrived: ByteCount::new(sent_packets * 1514 + governed_bytes),
            dropped: 0,
            waiting: Packets::new((governed_bytes / 1514) as u32),
            limit: Packets::new(1000),
            governed: ByteCount::new(governed_bytes),
            governed_dropped: 0,
        }
    }

    pub fn rules(detection: DetectionRule) -> Rules {
        let target = Span::from_millis(5);
        Rules { detection, utilisation: 0.98, occupancy: 0.1, target, backlog: Backlog::Exact }
    }

    /// Packets of 10 ms at 100 Mbps.
    const FULL: u64 = 82;

    /// Congestions detected for loads that arrive every 10 ms.
    fn reported(detection: DetectionRule, loads: &[QueueLoad]) -> Vec<Option<Congestion>> {
        let mut detector = Detector::default();
        let at = |poll: usize| Time::ZERO + Span::from_millis(10) * (poll as u64);
        loads.iter().enumerate().map(|(poll, load)| detector.look(&rules(detection), at(poll), load)).collect()
    }

    #[test]
    fn a_queue_of_more_than_five_milliseconds_stands_until_two_polls_are_clean() {
        let queue = |bytes: u64| Some(Congestion::Queue(ByteCount::new(bytes)));
        let polls = [0, 62_500, 63_000, 40_000, 70_000, 3_000, 2_000, 2_000].map(|bytes| load(0, bytes));
        assert_eq!(reported(DetectionRule::Robust, &polls), [
            None, None, queue(63_000), queue(40_000), queue(70_000), queue(3_000), Some(Congestion::Clear), None
        ]);
    }

    #[test]
    fn the_threshold_that_was_crossed_is_reported() {
        // A tenth of 1000 packets are 12.1 ms.
        let busy = QueueLoad { governed_dropped: 1, ..load(FULL, 0) };
        for (detection, now, crossed) in [
            (DetectionRule::Robust, load(0, 70_000), Some(Threshold::Delay)),
            (DetectionRule::Robust, load(0, 101 * 1514), Some(Threshold::Occupancy)),
            (DetectionRule::Robust, busy, Some(Threshold::Utilisation)),
            (DetectionRule::Robust, load(0, 60_000), None),
            (DetectionRule::Literal, load(0, 70_000), None),
            (DetectionRule::Literal, load(0, 101 * 1514), Some(Threshold::Occupancy)),
            (DetectionRule::Literal, load(FULL, 0), Some(Threshold::Utilisation)),
        ] {
            let mut detector = Detector::default();
            detector.look(&rules(detection), Time::ZERO, &load(0, 0));
            detector.look(&rules(detection), Time::ZERO + Span::from_millis(10), &now);
            assert_eq!(detector.crossed(), crossed, "{detection:?} {now:?}");
        }
    }

    #[test]
    fn a_busy_port_is_congested_only_as_its_queue_grows_or_drops() {
        let mut polls = [load(0, 0), load(FULL, 0), load(2 * FULL, 30_000), load(3 * FULL, 30_000)];
        assert_eq!(reported(DetectionRule::Robust, &polls)[1..3], [None, Some(Congestion::Burst)]);
        polls[1].governed_dropped = 1;
        assert_eq!(reported(DetectionRule::Robust, &polls)[1], Some(Congestion::Burst));
        let idle = [load(0, 0), load(40, 30_000)];
        assert_eq!(reported(DetectionRule::Robust, &idle), [None, None], "a queue that a slack port will serve");
    }

    #[test]
    fn what_other_flows_pile_up_is_not_for_brf_flows_to_drain() {
        let mut polls = [load(0, 0), load(FULL, 0)];
        polls[1].waiting = Packets::new(900);
        assert_eq!(reported(DetectionRule::Robust, &polls), [None, None]);
        assert_eq!(reported(DetectionRule::Literal, &polls)[1], Some(Congestion::Queue(ByteCount::ZERO)));
    }

    #[test]
    fn as_printed_a_port_full_of_short_packets_is_congested() {
        // 66-byte ACKs at 5 % of the rate.
        let short = |packets: u64| QueueLoad { sent: ByteCount::new(packets * 66), ..load(packets, 0) };
        let polls = [short(0), short(100)];
        assert_eq!(reported(DetectionRule::Literal, &polls), [None, Some(Congestion::Burst)]);
        assert_eq!(reported(DetectionRule::Robust, &polls), [None, None]);
    }

    #[test]
    fn as_printed_a_tenth_of_the_limit_is_congestion_whatever_time_that_is() {
        let deep = |bytes| QueueLoad { limit: Packets::new(100_000), ..load(0, bytes) };
        // 1.2 s of queue, less a packet.
        let polls = [deep(0), deep(10_000 * 1514)];
        assert_eq!(reported(DetectionRule::Literal, &polls), [None, None]);
        assert!(matches!(reported(DetectionRule::Robust, &polls)[1], Some(Congestion::Queue(_))));
    }

    #[test]
    fn late_reports_and_counters_that_start_anew_are_harmless() {
        let mut detector = Detector::default();
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let rules = rules(DetectionRule::Robust);
        assert_eq!(detector.look(&rules, at(20), &load(1000, 0)), None);
        assert_eq!(detector.look(&rules, at(10), &load(0, 90_000)), None, "older than the last");
        assert_eq!(detector.look(&rules, at(20), &load(0, 90_000)), None);
        assert_eq!(detector.look(&rules, at(30), &load(5, 20_000)), None, "the switch restarted");
    }

    #[test]
    fn estimated_the_queue_of_others_is_taken_for_that_of_brf_flows() {
        let rules = Rules { backlog: Backlog::Estimated, ..rules(DetectionRule::Robust) };
        let at = |poll: u64| Time::ZERO + Span::from_millis(10) * poll;
        let mut detector = Detector::default();
        // 60 full segments of CUBIC's come and wait, none of BRF's.
        let other = QueueLoad { arrived: ByteCount::new(60 * 1514), ..load(0, 0) };
        assert_eq!(detector.look(&rules, at(0), &load(0, 0)), None);
        let found = detector.look(&rules, at(1), &other);
        assert_eq!(found, Some(Congestion::Queue(ByteCount::new(60 * 1514))));
        assert_eq!(detector.estimate(), 60.0 * 1514.0);
        // An older report moves nothing.
        assert_eq!(detector.look(&rules, at(1), &load(0, 0)), None);
        assert_eq!(detector.estimate(), 60.0 * 1514.0);
        // With reported backlog, no packet of BRF's waits.
        assert_eq!(reported(DetectionRule::Robust, &[load(0, 0), other])[1], None);
    }
}
