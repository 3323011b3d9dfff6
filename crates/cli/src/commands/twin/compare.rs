//! Measures that are compared, with their tolerances.

use serde_json::{Value, json};
use tidegate_core::observe::records::RunRecord;
use tidegate_core::units::Span;
use tidegate_results::text::{Align, Screen, TextTable, number};

use super::lateness::is_too_late;
use crate::exit::Exit;

/// Tolerance of goodput, as a fraction of the simulated one.
const GOODPUT: f64 = 0.05;

/// Tolerance of mean queue delay, as a fraction of the simulated one; at least [`QUEUE_DELAY_MS`].
const QUEUE_DELAY: f64 = 0.20;

/// Lower bound of the tolerance on queue delay, ms.
const QUEUE_DELAY_MS: f64 = 2.0;

/// Tolerance of retransmissions, percentage points of the Interests.
const RETRANSMISSIONS: f64 = 1.0;

/// Measures of one run that are compared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Comparison {
    /// Payload per second of the transfer, Mbit/s.
    pub(super) goodput_mbps: f64,
    /// Mean queue delay of the packets that passed the bottleneck towards the consumer, ms.
    pub(super) queue_delay_ms: f64,
    /// Retransmissions, percent of all Interests.
    pub(super) retransmissions_pct: f64,
}

impl Comparison {
    /// Goodput of a flow of segments with `payload` bytes each, and its retransmissions.
    pub(super) fn of_flow(run: &RunRecord, payload: u64) -> Self {
        let Some(flow) = run.flows.first() else { return Self::default() };
        // An unfinished transfer has no goodput: NaN is within no tolerance.
        let seconds = flow.completion_time().map_or(f64::NAN, |time| time.as_nanos() as f64 / 1e9);
        Self {
            goodput_mbps: flow.delivered_segments as f64 * payload as f64 * 8.0 / 1e6 / seconds,
            retransmissions_pct: 100.0 * flow.retransmissions as f64 / flow.interests as f64,
            ..Self::default()
        }
    }

    /// Takes the measures from a simulated run.
    pub(super) fn of_simulation(run: &RunRecord, payload: u64) -> Self {
        // The direction of Data, whose queue the live forwarder measures, too.
        let bottleneck = run.links.iter().find(|link| link.from == "r2" && link.to == "r1");
        let delay = bottleneck.map_or(f64::NAN, |link| link.queue_delay.mean.as_nanos() as f64 / 1e6);
        Self { queue_delay_ms: delay, ..Self::of_flow(run, payload) }
    }

    const fn values(&self) -> [f64; 3] {
        [self.goodput_mbps, self.queue_delay_ms, self.retransmissions_pct]
    }
}

/// A measure with its name and the tolerance of `live` relative to `simulated`.
struct TwinMeasure {
    name: &'static str,
    key: &'static str,
    tolerance: fn(f64) -> f64,
}

const MEASURES: [TwinMeasure; 3] = [
    TwinMeasure { name: "goodput, Mbit/s", key: "goodput_mbps", tolerance: |simulated| GOODPUT * simulated },
    TwinMeasure {
        name: "mean queue delay, ms",
        key: "queue_delay_ms",
        tolerance: |simulated| (QUEUE_DELAY * simulated).max(QUEUE_DELAY_MS),
    },
    TwinMeasure {
        name: "retransmissions, % of Interests",
        key: "retransmissions_pct",
        tolerance: |_| RETRANSMISSIONS,
    },
];

/// Simulated and live runs of one case.
#[derive(Debug)]
pub(super) struct TwinCase {
    name: &'static str,
    /// Measures of the simulated runs.
    pub(super) simulated: Vec<Comparison>,
    /// Measures of the transfers over real sockets.
    pub(super) live: Vec<Comparison>,
    /// Lateness of timers during each live run, 99th percentile.
    pub(super) lateness: Vec<Span>,
}

impl TwinCase {
    /// Creates an entry for this scheme without runs.
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, simulated: Vec::new(), live: Vec::new(), lateness: Vec::new() }
    }

    /// Whether every measure is within its tolerance.
    pub(super) fn is_within(&self) -> bool {
        (0..MEASURES.len()).all(|measure| self.row(measure).is_within())
    }

    /// Whether the verdict is evidence about the code: all measures are within their tolerance, or the
    /// machine was idle enough to measure them.
    pub(super) fn is_judged(&self) -> bool {
        self.is_within() || !self.was_busy()
    }

    /// Maximum lateness of its live runs.
    fn max_late(&self) -> Span {
        self.lateness.iter().copied().max().unwrap_or(Span::ZERO)
    }

    fn was_busy(&self) -> bool {
        self.lateness.iter().any(|late| is_too_late(*late))
    }

    fn verdict(&self, row: &CaseMeans) -> &'static str {
        match (row.is_within(), self.was_busy()) {
            (true, _) => "within",
            (false, true) => "not judged",
            (false, false) => "FAILS",
        }
    }

    fn row(&self, measure: usize) -> CaseMeans {
        let values = |runs: &[Comparison]| runs.iter().map(|run| run.values()[measure]).collect::<Vec<_>>();
        let (simulated, live) = (values(&self.simulated), values(&self.live));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        CaseMeans {
            simulated: mean(&simulated),
            live: mean(&live),
            min: live.iter().copied().fold(f64::INFINITY, f64::min),
            max: live.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            tolerance: (MEASURES[measure].tolerance)(mean(&simulated)),
        }
    }

    /// Returns the measures of both sides as JSON.
    pub(super) fn json(&self) -> Value {
        let row = |(index, measure): (usize, &TwinMeasure)| {
            let row = self.row(index);
            json!({
                "measure": measure.key,
                "simulated": row.simulated,
                "live": row.live,
                "tolerance": row.tolerance,
                "within": row.is_within(),
            })
        };
        json!({
            "case": self.name,
            "runs": self.live.len() as u64,
            "lateness_p99_ms": self.max_late().as_millis_f64(),
            "judged": self.is_judged(),
            "measures": MEASURES.iter().enumerate().map(row).collect::<Value>(),
        })
    }
}

/// Exit code of the comparison of all cases: a failure on an idle machine takes precedence.
pub(super) fn exit(cases: &[TwinCase]) -> Exit {
    if cases.iter().any(|case| case.is_judged() && !case.is_within()) {
        Exit::Unexpected
    } else if cases.iter().all(TwinCase::is_judged) {
        Exit::Ok
    } else {
        Exit::NotJudged
    }
}

/// Means of a case over its runs.
struct CaseMeans {
    simulated: f64,
    live: f64,
    min: f64,
    max: f64,
    tolerance: f64,
}

impl CaseMeans {
    /// Whether the difference is within the tolerance; false if either mean is NaN.
    fn is_within(&self) -> bool {
        (self.live - self.simulated).abs() <= self.tolerance
    }
}

/// Table of all cases and measures with their tolerances.
pub(super) fn table(cases: &[TwinCase], screen: Screen) -> String {
    let heads = [
        ("case", Align::Left),
        ("measure", Align::Left),
        ("simulated", Align::Right),
        ("live", Align::Right),
        ("live, minimum", Align::Right),
        ("maximum", Align::Right),
        ("difference", Align::Right),
        ("allowed", Align::Right),
        ("", Align::Left),
    ];
    let mut table = TextTable::new(&heads);
    for case in cases {
        for (index, measure) in MEASURES.iter().enumerate() {
            let row = case.row(index);
            table.row([
                case.name.to_owned(),
                measure.name.to_owned(),
                number(row.simulated),
                number(row.live),
                number(row.min),
                number(row.max),
                number(row.live - row.simulated),
                number(row.tolerance),
                case.verdict(&row).to_owned(),
            ]);
        }
    }
    table.render(screen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(live: Comparison) -> TwinCase {
        let simulated = Comparison { goodput_mbps: 10.0, queue_delay_ms: 5.0, retransmissions_pct: 1.0 };
        let lateness = vec![Span::from_micros(300)];
        TwinCase { name: "x", simulated: vec![simulated], live: vec![live], lateness }
    }

    #[test]
    fn what_fails_on_a_busy_machine_is_not_judged_and_what_holds_there_holds() {
        let good = Comparison { goodput_mbps: 10.0, queue_delay_ms: 5.0, retransmissions_pct: 1.0 };
        let bad = Comparison { goodput_mbps: 5.0, ..good };
        let busy = |live| TwinCase { lateness: vec![Span::ZERO, Span::from_millis(9)], ..case(live) };
        let verdicts = [case(good), case(bad), busy(good), busy(bad)].map(|case| case.verdict(&case.row(0)));
        assert_eq!(verdicts, ["within", "FAILS", "within", "not judged"]);
        assert_eq!(
            [case(bad).is_judged(), busy(good).is_judged(), busy(bad).is_judged()],
            [true, true, false]
        );
        assert_eq!([exit(&[case(good)]), exit(&[busy(good)])], [Exit::Ok, Exit::Ok]);
        assert_eq!(exit(&[case(good), busy(bad)]), Exit::NotJudged);
        assert_eq!([exit(&[case(bad)]), exit(&[busy(bad), case(bad)])], [Exit::Unexpected, Exit::Unexpected]);
    }

    #[test]
    fn each_measure_has_its_own_tolerance() {
        let good = Comparison { goodput_mbps: 9.6, queue_delay_ms: 6.9, retransmissions_pct: 1.9 };
        assert!(case(good).is_within());
        assert!(!case(Comparison { goodput_mbps: 9.4, ..good }).is_within());
        assert!(!case(Comparison { queue_delay_ms: 7.1, ..good }).is_within());
        assert!(!case(Comparison { retransmissions_pct: 2.1, ..good }).is_within());
        assert!(!case(Comparison { goodput_mbps: f64::NAN, ..good }).is_within());
    }
}
