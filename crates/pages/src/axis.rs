//! Linear axes with readable ticks.

/// A linear map from values to pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Value at the start.
    pub(crate) low: f64,
    /// Value at the end, above `low`.
    pub(crate) high: f64,
    /// Position of `low` in the picture, pixels.
    pub(crate) start: f64,
    /// Position of `high` in the picture, pixels.
    pub(crate) end: f64,
}

impl Scale {
    /// Position of `value` in the picture, pixels.
    pub(crate) fn at(&self, value: f64) -> f64 {
        self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// The scale moved by `by` pixels.
    pub(crate) fn moved(self, by: f64) -> Self {
        Self { start: self.start + by, end: self.end + by, ..self }
    }

    /// Pixel of `value`, clamped to the ends.
    pub(crate) fn clamped(&self, value: f64) -> f64 {
        self.at(value.clamp(self.low, self.high))
    }
}

/// Range of values that an axis should show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    /// Minimum of the range.
    pub(crate) low: f64,
    /// Maximum of the range.
    pub(crate) high: f64,
}

impl Extent {
    /// Range of the finite `values`; 0..1 without any.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let start = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
        let extent = finite
            .fold(start, |extent, value| Self { low: extent.low.min(value), high: extent.high.max(value) });
        if extent.low > extent.high { Self { low: 0.0, high: 1.0 } } else { extent }
    }

    /// The range extended to zero if zero is nearer than twice the width of the range, so that lengths can be
    /// compared.
    pub(crate) fn near_zero(self) -> Self {
        let span = self.high - self.low;
        if self.low > 0.0 && self.low <= 2.0 * span {
            Self { low: 0.0, ..self }
        } else if self.high < 0.0 && -self.high <= 2.0 * span {
            Self { high: 0.0, ..self }
        } else {
            self
        }
    }

    /// The range extended to contain zero; 0 to 1 if there is no other value.
    pub(crate) fn with_zero(self) -> Self {
        let (low, high) = (self.low.min(0.0), self.high.max(0.0));
        Self { low, high: if low == high { 1.0 } else { high } }
    }

    /// The range extended at both ends to whole ticks, with about `count` ticks.
    pub(crate) fn ticked(self, count: usize) -> (Self, Vec<f64>) {
        let extent = self.widened();
        let step = nice_step((extent.high - extent.low) / count.max(1) as f64);
        // A range that ends a rounding error past a tick needs no further one.
        let first = (extent.low / step + 1e-9).floor();
        let last = (extent.high / step - 1e-9).ceil();
        let ticks: Vec<f64> =
            (0..=((last - first) as usize).min(50)).map(|i| (first + i as f64) * step).collect();
        (Self { low: first * step, high: last * step }, ticks)
    }

    /// A range of decimal logarithms extended at both ends to whole ones, with about `count` ticks or fewer.
    pub(crate) fn decades(self, count: usize) -> (Self, Vec<f64>) {
        let (first, last) = ((self.low + 1e-9).floor(), (self.high - 1e-9).ceil());
        // Values within rounding of one power still get one decade, since a scale needs a width.
        let last = last.max(first + 1.0);
        let step = ((last - first) / count.max(1) as f64).ceil().max(1.0);
        let ticks = (0..=((last - first) / step) as usize).map(|place| first + place as f64 * step);
        (Self { low: first, high: last }, ticks.collect())
    }

    /// The range with a non-zero width: a single value is extended on both sides.
    fn widened(self) -> Self {
        // Relative to the values: a range of less than that is due to rounding.
        let room = 1e-9 * self.low.abs().max(self.high.abs());
        if self.high - self.low > room {
            return self;
        }
        let room = if self.low == 0.0 { 1.0 } else { 0.1 * self.low.abs() };
        Self { low: self.low - room, high: self.high + room }
    }
}

/// The minimum of 1, 2 and 5 times a power of ten that is at least `raw`.
fn nice_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= raw * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Tick labels with equal decimals, as few as distinguish the ticks.
pub(crate) fn labels(ticks: &[f64]) -> Vec<String> {
    let step = match ticks {
        [first, second, ..] => (second - first).abs(),
        _ => 1.0,
    };
    let max = ticks.iter().fold(0.0f64, |max, tick| max.max(tick.abs()));
    if max >= 1e7 || (max > 0.0 && max < 1e-3) {
        return ticks
            .iter()
            .map(|tick| if *tick == 0.0 { "0".to_owned() } else { exponential(*tick) })
            .collect();
    }
    // The step is a difference, and may be a little less than a power of ten: without the factor, 0.1 could
    // get a second decimal.
    let decimals = usize::try_from(-((step * 1.000_001).log10().floor() as i64)).unwrap_or(0);
    let label = |tick: &f64| {
        let text = format!("{tick:.decimals$}");
        // Sums of steps may miss zero by a rounding error, which would be shown as `-0.0`.
        if text.trim_start_matches('-').chars().all(|digit| matches!(digit, '0' | '.')) {
            return "0".to_owned();
        }
        text
    };
    ticks.iter().map(label).collect()
}

/// Labels of ticks that are decimal logarithms: the powers themselves.
pub(crate) fn powers(ticks: &[f64]) -> Vec<String> {
    let label = |tick: &f64| match *tick {
        tick if (-4.0..=6.0).contains(&tick) => {
            format!("{:.*}", (-tick).max(0.0) as usize, 10f64.powf(tick))
        }
        tick => format!("1e{tick}"),
    };
    ticks.iter().map(label).collect()
}

/// The number with few digits: ticks are sums, which may be off in their last bit.
fn exponential(tick: f64) -> String {
    format!("{:e}", format!("{tick:.9e}").parse().unwrap_or(tick))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_alone_stands_at_the_bottom_and_nothing_else_moves_it() {
        let with_zero = |values: &[f64]| Extent::of(values.iter().copied()).with_zero();
        assert_eq!(with_zero(&[0.0, 0.0]), Extent { low: 0.0, high: 1.0 });
        assert_eq!(with_zero(&[0.0, 3.0]), Extent { low: 0.0, high: 3.0 });
        assert_eq!(with_zero(&[-3.0, -1.0]), Extent { low: -3.0, high: 0.0 });
    }

    fn ticks(low: f64, high: f64) -> Vec<String> {
        labels(&Extent { low, high }.ticked(5).1)
    }

    #[test]
    fn ticks_are_round_numbers_around_the_data() {
        assert_eq!(ticks(0.0, 9.7), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(ticks(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(ticks(-3.0, 21.8), ["-5", "0", "5", "10", "15", "20", "25"]);
        assert_eq!(ticks(0.125, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn decades_are_labelled_by_their_powers() {
        let shown = |low, high, count| powers(&Extent { low, high }.decades(count).1);
        assert_eq!(shown(-4.0, 1.2, 9), ["0.0001", "0.001", "0.01", "0.1", "1", "10", "100"]);
        assert_eq!(shown(0.3, 0.3, 9), ["1", "10"]);
        assert_eq!(shown(-6.0, 9.0, 5), ["1e-6", "0.001", "1", "1000", "1000000", "1e9"]);
    }

    #[test]
    fn a_single_value_has_an_axis() {
        assert!(ticks(5.0, 5.0).len() >= 3 && ticks(0.0, 0.0).len() >= 3);
    }

    #[test]
    fn no_values_still_make_an_axis() {
        assert_eq!(Extent::of([f64::NAN, f64::INFINITY]), Extent { low: 0.0, high: 1.0 });
    }

    #[test]
    fn zero_is_shown_when_it_is_near() {
        assert_eq!(Extent { low: 10.0, high: 40.0 }.near_zero().low, 0.0);
        assert_eq!(Extent { low: 990.0, high: 1000.0 }.near_zero().low, 990.0);
    }
}
