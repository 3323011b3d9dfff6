//! Arguments of calls at a node, borrowed from separate fields of the world.

/// What is around a node, for a call at it; a macro, because the borrows of the fields must stay apart.
macro_rules! env {
    ($world:expr, $node:expr) => {{
        $world.present.node = ::tidegate_core::ndn::face::NodeId($node as u32);
        ::tidegate_core::context::Env::new(&$world.names, &mut $world.present)
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
