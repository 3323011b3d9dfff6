//! Writes a document as TOML text.

use crate::document::{Entry, Item, Table, TomlValue};

/// The document as TOML: one section per table of the first level, everything below inline.
pub fn write(root: &Table) -> String {
    let mut text = String::new();
    let (sections, values): (Vec<&Entry>, Vec<&Entry>) =
        // Values first: in TOML a key after a header belongs to its table.
        root.0.iter().partition(|entry| is_section(&entry.item));
    write_entries(&mut text, &values);
    for section in sections {
        let tables: Vec<&Table> = match &section.item.value {
            TomlValue::Table(table) => vec![table],
            TomlValue::List(items) => items.iter().filter_map(as_table).collect(),
            _ => Vec::new(),
        };
        let is_list = matches!(section.item.value, TomlValue::List(_));
        for table in tables {
            let name = written_key(&section.key);
            text.push_str(&if is_list { format!("[[{name}]]\n") } else { format!("[{name}]\n") });
            write_entries(&mut text, &table.0.iter().collect::<Vec<_>>());
        }
    }
    text
}

fn as_table(item: &Item) -> Option<&Table> {
    if let TomlValue::Table(table) = &item.value { Some(table) } else { None }
}

fn is_section(item: &Item) -> bool {
    match &item.value {
        TomlValue::Table(_) => true,
        TomlValue::List(items) => !items.is_empty() && items.iter().all(|item| as_table(item).is_some()),
        _ => false,
    }
}

/// A value as text, as written after its key.
pub fn written_value(value: &TomlValue) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_entries(text: &mut String, entries: &[&Entry]) {
    for entry in entries {
        text.push_str(&format!("{} = ", written_key(&entry.key)));
        write_value(text, &entry.item.value);
        text.push('\n');
    }
}

fn write_value(text: &mut String, value: &TomlValue) {
    match value {
        TomlValue::Text(content) => text.push_str(&quoted(content)),
        TomlValue::Bool(truth) => text.push_str(if *truth { "true" } else { "false" }),
        TomlValue::Number(number) => text.push_str(&number.written),
        TomlValue::Date(date) => text.push_str(date),
        TomlValue::List(items) => {
            write_list(text, items.iter(), ('[', ']'), |text, item| write_value(text, &item.value))
        }
        TomlValue::Table(table) => write_list(text, table.0.iter(), ('{', '}'), |text, entry| {
            text.push_str(&format!("{} = ", written_key(&entry.key)));
            write_value(text, &entry.item.value);
        }),
    }
}

fn write_list<T>(
    text: &mut String,
    items: impl Iterator<Item = T>,
    (open, close): (char, char),
    mut write_one: impl FnMut(&mut String, T),
) {
    text.push(open);
    for (index, item) in items.enumerate() {
        text.push_str(if index > 0 { ", " } else { "" });
        write_one(text, item);
    }
    text.push(close);
}

/// A key as text, as written before a value or in a header: bare if TOML allows it.
pub fn written_key(key: &str) -> String {
    let is_bare =
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_bare { key.to_owned() } else { quoted(key) }
}

/// `text` as a TOML basic string, which a JSON string is as well.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
