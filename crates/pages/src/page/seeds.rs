//! Samples of several seeds for the plots of a page: each seed's own series, thinned, and a band over all of them.

use tidegate_core::observe::records::RunRecord;

use super::plots::rounded;
use super::timeline::Timeline;
use super::variant_plots::Beside;
use crate::markup::{Escaped, Markup};
use crate::panels::{self, Panels};
use crate::thinning::Aligned;
use serde_json::{Value, json};
use tidegate_results::compare::Variant;
use tidegate_results::stats::mean;
use tidegate_results::text;

/// Minimum and maximum number of bins of a band over the length of a run.
const BAND_BINS: (usize, usize) = (80, 250);
/// Approximate maximum number of values of all seeds in a page, about seven bytes each.
const MAX_VALUES: usize = 300_000;
/// Minimum and maximum number of instants per series of a seed.
const POINTS: (usize, usize) = (60, 500);

/// The plotted series of some runs that differ by seed. Seeds are added one by one, so that the samples of
/// one seed at a time are in memory.
#[derive(Debug)]
pub struct SeedPlots {
    model: Model,
    /// Seeds in the order in which they were added.
    seeds: Vec<u64>,
    /// Series of all seeds except the first, which is already on the page.
    series: Vec<Vec<Aligned>>,
    /// Bands over the seeds, one per panel.
    bands: Vec<Band>,
    /// Maximum number of points of each series.
    max_points: usize,
    /// The end of the longest run, s.
    end_s: f64,
}

/// Panels of the first seed; its selection of series applies to all.
enum Model {
    /// The runs of one plan.
    Run { panels: Panels, timeline: Timeline, bin_s: f64 },
    /// The runs of all variants of a comparison.
    Variants(Beside),
}

impl Model {
    fn panels(&self) -> &Panels {
        match self {
            Self::Run { panels, .. } | Self::Variants(Beside { panels, .. }) => panels,
        }
    }

    /// The series of all panels in the runs of another seed.
    fn series_of(&self, runs: &[RunRecord]) -> Vec<Aligned> {
        match (self, runs) {
            (Self::Run { panels, timeline, bin_s }, [run, ..]) => {
                panels::series_of(panels, run, &timeline.rates, *bin_s)
            }
            (Self::Run { .. }, []) => Vec::new(),
            (Self::Variants(beside), runs) => beside.series_of(runs),
        }
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("panels", &self.panels().shown.len()).finish_non_exhaustive()
    }
}

fn end_s(runs: &[RunRecord]) -> f64 {
    runs.iter().map(|run| run.ended.as_secs_f64()).fold(0.0, f64::max)
}

impl SeedPlots {
    /// Maximum number of seeds whose series a page contains.
    pub const MAX_SEEDS: usize = 20;

    /// The plots of `first`, the run that the page shows, to which `others` seeds will be added.
    pub fn new(first: &RunRecord, timeline: &Timeline, others: usize) -> Self {
        let end_s = first.ended.as_secs_f64();
        let panels = panels::of_run(first, &timeline.rates);
        let model = Model::Run { panels, timeline: timeline.clone(), bin_s: panels::bin_s(end_s) };
        Self::of(model, first.seed, end_s, others)
    }

    /// The plots of the first run of each variant, to which `others` seeds will be added; `None` when none was sampled.
    pub fn of_variants(first: &[Variant], others: usize) -> Option<Self> {
        let beside = Beside::of(first)?;
        let (seed, end_s) = (first.first()?.runs.first()?.seed, beside.end_s);
        Some(Self::of(Model::Variants(beside), seed, end_s, others))
    }

    fn of(model: Model, seed: u64, end_s: f64, others: usize) -> Self {
        let shown = &model.panels().shown;
        let series: usize = shown.iter().map(|panel| 1 + panel.names.len()).sum();
        // One more per panel for the instants, which each seed has of its own.
        let values = MAX_VALUES / (series * others).max(1);
        // Half of the values of a seed are those of its bins, the rest is left for its samples.
        let bins = (values / 2).clamp(BAND_BINS.0, BAND_BINS.1);
        // Thinning keeps pairs of a minimum and a maximum, so the number is even.
        let max_points = (values.saturating_sub(bins) / 2 * 2).clamp(POINTS.0, POINTS.1);
        let band = |data: &Aligned| {
            let mut band = Band::like(data, end_s, bins);
            band.add(data);
            band
        };
        let bands = shown.iter().map(|panel| band(&panel.data)).collect();
        Self { bands, model, seeds: vec![seed], series: Vec::new(), max_points, end_s }
    }

    /// Adds the runs of another seed: one of the same plan, or one for each variant in their order.
    pub fn add(&mut self, runs: &[RunRecord]) {
        let Some(first) = runs.first() else { return };
        let series = self.model.series_of(runs);
        for (band, series) in self.bands.iter_mut().zip(&series) {
            band.add(series);
        }
        self.seeds.push(first.seed);
        self.series.push(series.into_iter().map(|series| series.thinned(self.max_points)).collect());
        self.end_s = self.end_s.max(end_s(runs));
    }

    /// The end of the longest of these runs, s.
    pub(super) fn end_s(&self) -> f64 {
        self.end_s
    }

    /// Adds the note on the seeds that can be selected; `all` is the number of seeds of the results.
    pub(super) fn describe(&self, body: &mut Markup, all: usize) {
        body.add(format_args!("<p class=\"note\">{}</p>\n", Escaped(&self.note(all))));
    }

    fn note(&self, all: usize) -> String {
        let shown = self.seeds.len();
        let part = match all > shown {
            true => format!("the first {shown} of {all} seeds"),
            false => format!("all {shown} seeds"),
        };
        format!(
            "The plots can show {part}; seeds other than the first with at most {} samples per series. The \
             band spans the lowest to the highest of these seeds. While it is shown, the lines and the band \
             are averages over intervals of {}.",
            self.max_points,
            self.interval()
        )
    }

    /// Length of the bins of all bands as a text.
    fn interval(&self) -> String {
        let widths: Vec<f64> = self.bands.iter().map(|band| band.width_s).collect();
        let min = widths.iter().copied().fold(f64::INFINITY, f64::min);
        let max = widths.iter().copied().fold(0.0, f64::max);
        let ms = |width_s: f64| text::number((width_s * 1e5).round() / 1e2);
        if ms(min) == ms(max) { format!("{} ms", ms(max)) } else { format!("{} to {} ms", ms(min), ms(max)) }
    }

    /// The seeds in order.
    pub(super) fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// Data of panel `place`: its band and the series of the other seeds.
    pub(super) fn of_panel(&self, place: usize) -> Vec<(&'static str, Value)> {
        let Some(band) = self.bands.get(place) else { return Vec::new() };
        let other = |panels: &Vec<Aligned>| {
            let Some(Aligned { time_s, series }) = panels.get(place) else { return Value::Null };
            json!({
                "time_s": numbers(time_s.iter().map(|time| Some(*time))),
                "values": series.iter().map(|series| numbers(series.iter().copied())).collect::<Value>(),
            })
        };
        vec![("band", band.json()), ("seeds", self.series.iter().map(other).collect::<Value>())]
    }
}

fn numbers(values: impl Iterator<Item = Option<f64>>) -> Value {
    values.map(|value| Value::from(value.map(rounded))).collect::<Value>()
}

/// Values of a series in bins of time, for each seed.
#[derive(Clone, Debug, PartialEq)]
struct Band {
    /// The middle of the first bin, s.
    begin_s: f64,
    /// Length of a bin, s.
    width_s: f64,
    /// `[series, seeds, bins]`; `None` where a seed has no value.
    series: Vec<Vec<Vec<Option<f64>>>>,
}

impl Band {
    /// An empty band of `bins` for series such as `data` of a run of `end_s`; no bin is shorter than the time
    /// between two points.
    fn like(data: &Aligned, end_s: f64, bins: usize) -> Self {
        let (first, last) = (data.time_s.first().copied(), data.time_s.last().copied());
        let span_s = last.unwrap_or(0.0) - first.unwrap_or(0.0);
        let pause_s = span_s / data.time_s.len().saturating_sub(1).max(1) as f64;
        let width_s = pause_s.max(end_s / bins as f64).max(1e-9);
        // Instants are in the middle of bins: on an edge, rounding could put two into one bin and none into
        // the next.
        let first_s = first.unwrap_or(0.0);
        let begin_s = first_s - (first_s / width_s).floor() * width_s;
        Self { begin_s, width_s, series: vec![Vec::new(); data.series.len()] }
    }

    /// Adds one run, with the mean of its values in each bin.
    fn add(&mut self, data: &Aligned) {
        let place = |time_s: f64| ((time_s - self.begin_s) / self.width_s).round().max(0.0) as usize;
        for (seeds, series) in self.series.iter_mut().zip(&data.series) {
            let known =
                data.time_s.iter().zip(series).filter_map(|(time_s, value)| Some((*time_s, (*value)?)));
            let known: Vec<(f64, f64)> = known.collect();
            let mut bins = Vec::new();
            for group in known.chunk_by(|one, next| place(one.0) == place(next.0)) {
                let Some((time_s, _)) = group.first() else { continue };
                // Bins that were skipped have no value.
                bins.resize(place(*time_s), None);
                bins.push(Some(group.iter().map(|(_, value)| value).sum::<f64>() / group.len() as f64));
            }
            seeds.push(bins);
        }
    }

    /// Bins from zero to the last one of any seed.
    fn bins(&self) -> usize {
        self.series.iter().flatten().map(Vec::len).max().unwrap_or(0)
    }

    /// Applies `of` to the values of all seeds in each bin of a series; `None` where no seed has one.
    fn over_seeds(&self, seeds: &[Vec<Option<f64>>], of: fn(&[f64]) -> f64) -> Vec<Option<f64>> {
        let bin = |place: usize| {
            let values: Vec<f64> = seeds.iter().filter_map(|bins| *bins.get(place)?).collect();
            (!values.is_empty()).then(|| of(&values))
        };
        (0..self.bins()).map(bin).collect()
    }

    fn json(&self) -> Value {
        let count = self.bins();
        let times = (0..count).map(|place| Some(self.begin_s + place as f64 * self.width_s));
        let series = self.series.iter().map(|seeds| {
            let of = |of| numbers(self.over_seeds(seeds, of).into_iter());
            let seed =
                |bins: &Vec<Option<f64>>| numbers((0..count).map(|place| bins.get(place).copied().flatten()));
            json!({
                "mean": of(mean),
                "low": of(lowest),
                "high": of(highest),
                "seeds": seeds.iter().map(seed).collect::<Value>(),
            })
        });
        json!({ "time_s": numbers(times), "series": series.collect::<Value>() })
    }
}

fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn highest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(value: f64) -> Aligned {
        let time_s = (1..=10).map(|step| f64::from(step) * 0.1).collect();
        Aligned { time_s, series: vec![vec![Some(value); 10]] }
    }

    /// The known values of a series' bins.
    fn known(band: &Band, of: fn(&[f64]) -> f64) -> Vec<f64> {
        band.over_seeds(&band.series[0], of).into_iter().flatten().collect()
    }

    #[test]
    fn a_band_reaches_from_the_lowest_to_the_highest_seed_around_their_mean() {
        let mut band = Band::like(&steady(1.0), 1.0, 250);
        for value in [1.0, 4.0, 1.0] {
            band.add(&steady(value));
        }
        assert_eq!(
            [mean, lowest, highest].map(|of| known(&band, of)),
            [2.0, 1.0, 4.0].map(|value| [value; 10])
        );
        assert_eq!(band.series[0].len(), 3);
    }

    #[test]
    fn instants_half_a_bin_after_multiples_of_it_leave_no_gaps_and_keep_their_times() {
        let time_s: Vec<f64> = (0..100).map(|step| 0.05 + f64::from(step) * 0.1).collect();
        let data = Aligned { series: vec![vec![Some(1.0); 100]], time_s: time_s.clone() };
        let mut band = Band::like(&data, 10.0, 250);
        band.add(&data);
        assert_eq!(band.over_seeds(&band.series[0], mean), vec![Some(1.0); 100]);
        let last_s = band.begin_s + 99.0 * band.width_s;
        assert!((band.begin_s - 0.05).abs() < 1e-9 && (last_s - time_s[99]).abs() < 1e-9, "{last_s}");
    }

    #[test]
    fn what_varies_within_a_run_alone_makes_no_band() {
        let time_s: Vec<f64> = (0..2000).map(|step| f64::from(step) * 0.005).collect();
        let saw = time_s.iter().enumerate().map(|(step, _)| Some((step % 2) as f64)).collect();
        let data = Aligned { time_s, series: vec![saw] };
        let mut band = Band::like(&data, 10.0, 250);
        band.add(&data);
        band.add(&data);
        assert_eq!(known(&band, lowest), known(&band, highest));
        assert!((200..=252).contains(&band.bins()), "{} bins", band.bins());
    }

    #[test]
    fn where_no_seed_has_a_value_the_band_has_a_gap() {
        let mut band = Band::like(&steady(1.0), 1.0, 250);
        let mut late = steady(3.0);
        late.series[0][..5].fill(None);
        band.add(&late);
        let text = band.json().to_string();
        for part in ["low", "high", "mean"] {
            assert!(
                text.contains(&format!("\"{part}\":[null,null,null,null,null,null,3,3,3,3,3]")),
                "{text}"
            );
        }
    }
}
