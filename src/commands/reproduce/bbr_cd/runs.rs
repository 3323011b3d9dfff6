//! The plans of all runs: the scenario's file with a scheme and a condition.

use tidegate_core::math;
use tidegate_sim::plan::Plan;

use super::super::{Extent, REDUCED_SEEDS, checked};
use super::{Bench, FILE};
use crate::exit::Failure;

/// A scheme and its parameters.
#[derive(Debug)]
pub(super) struct Scheme {
    pub(super) name: &'static str,
    /// As TOML.
    pub(super) value: &'static str,
}

/// The paper's rows; each window starts at 1 (IV.A).
pub(super) const SCHEMES: [Scheme; 5] = [
    Scheme { name: "BBR-CD", value: "\"bbr-cd\"" },
    Scheme { name: "AIMD", value: "{ name = \"catchunks-aimd\", initial_window = 1 }" },
    Scheme { name: "CUBIC", value: "{ name = \"catchunks-cubic\", initial_window = 1 }" },
    // Aggregates bring up to eight Data at once, so that long gaps tell of the rate. Of what was tried this gets most
    // with losses; no setting is best everywhere.
    Scheme {
        name: "SIRC (rebuilt)",
        value: "{ name = \"sirc-like\", initial_window = 1, outlier = 20, backoff = 1, limit = 8, probing = 0.15 }",
    },
    Scheme { name: "BBR", value: "\"bbr\"" },
];
/// Places in [`SCHEMES`].
pub(super) const BBR_CD: usize = 0;
pub(super) const AIMD: usize = 1;
pub(super) const CUBIC: usize = 2;
pub(super) const SIRC: usize = 3;
pub(super) const BBR: usize = 4;

/// Rows beside the paper's.
pub(super) const OTHERS: [Scheme; 9] = [
    Scheme {
        name: "SIRC (rebuilt), losses widen gaps a little",
        value: "{ name = \"sirc-like\", initial_window = 1, outlier = 20, backoff = 1.05, limit = 8, probing = 0.15 }",
    },
    Scheme {
        name: "SIRC (rebuilt), its defaults but for the gaps",
        value: "{ name = \"sirc-like\", initial_window = 1, outlier = 20 }",
    },
    Scheme { name: "BBR with the timer of ndn-tools", value: "{ name = \"bbr\", loss_timer = \"shell\" }" },
    Scheme {
        name: "BBR-CD as printed",
        value: "{ name = \"bbr-cd\", probe_rtt_samples = \"rtt\", probe_rtt_exit = \"window\", min_margin = \"0s\" }",
    },
    Scheme {
        name: "BBR-CD, ProbeRTT by round trips",
        value: "{ name = \"bbr-cd\", probe_rtt_samples = \"rtt\" }",
    },
    Scheme { name: "BBR-CD, largest rate", value: "{ name = \"bbr-cd\", bw_agg = \"max\" }" },
    Scheme { name: "BBR-CD, window of two products", value: "{ name = \"bbr-cd\", cwnd_gain = 2 }" },
    Scheme { name: "catchunks, fixed window of 10", value: "{ name = \"catchunks-fixed\", fetchers = 10 }" },
    Scheme { name: "NDNts CUBIC", value: "\"ndnts-cubic\"" },
];

/// How many consumers: topology 1 and 2.
pub(super) const CONSUMERS: [usize; 2] = [1, 10];

/// What else happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Condition {
    Clean,
    /// Losses at each receiver, of a whole packet: (consumer, access point, producer), 0..1.
    Lossy([f64; 3]),
    /// The same rates, frames lost one by one with the packet's probability.
    LossyFrames([f64; 3]),
    /// The same rates of packets, in bursts of so many on average.
    Bursts([f64; 3], f64),
    /// The producer is off for 32 s from then, s.
    Outage(u64),
}

/// The paper's losses (IV.C).
pub(super) const PAPER_LOSS: [f64; 3] = [0.03, 0.03, 0.04];
/// How long the producer is off, s (IV.D).
pub(super) const OUTAGE_S: u64 = 32;
/// When it goes off, s; the paper does not say.
pub(super) const OUTAGE_FROM_S: u64 = 10;
/// Frames of a Data of the paper's size.
const FRAMES: f64 = 6.0;

/// One cell: so many consumers of one scheme under one condition, with `more` values.
pub(super) fn plan(
    bench: &Bench<'_>,
    scheme: &Scheme,
    consumers: usize,
    condition: Condition,
    more: &[(&str, &str)],
) -> Result<Plan, Failure> {
    let mut set = vec![
        ("topology.consumers".to_owned(), consumers.to_string()),
        ("flow.0.repeat".to_owned(), consumers.to_string()),
        ("flow.0.scheme".to_owned(), scheme.value.to_owned()),
    ];
    set.extend(losses(condition).into_iter().map(|(key, value)| (key.to_owned(), value)));
    if let Condition::Outage(from_s) = condition {
        // A radio out of reach tells nobody: Interests to it are lost without a Nack.
        let event =
            |at_s: u64, state: &str| format!("{{ at = \"{at_s}s\", node = \"p1\", state = {state} }}");
        let (off, on) = (event(from_s, "\"down\", silent = true"), event(from_s + OUTAGE_S, "\"up\""));
        set.push(("event".to_owned(), format!("[{off}, {on}]")));
    }
    set.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    let (file, text) = FILE;
    let mut plan = checked(bench.session, (&format!("scenarios/papers/bbr-cd/{file}"), text), &set)?;
    if bench.extent == Extent::Reduced {
        plan.seeds.truncate(REDUCED_SEEDS);
    }
    Ok(plan)
}

/// Where losses stand: Interests and Data of the consumers' links, then of the producer's.
const PLACES: [&str; 4] =
    ["topology.link.forward", "topology.link.backward", "link.r1-p1.forward", "link.r1-p1.backward"];

/// The losses of each direction; an Interest is one frame, a Data several.
fn losses(condition: Condition) -> Vec<(&'static str, String)> {
    let of = |[consumer, access_point, producer]: [f64; 3], of_frame: &dyn Fn(f64, bool) -> String| {
        let receivers = [(access_point, false), (consumer, true), (producer, false), (access_point, true)];
        let loss = |(loss, is_data): (f64, bool)| format!("{{ loss = {} }}", of_frame(loss, is_data));
        PLACES.into_iter().zip(receivers.map(loss)).collect()
    };
    let bernoulli = |loss: f64| format!("{{ model = \"bernoulli\", probability = {loss} }}");
    match condition {
        Condition::Clean | Condition::Outage(_) => Vec::new(),
        Condition::Lossy(rates) => {
            of(rates, &|loss, is_data| bernoulli(if is_data { per_frame(loss) } else { loss }))
        }
        Condition::LossyFrames(rates) => of(rates, &|loss, _| bernoulli(loss)),
        Condition::Bursts(rates, length) => of(rates, &|loss, is_data| {
            let frames = if is_data { FRAMES } else { 1.0 };
            bursts(loss, frames, length * frames)
        }),
    }
}

/// Loss of a frame that loses this part of Data.
fn per_frame(loss: f64) -> f64 {
    1.0 - math::pow(1.0 - loss, 1.0 / FRAMES)
}

/// Gilbert's model: bad spells last `frames_lost` frames on average, and are as frequent as it takes to lose this part of
/// packets of `frames` frames, all of which must be good.
fn bursts(loss: f64, frames: f64, frames_lost: f64) -> String {
    let to_good = 1.0 / frames_lost;
    let lost = |to_bad: f64| 1.0 - to_good / (to_good + to_bad) * math::pow(1.0 - to_bad, frames - 1.0);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        *(if lost(middle) < loss { &mut low } else { &mut high }) = middle;
    }
    format!("{{ model = \"gilbert-elliott\", to_bad = {low}, to_good = {to_good} }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_frames_lose_a_data_as_often_as_one_frame_an_interest() {
        assert!((1.0 - (1.0 - per_frame(0.03)).powi(6) - 0.03).abs() < 1e-12);
        // One frame: the bad part of the time is to_bad / (to_bad + 1/5).
        let to_bad = 0.03 / 0.97 / 5.0;
        let number = |text: &str| -> f64 {
            text.split(['=', ',']).nth(3).and_then(|n| n.trim().parse().ok()).unwrap_or(0.0)
        };
        assert!((number(&bursts(0.03, 1.0, 5.0)) - to_bad).abs() < 1e-9, "{}", bursts(0.03, 1.0, 5.0));
        assert!(number(&bursts(0.03, 6.0, 30.0)) < to_bad / 5.0);
        let places: Vec<&str> =
            losses(Condition::Lossy(PAPER_LOSS)).iter().map(|(place, _)| *place).collect();
        assert_eq!(places, PLACES);
        assert!(losses(Condition::Lossy(PAPER_LOSS))[2].1.contains("probability = 0.04"));
        assert!(losses(Condition::Clean).is_empty());
    }
}
