//! URI form of names with typed components: `/file/v=1700000000000000/seg=3` (naming conventions, revision
//! 3).
//!
//! A component without a typed form is written as in core.

use tidegate_core::ndn::name::{Name, NameError, NameTable};
use tidegate_wire::tlv::{self, TlvReader};

/// Components whose value is a number, by the prefix of their URI form.
const NUMBERED: [(&str, u32); 5] = [("seg=", 50), ("off=", 52), ("v=", 54), ("t=", 56), ("seq=", 58)];

/// The concatenated components of a name.
///
/// # Errors
/// When the text does not start with `/` (or `ndn:/`), a component is empty, an escape is malformed, there is
/// no number where one has to be, or a digest has not 32 bytes.
pub fn parse(uri: &str) -> Result<Vec<u8>, String> {
    let path = uri.strip_prefix("ndn:").unwrap_or(uri);
    let mut components = Vec::new();
    if !path.starts_with('/') {
        return Err(format!("name {uri:?} does not start with \"/\""));
    }
    // A slash at the end is common; it does not begin an empty component.
    let path = path.strip_suffix('/').unwrap_or(path);
    for component in path.split('/').skip(1) {
        match numbered(component) {
            Some((kind, number)) => tlv::write_integer(&mut components, kind, number),
            None if component.is_empty() => return Err(format!("name {uri:?} has an empty component")),
            None => other(component, &mut components).map_err(|why| why.to_string())?,
        }
    }
    Ok(components)
}

/// Appends a component that core reads.
fn other(component: &str, out: &mut Vec<u8>) -> Result<(), NameError> {
    let mut names = NameTable::new();
    let prefix = names.intern_uri(&format!("/{component}"))?;
    names.write_components(Name::whole(prefix), out);
    Ok(())
}

fn numbered(component: &str) -> Option<(u32, u64)> {
    NUMBERED.iter().find_map(|(letters, kind)| Some((*kind, component.strip_prefix(letters)?.parse().ok()?)))
}

/// The name with these concatenated components, as a URI.
pub fn show(components: &[u8]) -> String {
    let mut uri = String::new();
    let mut reader = TlvReader::new(components);
    while let Ok(Some(element)) = reader.next() {
        let letters = NUMBERED.iter().find(|(_, kind)| *kind == element.kind).map(|(letters, _)| letters);
        let mut shortest = Vec::new();
        match (letters, element.integer()) {
            // A number that is not in its shortest form is another component; as a number its bytes would be
            // lost.
            (Some(letters), Ok(number)) if tlv::integer_len(number) == element.value.len() => {
                uri.push_str(&format!("/{letters}{number}"));
            }
            _ => {
                tlv::write_element(&mut shortest, element.kind, element.value);
                let mut names = NameTable::new();
                let shown = names.intern_prefix(&shortest).map(|prefix| names.uri(Name::whole(prefix)));
                uri.push_str(&shown.unwrap_or_else(|_| "/?".to_owned()));
            }
        }
    }
    if uri.is_empty() { "/".to_owned() } else { uri }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_segments_are_read_and_shown_as_numbers() {
        let text = "/a%20b/v=1700000000000000/seg=3/t=5/off=0/seq=300";
        let components = parse(text).expect("a name");
        assert_eq!(show(&components), text);
        assert_eq!(components[..15], [8, 3, b'a', b' ', b'b', 54, 8, 0, 6, 10, 36, 24, 30, 64, 0]);
        assert_eq!(parse("ndn:/a/"), parse("/a"));
    }

    #[test]
    fn what_is_no_shortest_number_is_shown_as_core_shows_it() {
        let text = "/54=%00%01";
        assert_eq!(show(&parse(text).expect("a name")), text);
        assert_eq!(show(&parse("/32=metadata").expect("a name")), "/32=metadata");
        assert_eq!((show(&[]), parse("/")), ("/".to_owned(), Ok(vec![])));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["a", "", "/a//b", "/a/v=x", "/%4", "/2=digest"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
