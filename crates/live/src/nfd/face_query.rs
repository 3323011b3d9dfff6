//! Filter of the dataset `faces/query` (FaceQueryFilter).

use tidegate_wire::DecodeError;
use tidegate_wire::tlv::{Element, TlvReader};

use super::parameters::{keep, text};
use super::status::FaceRecord;
use super::types::*;

/// Selects faces; every field that is given has to match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceQueryFilter {
    /// Number of the face.
    pub face_id: Option<u64>,
    /// URI scheme of either end.
    pub scheme: Option<String>,
    /// Remote end, compared as text.
    pub uri: Option<String>,
    /// Local end, compared as text.
    pub local_uri: Option<String>,
    /// Scope of the face: 0 non-local, 1 local.
    pub scope: Option<u64>,
    /// Persistency of the face: 0 persistent, 1 on demand, 2 permanent.
    pub persistency: Option<u64>,
    /// Kind of link: 0 point to point, 1 multi-access, 2 ad hoc.
    pub link_type: Option<u64>,
}

impl FaceQueryFilter {
    /// Reads the component behind `faces/query`; fields may have any order.
    ///
    /// # Errors
    /// When `bytes` is no FaceQueryFilter or a field in it is malformed.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let element = TlvReader::new(bytes).only()?;
        if element.kind != FACE_QUERY_FILTER {
            let accepted = "FaceQueryFilter (150)";
            return Err(DecodeError::Unexpected { element: element.kind, accepted });
        }
        let (mut found, mut reader) = (Self::default(), element.inside());
        while let Some(field) = reader.next()? {
            found.take(&field)?;
        }
        Ok(found)
    }

    fn take(&mut self, field: &Element<'_>) -> Result<(), DecodeError> {
        let number = match field.kind {
            URI_SCHEME => return keep(&mut self.scheme, text(field)),
            URI => return keep(&mut self.uri, text(field)),
            LOCAL_URI => return keep(&mut self.local_uri, text(field)),
            FACE_ID => &mut self.face_id,
            FACE_SCOPE => &mut self.scope,
            PERSISTENCY => &mut self.persistency,
            LINK_TYPE => &mut self.link_type,
            _ => return Ok(()),
        };
        keep(number, field.integer()?)
    }

    /// Whether every field that is given matches `face`.
    pub fn matches(&self, face: &FaceRecord) -> bool {
        let numbers = [
            (self.face_id, face.face_id),
            (self.scope, face.scope),
            (self.persistency, face.persistency),
            (self.link_type, face.link_type),
        ];
        let texts = [(&self.uri, &face.uri), (&self.local_uri, &face.local_uri)];
        let scheme = |uri: &str| uri.split_once("://").map(|(scheme, _)| scheme.to_owned());
        numbers.iter().all(|(given, found)| given.is_none_or(|given| given == *found))
            && texts.iter().all(|(given, found)| given.as_ref().is_none_or(|given| given == *found))
            && (self.scheme.is_none()
                || self.scheme == scheme(&face.uri)
                || self.scheme == scheme(&face.local_uri))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn face() -> FaceRecord {
        FaceRecord {
            face_id: 260,
            uri: "udp4://192.0.2.1:6363".to_owned(),
            local_uri: "fd://7".to_owned(),
            persistency: 1,
            ..FaceRecord::default()
        }
    }

    #[test]
    fn every_field_of_a_filter_has_to_match() {
        let filters: [(&[u8], bool); 9] = [
            (&[], true),
            (&[105, 2, 1, 4], true),
            (&[105, 2, 1, 5], false),
            (&[131, 4, b'u', b'd', b'p', b'4'], true),
            (&[131, 2, b'f', b'd'], true),
            (&[131, 4, b't', b'c', b'p', b'4'], false),
            (&[129, 6, b'f', b'd', b':', b'/', b'/', b'7', 132, 1, 0], true),
            (&[133, 1, 1, 134, 1, 1], false),
            (&[105, 2, 1, 4, 114, 1, b'x'], false),
        ];
        for (fields, expected) in filters {
            let bytes = [&[150, fields.len() as u8][..], fields].concat();
            let filter = FaceQueryFilter::decode(&bytes).expect("well-formed");
            assert_eq!(filter.matches(&face()), expected, "{filter:?}");
        }
    }

    #[test]
    fn a_malformed_filter_is_refused() {
        for bytes in [&[][..], &[104, 0], &[150, 1], &[150, 2, 105, 0], &[150, 0, 0]] {
            assert!(FaceQueryFilter::decode(bytes).is_err(), "{bytes:?}");
        }
    }
}
