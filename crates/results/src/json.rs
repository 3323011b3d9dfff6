//! A JSON value that prints itself: escaped as RFC 8259 requires, NaN and infinities as `null`.

use std::fmt::{self, Write};

/// A JSON value; keys stay in the given order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Count(u64),
    /// A number, with the fewest digits that read back to the same bits; `null` when not finite.
    Number(f64),
    /// Text.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Object(Vec<(&'static str, Json)>),
    /// An object whose keys are not known at compile time.
    Map(Vec<(String, Json)>),
}

impl Json {
    /// Text from anything printable.
    pub fn text(value: impl fmt::Display) -> Self {
        Self::Text(value.to_string())
    }

    /// The value, or `null` for none.
    pub fn maybe(value: Option<impl Into<Self>>) -> Self {
        value.map_or(Self::Null, Into::into)
    }

    /// The value in a form that is safe in an HTML `<script>`: no `<`, `>`, `&` and no JavaScript line ends.
    pub fn to_script(&self) -> String {
        let mut text = String::new();
        for character in self.to_string().chars() {
            match character {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(text, "\\u{:04x}", u32::from(character));
                }
                _ => text.push(character),
            }
        }
        text
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Count(value) => write!(f, "{value}"),
            Self::Number(value) if value.is_finite() => write!(f, "{value}"),
            Self::Number(_) => f.write_str("null"),
            Self::Text(text) => write_text(f, text),
            Self::List(values) => {
                f.write_char('[')?;
                for (position, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if position > 0 { "," } else { "" })?;
                }
                f.write_char(']')
            }
            Self::Object(entries) => write_object(f, entries),
            Self::Map(entries) => write_object(f, entries),
        }
    }
}

fn write_object(f: &mut fmt::Formatter<'_>, entries: &[(impl AsRef<str>, Json)]) -> fmt::Result {
    f.write_char('{')?;
    for (position, (key, value)) in entries.iter().enumerate() {
        f.write_str(if position > 0 { "," } else { "" })?;
        write_text(f, key.as_ref())?;
        write!(f, ":{value}")?;
    }
    f.write_char('}')
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_backslashes_and_control_characters_are_escaped() {
        assert_eq!(Json::from("a\"b\\c\n\u{1}é").to_string(), r#""a\"b\\c\n\u0001é""#);
    }

    #[test]
    fn numbers_that_json_cannot_hold_are_null() {
        let values = [f64::NAN, f64::INFINITY, -1.5, 1e300].map(Json::Number).to_vec();
        assert!(Json::List(values).to_string().starts_with("[null,null,-1.5,1000"));
    }

    #[test]
    fn a_script_cannot_be_left() {
        let script = Json::Object(vec![("name", Json::from("</script><!-- & \u{2028}"))]).to_script();
        assert_eq!(script, r#"{"name":"\u003c/script\u003e\u003c!-- \u0026 \u2028"}"#);
    }
}
