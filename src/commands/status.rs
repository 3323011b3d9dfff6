//! `tidegate status`: what a running forwarder tells of itself.

use tidegate_live::daemon::status::StatusLine;
use tidegate_report::json::Json;
use tidegate_report::text::{Align, TextTable};

/// Columns of the table of faces: key, heading.
const FACE: [(&str, &str); 13] = [
    ("id", "face"),
    ("remote", "remote"),
    ("scope", "scope"),
    ("received_packets", "in"),
    ("sent_packets", "out"),
    ("queue_packets", "queue"),
    ("queue_delay_mean_ms", "delay ms"),
    ("dropped_packets", "dropped"),
    ("marked_packets", "marked"),
    ("stored_packets", "stored"),
    ("released_packets", "released"),
    ("loss_notices", "notices"),
    ("malformed", "malformed"),
];

const ROUTE: [(&str, &str); 4] =
    [("prefix", "prefix"), ("face", "face"), ("cost", "cost"), ("origin", "origin")];

/// The lines for people.
pub(crate) fn text(lines: &[StatusLine]) -> String {
    let mut text = String::new();
    for line in lines.iter().filter(|line| line.about == "forwarder") {
        for (key, value) in &line.fields {
            text.push_str(&format!("{key:<20}  {value}\n"));
        }
    }
    for (about, columns) in [("face", &FACE[..]), ("route", &ROUTE[..])] {
        text.push('\n');
        text.push_str(&table(lines, about, columns));
    }
    text
}

fn table(lines: &[StatusLine], about: &str, columns: &[(&str, &str)]) -> String {
    let is_text = |key: &str| matches!(key, "remote" | "scope" | "prefix");
    let head: Vec<(&str, Align)> = columns
        .iter()
        .map(|(key, head)| (*head, if is_text(key) { Align::Left } else { Align::Right }))
        .collect();
    let mut table = TextTable::new(&head);
    for line in lines.iter().filter(|line| line.about == about) {
        table.row(columns.iter().map(|(key, _)| cell(line, key)));
    }
    table.render()
}

fn cell(line: &StatusLine, key: &str) -> String {
    let value = line.get(key).unwrap_or("");
    match value.parse::<f64>() {
        Ok(number) if value.contains('.') => tidegate_report::text::number(number),
        _ => value.to_owned(),
    }
}

/// The lines for programs: one list per kind of line.
pub(crate) fn json(lines: &[StatusLine]) -> Json {
    let of = |about: &str| {
        let lines = lines.iter().filter(|line| line.about == about);
        Json::List(lines.map(as_json).collect())
    };
    Json::Object(vec![("forwarder", of("forwarder")), ("faces", of("face")), ("routes", of("route"))])
}

fn as_json(line: &StatusLine) -> Json {
    let value = |text: &str| match (text.parse::<u64>(), text.parse::<f64>()) {
        (Ok(count), _) => Json::Count(count),
        (_, Ok(number)) => Json::Number(number),
        _ => Json::text(text),
    };
    Json::Map(line.fields.iter().map(|(key, text)| (key.clone(), value(text))).collect())
}
