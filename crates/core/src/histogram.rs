//! Delays in logarithmic bins, 1/64 wide: percentiles within 1.6 % at a fixed cost per delay.

use crate::records::DelaySummary;
use crate::units::Span;

/// Bits that number the bins within one power of two.
const SUB_BITS: u32 = 6;

/// Counts delays. Bins are made as they are needed, so an unused histogram takes no memory.
#[derive(Clone, Debug)]
pub struct DelayHistogram {
    /// Delays of zero: most packets do not wait, and these cost one addition.
    zeros: u64,
    bins: Vec<u32>,
    /// Sum, smallest and largest of the others, ns.
    sum: u64,
    min: u64,
    max: u64,
}

impl Default for DelayHistogram {
    fn default() -> Self {
        Self { zeros: 0, bins: Vec::new(), sum: 0, min: u64::MAX, max: 0 }
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
        let bin = bin_of(nanos);
        match self.bins.get_mut(bin) {
            Some(count) => *count += 1,
            None => self.grow(bin),
        }
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.sum = self.sum.saturating_add(nanos);
    }

    /// Makes the bin, with one delay in it.
    #[cold]
    fn grow(&mut self, bin: usize) {
        self.bins.resize(bin + 1, 0);
        self.bins[bin] = 1;
    }

    /// All delays of this one and `other`.
    pub fn merged(&self, other: &Self) -> Self {
        let bin = |bins: &[u32], index: usize| bins.get(index).copied().unwrap_or(0);
        let len = self.bins.len().max(other.bins.len());
        Self {
            zeros: self.zeros + other.zeros,
            bins: (0..len).map(|index| bin(&self.bins, index) + bin(&other.bins, index)).collect(),
            sum: self.sum.saturating_add(other.sum),
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// Number of delays counted.
    pub fn count(&self) -> u64 {
        self.zeros + self.bins.iter().map(|count| u64::from(*count)).sum::<u64>()
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
        for (bin, count) in self.bins.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= rank {
                return Span::from_nanos(upper_bound(bin).min(self.max));
            }
        }
        Span::ZERO
    }
}

/// Delays below 2^SUB_BITS ns have a bin each; above, every power of two has 2^SUB_BITS bins.
#[inline]
fn bin_of(nanos: u64) -> usize {
    if nanos < 1 << SUB_BITS {
        return nanos as usize;
    }
    let octave = 63 - nanos.leading_zeros() - SUB_BITS;
    (((octave + 1) << SUB_BITS) as usize) + ((nanos >> octave) as usize & ((1 << SUB_BITS) - 1))
}

fn upper_bound(bin: usize) -> u64 {
    let (octave, sub) = ((bin >> SUB_BITS) as u32, (bin & ((1 << SUB_BITS) - 1)) as u64);
    if octave == 0 {
        return sub;
    }
    let low = ((1u64 << SUB_BITS) + sub) << (octave - 1);
    low + ((1u64 << (octave - 1)) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delay_lies_in_a_bin_at_most_one_part_in_64_wide() {
        for nanos in (0..200).chain([1_000, 123_456, 5_000_000, u64::MAX / 3]) {
            let bound = upper_bound(bin_of(nanos));
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
