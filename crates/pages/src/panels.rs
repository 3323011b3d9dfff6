//! Plots over time: one panel per quantity of flows and links, for pages and exported figures.

use tidegate_core::observe::records::{FlowRecord, LinkRecord, LinkSamples, RunRecord};

use crate::figure::run::RateSteps;
use crate::sample_series;
use crate::thinning::Aligned;
use tidegate_results::text;

/// Maximum number of instants per series in a page.
pub(crate) const MAX_POINTS: usize = 2000;
/// Maximum number of series per plot; the largest are selected.
const MAX_SERIES: usize = 14;
/// Bins in a window of the fairness index.
const BINS_PER_WINDOW: f64 = 10.0;

/// One plot over time.
pub(crate) struct Panel {
    /// Short name, also of the exported figure.
    pub(crate) id: &'static str,
    /// Title of the panel.
    pub(crate) title: &'static str,
    /// Name of the quantity for the axis.
    pub(crate) quantity: &'static str,
    /// Unit of the values.
    pub(crate) unit: &'static str,
    /// Explanation in a sentence or two.
    pub(crate) note: String,
    /// Names of the series.
    pub(crate) names: Vec<String>,
    /// Places of the series among the flows or link directions of the run.
    pub(crate) places: Vec<usize>,
    /// Palette index of each series: a flow or link has the same colour in every plot.
    pub(crate) colours: Vec<usize>,
    /// Whether values are counts that hold for a whole bin.
    pub(crate) is_stepped: bool,
    /// The series, with values at the same times.
    pub(crate) data: Aligned,
}

impl Panel {
    /// Label of the y axis with its unit.
    pub(crate) fn label(&self) -> String {
        format!("{} [{}]", self.quantity, self.unit)
    }
}

/// The panels with data, and the quantities that remained zero.
#[derive(Default)]
pub(crate) struct Panels {
    /// Panels with data, in the order of the page.
    pub(crate) shown: Vec<Panel>,
    /// Names of the quantities that remained zero.
    pub(crate) idle: Vec<&'static str>,
}

/// All panels for the samples of a run; `rates` are those of each link direction over the run.
pub(crate) fn of_run(run: &RunRecord, rates: &[RateSteps]) -> Panels {
    let groups = Groups::of(run);
    let mut panels = Panels::default();
    for quantity in quantities(run, rates, bin_s(run.ended.as_secs_f64())) {
        if quantity.data.is_lively() {
            panels.shown.push(groups.panel(quantity));
        } else {
            panels.idle.push(quantity.words);
        }
    }
    panels
}

/// The series of `panels` in another run of the same plan, one for each panel, in bins as long as theirs (`bin_s`).
pub(crate) fn series_of(panels: &Panels, run: &RunRecord, rates: &[RateSteps], bin_s: f64) -> Vec<Aligned> {
    let mut all = quantities(run, rates, bin_s);
    let same = |panel: &Panel| {
        let place = all.iter().position(|quantity| quantity.id == panel.id)?;
        // Taken and not copied: each quantity has one panel.
        let Aligned { time_s, series } = std::mem::take(&mut all[place].data);
        Some(Aligned { time_s, series: picked(&series, &panel.places) })
    };
    panels.shown.iter().map(same).map(Option::unwrap_or_default).collect()
}

fn picked(series: &[Vec<Option<f64>>], places: &[usize]) -> Vec<Vec<Option<f64>>> {
    places.iter().map(|place| series.get(*place).cloned().unwrap_or_default()).collect()
}

/// Entities that the series of a quantity belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Flows,
    Links,
    Run,
}

/// A quantity with the series of all flows or link directions.
struct Quantity {
    id: &'static str,
    title: &'static str,
    /// Name of the quantity on the axis.
    name: &'static str,
    unit: &'static str,
    /// Phrase for the list of quantities that remained zero.
    words: &'static str,
    note: String,
    of: Of,
    is_stepped: bool,
    data: Aligned,
}

impl Quantity {
    /// A quantity without a note and without steps; the texts are in the order of the fields.
    fn plain(of: Of, [id, title, name, unit, words]: [&'static str; 5], data: Aligned) -> Self {
        Self { id, title, name, unit, words, note: String::new(), of, is_stepped: false, data }
    }
}

/// All quantities that the run has samples of, in bins of `bin_s` where they are counts.
fn quantities(run: &RunRecord, rates: &[RateSteps], bin_s: f64) -> Vec<Quantity> {
    let mut quantities = Vec::new();
    if !run.flow_samples.time.is_empty() {
        quantities.extend(of_flows(run, bin_s));
    }
    if !run.link_samples.time.is_empty() {
        quantities.extend(of_links(run, rates, bin_s));
    }
    quantities
}

fn of_flows(run: &RunRecord, bin_s: f64) -> Vec<Quantity> {
    let per_bin = per_bin(bin_s);
    let make = |words, data| Quantity::plain(Of::Flows, words, data);
    let sent = text::sent_by(&run.flows);
    let in_flight = in_flight(sent);
    let per_second = match sent {
        "Interest" => "Interests/s",
        "segment" => "segments/s",
        _ => "packets/s",
    };
    let throughput = sample_series::throughput(run, bin_s);
    let mut all = vec![
        Quantity {
            note: format!("Payload of distinct segments. {per_bin}"),
            ..make(["throughput", "Throughput", "throughput", "Mbit/s", "deliveries"], throughput)
        },
        make(
            ["rtt", "Smoothed round-trip time", "round-trip time", "ms", "round-trip times"],
            sample_series::round_trips(run),
        ),
        make(
            ["window", "Congestion window", "congestion window", "packets", "congestion windows"],
            sample_series::windows(run),
        ),
        make(["pacing", "Pacing rate", "pacing rate", per_second, "pacing"], sample_series::pacing(run)),
        make(["in-flight", in_flight, "in flight", "packets", in_flight], sample_series::in_flight(run)),
        Quantity {
            note: per_bin,
            is_stepped: true,
            ..make(
                ["retransmissions", "Retransmissions", "retransmissions", "packets", "retransmissions"],
                sample_series::retransmissions(run, bin_s),
            )
        },
    ];
    // The index of a single flow is always 1.
    if run.flows.len() > 1 {
        all.push(fairness(run, bin_s * BINS_PER_WINDOW));
    }
    all
}

/// Title of the plot of packets in flight, of which `sent` is the unit.
pub(crate) fn in_flight(sent: &str) -> &'static str {
    match sent {
        "Interest" => "Interests in flight",
        "segment" => "Segments in flight",
        _ => "Packets in flight",
    }
}

fn fairness(run: &RunRecord, window_s: f64) -> Quantity {
    let words = ["jain", "Jain's fairness index", "Jain's index", "1", "times with two active flows"];
    Quantity {
        note: format!(
            "Index of the throughputs in windows of {} s, 1 if all are equal; over the flows that received payload in the \
             window or had {}s in flight at its end, and missing if there was only one such flow.",
            text::number(window_s),
            text::sent_by(&run.flows)
        ),
        is_stepped: true,
        ..Quantity::plain(Of::Run, words, sample_series::jain(run, window_s))
    }
}

fn of_links(run: &RunRecord, rates: &[RateSteps], bin_s: f64) -> Vec<Quantity> {
    let per_bin = per_bin(bin_s);
    let make = |words, data| Quantity::plain(Of::Links, words, data);
    let queues = sample_series::queues(run);
    let load = sample_series::utilisation(run, rates, bin_s);
    let mut all = vec![
        make(["queue", "Queue length", "queue length", "packets", "queues"], queues),
        Quantity {
            note: format!("Bytes sent divided by the bytes that the rate allows. {per_bin}"),
            ..make(["utilisation", "Link utilisation", "utilisation", "%", "traffic on links"], load)
        },
    ];
    type Count = fn(&LinkSamples) -> &Vec<u32>;
    let counts: [(_, _, _, _, Count); 3] = [
        ("marks", "Congestion marks", "marked packets", "congestion marks", |link| &link.marked_packets),
        ("drops", "Drops by queues", "dropped packets", "drops by queues", |link| &link.dropped_packets),
        ("losses", "Losses on links", "lost packets", "losses on links", |link| &link.lost_packets),
    ];
    for (id, title, name, words, count) in counts {
        let data = sample_series::counted(run, bin_s, count);
        let counted = make([id, title, name, "packets", words], data);
        all.push(Quantity { note: per_bin.clone(), is_stepped: true, ..counted });
    }
    all
}

fn per_bin(bin_s: f64) -> String {
    format!("Per bin of {} ms.", text::number(bin_s * 1e3))
}

/// The flows and link directions of a run, with their names and colours in all panels.
struct Groups {
    flows: Group,
    links: Group,
}

struct Group {
    names: Vec<String>,
    /// Palette indices; the busiest entities have the first colours.
    colours: Vec<usize>,
    /// Entities of the series, such as `flows`.
    what: &'static str,
}

impl Groups {
    fn of(run: &RunRecord) -> Self {
        let flows = Group {
            names: run.flows.iter().map(|flow: &FlowRecord| flow.name.clone()).collect(),
            colours: (0..run.flows.len()).collect(),
            what: "flows",
        };
        let name = |link: &LinkRecord| format!("{} → {}", link.from, link.to);
        let mut order: Vec<usize> = (0..run.links.len()).collect();
        // By the peak of the queue first: the bottleneck gets the first colour.
        order.sort_by_key(|index| {
            let link = &run.links[*index];
            std::cmp::Reverse((link.peak_queue_packets, link.sent_bytes.get()))
        });
        let mut colours = vec![0; order.len()];
        for (rank, index) in order.into_iter().enumerate() {
            colours[index] = rank;
        }
        let links = Group { names: run.links.iter().map(name).collect(), colours, what: "link directions" };
        Self { flows, links }
    }

    /// A panel of the series with the largest values; series near zero would only cover others.
    fn panel(&self, quantity: Quantity) -> Panel {
        // The last colour of the palette, near black, which no flow has in a run with fewer than seven.
        let whole = Group { names: vec![quantity.name.to_owned()], colours: vec![6], what: "" };
        let group = match quantity.of {
            Of::Flows => &self.flows,
            Of::Links => &self.links,
            Of::Run => &whole,
        };
        let Quantity { id, title, name, unit, note, is_stepped, data, .. } = quantity;
        let places = max(&data.series);
        let left_out = if places.len() < data.series.len() {
            let (shown, all) = (places.len(), data.series.len());
            format!("The plot shows the {} with the largest values: {shown} of {all}.", group.what)
        } else {
            String::new()
        };
        Panel {
            id,
            title,
            quantity: name,
            unit,
            note: format!("{note} {left_out}").trim().to_owned(),
            names: places.iter().map(|place| group.names[*place].clone()).collect(),
            colours: places.iter().map(|place| group.colours[*place]).collect(),
            is_stepped,
            data: Aligned { series: picked(&data.series, &places), time_s: data.time_s },
            places,
        }
    }
}

/// Places of the [`MAX_SERIES`] series with the largest values, in their own order.
fn max(series: &[Vec<Option<f64>>]) -> Vec<usize> {
    let peaks: Vec<f64> = series.iter().map(|series| peak(series)).collect();
    let highest = peaks.iter().copied().fold(0.0, f64::max);
    let mut order: Vec<usize> =
        // A series below a twentieth of the maximum hardly rises above the base line.
        (0..peaks.len()).filter(|index| peaks[*index] > 0.0 && peaks[*index] * 20.0 >= highest).collect();
    order.sort_by(|left, right| peaks[*right].total_cmp(&peaks[*left]).then(left.cmp(right)));
    order.truncate(MAX_SERIES);
    // Back in the order of the run, which is the order of the legend in every panel.
    order.sort_unstable();
    order
}

fn peak(series: &[Option<f64>]) -> f64 {
    series.iter().flatten().copied().fold(0.0, f64::max)
}

/// Length of a bin, s: 100 ms, longer in runs of more than 200 s; 10 ms, the pause between samples, in runs below 1 s.
pub(crate) fn bin_s(end_s: f64) -> f64 {
    if end_s < 1.0 {
        return 0.01;
    }
    let tenths = (end_s / (MAX_POINTS as f64 * 0.1)).ceil();
    0.1 * tenths.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::run::RUN_FIGURES;

    #[test]
    fn every_plot_of_a_page_is_a_figure_with_the_same_title() {
        let run = RunRecord { flows: vec![FlowRecord::default(); 2], ..RunRecord::default() };
        for Quantity { id, title, .. } in of_flows(&run, 0.1).into_iter().chain(of_links(&run, &[], 0.1)) {
            let figure = RUN_FIGURES.iter().find(|figure| figure.name == id);
            assert_eq!(figure.map(|figure| figure.title_of(text::sent_by(&run.flows))), Some(title), "{id}");
        }
    }
}
