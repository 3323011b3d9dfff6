//! Samples of several seeds for the plots of a page: each seed's own series, thinned, and a band over all of them.

use tidegate_core::records::RunRecord;

use super::panels::{self, Panels};
use super::plots::rounded;
use super::timeline::Timeline;
use crate::json::Json;
use crate::samples::Aligned;
use crate::text;

/// Bins of a band over the length of a run, at most.
const BAND_BINS: f64 = 250.0;
/// Values of all seeds in a page, about; seven bytes each.
const MAX_VALUES: usize = 300_000;
/// Instants per series of a seed, at least and at most.
const POINTS: (usize, usize) = (100, 500);

/// The plotted series of some runs of one plan that differ by seed. Runs are added one by one, so that the samples of
/// only one have to be in memory.
#[derive(Debug)]
pub struct SeedPlots {
    model: Model,
    /// Seeds in the order in which they were added.
    seeds: Vec<u64>,
    /// Series of each seed but the first, whose own are on the page already.
    series: Vec<Vec<Aligned>>,
    /// One per panel.
    bands: Vec<Band>,
    /// Instants that are kept of each series.
    max_points: usize,
}

/// The panels of the first run, whose choice of series holds for all.
struct Model {
    panels: Panels,
    timeline: Timeline,
    bin_s: f64,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("panels", &self.panels.shown.len()).finish_non_exhaustive()
    }
}

impl SeedPlots {
    /// Runs whose series a page holds, at most.
    pub const MAX_SEEDS: usize = 20;

    /// The plots of `first`, the run that the page shows, to which `others` runs will be added.
    pub fn new(first: &RunRecord, timeline: &Timeline, others: usize) -> Self {
        let end_s = first.ended.as_secs_f64();
        let panels = panels::of_run(first, &timeline.rates);
        let series: usize = panels.shown.iter().map(|panel| 1 + panel.names.len()).sum();
        let max_points = MAX_VALUES / (series * others).max(1) / 2 * 2;
        let model = Model { panels, timeline: timeline.clone(), bin_s: panels::bin_s(end_s) };
        let bands = model.panels.shown.iter().map(|panel| Band::like(&panel.data, end_s));
        let mut plots = Self {
            bands: bands.collect(),
            model,
            seeds: vec![first.seed],
            series: Vec::new(),
            max_points: max_points.clamp(POINTS.0, POINTS.1),
        };
        for (band, panel) in plots.bands.iter_mut().zip(&plots.model.panels.shown) {
            band.add(&panel.data);
        }
        plots
    }

    /// Adds another run of the same plan.
    pub fn add(&mut self, run: &RunRecord) {
        let Model { panels, timeline, bin_s } = &self.model;
        let series = panels::series_of(panels, run, &timeline.rates, *bin_s);
        for (band, series) in self.bands.iter_mut().zip(&series) {
            band.add(series);
        }
        self.seeds.push(run.seed);
        self.series.push(series.into_iter().map(|series| series.thinned(self.max_points)).collect());
    }

    /// What the page says of the choice; `all` is the number of runs that there are.
    pub(super) fn note(&self, all: usize) -> String {
        let shown = self.seeds.len();
        let part = match all > shown {
            true => format!("the first {shown} of {all} seeds"),
            false => format!("all {shown} seeds"),
        };
        format!(
            "The plots can show {part}; a seed other than the first with at most {} instants per series. The band \
             reaches from the lowest to the highest of these seeds, each averaged over intervals of {}.",
            self.max_points,
            self.interval()
        )
    }

    /// Length of the bands' bins in words.
    fn interval(&self) -> String {
        let widths: Vec<f64> = self.bands.iter().map(|band| band.width_s).collect();
        let least = widths.iter().copied().fold(f64::INFINITY, f64::min);
        let most = widths.iter().copied().fold(0.0, f64::max);
        let ms = |width_s: f64| text::number((width_s * 1e5).round() / 1e2);
        if ms(least) == ms(most) {
            format!("{} ms", ms(most))
        } else {
            format!("{} to {} ms", ms(least), ms(most))
        }
    }

    /// The seeds in order.
    pub(super) fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// For the panel at `place`: its band and the series of the other seeds.
    pub(super) fn of_panel(&self, place: usize) -> Vec<(&'static str, Json)> {
        let Some(band) = self.bands.get(place) else { return Vec::new() };
        let other = |panels: &Vec<Aligned>| {
            let Some(Aligned { time_s, series }) = panels.get(place) else { return Json::Null };
            Json::Object(vec![
                ("time_s", numbers(time_s.iter().map(|time| Some(*time)))),
                ("values", Json::List(series.iter().map(|series| numbers(series.iter().copied())).collect())),
            ])
        };
        vec![("band", band.json()), ("seeds", Json::List(self.series.iter().map(other).collect()))]
    }
}

fn numbers(values: impl Iterator<Item = Option<f64>>) -> Json {
    Json::List(values.map(|value| Json::maybe(value.map(rounded))).collect())
}

/// Mean, lowest and highest seed of each series over time.
#[derive(Clone, Debug, PartialEq)]
struct Band {
    /// Length of a bin, s.
    width_s: f64,
    /// Bins of each series.
    series: Vec<Vec<Bin>>,
}

/// The seeds that have a value in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    seeds: u32,
    sum: f64,
    low: f64,
    high: f64,
}

impl Bin {
    fn add(&mut self, value: f64) {
        let is_first = self.seeds == 0;
        self.low = if is_first { value } else { self.low.min(value) };
        self.high = if is_first { value } else { self.high.max(value) };
        self.sum += value;
        self.seeds += 1;
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.seeds)
    }
}

impl Band {
    /// An empty band for series such as `data` of a run of `end_s`: no bin is shorter than the time between two points.
    fn like(data: &Aligned, end_s: f64) -> Self {
        let (first, last) = (data.time_s.first().copied(), data.time_s.last().copied());
        let span_s = last.unwrap_or(0.0) - first.unwrap_or(0.0);
        let pause_s = span_s / data.time_s.len().saturating_sub(1).max(1) as f64;
        let width_s = pause_s.max(end_s / BAND_BINS).max(1e-9);
        Self { width_s, series: vec![Vec::new(); data.series.len()] }
    }

    /// Adds one run: what it has in a bin counts as its mean there.
    fn add(&mut self, data: &Aligned) {
        let place = |time_s: f64| (time_s / self.width_s).round().max(0.0) as usize;
        for (bins, series) in self.series.iter_mut().zip(&data.series) {
            let known =
                data.time_s.iter().zip(series).filter_map(|(time_s, value)| Some((*time_s, (*value)?)));
            let known: Vec<(f64, f64)> = known.collect();
            for group in known.chunk_by(|one, next| place(one.0) == place(next.0)) {
                let Some((time_s, _)) = group.first() else { continue };
                let place = place(*time_s);
                if bins.len() <= place {
                    bins.resize(place + 1, Bin::default());
                }
                bins[place].add(group.iter().map(|(_, value)| value).sum::<f64>() / group.len() as f64);
            }
        }
    }

    fn json(&self) -> Json {
        let count = self.series.iter().map(Vec::len).max().unwrap_or(0);
        let times = (0..count).map(|place| Some(place as f64 * self.width_s));
        let of = |bins: &Vec<Bin>, value: fn(&Bin) -> f64| {
            let bin = |place: usize| bins.get(place).filter(|bin: &&Bin| bin.seeds > 0).map(value);
            numbers((0..count).map(bin))
        };
        let series = self.series.iter().map(|bins| {
            Json::Object(vec![
                ("mean", of(bins, Bin::mean)),
                ("low", of(bins, |bin| bin.low)),
                ("high", of(bins, |bin| bin.high)),
            ])
        });
        Json::Object(vec![("time_s", numbers(times)), ("series", Json::List(series.collect()))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(value: f64) -> Aligned {
        let time_s = (1..=10).map(|step| f64::from(step) * 0.1).collect();
        Aligned { time_s, series: vec![vec![Some(value); 10]] }
    }

    #[test]
    fn a_band_reaches_from_the_lowest_to_the_highest_seed_around_their_mean() {
        let mut band = Band::like(&steady(1.0), 1.0);
        for value in [1.0, 4.0, 1.0] {
            band.add(&steady(value));
        }
        let known: Vec<&Bin> = band.series[0].iter().filter(|bin| bin.seeds > 0).collect();
        assert_eq!(known.len(), 10);
        for bin in known {
            assert_eq!((bin.mean(), bin.low, bin.high, bin.seeds), (2.0, 1.0, 4.0, 3));
        }
    }

    #[test]
    fn what_varies_within_a_run_alone_makes_no_band() {
        let time_s: Vec<f64> = (0..2000).map(|step| f64::from(step) * 0.005).collect();
        let saw = time_s.iter().enumerate().map(|(step, _)| Some((step % 2) as f64)).collect();
        let data = Aligned { time_s, series: vec![saw] };
        let mut band = Band::like(&data, 10.0);
        band.add(&data);
        band.add(&data);
        assert!(band.series[0].iter().all(|bin| bin.seeds == 0 || bin.low == bin.high));
        assert!(band.series[0].len() <= 252, "{} bins", band.series[0].len());
    }

    #[test]
    fn where_no_seed_has_a_value_the_band_has_a_gap() {
        let mut band = Band::like(&steady(1.0), 1.0);
        let mut late = steady(3.0);
        late.series[0][..5].fill(None);
        band.add(&late);
        let text = band.json().to_string();
        assert!(text.contains("\"low\":[null,null,null,null,null,null,3,3,3,3,3]"), "{text}");
    }
}
