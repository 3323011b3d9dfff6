//! A TOML document as a tree in which every key and value has its place in the text.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Place, Problems};

/// Maximum number of nested brackets, and of dots in one key.
const DEEPEST: usize = 16;
/// Maximum length of a text of which all syntax errors are reported, bytes; of longer ones only the first is.
const SHORT: usize = 1 << 18;

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Item {
    /// Place in the document.
    pub place: Place,
    /// Value at this place.
    pub value: TomlValue,
}

/// Value of a TOML document.
#[derive(Clone, Debug)]
pub enum TomlValue {
    /// A text in quotation marks.
    Text(String),
    /// The word `true` or `false`.
    Bool(bool),
    /// An integer or a decimal number.
    Number(Number),
    /// A date or time, which no key accepts.
    Date(String),
    /// A list in brackets, with the place of each value.
    List(Vec<Item>),
    /// A table, in braces or under a header.
    Table(Table),
}

/// A number as written.
#[derive(Clone, Debug)]
pub struct Number {
    /// May be infinite or NaN.
    pub value: f64,
    /// The same as an integer, if it is written as one and fits.
    pub whole: Option<i64>,
    /// Spelling of the value in the text.
    pub written: String,
}

/// Keys in the order written.
#[derive(Clone, Debug, Default)]
pub struct Table(pub Vec<Entry>);

/// One key of a table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Key of the entry.
    pub key: String,
    /// Place of the key.
    pub place: Place,
    /// Value of the entry with its place.
    pub item: Item,
}

impl Table {
    /// The entry of `key`.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    /// The entry of `key`, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.0.iter_mut().find(|entry| entry.key == key)
    }

    /// The table at `key`, to change; `None` for any other value.
    pub fn table_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.get_mut(key)?.item.value {
            TomlValue::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The list at `key`, to change; `None` for any other value.
    pub fn list_mut(&mut self, key: &str) -> Option<&mut Vec<Item>> {
        match &mut self.get_mut(key)?.item.value {
            TomlValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// Removes the entry of `key`.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|entry| entry.key != key);
    }
}

impl TomlValue {
    /// Kind of the value in words, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Date(_) => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// Reads a document; after a problem the tree is empty or partial.
pub(crate) fn read(text: &str, problems: &mut Problems) -> Table {
    // Before parsing: the parser and the conversion are recursive.
    if let Err((place, message)) = check_depth(text, 0) {
        problems.add(place, message, None);
        return Table::default();
    }
    match DeTable::parse(text) {
        Ok(table) => convert_table(table.into_inner(), 0),
        Err(error) => {
            let errors = if text.len() <= SHORT { DeTable::parse_recoverable(text).1 } else { vec![error] };
            errors.iter().for_each(|error| add_syntax_error(error, text, problems));
            Table::default()
        }
    }
}

/// Reads the value of override `origin`, which starts at its byte `start`; a text that is not TOML
/// is taken as it is.
///
/// # Errors
/// The place and reason of the error.
pub fn read_value(text: &str, origin: usize, start: usize) -> Result<Item, (Place, String)> {
    check_depth(text, origin)?;
    let mut item = match DeValue::parse(text.trim()) {
        Ok(value) => convert(value, origin),
        Err(_) => Item { place: Place::default(), value: TomlValue::Text(text.trim().to_owned()) },
    };
    replace_places(&mut item, Place { origin, start, end: start + text.len() });
    Ok(item)
}

fn replace_places(item: &mut Item, place: Place) {
    // A problem within the value of an override refers to the whole value.
    item.place = place;
    match &mut item.value {
        TomlValue::List(items) => items.iter_mut().for_each(|item| replace_places(item, place)),
        TomlValue::Table(table) => {
            for entry in &mut table.0 {
                entry.place = place;
                replace_places(&mut entry.item, place);
            }
        }
        _ => {}
    }
}

fn add_syntax_error(error: &toml::de::Error, text: &str, problems: &mut Problems) {
    let span = error.span().unwrap_or(text.len()..text.len());
    let message = match (error.message(), text.get(span.clone())) {
        ("duplicate key", Some(key)) => format!("key {key:?} is given twice"),
        (message, _) => message.to_owned(),
    };
    problems.add(Place { origin: 0, start: span.start, end: span.end }, message, None);
}

fn convert_table(table: DeTable<'_>, origin: usize) -> Table {
    let mut entries = Vec::with_capacity(table.len());
    // A loop, like that of arrays: adaptors of iterators would add their frames to the stack at each level.
    for (key, value) in table {
        let place = place(&key, origin);
        entries.push(Entry { place, key: key.into_inner().into_owned(), item: convert(value, origin) });
    }
    // The parser sorts keys by name; messages and lists follow the text.
    entries.sort_by_key(|entry: &Entry| entry.place);
    Table(entries)
}

fn place<T>(spanned: &Spanned<T>, origin: usize) -> Place {
    let span = spanned.span();
    Place { origin, start: span.start, end: span.end }
}

fn convert(value: Spanned<DeValue<'_>>, origin: usize) -> Item {
    let place = place(&value, origin);
    let value = match value.into_inner() {
        DeValue::Array(items) => {
            let mut list = Vec::with_capacity(items.len());
            for item in items {
                list.push(convert(item, origin));
            }
            TomlValue::List(list)
        }
        DeValue::Table(table) => TomlValue::Table(convert_table(table, origin)),
        single => convert_single(single),
    };
    Item { place, value }
}

/// The value of neither an array nor a table; apart from [`convert`], whose frames on the stack are as many as levels.
#[inline(never)]
fn convert_single(value: DeValue<'_>) -> TomlValue {
    match value {
        DeValue::Boolean(truth) => TomlValue::Bool(truth),
        DeValue::Integer(integer) => {
            let whole = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
            // An integer beyond 64 bits is outside of every range.
            let value = whole.map_or(f64::INFINITY, |whole| whole as f64);
            TomlValue::Number(Number { value, whole, written: integer.to_string() })
        }
        DeValue::Float(float) => {
            let value = float.as_str().parse().unwrap_or(f64::NAN);
            TomlValue::Number(Number { value, whole: None, written: float.as_str().to_owned() })
        }
        DeValue::String(text) => TomlValue::Text(text.into_owned()),
        DeValue::Datetime(date) => TomlValue::Date(date.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => TomlValue::List(Vec::new()),
    }
}

/// Rejects texts whose tree would be so deep that a recursive walk could exhaust the stack.
fn check_depth(text: &str, origin: usize) -> Result<(), (Place, String)> {
    let mut depth = 0_usize;
    let mut dots = 0_usize;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        match first {
            '#' => rest = rest.find(['\r', '\n']).and_then(|end| rest.get(end..)).unwrap_or(""),
            '"' | '\'' => rest = skip_text(rest, first),
            _ => rest = skip_word(rest, first),
        }
        match first {
            '[' | '{' => (depth, dots) = (depth + 1, 0),
            ']' | '}' => (depth, dots) = (depth.saturating_sub(1), 0),
            '.' => dots += 1,
            '\n' | ',' | '=' | '#' => dots = 0,
            _ => {}
        }
        if depth > DEEPEST || dots > DEEPEST {
            let message = format!("nested too deeply; at most {DEEPEST} levels");
            return Err((Place { origin, start: at, end: at + 1 }, message));
        }
    }
    Ok(())
}

/// Rest of `text` after the word or sign at its start; a quote within a word opens no string.
fn skip_word(text: &str, first: char) -> &str {
    const SIGNS: [char; 11] = ['.', '=', ',', '[', ']', '{', '}', ' ', '\t', '\r', '\n'];
    let tail = text.get(first.len_utf8()..).unwrap_or("");
    if SIGNS.contains(&first) {
        return tail;
    }
    tail.find(|c| c == '#' || SIGNS.contains(&c)).and_then(|end| tail.get(end..)).unwrap_or("")
}

/// Rest of `text` after the quoted string at its start, as TOML delimits it.
fn skip_text(text: &str, quote: char) -> &str {
    let triple = [quote; 3].iter().collect::<String>();
    let (body, is_long) = match text.strip_prefix(&triple) {
        Some(body) => (body, true),
        None => (text.get(1..).unwrap_or(""), false),
    };
    let mut rest = body;
    while let Some(c) = rest.chars().next() {
        if is_long && rest.starts_with(&triple) {
            let tail = rest.get(3..).unwrap_or("");
            // TOML: up to two quotes directly before the closing three belong to the string.
            let tail = tail.strip_prefix(quote).unwrap_or(tail);
            return tail.strip_prefix(quote).unwrap_or(tail);
        }
        let escaped = c == '\\' && quote == '"';
        rest = rest.get(c.len_utf8()..).unwrap_or("");
        match c {
            _ if escaped && !rest.starts_with('\n') => {
                let next = rest.chars().next().map_or(0, char::len_utf8);
                rest = rest.get(next..).unwrap_or("");
            }
            // A string on one line that is not closed is an error of syntax, which the parser reports.
            '\n' if !is_long => return rest,
            _ if c == quote && !is_long => return rest,
            _ => {}
        }
    }
    rest
}
