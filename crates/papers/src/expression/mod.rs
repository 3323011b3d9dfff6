//! Expressions over measures of runs, as text and as tree.
//!
//! ```text
//! sum      = product { ("+" | "-") product }
//! product  = factor { ("*" | "/") factor }
//! factor   = "-" factor | part [ cell ]
//! part     = number | "inf" | "(" sum ")" | function "(" list { "," list } ")" | measure [ "(" argument { "," argument } ")" ]
//! list     = sum { "for" binding }
//! binding  = variable "in" axis [ "[" setting { "," setting } "]" ]
//! argument = object | key "=" word
//! cell     = "[" experiment { "," setting } "]"
//! ```
//!
//! The part before the bracket of a cell is computed for each run of the cell ([`crate::quantity`]);
//! everything else is computed from the values of cells ([`crate::formula`]). Names of experiments, settings
//! and objects are words of letters, digits, `-`, `_`, `.`, `*` and `>`; they may be quoted.

mod parse;

use std::collections::BTreeSet;
use std::fmt;

pub use parse::{parse, parse_binding, unknown};

use tidegate_settings::error::Place;

use crate::function::Function;

/// Maximum number of operators and brackets of an expression; each takes stack in the parser.
const MAX_DEPTH: usize = 200;

/// The first variable that no expression within its scope uses: each of its settings would have the same values.
///
/// `sources` are expressions with the variables around them.
pub fn unused<'a>(sources: &[(Vec<&'a Binding>, &PlacedExpression)]) -> Option<&'a Binding> {
    let all = sources.iter().flat_map(|(around, _)| around.iter().copied());
    // One declaration can be around many expressions, such as the columns of a table.
    let used: BTreeSet<(usize, usize)> = sources
        .iter()
        .flat_map(|(around, source)| around.iter().filter(|one| source.expression.uses(&one.variable)))
        .map(|one| (one.at.start, one.at.end))
        .collect();
    all.into_iter().find(|one| !used.contains(&(one.at.start, one.at.end)))
}

/// Range of bytes in the text of an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Offset of the first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Range {
    /// The range in a file in which the text begins at byte `start`.
    pub fn behind(self, start: usize) -> Self {
        Self { start: start + self.start, end: start + self.end }
    }
}

impl From<Place> for Range {
    fn from(place: Place) -> Self {
        Self { start: place.start, end: place.end }
    }
}

/// An expression and its place in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedExpression {
    /// The expression; its parts count bytes from the beginning of its own text.
    pub expression: Expression,
    /// Bytes of the file that are its text, without the quotes.
    pub at: Range,
}

/// A mistake in an expression and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Range of the text with the mistake.
    pub at: Range,
    /// Description of the mistake and of the accepted values.
    pub message: String,
}

/// A name, as written or in quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Text of the name without quotes.
    pub text: String,
    /// Whether it is quoted, so that it is not a variable.
    pub is_quoted: bool,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_quoted { write!(f, "\"{}\"", self.text) } else { f.write_str(&self.text) }
    }
}

/// A measure with its arguments, a variable, or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Name of the measure, variable or parameter, such as `goodput_mbps`.
    pub name: String,
    /// Names of the measured objects, such as flows.
    pub objects: Vec<Word>,
    /// Named arguments, as `key = value`.
    pub named: Vec<(String, Word)>,
    /// Index of the definition in whose text it stands; `None` in any other expression.
    pub definition: Option<usize>,
    /// Place in the text of the expression.
    pub at: Range,
}

impl Call {
    /// Whether it is a name without arguments.
    pub(crate) fn is_bare(&self) -> bool {
        self.objects.is_empty() && self.named.is_empty()
    }

    /// The name, if it has no arguments, so that it may be a variable or a parameter.
    pub(crate) fn bare(&self) -> Option<Word> {
        self.is_bare().then(|| Word { text: self.name.clone(), is_quoted: false })
    }
}

/// The cell of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Name of the experiment.
    pub experiment: String,
    /// One setting per axis of the experiment, in the order of its axes.
    pub settings: Vec<Word>,
    /// Place in the text of the expression.
    pub at: Range,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.experiment)?;
        self.settings.iter().try_for_each(|setting| write!(f, ", {}", setting.text))
    }
}

/// A variable with the settings of an axis as its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name of the variable.
    pub variable: String,
    /// Name of the axis.
    pub axis: String,
    /// Settings of the variable; all of the axis if empty.
    pub settings: Vec<String>,
    /// Place in the text of the expression.
    pub at: Range,
}

/// Arithmetic over measures, as a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number in the text.
    Number(f64),
    /// A measure, a variable or a parameter.
    Call(Call),
    /// An expression that is computed for each run of a cell.
    Cell(Box<Self>, Cell),
    /// An expression with the opposite sign.
    Minus(Box<Self>),
    /// Two expressions with an operator between them.
    Pair(Operator, Box<[Self; 2]>),
    /// A function of other expressions.
    Apply(Function, Vec<Self>, Range),
    /// The values of an expression for all settings of some axes.
    For(Box<Self>, Vec<Binding>),
}

/// Operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The sum, written `+`.
    Plus,
    /// The difference, written `-`.
    Minus,
    /// The product, written `*`.
    Times,
    /// The quotient, written `/`.
    Over,
}

impl Operator {
    /// Applies the operator to two numbers.
    pub fn of(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Plus => left + right,
            Self::Minus => left - right,
            Self::Times => left * right,
            Self::Over => left / right,
        }
    }

    const fn sign(self) -> char {
        match self {
            Self::Plus => '+',
            Self::Minus => '-',
            Self::Times => '*',
            Self::Over => '/',
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.objects.is_empty() && self.named.is_empty() {
            return Ok(());
        }
        let named = self.named.iter().map(|(key, value)| format!("{key} = {value}"));
        let all: Vec<String> = self.objects.iter().map(Word::to_string).chain(named).collect();
        write!(f, "({})", all.join(", "))
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Call(call) => call.fmt(f),
            Self::Cell(of, cell) => write!(f, "{of}[{cell}]"),
            Self::Minus(inner) => write!(f, "-{inner}"),
            // Always in brackets: the text is also the key of stored values, and has to be unambiguous.
            Self::Pair(operator, sides) => write!(f, "({} {} {})", sides[0], operator.sign(), sides[1]),
            Self::Apply(function, arguments, _) => {
                let arguments: Vec<String> = arguments.iter().map(Self::to_string).collect();
                write!(f, "{}({})", function.name(), arguments.join(", "))
            }
            Self::For(body, bindings) => {
                body.fmt(f)?;
                bindings.iter().try_for_each(|one| write!(f, " for {} in {}", one.variable, one.axis))
            }
        }
    }
}

impl Expression {
    /// The expressions directly within this one.
    pub fn parts(&self) -> &[Self] {
        match self {
            Self::Number(_) | Self::Call(_) => &[],
            Self::Cell(inner, _) | Self::Minus(inner) | Self::For(inner, _) => std::slice::from_ref(inner),
            Self::Pair(_, sides) => sides.as_slice(),
            Self::Apply(_, arguments, _) => arguments,
        }
    }

    /// The number that is written, with its sign; `None` for any other expression.
    pub(crate) fn literal(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Minus(inner) => inner.literal().map(|number| -number),
            _ => None,
        }
    }

    /// Whether a variable occurs in it: as a number, a setting of a cell, an object or an argument.
    pub fn uses(&self, variable: &str) -> bool {
        let is_variable = |word: &Word| !word.is_quoted && word.text == variable;
        let is_used = match self {
            Self::Call(call) => {
                let mut words = call.objects.iter().chain(call.named.iter().map(|(_, word)| word));
                call.name == variable || words.any(is_variable)
            }
            Self::Cell(_, cell) => cell.settings.iter().any(is_variable),
            // Within a list over another variable of this name, the name stands for that one.
            Self::For(_, bindings) if bindings.iter().any(|one| one.variable == variable) => return false,
            _ => false,
        };
        is_used || self.parts().iter().any(|part| part.uses(variable))
    }

    /// All measures, variables and parameters in it, in the order of the text.
    pub fn calls(&self) -> Vec<&Call> {
        match self {
            Self::Call(call) => vec![call],
            other => other.parts().iter().flat_map(Self::calls).collect(),
        }
    }
}
