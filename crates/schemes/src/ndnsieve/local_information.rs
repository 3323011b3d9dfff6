//! The "Local Information" module (§3.1): a router's state of its faces and prefixes.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;
use crate::ndnsieve::messages::{FaceLoad, Port, Route};

/// Periods without Data after which a face no longer counts as leading to consumers of a prefix.
const QUIET_PERIODS: u32 = 10;

/// Traffic of one face.
#[derive(Debug, Default)]
struct FaceTraffic {
    /// Bytes handed to the queue in this window: the offered load, which may exceed the capacity.
    arrived: u64,
    /// Data bytes in this detection period, by prefix.
    by_prefix: BTreeMap<PrefixId, u64>,
    utilisation: f64,
}

/// Shared by all parts of the scheme on one router.
#[derive(Debug)]
pub(super) struct LocalInformation {
    meters: Vec<FaceTraffic>,
    /// Next hops of the prefixes in use, cheapest first.
    next_hops: BTreeMap<PrefixId, Vec<FaceId>>,
    /// Faces through which Data of a prefix left, with the periods since.
    downstream: BTreeMap<PrefixId, BTreeMap<FaceId, u32>>,
}

impl LocalInformation {
    pub(super) fn new(node: &NodeSetup) -> Self {
        Self {
            meters: node.devices.iter().map(|_| FaceTraffic::default()).collect(),
            next_hops: BTreeMap::new(),
            downstream: BTreeMap::new(),
        }
    }

    /// Records a packet that is handed to the queue of `face`.
    pub(super) fn count(&mut self, face: FaceId, packet: &Header) {
        let meter = &mut self.meters[face.index()];
        let size = packet.size().get();
        meter.arrived += size;
        if matches!(packet.kind, Kind::Data(_)) {
            *meter.by_prefix.entry(packet.name.prefix).or_default() += size;
        }
    }

    /// Utilisation of `face` in the windows that ended.
    pub(super) fn utilisation(&self, face: FaceId) -> f64 {
        self.meters[face.index()].utilisation
    }

    /// Ends a measuring window of `face` at `rate` (eq. 1).
    pub(super) fn end_window(&mut self, face: FaceId, rate: BitRate, window: Span, weight: f64) {
        let meter = &mut self.meters[face.index()];
        let capacity = rate.as_bps() as f64 * window.as_secs_f64();
        let offered = std::mem::take(&mut meter.arrived) as f64 * 8.0 / capacity;
        meter.utilisation += weight * (offered - meter.utilisation);
    }

    /// Data bytes of the detection period by prefix, the largest first; the counters are reset.
    pub(super) fn end_period(&mut self, face: FaceId) -> Vec<(PrefixId, ByteCount)> {
        let meter = &mut self.meters[face.index()];
        for prefix in meter.by_prefix.keys() {
            // 0 periods since the last Data; `age` counts from here.
            self.downstream.entry(*prefix).or_default().insert(face, 0);
        }
        let counted = std::mem::take(&mut meter.by_prefix);
        let mut prefixes: Vec<_> =
            counted.into_iter().map(|(prefix, bytes)| (prefix, ByteCount::new(bytes))).collect();
        prefixes.sort_by_key(|(prefix, bytes)| (std::cmp::Reverse(*bytes), *prefix));
        prefixes
    }

    /// Ends a period for all faces: those quiet for too long are removed.
    pub(super) fn age(&mut self) {
        for faces in self.downstream.values_mut() {
            faces.values_mut().for_each(|periods| *periods += 1);
            faces.retain(|_, periods| *periods <= QUIET_PERIODS);
        }
    }

    /// Records the next hops of `prefix` for an Interest.
    pub(super) fn note_next_hops(&mut self, prefix: PrefixId, hops: impl Iterator<Item = FaceId>) {
        let known = self.next_hops.entry(prefix).or_default();
        known.clear();
        known.extend(hops);
    }

    /// Routes for a report; faces to applications are left out.
    pub(super) fn routes(&self) -> Vec<Route> {
        let devices = |face: &FaceId| face.index() < self.meters.len();
        let route = |(prefix, hops): (&PrefixId, &Vec<FaceId>)| Route {
            prefix: *prefix,
            faces: hops.iter().copied().filter(devices).collect(),
            downstream: self.downstream.get(prefix).into_iter().flatten().map(|(face, _)| *face).collect(),
        };
        self.next_hops.iter().map(route).collect()
    }
}

/// Ports of the router for a report.
pub(super) fn ports(node: &NodeSetup, faces: &[FaceView]) -> Vec<Port> {
    let port = |device: &tidegate_core::scheme::DeviceSetup| {
        let view = &faces[device.face.index()];
        Port {
            face: device.face,
            neighbour: device.neighbour,
            rate: view.rate(),
            delay: device.delay,
            is_up: view.is_up(),
        }
    };
    node.devices.iter().map(port).collect()
}

/// The load of `face` now.
pub(super) fn load(local: &LocalInformation, face: FaceId, queue: &FaceView) -> FaceLoad {
    FaceLoad { face, utilisation: local.utilisation(face), occupancy: queue.occupancy() }
}
