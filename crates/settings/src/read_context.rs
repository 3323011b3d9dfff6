//! State of reading a text: its format, limits, and the problems found so far.

use std::cell::{Cell, RefCell};

use tidegate_core::scheme::Scheme;

use crate::error::{Place, Problems, Sources};
use crate::keys::Format;
use crate::suggest::intended;

/// Maximum number of known words in a message.
const MAX_LISTED: usize = 12;
/// Maximum number of words that are searched for similar ones.
const MAX_SEARCHED: usize = 1_000;
/// Maximum length of a text quoted in a message, bytes.
pub(crate) const MAX_QUOTED: usize = 60;

/// Reads a file that a text refers to; on failure, the error explains why.
pub type FileReader<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Schemes and limits for reading a document, and the problems found so far.
pub struct ReadContext<'a> {
    /// The format of the text.
    pub format: &'static Format,
    /// Text of the document.
    pub text: &'a str,
    /// Schemes that can be named.
    pub schemes: &'a [&'static Scheme],
    /// Reads the files that the text names; `None` if none may be read.
    pub files: Option<FileReader<'a>>,
    /// Problems found so far.
    pub problems: RefCell<Problems>,
    /// Sentences about names of earlier versions, each with its place.
    notes: RefCell<Vec<(Place, String)>>,
    /// Approximate limit of the memory that may be read from the text, bytes.
    max_bytes: u64,
    /// Estimate of the memory so far, bytes.
    claimed_bytes: Cell<u64>,
}

impl<'a> ReadContext<'a> {
    /// A context without problems; what is read may take at most `max_bytes` bytes of memory.
    pub fn new(
        format: &'static Format,
        text: &'a str,
        schemes: &'a [&'static Scheme],
        files: Option<FileReader<'a>>,
        max_bytes: u64,
    ) -> Self {
        let (problems, notes, claimed_bytes) = (RefCell::default(), RefCell::default(), Cell::new(0));
        Self { format, text, schemes, files, problems, notes, max_bytes, claimed_bytes }
    }

    /// Offset in the document at which the content of the quoted text at `place` begins.
    pub fn content_start(&self, place: Place) -> usize {
        let written = self.text.get(place.start..place.end).unwrap_or("");
        let is_long = written.starts_with("\"\"\"") || written.starts_with("'''");
        // TOML leaves out a line break directly behind three quotes.
        let is_break = |c: char| c == '\r' || c == '\n';
        let width = match written.get(3..).filter(|_| is_long) {
            Some(rest) if rest.starts_with("\r\n") => 5,
            Some(rest) => 3 + usize::from(rest.starts_with(is_break)),
            None => 1,
        };
        place.start + width
    }

    /// Records a sentence about a name of an earlier version.
    pub(crate) fn note(&self, place: Place, message: String) {
        let mut notes = self.notes.borrow_mut();
        if !notes.contains(&(place, message.clone())) {
            notes.push((place, message));
        }
    }

    /// Sentences about names of earlier versions, each with its file and line.
    pub fn notes(&self, sources: &Sources<'_>) -> Vec<String> {
        self.notes.borrow().iter().map(|(place, message)| sources.locate(*place, message)).collect()
    }

    /// Reports a problem at a place.
    pub fn refuse(&self, place: Place, message: impl Into<String>) {
        self.problems.borrow_mut().add(place, message.into(), None);
    }

    /// Notes a problem at `place` and returns `None`, the result of a reader that stops there.
    pub fn refused<T>(&self, place: Place, message: impl Into<String>) -> Option<T> {
        self.refuse(place, message);
        None
    }

    /// Returns a value that was read at `place`; its message is noted if it was refused.
    pub fn accept<T>(&self, place: Place, read: Result<T, impl Into<String>>) -> Option<T> {
        read.map_err(|why| self.refuse(place, why)).ok()
    }

    /// Notes that `word` is not one of `known`, which are each a `what`.
    pub fn refuse_word<'k>(
        &self,
        place: Place,
        what: &str,
        word: &str,
        known: impl Iterator<Item = &'k str>,
    ) {
        if self.is_full() {
            // It is only counted, and similar words are expensive to find.
            return self.refuse(place, String::new());
        }
        let known: Vec<&str> = known.take(MAX_SEARCHED).collect();
        let suggestions = intended(word, known.iter().copied());
        let listed = if suggestions.is_empty() { format!("; {}", list_words(&known)) } else { String::new() };
        let message = format!("{what} {} is not known{listed}", show(word));
        self.problems.borrow_mut().add(place, message, suggestions.into_iter().map(str::to_owned));
    }

    /// Adds `count` parts of about `bytes` each to the memory; notes a problem and returns `false` if it is
    /// too much.
    #[must_use]
    pub fn claim(&self, place: Place, bytes: u64, count: u64) -> bool {
        let total = bytes.checked_mul(count).and_then(|more| self.claimed_bytes.get().checked_add(more));
        let is_small = total.is_some_and(|total| total <= self.max_bytes);
        if is_small {
            self.claimed_bytes.set(total.unwrap_or(u64::MAX));
        } else {
            let (what, max) = (self.format.root.what, self.max_bytes);
            self.refuse(place, format!("with this {what} takes more than {max} bytes of memory"));
        }
        is_small
    }

    /// Number of problems found so far.
    pub fn count(&self) -> usize {
        self.problems.borrow().count()
    }

    /// Whether no further problem would be shown.
    pub fn is_full(&self) -> bool {
        self.problems.borrow().is_full()
    }
}

/// `known: a, b, c and 5 more`.
fn list_words(known: &[&str]) -> String {
    if known.is_empty() {
        return "there are none".to_owned();
    }
    let shown: Vec<&str> = known.iter().copied().take(MAX_LISTED).collect();
    let more = known.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("known: {}{more}", shown.join(", "))
}

/// `text` in quotes, shortened, for messages.
pub fn show(text: &str) -> String {
    if text.len() <= MAX_QUOTED {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(MAX_QUOTED / 2).collect();
    format!("{:?}", format!("{start}..."))
}
