//! Status of a forwarder as lines of text: the subject in one word, then `key=value` fields.
//!
//! Published under `/localhost/tidegate/status`; `tidegate status` reads it.

use std::fmt::{Display, Write};

/// One line of a status report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusLine {
    /// Subject of the line: `forwarder`, `face`, `flow` or `route`.
    pub about: String,
    /// Fields in the order written; the unit is the last part of a key.
    pub fields: Vec<(String, String)>,
}

impl StatusLine {
    /// A line without fields yet.
    pub fn new(about: &str) -> Self {
        Self { about: about.to_owned(), fields: Vec::new() }
    }

    /// Appends a field to the line.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Display) -> Self {
        self.fields.push((key.to_owned(), value.to_string()));
        self
    }

    /// The value of a field; `None` when there is none of that name.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

/// The lines as text; spaces and line ends in a value are written as `%20` and so on.
pub fn write(lines: &[StatusLine]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.about);
        for (key, value) in &line.fields {
            let _ = write!(text, " {key}={}", escaped(value));
        }
        text.push('\n');
    }
    text
}

fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for letter in value.chars() {
        // Only letters that separate lines and fields are escaped, so that a status is readable as it is.
        match letter {
            '%' | ' ' | '\n' | '\r' | '\t' => {
                let _ = write!(text, "%{:02X}", letter as u32);
            }
            _ => text.push(letter),
        }
    }
    text
}

/// Reads lines back; anything but `key=value` is ignored, so that later versions may add to it.
pub fn read(text: &str) -> Vec<StatusLine> {
    let line = |line: &str| {
        let mut words = line.split(' ');
        let about = words.next().unwrap_or_default().to_owned();
        let fields = words.filter_map(|word| word.split_once('='));
        StatusLine { about, fields: fields.map(|(key, value)| (key.to_owned(), unescaped(value))).collect() }
    };
    text.lines().filter(|line| !line.is_empty()).map(line).collect()
}

fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        // Reading never fails: a `%` that begins no escape stays as it is.
        let code = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                text.push(char::from(code));
                rest = &after[2..];
            }
            None => {
                text.push('%');
                rest = after;
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_being_written_and_read() {
        let lines = [
            StatusLine::new("forwarder").with("uptime_s", 12.5).with("version", "0.1 %x\ny"),
            StatusLine::new("face").with("uri", "unix:///tmp/a b=c"),
        ];
        assert_eq!(read(&write(&lines)), lines);
        assert_eq!(lines[1].get("uri"), Some("unix:///tmp/a b=c"));
        assert_eq!(lines[1].get("uris"), None);
    }

    #[test]
    fn whatever_the_text_reading_it_does_not_fail() {
        for text in ["", "\n\n", "face", "face x y=z%", "face y=%zz %", "=="] {
            read(text);
        }
    }
}
