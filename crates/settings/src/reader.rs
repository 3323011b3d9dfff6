//! Reads a text into a document: checks size and format version, and reports every problem with its line.

use tidegate_core::scheme::Scheme;

use crate::document::{self, Item, Table, TomlValue};
use crate::error::{Errors, Place, Problems, Sources};
use crate::keys::Format;
use crate::read_context::{FileReader, ReadContext};
use crate::renames;
use crate::values::shown;

/// A format with the inputs and limits for reading it.
#[derive(Clone, Copy)]
pub struct DocumentReader<'a> {
    /// Name of the text in messages.
    pub source_name: &'a str,
    /// Format of the document.
    pub format: &'static Format,
    /// Schemes that can be named.
    pub schemes: &'a [&'static Scheme],
    /// Reads files the text names; `None` refuses them.
    pub files: Option<FileReader<'a>>,
    /// Maximum length of a text, bytes.
    pub text_bytes: usize,
    /// Approximate limit of the memory for the document, bytes.
    pub max_bytes: u64,
}

impl DocumentReader<'_> {
    /// Passes the document to `read`, with `overrides` (`key=value`) as the texts of problems in them. The
    /// result of `read` counts only if no problem was noted; it is `None` only after a problem was noted.
    ///
    /// A byte order mark at the start of the text is ignored.
    ///
    /// # Errors
    /// All problems of the text.
    pub fn read<T>(
        &self,
        text: &str,
        overrides: &[String],
        read: impl FnOnce(&ReadContext<'_>, Table, &str) -> Option<T>,
    ) -> Result<T, Errors> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let context = ReadContext::new(self.format, text, self.schemes, self.files, self.max_bytes);
        let value = self.document(&context, text).and_then(|document| read(&context, document, text));
        let problems = context.problems.into_inner();
        match value {
            Some(value) if problems.is_empty() => Ok(value),
            _ => Err(problems.locate(&Sources { name: self.source_name, text, overrides })),
        }
    }

    fn document(&self, context: &ReadContext<'_>, text: &str) -> Option<Table> {
        if text.len() > self.text_bytes {
            // Without its length: what read the file may have truncated it.
            let message = format!("it is longer than {} bytes", self.text_bytes);
            return context.refused(Place::default(), message);
        }
        let mut document = document::read(text, &mut context.problems.borrow_mut());
        renames::update(context, &mut document, context.format.root);
        // A partial tree would lead to problems that are only consequences.
        context.problems.borrow().is_empty().then_some(document)
    }
}

/// `bytes` as text.
///
/// # Errors
/// The place of the first byte that is not UTF-8.
pub fn decode<'b>(source_name: &str, bytes: &'b [u8]) -> Result<&'b str, Errors> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    // Only the beginning is quoted in the message, so only that is converted.
    let (sound, rest) = bytes.split_at_checked(error.valid_up_to()).unwrap_or((bytes, &[]));
    let tail = String::from_utf8_lossy(rest.get(..200).unwrap_or(rest));
    let text = String::from_utf8_lossy(sound) + tail;
    let mut problems = Problems::default();
    let place = Place { origin: 0, start: sound.len(), end: sound.len() + 1 };
    let byte = rest.first().copied().unwrap_or(0);
    problems.add(place, format!("byte 0x{byte:02X} is not UTF-8"), None);
    Err(problems.locate(&Sources { name: source_name, text: &text, overrides: &[] }))
}

/// Notes another version of the format, with which most other keys would seem wrong.
pub fn check_version(context: &ReadContext<'_>, document: &Table) -> Option<()> {
    let version = context.format.version;
    match document.get("format").map(|entry| &entry.item) {
        Some(Item { value: TomlValue::Number(number), .. }) if number.whole == Some(version) => Some(()),
        Some(item) => {
            let given = shown(&item.value);
            context.refused(
                item.place,
                format!("format {given} is not known; this program reads format {version}"),
            )
        }
        // Reading goes on and notes it as missing.
        None => Some(()),
    }
}
