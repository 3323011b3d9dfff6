//! JSON for other programs: within HTML, and in traces.

use std::fmt::Write;

use serde_json::Value;

/// `value` in a form that is safe in an HTML `<script>`: no `<`, `>`, `&` and no JavaScript line ends.
pub(crate) fn to_script(value: &Value) -> String {
    let mut text = String::new();
    for character in value.to_string().chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            _ => text.push(character),
        }
    }
    text
}

/// A number, without `.0` if it is whole, since a page has up to a million of them.
pub(crate) fn number(value: f64) -> Value {
    // The cast saturates, and NaN becomes 0: both differ from the value then.
    let whole = value as i64;
    if whole as f64 == value { whole.into() } else { value.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_fraction_and_others_are_unchanged() {
        let values = [3.0, -2.0, 2.5, 1e300, f64::NAN].map(number);
        assert_eq!(serde_json::json!(values).to_string(), "[3,-2,2.5,1e+300,null]");
    }

    #[test]
    fn a_script_cannot_be_left() {
        let script = to_script(&serde_json::json!({ "name": "</script><!-- & \u{2028}" }));
        assert_eq!(script, r#"{"name":"\u003c/script\u003e\u003c!-- \u0026 \u2028"}"#);
    }
}
