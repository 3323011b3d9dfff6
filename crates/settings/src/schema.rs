//! The format as a JSON Schema (draft 2020-12), from the keys the parser uses.

use crate::keys::{Key, KeyKind, KeyNeed, Keys, NamedRole};
use crate::write::quoted;

/// JSON Schema of the format whose outermost table is `root`, for editors.
pub fn json_schema(title: &str, root: &'static Keys) -> String {
    let definitions = tables(root).iter().map(|(name, keys)| (name.clone(), table(keys))).collect();
    let root = object([
        ("$schema", text("https://json-schema.org/draft/2020-12/schema")),
        ("title", text(title)),
        ("$ref", text("#/$defs/root")),
        ("$defs", Json::Object(definitions)),
    ]);
    let mut written = String::new();
    root.write(&mut written, 0);
    written.push('\n');
    written
}

/// What is wrong with a format's own declaration: keys declared twice or not explained, tables that share a
/// name. For the tests of formats.
pub fn unsound(root: &'static Keys) -> Vec<String> {
    let mut seen = Vec::new();
    visit(root, &mut seen);
    let mut faults = Vec::new();
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

/// Every table reached through every path, however often.
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

/// Every table by the name of its definition, once each.
pub(crate) fn tables(root: &'static Keys) -> Vec<(String, &'static Keys)> {
    let mut tables = vec![("root".to_owned(), root)];
    collect(root, &mut tables);
    tables
}

/// Adds every table below `keys` that is not there yet.
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

enum Json {
    /// Text that is written unchanged.
    Raw(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn write(&self, out: &mut String, depth: usize) {
        match self {
            Self::Raw(raw) => out.push_str(raw),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    item.write(out, depth);
                }
                out.push(']');
            }
            Self::Object(entries) => {
                out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    out.push_str(if index > 0 { ",\n" } else { "\n" });
                    out.push_str(&"  ".repeat(depth + 1));
                    out.push_str(&format!("{}: ", quoted(key)));
                    value.write(out, depth + 1);
                }
                out.push_str(&format!("\n{}}}", "  ".repeat(depth)));
            }
        }
    }
}

fn text(text: &str) -> Json {
    Json::Raw(quoted(text))
}

fn object<const N: usize>(entries: [(&str, Json); N]) -> Json {
    Json::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn table(keys: &'static Keys) -> Json {
    let properties = keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required = keys.iter().filter(|key| key.need == KeyNeed::Must).map(|key| text(key.name)).collect();
    object([
        ("type", text("object")),
        ("properties", Json::Object(properties)),
        ("required", Json::List(required)),
        ("additionalProperties", Json::Raw("false".to_owned())),
    ])
}

fn property(key: &'static Key) -> Json {
    let mut schema = kind(&key.kind);
    if let Json::Object(entries) = &mut schema {
        entries.insert(0, ("description".to_owned(), text(key.help)));
        if let KeyNeed::Else(default) = key.need {
            let is_bare = matches!(key.kind, KeyKind::Bool | KeyKind::Count(..) | KeyKind::Number(..));
            let default = if is_bare { Json::Raw(default.to_owned()) } else { text(default) };
            entries.push(("default".to_owned(), default));
        }
    }
    schema
}

fn kind(kind: &'static KeyKind) -> Json {
    match kind {
        KeyKind::Text => object([("type", text("string"))]),
        KeyKind::Name => pattern("^[^\\s.{}]{1,64}$"),
        KeyKind::Words(words) => {
            object([("enum", Json::List(words().iter().map(|word| text(word)).collect()))])
        }
        KeyKind::Bool => object([("type", text("boolean"))]),
        KeyKind::False => object([("const", Json::Raw("false".to_owned()))]),
        KeyKind::Count(min, max) => bounded("integer", &min.to_string(), &max.to_string()),
        KeyKind::Number(min, max) => bounded("number", &min.to_string(), &max.to_string()),
        KeyKind::Time | KeyKind::LongTime => quantity("s|ms|us|ns|min|h"),
        KeyKind::Rate => quantity("Gbps|Mbps|kbps|bps"),
        KeyKind::Size(_) => quantity(BYTES),
        KeyKind::Frequency => quantity("/s|/min|/h"),
        KeyKind::Packets => quantity("pkt"),
        KeyKind::Limit => quantity(&format!("pkt|{BYTES}")),
        KeyKind::Comparison => pattern("^\\s*(>=|<=|>|<)\\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\\s*$"),
        KeyKind::Scheme(role) => scheme(role),
        KeyKind::Table(keys) => object([("$ref", text(&format!("#/$defs/{}", definition(keys))))]),
        KeyKind::List(element) => object([("type", text("array")), ("items", self::kind(element))]),
        KeyKind::Open(element) => {
            object([("type", text("object")), ("additionalProperties", self::kind(element))])
        }
        KeyKind::Any => Json::Raw("true".to_owned()),
        KeyKind::AnyOf(kinds) => object([("anyOf", Json::List(kinds.iter().map(self::kind).collect()))]),
    }
}

const BYTES: &str = "GB|MB|kB|B|KiB|MiB|GiB";

fn pattern(pattern: &str) -> Json {
    object([("type", text("string")), ("pattern", text(pattern))])
}

fn quantity(units: &str) -> Json {
    pattern(&format!("^\\s*[0-9.]+\\s*({units})\\s*$"))
}

fn bounded(kind: &str, min: &str, max: &str) -> Json {
    object([
        ("type", text(kind)),
        ("minimum", Json::Raw(min.to_owned())),
        ("maximum", Json::Raw(max.to_owned())),
    ])
}

/// A name, or a table with it and parameters, which the scheme checks.
fn scheme(role: &NamedRole) -> Json {
    let naming = |key| object([("required", Json::List(vec![text(key)]))]);
    let table =
        object([("type", text("object")), ("oneOf", Json::List(vec![naming("name"), naming("scheme")]))]);
    object([
        ("title", text(role.word)),
        ("anyOf", Json::List(vec![object([("type", text("string"))]), table])),
    ])
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
