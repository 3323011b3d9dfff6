//! Samples as aligned series, thinned for drawing without losing a peak.

use tidegate_core::units::Time;

/// Several series over one time axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Aligned {
    /// Instants, s, in order.
    pub(crate) time_s: Vec<f64>,
    /// One value per instant in each series; `None` where the series has none.
    pub(crate) series: Vec<Vec<Option<f64>>>,
}

impl Aligned {
    /// Aligns rows of (time, series index, value) to `count` series. Rows out of order are sorted by time.
    pub(crate) fn of_rows(
        time: &[Time],
        index: &[u32],
        count: usize,
        value: impl Fn(usize) -> Option<f64>,
    ) -> Self {
        let mut order: Vec<usize> = (0..time.len().min(index.len())).collect();
        order.sort_by_key(|row| time[*row]);
        let mut aligned = Self { time_s: Vec::new(), series: vec![Vec::new(); count] };
        let mut last = None;
        for row in order {
            if last != Some(time[row]) {
                last = Some(time[row]);
                aligned.time_s.push(time[row].as_secs_f64());
                aligned.series.iter_mut().for_each(|series| series.push(None));
            }
            if let Some(latest) =
                aligned.series.get_mut(index[row] as usize).and_then(|series| series.last_mut())
            {
                *latest = value(row).filter(|value| value.is_finite());
            }
        }
        aligned
    }

    /// Rows at which bins of at least `bin_s` begin and end.
    fn bins(&self, bin_s: f64) -> Vec<(usize, usize)> {
        let mut ends = vec![0];
        for (row, time) in self.time_s.iter().enumerate() {
            // Half a nanosecond of tolerance, for bins whose ends are not exact in binary.
            if time - self.time_s[*ends.last().unwrap_or(&0)] >= bin_s - 5e-10 {
                ends.push(row);
            }
        }
        ends.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// Growth of each series in bins of at least `bin_s`, as `value(series, growth, from_s, to_s)` computes it.
    ///
    /// The time of a point is the end of its bin.
    pub(crate) fn binned(&self, bin_s: f64, value: impl Fn(usize, f64, f64, f64) -> f64) -> Self {
        let bins = self.bins(bin_s);
        let point = |index: usize, series: &[Option<f64>], (from, to): (usize, usize)| {
            let growth = series[to]? - series[from]?;
            Some(value(index, growth, self.time_s[from], self.time_s[to]))
        };
        let series = self.series.iter().enumerate();
        Self {
            time_s: bins.iter().map(|(_, to)| self.time_s[*to]).collect(),
            series: series
                .map(|(index, series)| bins.iter().map(|bin| point(index, series, *bin)).collect())
                .collect(),
        }
    }

    /// Whether any series has a value other than zero.
    pub(crate) fn is_lively(&self) -> bool {
        self.series.iter().flatten().any(|value| value.is_some_and(|value| value != 0.0))
    }

    /// Thins to at most `max` instants (an even number); the minimum and the maximum of each stretch remain,
    /// in their order.
    pub(crate) fn thinned(&self, max: usize) -> Self {
        let rows = self.time_s.len();
        if rows <= max {
            return self.clone();
        }
        let buckets = (max / 2).max(1);
        let bounds = |bucket: usize| (bucket * rows / buckets, (bucket + 1) * rows / buckets);
        let stretches: Vec<(usize, usize)> = (0..buckets).map(bounds).collect();
        let times =
            // All series share the instants, while their extremes are at different rows: each stretch has one
            // instant for either half.
            stretches.iter().flat_map(|(from, to)| [self.time_s[*from], self.time_s[(from + to) / 2]]);
        let thin = |series: &Vec<Option<f64>>| {
            stretches.iter().flat_map(|(from, to)| extremes(&series[*from..*to])).collect()
        };
        Self { time_s: times.collect(), series: self.series.iter().map(thin).collect() }
    }
}

/// The minimum and the maximum of the values in order of time.
fn extremes(values: &[Option<f64>]) -> [Option<f64>; 2] {
    let known = || values.iter().enumerate().filter_map(|(row, value)| Some((row, (*value)?)));
    let min = known().min_by(|left, right| left.1.total_cmp(&right.1));
    let max = known().max_by(|left, right| left.1.total_cmp(&right.1));
    match (min, max) {
        (Some(min), Some(max)) if min.0 <= max.0 => [Some(min.1), Some(max.1)],
        (Some(min), Some(max)) => [Some(max.1), Some(min.1)],
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(rows: u32) -> Aligned {
        let time_s = (0..rows).map(|row| f64::from(row) * 0.01).collect();
        Aligned { time_s, series: vec![(0..rows).map(|row| Some(f64::from(row))).collect()] }
    }

    #[test]
    fn thinning_keeps_a_single_peak_and_a_single_dip() {
        let mut aligned = ramp(10_000);
        aligned.series[0] = vec![Some(5.0); 10_000];
        aligned.series[0][1_234] = Some(99.0);
        aligned.series[0][7_777] = Some(-3.0);
        let thin = aligned.thinned(2000);
        assert_eq!((thin.time_s.len(), thin.series[0].len()), (2000, 2000));
        assert!(thin.series[0].contains(&Some(99.0)) && thin.series[0].contains(&Some(-3.0)));
        assert!(thin.time_s.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn few_points_stay_as_they_are() {
        assert_eq!(ramp(2000).thinned(2000), ramp(2000));
    }

    #[test]
    fn a_steady_count_has_a_steady_rate() {
        let rates = ramp(1001).binned(0.1, |_, growth, from, to| growth / (to - from));
        assert_eq!(rates.time_s.len(), 100);
        assert!(rates.series[0].iter().all(|rate| (rate.expect("known") - 100.0).abs() < 1e-6));
    }

    #[test]
    fn rows_of_a_flow_that_starts_late_line_up() {
        let at = Time::from_nanos;
        let time = [at(0), at(1_000_000_000), at(1_000_000_000)];
        let aligned = Aligned::of_rows(&time, &[0, 0, 1], 2, |row| Some(row as f64));
        assert_eq!(aligned.time_s, [0.0, 1.0]);
        assert_eq!(aligned.series, [[Some(0.0), Some(1.0)], [None, Some(2.0)]]);
    }
}
