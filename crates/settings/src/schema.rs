//! JSON Schema (draft 2020-12) of a format, from the keys of the parser.

use serde_json::{Value, json};

use crate::keys::{Key, KeyKind, KeyNeed, Keys, NamedRole};

/// JSON Schema of the format whose outermost table is `root`, for editors.
pub fn json_schema(title: &str, root: &'static Keys) -> String {
    let definitions: Value = tables(root).into_iter().map(|(name, keys)| (name, table(keys))).collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "$ref": "#/$defs/root",
        "$defs": definitions,
    });
    format!("{schema:#}\n")
}

/// Errors in the declaration of a format: keys declared twice or not explained, tables that share a
/// name. For the tests of formats.
pub fn unsound(root: &'static Keys) -> Vec<String> {
    let mut seen = Vec::new();
    visit(root, &mut seen);
    let mut faults = Vec::new();
    // `visit` compares tables, `tables` their names.
    if seen.len() != tables(root).len() {
        faults.push("two tables have one name".to_owned());
    }
    for keys in seen {
        let mut names: Vec<&str> = keys.iter().map(|key| key.name).collect();
        names.sort_unstable();
        let twice = names.windows(2).filter(|pair| pair[0] == pair[1]);
        faults.extend(twice.map(|pair| format!("{}: {} is declared twice", keys.what, pair[0])));
        let bare = keys.iter().filter(|key| !key.help.ends_with('.'));
        faults.extend(bare.map(|key| format!("{}: {} is not explained by a sentence", keys.what, key.name)));
    }
    faults
}

/// Adds every table that can be reached from `keys`, once each.
fn visit(keys: &'static Keys, seen: &mut Vec<&'static Keys>) {
    if !seen.iter().any(|known| std::ptr::eq(*known, keys)) {
        seen.push(keys);
        keys.iter().for_each(|key| visit_kind(&key.kind, seen));
    }
}

fn visit_kind(kind: &'static KeyKind, seen: &mut Vec<&'static Keys>) {
    match kind {
        KeyKind::Table(keys) => visit(keys, seen),
        KeyKind::List(inner) | KeyKind::Open(inner) => visit_kind(inner, seen),
        KeyKind::AnyOf(kinds) => kinds.iter().for_each(|kind| visit_kind(kind, seen)),
        _ => {}
    }
}

/// All tables by the name of their definition, once each.
pub(crate) fn tables(root: &'static Keys) -> Vec<(String, &'static Keys)> {
    let mut tables = vec![("root".to_owned(), root)];
    collect(root, &mut tables);
    tables
}

/// Adds every table below `keys` that is not present yet.
fn collect(keys: &'static Keys, tables: &mut Vec<(String, &'static Keys)>) {
    for key in keys.iter() {
        collect_kind(&key.kind, tables);
    }
}

fn collect_kind(kind: &'static KeyKind, tables: &mut Vec<(String, &'static Keys)>) {
    match kind {
        KeyKind::Table(keys) => {
            let name = definition(keys);
            if tables.iter().all(|(known, _)| *known != name) {
                tables.push((name, keys));
                collect(keys, tables);
            }
        }
        KeyKind::List(inner) | KeyKind::Open(inner) => collect_kind(inner, tables),
        KeyKind::AnyOf(kinds) => kinds.iter().for_each(|kind| collect_kind(kind, tables)),
        _ => {}
    }
}

/// The name of a table among the definitions.
pub(crate) fn definition(keys: &Keys) -> String {
    keys.what.replace(' ', "-").replace(['[', ']'], "")
}

fn table(keys: &'static Keys) -> Value {
    let properties: Value = keys.iter().map(|key| (key.name, property(key))).collect();
    let required = keys.iter().filter(|key| key.need == KeyNeed::Must).map(|key| key.name);
    json!({
        "type": "object",
        "properties": properties,
        "required": required.collect::<Value>(),
        "additionalProperties": false,
    })
}

fn property(key: &'static Key) -> Value {
    let mut schema = json!({ "description": key.help });
    if let (Value::Object(entries), Value::Object(kind)) = (&mut schema, kind(&key.kind)) {
        entries.extend(kind);
        if let KeyNeed::Else(default) = key.need {
            // In JSON, as in TOML, these have no quotes.
            let is_bare = matches!(key.kind, KeyKind::Bool | KeyKind::Count(..) | KeyKind::Number(..));
            let bare = is_bare.then(|| serde_json::from_str(default).ok()).flatten();
            entries.insert("default".to_owned(), bare.unwrap_or_else(|| default.into()));
        }
    }
    schema
}

fn kind(kind: &'static KeyKind) -> Value {
    match kind {
        KeyKind::Text => json!({ "type": "string" }),
        KeyKind::Name => pattern("^[^\\s.{}]{1,64}$"),
        KeyKind::Words(words) => json!({ "enum": words() }),
        KeyKind::Bool => json!({ "type": "boolean" }),
        KeyKind::False => json!({ "const": false }),
        KeyKind::Count(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        KeyKind::Number(min, max) => json!({ "type": "number", "minimum": min, "maximum": max }),
        KeyKind::Time | KeyKind::LongTime => quantity("s|ms|us|ns|min|h"),
        KeyKind::Rate => quantity("Gbps|Mbps|kbps|bps"),
        KeyKind::Size(_) => quantity(BYTES),
        KeyKind::Frequency => quantity("/s|/min|/h"),
        KeyKind::Packets => quantity("pkt"),
        KeyKind::Limit => quantity(&format!("pkt|{BYTES}")),
        KeyKind::Comparison => pattern("^\\s*(>=|<=|>|<)\\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\\s*$"),
        KeyKind::Scheme(role) => scheme(role),
        KeyKind::Table(keys) => json!({ "$ref": format!("#/$defs/{}", definition(keys)) }),
        KeyKind::List(element) => json!({ "type": "array", "items": self::kind(element) }),
        KeyKind::Open(element) => json!({ "type": "object", "additionalProperties": self::kind(element) }),
        KeyKind::Any => Value::Bool(true),
        KeyKind::AnyOf(kinds) => json!({ "anyOf": kinds.iter().map(self::kind).collect::<Value>() }),
    }
}

const BYTES: &str = "GB|MB|kB|B|KiB|MiB|GiB";

fn pattern(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn quantity(units: &str) -> Value {
    pattern(&format!("^\\s*[0-9.]+\\s*({units})\\s*$"))
}

/// A name, or a table with a name and parameters, which the schema does not check.
fn scheme(role: &NamedRole) -> Value {
    let naming = |key: &str| json!({ "required": [key] });
    json!({
        "title": role.word,
        "anyOf": [
            { "type": "string" },
            { "type": "object", "oneOf": [naming("name"), naming("scheme")] },
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyNeed::May;
    use crate::keys::{key, keys};

    #[test]
    fn a_declaration_that_is_sound_is_left_alone_and_each_fault_is_named() {
        static INNER: Keys = keys("inner", &[key("a", KeyKind::Text, May, "A.")]);
        static SOUND: Keys = keys("outer", &[key("a", KeyKind::Table(&INNER), May, "A.")]);
        static TWIN: Keys = keys("inner", &[key("b", KeyKind::Text, May, "B")]);
        static FAULTY: Keys = keys(
            "outer",
            &[
                key("a", KeyKind::Table(&INNER), May, "A."),
                key("a", KeyKind::List(&KeyKind::Table(&TWIN)), May, "A."),
            ],
        );
        assert_eq!(unsound(&SOUND), Vec::<String>::new());
        assert_eq!(
            unsound(&FAULTY),
            [
                "two tables have one name",
                "outer: a is declared twice",
                "inner: b is not explained by a sentence"
            ]
        );
    }
}
