//! What a claim is computed from: arithmetic over measures of cells.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = factor { ("*" | "/") factor }
//! factor  = "-" factor | number | "(" sum ")" | function "(" sum { "," sum } ")" | cell
//! cell    = measure "[" experiment { "," setting } "]"
//! ```
//!
//! Names of experiments and settings are words of letters, digits, `-`, `_` and `.`; they may be quoted.

mod parse;

use std::fmt;

pub use parse::parse;

/// Operators and brackets of an expression, at most; parsing takes stack for each.
const MAX_DEPTH: usize = 200;

/// A part of an expression's text, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The part of the text that is wrong.
    pub at: Range,
    /// What is wrong, and what is accepted.
    pub message: String,
}

/// One measure of one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Name of the measure, such as `goodput_mbps`.
    pub measure: String,
    /// Name of the experiment.
    pub experiment: String,
    /// One setting per axis of the experiment, in the order of its axes.
    pub settings: Vec<String>,
    /// Where it stands.
    pub at: Range,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}", self.measure, self.experiment)?;
        self.settings.iter().try_for_each(|setting| write!(f, ", {setting}"))?;
        f.write_str("]")
    }
}

/// Arithmetic over measures of cells.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// The same number in every seed.
    Number(f64),
    /// A measure, one value per seed.
    Cell(Cell),
    /// The other sign.
    Minus(Box<Self>),
    /// Two expressions, seed by seed.
    Pair(Operator, Box<[Self; 2]>),
    /// A function of other expressions, seed by seed.
    Call(Function, Vec<Self>),
}

/// What stands between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

impl Operator {
    fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Plus => left + right,
            Self::Minus => left - right,
            Self::Times => left * right,
            Self::Over => left / right,
        }
    }
}

/// A named function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `ratio(a, b)`: a over b.
    Ratio,
    /// `increase(a, b)`: by how much a is above b, % of b.
    Increase,
    /// `decrease(a, b)`: by how much a is below b, % of b.
    Decrease,
    /// `abs(a)`: without its sign.
    Abs,
    /// `min(a, ...)`: the smallest.
    Min,
    /// `max(a, ...)`: the largest.
    Max,
    /// `sum(a, ...)`
    Sum,
    /// `mean(a, ...)`: arithmetic.
    Mean,
}

impl Function {
    /// All of them with their names, how many arguments they take at least and at most, and what they give.
    pub const ALL: [(Self, &'static str, usize, usize, &'static str); 8] = [
        (Self::Ratio, "ratio", 2, 2, "the first over the second"),
        (Self::Increase, "increase", 2, 2, "by how much the first is above the second, % of the second"),
        (Self::Decrease, "decrease", 2, 2, "by how much the first is below the second, % of the second"),
        (Self::Abs, "abs", 1, 1, "the value without its sign"),
        (Self::Min, "min", 1, usize::MAX, "the smallest"),
        (Self::Max, "max", 1, usize::MAX, "the largest"),
        (Self::Sum, "sum", 1, usize::MAX, "the sum"),
        (Self::Mean, "mean", 1, usize::MAX, "the arithmetic mean"),
    ];

    /// The value of the function; the number of arguments has been checked.
    fn of(self, values: &[f64]) -> f64 {
        match (self, values) {
            (Self::Ratio, [one, other]) => one / other,
            (Self::Increase, [one, other]) => 100.0 * (one - other) / other,
            (Self::Decrease, [one, other]) => 100.0 * (other - one) / other,
            (Self::Abs, [one]) => one.abs(),
            (Self::Min, values) => values.iter().copied().reduce(f64::min).unwrap_or(f64::NAN),
            (Self::Max, values) => values.iter().copied().reduce(f64::max).unwrap_or(f64::NAN),
            (Self::Sum, values) => values.iter().sum(),
            (Self::Mean, values) => values.iter().sum::<f64>() / values.len() as f64,
            _ => f64::NAN,
        }
    }
}

impl Expression {
    /// All cells in it, in the order of the text.
    pub fn cells(&self) -> Vec<&Cell> {
        let mut cells = Vec::new();
        self.collect(&mut cells);
        cells
    }

    fn collect<'a>(&'a self, cells: &mut Vec<&'a Cell>) {
        match self {
            Self::Number(_) => {}
            Self::Cell(cell) => cells.push(cell),
            Self::Minus(inner) => inner.collect(cells),
            Self::Pair(_, sides) => sides.iter().for_each(|side| side.collect(cells)),
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.collect(cells)),
        }
    }

    /// One sample per seed; `values` gives those of a cell, in the order of the seeds.
    ///
    /// # Errors
    /// The first error of `values`, or two cells with different numbers of seeds, which cannot be paired.
    pub fn samples(
        &self,
        values: &mut dyn FnMut(&Cell) -> Result<Vec<f64>, Fault>,
    ) -> Result<Vec<f64>, Fault> {
        let mut found = Vec::new();
        for cell in self.cells() {
            let values = values(cell)?;
            if let Some((first, of_first)) = found.first() as Option<&(&Cell, Vec<f64>)>
                && of_first.len() != values.len()
            {
                let message = format!(
                    "{cell} has {} seeds and {first} has {}; values are paired by seed, so give both experiments as many",
                    values.len(),
                    of_first.len()
                );
                return Err(Fault { at: cell.at, message });
            }
            found.push((cell, values));
        }
        let seeds = found.first().map_or(0, |(_, values)| values.len());
        let at = |seed: usize| {
            // Cells are visited in the order in which they were collected.
            let mut places = 0..found.len();
            self.value(&mut || {
                places.next().and_then(|place| found[place].1.get(seed)).copied().unwrap_or(f64::NAN)
            })
        };
        Ok((0..seeds).map(at).collect())
    }

    /// The value in one seed; `next` gives that of each cell in turn.
    fn value(&self, next: &mut dyn FnMut() -> f64) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Cell(_) => next(),
            Self::Minus(inner) => -inner.value(next),
            Self::Pair(operator, sides) => {
                let left = sides[0].value(next);
                operator.of(left, sides[1].value(next))
            }
            Self::Call(function, arguments) => {
                let values: Vec<f64> = arguments.iter().map(|argument| argument.value(next)).collect();
                function.of(&values)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(text: &str) -> Result<Vec<f64>, Fault> {
        parse(text)?.samples(&mut |cell| match cell.settings.first().map(String::as_str) {
            Some("bbr-cd") => Ok(vec![30.0, 40.0]),
            Some("aimd") => Ok(vec![20.0, 10.0]),
            Some("three") => Ok(vec![1.0, 2.0, 3.0]),
            _ => Err(Fault { at: cell.at, message: format!("no {cell}") }),
        })
    }

    #[test]
    fn values_of_cells_are_paired_by_seed() {
        assert_eq!(samples("ratio(g[x, bbr-cd], g[x, aimd])"), Ok(vec![1.5, 4.0]));
        assert_eq!(samples("g[x, bbr-cd] - g[x, aimd] * 2"), Ok(vec![-10.0, 20.0]));
        assert_eq!(samples("decrease(g[x, aimd], g[x, bbr-cd])"), Ok(vec![100.0 / 3.0, 75.0]));
        assert_eq!(samples("increase(g[x, bbr-cd], g[x, aimd])"), Ok(vec![50.0, 300.0]));
        assert_eq!(samples("max(g[x, bbr-cd], g[x, aimd], 35)"), Ok(vec![35.0, 40.0]));
        assert_eq!(samples("-mean(g[x, bbr-cd], g[x, aimd]) + abs(-1)"), Ok(vec![-24.0, -24.0]));
        assert_eq!(samples("1 - (2 - g[x, aimd]) / 4"), Ok(vec![5.5, 3.0]));
    }

    #[test]
    fn cells_that_cannot_be_paired_are_an_error_at_the_second() {
        let text = "g[x, aimd] + g[x, three]";
        let fault = samples(text).expect_err("two and three seeds");
        assert_eq!(&text[fault.at.start..fault.at.end], "g[x, three]");
        assert!(
            fault.message.starts_with("g[x, three] has 3 seeds and g[x, aimd] has 2;"),
            "{}",
            fault.message
        );
        assert_eq!(samples("g[x, other]").expect_err("unknown").message, "no g[x, other]");
    }
}
