//! What a trace of every packet shows: states at marks, steps of windows, work of the control plane.
//!
//! Load and occupancy (eq. 1 and 2) are computed anew from the packets, not asked of the scheme.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidegate_core::event::{Cause, Event, EventMask};
use tidegate_core::records::{EventRecord, RunRecord};
use tidegate_sim::plan::Plan;

use super::loads::Loads;

/// Events that the counts need beyond those of every run.
pub(super) const EVENTS: EventMask = EventMask::PACKETS;

/// Counts of one run of ndnSieve in its literal form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Invariants {
    /// S13: Data marked while its face was not severely congested, signals of severe congestion that were acted on.
    pub(super) unsieved: f64,
    /// S14: window steps other than one packet.
    pub(super) odd_steps: f64,
    /// E6: most operations of detection, over four times the router's faces.
    pub(super) detection: f64,
    /// E7: most signals filtered in a detection period, over the faces of all routers.
    pub(super) filtered: f64,
    /// E8: operations of the calculator beyond one per mild signal, a visit of every router and a look at every
    /// face of a router.
    pub(super) calculated: f64,
}

/// The counts; `None` without a trace of packets.
pub(super) fn of(plan: &Plan, run: &RunRecord) -> Option<Invariants> {
    if !plan.recorded.has(EVENTS) {
        return None;
    }
    let mut watch = Watch::new(plan);
    run.events.iter().for_each(|record| watch.see(record));
    let Watch { found, .. } = watch;
    Some(Invariants { unsieved: found.unsieved + Loads::of(plan, run).false_marks(&run.events), ..found })
}

/// The controller hears signals in the order in which they were sent: nothing is lost here.
struct Watch {
    found: Invariants,
    windows: Vec<f64>,
    /// Faces of each node, for routers.
    faces: BTreeMap<u32, u32>,
    /// Whether a face is mildly (false) or severely (true) congested; free ones are not in it.
    congested: BTreeMap<(u32, u16), bool>,
    /// The instant and node that signals come from, and how many of them came.
    signalling: (u64, u32, usize),
    /// Signals on their way to the controller: whether they are of severe congestion.
    under_way: std::collections::VecDeque<bool>,
    is_severe: bool,
    mild_signals: f64,
    /// Detection period and signals filtered in it.
    period: (u64, f64),
}

impl Watch {
    fn new(plan: &Plan) -> Self {
        let degree = |node: usize| plan.links.iter().filter(|link| link.a == node || link.b == node).count();
        let routers = (0..plan.nodes.len()).filter(|node| !plan.nodes[*node].parts.is_empty());
        Self {
            found: Invariants::default(),
            windows: vec![1.0; plan.flows.len()],
            faces: routers.map(|node| (node as u32, degree(node) as u32)).collect(),
            congested: BTreeMap::new(),
            signalling: (0, 0, 0),
            under_way: std::collections::VecDeque::new(),
            is_severe: false,
            mild_signals: 0.0,
            period: (0, 0.0),
        }
    }

    fn see(&mut self, record: &EventRecord) {
        match record.event {
            Event::WindowChanged { flow, window, .. } => {
                let before = std::mem::replace(&mut self.windows[flow as usize], window);
                self.found.odd_steps += f64::from((window - before).abs() != 1.0);
            }
            Event::StateChanged { face, state: Cause(state) } => {
                match state {
                    "free" => self.congested.remove(&(record.node, face)),
                    other => self.congested.insert((record.node, face), other == "severe"),
                };
            }
            Event::Reported { kind: Cause("congestion") } => self.signal(record),
            Event::Worked { part, operations } => self.work(record, part, f64::from(operations)),
            _ => {}
        }
    }

    /// The signals of one instant and router are those of its congested faces, in order.
    fn signal(&mut self, record: &EventRecord) {
        let (at, node, place) = self.signalling;
        let now = record.time.as_nanos();
        let place = if (at, node) == (now, record.node) { place + 1 } else { 0 };
        self.signalling = (now, record.node, place);
        let faces = self.congested.range((record.node, 0)..=(record.node, u16::MAX));
        self.under_way.extend(faces.map(|(_, is_severe)| *is_severe).nth(place));
    }

    fn work(&mut self, record: &EventRecord, part: Cause, operations: f64) {
        let largest = self.faces.values().copied().max().map_or(0.0, f64::from);
        let found = &mut self.found;
        match part.0 {
            "detection" => {
                let faces = self.faces.get(&record.node).copied().map_or(0.0, f64::from);
                found.detection = found.detection.max(operations / (4.0 * faces));
            }
            "filter" => self.filter(record, operations),
            "calculator" => {
                found.unsieved += f64::from(self.is_severe);
                self.mild_signals -= operations;
                found.calculated += f64::from(self.mild_signals < 0.0);
            }
            "shunt" => found.calculated += (operations - self.faces.len() as f64).max(0.0),
            "switch" => found.calculated += (operations - largest).max(0.0),
            _ => found.calculated += operations,
        }
    }

    fn filter(&mut self, record: &EventRecord, operations: f64) {
        // A signal that nobody sent counts as one of severe congestion.
        self.is_severe = self.under_way.pop_front().unwrap_or(true);
        self.mild_signals += f64::from(!self.is_severe);
        let period = record.time.as_nanos() / PERIOD_NANOS;
        let before = if self.period.0 == period { self.period.1 } else { 0.0 };
        self.period = (period, before + operations);
        let faces: u32 = self.faces.values().sum();
        self.found.filtered = self.found.filtered.max(self.period.1 / f64::from(faces));
    }
}

/// The detector's default period; signals arrive 1 ms after its beginning.
const PERIOD_NANOS: u64 = 100_000_000;

#[cfg(test)]
mod tests {
    use super::super::{MULTIPATH1, SCENARIOS};
    use super::*;
    use tidegate_core::rng::Seed;
    use tidegate_core::units::Span;
    use tidegate_schemes::SCHEMES;
    use tidegate_sim::run::run;
    use tidegate_sim::scenario;

    fn found(set: &[(&str, &str)]) -> Invariants {
        let set: Vec<(String, String)> =
            set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let text = SCENARIOS[MULTIPATH1].text;
        let mut plan =
            scenario::parse("test.toml", text, &set, SCHEMES).unwrap_or_else(|errors| panic!("{errors}"));
        plan.recorded = EventMask::CONSUMERS.and(EventMask::CONTROL).and(EventMask::QUEUES).and(EVENTS);
        plan.duration = Span::from_secs(3);
        of(&plan, &run(&plan, Seed(1))).expect("packets were traced")
    }

    #[test]
    fn the_scheme_as_it_stands_breaks_nothing_and_works_at_all() {
        let Invariants { unsieved, odd_steps, detection, filtered, calculated } = found(&[]);
        assert_eq!((unsieved, odd_steps, calculated), (0.0, 0.0, 0.0));
        assert!(detection > 0.5 && detection <= 1.0 && filtered > 0.0 && filtered <= 1.0);
    }

    #[test]
    fn marks_from_a_short_queue_are_found() {
        assert!(found(&[("router.parts", "[{ scheme = \"ndnsieve\", th2 = 0.05 }]")]).unsieved > 10.0);
    }

    #[test]
    fn marks_at_a_low_load_are_found() {
        assert!(found(&[("router.parts", "[{ scheme = \"ndnsieve\", th1 = 0.1 }]")]).unsieved > 10.0);
    }

    #[test]
    fn signals_of_severe_congestion_that_are_acted_on_are_found() {
        assert!(found(&[("controller.scheme", "{ name = \"ndnsieve\", th2 = 0.9 }")]).unsieved > 0.0);
    }

    #[test]
    fn steps_of_a_part_of_a_packet_are_found() {
        let gentle = "{ name = \"ndnsieve\", form = \"ssr\" }";
        assert!(found(&[("flow.*.scheme", gentle)]).odd_steps > 10.0);
    }
}
