//! Version discovery (Realtime Data Retrieval protocol): a Data under `32=metadata` contains the versioned name.

use crate::error::DecodeError;
use crate::name::NameView;
use crate::tlv::{self, TlvReader, types};

/// Appends the component that addresses an object's metadata: `32=metadata`.
pub fn push_metadata(components: &mut Vec<u8>) {
    tlv::write_element(components, types::KEYWORD_NAME_COMPONENT, b"metadata");
}

/// Appends a version component (`v=`).
pub fn push_version(components: &mut Vec<u8>, version: u64) {
    tlv::write_integer(components, types::VERSION_NAME_COMPONENT, version);
}

/// Content of a metadata Data for the object of this name (concatenated components, version included).
pub fn metadata(versioned_name: &[u8]) -> Vec<u8> {
    let mut content = Vec::with_capacity(versioned_name.len() + 4);
    tlv::write_element(&mut content, types::NAME, versioned_name);
    content
}

/// The versioned name in the content of a metadata Data. Anything after the name is for newer readers.
///
/// # Errors
/// When the content does not begin with a Name of at least one component.
pub fn versioned_name(content: &[u8]) -> Result<NameView<'_>, DecodeError> {
    let missing = DecodeError::Missing { element: types::NAME, inside: types::CONTENT };
    let first = TlvReader::new(content).next()?.filter(|element| element.kind == types::NAME);
    let name = NameView::parse(&first.ok_or(missing.clone())?)?;
    if name.is_empty() { Err(missing) } else { Ok(name) }
}

/// The number in the last component if that is a version; `None` otherwise.
pub fn version_of(name: &NameView<'_>) -> Option<u64> {
    let last = name.last().filter(|component| component.kind == types::VERSION_NAME_COMPONENT)?;
    last.integer().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_versioned_name_comes_back_from_metadata_content() {
        let mut name = vec![8, 1, b'a'];
        push_version(&mut name, 1_700_000_000_000);
        let content = metadata(&name);
        let view = versioned_name(&content).expect("valid");
        assert_eq!(view.components(), name);
        assert_eq!(version_of(&view), Some(1_700_000_000_000));
    }

    #[test]
    fn content_that_does_not_begin_with_a_name_is_no_metadata() {
        for content in [&[][..], &[7, 0], &[8, 1, 0], &[7, 2, 8]] {
            assert!(versioned_name(content).is_err(), "{content:?}");
        }
        assert!(versioned_name(&[7, 3, 8, 1, b'a', 99, 0]).is_ok(), "more may follow");
    }

    #[test]
    fn a_name_that_does_not_end_with_a_version_has_none() {
        let view = |content: &[u8]| version_of(&versioned_name(content).expect("valid"));
        assert_eq!(view(&[7, 3, 8, 1, b'a']), None);
        assert_eq!(view(&[7, 5, 54, 3, 1, 2, 3]), None);
        assert_eq!(view(&[7, 3, 54, 1, 9]), Some(9));
    }
}
