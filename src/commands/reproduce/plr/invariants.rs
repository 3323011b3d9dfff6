//! The two invariants of the paper that a trace can show: notices per episode, and a notice's latency.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidegate_core::event::{Cause, Event};
use tidegate_core::name::{Name, NameTable};
use tidegate_core::packet::wire_size;
use tidegate_core::records::{EventRecord, RunRecord};
use tidegate_core::units::{Span, Time};
use tidegate_sim::plan::Plan;

/// Events that the invariants need: losses heard of, and everything the storage does.
pub(super) const EVENTS: u32 = 4 | 64;

/// The worst of one run; minus infinity where the trace has no case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Invariants {
    /// Most notices of one interface between two packets given back, over the storage's size.
    pub(super) notices_over_storage: f64,
    /// Largest latency of a notice beyond propagation, one full packet and the notice itself per hop, us.
    pub(super) notice_excess_us: f64,
}

/// Both invariants of a run with alpha 0.5 and queues of 32 packets.
pub(super) fn of(plan: &Plan, run: &RunRecord) -> Invariants {
    Invariants {
        notices_over_storage: max_notices(&run.events) / STORAGE,
        notice_excess_us: largest_excess(plan, run).unwrap_or(f64::NEG_INFINITY),
    }
}

/// floor(alpha · len_Q) of the setting that is traced (eq. 1).
const STORAGE: f64 = 16.0;

fn max_notices(events: &[EventRecord]) -> f64 {
    let mut counts: BTreeMap<(u32, u16), u32> = BTreeMap::new();
    let mut most = None;
    for record in events {
        match record.event {
            Event::NoticeMade { face, .. } => {
                let count = counts.entry((record.node, face)).or_default();
                *count += 1;
                most = most.max(Some(*count));
            }
            Event::Released { face, .. } => {
                counts.insert((record.node, face), 0);
            }
            _ => {}
        }
    }
    most.map_or(f64::NEG_INFINITY, f64::from)
}

fn largest_excess(plan: &Plan, run: &RunRecord) -> Option<f64> {
    let mut made: BTreeMap<Name, (Time, u32)> = BTreeMap::new();
    let mut largest: Option<f64> = None;
    for record in &run.events {
        match record.event {
            Event::NoticeMade { name, .. } => {
                made.insert(name, (record.time, record.node));
            }
            Event::LossDetected { name, cause: Cause("loss notice"), .. } => {
                let Some((at, node)) = made.remove(&name) else { continue };
                let excess = record.time.since(at).as_millis_f64() - allowed(plan, run, node).as_millis_f64();
                largest = Some(largest.map_or(excess * 1e3, |worst| worst.max(excess * 1e3)));
            }
            _ => {}
        }
    }
    largest
}

/// Propagation, one full packet and the notice itself on every hop from `node` to the consumer of the chain.
fn allowed(plan: &Plan, run: &RunRecord, node: u32) -> Span {
    let flow = &plan.flows[0];
    let mut names = NameTable::new();
    let prefix = names.intern_uri(&flow.prefix).map_or(NameTable::ROOT, |prefix| prefix);
    let name_len = names.encoded_len(Name::segment(prefix, u32::MAX - 1));
    let payload = u32::try_from(flow.payload.get()).unwrap_or(u32::MAX);
    let mut at = plan.nodes[node as usize].name.as_str();
    let consumer = plan.nodes[flow.consumer].name.as_str();
    let mut sum = Span::ZERO;
    // The chain has a single link from each node towards the consumer: the one listed before it.
    while at != consumer {
        let towards = run.links.iter().find(|link| link.from == at && comes_before(plan, &link.to, at));
        let Some(link) = towards else { return Span::MAX };
        let packet = link.rate.time_to_send(wire_size::data(name_len, payload));
        sum += link.delay + packet + link.rate.time_to_send(wire_size::loss_notice(name_len));
        at = &link.to;
    }
    sum
}

/// Whether `node` is nearer to the consumer than `other` on the chain consumer, routers, producer.
fn comes_before(plan: &Plan, node: &str, other: &str) -> bool {
    let consumer = plan.nodes[plan.flows[0].consumer].name.as_str();
    let producer = plan.nodes[plan.flows[0].producers[0]].name.as_str();
    let place = |name: &str| match name {
        _ if name == consumer => 0,
        _ if name == producer => usize::MAX,
        _ => 1 + plan.nodes.iter().position(|planned| planned.name == name).unwrap_or(usize::MAX - 2),
    };
    place(node) < place(other)
}
