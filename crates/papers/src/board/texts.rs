//! Texts of a board with variables or expressions in braces.

use tidegate_settings::document::{Item, TomlValue};
use tidegate_settings::error::Place;
use tidegate_settings::fields::Fields;
use tidegate_settings::read_context::ReadContext;

use super::Cell;
use crate::expression::Binding;
use crate::items::{expression_within, text};

/// Number of the figure or series as a letter, which is replaced like a variable.
const LETTER: &str = "letter";

/// Replacements in a text.
#[derive(Clone, Copy)]
pub(super) enum Braces<'a> {
    /// No replacement: braces remain as they are.
    Kept,
    /// `{v}` by the label of a variable's setting.
    Variables(&'a [&'a Binding]),
    /// `{= expression}` by its value.
    Expressions,
}

/// Checks the braces of the texts under `keys`.
pub(super) fn check_texts(fields: &Fields<'_>, keys: &[&str], braces: Braces<'_>) {
    keys.iter().filter_map(|key| fields.item(key)).for_each(|item| braces.check(fields.context, item));
}

impl Braces<'_> {
    /// Reports braces that would be shown as they are written; what is not a text is reported where it is read.
    pub(super) fn check(self, context: &ReadContext<'_>, item: &Item) {
        let TomlValue::Text(whole) = &item.value else { return };
        let content = context.content_start(item.place);
        for (start, _) in whole.match_indices('{') {
            let inner = whole[start + 1..].find('}').map(|length| &whole[start + 1..start + 1 + length]);
            if let Some(message) = self.wrong(inner, whole) {
                let end = content + start + inner.map_or(1, |inner| inner.len() + 2);
                context.refuse(Place { start: content + start, end, ..item.place }, message);
            }
        }
    }

    /// The message about braces with this text in them, `None` if they have no end.
    fn wrong(self, inner: Option<&str>, whole: &str) -> Option<String> {
        let Some(inner) = inner else { return Some("'{' has no '}' behind it".to_owned()) };
        let is_name = !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_expression = inner.starts_with('=');
        match self {
            Self::Expressions if is_name => {
                Some(format!("{{{inner}}} is not replaced here; {{= expression}} is, by its value"))
            }
            Self::Variables(known) if is_name => {
                let is_known = inner == LETTER || known.iter().any(|binding| binding.variable == inner);
                (!is_known).then(|| format!("{{{inner}}} in {whole:?} is not a variable of its `for`"))
            }
            Self::Kept if is_name => Some(format!("{{{inner}}} is not replaced here")),
            Self::Kept | Self::Variables(_) if is_expression => Some(
                "an expression in a text is computed only in the title and in `text` of a table".to_owned(),
            ),
            _ => None,
        }
    }
}

/// Splits a text into texts and the expressions of `{= expression}`.
pub(super) fn with_expressions(context: &ReadContext<'_>, item: &Item) -> Vec<Cell> {
    let Some(whole) = text(context, item) else { return Vec::new() };
    Braces::Expressions.check(context, item);
    let mut cells = Vec::new();
    let mut at = 0;
    while let Some(start) = whole[at..].find("{=").map(|found| at + found) {
        let Some(end) = whole[start..].find('}').map(|found| start + found) else { break };
        cells.push(Cell::Text(whole[at..start].to_owned()));
        cells.extend(expression_within(context, item, &whole[start + 2..end], start + 2).map(Cell::Value));
        at = end + 1;
    }
    cells.push(Cell::Text(whole[at..].to_owned()));
    cells
}
