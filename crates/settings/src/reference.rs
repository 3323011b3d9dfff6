//! Documentation of a format in Markdown, from the keys of the parser: one section per table, one row per
//! key.

use crate::keys::{Key, KeyKind, KeyNeed, Keys};
use crate::schema::{definition, tables};

/// Reference in Markdown of the format whose outermost table is `root`.
pub fn markdown(root: &'static Keys) -> String {
    let mut text = String::new();
    for (_, keys) in tables(root) {
        text.push_str(&format!("<a id=\"{}\"></a>\n\n## `{}`\n\n", anchor(keys), keys.what));
        text.push_str("| key | takes | default | meaning |\n|---|---|---|---|\n");
        text.extend(keys.iter().map(row));
        text.push('\n');
    }
    text
}

/// Id of a table's section, which no other element of a page has.
fn anchor(keys: &Keys) -> String {
    format!("keys-{}", definition(keys))
}

fn row(key: &'static Key) -> String {
    let default = match key.need {
        KeyNeed::Must => "needed".to_owned(),
        KeyNeed::May => String::new(),
        KeyNeed::Else(default) => format!("`{default}`"),
    };
    let cells = [format!("`{}`", key.name), takes(&key.kind), default, key.help.to_owned()];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// Values that a key accepts, in words.
fn takes(kind: &'static KeyKind) -> String {
    match kind {
        KeyKind::Any => "anything".to_owned(),
        KeyKind::Text => "text".to_owned(),
        KeyKind::Name => "name: no blanks, dots or braces".to_owned(),
        KeyKind::Words(words) => {
            let words: Vec<String> = words().iter().map(|word| format!("`\"{word}\"`")).collect();
            words.join(", ")
        }
        KeyKind::Bool => "`true` or `false`".to_owned(),
        KeyKind::False => "`false`".to_owned(),
        KeyKind::Count(min, max) => format!("whole number, {min} to {max}"),
        KeyKind::Number(min, max) => format!("number, {min} to {max}"),
        KeyKind::Time => "time, such as `\"15ms\"`".to_owned(),
        KeyKind::LongTime => "time above zero, such as `\"15ms\"`".to_owned(),
        KeyKind::Rate => "rate above zero, such as `\"10Mbps\"`".to_owned(),
        KeyKind::Size(_) => "size, such as `\"20MB\"`".to_owned(),
        KeyKind::Frequency => "times above zero, such as `\"100/s\"`".to_owned(),
        KeyKind::Packets => "packets, such as `\"64pkt\"`".to_owned(),
        KeyKind::Limit => "packets or size, such as `\"64pkt\"` or `\"64kB\"`".to_owned(),
        KeyKind::Comparison => "comparison, such as `\">= 0.9\"`".to_owned(),
        KeyKind::Scheme(role) => format!("{}: a name, or `{{ name = \"...\", parameter = ... }}`", role.word),
        KeyKind::Table(keys) => format!("table [`{}`](#{})", keys.what, anchor(keys)),
        KeyKind::List(element) => format!("list of: {}", takes(element)),
        KeyKind::Open(element) => format!("table by name, each: {}", takes(element)),
        KeyKind::AnyOf(kinds) => kinds.iter().map(takes).collect::<Vec<_>>().join("; or "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{key, keys};

    #[test]
    fn every_table_is_a_section_and_every_key_a_row_with_what_it_takes() {
        static INNER: Keys =
            keys("[inner]", &[key("way", KeyKind::Words(|| vec!["up", "down"]), KeyNeed::May, "Where.")]);
        static ROOT: Keys = keys(
            "the file",
            &[
                key("rate", KeyKind::Rate, KeyNeed::Else("10Mbps"), "How fast | how slow."),
                key("inner", KeyKind::List(&KeyKind::Table(&INNER)), KeyNeed::Must, "More."),
            ],
        );
        let text = markdown(&ROOT);
        for line in [
            "<a id=\"keys-the-file\"></a>",
            "## `the file`",
            "| `rate` | rate above zero, such as `\"10Mbps\"` | `10Mbps` | How fast \\| how slow. |",
            "| `inner` | list of: table [`[inner]`](#keys-inner) | needed | More. |",
            "<a id=\"keys-inner\"></a>",
            "## `[inner]`",
            "| `way` | `\"up\"`, `\"down\"` |  | Where. |",
        ] {
            assert!(text.lines().any(|found| found == line), "{line:?} is not in\n{text}");
        }
    }
}
