//! Patterns of names in a trust schema.
//!
//! A pattern is written like a name. `{user}` stands for one component, the same one wherever it occurs in a rule, `*` for one
//! component, and `**` at the end for any number of components, none included.

use tidegate_wire::tlv::TlvReader;

use crate::name_uri;

/// Components that names of a rule have in common, each as its whole element.
pub(super) type Captures<'p, 'n> = Vec<(&'p str, &'n [u8])>;

/// One component of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternPart {
    /// This component, as its whole element.
    Literal(Vec<u8>),
    /// Any component of any type.
    Any,
    /// Any component, the same one for each part of this name.
    Captured(String),
}

/// A pattern of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamePattern {
    parts: Vec<PatternPart>,
    /// Whether further components may follow.
    is_open: bool,
    text: String,
}

impl NamePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When it is not of the form of a name, or a placeholder is malformed.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some(path) = text.strip_prefix('/') else {
            return Err(format!("pattern {text:?} does not start with \"/\""));
        };
        let (path, is_open) = match path.strip_suffix("**") {
            Some("") => ("", true),
            Some(start) => (start.strip_suffix('/').ok_or_else(|| malformed("**", text))?, true),
            None => (path, false),
        };
        let words = path.split('/').filter(|_| !path.is_empty());
        let parts = words.map(|word| read_part(word, text)).collect::<Result<_, _>>()?;
        Ok(Self { parts, is_open, text: text.to_owned() })
    }

    /// The pattern as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Names of its captured components.
    pub(super) fn captured(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            PatternPart::Captured(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether it matches a name (concatenated components) with these captures, to which its own are added.
    pub(super) fn matches<'p, 'n>(&'p self, name: &'n [u8], captures: &mut Captures<'p, 'n>) -> bool {
        let mut reader = TlvReader::new(name);
        for part in &self.parts {
            let Ok(Some(component)) = reader.next() else { return false };
            let element = &name[component.start..component.end()];
            let is_equal = match part {
                PatternPart::Literal(literal) => element == literal,
                PatternPart::Any => true,
                PatternPart::Captured(own) => match captures.iter().find(|(captured, _)| captured == own) {
                    Some((_, before)) => element == *before,
                    None => {
                        captures.push((own, element));
                        true
                    }
                },
            };
            if !is_equal {
                return false;
            }
        }
        self.is_open || matches!(reader.next(), Ok(None))
    }

    /// The pattern with the captured components in their places.
    pub(super) fn filled(&self, captures: &Captures<'_, '_>) -> String {
        let part = |part: &PatternPart| match part {
            PatternPart::Literal(component) => name_uri::show(component),
            PatternPart::Any => "/*".to_owned(),
            PatternPart::Captured(own) => match captures.iter().find(|(captured, _)| captured == own) {
                Some((_, component)) => name_uri::show(component),
                None => format!("/{{{own}}}"),
            },
        };
        let end = if self.is_open { "/**" } else { "" };
        self.parts.iter().map(part).collect::<String>() + end
    }
}

fn read_part(word: &str, text: &str) -> Result<PatternPart, String> {
    if word == "*" {
        return Ok(PatternPart::Any);
    }
    if let Some(name) = word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        return match !name.is_empty() && name.chars().all(is_letter) {
            true => Ok(PatternPart::Captured(name.to_owned())),
            false => Err(malformed(word, text)),
        };
    }
    if word.is_empty() || word.contains(['*', '{', '}']) {
        return Err(malformed(word, text));
    }
    name_uri::parse(&format!("/{word}"))
        .map(PatternPart::Literal)
        .map_err(|why| format!("pattern {text:?}: {why}"))
}

fn malformed(word: &str, text: &str) -> String {
    format!(
        "pattern {text:?}: {word:?} is no component; write {{user}} for one that rules compare, * for any one, ** at \
         the end for any number, and %2A for an asterisk"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the names have in common with the patterns, one after the other; `None` if one does not match.
    fn captured(pairs: &[(&str, &str)]) -> Option<String> {
        let patterns: Vec<NamePattern> =
            pairs.iter().map(|(pattern, _)| NamePattern::parse(pattern).expect("a pattern")).collect();
        let names: Vec<Vec<u8>> =
            pairs.iter().map(|(_, name)| name_uri::parse(name).expect("a name")).collect();
        let mut captures = Captures::new();
        let matched = patterns.iter().zip(&names).all(|(pattern, name)| pattern.matches(name, &mut captures));
        let shown = captures.iter().map(|(name, component)| format!("{name}={}", name_uri::show(component)));
        matched.then(|| shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_pattern_matches_names_of_its_form() {
        for (pattern, name, matched) in [
            ("/a/b", "/a/b", Some("")),
            ("/a/b", "/a/b/c", None),
            ("/a/b", "/a", None),
            ("/a/*", "/a/v=5", Some("")),
            ("/a/*", "/a", None),
            ("/a/**", "/a", Some("")),
            ("/a/**", "/a/b/c", Some("")),
            ("/a/**", "/b", None),
            ("/**", "/", Some("")),
            ("/", "/", Some("")),
            ("/", "/a", None),
            ("/{x}/b/{x}", "/a/b/a", Some("x=/a")),
            ("/{x}/b/{x}", "/a/b/c", None),
            ("/v=5/32=ls", "/v=5/32=ls", Some("")),
            ("/v=5", "/v%3D5", None),
        ] {
            assert_eq!(captured(&[(pattern, name)]).as_deref(), matched, "{pattern} {name}");
        }
    }

    #[test]
    fn a_captured_component_is_the_same_in_both_patterns() {
        let data = ("/e/{user}/**", "/e/alice/x");
        assert_eq!(captured(&[data, ("/e/{user}/KEY/*", "/e/alice/KEY/1")]).as_deref(), Some("user=/alice"));
        assert_eq!(captured(&[data, ("/e/{user}/KEY/*", "/e/bob/KEY/1")]), None);
        // Of another type it is another component.
        assert_eq!(captured(&[data, ("/e/{user}/KEY/*", "/e/32=alice/KEY/1")]), None);
    }

    #[test]
    fn a_refused_signer_is_shown_as_it_had_to_be() {
        let pattern = NamePattern::parse("/e/{user}/KEY/*/{other}/**").expect("a pattern");
        let shown = pattern.filled(&vec![("user", &[8, 1, b'a'][..])]);
        assert_eq!(shown, "/e/a/KEY/*/{other}/**");
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in ["a", "", "/a**", "/a*", "/{}", "/{a-b}", "/{a", "/**/a", "/a//b", "/a/%zz", "/x{a}"] {
            let why = NamePattern::parse(text).expect_err(text);
            assert!(why.starts_with(&format!("pattern {text:?}")), "{why}");
        }
    }
}
