//! Measures of ndnSieve from events: its sieve, its window, and the work that section 5 of the paper counts.

use std::collections::{BTreeMap, VecDeque};

use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::observe::records::EventRecord;
use tidegate_papers::value::MeasureValue;

use super::{Answer, Arguments, MeasureFunction, Of, Run, Takes, measure_table};

measure_table! {
    "ndnsieve.false_marks" ["load" Takes::Number, "queue" Takes::Number] EventMask::PACKETS.union(EventMask::QUEUES),
        Whole(false_marks),
        "Data packets marked while the load of their face was not above `load` or its queue not above `queue` \
         (packets); all links must have one rate.";
    "ndnsieve.odd_steps" [] EventMask::CONSUMERS, Whole(odd_steps),
        "Changes of consumers' windows other than by one packet.";
    "ndnsieve.work" ["count" Takes::Words(&COUNTS)] EventMask::CONTROL, Whole(work),
        "Work of routers and controller; count = detection: most operations of one detection, over the router's faces; \
         filter: most signals filtered within a detection period (0.1 s), over the faces of all routers; calculator: \
         operations of the calculator beyond one per mild signal; search: operations of its search for a path beyond a \
         visit of every router and a look at every face of a router.";
    "ndnsieve.moves_within" ["seconds" Takes::Positive] EventMask::CONTROL, Whole(moves_within),
        "Maximum number of moves of one prefix at one router within less than `seconds`.";
}

/// Accepted values of `count` of `ndnsieve.work`.
const COUNTS: [&str; 4] = ["detection", "filter", "calculator", "search"];

/// Window of the scheme's meter, weight of the newest window, and detection period: its defaults.
const WINDOW_NANOS: u64 = 10_000_000;
const WEIGHT: f64 = 0.5;
const PERIOD_NANOS: u64 = 100_000_000;

/// Load of a face by the packets handed to it, and the number of packets that it has sent.
#[derive(Default)]
struct LinkMeter {
    window: u64,
    bits: f64,
    load: f64,
    sent: f64,
}

/// Load and occupancy (eq. 1 and 2) are computed from the packets alone; Data in queues at the end is
/// omitted.
fn false_marks(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let (load, queue) = (call.number("load")?, call.number("queue")?);
    // Eq. 1 relates the load to the capacity of the face, which is the same for all links of this paper.
    let capacity = run.plan.links[0].rate[0].as_bps() as f64 * WINDOW_NANOS as f64 * 1e-9;
    let mut meters: BTreeMap<(u32, u16), LinkMeter> = BTreeMap::new();
    // The window in which a packet arrived at a node; the number of packets sent by a face when it marked a
    // packet.
    let (mut came, mut marked, mut wrong) = (BTreeMap::new(), BTreeMap::new(), 0.0);
    for EventRecord { time, node, event } in &run.record.events {
        match event {
            Event::Received { header, .. } => {
                came.insert((*node, header.name), time.as_nanos() / WINDOW_NANOS);
            }
            Event::Marked { face, name, .. } => {
                marked.insert((*node, *face, *name), meters.entry((*node, *face)).or_default().sent);
            }
            Event::Sent { face, header } => {
                let meter = meters.entry((*node, *face)).or_default();
                // Queues are first in, first out: all packets of earlier windows have been sent.
                while came.get(&(*node, header.name)).is_some_and(|window| meter.window < *window) {
                    meter.load += WEIGHT * (meter.bits / capacity - meter.load);
                    (meter.window, meter.bits) = (meter.window + 1, 0.0);
                }
                if let Some(before) = marked.remove(&(*node, *face, header.name)) {
                    // Packets sent since the mark were in front of this one in the queue.
                    wrong += f64::from(meter.sent - before <= queue || meter.load <= load);
                }
                meter.bits += header.size().get() as f64 * 8.0;
                meter.sent += 1.0;
            }
            _ => {}
        }
    }
    Ok(Some(MeasureValue::Number(wrong)))
}

fn odd_steps(run: &Run<'_>, _: &Arguments<'_>) -> Answer {
    let (mut windows, mut odd) = (vec![1.0; run.plan.flows.len()], 0.0);
    for EventRecord { event, .. } in &run.record.events {
        let Event::WindowChanged { flow, window, .. } = *event else { continue };
        let before = std::mem::replace(&mut windows[flow as usize], window);
        odd += f64::from((window - before).abs() != 1.0);
    }
    Ok(Some(MeasureValue::Number(odd)))
}

fn work(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let degree = |node| run.plan.links.iter().filter(|link| link.a == node || link.b == node).count() as f64;
    let routers = run.plan.nodes.iter().enumerate().filter(|(_, node)| !node.parts.is_empty());
    let faces: BTreeMap<u32, f64> = routers.map(|(node, _)| (node as u32, degree(node))).collect();
    let (max, all) = (faces.values().copied().fold(0.0, f64::max), faces.values().sum::<f64>());
    let (mut detection, mut filter, mut calculator, mut search) = (0.0, BTreeMap::new(), 0.0, 0.0);
    // Signals to the controller, which handles them in this order; `mild` is 1 while a mild one may cause an
    // operation.
    let (mut states, mut signals, mut mild) = (BTreeMap::new(), VecDeque::new(), 0.0);
    for EventRecord { time, node, event } in &run.record.events {
        if let Event::StateChanged { face, state } = event {
            states.insert((*node, *face), state.0);
        }
        let Event::Worked { part, operations } = event else { continue };
        let operations = f64::from(*operations);
        match part.0 {
            "detection" => {
                detection = f64::max(detection, operations / faces[node]);
                // The router has signalled every face that is not free, in order.
                let states = states.range((*node, 0)..=(*node, u16::MAX)).map(|(_, state)| *state);
                signals.extend(states.filter(|state| *state != "free"));
            }
            // The filter handles signals in the order in which they were queued, so that the first is its own.
            "filter" => {
                mild = f64::from(signals.pop_front() == Some("mild"));
                *filter.entry(time.as_nanos() / PERIOD_NANOS).or_insert(0.0) += operations;
            }
            "calculator" => calculator += f64::max(operations - std::mem::take(&mut mild), 0.0),
            // A visit of every router, and a look at every face of a router, are allowed; only the excess
            // counts.
            "shunt" => search += f64::max(operations - faces.len() as f64, 0.0),
            "switch" => search += f64::max(operations - max, 0.0),
            _ => search += operations,
        }
    }
    let counts = [detection, filter.into_values().fold(0.0, f64::max) / all, calculator, search];
    let required = call.word("count")?;
    Ok(COUNTS
        .iter()
        .zip(counts)
        .find(|(name, _)| **name == required)
        .map(|(_, count)| MeasureValue::Number(count)))
}

fn moves_within(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let seconds = call.number("seconds")?;
    let mut moves: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for EventRecord { time, node, event } in &run.record.events {
        let Event::PathMoved { name, .. } = event else { continue };
        moves.entry((*node, name.prefix)).or_default().push(time.as_secs_f64());
    }
    let from = |times: &[f64]| times.iter().take_while(|time| **time - times[0] < seconds).count();
    let max = moves.values().flat_map(|times| (0..times.len()).map(|first| from(&times[first..]))).max();
    Ok(Some(MeasureValue::Number(max.unwrap_or(0) as f64)))
}
