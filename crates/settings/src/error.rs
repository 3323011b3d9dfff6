//! Errors of a text: the place, the problem and the accepted values.

use std::fmt;

use crate::suggest::question;

/// Maximum number of problems that are shown; further ones are only counted.
const MAX_SHOWN: usize = 50;
/// Maximum number of characters of a source line that are shown.
const WIDTH: usize = 120;
/// Number of characters shown before the place in a longer line.
const LEAD: usize = 40;

/// One problem of a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}:{line}:{column}: {message}{}\n  {excerpt}\n  {}{}",
    question(suggestions), " ".repeat(*pointer), "^".repeat(*width)
)]
pub struct Error {
    /// Name of the source as the caller gave it; `--set` for an override.
    pub file: String,
    /// Line, from 1; for an override its number.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the problem and of the accepted values.
    pub message: String,
    /// Known words that are similar to the unknown one.
    pub suggestions: Vec<String>,
    /// The source line, shortened around the place if it is long, control characters blanked.
    pub excerpt: String,
    /// Position of the pointer in [`excerpt`](Self::excerpt), characters from 0.
    pub pointer: usize,
    /// Length of the pointer, characters, at least 1.
    pub width: usize,
}

/// All problems of a text, in the order of its text; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    list: Vec<Error>,
    omitted: usize,
}

impl Errors {
    /// The problems, the overrides' last.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.list.iter()
    }

    /// Number of problems that are not listed.
    pub fn omitted(&self) -> usize {
        self.omitted
    }
}

impl<'a> IntoIterator for &'a Errors {
    type Item = &'a Error;
    type IntoIter = std::slice::Iter<'a, Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        if self.omitted > 0 {
            write!(f, "\nand {} more", self.omitted)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// Bytes of the file or of one override.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// 0 for the file, otherwise the number of the override.
    pub origin: usize,
    /// Offset of the first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Problems in the order in which they are found, with places but without lines.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<(Place, String, Vec<String>)>,
    omitted: usize,
}

impl Problems {
    /// Adds a problem unless there are too many, or the same one is recorded at this place.
    pub fn add(&mut self, place: Place, message: String, suggestions: impl IntoIterator<Item = String>) {
        if self.list.iter().any(|(at, same, _)| *at == place && *same == message) {
            return;
        }
        if self.list.len() < MAX_SHOWN {
            self.list.push((place, message, suggestions.into_iter().collect()));
        } else {
            self.omitted += 1;
        }
    }

    /// Number of problems found so far.
    pub fn count(&self) -> usize {
        self.list.len() + self.omitted
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether further problems would only be counted.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_SHOWN
    }

    /// Adds the line to every problem.
    pub fn locate(mut self, sources: &Sources<'_>) -> Errors {
        // They are found table by table; a reader goes through the file from its start.
        self.list.sort_by_key(|(place, ..)| *place);
        let lines = sources.line_starts();
        let locate = |(place, message, suggestions)| sources.error(&lines, place, message, suggestions);
        Errors { list: self.list.into_iter().map(locate).collect(), omitted: self.omitted }
    }
}

/// The texts to which places refer.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// Name of the file in messages.
    pub name: &'a str,
    /// Text of the document.
    pub text: &'a str,
    /// Overrides in the form `key=value`.
    pub overrides: &'a [String],
}

impl Sources<'_> {
    /// Offset of the start of each line of the file.
    fn line_starts(&self) -> Vec<usize> {
        let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        std::iter::once(0).chain(breaks.map(|(index, _)| index + 1)).collect()
    }

    /// `message` with the file and line of its place before it.
    pub(crate) fn locate(&self, place: Place, message: &str) -> String {
        match place.origin.checked_sub(1) {
            None => {
                let line = self.line_starts().partition_point(|start| *start <= place.start).max(1);
                format!("{}:{line}: {message}", self.name)
            }
            Some(index) => {
                let path = self.overrides.get(index).and_then(|source| source.split('=').next());
                format!("--set {}: {message}", path.unwrap_or_default())
            }
        }
    }

    fn error(&self, lines: &[usize], place: Place, message: String, suggestions: Vec<String>) -> Error {
        let (file, line, text, start) = match place.origin.checked_sub(1) {
            None => {
                let line = lines.partition_point(|start| *start <= place.start).max(1);
                let start = lines.get(line - 1).copied().unwrap_or(0);
                (self.name, line, self.text.get(start..).unwrap_or(""), start)
            }
            Some(index) => ("--set", index + 1, self.overrides.get(index).map_or("", String::as_str), 0),
        };
        let text = text.lines().next().unwrap_or("");
        let (before, length) =
            characters(text, place.start.saturating_sub(start), place.end.saturating_sub(start));
        let (excerpt, pointer) = excerpt(text, before);
        // A place of several lines is marked to the end of its first.
        let room = excerpt.chars().count().saturating_sub(pointer);
        Error {
            file: file.to_owned(),
            line,
            column: before + 1,
            message,
            suggestions,
            excerpt,
            pointer,
            width: length.min(room).max(1),
        }
    }
}

/// Characters of `line` before byte `start`, and from there to byte `end`.
fn characters(line: &str, start: usize, end: usize) -> (usize, usize) {
    let before = line.char_indices().take_while(|(at, _)| *at < start).count();
    let until = line.char_indices().take_while(|(at, _)| *at < end).count();
    (before, until.saturating_sub(before))
}

/// Excerpt of `line` around character `at`, and the position of that character in it.
fn excerpt(line: &str, at: usize) -> (String, usize) {
    let blank = |c: char| if c.is_control() { ' ' } else { c };
    let skipped = if line.chars().nth(WIDTH).is_none() { 0 } else { at.saturating_sub(LEAD) };
    let shown: String = line.chars().skip(skipped).take(WIDTH).map(blank).collect();
    let cut = if line.chars().nth(skipped + WIDTH).is_some() { "..." } else { "" };
    if skipped == 0 { (format!("{shown}{cut}"), at) } else { (format!("...{shown}{cut}"), at - skipped + 3) }
}
