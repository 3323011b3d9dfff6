use tidegate_core::ndn::name::{Name, PrefixId};
use tidegate_core::observe::event::{Cause, Event};
use tidegate_core::observe::records::{EventRecord, FlowRecord, RunRecord, Watched};
use tidegate_core::units::{ByteCount, Span, Time};

use super::*;
use crate::export::{Network, NodePorts};

const PREFIX: PrefixId = PrefixId(1);

/// c - r - p; face 0 of r leads to c (direction 1), face 1 to p (direction 2).
fn network() -> Network {
    let node = |name: &str, devices: &[u32]| NodePorts {
        name: name.to_owned(),
        devices: devices.to_vec(),
        has_forwarder: true,
    };
    Network {
        nodes: vec![node("c", &[0]), node("r", &[1, 2]), node("p", &[3])],
        directions: vec![(0, 1), (1, 0), (1, 2), (2, 1)],
        ..Network::default()
    }
}

fn record(flows: usize) -> RunRecord {
    let flow = |index: usize| FlowRecord {
        delivered_payload: ByteCount::new(index as u64),
        delivered_segments: 1,
        ..FlowRecord::default()
    };
    RunRecord {
        ended: Time::from_nanos(6_000_000_000),
        flows: (0..flows).map(flow).collect(),
        ..RunRecord::default()
    }
}

fn at(millis: u64, node: u32, event: Event) -> EventRecord {
    EventRecord { time: Time::from_nanos(millis * 1_000_000), node, event }
}

fn requested(millis: u64, flow: u32, segment: u32) -> EventRecord {
    let name = Name::segment(PREFIX, segment);
    at(millis, 0, Event::InterestSent { flow, name, retransmission: false })
}

fn arrived(millis: u64, flow: u32, segment: u32, mark: u8) -> EventRecord {
    let name = Name::segment(PREFIX, segment);
    let (full_delay, last_delay) = (Span::ZERO, Span::ZERO);
    at(
        millis,
        0,
        Event::DataReceived { flow, name, full_delay, last_delay, mark, retransmissions: 0, hops: 2 },
    )
}

fn window(millis: u64, window: f64, cause: &'static str) -> EventRecord {
    at(millis, 0, Event::WindowChanged { flow: 0, window, cause: Cause(cause) })
}

fn lost(millis: u64, segment: u32, cause: &'static str) -> EventRecord {
    at(millis, 0, Event::LossDetected { flow: 0, name: Name::segment(PREFIX, segment), cause: Cause(cause) })
}

fn dropped(millis: u64, segment: u32) -> EventRecord {
    let (name, size) = (Name::segment(PREFIX, segment), ByteCount::new(1040));
    at(millis, 1, Event::Dropped { face: 1, name, size, cause: Cause("queue full") })
}

fn marked(millis: u64, segment: u32) -> EventRecord {
    let (name, sojourn) = (Name::segment(PREFIX, segment), Span::from_millis(6));
    at(millis, 1, Event::Marked { face: 0, name, sojourn, cause: Cause("codel") })
}

fn fold(flows: usize, events: &[EventRecord]) -> EventSummary {
    let network = network();
    let mut builder = EventSummaryBuilder::new(&network, &record(flows));
    builder.on_events(events);
    builder.finish(Watched { record: record(flows), ..Watched::default() }, Vec::new())
}

const MARKED: (u32, IncidentCause) = (1, IncidentCause { fate: PacketFate::Mark, cause: "codel" });
const DROPPED: (u32, IncidentCause) = (2, IncidentCause { fate: PacketFate::Drop, cause: "queue full" });

#[test]
fn a_fall_is_traced_to_the_queue_that_marked_or_dropped_its_segment() {
    let events = [
        window(0, 10.0, "data"),
        requested(1, 0, 7),
        requested(1, 0, 8),
        marked(5, 7),
        dropped(6, 8),
        arrived(9, 0, 7, 1),
        window(9, 7.0, "mark"),
        lost(200, 8, "timeout"),
        window(200, 1.0, "timeout"),
        window(210, 2.0, "data"),
    ];
    let summary = fold(1, &events);
    let history = &summary.flows[0].history;
    let reasons =
        [Reason { cause: "mark", origin: Some(MARKED) }, Reason { cause: "timeout", origin: Some(DROPPED) }];
    assert_eq!(history.decreases, reasons.map(|reason| (reason, 1)).into());
    assert_eq!(history.signals, history.decreases);
    let falls: Vec<(f64, f64)> =
        history.max.iter().map(|fall| (fall.from_packets, fall.to_packets)).collect();
    assert_eq!(falls, [(10.0, 7.0), (7.0, 1.0)]);
    assert_eq!((summary.count(1, PacketFate::Mark), summary.count(2, PacketFate::Drop)), (1, 1));
    assert_eq!(summary.direction_name(2), "r → p");
}

#[test]
fn a_loss_has_no_origin_when_only_an_earlier_asking_was_dropped_or_the_packet_was_only_marked() {
    let events = [
        window(0, 10.0, "data"),
        dropped(1, 8),
        requested(2, 0, 8),
        marked(3, 8),
        lost(200, 8, "timeout"),
        window(200, 1.0, "timeout"),
    ];
    let history = fold(1, &events).flows.remove(0).history;
    assert_eq!(history.decreases, [(Reason { cause: "timeout", origin: None }, 1)].into());
}

#[test]
fn of_losses_received_together_the_one_with_a_known_place_speaks() {
    let events = [
        window(0, 10.0, "data"),
        requested(1, 0, 7),
        requested(1, 0, 8),
        dropped(2, 7),
        lost(200, 7, "timeout"),
        lost(200, 8, "timeout"),
        window(200, 1.0, "timeout"),
    ];
    let history = fold(1, &events).flows.remove(0).history;
    assert_eq!(history.decreases, [(Reason { cause: "timeout", origin: Some(DROPPED) }, 1)].into());
    assert_eq!(history.signals.values().sum::<u64>(), 2);
}

#[test]
fn a_fall_on_plain_data_is_not_blamed_on_an_earlier_mark() {
    let events = [
        window(0, 10.0, "data"),
        requested(1, 0, 7),
        requested(1, 0, 8),
        marked(2, 7),
        arrived(3, 0, 7, 1),
        arrived(3, 0, 8, 0),
        window(3, 9.0, "data"),
    ];
    let history = fold(1, &events).flows.remove(0).history;
    assert_eq!(history.decreases, [(Reason { cause: "data", origin: None }, 1)].into());
}

#[test]
fn a_segment_that_is_requested_again_is_followed_since_the_first_request() {
    let name = Name::segment(PREFIX, 8);
    let again = at(100, 0, Event::InterestSent { flow: 0, name, retransmission: true });
    let events = [
        window(0, 10.0, "data"),
        requested(1, 0, 8),
        dropped(2, 8),
        again,
        lost(200, 8, "timeout"),
        window(200, 1.0, "timeout"),
    ];
    let history = fold(1, &events).flows.remove(0).history;
    assert_eq!(history.decreases, [(Reason { cause: "timeout", origin: Some(DROPPED) }, 1)].into());
}

#[test]
fn bins_divide_the_whole_run_and_nothing_beyond() {
    // Six seconds in 600 bins, each a nanosecond longer than 10 ms.
    let events: Vec<EventRecord> =
        [0, 15, 3_000, 5_999].iter().flat_map(|at| [requested(*at, 0, 1), arrived(*at, 0, 1, 0)]).collect();
    let summary = fold(1, &events);
    let full = summary.flows[0].arrivals.iter().enumerate().filter(|(_, count)| **count > 0);
    assert_eq!(full.map(|(bin, _)| bin).collect::<Vec<_>>(), [0, 1, 299, 599]);
}

#[test]
fn a_queue_that_drops_an_interest_as_it_is_sent_is_named() {
    let events = [
        window(0, 10.0, "data"),
        requested(2, 0, 8),
        dropped(2, 8),
        lost(200, 8, "timeout"),
        window(200, 1.0, "timeout"),
    ];
    let history = fold(1, &events).flows.remove(0).history;
    assert_eq!(history.decreases, [(Reason { cause: "timeout", origin: Some(DROPPED) }, 1)].into());
}

#[test]
fn a_tcp_segment_is_traced_by_its_sequence_number_and_shown_by_its_distance_from_the_first_byte() {
    let sent = |millis, sequence, retransmission| {
        let name = Name::segment(PREFIX, sequence);
        at(millis, 0, Event::SegmentSent { flow: 0, name, retransmission })
    };
    let first = u32::MAX - 1447;
    let received = at(5, 2, Event::SegmentReceived { flow: 0, name: Name::segment(PREFIX, first) });
    let events = [
        window(0, 10.0, "data"),
        sent(1, first, false),
        sent(1, 0, false),
        dropped(2, 0),
        received,
        lost(9, 0, "gap"),
        window(9, 7.0, "gap"),
        sent(9, 0, true),
    ];
    let flow = fold(1, &events).flows.remove(0);
    assert_eq!(flow.history.decreases, [(Reason { cause: "gap", origin: Some(DROPPED) }, 1)].into());
    let places =
        |kind| -> Vec<u32> { flow.segments.points(kind).iter().map(|point| point.segment).collect() };
    assert_eq!(places(PointKind::Interest), [0, 1448]);
    assert_eq!(places(PointKind::Data), [0]);
    for kind in [PointKind::Drop, PointKind::Loss, PointKind::Retransmission] {
        assert_eq!(places(kind), [1448], "{kind:?}");
    }
    assert_eq!(flow.arrivals.iter().sum::<u32>(), 1);
}

/// When the falls that are kept were, of a window that falls from 100 packets to each of `to` in turn, 2 ms apart.
fn kept_falls(to: impl Iterator<Item = f64>) -> Vec<u64> {
    let up_and_down =
        |(turn, to): (u64, f64)| [window(2 * turn, 100.0, "data"), window(2 * turn + 1, to, "data")];
    let events: Vec<EventRecord> = (0..).zip(to).flat_map(up_and_down).collect();
    let history = fold(1, &events).flows.remove(0).history;
    assert_eq!(history.falls(), events.len() as u64 / 2);
    history.max.iter().map(|fall| fall.at.as_nanos() / 2_000_000).collect()
}

#[test]
fn of_many_falls_the_largest_are_kept_and_of_equal_ones_the_earliest() {
    // The last 256 of 2000 are the largest.
    assert_eq!(
        kept_falls((0..2_000).map(|turn| 99.0 - f64::from(turn) / 100.0)),
        Vec::from_iter(1_744..2_000)
    );
    assert_eq!(kept_falls((0..2_000).map(|_| 50.0)), Vec::from_iter(0..256));
}

#[test]
fn a_fall_is_not_blamed_on_a_mark_that_was_received_before() {
    let events = [
        window(0, 10.0, "data"),
        requested(1, 0, 7),
        marked(2, 7),
        arrived(3, 0, 7, 1),
        // Late, and without a mark of its own.
        window(9, 9.0, "mark"),
    ];
    let history = fold(1, &events).flows.remove(0).history;
    assert_eq!(history.decreases, [(Reason { cause: "mark", origin: None }, 1)].into());
}

#[test]
fn what_is_put_aside_reported_and_answered_by_a_store_is_each_a_kind_of_its_own() {
    let name = Name::segment(PREFIX, 8);
    let events = [
        requested(1, 0, 8),
        at(2, 1, Event::Stored { face: 0, name }),
        lost(3, 8, "loss notice"),
        at(20, 1, Event::CacheHit { name }),
        at(20, 1, Event::CacheHit { name: Name::segment(PREFIX, 9) }),
    ];
    let summary = fold(1, &events);
    assert_eq!([PacketFate::Stored, PacketFate::Drop].map(|fate| summary.count(1, fate)), [1, 0]);
    let found = |kind| summary.flows[0].segments.found(kind);
    let kinds = [PointKind::Notice, PointKind::Loss, PointKind::Drop, PointKind::CacheHit];
    // Nobody waits for the other segment.
    assert_eq!(kinds.map(found), [1, 0, 0, 1]);
    assert_eq!(summary.cache_hits, [(1, 1, 2)]);
}

#[test]
fn thinning_keeps_every_drop_among_many_arrivals_and_never_more_than_the_limit() {
    let mut points = SegmentPoints::default();
    for segment in 0..100_000 {
        let point = SegmentPoint { at: Time::from_nanos(u64::from(segment)), segment };
        points.add(PointKind::Interest, point, 4000);
        points.add(PointKind::Data, point, 4000);
        if segment % 100 == 0 {
            points.add(PointKind::Drop, point, 4000);
        }
    }
    points.finish(4000);
    assert_eq!(points.points(PointKind::Drop).len(), 1000);
    assert_eq!(points.stride(PointKind::Drop), 1);
    let shown: usize = PointKind::ALL.iter().map(|kind| points.points(*kind).len()).sum();
    assert!((2000..=4000).contains(&shown), "{shown}");
    assert_eq!((points.found(PointKind::Data), points.found(PointKind::Interest)), (100_000, 100_000));
    let stride = points.stride(PointKind::Data);
    let kept: Vec<u64> =
        points.points(PointKind::Data).iter().map(|point| u64::from(point.segment)).collect();
    assert_eq!(kept, (0..kept.len() as u64).map(|place| place * stride).collect::<Vec<u64>>());
}

#[test]
fn common_kinds_are_thinned_before_rare_ones_that_have_more_points() {
    let mut points = SegmentPoints::default();
    for segment in 0..4_000 {
        let point = SegmentPoint { at: Time::ZERO, segment };
        points.add(PointKind::Interest, point, 4000);
        points.add(PointKind::Data, point, 4000);
        if segment < 2_500 {
            points.add(PointKind::Drop, point, 4000);
        }
    }
    points.finish(4000);
    let lengths =
        [PointKind::Interest, PointKind::Data, PointKind::Drop].map(|kind| points.points(kind).len());
    assert_eq!((lengths.iter().sum::<usize>(), lengths[2]), (4_000, 2_500), "{lengths:?}");
}

#[test]
fn rare_kinds_that_are_not_rare_are_thinned_too() {
    let mut points = SegmentPoints::default();
    for segment in 0..50_000 {
        for kind in PointKind::ALL {
            points.add(kind, SegmentPoint { at: Time::ZERO, segment }, 4000);
        }
    }
    points.finish(4000);
    let lengths = PointKind::ALL.map(|kind| points.points(kind).len());
    assert!(
        lengths.iter().sum::<usize>() <= 4000 && lengths.iter().all(|length| *length > 100),
        "{lengths:?}"
    );
}

#[test]
fn the_flows_with_most_payload_are_followed_in_their_own_order() {
    let summary = fold(20, &[requested(1, 19, 3), requested(1, 2, 3), dropped(2, 3)]);
    let followed: Vec<u32> = summary.flows.iter().map(|flow| flow.flow).collect();
    assert_eq!(followed, (6..20).collect::<Vec<u32>>());
    assert_eq!(summary.flows[13].segments.found(PointKind::Drop), 1);
    assert_eq!(summary.flows[0].segments.found(PointKind::Drop), 0);
}

#[test]
fn memory_does_not_grow_with_the_run_and_equal_events_give_equal_digests() {
    let mut events = vec![window(0, 10.0, "data")];
    for segment in 0..200_000_u32 {
        let millis = u64::from(segment) / 40;
        events.extend([
            requested(millis, 0, segment),
            dropped(millis, segment),
            arrived(millis, 0, segment, 0),
        ]);
        events.extend([window(millis, 9.0, "data"), window(millis, 10.0, "data")]);
    }
    let summary = fold(1, &events);
    assert_eq!(summary, fold(1, &events));
    assert_eq!(summary.count(2, PacketFate::Drop), 200_000);
    assert_eq!(summary.flows[0].history.falls(), 200_000);
    assert!(summary.incidents.len() <= BINS as usize, "{}", summary.incidents.len());
    let flow = &summary.flows[0];
    assert!(flow.history.max.len() <= 256 && flow.arrivals.len() == BINS as usize);
    assert_eq!(flow.arrivals.iter().map(|count| u64::from(*count)).sum::<u64>(), 200_000);
    assert!(PointKind::ALL.iter().map(|kind| flow.segments.points(*kind).len()).sum::<usize>() <= 4000);
}

#[test]
fn what_is_remembered_by_name_is_bounded_and_the_newest_stays() {
    let mut incidents = incident::Incidents::default();
    let rule = IncidentCause { fate: PacketFate::Drop, cause: "queue full" };
    for segment in 0..300_000 {
        let incident = Incident { at: Time::from_nanos(u64::from(segment)), direction: 2, rule };
        incidents.add(Name::segment(PREFIX, segment), incident);
    }
    assert_eq!(incidents.loss(Name::segment(PREFIX, 0), Time::ZERO), None);
    let newest = incidents.loss(Name::segment(PREFIX, 299_999), Time::ZERO);
    assert_eq!(newest.map(|incident| incident.at), Some(Time::from_nanos(299_999)));
    assert!(incidents.len() <= 1 << 16, "{}", incidents.len());
}

#[test]
fn a_run_that_is_too_large_says_what_is_too_large() {
    assert_eq!(too_large(&record(3)), None);
    let long = RunRecord { packet_hops: 20_000_001, ..record(1) };
    assert!(too_large(&long).is_some_and(|why| why.contains("20,000,001") && why.contains("20,000,000")));
    assert!(too_large(&record(10_001)).is_some_and(|why| why.contains("10,001 flows")));
}
