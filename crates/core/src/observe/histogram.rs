//! Delays in logarithmic bins, 1/1024 wide: quantiles within 0.1 % at a fixed cost per delay.

use std::ops::RangeInclusive;

use crate::observe::records::{DelayBins, DelaySummary};
use crate::units::Span;

/// Bits that number the bins within one power of two.
const SUB_BITS: u32 = 10;

/// Bits that number the bins of one chunk: 16 counts are a line of the cache.
const CHUNK_BITS: u32 = 4;

/// Number of bins in a chunk.
const CHUNK: usize = 1 << CHUNK_BITS;

/// Bins next to each other.
type Chunk = [u32; CHUNK];

/// Maximum number of delays that are buffered, because counting them together has fewer cache misses.
const RECENT: usize = 64;

/// Number of delays that are buffered at first, so that short flows take little memory.
const FEW: usize = 4;

/// Counts delays. Chunks of bins are created when needed, so an unused histogram takes no memory and one of
/// similar delays takes little.
#[derive(Clone, Debug, Default)]
pub struct DelayHistogram {
    /// Delays of zero: most packets do not wait, and these cost one addition.
    zeros: u64,
    /// Delays above zero; created at the first of them.
    bins: Option<Box<Bins>>,
}

/// Delays above zero by chunk.
#[derive(Clone, Debug)]
struct Bins {
    /// Delays that were not counted yet, ns, with room for [`FEW`] to [`RECENT`], and their number.
    recent: Box<[u64]>,
    filled: usize,
    /// Place in `chunks` plus one, by number of the chunk; 0 for one that does not exist.
    places: Vec<u16>,
    /// Chunks in the order of their creation.
    chunks: Vec<Chunk>,
    /// Number, sum, minimum and maximum of the delays counted, ns.
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Bins {
    fn new() -> Self {
        Self {
            recent: Box::new([0; FEW]),
            filled: 0,
            places: Vec::new(),
            chunks: Vec::new(),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// Adds a delay for which the buffer has no room.
    #[inline(never)]
    fn add_beyond(&mut self, nanos: u64) {
        if self.filled < RECENT {
            let mut larger = vec![0; 2 * self.filled].into_boxed_slice();
            larger[..self.filled].copy_from_slice(&self.recent);
            self.recent = larger;
        } else {
            self.count_recent();
        }
        self.recent[self.filled] = nanos;
        self.filled += 1;
    }

    /// Counts the recent delays.
    fn count_recent(&mut self) {
        let filled = std::mem::take(&mut self.filled);
        // In locals, because the compiler cannot rule out that a chunk overlaps the fields.
        let (mut min, mut max, mut sum) = (self.min, self.max, self.sum);
        let recent = std::mem::take(&mut self.recent);
        for &nanos in &recent[..filled] {
            let bin = bin_of(nanos);
            self.chunk(bin >> CHUNK_BITS)[bin % CHUNK] += 1;
            min = min.min(nanos);
            max = max.max(nanos);
            sum = sum.saturating_add(nanos);
        }
        self.recent = recent;
        (self.min, self.max, self.sum) = (min, max, sum);
        self.count += filled as u64;
    }

    /// The chunk with this number, made if there was none.
    #[inline]
    fn chunk(&mut self, number: usize) -> &mut Chunk {
        let place = match self.places.get(number) {
            Some(place) if *place > 0 => *place,
            _ => self.make(number),
        };
        &mut self.chunks[usize::from(place) - 1]
    }

    #[cold]
    fn make(&mut self, number: usize) -> u16 {
        if number >= self.places.len() {
            self.places.resize(number + 1, 0);
        }
        self.chunks.push(Chunk::default());
        // There are less than 2^12 chunks in all.
        self.places[number] = self.chunks.len() as u16;
        self.places[number]
    }

    /// Every bin that is not empty, with the number of its delays, recent ones excepted.
    fn bins(&self) -> impl Iterator<Item = (usize, u64)> {
        let made = self.places.iter().enumerate().filter(|(_, place)| **place > 0);
        let counts = made.flat_map(|(chunk, place)| {
            let first = chunk << CHUNK_BITS;
            (first..).zip(&self.chunks[usize::from(*place) - 1])
        });
        counts.filter(|(_, count)| **count > 0).map(|(bin, count)| (bin, u64::from(*count)))
    }
}

impl DelayHistogram {
    /// Counts one delay in its bucket.
    #[inline]
    pub fn add(&mut self, delay: Span) {
        let nanos = delay.as_nanos();
        if nanos == 0 {
            self.zeros += 1;
            return;
        }
        let bins = self.bins.get_or_insert_with(|| Box::new(Bins::new()));
        match bins.recent.get_mut(bins.filled) {
            Some(place) => {
                *place = nanos;
                bins.filled += 1;
            }
            None => bins.add_beyond(nanos),
        }
    }

    /// All delays of this one and `other`.
    pub fn merged(&self, other: &Self) -> CountedDelays {
        CountedDelays::of([self, other])
    }

    /// Number of delays counted.
    pub fn count(&self) -> u64 {
        self.zeros + self.bins.as_ref().map_or(0, |bins| bins.count + bins.filled as u64)
    }

    /// Copies the counts, so that several statistics share one pass over the bins.
    pub fn counted(&self) -> CountedDelays {
        CountedDelays::of([self])
    }

    /// Every bin that is not empty; the last one ends at the maximum delay.
    pub fn distribution(&self) -> DelayBins {
        self.counted().distribution()
    }

    /// Mean, extremes and percentiles.
    pub fn summary(&self) -> DelaySummary {
        self.counted().summary()
    }
}

/// Counts of one or more histograms, in the order of the delays.
#[derive(Debug)]
pub struct CountedDelays {
    zeros: u64,
    /// Every bin that is not empty, with the number of its delays, in order.
    bins: Vec<(usize, u64)>,
    /// Number of all delays, those of zero included.
    count: u64,
    /// Sum, minimum and maximum of the delays above zero, ns.
    sum: u64,
    min: u64,
    max: u64,
}

impl CountedDelays {
    fn of<const N: usize>(histograms: [&DelayHistogram; N]) -> Self {
        let mut all = Self { zeros: 0, bins: Vec::new(), count: 0, sum: 0, min: u64::MAX, max: 0 };
        for histogram in histograms {
            all.zeros += histogram.zeros;
            all.count += histogram.count();
            let Some(bins) = &histogram.bins else { continue };
            all.sum = all.sum.saturating_add(bins.sum);
            (all.min, all.max) = (all.min.min(bins.min), all.max.max(bins.max));
            all.bins.extend(bins.bins());
            for &nanos in &bins.recent[..bins.filled] {
                all.sum = all.sum.saturating_add(nanos);
                (all.min, all.max) = (all.min.min(nanos), all.max.max(nanos));
                all.bins.push((bin_of(nanos), 1));
            }
        }
        all.bins.sort_unstable();
        all.bins.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.1 += if is_same { later.1 } else { 0 };
            is_same
        });
        all
    }

    /// Every bin that is not empty; the last one ends at the maximum delay.
    pub fn distribution(&self) -> DelayBins {
        let zeros = (self.zeros > 0).then_some((Span::ZERO, self.zeros));
        let end = |bin| Span::from_nanos((*bounds(bin).end()).min(self.max));
        let others = self.bins.iter().map(|(bin, count)| (end(*bin), *count));
        DelayBins(zeros.into_iter().chain(others).collect())
    }

    /// Mean, extremes and percentiles.
    pub fn summary(&self) -> DelaySummary {
        let min = if self.zeros > 0 || self.count == 0 { 0 } else { self.min };
        DelaySummary {
            count: self.count,
            mean: Span::from_nanos(self.sum.checked_div(self.count).unwrap_or(0)),
            min: Span::from_nanos(min),
            p50: self.percentile(50),
            p95: self.percentile(95),
            p99: self.percentile(99),
            max: Span::from_nanos(self.max),
        }
    }

    /// The `percent`-th percentile: the delay of the rank ceil(count percent / 100), interpolated within its
    /// bin by the rank within the bin, so at most 0.1 % off; exact where it is the minimum or the maximum.
    fn percentile(&self, percent: u64) -> Span {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100) as u64;
        let mut below = self.zeros;
        if below >= rank {
            return Span::ZERO;
        }
        if rank == self.count {
            return Span::from_nanos(self.max);
        }
        for &(bin, count) in &self.bins {
            if below + count >= rank {
                let bounds = bounds(bin);
                let (low, high) = ((*bounds.start()).max(self.min), (*bounds.end()).min(self.max));
                // Rank r of n in a bin lies at (2r - 1) / 2n of its width: in the middle for a single delay.
                let part =
                    u128::from(high - low) * u128::from(2 * (rank - below) - 1) / u128::from(2 * count);
                return Span::from_nanos(low + part as u64);
            }
            below += count;
        }
        Span::ZERO
    }
}

/// Number of the bin: delays below 2^SUB_BITS ns have one each; above, every power of two has 2^SUB_BITS bins.
#[inline]
fn bin_of(nanos: u64) -> usize {
    // The shift that leaves the highest SUB_BITS + 1 bits: it is zero for all delays below 2^(SUB_BITS + 1).
    let octave = (nanos | 1 << SUB_BITS).ilog2() - SUB_BITS;
    ((u64::from(octave) << SUB_BITS) + (nanos >> octave)) as usize
}

/// Minimum and maximum delay of a bin, ns.
fn bounds(bin: usize) -> RangeInclusive<u64> {
    let number = bin as u64;
    // From 2^SUB_BITS on a bin's number is 2^SUB_BITS too large for each octave before its own.
    let octave = (number >> SUB_BITS).saturating_sub(1);
    let low = (number - (octave << SUB_BITS)) << octave;
    low..=low + ((1 << octave) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delay_lies_in_a_bin_at_most_one_part_in_1024_wide() {
        for nanos in (0..5_000).chain([123_456, 5_000_000, u64::MAX / 3, u64::MAX]) {
            let bounds = bounds(bin_of(nanos));
            assert!(bounds.contains(&nanos), "{nanos} -> {bounds:?}");
            assert!(bounds.end() - bounds.start() <= nanos / 1024, "{nanos} -> {bounds:?}");
        }
        assert!(bin_of(u64::MAX) >> CHUNK_BITS < usize::from(u16::MAX));
    }

    #[test]
    fn bins_follow_each_other_without_a_gap() {
        let ends = (0..200 << CHUNK_BITS).map(bounds);
        let ends: Vec<RangeInclusive<u64>> = ends.collect();
        assert!(ends.windows(2).all(|pair| pair[0].end() + 1 == *pair[1].start()));
    }

    #[test]
    fn percentiles_of_equally_spaced_delays_are_their_ranks() {
        let mut delays = DelayHistogram::default();
        for millis in 1..=1000 {
            delays.add(Span::from_millis(millis));
        }
        let summary = delays.summary();
        assert_eq!(summary.mean, Span::from_nanos(500_500_000));
        assert_eq!((summary.min, summary.max), (Span::from_millis(1), Span::from_millis(1000)));
        for (percentile, millis) in [(summary.p50, 500.0), (summary.p95, 950.0), (summary.p99, 990.0)] {
            let error = percentile.as_millis_f64() / millis - 1.0;
            assert!(error.abs() <= 0.001, "{percentile} for {millis} ms");
        }
    }

    #[test]
    fn merged_histograms_are_the_histogram_of_all_delays() {
        let mut parts = [DelayHistogram::default(), DelayHistogram::default()];
        let mut all = DelayHistogram::default();
        for millis in [3, 900, 20, 1, 44] {
            parts[usize::from(millis > 10)].add(Span::from_millis(millis));
            all.add(Span::from_millis(millis));
        }
        let [short, long] = &parts;
        assert_eq!(short.merged(long).summary(), all.summary());
        assert_eq!(long.merged(short).summary(), all.summary());
        assert_eq!(short.merged(&DelayHistogram::default()).summary(), short.summary());
        assert_eq!(DelayHistogram::default().merged(short).summary(), short.summary());
    }

    #[test]
    fn the_buffer_grows_with_the_delays_up_to_its_limit() {
        let mut delays = DelayHistogram::default();
        let rooms = [1, 4, 5, 20, 64, 65, 1000].map(|count| {
            (delays.count()..count).for_each(|nanos| delays.add(Span::from_nanos(nanos + 1)));
            delays.bins.as_ref().map_or(0, |bins| bins.recent.len())
        });
        assert_eq!(rooms, [4, 4, 8, 32, 64, 64, 64]);
        assert_eq!((delays.summary().count, delays.summary().max), (1000, Span::from_nanos(1000)));
    }

    #[test]
    fn bins_that_both_histograms_have_are_added() {
        let mut parts = [DelayHistogram::default(), DelayHistogram::default()];
        let mut all = DelayHistogram::default();
        for (place, nanos) in drawn(5, 2000).into_iter().enumerate() {
            parts[place % 2].add(Span::from_nanos(nanos));
            all.add(Span::from_nanos(nanos));
        }
        let merged = parts[0].merged(&parts[1]);
        assert_eq!(merged.summary(), all.summary());
        assert_eq!(format!("{:?}", merged.distribution()), format!("{:?}", all.distribution()));
    }

    /// Delays of an exponential distribution, from a fixed generator, ns.
    fn drawn(start: u64, count: u64) -> Vec<u64> {
        let mut state = start;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        (0..count).map(|_| 20_000_000 + (-uniform().ln() * 5e6) as u64).collect()
    }

    #[test]
    fn percentiles_are_within_a_thousandth_of_those_of_the_sorted_delays() {
        for (start, count) in [(1, 7), (2, 100), (3, 10_000), (4, 100_000)] {
            let mut delays = DelayHistogram::default();
            let mut sorted = drawn(start, count);
            sorted.iter().for_each(|nanos| delays.add(Span::from_nanos(*nanos)));
            sorted.sort_unstable();
            let summary = delays.summary();
            for (percentile, percent) in [(summary.p50, 50), (summary.p95, 95), (summary.p99, 99)] {
                let exact = sorted[((count * percent).div_ceil(100) - 1) as usize];
                let error = percentile.as_nanos() as f64 / exact as f64 - 1.0;
                assert!(error.abs() <= 0.001, "{percent} % of {count}: {percentile} for {exact} ns");
            }
        }
    }

    #[test]
    fn percentiles_of_runs_that_differ_differ() {
        let p99 = |start| {
            let mut delays = DelayHistogram::default();
            drawn(start, 2_000).iter().for_each(|nanos| delays.add(Span::from_nanos(*nanos)));
            delays.summary().p99
        };
        let mut found: Vec<Span> = (1..=10).map(p99).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 10, "{found:?}");
    }

    #[test]
    fn equal_delays_have_that_percentile_to_the_nanosecond() {
        let mut delays = DelayHistogram::default();
        (0..50).for_each(|_| delays.add(Span::from_nanos(41_234_567)));
        let DelaySummary { p50, p95, p99, .. } = delays.summary();
        assert_eq!([p50, p95, p99], [Span::from_nanos(41_234_567); 3]);
    }

    #[test]
    fn no_delays_give_zeros() {
        assert_eq!(DelayHistogram::default().summary(), DelaySummary::default());
    }
}
