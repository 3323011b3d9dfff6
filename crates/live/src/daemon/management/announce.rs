//! Command `rib/announce`: a route from the announcement of a producer.

use tidegate_core::ndn::face::FaceId;

use super::super::Daemon;
use super::request::RequestRefusal;
use super::wall_millis;
use crate::nfd::{ControlParameters, FLAG_CHILD_INHERIT, ORIGIN_PREFIX_ANNOUNCEMENT, PrefixAnnouncement};

/// Cost of a route from a prefix announcement, as in NFD.
const COST: u64 = 2_048;

impl Daemon {
    /// Registers the announced prefix through the face from which the command came.
    pub(super) fn announce(
        &mut self,
        from: FaceId,
        announcement: PrefixAnnouncement,
    ) -> Result<ControlParameters, RequestRefusal> {
        let lifetime = announcement.lifetime_ms(wall_millis());
        let lifetime = lifetime
            .ok_or_else(|| RequestRefusal::new(403, "the prefix announcement is not valid at this time"))?;
        let route = ControlParameters {
            name: Some(announcement.prefix),
            origin: Some(ORIGIN_PREFIX_ANNOUNCEMENT),
            cost: Some(COST),
            flags: Some(FLAG_CHILD_INHERIT),
            expiration_ms: Some(lifetime),
            ..ControlParameters::default()
        };
        self.register(from, route)
    }
}
