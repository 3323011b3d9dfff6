//! The functions of expressions.

use tidegate_core::math;

use crate::expression::Expression;
use crate::value::MeasureValue;

/// Any number of values from one on.
const ANY: usize = usize::MAX;

/// The functions: variant, name, fewest and most arguments, description.
macro_rules! functions {
    ($($function:ident $name:literal $min:tt $max:tt, $text:literal;)*) => {
        /// A function that expressions can call by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Function {
            $(#[doc = $text] $function,)*
        }

        /// All functions: name, fewest and most arguments, description.
        pub const TABLE: &[(Function, &str, usize, usize, &str)] =
            &[$((Function::$function, $name, $min, $max, $text)),*];
    };
}

functions! {
    Above "above" 2 2, "1 where the first is above the second, else 0";
    Abs "abs" 1 1, "each value without its sign";
    At "at" 2 2, "at(series, x): y of the last point that is not beyond x; 0 before the first";
    Below "below" 2 2, "1 where the first is below the second, else 0";
    Best "best" 1 ANY, "the samples of the element with the maximum mean over seeds";
    Between "between" 3 3, "between(series, from, to): the points with from < x <= to";
    Bins "bins" 2 2, "bins(series, width): means of y over bins of x, at most 1000000; bin k has k·width < x <= (k+1)·width";
    Count "count" 1 ANY, "number of values";
    Decrease "decrease" 2 2, "decrease from the second to the first, % of the second";
    Deviation "deviation" 1 ANY, "standard deviation of a sample (divisor n - 1)";
    Every "every" 2 2, "every(series, step): the points whose x is a multiple of step";
    Exp "exp" 1 1, "e to the power of each value";
    First "first" 1 1, "the first value";
    Increase "increase" 2 2, "increase from the second to the first, % of the second";
    Jain "jain" 1 ANY, "Jain's fairness index";
    Last "last" 1 1, "the last value";
    Ln "ln" 1 1, "the natural logarithm of each value";
    Max "max" 1 ANY, "the maximum";
    Mean "mean" 1 ANY, "the arithmetic mean";
    Min "min" 1 ANY, "the minimum";
    Moving "moving" 2 2, "moving(list, n): means of n consecutive values, n from 1 to 1000000";
    Optional "optional" 1 1, "the value; outermost in a cell or a figure it may be undefined or infinite";
    Pool "pool" 1 ANY, "the samples of all elements, as those of more seeds";
    Quantile "quantile" 2 2, "quantile(list, part): the quantile for a part from 0 to 1, interpolated linearly";
    Ratio "ratio" 2 2, "the first divided by the second";
    SeedsCount "seeds_count" 1 1, "the number of seeds";
    SeedsMax "seeds_max" 1 1, "the maximum over the seeds";
    SeedsMean "seeds_mean" 1 1, "the mean over the seeds";
    SeedsMedian "seeds_median" 1 1, "the median over the seeds";
    SeedsMin "seeds_min" 1 1, "the minimum over the seeds";
    SeedsSum "seeds_sum" 1 1, "the sum over the seeds";
    Select "select" 2 2, "select(list, flags): the values whose flag is not 0";
    Sqrt "sqrt" 1 1, "the square root of each value";
    Steps "steps" 1 ANY, "differences of neighbours: each value minus the previous one";
    Sum "sum" 1 ANY, "the sum";
    Times "times" 1 1, "the x of a series, as a list";
    Within "within" 3 3, "within(a, low, high): 1 where low <= a <= high, else 0";
    Worst "worst" 1 ANY, "the samples of the element with the minimum mean over seeds";
}

/// Maximum number of bins of a series, and of neighbours in a moving mean.
const MAX_COUNT: f64 = 1e6;
/// Maximum distance of x from a multiple of the step, as a fraction of the step.
const STEP_TOLERANCE: f64 = 1e-6;

impl Function {
    /// The function called `name`.
    pub fn find(name: &str) -> Option<Self> {
        TABLE.iter().find(|known| known.1 == name).map(|known| known.0)
    }

    /// Returns the name of the function in expressions.
    pub fn name(self) -> &'static str {
        TABLE.iter().find(|known| known.0 == self).map_or("", |known| known.1)
    }

    /// Error message if it does not accept this number of values.
    pub fn wrong_count(self, count: usize) -> Option<String> {
        let (_, name, min, max, _) = TABLE.iter().find(|known| known.0 == self)?;
        let range = if max == min { min.to_string() } else { format!("at least {min}") };
        let message =
            || format!("{name} takes {range} value{}; it is given {count}", if *min == 1 { "" } else { "s" });
        (!(*min..=*max).contains(&count)).then(message)
    }

    /// Error message if it does not accept the numbers that are written as its arguments.
    pub(crate) fn wrong_literals(self, arguments: &[Expression]) -> Option<String> {
        self.wrong_numbers(&arguments.iter().map(Expression::literal).collect::<Vec<_>>())
    }

    /// Error message for numbers that are not accepted, known before any run; `None` for any other argument.
    pub(crate) fn wrong_numbers(self, arguments: &[Option<f64>]) -> Option<String> {
        self.wrong_range(arguments).or_else(|| self.wrong_number(arguments))
    }

    /// Error message for a range that is empty. Computed ends may cross, as in a run that ends early: nothing is in the
    /// range then.
    fn wrong_range(self, arguments: &[Option<f64>]) -> Option<String> {
        match (self, arguments) {
            (Self::Between, [_, Some(from), Some(to)]) if from >= to => {
                Some(format!("between takes from < x <= to, and nothing is above {from} and up to {to}"))
            }
            (Self::Within, [_, Some(low), Some(high)]) if low > high => {
                Some(format!("within takes low <= a <= high, and low is {low}, high {high}"))
            }
            _ => None,
        }
    }

    /// Error message for a number that it does not accept; `None` among the arguments is not a number, or not known yet.
    fn wrong_number(self, arguments: &[Option<f64>]) -> Option<String> {
        let [_, Some(number)] = *arguments else { return None };
        let (is_accepted, rule) = match self {
            Self::Quantile => ((0.0..=1.0).contains(&number), "a part from 0 to 1"),
            Self::Moving => (
                (1.0..=MAX_COUNT).contains(&number) && number.fract() == 0.0,
                "a whole number of neighbours from 1 to 1000000",
            ),
            Self::Bins => (number > 0.0 && number.is_finite(), "a width above 0"),
            Self::Every => (number > 0.0 && number.is_finite(), "a step above 0"),
            _ => return None,
        };
        (!is_accepted).then(|| format!("{} takes {rule}; it is given {number}", self.name()))
    }

    /// Whether it combines the samples of all seeds, so that it has no meaning within one run.
    pub const fn is_over_seeds(self) -> bool {
        matches!(
            self,
            Self::Best
                | Self::Worst
                | Self::Pool
                | Self::SeedsCount
                | Self::SeedsMax
                | Self::SeedsMean
                | Self::SeedsMedian
                | Self::SeedsMin
                | Self::SeedsSum
        )
    }

    /// The value of the function in one seed; the number of arguments has been checked.
    ///
    /// # Errors
    /// If there is a list instead of a number, a number instead of a series, a number outside of its range, or lists of
    /// different lengths.
    pub fn of(self, values: &[MeasureValue]) -> Result<MeasureValue, String> {
        let numbers: Vec<Option<f64>> = values.iter().map(MeasureValue::number).collect();
        if let Some(message) = self.wrong_number(&numbers) {
            return Err(message);
        }
        match (self, values) {
            (Self::Abs, [value]) => Ok(value.each(f64::abs)),
            (Self::Sqrt, [value]) => Ok(value.each(f64::sqrt)),
            // The logarithm of the platform differs in its last bit from system to system, and verdicts would, too.
            (Self::Ln, [value]) => Ok(value.each(math::ln)),
            (Self::Exp, [value]) => Ok(value.each(math::exp)),
            (Self::Above, [one, other]) => one.pair(other, |one, other| f64::from(one > other)),
            (Self::Below, [one, other]) => one.pair(other, |one, other| f64::from(one < other)),
            (Self::Ratio, [one, other]) => one.pair(other, |one, other| one / other),
            (Self::Increase, [one, other]) => one.pair(other, |one, other| 100.0 * (one - other) / other),
            (Self::Decrease, [one, other]) => one.pair(other, |one, other| 100.0 * (other - one) / other),
            (Self::Within, [value, low, high]) => {
                let (low, high) = (self.number(low)?, self.number(high)?);
                Ok(value.each(|value| f64::from(low <= value && value <= high)))
            }
            (Self::Optional, [value]) => Ok(value.clone()),
            (Self::Select, [value, flags]) => self.select(value, flags),
            (Self::Between | Self::At | Self::Every | Self::Bins | Self::Times, [series, rest @ ..]) => {
                self.of_series(series, rest)
            }
            (Self::Moving, [list, count]) => self.moving(list, count),
            (Self::Quantile, [list, part]) => {
                Ok(MeasureValue::Number(quantile(list.numbers(), self.number(part)?)))
            }
            (Self::Steps, lists) => {
                Ok(MeasureValue::List(joined(lists).windows(2).map(|pair| pair[1] - pair[0]).collect()))
            }
            (_, lists) => Ok(MeasureValue::Number(self.of_list(&joined(lists)))),
        }
    }

    /// The functions that make one number of a list.
    fn of_list(self, list: &[f64]) -> f64 {
        let count = list.len() as f64;
        let sum = || list.iter().sum::<f64>();
        match self {
            // An empty list has no extremum. NaN reaches the verdict, where it can only differ; 0 could agree.
            Self::Min => list.iter().copied().reduce(f64::min).unwrap_or(f64::NAN),
            Self::Max => list.iter().copied().reduce(f64::max).unwrap_or(f64::NAN),
            Self::Sum => sum(),
            Self::Mean => sum() / count,
            Self::Count => count,
            Self::First => list.first().copied().unwrap_or(f64::NAN),
            Self::Last => list.last().copied().unwrap_or(f64::NAN),
            Self::Jain => {
                let squares: f64 = list.iter().map(|value| value * value).sum();
                sum() * sum() / (count * squares)
            }
            Self::Deviation => {
                // The mean is subtracted first: the difference of two large sums of squares loses its digits.
                let mean = sum() / count;
                let squares: f64 = list.iter().map(|value| (value - mean) * (value - mean)).sum();
                if list.len() < 2 { f64::NAN } else { (squares / (count - 1.0)).sqrt() }
            }
            _ => f64::NAN,
        }
    }

    fn number(self, value: &MeasureValue) -> Result<f64, String> {
        let message = || format!("{} takes a number here, and not {}", self.name(), value.kind());
        value.number().ok_or_else(message)
    }

    fn select(self, value: &MeasureValue, flags: &MeasureValue) -> Result<MeasureValue, String> {
        let (values, flags) = (value.numbers(), flags.numbers());
        if values.len() != flags.len() {
            return Err(format!("select has {} values and {} flags", values.len(), flags.len()));
        }
        let chosen = values.iter().zip(&flags).filter(|(_, flag)| **flag != 0.0);
        Ok(MeasureValue::List(chosen.map(|(value, _)| *value).collect()))
    }

    fn of_series(self, series: &MeasureValue, rest: &[MeasureValue]) -> Result<MeasureValue, String> {
        let MeasureValue::Series(points) = series else {
            return Err(format!("{} takes a series, and not {}", self.name(), series.kind()));
        };
        let numbers = rest.iter().map(|value| self.number(value)).collect::<Result<Vec<f64>, _>>()?;
        Ok(match (self, numbers.as_slice()) {
            // Open on the left: a sample stands for the time that ends with it, so adjacent ranges share none.
            (Self::Between, [from, to]) => {
                let inside = points.iter().filter(|(x, _)| from < x && x <= to);
                MeasureValue::Series(inside.copied().collect())
            }
            // Series are counters that begin at 0, so there is a value before the first sample.
            (Self::At, [x]) => MeasureValue::Number(
                points.iter().take_while(|point| point.0 <= *x).last().map_or(0.0, |point| point.1),
            ),
            // Times are nanoseconds as seconds, so that a multiple of the step is one only up to rounding.
            (Self::Every, [step]) => {
                let is_multiple = |x: f64| (x / step - (x / step).round()).abs() <= STEP_TOLERANCE;
                MeasureValue::Series(points.iter().filter(|(x, _)| is_multiple(*x)).copied().collect())
            }
            (Self::Times, []) => MeasureValue::List(points.iter().map(|(x, _)| *x).collect()),
            (_, [width]) => MeasureValue::Series(bins(points, *width)?),
            _ => MeasureValue::Number(f64::NAN),
        })
    }

    fn moving(self, list: &MeasureValue, count: &MeasureValue) -> Result<MeasureValue, String> {
        let (count, numbers) = (self.number(count)?, list.numbers());
        // `windows` panics on 0, which is no number of neighbours.
        let windows = numbers.windows(count.max(1.0) as usize);
        Ok(MeasureValue::List(
            windows.map(|window| window.iter().sum::<f64>() / window.len() as f64).collect(),
        ))
    }
}

/// All numbers of all values.
fn joined(values: &[MeasureValue]) -> Vec<f64> {
    values.iter().flat_map(MeasureValue::numbers).collect()
}

/// The quantile for `part`, interpolated between neighbours; NaN of an empty list.
fn quantile(mut numbers: Vec<f64>, part: f64) -> f64 {
    // A total order has a place for NaN, which the result then is or is not, instead of a panic.
    numbers.sort_by(f64::total_cmp);
    let Some(last) = numbers.len().checked_sub(1) else { return f64::NAN };
    let place = part * last as f64;
    let (below, above) = (numbers[place.floor() as usize], numbers[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// Means of y over bins of x; a bin without points has none.
fn bins(points: &[(f64, f64)], width: f64) -> Result<Vec<(f64, f64)>, String> {
    // A bin far below the distance of points would contain one of them each, and show noise.
    let count = points.last().map_or(0.0, |(x, _)| (x / width).ceil());
    if count > MAX_COUNT {
        return Err(format!("bins of width {width} are {count} up to the last x; at most 1000000 are made"));
    }
    // Bins are open on the left, as in `between`.
    let bin_of = |x: f64| (x / width).ceil() - 1.0;
    let mut bins: Vec<(f64, f64)> = Vec::new();
    // x ascends, so that the points of a bin are neighbours.
    for run in points.chunk_by(|one, other| bin_of(one.0) == bin_of(other.0)) {
        let mean = run.iter().map(|(_, y)| y).sum::<f64>() / run.len() as f64;
        bins.push(((bin_of(run[0].0) + 0.5) * width, mean));
    }
    Ok(bins)
}

/// The median of samples.
pub(crate) fn median(samples: Vec<f64>) -> f64 {
    quantile(samples, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(numbers: &[f64]) -> MeasureValue {
        MeasureValue::List(numbers.to_vec())
    }

    fn series(ys: &[f64]) -> MeasureValue {
        MeasureValue::Series((1..).map(|place| f64::from(place) * 0.5).zip(ys.iter().copied()).collect())
    }

    fn of(function: Function, values: &[MeasureValue]) -> MeasureValue {
        function.of(values).expect("it has a value")
    }

    #[test]
    fn lists_are_joined_and_make_one_number() {
        let lists = [list(&[1.0, 5.0]), MeasureValue::Number(3.0)];
        let value = |function| of(function, &lists).number().expect("a number");
        assert_eq!(
            [Function::Min, Function::Max, Function::Sum, Function::Mean, Function::Count].map(value),
            [1.0, 5.0, 9.0, 3.0, 3.0]
        );
        assert_eq!((value(Function::Deviation), value(Function::Jain)), (2.0, 81.0 / 105.0));
        assert_eq!(of(Function::Steps, &lists), list(&[4.0, -2.0]));
    }

    #[test]
    fn a_quantile_lies_between_neighbours_in_proportion() {
        let at =
            |part| of(Function::Quantile, &[list(&[3.0, 1.0, 2.0]), MeasureValue::Number(part)]).number();
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(at), [Some(1.0), Some(1.5), Some(2.0), Some(3.0)]);
    }

    #[test]
    fn series_are_cut_thinned_binned_and_read_at_a_place() {
        let points = series(&[1.0, 2.0, 3.0, 5.0]);
        let with = |function, rest: &[f64]| {
            let values: Vec<MeasureValue> = rest.iter().map(|number| MeasureValue::Number(*number)).collect();
            of(function, &[std::slice::from_ref(&points), &values[..]].concat())
        };
        assert_eq!(with(Function::Between, &[0.5, 1.5]), MeasureValue::Series(vec![(1.0, 2.0), (1.5, 3.0)]));
        assert_eq!(with(Function::Every, &[1.0]), MeasureValue::Series(vec![(1.0, 2.0), (2.0, 5.0)]));
        assert_eq!(with(Function::Bins, &[1.0]), MeasureValue::Series(vec![(0.5, 1.5), (1.5, 4.0)]));
        assert_eq!(
            [0.4, 0.5, 1.9, 9.0].map(|x| with(Function::At, &[x]).number().unwrap_or(-1.0)),
            [0.0, 1.0, 3.0, 5.0]
        );
        assert_eq!(with(Function::Moving, &[3.0]), list(&[2.0, 10.0 / 3.0]));
    }

    #[test]
    fn comparisons_are_one_or_zero_and_no_number_is_neither_above_nor_below() {
        let values = list(&[1.0, 2.0, f64::NAN]);
        assert_eq!(of(Function::Above, &[values.clone(), MeasureValue::Number(1.0)]), list(&[0.0, 1.0, 0.0]));
        assert_eq!(of(Function::Below, &[values.clone(), MeasureValue::Number(2.0)]), list(&[1.0, 0.0, 0.0]));
        let range = [values.clone(), MeasureValue::Number(2.0), MeasureValue::Number(2.0)];
        let flags = of(Function::Within, &range);
        assert_eq!(flags, list(&[0.0, 1.0, 0.0]));
        assert_eq!(of(Function::Select, &[values, flags]), list(&[2.0]));
    }

    #[test]
    fn wrong_kinds_and_lengths_are_refused() {
        let wrong = |function: Function, values: &[MeasureValue]| function.of(values).expect_err("wrong");
        assert_eq!(
            wrong(Function::Every, &[list(&[1.0]), MeasureValue::Number(1.0)]),
            "every takes a series, and not a list"
        );
        assert_eq!(
            wrong(Function::Ratio, &[list(&[1.0]), list(&[1.0, 2.0])]),
            "lists of 1 and of 2 values are combined"
        );
        assert_eq!(
            wrong(Function::Quantile, &[list(&[1.0]), list(&[1.0])]),
            "quantile takes a number here, and not a list"
        );
        assert_eq!(
            wrong(Function::Bins, &[series(&[1.0, 2.0]), MeasureValue::Number(1e-7)]),
            "bins of width 0.0000001 are 10000000 up to the last x; at most 1000000 are made"
        );
        assert_eq!(
            wrong(Function::Moving, &[list(&[1.0]), MeasureValue::Number(f64::NAN)]),
            "moving takes a whole number of neighbours from 1 to 1000000; it is given NaN"
        );
        assert!(
            Function::Ratio.wrong_count(1).is_some_and(|text| text == "ratio takes 2 values; it is given 1")
        );
    }

    #[test]
    fn every_function_is_in_the_table_once_in_order() {
        assert!(TABLE.windows(2).all(|pair| pair[0].1 < pair[1].1));
        assert!(TABLE.iter().all(|known| Function::find(known.1) == Some(known.0)));
    }
}
