//! Module `rib`: registration of routes, and the list of them.

use tidegate_core::units::Span;

use super::super::rib::{RibFull, Route};
use super::super::{Daemon, routes};
use super::authority::CommandSender;
use super::request::RequestRefusal;
use crate::nfd::{ControlParameters, FLAG_CAPTURE, FLAG_CHILD_INHERIT, ORIGIN_APP, RibRecord, RouteRecord};

/// Expiration period that stands for a route without end (ndn-cxx), milliseconds.
const NEVER_MS: u64 = i64::MAX as u64;

impl Daemon {
    /// Content of the dataset `rib/list`.
    pub(super) fn rib_list(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, entry) in self.rib.entries() {
            let routes: Vec<RouteRecord> =
                entry.routes().filter_map(|route| self.route_record(route)).collect();
            if !routes.is_empty() {
                RibRecord { prefix: name.to_vec(), routes }.encode(&mut out);
            }
        }
        out
    }

    fn route_record(&self, route: &Route) -> Option<RouteRecord> {
        Some(RouteRecord {
            face_id: self.number_of(route.face)?,
            origin: route.origin,
            cost: u64::from(route.cost),
            flags: route.flags,
            expiration_ms: route.expires.map(|at| at.since(self.now).as_nanos() / 1_000_000),
        })
    }

    pub(super) fn register(
        &mut self,
        sender: CommandSender,
        requested: ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let face = self.face_of(sender, &requested)?;
        let cost = cost_of(&requested)?;
        let prefix = self.prefix_of(&requested)?;
        // NFD's defaults; unknown flags are ignored and not echoed, so that a client sees what holds.
        let flags = requested.flags.unwrap_or(FLAG_CHILD_INHERIT) & (FLAG_CHILD_INHERIT | FLAG_CAPTURE);
        let origin = requested.origin.unwrap_or(ORIGIN_APP);
        self.check_changeable(prefix, face, origin)?;
        self.check_route(sender, prefix, (face, origin))?;
        let ends = requested.expiration_ms.filter(|millis| *millis < NEVER_MS);
        let expires = ends.map(|millis| self.now + Span::from_millis(millis));
        let route = Route { prefix, face, origin, cost, flags, expires, owner: sender.uid };
        let (rib, tables) = routes!(self);
        rib.register(route, tables).map_err(full)?;
        Ok(ControlParameters {
            name: requested.name,
            face_id: self.number_of(face),
            origin: Some(origin),
            cost: Some(u64::from(cost)),
            flags: Some(flags),
            expiration_ms: requested.expiration_ms,
            ..Default::default()
        })
    }

    /// Removes a route; as in NFD, the response is also OK if there was no such route.
    pub(super) fn unregister(
        &mut self,
        sender: CommandSender,
        requested: ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let face = self.face_or_gone(sender, &requested)?;
        let prefix = self.prefix_of(&requested)?;
        let origin = requested.origin.unwrap_or(ORIGIN_APP);
        if let Some(face) = face {
            self.check_changeable(prefix, face, origin)?;
            self.check_route(sender, prefix, (face, origin))?;
            let (rib, tables) = routes!(self);
            rib.unregister(prefix, face, origin, tables);
        }
        Ok(ControlParameters {
            name: requested.name,
            face_id: face.map_or(requested.face_id, |face| self.number_of(face)),
            origin: Some(origin),
            ..Default::default()
        })
    }
}

/// Cost of a route, 0 unless given.
pub(super) fn cost_of(requested: &ControlParameters) -> Result<u32, RequestRefusal> {
    let cost = requested.cost.unwrap_or(0);
    u32::try_from(cost).map_err(|_| RequestRefusal::new(400, format!("Cost {cost} is above 4294967295")))
}

/// Refusal of a route for which there is no room.
pub(super) fn full(RibFull: RibFull) -> RequestRefusal {
    RequestRefusal::new(503, "the RIB is full; unregister routes first")
}
