//! The canonical spelling of a prefix.

use tidegate_core::ndn::name::{Name, NameTable};

use crate::read_context::show;

/// Maximum length of a prefix, bytes.
const LONGEST_PREFIX: usize = 512;
/// Maximum number of components of a prefix.
const MAX_COMPONENTS: usize = 64;

/// The canonical spelling of the prefix `text`.
///
/// # Errors
/// The reason why it is not valid.
pub fn canonical_prefix(text: &str) -> Result<String, String> {
    let components = text.bytes().filter(|byte| *byte == b'/').count();
    if text.len() > LONGEST_PREFIX || components > MAX_COMPONENTS {
        return Err(format!(
            "prefix {} is too long; at most {LONGEST_PREFIX} bytes and {MAX_COMPONENTS} components",
            show(text)
        ));
    }
    if is_canonical(text) {
        return Ok(text.to_owned());
    }
    let mut names = NameTable::new();
    let prefix = names.intern_uri(text).map_err(|error| error.to_string())?;
    Ok(names.uri(Name::whole(prefix)))
}

/// Whether `text` is obviously canonical; the usual case, ten times as fast as the full comparison.
fn is_canonical(text: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_~".contains(&byte))
    };
    text.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_prefix_are_one() {
        for (text, kept) in [
            ("/a/b", "/a/b"),
            ("/a/b/", "/a/b"),
            ("ndn:/a/b", "/a/b"),
            ("/%61/b", "/a/b"),
            ("/", "/"),
            ("/.../x", "/.../x"),
        ] {
            assert_eq!(canonical_prefix(text).as_deref(), Ok(kept), "{text}");
        }
    }

    #[test]
    fn the_short_way_to_a_canonical_prefix_agrees_with_the_long_one() {
        for text in ["/a", "/a-b/_c/~d", "/0/1/2"] {
            let mut names = NameTable::new();
            let prefix = names.intern_uri(text).expect("valid");
            assert!(is_canonical(text));
            assert_eq!(names.uri(Name::whole(prefix)), text);
        }
        for text in ["", "a", "/", "//", "/a/", "/a//b", "/a b", "/a.b", "/a=b", "/%61", "/ä"] {
            assert!(!is_canonical(text), "{text:?}");
        }
    }
}
