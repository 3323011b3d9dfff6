//! Command `rib/announce`: a route from the announcement of a producer.

use super::super::Daemon;
use super::authority::CommandSender;
use super::request::RequestRefusal;
use super::wall_millis;
use crate::nfd::{ControlParameters, FLAG_CHILD_INHERIT, ORIGIN_PREFIX_ANNOUNCEMENT, PrefixAnnouncement};

/// Cost of a route from a prefix announcement, as in NFD.
const COST: u64 = 2_048;

impl Daemon {
    /// Registers the announced prefix through the face on which the command arrived.
    pub(super) fn announce(
        &mut self,
        sender: CommandSender,
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
        self.register(sender, route)
    }
}
