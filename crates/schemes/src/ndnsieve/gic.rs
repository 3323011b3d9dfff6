//! State of the network at the controller (§3.1: topology management and global information cache).

use std::collections::BTreeMap;

use tidegate_core::prelude::*;
use crate::ndnsieve::messages::{FaceLoad, Port, Route};

/// Reports of one router.
#[derive(Debug, Default)]
struct Router {
    ports: Vec<Port>,
    routes: BTreeMap<PrefixId, Route>,
    /// Time at which the routes were sent.
    routes_at: Time,
    loads: BTreeMap<FaceId, (FaceLoad, Time)>,
}

/// Reports of all routers.
#[derive(Debug, Default)]
pub(super) struct Gic {
    routers: BTreeMap<NodeId, Router>,
}

impl Gic {
    /// Whether `node` reports; hosts do not.
    pub(super) fn is_router(&self, node: NodeId) -> bool {
        self.routers.contains_key(&node)
    }

    /// Records the ports that a router reported.
    pub(super) fn learn(&mut self, from: NodeId, sent_at: Time, ports: &[Port], routes: &[Route]) {
        let router = self.routers.entry(from).or_default();
        router.ports = ports.to_vec();
        router.routes = routes.iter().map(|route| (route.prefix, route.clone())).collect();
        router.routes_at = sent_at;
    }

    /// Records a load that a router reported; an older one never replaces a newer one.
    pub(super) fn update(&mut self, from: NodeId, sent_at: Time, load: &FaceLoad) {
        let known = self.routers.entry(from).or_default().loads.entry(load.face).or_insert((*load, sent_at));
        if known.1 <= sent_at {
            *known = (*load, sent_at);
        }
    }

    /// The newest load of a face.
    pub(super) fn load(&self, node: NodeId, face: FaceId) -> Option<FaceLoad> {
        self.routers.get(&node)?.loads.get(&face).map(|(load, _)| *load)
    }

    /// The node at the other end of a face.
    pub(super) fn neighbour(&self, node: NodeId, face: FaceId) -> Option<NodeId> {
        self.routers.get(&node)?.ports.iter().find(|port| port.face == face)?.neighbour
    }

    /// The other end of the link at `face` of `node`: a node and its face. Of parallel links the first at one end is
    /// the first at the other.
    pub(super) fn far_end(&self, node: NodeId, face: FaceId) -> Option<(NodeId, Option<FaceId>)> {
        let beyond = self.neighbour(node, face)?;
        let towards = |from: NodeId, to: NodeId| {
            let ports = self.routers.get(&from).map_or(&[][..], |router| &router.ports);
            ports.iter().filter(move |port| port.neighbour == Some(to)).map(|port| port.face)
        };
        let place = towards(node, beyond).position(|other| other == face)?;
        Some((beyond, towards(beyond, node).nth(place)))
    }

    /// Upstream and downstream faces of a prefix at `node`, and the time of the report.
    pub(super) fn route(&self, node: NodeId, prefix: PrefixId) -> Option<(&Route, Time)> {
        let router = self.routers.get(&node)?;
        router.routes.get(&prefix).map(|route| (route, router.routes_at))
    }

    /// Faces over which `node` can reach a prefix: up, and not those through which its Data leaves.
    pub(super) fn upstream(&self, node: NodeId, prefix: PrefixId) -> Vec<FaceId> {
        let Some((route, _)) = self.route(node, prefix) else { return Vec::new() };
        let Some(router) = self.routers.get(&node) else { return Vec::new() };
        let is_up = |face: FaceId| router.ports.iter().any(|port| port.face == face && port.is_up);
        // Data leaves towards consumers, so an Interest sent to such a face would come back.
        let usable = |face: &FaceId| !route.downstream.contains(face) && is_up(*face);
        route.faces.iter().copied().filter(usable).collect()
    }
}
