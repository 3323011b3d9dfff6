//! Demand of a flow, and the schedule of a flow with a constant rate.

use super::pacer::Cadence;
use super::requests::Workload;
use crate::units::{BitRate, ByteCount, Span, Time};

/// Data that a flow requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// A number of segments, as fast as the scheme permits.
    File {
        /// Number of segments, at least 1.
        segments: u32,
    },
    /// New segments as fast as the scheme allows until the flow stops.
    Endless,
    /// New segments at a constant rate of content, whatever the window; in the given bursts only (one
    /// endless burst from the start if there are none). Retransmissions go on afterwards.
    Constant {
        /// Content bits per second.
        rate: BitRate,
        /// Start (from the run's start) and length of each burst.
        bursts: Vec<(Time, Span)>,
    },
    /// Objects of a catalogue, as fast as the scheme allows once a request has come.
    Objects(Workload),
}

impl Demand {
    /// Whether there is a last segment, known from the start.
    pub fn has_end(&self) -> bool {
        match self {
            Self::File { .. } => true,
            Self::Endless => false,
            Self::Constant { bursts, .. } => !bursts.is_empty(),
            Self::Objects(workload) => workload.requests.is_some(),
        }
    }
}

/// The ticks of a constant rate: tick `k` of a burst lies exactly `k` segments after its start.
#[derive(Debug)]
pub(super) struct Timetable {
    /// Start and end of the bursts to come, last first.
    bursts: Vec<(Time, Time)>,
    segments: Option<u32>,
    /// Steps from the start of a burst.
    cadence: Cadence,
    current: Option<Burst>,
}

/// The burst of the next tick.
#[derive(Debug)]
struct Burst {
    start: Time,
    end: Time,
    tick: Time,
    cadence: Cadence,
    /// Whether this tick's retransmission has left.
    has_retransmitted: bool,
}

impl Timetable {
    /// `payload` bytes per tick at `rate`, in `bursts` cut to what lies after `start` and apart.
    pub(super) fn new(rate: BitRate, payload: ByteCount, bursts: Vec<(Time, Span)>, start: Time) -> Self {
        let mut bursts = if bursts.is_empty() { vec![(start, Span::MAX)] } else { bursts };
        bursts.sort_unstable();
        // Bursts that overlap would tick twice at once, so each begins at the earliest when the one before
        // has ended.
        let mut free = start;
        let mut apart: Vec<(Time, Time)> = bursts
            .into_iter()
            .map(|(begin, length)| {
                let burst = (begin.max(free), begin + length);
                free = free.max(burst.1);
                burst
            })
            .filter(|(begin, end)| begin < end)
            .collect();
        let segments = Self::count_ticks(rate, payload, &apart);
        // `next_burst` pops from the end.
        apart.reverse();
        let cadence = Cadence::of_rate(rate, payload.max(ByteCount::new(1)));
        let mut timetable = Self { bursts: apart, segments, cadence, current: None };
        timetable.next_burst();
        timetable
    }

    /// Ticks of all bursts together; `None` when they are more than a flow can number.
    fn count_ticks(rate: BitRate, payload: ByteCount, bursts: &[(Time, Time)]) -> Option<u32> {
        // Tick k comes floor(k · bits / rate) after the start, which is before the end for k < length · rate / bits.
        let bit_nanos = u128::from(payload.get().max(1)) * 8_000_000_000;
        let in_burst = |(start, end): &(Time, Time)| {
            let reach = u128::from(end.since(*start).as_nanos()) * u128::from(rate.as_bps());
            reach.div_ceil(bit_nanos).max(1)
        };
        u32::try_from(bursts.iter().map(in_burst).sum::<u128>()).ok().filter(|ticks| *ticks < u32::MAX)
    }

    /// Segments of all bursts together; `None` for a burst without end.
    pub(super) fn segments(&self) -> Option<u32> {
        self.segments
    }

    /// The next tick; `None` when there is none to come.
    pub(super) fn tick(&self) -> Option<Time> {
        self.current.as_ref().map(|burst| burst.tick)
    }

    /// Whether `now` lies in a burst that has ticks left.
    pub(super) fn is_running(&self, now: Time) -> bool {
        self.current.as_ref().is_some_and(|burst| burst.start <= now)
    }

    /// Whether the tick that is due may still carry a retransmission; each tick carries one at most.
    pub(super) fn take_retransmission(&mut self) -> bool {
        self.current.as_mut().is_some_and(|burst| !std::mem::replace(&mut burst.has_retransmitted, true))
    }

    /// Goes on to the next tick.
    pub(super) fn advance(&mut self) {
        let Some(burst) = &mut self.current else { return };
        burst.tick += burst.cadence.step();
        burst.has_retransmitted = false;
        if burst.tick >= burst.end {
            self.next_burst();
        }
    }

    /// Marks that no further segment will be requested.
    pub(super) fn end(&mut self) {
        self.bursts.clear();
        self.current = None;
    }

    fn next_burst(&mut self) {
        // A copy without a carried fraction: the ticks of every burst count from its own start.
        let cadence = self.cadence;
        self.current = self.bursts.pop().map(|(start, end)| Burst {
            start,
            end,
            tick: start,
            cadence,
            has_retransmitted: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    fn ticks(timetable: &mut Timetable) -> Vec<u64> {
        let mut ticks = Vec::new();
        while let Some(tick) = timetable.tick() {
            ticks.push(tick.as_nanos());
            timetable.advance();
        }
        ticks
    }

    /// One byte per 10 ns.
    const RATE: BitRate = BitRate::from_bps(800_000_000);

    #[test]
    fn every_burst_begins_with_a_tick_and_has_none_at_its_end() {
        let bursts = vec![(at(100), Span::from_nanos(30)), (at(205), Span::from_nanos(11))];
        let mut timetable = Timetable::new(RATE, ByteCount::new(1), bursts, Time::ZERO);
        assert_eq!(ticks(&mut timetable), [100, 110, 120, 205, 215]);
    }

    #[test]
    fn bursts_that_overlap_or_lie_before_the_start_are_cut() {
        let bursts = vec![(at(40), Span::from_nanos(10)), (at(0), Span::from_nanos(45)), (at(5), Span::ZERO)];
        let mut timetable = Timetable::new(RATE, ByteCount::new(1), bursts, at(22));
        assert_eq!(ticks(&mut timetable), [22, 32, 42, 45]);
    }

    #[test]
    fn segments_are_the_ticks_of_all_bursts() {
        for (bps, payload, length) in
            [(800_000_000, 1, 31), (35_000_000, 1040, 500_000_000), (3, 1, 9_000_000_000)]
        {
            let bursts =
                vec![(at(7), Span::from_nanos(length)), (at(20_000_000_000), Span::from_nanos(length + 1))];
            let mut timetable =
                Timetable::new(BitRate::from_bps(bps), ByteCount::new(payload), bursts, Time::ZERO);
            let segments = timetable.segments();
            assert_eq!(segments, Some(ticks(&mut timetable).len() as u32), "{bps} bit/s");
        }
        let endless = Timetable::new(RATE, ByteCount::new(1), Vec::new(), Time::ZERO);
        assert_eq!(endless.segments(), None);
    }

    #[test]
    fn without_bursts_the_rate_is_kept_from_the_start_on() {
        let mut timetable = Timetable::new(BitRate::from_bps(24), ByteCount::new(1), Vec::new(), at(5));
        for _ in 0..3000 {
            timetable.advance();
        }
        assert_eq!(timetable.tick(), Some(at(1_000_000_000_005)));
    }

    #[test]
    fn rate_zero_ticks_once() {
        let mut timetable = Timetable::new(BitRate::from_bps(0), ByteCount::new(1), Vec::new(), at(5));
        assert_eq!(ticks(&mut timetable), [5]);
    }
}
