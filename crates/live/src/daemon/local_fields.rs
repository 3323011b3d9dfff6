//! Local fields of NDNLPv2: IncomingFaceId on Interests to applications that enabled it.
//!
//! A packet has no field for the face it came from, and may wait in a queue. So the faces of the last Interests are
//! remembered by name and nonce, as long as an application uses them.

use std::collections::VecDeque;

use tidegate_core::ndn::name::Name;
use tidegate_core::ndn::packet::{Header, Kind};

/// Maximum number of Interests whose faces are remembered; one that waits longer is sent without the field.
const MAX_INTERESTS: usize = 1_024;

/// Faces from which the last Interests came.
#[derive(Debug, Default)]
pub(super) struct IncomingFaces {
    /// Number of faces with local fields.
    users: usize,
    /// Name and nonce of an Interest with the number of its face, oldest first.
    interests: VecDeque<(Name, u32, u64)>,
}

impl IncomingFaces {
    /// Counts a face that begins or ends the use of local fields.
    pub fn set_used(&mut self, is_used: bool) {
        self.users = if is_used { self.users + 1 } else { self.users.saturating_sub(1) };
        if self.users == 0 {
            self.forget();
        }
    }

    /// Records an Interest from the face of this number, if any face uses local fields.
    #[inline]
    pub fn record(&mut self, header: &Header, number: u64) {
        if self.users > 0 {
            self.record_used(header, number);
        }
    }

    #[cold]
    fn record_used(&mut self, header: &Header, number: u64) {
        let Kind::Interest(interest) = header.kind else { return };
        if self.interests.len() >= MAX_INTERESTS {
            self.interests.pop_front();
        }
        self.interests.push_back((header.name, interest.nonce, number));
    }

    /// Number of the face that an Interest came from; `None` for other packets and if it is not known any more.
    pub fn find(&self, header: &Header) -> Option<u64> {
        let Kind::Interest(interest) = header.kind else { return None };
        let key = (header.name, interest.nonce);
        let known = self.interests.iter().rev().find(|(name, nonce, _)| (*name, *nonce) == key);
        known.map(|(_, _, number)| *number)
    }

    /// Forgets all Interests, whose names may be removed.
    pub fn forget(&mut self) {
        self.interests.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::name::PrefixId;
    use tidegate_core::ndn::packet::{Interest, Millis, PitToken};
    use tidegate_core::units::ByteCount;

    fn interest(segment: u32, nonce: u32) -> Header {
        let kind = Kind::Interest(Interest {
            nonce,
            lifetime: Millis(1_000),
            token: PitToken(0),
            hop_limit: None,
            can_be_prefix: false,
            must_be_fresh: false,
        });
        Header::new(Name::segment(PrefixId(0), segment), kind, ByteCount::new(50))
    }

    #[test]
    fn the_face_of_an_interest_is_found_by_name_and_nonce_while_it_is_used() {
        let mut faces = IncomingFaces::default();
        faces.record(&interest(1, 1), 7);
        assert_eq!(faces.find(&interest(1, 1)), None);
        faces.set_used(true);
        faces.record(&interest(1, 1), 7);
        faces.record(&interest(1, 2), 8);
        let found = [(1, 1), (1, 2), (2, 1)].map(|(segment, nonce)| faces.find(&interest(segment, nonce)));
        assert_eq!(found, [Some(7), Some(8), None]);
        faces.set_used(false);
        assert_eq!(faces.find(&interest(1, 1)), None);
    }

    #[test]
    fn the_oldest_interests_are_forgotten() {
        let mut faces = IncomingFaces::default();
        faces.set_used(true);
        (0..=MAX_INTERESTS as u32).for_each(|segment| faces.record(&interest(segment, 1), 7));
        assert_eq!((faces.find(&interest(0, 1)), faces.find(&interest(1, 1))), (None, Some(7)));
        assert_eq!(faces.interests.len(), MAX_INTERESTS);
    }
}
