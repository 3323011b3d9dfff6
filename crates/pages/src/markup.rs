//! Text for HTML and SVG: escaping, building of markup, lengths of text.

use std::fmt::{self, Write};

/// Text escaped for HTML and XML, in elements and in quoted attributes.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // XML 1.0 permits no other control characters, not even escaped.
                control if control.is_control() && !matches!(control, '\n' | '\t') => {
                    f.write_char('\u{fffd}')?
                }
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// HTML or SVG, built piece by piece.
#[derive(Default)]
pub(crate) struct Markup(pub(crate) String);

impl Markup {
    /// Adds formatted markup; text in it must be [`Escaped`].
    pub(crate) fn add(&mut self, parts: fmt::Arguments<'_>) {
        self.0.write_fmt(parts).expect("a String takes everything");
    }
}

/// Approximate width of a text of `size` pixels in a sans-serif face, px.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.56
}

/// The text, or its beginning with an ellipsis when it has more than `max` characters.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_text_stays_text() {
        let shown = Escaped("</script><a href=\"x\" title='y'>&\u{8}").to_string();
        assert_eq!(shown, "&lt;/script&gt;&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;\u{fffd}");
    }

    #[test]
    fn long_text_is_shortened_by_characters_not_bytes() {
        assert_eq!(shortened("ééééé", 5), "ééééé");
        assert_eq!(shortened("éééééé", 5), "éééé…");
    }
}
