//! Measures of PLR from events: notices per episode of congestion, their latency, storages, and the times of
//! section V.

use std::collections::BTreeMap;

use tidegate_core::ndn::name::{Name, NameTable};
use tidegate_core::ndn::packet::wire_size;
use tidegate_core::observe::event::{Cause, Event, EventMask};
use tidegate_core::units::{Span, Time};
use tidegate_papers::value::MeasureValue;

use super::{Answer, Arguments, MeasureFunction, Of, Run, Takes, measure_table};

/// Event mask of losses that consumers detect, and of all actions of the storage.
const EVENTS: EventMask = EventMask(4 | 16 | 64);

measure_table! {
    "plr.notices" [] EVENTS, Whole(notices),
        "Maximum number of notices of one interface between two packets released from its storage (IV.D).";
    "plr.notice_excess_us" [] EVENTS, Whole(notice_excess),
        "Maximum latency of a notice on a chain, minus propagation delay and the transmission of one full packet and \
         the notice per hop (IV.B), us.";
    "plr.lost_ms" ["of" Takes::Words(&["detection", "accumulation"])] EventMask(2 | 4), Whole(lost),
        "List: for each segment detected as lost, time from its first Interest to the detection (of = detection), or \
         from the arrival of the next segment that was not lost to its own (of = accumulation, AccumTime of eq. 7), ms.";
    "plr.stored" ["of" Takes::Words(&["time", "max"])] EVENTS, Whole(stored),
        "List: time that each released packet spent in a storage, ms; of = max: maximum number of packets in one storage.";
}

fn lost(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let is_detection = call.word("of")? == "detection";
    let (mut detected, mut received) = (BTreeMap::new(), BTreeMap::new());
    for record in &run.record.events {
        let at_ms = record.time.as_secs_f64() * 1e3;
        match record.event {
            // Only the first detection counts; a second one is of the retransmission.
            Event::LossDetected { name, .. } => drop(detected.entry(name).or_insert(at_ms)),
            Event::DataReceived { name, full_delay, .. } => drop(received.insert(name, (at_ms, full_delay))),
            _ => {}
        }
    }
    let times = detected.iter().filter_map(|(name, detected_ms)| {
        let (own_ms, full_delay) = received.get(name)?;
        // AccumTime of eq. 7 begins with the first later segment that arrives without a loss.
        let (_, (next_ms, _)) = received.range(*name..).find(|(next, _)| !detected.contains_key(next))?;
        Some(if is_detection { detected_ms - own_ms + full_delay.as_millis_f64() } else { own_ms - next_ms })
    });
    Ok(Some(MeasureValue::List(times.collect())))
}

fn stored(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let mut stores: BTreeMap<(u32, u16), BTreeMap<Name, Time>> = BTreeMap::new();
    let (mut times, mut max) = (Vec::new(), 0);
    for record in &run.record.events {
        match record.event {
            Event::Stored { face, name } => {
                let store = stores.entry((record.node, face)).or_default();
                store.insert(name, record.time);
                max = max.max(store.len());
            }
            // A packet is dropped from its storage after the maximum storage time.
            Event::Released { face, name } | Event::Dropped { face, name, .. } => {
                let store = stores.entry((record.node, face)).or_default();
                let is_released = matches!(record.event, Event::Released { .. });
                let since = store.remove(&name).filter(|_| is_released);
                times.extend(since.map(|since| record.time.since(since).as_millis_f64()));
            }
            _ => {}
        }
    }
    let is_max = call.word("of")? == "max";
    Ok(Some(if is_max { MeasureValue::Number(max as f64) } else { MeasureValue::List(times) }))
}

fn notices(run: &Run<'_>, _: &Arguments<'_>) -> Answer {
    let mut counts: BTreeMap<(u32, u16), u32> = BTreeMap::new();
    let mut max = None;
    for record in &run.record.events {
        match record.event {
            Event::NoticeMade { face, .. } => {
                let count = counts.entry((record.node, face)).or_default();
                *count += 1;
                max = max.max(Some(*count));
            }
            Event::Released { face, .. } => {
                // The bound of section IV.D is for one episode, which ends when the storage releases a
                // packet.
                counts.insert((record.node, face), 0);
            }
            _ => {}
        }
    }
    Ok(Some(MeasureValue::Number(max.map_or(f64::NEG_INFINITY, f64::from))))
}

fn notice_excess(run: &Run<'_>, _: &Arguments<'_>) -> Answer {
    let mut made: BTreeMap<Name, (Time, u32)> = BTreeMap::new();
    let mut max = f64::NEG_INFINITY;
    for record in &run.record.events {
        match record.event {
            Event::NoticeMade { name, .. } => {
                made.insert(name, (record.time, record.node));
            }
            Event::LossDetected { name, cause: Cause("loss notice"), .. } => {
                let Some((at, node)) = made.remove(&name) else { continue };
                let latency = record.time.since(at).as_millis_f64();
                max = max.max((latency - allowed(run, node).as_millis_f64()) * 1e3);
            }
            _ => {}
        }
    }
    Ok(Some(MeasureValue::Number(max)))
}

/// Propagation, one full packet and the notice itself on every hop from `node` to the consumer of the chain.
fn allowed(run: &Run<'_>, node: u32) -> Span {
    let Run { plan, record } = run;
    let flow = &plan.flows[0];
    let mut names = NameTable::new();
    let prefix = names.intern_uri(&flow.prefix).unwrap_or(NameTable::ROOT);
    // The longest segment number, since the result is an upper bound.
    let name_len = names.encoded_len(Name::segment(prefix, u32::MAX - 1));
    let payload = u32::try_from(flow.payload.get()).unwrap_or(u32::MAX);
    let chain = chain(run);
    let place = chain.iter().position(|name| *name == plan.nodes[node as usize].name).unwrap_or(0);
    chain[..=place].windows(2).fold(Span::ZERO, |sum, hop| {
        let towards = record.links.iter().find(|link| link.from == hop[1] && link.to == hop[0]);
        towards.map_or(Span::MAX, |link| {
            let packet = link.rate.time_to_send(wire_size::data(name_len, payload));
            sum + link.delay + packet + link.rate.time_to_send(wire_size::loss_notice(name_len))
        })
    })
}

/// Names of the nodes from the consumer to the producer.
fn chain<'a>(run: &Run<'a>) -> Vec<&'a str> {
    let mut chain = vec![run.record.flows[0].consumer.as_str()];
    while let Some(next) = run.record.links.iter().find_map(|link| {
        let is_next =
            chain.last().is_some_and(|last| *last == link.from) && !chain.contains(&link.to.as_str());
        is_next.then_some(link.to.as_str())
    }) {
        chain.push(next);
    }
    chain
}
