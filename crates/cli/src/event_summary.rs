//! Event summary of the first run of a batch for its page: the run is simulated again with its events.

use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_pages::event_summary::{EventSummary, EventSummaryBuilder, too_large};
use tidegate_sim::plan::Plan;
use tidegate_sim::run::watch;

use crate::network_drawing::changes;
use crate::replay;

/// Repeats the run of `record` and summarises its events; `None` for a run that is too large.
pub(crate) fn summarize(plan: &Plan, record: &RunRecord) -> Option<EventSummary> {
    if too_large(record).is_some() {
        return None;
    }
    let network = replay::network(plan);
    let mut builder = EventSummaryBuilder::new(&network, record);
    let watched =
        watch(plan, Seed(record.seed), EventSummaryBuilder::MASK, &mut |events| builder.on_events(events));
    Some(builder.finish(watched, changes(plan)))
}

#[cfg(test)]
mod tests {
    use tidegate_pages::event_summary::{PacketFate, PointKind};
    use tidegate_sim::run::run;
    use tidegate_sim::scenario;

    use super::*;

    const EXAMPLES: [(&str, &str); 5] = [
        ("dumbbell", include_str!("../scenarios/examples/dumbbell.toml")),
        ("plr", include_str!("../scenarios/examples/plr.toml")),
        ("loss", include_str!("../scenarios/examples/loss.toml")),
        ("events", include_str!("../scenarios/examples/events.toml")),
        ("grid", include_str!("../scenarios/examples/grid.toml")),
    ];

    fn summarized(name: &str, text: &str) -> EventSummary {
        let schemes = tidegate_schemes::SCHEMES;
        let plan = scenario::Parser::new(name, schemes).parse(text).expect("an example is good");
        let record = run(&plan, plan.seeds[0]);
        let summary = summarize(&plan, &record).expect("an example is small");
        assert_eq!(summary.watched.record, RunRecord { events: Vec::new(), ..record }, "{name}");
        summary
    }

    #[test]
    fn what_a_digest_counts_is_what_the_records_count() {
        for (name, text) in EXAMPLES {
            let summary = summarized(name, text);
            let run = &summary.watched.record;
            for (direction, link) in run.links.iter().enumerate() {
                let of = |fate| summary.count(direction as u32, fate);
                let found =
                    [PacketFate::Drop, PacketFate::Mark, PacketFate::WireLoss, PacketFate::Stored].map(of);
                let known =
                    [link.dropped_packets, link.marked_packets, link.lost_packets, link.stored_packets];
                assert_eq!(found, known, "{name}: {} -> {}", link.from, link.to);
            }
            for flow in &summary.flows {
                let record = &run.flows[flow.flow as usize];
                let points = |kind| flow.segments.found(kind);
                let received = |cause: &str| -> u64 {
                    let of_cause = flow.history.signals.iter().filter(|(reason, _)| reason.cause == cause);
                    of_cause.map(|(_, times)| *times).sum()
                };
                let found = [
                    points(PointKind::Interest) + points(PointKind::Retransmission),
                    points(PointKind::Retransmission),
                    points(PointKind::Data) + points(PointKind::MarkedData),
                    points(PointKind::MarkedData),
                    received("mark"),
                    flow.arrivals.iter().map(|count| u64::from(*count)).sum(),
                ];
                let known = [
                    record.interests,
                    record.retransmissions,
                    record.delivered_segments,
                    record.marks,
                    record.marks,
                    record.delivered_segments,
                ];
                assert_eq!(found, known, "{name}: {}", record.name);
                assert!(
                    received("timeout") + received("lifetime") <= record.timeouts,
                    "{name}: {}",
                    record.name
                );
                assert!(received("loss notice") <= record.loss_notices, "{name}: {}", record.name);
            }
        }
    }

    #[test]
    fn every_mark_and_drop_of_the_dumbbell_is_traced_to_the_bottleneck() {
        let summary = summarized(EXAMPLES[0].0, EXAMPLES[0].1);
        let history = &summary.flows[0].history;
        assert!(history.falls() > 5, "{history:?}");
        for reason in history.decreases.keys() {
            let (direction, rule) = reason.origin.expect("a queue did it");
            assert_eq!((summary.direction_name(direction).as_str(), rule.cause), ("r2 → r1", "codel"));
        }
        let stated: Vec<&str> = summary.changes.iter().map(|change| change.text.as_str()).collect();
        assert_eq!(stated, ["link r1-r2: rate 5Mbps"]);
    }

    #[test]
    fn a_prefix_that_a_controller_moves_is_reported_as_a_change() {
        let text = include_str!("../scenarios/papers/ndnsieve/multipath1.toml");
        let changes = summarized("multipath1", text).changes;
        let reported = changes.first().map(|change| (change.at.as_secs_f64() < 2.0, change.text.as_str()));
        assert_eq!(reported, Some((true, "node r1: next hop of /prefix r2 → r3")), "{changes:?}");
    }
}
