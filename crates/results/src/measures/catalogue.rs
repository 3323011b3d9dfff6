//! Measures of a whole run, by the names that `[expect]`, sweeps and comparisons use.

use tidegate_core::observe::records::{DelaySummary, FlowRecord, LinkRecord, RunRecord};
use tidegate_core::units::Span;

use super::{airtime, completion_mean_s, delay_mean_ms, run_jain_index, total_goodput_mbps, utilisation};

/// Direction in which a measure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The larger value is better.
    More,
    /// The smaller value is better.
    Less,
    /// The measure has no better direction.
    Neither,
}

/// One measure of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunMeasure {
    /// Name of the measure, with the unit last.
    pub name: &'static str,
    /// Noun for sentences: "less *delay*".
    pub noun: &'static str,
    /// Unit, `""` for plain numbers.
    pub unit: &'static str,
    /// Direction in which values are better.
    pub better: Better,
    /// One sentence: what is measured, and when it has no value.
    pub text: &'static str,
    /// Its value; `None` if it is not defined.
    pub of: fn(&RunRecord) -> Option<f64>,
}

/// The measure `name`; `None` for a name that no measure has.
pub fn find(name: &str) -> Option<&'static RunMeasure> {
    RUN_MEASURES.iter().find(|measure| measure.name == name)
}

/// Rows `name: "noun", "unit", better, of, "text";`.
macro_rules! measure {
    ($($name:ident: $noun:literal, $unit:literal, $better:ident, $of:expr, $text:literal;)*) => {
        [$(RunMeasure {
            name: stringify!($name),
            noun: $noun,
            unit: $unit,
            better: Better::$better,
            text: $text,
            of: $of,
        }),*]
    };
}

/// All measures, the most important ones first.
pub const RUN_MEASURES: [RunMeasure; 13] = measure! {
    goodput_mbps: "goodput", "Mbit/s", More, total_goodput_mbps,
        "Payload received by all flows, divided by the time from the first start of a flow to the last completion or stop, or to the end of the run if a flow is unfinished; missing without flows.";
    completion_s: "completion time", "s", Less, completion_mean_s,
        "Mean completion time of the finite flows; missing if one of them is unfinished.";
    full_delay_ms: "delay", "ms", Less, |run| delay_mean_ms(run, |flow| flow.full_delay),
        "Mean time from a segment's first Interest to its Data, over all segments; missing without Data.";
    full_delay_p95_ms: "95th-percentile delay", "ms", Less, delay_p95_ms,
        "95th percentile of the full delay of each flow, averaged over the flows with their delivered segments as weights.";
    queue_delay_ms: "queue delay", "ms", Less, queue_delay_ms,
        "Mean queueing delay of the queue in which it is longest; missing without packets.";
    jain: "fairness (Jain's index)", "", More, run_jain_index,
        "Jain's fairness index of the flows' goodputs, from 1/n to 1; missing without goodput.";
    retransmissions: "retransmissions", "packets", Less, |run| over_flows(run, |flow| flow.retransmissions),
        "Retransmitted Interests, over all flows.";
    timeouts: "timeouts", "", Less, |run| over_flows(run, |flow| flow.timeouts),
        "Retransmission timeouts of all consumers.";
    dropped_packets: "drops by queues and gates", "packets", Less, |run| over_links(run, |link| link.dropped_packets),
        "Packets dropped by all queues and the gates in front of them.";
    lost_packets: "losses on links", "packets", Less, |run| over_links(run, |link| link.lost_packets),
        "Packets lost in transmission or when a link went down.";
    utilisation: "utilisation of the busiest link", "", More, busiest,
        "Utilisation of the busiest link direction: bits transmitted divided by bits possible; or the airtime of a busier medium.";
    marks: "congestion marks", "packets", Neither, |run| over_flows(run, |flow| flow.marks),
        "Data packets received with a congestion mark, over all flows.";
    loss_notices: "loss notices", "packets", Neither, |run| over_flows(run, |flow| flow.loss_notices),
        "Loss notices received by all consumers.";
};

fn busiest(run: &RunRecord) -> Option<f64> {
    let links = run.links.iter().filter_map(|link| utilisation(link, run.ended));
    links.chain(run.media.iter().filter_map(|medium| airtime(medium, run.ended))).reduce(f64::max)
}

fn over_flows(run: &RunRecord, of: fn(&FlowRecord) -> u64) -> Option<f64> {
    Some(run.flows.iter().map(of).sum::<u64>() as f64)
}

fn over_links(run: &RunRecord, of: fn(&LinkRecord) -> u64) -> Option<f64> {
    Some(run.links.iter().map(of).sum::<u64>() as f64)
}

fn delay_p95_ms(run: &RunRecord) -> Option<f64> {
    let delays = || run.flows.iter().map(|flow| flow.full_delay);
    let count: u64 = delays().map(|delay| delay.count).sum();
    let weighted = |delay: DelaySummary| delay.count as f64 * delay.p95.as_millis_f64();
    (count > 0).then(|| delays().map(weighted).sum::<f64>() / count as f64)
}

fn queue_delay_ms(run: &RunRecord) -> Option<f64> {
    let queues = run.links.iter().map(|link| link.queue_delay).filter(|delay| delay.count > 0);
    queues.map(|delay| delay.mean).max().map(Span::as_millis_f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::{BitRate, ByteCount, Time};

    fn delay(count: u64, mean_ms: u64, p95_ms: u64) -> DelaySummary {
        let (mean, p95) = (Span::from_millis(mean_ms), Span::from_millis(p95_ms));
        DelaySummary { count, mean, p95, ..DelaySummary::default() }
    }

    fn run() -> RunRecord {
        let flow = |full_delay| FlowRecord { timeouts: 3, full_delay, ..FlowRecord::default() };
        let link = |sent, queue_delay| LinkRecord {
            mean_rate: BitRate::from_mbps(8.0),
            sent_bytes: ByteCount::new(sent),
            dropped_packets: 2,
            queue_delay,
            ..LinkRecord::default()
        };
        RunRecord {
            ended: Time::from_nanos(1_000_000_000),
            flows: vec![flow(delay(300, 10, 20)), flow(delay(100, 30, 60))],
            links: vec![link(250_000, delay(7, 2, 3)), link(500_000, delay(9, 5, 6))],
            ..RunRecord::default()
        }
    }

    fn value(name: &str) -> Option<f64> {
        (find(name).expect("a measure").of)(&run())
    }

    #[test]
    fn counts_are_summed_and_the_busiest_link_counts() {
        let values = ["timeouts", "dropped_packets", "utilisation"].map(value);
        assert_eq!(values, [Some(6.0), Some(4.0), Some(0.5)]);
    }

    #[test]
    fn a_flow_weighs_as_much_as_it_delivered_and_the_longest_queue_counts() {
        let values = ["full_delay_ms", "full_delay_p95_ms", "queue_delay_ms"].map(value);
        assert_eq!(values, [Some(15.0), Some(30.0), Some(5.0)]);
        assert_eq!((find("full_delay_p95_ms").expect("a measure").of)(&RunRecord::default()), None);
    }

    #[test]
    fn every_name_is_there_once() {
        let mut names: Vec<&str> = RUN_MEASURES.iter().map(|measure| measure.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
