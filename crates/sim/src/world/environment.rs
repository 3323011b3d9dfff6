//! Arguments of calls at a node, borrowed from separate fields of the world.

/// Surroundings of a call at a node; a macro, because the borrows of the fields must stay apart.
macro_rules! env {
    ($world:expr, $node:expr) => {{
        // Read before the recorder is borrowed as the sink.
        let (node, mask) = (::tidegate_core::ndn::face::NodeId($node as u32), $world.recorder.mask);
        ::tidegate_core::context::Env::new($world.agenda.now, node, &$world.names, &mut $world.recorder)
            .with_routes(&$world.routes)
            .with_mask(mask)
    }};
}

/// The devices of a node, from fields that nothing else borrows.
macro_rules! lines {
    ($world:expr, $ids:expr) => {
        &mut $crate::world::DeviceLines {
            ids: $ids,
            directions: &mut $world.directions,
            agenda: &mut $world.agenda,
        }
    };
}
