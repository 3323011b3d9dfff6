//! A watched run is the run that was made before, and its events are what the records count.

use tidegate_core::ndn::packet::Kind;
use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::observe::records::{EventRecord, RunRecord, Watched};
use tidegate_core::rng::Seed;
use tidegate_core::units::Span;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::{run, watch};
use tidegate_sim::world::node_faces;

use crate::determinism::busy;

fn watched(plan: &Plan) -> (Watched, Vec<EventRecord>) {
    let mut arrived = Vec::new();
    let watched = watch(plan, Seed(1), EventMask::ALL, &mut |events| arrived.extend_from_slice(events));
    (watched, arrived)
}

/// Events of one kind at the transmitting end of each link direction.
fn by_direction(plan: &Plan, events: &[EventRecord], face_of: fn(&Event) -> Option<u16>) -> Vec<u64> {
    let faces = node_faces(plan);
    let mut counts = vec![0; 2 * plan.links.len()];
    for (record, face) in events.iter().filter_map(|record| Some((record, face_of(&record.event)?))) {
        if let Some(direction) = faces[record.node as usize].devices.get(usize::from(face)) {
            counts[*direction as usize] += 1;
        }
    }
    counts
}

#[test]
fn watching_changes_nothing() {
    let plan = busy("vary = { start = true, delay = 0.01 }", "");
    let (watched, _) = watched(&plan);
    let expected = RunRecord { events: Vec::new(), ..run(&plan, Seed(1)) };
    assert!(watched.record == expected);
    let quiet = watch(&plan, Seed(1), EventMask::NONE, &mut |_| panic!("nothing was asked for"));
    assert_eq!(quiet, watched);
}

#[test]
fn every_packet_is_seen_where_it_leaves_and_where_it_arrives() {
    let plan = busy("", "");
    let (Watched { record, .. }, events) = watched(&plan);
    let of = |count: fn(&tidegate_core::observe::records::LinkRecord) -> u64| -> Vec<u64> {
        record.links.iter().map(count).collect()
    };
    let sent = by_direction(&plan, &events, |event| match event {
        Event::Sent { face, .. } => Some(*face),
        _ => None,
    });
    assert_eq!(sent, of(|link| link.sent_packets));
    let lost = by_direction(&plan, &events, |event| match event {
        Event::Lost { face, .. } => Some(*face),
        _ => None,
    });
    assert!(lost.iter().sum::<u64>() > 10);
    assert_eq!(lost, of(|link| link.lost_packets));
    // Device numbers are the same at both ends, so a packet received by b is one of the direction from a.
    let received = by_direction(&plan, &events, |event| match event {
        Event::Received { face, .. } => Some(*face),
        _ => None,
    });
    let delivered = of(|link| link.delivered_packets);
    for (pair, expected) in received.chunks(2).zip(delivered.chunks(2)) {
        assert_eq!([pair[1], pair[0]], [expected[0], expected[1]]);
    }
    let dropped = by_direction(&plan, &events, |event| match event {
        Event::Dropped { face, .. } => Some(*face),
        _ => None,
    });
    assert_eq!(dropped, of(|link| link.dropped_packets));
    let marked = by_direction(&plan, &events, |event| match event {
        Event::Marked { face, .. } => Some(*face),
        _ => None,
    });
    assert_eq!(marked, of(|link| link.marked_packets));
}

#[test]
fn every_interest_of_a_forwarder_ends_satisfied_or_expired_or_is_answered_by_its_cache() {
    let mut plan = busy("", "");
    for flow in &mut plan.flows {
        flow.profile.lifetime = Some(Span::from_millis(60));
    }
    let (_, events) = watched(&plan);
    let faces = node_faces(&plan);
    let count =
        |required: &dyn Fn(&EventRecord) -> bool| events.iter().filter(|event| required(event)).count();
    let misses = count(&|record| matches!(record.event, Event::CacheMiss { .. }));
    let hits = count(&|record| matches!(record.event, Event::CacheHit { .. }));
    let satisfied = count(&|record| matches!(record.event, Event::Satisfied { .. }));
    let expired = count(&|record| matches!(record.event, Event::Expired { .. }));
    let interests = count(&|record| {
        let at_forwarder = faces[record.node as usize].has_forwarder;
        at_forwarder
            && matches!(record.event, Event::Received { header, .. } if matches!(header.kind, Kind::Interest(_)))
    });
    assert!(hits > 0 && expired > 0 && satisfied > 1_000, "{hits} {expired} {satisfied}");
    // One consumer per name: every Interest looks into the store, and its entry ends or is still pending.
    assert!(misses + hits <= interests && satisfied + expired <= misses, "{misses} {hits} {interests}");
    assert!(satisfied + expired + 200 > misses, "{satisfied} {expired} {misses}");
}

#[test]
fn distributions_count_what_the_summaries_count() {
    let (Watched { record, full_delay, last_delay, queue_delay, devices }, _) = watched(&busy("", ""));
    assert_eq!(devices.len(), 6);
    let count = |bins: &tidegate_core::observe::records::DelayBins| {
        bins.0.iter().map(|(_, count)| count).sum::<u64>()
    };
    for (flow, (full, last)) in record.flows.iter().zip(full_delay.iter().zip(&last_delay)) {
        assert_eq!((count(full), count(last)), (flow.delivered_segments, flow.delivered_segments));
        assert_eq!(full.0.last().map(|(bound, _)| *bound), Some(flow.full_delay.max));
        assert!(full.0.is_sorted());
    }
    for (link, bins) in record.links.iter().zip(&queue_delay) {
        assert_eq!(count(bins), link.sent_packets);
    }
}

#[test]
fn the_mean_rate_of_a_link_counts_every_rate_for_its_time() {
    let (Watched { record, .. }, _) = watched(&busy("", ""));
    // 5 Mbit/s for one second, then 3 for two; the other links keep their rate.
    let bottleneck = record.links.iter().find(|link| (link.from.as_str(), link.to.as_str()) == ("r2", "r1"));
    let bottleneck = bottleneck.expect("there");
    // What is being sent at the change keeps its rate: 1.8 ms of a Data at most.
    let mean = bottleneck.mean_rate.as_bps();
    assert!((11_000_000 / 3..=(11_000_000 + 2 * 1_800) / 3).contains(&mean), "{mean}");
    assert_eq!(bottleneck.rate.as_bps(), 3_000_000);
    let others = record.links.iter().filter(|link| link.from.starts_with('c'));
    assert!(others.clone().count() == 2 && others.clone().all(|link| link.mean_rate == link.rate));
}
