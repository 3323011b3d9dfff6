//! Announcement of a prefix by a producer: a Data that can be registered as a route.
//!
//! Its name is `/<prefix>/32=PA/<version>/<segment 0>`, its content an expiration period and, possibly, a
//! validity period (NFD wiki, PrefixAnnouncement).

use tidegate_wire::tlv::{TlvReader, is_critical, types as wire};
use tidegate_wire::{DataView, DecodeError, ValidityPeriod, Verifier, signature_type};

use super::types::EXPIRATION_PERIOD;

/// ContentType of a prefix announcement.
const CONTENT_TYPE: u64 = 5;

/// Number of components behind the prefix.
const BEHIND_PREFIX: usize = 3;

/// A prefix that a producer announces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixAnnouncement {
    /// Prefix as concatenated components.
    pub prefix: Vec<u8>,
    /// Maximum time for which it may be used, milliseconds.
    pub expiration_ms: u64,
    /// Time within which it may be used; `None` for any time.
    pub validity: Option<ValidityPeriod>,
}

/// Reason why a prefix announcement cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnouncementError {
    /// The packet is no Data, or its content is malformed.
    #[error("the prefix announcement is malformed: {0}")]
    Malformed(#[from] DecodeError),
    /// The Data is not a prefix announcement by its name and type.
    #[error(
        "the Data is no prefix announcement; expected /<prefix>/32=PA/<version>/<segment 0> of ContentType 5"
    )]
    OtherData,
    /// The digest in the signature does not hold.
    #[error("the digest in the signature of the prefix announcement is wrong")]
    Digest,
    /// The content has an element that is critical and unknown.
    #[error("the prefix announcement has a critical element of type {0}, which is not known")]
    Critical(u32),
    /// The content has no ExpirationPeriod.
    #[error("the prefix announcement has no ExpirationPeriod")]
    NoExpiration,
}

impl PrefixAnnouncement {
    /// Reads a packet. A digest in the signature is verified, signatures with keys are not.
    ///
    /// # Errors
    /// When it is no well-formed announcement.
    pub fn decode(packet: &[u8]) -> Result<Self, AnnouncementError> {
        let data = DataView::parse(packet)?;
        let prefix = prefix_of(&data).ok_or(AnnouncementError::OtherData)?;
        if data.signature.kind == signature_type::DIGEST_SHA256 {
            Verifier::Digest.verify_data(&data).map_err(|_| AnnouncementError::Digest)?;
        }
        let (mut expiration_ms, mut validity) = (None, None);
        let mut reader = TlvReader::new(data.content);
        while let Some(field) = reader.next()? {
            match field.kind {
                EXPIRATION_PERIOD => expiration_ms = Some(field.integer()?),
                wire::VALIDITY_PERIOD => validity = Some(ValidityPeriod::parse(&field)?),
                kind if is_critical(kind) => return Err(AnnouncementError::Critical(kind)),
                _ => {}
            }
        }
        let expiration_ms = expiration_ms.ok_or(AnnouncementError::NoExpiration)?;
        Ok(Self { prefix, expiration_ms, validity })
    }

    /// Time for which it may be used from `now_ms` on (Unix milliseconds), milliseconds; `None` if it is not valid
    /// now.
    pub fn lifetime_ms(&self, now_ms: u64) -> Option<u64> {
        let Some(validity) = self.validity else { return Some(self.expiration_ms) };
        // The last second is included.
        let end_ms = (validity.not_after + 1) * 1_000;
        let is_valid = validity.includes(now_ms / 1_000);
        is_valid.then(|| self.expiration_ms.min(end_ms.saturating_sub(now_ms)))
    }
}

/// The prefix in the name of an announcement; `None` for other Data.
fn prefix_of(data: &DataView<'_>) -> Option<Vec<u8>> {
    let place = data.name.len().checked_sub(BEHIND_PREFIX)?;
    let mut behind = data.name.iter().skip(place);
    let (keyword, version, segment) = (behind.next()?, behind.next()?, behind.next()?);
    let is_announcement = data.content_type == CONTENT_TYPE
        && (keyword.kind, keyword.value) == (wire::KEYWORD_NAME_COMPONENT, b"PA")
        && version.kind == wire::VERSION_NAME_COMPONENT
        && segment.kind == wire::SEGMENT_NAME_COMPONENT
        && segment.integer() == Ok(0);
    let components = data.name.components();
    let behind_len = segment.end() - keyword.start;
    is_announcement.then(|| components[..components.len() - behind_len].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_wire::{DataBuilder, Signer};

    const NAME: &[u8] = &[8, 1, b'a', 32, 2, b'P', b'A', 54, 1, 9, 50, 1, 0];

    fn decode(
        name: &[u8],
        content_type: u64,
        content: &[u8],
    ) -> Result<PrefixAnnouncement, AnnouncementError> {
        let data = DataBuilder { name, content_type, content, ..DataBuilder::default() };
        PrefixAnnouncement::decode(&data.sign(&Signer::Digest).expect("small"))
    }

    /// An hour, and the year 2025.
    fn limited() -> Vec<u8> {
        let times = [&[253, 0, 254, 15][..], b"20250101T000000", &[253, 0, 255, 15], b"20251231T235959"];
        let times = times.concat();
        [&[109, 4, 0, 54, 238, 128, 253, 0, 253, times.len() as u8][..], &times].concat()
    }

    #[test]
    fn an_announcement_has_a_prefix_and_a_time() {
        let found = decode(NAME, 5, &[109, 2, 1, 0]).expect("well-formed");
        assert_eq!((&found.prefix[..], found.expiration_ms, found.validity), (&[8, 1, b'a'][..], 256, None));
        assert_eq!(found.lifetime_ms(0), Some(256));
    }

    #[test]
    fn an_announcement_ends_with_its_validity_period() {
        let found = decode(NAME, 5, &limited()).expect("well-formed");
        let end_ms = 1_767_225_600_000;
        assert_eq!(found.lifetime_ms(end_ms - 10_000_000), Some(3_600_000));
        assert_eq!(found.lifetime_ms(end_ms - 1_500), Some(1_500));
        assert_eq!((found.lifetime_ms(end_ms), found.lifetime_ms(0)), (None, None));
    }

    #[test]
    fn other_data_is_refused() {
        let content = [109, 1, 1];
        assert_eq!(decode(NAME, 0, &content), Err(AnnouncementError::OtherData));
        for name in [
            &NAME[..10],
            &[8, 1, b'a', 32, 2, b'P', b'B', 54, 1, 9, 50, 1, 0],
            &[8, 1, b'a', 32, 2, b'P', b'A', 50, 1, 9, 50, 1, 0],
            &[8, 1, b'a', 32, 2, b'P', b'A', 54, 1, 9, 50, 1, 1],
        ] {
            assert_eq!(decode(name, 5, &content), Err(AnnouncementError::OtherData), "{name:?}");
        }
        assert_eq!(decode(NAME, 5, &[]), Err(AnnouncementError::NoExpiration));
        assert_eq!(decode(NAME, 5, &[109, 1, 1, 201, 0]), Err(AnnouncementError::Critical(201)));
        assert!(decode(NAME, 5, &[109, 1, 1, 200, 0]).is_ok());
        for malformed in [&[109, 0][..], &[109], &[109, 1, 1, 253, 0, 253, 0]] {
            assert!(matches!(decode(NAME, 5, malformed), Err(AnnouncementError::Malformed(_))));
        }
    }

    #[test]
    fn a_damaged_digest_is_refused() {
        let data =
            DataBuilder { name: NAME, content_type: 5, content: &[109, 1, 1], ..DataBuilder::default() };
        let mut data = data.sign(&Signer::Digest).expect("small").to_vec();
        let content = data.windows(3).position(|part| part == [109, 1, 1]).expect("there") + 2;
        data[content] = 2;
        assert_eq!(PrefixAnnouncement::decode(&data), Err(AnnouncementError::Digest));
    }
}
