//! What is plotted over time: one panel per quantity of flows and links.

use tidegate_core::records::{FlowRecord, LinkRecord, LinkSamples, RunRecord};

use super::timeline::Timeline;
use crate::quantities;
use crate::samples::Aligned;
use crate::text;

/// Instants per series in a page, at most.
pub(super) const MOST_POINTS: usize = 2000;
/// Series per plot, at most; the largest are kept.
const MOST_SERIES: usize = 14;
/// Bins in a window of the fairness index.
const BINS_PER_WINDOW: f64 = 10.0;

/// One plot.
pub(super) struct Panel {
    /// What is shown.
    pub(super) title: &'static str,
    /// Unit of the values.
    pub(super) unit: &'static str,
    /// What to know of it, in a sentence or two.
    pub(super) note: String,
    /// Names of the series.
    pub(super) names: Vec<String>,
    /// Palette index of each series: a flow or link keeps its colour in every plot.
    pub(super) colours: Vec<usize>,
    /// Whether values are counts that hold for a whole bin.
    pub(super) is_stepped: bool,
    /// The series.
    pub(super) data: Aligned,
}

impl Panel {
    fn stepped(self) -> Self {
        Self { is_stepped: true, ..self }
    }
}

/// The panels with something to show, and the quantities that stayed zero.
#[derive(Default)]
pub(super) struct Panels {
    /// In the order of the page.
    pub(super) shown: Vec<Panel>,
    /// In words.
    pub(super) idle: Vec<&'static str>,
}

/// Everything that the samples of a run show.
pub(super) fn of_run(run: &RunRecord, timeline: &Timeline) -> Panels {
    let mut panels = Panels::default();
    if !run.flow_samples.time.is_empty() {
        flows(&mut panels, run);
    }
    if !run.link_samples.time.is_empty() {
        links(&mut panels, run, timeline);
    }
    panels
}

impl Panels {
    /// Adds a panel, or its quantity to the idle ones.
    fn add(&mut self, panel: Panel, what: &'static str) {
        if panel.data.is_lively() { self.shown.push(panel) } else { self.idle.push(what) }
    }
}

fn flows(panels: &mut Panels, run: &RunRecord) {
    let group = Group::flows(run);
    let bin_s = bin_s(run.ended.as_secs_f64());
    let per_bin = per_bin(bin_s);
    let note = format!("Payload of distinct segments. {per_bin}");
    let throughput = group.panel("Throughput", "Mbit/s", &note, quantities::throughput(run, bin_s));
    panels.add(throughput, "deliveries");
    let round_trips = group.panel("Smoothed round-trip time", "ms", "", quantities::round_trips(run));
    panels.add(round_trips, "round-trip times");
    panels
        .add(group.panel("Congestion window", "packets", "", quantities::windows(run)), "congestion windows");
    let [in_flight, per_second] = match text::sent_by(&run.flows) {
        "Interest" => ["Interests in flight", "Interests/s"],
        "segment" => ["Segments in flight", "segments/s"],
        _ => ["Packets in flight", "packets/s"],
    };
    panels.add(group.panel("Pacing rate", per_second, "", quantities::pacing(run)), "pacing");
    panels.add(group.panel(in_flight, "packets", "", quantities::in_flight(run)), in_flight);
    let again = quantities::retransmissions(run, bin_s);
    panels.add(group.panel("Retransmissions", "packets", &per_bin, again).stepped(), "retransmissions");
    if run.flows.len() > 1 {
        panels.add(fairness(run, bin_s * BINS_PER_WINDOW), "times with two active flows");
    }
}

fn fairness(run: &RunRecord, window_s: f64) -> Panel {
    Panel {
        title: "Jain's fairness index",
        unit: "1 = equal",
        note: format!(
            "Of the throughputs in windows of {} s, over the flows that got payload in the window or had {}s in \
             flight at its end; none where that was one flow only.",
            text::number(window_s),
            text::sent_by(&run.flows)
        ),
        names: vec!["Jain's index".to_owned()],
        colours: vec![6],
        is_stepped: true,
        data: quantities::jain(run, window_s).thinned(MOST_POINTS),
    }
}

fn links(panels: &mut Panels, run: &RunRecord, timeline: &Timeline) {
    let group = Group::links(run);
    let bin_s = bin_s(run.ended.as_secs_f64());
    let per_bin = per_bin(bin_s);
    panels.add(group.panel("Queue length", "packets", "", quantities::queues(run)), "queues");
    let load = quantities::utilisation(run, &timeline.rates, bin_s);
    let note = format!("Bytes put on the wire over those that the rate allows. {per_bin}");
    panels.add(group.panel("Link utilisation", "%", &note, load), "traffic on links");
    type Count = fn(&LinkSamples) -> &Vec<u32>;
    let counts: [(&str, &str, Count); 3] = [
        ("Congestion marks", "congestion marks", |link| &link.marked_packets),
        ("Drops by queues", "drops by queues", |link| &link.dropped_packets),
        ("Losses on links", "losses on links", |link| &link.lost_packets),
    ];
    for (title, what, count) in counts {
        let data = quantities::counted(run, bin_s, count);
        panels.add(group.panel(title, "packets", &per_bin, data).stepped(), what);
    }
}

fn per_bin(bin_s: f64) -> String {
    format!("Per bin of {} ms.", text::number(bin_s * 1e3))
}

/// Parts that share their names and colours in all panels.
struct Group {
    names: Vec<String>,
    /// Their palette indices: those that matter most come first.
    colours: Vec<usize>,
    /// What they are: `flows`.
    what: &'static str,
}

impl Group {
    fn flows(run: &RunRecord) -> Self {
        Self {
            names: run.flows.iter().map(|flow: &FlowRecord| flow.name.clone()).collect(),
            colours: (0..run.flows.len()).collect(),
            what: "flows",
        }
    }

    fn links(run: &RunRecord) -> Self {
        let name = |link: &LinkRecord| format!("{} → {}", link.from, link.to);
        let mut order: Vec<usize> = (0..run.links.len()).collect();
        order.sort_by_key(|index| {
            let link = &run.links[*index];
            std::cmp::Reverse((link.peak_queue_packets, link.sent_bytes.get()))
        });
        let mut colours = vec![0; order.len()];
        for (rank, index) in order.into_iter().enumerate() {
            colours[index] = rank;
        }
        Self { names: run.links.iter().map(name).collect(), colours, what: "link directions" }
    }

    /// A panel of the parts with the largest values; those that hardly rise above zero would only hide others.
    fn panel(&self, title: &'static str, unit: &'static str, note: &str, data: Aligned) -> Panel {
        let peaks: Vec<f64> = data.series.iter().map(|series| peak(series)).collect();
        let highest = peaks.iter().copied().fold(0.0, f64::max);
        let mut order: Vec<usize> =
            (0..peaks.len()).filter(|index| peaks[*index] > 0.0 && peaks[*index] * 20.0 >= highest).collect();
        order.sort_by(|left, right| peaks[*right].total_cmp(&peaks[*left]).then(left.cmp(right)));
        order.truncate(MOST_SERIES);
        order.sort_unstable();
        let left_out = if order.len() < peaks.len() {
            format!("{} of {} {} shown, those with the largest values.", order.len(), peaks.len(), self.what)
        } else {
            String::new()
        };
        let series = order.iter().map(|index| data.series[*index].clone()).collect();
        Panel {
            title,
            unit,
            note: format!("{note} {left_out}").trim().to_owned(),
            names: order.iter().map(|index| self.names[*index].clone()).collect(),
            colours: order.iter().map(|index| self.colours[*index]).collect(),
            is_stepped: false,
            data: Aligned { series, ..data }.thinned(MOST_POINTS),
        }
    }
}

fn peak(series: &[Option<f64>]) -> f64 {
    series.iter().flatten().copied().fold(0.0, f64::max)
}

/// Length of a bin, s: 100 ms, longer in runs of more than 200 s.
pub(super) fn bin_s(end_s: f64) -> f64 {
    let tenths = (end_s / (MOST_POINTS as f64 * 0.1)).ceil();
    0.1 * tenths.max(1.0)
}
