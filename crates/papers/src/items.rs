//! Common parts of the files of a paper: reading, and expressions with their place in the file.

use tidegate_settings::document::{Entry, Item, TomlValue};
use tidegate_settings::error::{Errors, Place};
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::Format;
use tidegate_settings::read_context::ReadContext;
use tidegate_settings::reader::{DocumentReader, check_version};

use crate::expression::{Binding, Fault, PlacedExpression, Range, parse, parse_binding};

/// Maximum length of a text, bytes.
const TEXT_BYTES: usize = 1 << 20;
/// Maximum memory of the values of a file, bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Tables of keys, each with its name in messages: name of a key, whether it has to be there, its kind and meaning.
macro_rules! key_tables {
    ($($table:ident $what:literal {
        $($name:literal $need:ident $(($default:literal))?: $kind:expr, $help:literal;)*
    })*) => {$(
        static $table: tidegate_settings::keys::Keys = tidegate_settings::keys::keys(
            $what,
            &[$(tidegate_settings::keys::key(
                $name,
                $kind,
                tidegate_settings::keys::KeyNeed::$need $(($default))?,
                $help,
            )),*],
        );
    )*};
}
pub(crate) use key_tables;

/// Reads the tables of a file called `source_name` in messages.
pub(crate) fn read_file<T>(
    source_name: &str,
    text: &str,
    format: &'static Format,
    read: impl FnOnce(&Fields<'_>) -> Option<T>,
) -> Result<T, Errors> {
    let (schemes, files) = (&[][..], None);
    let reader =
        DocumentReader { source_name, format, schemes, files, text_bytes: TEXT_BYTES, max_bytes: MAX_BYTES };
    reader.read(text, &[], |context, document, _| {
        // Claims were never numbered, and a key that is needed now would refuse every paper of a user.
        if format.root.find("format").is_some() {
            check_version(context, &document)?;
        }
        read(&Fields::root(context, &document))
    })
}

/// The entries of a table with any names as keys; `rule` describes the table in messages.
pub(crate) fn table<'a>(context: &ReadContext<'_>, item: &'a Item, rule: &str) -> &'a [Entry] {
    match &item.value {
        TomlValue::Table(table) => &table.0,
        other => {
            context.refuse(item.place, format!("{rule}; this is {}", other.kind()));
            &[]
        }
    }
}

pub(crate) fn text<'a>(context: &ReadContext<'_>, item: &'a Item) -> Option<&'a str> {
    if let TomlValue::Text(text) = &item.value {
        return Some(text);
    }
    context.refused(item.place, format!("a text is expected; this is {}", item.value.kind()))
}

/// A text under `key` that is not empty.
pub(crate) fn words_of(fields: &Fields<'_>, key: &str) -> Option<String> {
    let text = fields.text(key)?;
    if text.trim().is_empty() {
        return fields.refused(key, format!("{key} is empty; a text is needed"));
    }
    Some(text)
}

pub(crate) fn expression(context: &ReadContext<'_>, item: &Item) -> Option<PlacedExpression> {
    text(context, item).and_then(|text| expression_within(context, item, text, 0))
}

/// The expression `text`, which begins `at` bytes behind the beginning of the item's text.
pub(crate) fn expression_within(
    context: &ReadContext<'_>,
    item: &Item,
    text: &str,
    at: usize,
) -> Option<PlacedExpression> {
    let start = context.content_start(item.place) + at;
    let found = parse(text).map_err(|fault| refuse(context, item, start, fault)).ok()?;
    Some(PlacedExpression { expression: found, at: Range { start, end: start + text.len() } })
}

/// The variable that a text declares; its place is that in the file.
pub(crate) fn binding(context: &ReadContext<'_>, item: &Item) -> Option<Binding> {
    let text = text(context, item)?;
    let start = context.content_start(item.place);
    let mut binding = parse_binding(text).map_err(|fault| refuse(context, item, start, fault)).ok()?;
    binding.at = binding.at.behind(start);
    Some(binding)
}

fn refuse(context: &ReadContext<'_>, item: &Item, start: usize, fault: Fault) {
    let Range { start, end } = fault.at.behind(start);
    context.refuse(Place { start, end, ..item.place }, fault.message);
}
