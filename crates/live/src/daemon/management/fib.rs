//! Module `fib`: the next hops of prefixes.

use super::super::{Daemon, routes};
use super::authority::CommandSender;
use super::request::RequestRefusal;
use super::rib::{cost_of, full};
use crate::nfd::{ControlParameters, FibRecord, ORIGIN_STATIC};

impl Daemon {
    /// Content of the dataset `fib/list`.
    pub(super) fn fib_list(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (prefix, hops) in self.node.forwarder().fib().entries() {
            let hops = hops.iter().filter_map(|hop| Some((self.number_of(hop.face)?, u64::from(hop.cost))));
            FibRecord { prefix: self.components(prefix), next_hops: hops.collect() }.encode(&mut out);
        }
        out
    }

    /// Adds a next hop around the RIB, or changes its cost.
    pub(super) fn add_next_hop(
        &mut self,
        sender: CommandSender,
        requested: ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let face = self.face_of(sender, &requested)?;
        let cost = cost_of(&requested)?;
        let prefix = self.prefix_of(&requested)?;
        self.check_changeable(prefix, face, ORIGIN_STATIC)?;
        let (rib, tables) = routes!(self);
        rib.set_next_hop(prefix, (face, Some(cost)), tables).map_err(full)?;
        let (face_id, cost) = (self.number_of(face), Some(u64::from(cost)));
        Ok(ControlParameters { name: requested.name, face_id, cost, ..Default::default() })
    }

    /// Removes a next hop around the RIB; the response is also OK if there is none.
    pub(super) fn remove_next_hop(
        &mut self,
        sender: CommandSender,
        requested: ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let face = self.face_or_gone(sender, &requested)?;
        let prefix = self.prefix_of(&requested)?;
        if let Some(face) = face {
            self.check_changeable(prefix, face, ORIGIN_STATIC)?;
            let (rib, tables) = routes!(self);
            rib.set_next_hop(prefix, (face, None), tables).map_err(full)?;
        }
        let face_id = face.map_or(requested.face_id, |face| self.number_of(face));
        Ok(ControlParameters { name: requested.name, face_id, ..Default::default() })
    }
}
