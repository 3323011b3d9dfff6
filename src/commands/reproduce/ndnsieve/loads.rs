//! Load and queue occupancy of every face (eq. 1 and 2), computed from a trace of packets.

use std::collections::BTreeMap;

use tidegate_core::event::Event;
use tidegate_core::name::Name;
use tidegate_core::packet::{Header, Kind};
use tidegate_core::records::{EventRecord, RunRecord};
use tidegate_settings::queue::QueuePlan;
use tidegate_sim::plan::Plan;

/// Thresholds and meter as in the scenarios: the scheme's defaults.
const TH1: f64 = 0.9;
const TH2: f64 = 0.1;
const WINDOW_NANOS: u64 = 10_000_000;
const WEIGHT: f64 = 0.5;

/// A face of a node.
type Port = (u32, u16);

/// Utilisation of every face at the end of each measuring window, and limits of queues.
pub(super) struct Loads {
    utilisation: BTreeMap<Port, Vec<f64>>,
    /// Packets that each queue holds.
    limit: BTreeMap<Port, f64>,
}

/// A packet as it is forwarded: its name, and whether it is Data.
fn forwarded(header: &Header) -> (Name, bool) {
    (header.name, matches!(header.kind, Kind::Data(_)))
}

impl Loads {
    pub(super) fn of(plan: &Plan, run: &RunRecord) -> Self {
        let (rate, limit) = ports(plan);
        let windows = usize::try_from(run.ended.as_nanos() / WINDOW_NANOS).unwrap_or(0) + 1;
        let offered = offered(&run.events, &rate, windows);
        let metered = |(port, bytes): (Port, Vec<u64>)| {
            let capacity = rate[&port] * WINDOW_NANOS as f64 * 1e-9;
            let mut smooth = 0.0;
            let averages = bytes.iter().map(|bytes| {
                smooth += WEIGHT * (*bytes as f64 * 8.0 / capacity - smooth);
                smooth
            });
            (port, averages.collect())
        };
        Self { utilisation: offered.into_iter().map(metered).collect(), limit }
    }

    /// Data marked although the load of its face was not above th1, or that of its queue not above th2. Of those that
    /// still wait when the run ends not everything is known.
    pub(super) fn false_marks(&self, events: &[EventRecord]) -> f64 {
        let mut sent: BTreeMap<Port, u64> = BTreeMap::new();
        // When each Data that waits was marked, and how many its face had sent by then.
        let mut waiting: BTreeMap<(Port, Name), (u64, u64)> = BTreeMap::new();
        let mut wrong = 0;
        for record in events {
            match record.event {
                Event::Marked { face, name, .. } => {
                    let port = (record.node, face);
                    let before = sent.get(&port).copied().unwrap_or(0);
                    waiting.insert((port, name), (record.time.as_nanos(), before));
                }
                Event::Sent { face, header } => {
                    let port = (record.node, face);
                    let count = sent.entry(port).or_default();
                    if let Some((at, before)) = waiting.remove(&(port, header.name)) {
                        // Those sent between stood before it in the queue.
                        let is_long = (*count - before) as f64 / self.limit[&port] > TH2;
                        wrong += u32::from(!is_long || !self.is_loaded(port, at));
                    }
                    *count += 1;
                }
                _ => {}
            }
        }
        f64::from(wrong)
    }

    fn is_loaded(&self, port: Port, at: u64) -> bool {
        let ended = usize::try_from(at / WINDOW_NANOS).unwrap_or(usize::MAX);
        let windows = self.utilisation.get(&port).map_or(&[][..], Vec::as_slice);
        let now = ended.checked_sub(1).and_then(|last| windows.get(last));
        now.is_some_and(|utilisation| *utilisation > TH1)
    }
}

/// Sending rate, bit/s, and queue limit, packets, of every device: a node's faces are its links in order.
fn ports(plan: &Plan) -> (BTreeMap<Port, f64>, BTreeMap<Port, f64>) {
    let (mut rate, mut limit) = (BTreeMap::new(), BTreeMap::new());
    for node in 0..plan.nodes.len() {
        let at = |end: usize, way: usize| (end == node).then_some(way);
        let ways = plan.links.iter().filter_map(|link| Some((link, at(link.a, 0).or(at(link.b, 1))?)));
        for (face, (link, way)) in (0..).zip(ways) {
            rate.insert((node as u32, face), link.rate[way].as_bps() as f64);
            limit.insert((node as u32, face), packets(&link.queue[way]));
        }
    }
    (rate, limit)
}

fn packets(queue: &QueuePlan) -> f64 {
    match queue.limit {
        tidegate_core::face::Limit::Packets(limit) => f64::from(limit.get()),
        tidegate_core::face::Limit::Bytes(_) => f64::NAN,
    }
}

/// Bytes handed to each queue in each window: a packet is at once where it goes.
fn offered(events: &[EventRecord], rate: &BTreeMap<Port, f64>, windows: usize) -> BTreeMap<Port, Vec<u64>> {
    let mut came: BTreeMap<(u32, Name, bool), u64> = BTreeMap::new();
    let mut offered: BTreeMap<Port, Vec<u64>> = BTreeMap::new();
    for record in events {
        match &record.event {
            Event::Received { header, .. } => {
                let (name, is_data) = forwarded(header);
                came.insert((record.node, name, is_data), record.time.as_nanos());
            }
            Event::Sent { face, header } if rate.contains_key(&(record.node, *face)) => {
                let (name, is_data) = forwarded(header);
                let Some(at) = came.get(&(record.node, name, is_data)) else { continue };
                let bytes = offered.entry((record.node, *face)).or_insert_with(|| vec![0; windows]);
                bytes[usize::try_from(at / WINDOW_NANOS).unwrap_or(0)] += header.size().get();
            }
            _ => {}
        }
    }
    offered
}
