//! Estimates over named groups, as bars with whiskers; published values as diamonds.

use super::drawing::{Anchor, Drawing, Item, Label, Owner};
use super::frame::{self, Key, PlotArea, Sample, diamond, whisker};
use super::model::{BarSeries, Figure, interval, shown_ends};
use super::style::{Paint, hatch};
use crate::axis::Scale;
use tidegate_results::stats::Estimate;
use tidegate_results::text;

/// Maximum number of bars that are labelled with their values.
const MAX_NUMBERED: usize = 16;
/// Maximum length of the name of an only series that shares its entry in the key with the interval, characters; a longer
/// one has an entry of its own, which would not fit otherwise.
const MAX_SHARED_ENTRY: usize = 24;
/// Size of the label of a bar, as a fraction of the text size.
const NUMBER_SCALE: f64 = 0.85;

/// Draws the bars of every group, with intervals and published values.
pub(super) fn draw(drawing: &mut Drawing, figure: &Figure, groups: &[String], series: &[BarSeries]) {
    let has_published =
        (0..groups.len()).any(|group| series.iter().any(|series| series.theirs(group).is_some()));
    let mut key = Key::new(drawing);
    match series {
        // An entry for the interval and one for the only series would have the same sample.
        [only] if (1..=MAX_SHARED_ENTRY).contains(&only.name.chars().count()) => {
            key.series(drawing, Sample::Block, 0, &format!("{}, mean ± 95 % interval", only.name));
        }
        _ => frame::estimate_key(drawing, &mut key, false, has_published),
    }
    if has_published {
        frame::published_key(drawing, &mut key);
    }
    if series.len() > 1 || series.iter().any(|only| only.name.chars().count() > MAX_SHARED_ENTRY) {
        key.new_row(drawing);
        for (index, series) in series.iter().enumerate() {
            key.series(drawing, Sample::Block, index, &series.name);
        }
    }
    let top = key.height(drawing) + drawing.px(16.0);
    let frame = PlotArea::named(drawing, figure, top);
    let room = (frame.right - frame.left) / groups.len().max(1) as f64;
    let width = (room * 0.8 / series.len().max(1) as f64).min(drawing.px(64.0));
    let all =
        || (0..groups.len()).flat_map(|group| series.iter().filter_map(move |series| series.ours(group)));
    let widest = all()
        .map(|ours| drawing.sheet.text_width(&text::number(ours.mean)) * NUMBER_SCALE)
        .fold(0.0, f64::max);
    // A number wider than its bar would run into the next one.
    let is_numbered = groups.len() * series.len() <= MAX_NUMBERED && widest + drawing.px(2.0) <= width;
    let bars = Bars { width, is_numbered, y: frame.y };
    for (group, name) in groups.iter().enumerate() {
        let middle = frame.left + (group as f64 + 0.5) * room;
        frame.group_label(drawing, name, middle, room);
        for (index, one) in series.iter().enumerate() {
            let x = middle + (index as f64 - (series.len() as f64 - 1.0) / 2.0) * width;
            drawing.owned(Owner::Series(index), |drawing| {
                bars.draw(drawing, x, index, one.ours(group), one.theirs(group));
            });
        }
    }
    frame.zero_line(drawing);
}

/// Layout that all bars share.
struct Bars {
    width: f64,
    is_numbered: bool,
    y: Scale,
}

impl Bars {
    /// One bar with its whisker, its number and the published value.
    fn draw(
        &self,
        drawing: &mut Drawing,
        x: f64,
        index: usize,
        ours: Option<Estimate>,
        published: Option<f64>,
    ) {
        let paint = Paint::Series(index);
        if let Some(estimate) = &ours {
            let (zero, mean) = (self.y.at(0.0), self.y.at(estimate.mean));
            let half = self.width * 0.43;
            // At least 1 px, so that a bar of zero is visible.
            let (low, high) = (zero.min(mean), zero.max(mean).max(zero.min(mean) + drawing.px(1.0)));
            drawing.block((x - half, low), (x + half, high), paint, hatch(index), estimate.to_string());
            // In ink, since it is drawn on the colour of the bar.
            if let Some((low, high)) = interval(estimate) {
                whisker(drawing, x, (self.y.clamped(low), self.y.clamped(high)), Paint::Ink);
            }
        }
        if let Some(value) = published {
            diamond(drawing, (x, self.y.at(value)), paint, format!("published {}", text::number(value)));
        }
        self.number(drawing, x, ours, published);
    }

    /// The mean beyond the end of the bar and clear of the published mark, or a dash at the axis where there
    /// is no result.
    fn number(&self, drawing: &mut Drawing, x: f64, ours: Option<Estimate>, published: Option<f64>) {
        let number = match &ours {
            None => "–".to_owned(),
            Some(_) if !self.is_numbered => return,
            Some(estimate) => text::number(estimate.mean),
        };
        let px = |pixels: f64| drawing.px(pixels);
        let is_below = ours.is_some_and(|estimate| estimate.mean < 0.0);
        let ends = || ours.iter().flat_map(shown_ends).map(|value| self.y.at(value)).chain([self.y.at(0.0)]);
        let mark = published.map(|value| self.y.at(value));
        // About 12 px of the label are above its base line, and 7 px of the mark on either side of its
        // centre.
        let is_hit = |base: f64| mark.is_some_and(|mark| base - px(19.0) < mark && mark < base + px(9.0));
        let mut base = if is_below {
            ends().fold(0.0, f64::max) + px(13.0)
        } else {
            ends().fold(f64::INFINITY, f64::min) - px(5.0)
        };
        if let Some(mark) = mark.filter(|_| is_hit(base)) {
            base = if is_below { mark + px(20.0) } else { mark - px(11.0) };
        }
        let label = Label::new((x, base), number, Anchor::Middle, Paint::Ink);
        drawing.add(Item::Label(Label { scale: NUMBER_SCALE, ..label }));
    }
}
