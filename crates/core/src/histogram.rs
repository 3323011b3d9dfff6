//! Delays in logarithmic bins, 1/64 wide: percentiles within 1.6 % at a fixed cost per delay.

use crate::records::{DelayBins, DelaySummary};
use crate::units::Span;

/// Bits that number the bins within one power of two.
const SUB_BITS: u32 = 6;

/// Bins of one power of two.
type Octave = Box<[u32; 1 << SUB_BITS]>;

/// Counts delays. Bins are made as they are needed, so an unused histogram takes no memory and one of similar
/// delays takes little.
#[derive(Clone, Debug)]
pub struct DelayHistogram {
    /// Delays of zero: most packets do not wait, and these cost one addition.
    zeros: u64,
    octaves: Vec<Option<Octave>>,
    /// Sum, smallest and largest of the others, ns.
    sum: u64,
    min: u64,
    max: u64,
}

impl Default for DelayHistogram {
    fn default() -> Self {
        Self { zeros: 0, octaves: Vec::new(), sum: 0, min: u64::MAX, max: 0 }
    }
}

impl DelayHistogram {
    /// Counts one delay.
    #[inline]
    pub fn add(&mut self, delay: Span) {
        let nanos = delay.as_nanos();
        if nanos == 0 {
            self.zeros += 1;
            return;
        }
        let (octave, bin) = bin_of(nanos);
        match self.octaves.get_mut(octave) {
            Some(Some(bins)) => bins[bin] += 1,
            _ => self.grow(octave, bin),
        }
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.sum = self.sum.saturating_add(nanos);
    }

    /// Makes the bins of an octave, with one delay in them.
    #[cold]
    fn grow(&mut self, octave: usize, bin: usize) {
        if octave >= self.octaves.len() {
            self.octaves.resize(octave + 1, None);
        }
        self.octaves[octave].get_or_insert_with(|| Box::new([0; 1 << SUB_BITS]))[bin] += 1;
    }

    /// Every bin that was made, as its upper bound and count, in order.
    fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let made =
            self.octaves.iter().enumerate().filter_map(|(octave, bins)| Some((octave, bins.as_deref()?)));
        made.flat_map(|(octave, bins)| {
            bins.iter().enumerate().map(move |(bin, count)| (upper_bound(octave, bin), u64::from(*count)))
        })
    }

    /// All delays of this one and `other`.
    pub fn merged(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.octaves.resize(self.octaves.len().max(other.octaves.len()), None);
        for (ours, theirs) in both.octaves.iter_mut().zip(&other.octaves) {
            match (ours, theirs) {
                (Some(ours), Some(theirs)) => {
                    for (ours, theirs) in ours.iter_mut().zip(theirs.iter()) {
                        *ours += theirs;
                    }
                }
                (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
                (_, None) => {}
            }
        }
        both.zeros += other.zeros;
        both.sum = self.sum.saturating_add(other.sum);
        both.min = self.min.min(other.min);
        both.max = self.max.max(other.max);
        both
    }

    /// Number of delays counted.
    pub fn count(&self) -> u64 {
        self.zeros + self.bins().map(|(_, count)| count).sum::<u64>()
    }

    /// Every bin with something in it; the last one ends at the largest delay.
    pub fn distribution(&self) -> DelayBins {
        let zeros = (self.zeros > 0).then_some((Span::ZERO, self.zeros));
        let others = self.bins().filter(|(_, count)| *count > 0);
        let others = others.map(|(bound, count)| (Span::from_nanos(bound.min(self.max)), count));
        DelayBins(zeros.into_iter().chain(others).collect())
    }

    /// Mean, extremes and percentiles.
    pub fn summary(&self) -> DelaySummary {
        let count = self.count();
        let min = if self.zeros > 0 || count == 0 { 0 } else { self.min };
        DelaySummary {
            count,
            mean: Span::from_nanos(self.sum.checked_div(count).unwrap_or(0)),
            min: Span::from_nanos(min),
            p50: self.percentile(50, count),
            p95: self.percentile(95, count),
            p99: self.percentile(99, count),
            max: Span::from_nanos(self.max),
        }
    }

    /// Upper bound of the bin in which the `percent`-th percentile of `count` lies, at most the largest delay.
    fn percentile(&self, percent: u64, count: u64) -> Span {
        let rank = (count * percent).div_ceil(100);
        let mut seen = self.zeros;
        if seen >= rank {
            return Span::ZERO;
        }
        for (bound, count) in self.bins() {
            seen += count;
            if seen >= rank {
                return Span::from_nanos(bound.min(self.max));
            }
        }
        Span::ZERO
    }
}

/// Octave and bin: delays below 2^SUB_BITS ns have a bin each in the first octave; above, every power of two
/// has 2^SUB_BITS bins.
#[inline]
fn bin_of(nanos: u64) -> (usize, usize) {
    if nanos < 1 << SUB_BITS {
        return (0, nanos as usize);
    }
    let octave = 63 - nanos.leading_zeros() - SUB_BITS;
    (octave as usize + 1, (nanos >> octave) as usize & ((1 << SUB_BITS) - 1))
}

fn upper_bound(octave: usize, bin: usize) -> u64 {
    if octave == 0 {
        return bin as u64;
    }
    let low = ((1u64 << SUB_BITS) + bin as u64) << (octave - 1);
    low + ((1u64 << (octave - 1)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delay_lies_in_a_bin_at_most_one_part_in_64_wide() {
        for nanos in (0..200).chain([1_000, 123_456, 5_000_000, u64::MAX / 3]) {
            let (octave, bin) = bin_of(nanos);
            let bound = upper_bound(octave, bin);
            assert!(bound >= nanos && bound - nanos <= nanos / 64, "{nanos} -> {bound}");
        }
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
            assert!((0.0..=1.0 / 64.0).contains(&error), "{percentile} for {millis} ms");
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
    fn no_delays_give_zeros() {
        assert_eq!(DelayHistogram::default().summary(), DelaySummary::default());
    }
}
