//! The SDN controller (§3.1): detects congestion from the reports of switches, and forwards grants between switches.
//!
//! OpenFlow 1.3 has neither a counter for the length of a queue nor messages between switches; here both correspond
//! to experimenter messages. `backlog = "estimated"` does without the former.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;
use crate::brf::messages::{Directive, QueueLoad, Report};

use super::detector::{Detector, Rules};
use super::measure::SEGMENT;
use super::{Backlog, Params};

/// Watches every queue of every switch.
#[derive(Debug)]
pub(super) struct BrfController {
    rules: Rules,
    queues: BTreeMap<NodeId, BTreeMap<FaceId, Detector>>,
}

impl BrfController {
    pub(super) fn new(params: &Params) -> Self {
        Self { rules: params.detection_rules(), queues: BTreeMap::new() }
    }
}

impl NetworkController for BrfController {
    fn on_report(&mut self, _: Time, from: NodeId, sent_at: Time, report: &dyn Message, orders: &mut Orders) {
        match report.get() {
            Some(Report::Queues(loads)) => {
                let queues = self.queues.entry(from).or_default();
                for load in loads {
                    let detector = queues.entry(load.face).or_default();
                    if let Some(state) = detector.look(&self.rules, sent_at, load) {
                        orders.direct(from, Directive::Congestion { face: load.face, state });
                    }
                    if let Some(crossed) = detector.crossed() {
                        orders.count(crossed.word(), 1);
                    }
                    if self.rules.backlog == Backlog::Estimated {
                        report_error(orders, from, load, detector.estimate());
                    }
                }
                orders.count(Cause("congestion detection"), loads.len() as u32);
            }
            Some(Report::Grant(grant)) => {
                // To all, as the controller has no record of routes: a switch without ACKs of the flow has
                // nothing to write it on.
                let others = self.queues.keys().filter(|node| **node != from);
                others.for_each(|node| orders.direct(*node, Directive::Grant(*grant)));
            }
            // A report of another scheme.
            None => {}
        }
    }
}

/// Records an estimate beside the backlog of BRF flows, for which it is used, and that of the whole port, which it
/// measures; bytes.
fn report_error(orders: &mut Orders, from: NodeId, load: &QueueLoad, estimate: f64) {
    let mut notify = |what, truth| {
        let event = Event::Estimated { face: load.face.0, what: Cause(what), estimate, truth };
        orders.find(from, event);
    };
    notify("backlog of BRF flows", load.governed.get() as f64);
    notify("backlog of the port", f64::from(load.waiting.get()) * SEGMENT);
}

#[cfg(test)]
mod tests {
    use super::super::detector::tests::load;
    use super::*;
    use crate::brf::messages::{Congestion, FlowGrant};

    fn receive(controller: &mut BrfController, at_ms: u64, from: u32, report: &Report) -> Vec<(NodeId, Directive)> {
        let at = Time::ZERO + Span::from_millis(at_ms);
        let mut orders = Orders::default();
        controller.on_report(at + Span::from_millis(5), NodeId(from), at, report, &mut orders);
        let reported = |(to, directive): (NodeId, Box<dyn Message>)| {
            (to, directive.get::<Directive>().expect("a directive of this scheme").clone())
        };
        orders.directives.into_iter().map(reported).collect()
    }

    fn controller() -> BrfController {
        BrfController::new(&Params::read(&Settings::default()).expect("defaults are valid"))
    }

    #[test]
    fn the_switch_whose_queue_stands_is_reported_as_long_as_it_does() {
        let mut controller = controller();
        let mut poll = |at, node, bytes| receive(&mut controller, at, node, &Report::Queues(vec![load(0, bytes)]));
        assert!(poll(0, 1, 0).is_empty() && poll(0, 2, 0).is_empty());
        let state = Congestion::Queue(load(0, 90_000).governed);
        let reported = vec![(NodeId(1), Directive::Congestion { face: FaceId(0), state })];
        assert_eq!((poll(10, 1, 90_000), poll(20, 1, 90_000)), (reported.clone(), reported));
        assert!(poll(20, 2, 0).is_empty());
    }

    #[test]
    fn a_grant_reaches_every_other_switch() {
        let mut controller = controller();
        for node in 1..4 {
            receive(&mut controller, 0, node, &Report::Queues(vec![load(0, 0)]));
        }
        let flow = Name::segment(PrefixId(3), 9);
        let grant = FlowGrant { origin: NodeId(2), sequence: 1, flow, rate: BitRate::from_mbps(8.0) };
        let reported = receive(&mut controller, 5, 2, &Report::Grant(grant));
        assert_eq!(reported, [NodeId(1), NodeId(3)].map(|node| (node, Directive::Grant(grant))));
    }

    #[test]
    fn an_estimate_is_reported_beside_what_waits_of_brf_flows_and_in_the_port() {
        let settings = Settings(vec![("backlog".into(), Setting::Text("estimated".into()))]);
        let mut controller = BrfController::new(&Params::read(&settings).expect("known"));
        let at = Time::ZERO + Span::from_millis(10);
        let mut orders = Orders::default();
        controller.on_report(at, NodeId(1), Time::ZERO, &Report::Queues(vec![load(0, 0)]), &mut orders);
        orders.found.clear();
        // Sixty segments wait, four of them of BRF flows.
        let now = QueueLoad { waiting: Packets::new(60), arrived: ByteCount::new(60 * 1514), ..load(0, 4 * 1514) };
        controller.on_report(at, NodeId(1), at, &Report::Queues(vec![now]), &mut orders);
        let reported = |what, truth| {
            let estimate = 60.0 * SEGMENT;
            (NodeId(1), Event::Estimated { face: FaceId(0).0, what: Cause(what), estimate, truth })
        };
        let expected =
            [reported("backlog of BRF flows", 4.0 * SEGMENT), reported("backlog of the port", 60.0 * SEGMENT)];
        assert_eq!(orders.found, expected);
        assert_eq!(orders.directives.len(), 1, "7 ms of queue are congestion, whoever's they are");
    }
}
