//! What can be wrong in a `claims.toml`, and how it is shown.

use std::fmt;
use std::ops::Range;

/// Everything wrong in one file, in the order of its lines; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimsFault {
    /// Name of the file as it was passed in.
    pub file: String,
    /// Problems in order of their lines.
    pub problems: Vec<Problem>,
}

/// One problem and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Line of the problem, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Number of characters to point at, at least 1.
    pub width: usize,
    /// Text of that line.
    pub source: String,
    /// Kind of the problem.
    pub fault: ClaimFault,
}

/// Kinds of problems in a claims file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClaimFault {
    /// Not TOML.
    #[error("{message}")]
    Syntax {
        /// What the reader of TOML says.
        message: String,
    },
    /// A key that means nothing here.
    #[error("unknown key {key:?} in {table}{}", suggestion(key, known))]
    UnknownKey {
        /// The key.
        key: String,
        /// Table it stands in, such as `[[claim]]`.
        table: &'static str,
        /// Keys that mean something here.
        known: &'static [&'static str],
    },
    /// A key that must be there is not.
    #[error("key {key:?} is missing in {table}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// Table it belongs in.
        table: &'static str,
    },
    /// A value of the wrong kind.
    #[error("{key} is {found}; expected {expected}")]
    WrongKind {
        /// Key of the value.
        key: String,
        /// What is accepted.
        expected: &'static str,
        /// What was found.
        found: &'static str,
    },
    /// A word that is not among the accepted ones.
    #[error("{key} {word:?} is not known{}", suggestion(word, known))]
    UnknownWord {
        /// Key of the value.
        key: &'static str,
        /// The word.
        word: String,
        /// Accepted words.
        known: Vec<&'static str>,
    },
    /// A band whose ends are swapped or not numbers.
    #[error("{key} goes from {low} to {high}; expected two numbers, the lower one first")]
    BadBand {
        /// Key of the band.
        key: &'static str,
        /// Lower end as read.
        low: f64,
        /// Upper end as read.
        high: f64,
    },
    /// A number that must be finite is not.
    #[error("{key} is not finite; expected a finite number")]
    NotFinite {
        /// Key of the number.
        key: &'static str,
    },
    /// A key that makes sense only together with another.
    #[error("{key} stands without {needs:?}; expected both or none")]
    Alone {
        /// The key that is there.
        key: &'static str,
        /// The key that is not.
        needs: &'static str,
    },
    /// Two claims with one id.
    #[error("id {id:?} is used in line {first_line} already; expected a new one")]
    DuplicateId {
        /// The id.
        id: String,
        /// Line of its first use.
        first_line: usize,
    },
    /// Whatever its reader finds wrong, in words.
    #[error("{message}")]
    Other {
        /// The words.
        message: String,
    },
    /// A text that must say something is empty.
    #[error("{key} is empty; expected text")]
    Empty {
        /// Key of the text.
        key: &'static str,
    },
}

/// `; did you mean "x"?` when a known word is near, else the list of known words.
fn suggestion(word: &str, known: &[&str]) -> String {
    let near = known.iter().map(|candidate| (strsim::levenshtein(word, candidate), candidate)).min();
    match near {
        Some((distance, candidate)) if distance <= 1 + candidate.len() / 4 => {
            format!("; did you mean {candidate:?}?")
        }
        _ => format!("; known: {}", known.join(", ")),
    }
}

impl fmt::Display for ClaimsFault {
    /// Each problem as `file:line:column: what`, then the line and an arrow under the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, problem) in self.problems.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            let Problem { line, column, width, source, fault } = problem;
            let gutter = line.to_string();
            let arrow = format!("{}{}", " ".repeat(column - 1), "^".repeat(*width));
            writeln!(f, "{}:{line}:{column}: {fault}", self.file)?;
            writeln!(f, "{gutter} | {source}")?;
            write!(f, "{} | {arrow}", " ".repeat(gutter.len()))?;
        }
        Ok(())
    }
}

impl std::error::Error for ClaimsFault {}

impl Problem {
    /// The problem `fault` at the bytes `span` of `text`.
    pub(super) fn at(text: &str, span: Range<usize>, fault: ClaimFault) -> Self {
        let start = floor_boundary(text, span.start);
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let source = text[line_start..].lines().next().unwrap_or("").replace('\t', " ");
        let column = text[line_start..start].chars().count() + 1;
        let end = floor_boundary(text, span.end.max(start));
        let pointed = text[start..end].lines().next().unwrap_or("").chars().count();
        Self { line, column, width: pointed.max(1), source, fault }
    }
}

/// The last character boundary not after `index`.
fn floor_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}
