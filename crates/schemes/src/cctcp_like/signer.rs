//! The router part: Data carries the number of the node that returned it.
//!
//! A node that satisfies an Interest itself writes its own number. Data that arrives without a number comes from a node without this part,
//! and is attributed to the neighbour.

use tidegate_core::prelude::*;
use crate::cctcp_like::ROUTER_ID;

/// The gate of one face.
#[derive(Debug)]
pub(super) struct Signer {
    own: u32,
    neighbour: u32,
}

impl Signer {
    /// The gate of `node` towards `neighbour`; if that is unknown, Data from there is attributed to this node.
    pub(super) fn new(node: NodeId, neighbour: Option<NodeId>) -> Self {
        Self { own: source(node), neighbour: source(neighbour.unwrap_or(node)) }
    }
}

/// Identity with which a node signs: 0 is reserved for none.
fn source(node: NodeId) -> u32 {
    node.0 + 1
}

impl FaceGate for Signer {
    fn on_data_in(&mut self, _: &mut Context<'_>, _: PitId, data: &mut Header, _: Option<Span>) {
        if data.hop.get(ROUTER_ID).is_none() {
            data.hop.put(ROUTER_ID, self.neighbour);
        }
    }

    fn on_data_out(&mut self, _: &mut Context<'_>, data: &mut Header, source: DataSource) {
        if source != DataSource::Face {
            data.hop.put(ROUTER_ID, self.own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_testkit::gate_bench::{GateBench, data};

    /// Identity on a Data after a node 4 with the neighbour 7 received it, or sent it.
    fn signed(before: Option<u32>, sent: Option<DataSource>) -> Option<u32> {
        let mut signer = Signer::new(NodeId(4), Some(NodeId(7)));
        let mut header = data(NameTable::ROOT, 1, 1_000);
        before.map(|by| header.hop.put(ROUTER_ID, by));
        GateBench::new().at(0, |cx| match sent {
            None => signer.on_data_in(cx, PitId(0), &mut header, None),
            Some(source) => signer.on_data_out(cx, &mut header, source),
        });
        header.hop.get(ROUTER_ID)
    }

    #[test]
    fn the_source_of_data_signs_it_and_no_other_node() {
        assert_eq!(signed(None, Some(DataSource::Cache)), Some(5));
        assert_eq!(signed(None, Some(DataSource::Application)), Some(5));
        assert_eq!(signed(Some(9), Some(DataSource::Face)), Some(9));
        assert_eq!(signed(Some(9), None), Some(9));
    }

    #[test]
    fn unsigned_data_are_the_neighbours() {
        assert_eq!(signed(None, None), Some(8));
        assert_eq!(source(NodeId(0)), 1);
    }
}
