//! Requests for the objects of a catalogue: their times, their objects, and the numbers that wait for each
//! segment.
//!
//! Popularity as in ndnSIM's `ConsumerZipfMandelbrot`: object k of N is requested in proportion to 1/(k +
//! q)^s. The catalogue is one run of segments under the flow's prefix, the most popular object first.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::math;
use crate::rng::{Rng, Streams};
use crate::units::{Frequency, Span, Time};

/// Popularity of objects: Zipf-Mandelbrot law over a catalogue.
#[derive(Debug, PartialEq)]
pub struct Popularity {
    /// Probability of this object and all more popular ones.
    cumulative: Box<[f64]>,
}

impl Popularity {
    /// Probabilities in proportion to 1/(k + `shift`)^`exponent` for k from 1 to `objects` (at least 1); `shift` and
    /// `exponent` are finite and not negative.
    pub fn new(objects: u32, exponent: f64, shift: f64) -> Self {
        let mut sum = 0.0;
        let mut cumulative: Box<[f64]> = (1..=objects.max(1))
            .map(|rank| {
                sum += math::pow(f64::from(rank) + shift, -exponent);
                sum
            })
            .collect();
        // Of very small numbers nothing may be left; then all objects are alike.
        let (objects, is_lost) = (cumulative.len() as f64, sum < f64::MIN_POSITIVE);
        for (place, part) in cumulative.iter_mut().enumerate() {
            *part = if is_lost { (place + 1) as f64 / objects } else { *part / sum };
        }
        Self { cumulative }
    }

    /// Number of objects that were requested.
    pub fn objects(&self) -> u32 {
        self.cumulative.len() as u32
    }

    /// Probability of the object `index`, from 0; zero beyond the last.
    pub fn probability(&self, index: u32) -> f64 {
        let up_to = |index: usize| self.cumulative.get(index).copied().unwrap_or(0.0);
        let before = (index as usize).checked_sub(1).map_or(0.0, up_to);
        (up_to(index as usize) - before).max(0.0)
    }

    /// The object, from 0, for a number in 0..1.
    fn object(&self, uniform: f64) -> u32 {
        let index = self.cumulative.partition_point(|part| *part <= uniform);
        // Rounding may leave the last sum below 1.
        index.min(self.cumulative.len() - 1) as u32
    }
}

/// Workload of a flow of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Popularity of each object.
    pub popularity: Arc<Popularity>,
    /// Segments of every object, at least 1; objects times segments stay below 2^32 - 1.
    pub object_segments: u32,
    /// Arrival process of requests; `None` for as fast as the scheme permits.
    pub arrivals: Option<Arrivals>,
    /// Number of requests; `None` for no end. Requests times segments stay below 2^32 - 1.
    pub requests: Option<u32>,
}

/// Arrival process of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Constant intervals from the start on.
    Constant(Frequency),
    /// Exponentially distributed intervals, the first one counted from the start.
    Poisson(Frequency),
}

impl Arrivals {
    /// Mean arrival rate of requests.
    pub fn rate(self) -> Frequency {
        match self {
            Self::Constant(rate) | Self::Poisson(rate) => rate,
        }
    }
}

/// The instants of requests, one after the other.
#[derive(Debug)]
struct Schedule {
    arrivals: Arrivals,
    start: Time,
    /// Requests before the next one.
    count: u64,
    next: Time,
    draws: Rng,
}

impl Schedule {
    fn new(arrivals: Arrivals, start: Time, draws: Rng) -> Self {
        let mut schedule = Self { arrivals, start, count: 0, next: start, draws };
        // The first request of a Poisson process also comes after a random interval.
        if let Arrivals::Poisson(_) = arrivals {
            schedule.advance();
        }
        schedule
    }

    fn advance(&mut self) {
        self.count += 1;
        self.next = match self.arrivals {
            // From the start, so that roundings do not add up.
            Arrivals::Constant(rate) => {
                self.start + Span::from_secs_f64(self.count as f64 / rate.per_second())
            }
            Arrivals::Poisson(rate) => {
                self.next + Span::from_secs_f64(self.draws.exponential() / rate.per_second())
            }
        };
    }
}

/// The requests of one flow: a consumer numbers their segments one after the other, whatever their names.
#[derive(Debug)]
pub(super) struct Requests {
    workload: Workload,
    schedule: Option<Schedule>,
    objects: Rng,
    /// Numbers below this one belong to requests that have arrived.
    released: u32,
    /// First number whose segment is stored.
    first: u32,
    /// Segment of each number from `first` on.
    segments: VecDeque<u32>,
    /// Segment of the highest number.
    latest: u32,
    /// Outstanding segments, each with the numbers that wait for it.
    waiting: BTreeSet<(u32, u32)>,
}

impl Requests {
    pub(super) fn new(workload: Workload, start: Time, streams: Streams) -> Self {
        let schedule =
            workload.arrivals.map(|arrivals| Schedule::new(arrivals, start, streams.stream("arrivals")));
        Self {
            released: if schedule.is_some() { 0 } else { u32::MAX },
            schedule,
            objects: streams.stream("objects"),
            workload,
            first: 0,
            segments: VecDeque::new(),
            latest: 0,
            waiting: BTreeSet::new(),
        }
    }

    /// Numbers in all; `None` without end.
    pub(super) fn end(&self) -> Option<u32> {
        self.workload.requests.map(|requests| requests.saturating_mul(self.workload.object_segments))
    }

    /// Whether the segment of `number` may be requested now.
    #[inline]
    pub(super) fn has_come(&self, number: u32) -> bool {
        number < self.released
    }

    /// Time of the next request; `None` if all have arrived.
    pub(super) fn next_arrival(&self) -> Option<Time> {
        let has_more = self.released < self.end().unwrap_or(u32::MAX);
        self.schedule.as_ref().map(|schedule| schedule.next).filter(|_| has_more)
    }

    /// Takes note of every request up to `now`.
    pub(super) fn advance(&mut self, now: Time) {
        while self.next_arrival().is_some_and(|at| at <= now) {
            self.released = self.released.saturating_add(self.workload.object_segments);
            self.schedule.iter_mut().for_each(Schedule::advance);
        }
    }

    /// Records that the next number is requested; those below `base` will not be requested again.
    pub(super) fn request(&mut self, number: u32, base: u32) {
        // Numbers below the lowest missing one are complete, so their segments need no longer be stored.
        while self.first < base && self.segments.pop_front().is_some() {
            self.first += 1;
        }
        let size = self.workload.object_segments;
        let segment = match number % size {
            // The first number of a request draws its object; the others follow within it.
            0 => self.workload.popularity.object(self.objects.uniform()) * size,
            _ => self.latest + 1,
        };
        self.latest = segment;
        self.segments.push_back(segment);
        self.waiting.insert((segment, number));
    }

    /// The segment of `number`; `number` itself if none is stored.
    pub(super) fn segment(&self, number: u32) -> u32 {
        let known = number.checked_sub(self.first).and_then(|place| self.segments.get(place as usize));
        known.copied().unwrap_or(number)
    }

    /// Numbers that wait for `segment`, lowest first.
    pub(super) fn waiting_for(&self, segment: u32) -> impl Iterator<Item = u32> + '_ {
        self.waiting.range((segment, 0)..=(segment, u32::MAX)).map(|(_, number)| *number)
    }

    /// Removes `number` from those that wait.
    pub(super) fn end_wait(&mut self, number: u32) {
        self.waiting.remove(&(self.segment(number), number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;

    const START: Time = Time::from_nanos(5_000_000_000);

    /// Requests for one object of one segment, ten a second.
    fn requests(kind: fn(Frequency) -> Arrivals, seed: u64) -> Requests {
        let workload = Workload {
            popularity: Arc::new(Popularity::new(1, 0.0, 0.0)),
            object_segments: 1,
            arrivals: Some(kind("10/s".parse().expect("a rate"))),
            requests: None,
        };
        Requests::new(workload, START, Streams::of(Seed(seed)))
    }

    /// Pauses before the first request and the next one, s.
    fn pauses(requests: &mut Requests) -> [f64; 2] {
        let first = requests.next_arrival().expect("without end");
        requests.advance(first);
        let second = requests.next_arrival().expect("without end");
        [first.since(START), second.since(first)].map(Span::as_secs_f64)
    }

    #[test]
    fn a_request_by_chance_comes_after_a_pause_the_first_one_too() {
        let found: Vec<[f64; 2]> =
            (0..4_000).map(|seed| pauses(&mut requests(Arrivals::Poisson, seed))).collect();
        for place in [0, 1] {
            // The mean of 4000 exponential intervals has a standard error of 1/sqrt(4000) = 1.6 %.
            let mean = found.iter().map(|pauses| pauses[place]).sum::<f64>() / 4_000.0;
            assert!((mean / 0.1 - 1.0).abs() < 0.064, "pause {place}: {mean} s");
        }
    }

    #[test]
    fn requests_at_equal_pauses_begin_at_the_start() {
        assert_eq!(pauses(&mut requests(Arrivals::Constant, 1)), [0.0, 0.1]);
    }

    #[test]
    fn nothing_comes_after_the_last_request() {
        let mut requests = requests(Arrivals::Constant, 1);
        requests.workload.requests = Some(2);
        let last = START + Span::from_millis(100);
        requests.advance(START);
        assert_eq!((requests.next_arrival(), requests.has_come(1)), (Some(last), false));
        requests.advance(last);
        assert_eq!(
            (requests.next_arrival(), requests.has_come(1), requests.has_come(2)),
            (None, true, false)
        );
    }

    #[test]
    fn who_has_its_data_waits_no_longer() {
        let mut requests = requests(Arrivals::Constant, 1);
        (0..3).for_each(|number| requests.request(number, 0));
        requests.end_wait(1);
        assert_eq!(requests.waiting_for(0).collect::<Vec<_>>(), [0, 2]);
    }
}
