//! Values of measures: numbers, lists, and series of points.

use serde::{Deserialize, Serialize};

/// Value of a measure or an expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MeasureValue {
    /// One number per run.
    Number(f64),
    /// Numbers in an order that the measure defines.
    List(Vec<f64>),
    /// Points of x and y in ascending order of x, such as samples over time.
    Series(Vec<(f64, f64)>),
}

impl MeasureValue {
    /// The number; `None` for a list or a series.
    pub const fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::List(_) | Self::Series(_) => None,
        }
    }

    /// All numbers; of a series the y of its points.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Number(number) => vec![*number],
            Self::List(numbers) => numbers.clone(),
            Self::Series(points) => points.iter().map(|(_, y)| *y).collect(),
        }
    }

    /// `of` applied to every number.
    pub fn each(&self, of: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Number(number) => Self::Number(of(*number)),
            Self::List(numbers) => Self::List(numbers.iter().copied().map(of).collect()),
            Self::Series(points) => Self::Series(points.iter().map(|(x, y)| (*x, of(*y))).collect()),
        }
    }

    /// `of` applied to pairs: a number with every number of the other value, lists and series element by
    /// element.
    ///
    /// # Errors
    /// Lists of different lengths.
    pub fn pair(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Result<Self, String> {
        if let Self::Number(right) = other {
            return Ok(self.each(|left| of(left, *right)));
        }
        if let Self::Number(left) = self {
            return Ok(other.each(|right| of(*left, right)));
        }
        // Two series are combined by place: samples of one run have the same times.
        let (left, right) = (self.numbers(), other.numbers());
        if left.len() != right.len() {
            return Err(format!("lists of {} and of {} values are combined", left.len(), right.len()));
        }
        let values = left.iter().zip(&right).map(|(left, right)| of(*left, *right));
        Ok(match (self, other) {
            (Self::Series(points), _) | (_, Self::Series(points)) => {
                Self::Series(points.iter().map(|(x, _)| *x).zip(values).collect())
            }
            _ => Self::List(values.collect()),
        })
    }

    /// Kind of the value in words, with its article.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "a number",
            Self::List(_) => "a list",
            Self::Series(_) => "a series",
        }
    }
}
