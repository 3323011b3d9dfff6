//! Notification of a change of a face (FaceEventNotification).

use tidegate_wire::tlv;

use super::status::FaceRecord;
use super::types::*;

/// Change of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceEventKind {
    /// The face was created.
    Created,
    /// The face was closed, and its number is not used again.
    Destroyed,
    /// The transport of the face can be used again.
    Up,
    /// The transport of the face has failed.
    Down,
}

impl FaceEventKind {
    const fn number(self) -> u64 {
        match self {
            Self::Created => 1,
            Self::Destroyed => 2,
            Self::Up => 3,
            Self::Down => 4,
        }
    }
}

/// The content of a notification; of the record it has no counters.
pub fn encode_face_event(kind: FaceEventKind, face: &FaceRecord) -> Vec<u8> {
    let (mut fields, mut out) = (Vec::new(), Vec::new());
    tlv::write_integer(&mut fields, FACE_EVENT_KIND, kind.number());
    face.write_ends(&mut fields);
    face.write_properties(&mut fields);
    tlv::write_integer(&mut fields, FLAGS, face.flags);
    tlv::write_element(&mut out, FACE_EVENT, &fields);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_has_the_order_of_ndn_cxx() {
        let (uri, local_uri) = ("a".to_owned(), "b".to_owned());
        let face =
            FaceRecord { face_id: 300, uri, local_uri, persistency: 1, flags: 4, ..Default::default() };
        let fields = [
            &[193, 1, 4, 105, 2, 1, 44, 114, 1, b'a', 129, 1, b'b'][..],
            &[132, 1, 0, 133, 1, 1, 134, 1, 0, 108, 1, 4],
        ];
        let expected = [&[192, 25][..], &fields.concat()].concat();
        assert_eq!(encode_face_event(FaceEventKind::Down, &face), expected);
    }
}
