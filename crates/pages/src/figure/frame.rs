//! Axes and keys, which all kinds of figure share.

use super::drawing::{Anchor, Drawing, Item, Label, Owner, Point, Stroke};
use super::model::{Figure, FigureKind};
use super::range;
use super::style::{Paint, Shape, dash, hatch, shape};
use crate::axis::{self, Extent, Scale};
use crate::markup::shortened;

/// The area inside the axes, with the scale of y.
pub(super) struct PlotArea {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) y: Scale,
}

impl PlotArea {
    /// Axes of numbers below `top`; `right_room` stays free next to them, and `inset` inside.
    pub(super) fn numbered(
        drawing: &mut Drawing,
        figure: &Figure,
        top: f64,
        right_room: f64,
        inset: f64,
    ) -> (Self, Scale) {
        let (x_range, y_range) = range::of(&figure.kind);
        let frame = Self::draw(drawing, y_range, (top, drawing.px(62.0)), right_room, &figure.y_label);
        let is_logarithmic = figure.kind.is_x_logarithmic();
        let (extent, ticks) = match is_logarithmic {
            true => x_range.decades(x_ticks(drawing)),
            false => x_range.ticked(x_ticks(drawing)),
        };
        let labels = if is_logarithmic { axis::powers(&ticks) } else { axis::labels(&ticks) };
        let (left, right) = (frame.left + inset, frame.right - inset);
        // A reversed scale has its start on the right; everything else follows from the scale.
        let is_reversed = matches!(figure.kind, FigureKind::Scatter { is_x_reversed: true, .. });
        let (start, end) = if is_reversed { (right, left) } else { (left, right) };
        let x = Scale { low: extent.low, high: extent.high, start, end };
        // Without negative values, zero is the base line.
        if frame.y.low < 0.0 {
            frame.zero_line(drawing);
        }
        frame.base_line(drawing);
        (frame.with_x_ticks(drawing, figure, ticks.iter().map(|tick| x.at(*tick)).zip(labels)), x)
    }

    /// An axis of numbers over groups with names; a common part of the names is written below them.
    pub(super) fn named(drawing: &mut Drawing, figure: &Figure, top: f64) -> Self {
        let below = if figure.x_label.is_empty() { 62.0 } else { 80.0 };
        let room = (top, drawing.px(below));
        let frame = Self::draw(drawing, range::of(&figure.kind).1, room, drawing.px(14.0), &figure.y_label);
        frame.x_label(drawing, figure);
        frame
    }

    /// Grid, tick labels and the label of y, with room above and below the axes.
    fn draw(
        drawing: &mut Drawing,
        range: Extent,
        (top, below): (f64, f64),
        right_room: f64,
        label: &str,
    ) -> Self {
        let (extent, ticks) = range.ticked(6);
        let labels = axis::labels(&ticks);
        let widest = labels.iter().map(|label| drawing.sheet.text_width(label)).fold(0.0, f64::max);
        // The left side has room for the widest tick label and the upright label of the axis.
        let (left, right) = (drawing.px(34.0) + widest, drawing.sheet.width - right_room);
        let bottom = drawing.sheet.height - below;
        let y = Scale { low: extent.low, high: extent.high, start: bottom, end: top };
        for (tick, text) in ticks.iter().zip(labels) {
            let at = y.at(*tick);
            drawing.line(vec![(left, at), (right, at)], Stroke::solid(Paint::Grid, 1.0));
            let place = (left - drawing.px(7.0), at + drawing.px(4.5));
            drawing.text(place, text, Anchor::End, Paint::Soft);
        }
        // The label runs along the whole side of the sheet; `max` is the number of characters that fit.
        let part = drawing.sheet.height / drawing.sheet.text_width(label).max(1.0);
        let max = (part * label.chars().count() as f64) as usize;
        let at = (drawing.px(15.0), middle_of_label(drawing, label, (top, bottom)));
        let label = Label::new(at, shortened(label, max), Anchor::Middle, Paint::Ink);
        drawing.add(Item::Label(Label { upwards: true, ..label }));
        Self { left, right, top, bottom, y }
    }

    /// Ticks and label of the x axis.
    fn with_x_ticks(
        self,
        drawing: &mut Drawing,
        figure: &Figure,
        ticks: impl Iterator<Item = (f64, String)>,
    ) -> Self {
        let length = drawing.px(5.0);
        for (at, text) in ticks {
            drawing
                .line(vec![(at, self.bottom), (at, self.bottom + length)], Stroke::solid(Paint::Soft, 1.0));
            drawing.text((at, self.bottom + drawing.px(20.0)), text, Anchor::Middle, Paint::Soft);
        }
        self.x_label(drawing, figure);
        self
    }

    fn x_label(&self, drawing: &mut Drawing, figure: &Figure) {
        if !figure.x_label.is_empty() {
            let place = ((self.left + self.right) / 2.0, drawing.sheet.height - drawing.px(14.0));
            drawing.text(place, figure.x_label.as_str(), Anchor::Middle, Paint::Ink);
        }
    }

    /// The line under the plot.
    pub(super) fn base_line(&self, drawing: &mut Drawing) {
        let line = vec![(self.left, self.bottom), (self.right, self.bottom)];
        drawing.line(line, Stroke::solid(Paint::Soft, 1.0));
    }

    /// Draws the line of the value zero, the base of bars and differences.
    pub(super) fn zero_line(&self, drawing: &mut Drawing) {
        let zero = self.y.clamped(0.0);
        drawing.line(vec![(self.left, zero), (self.right, zero)], Stroke::solid(Paint::Soft, 1.0));
    }

    /// The name of a group under the axis, broken at spaces and hyphens into at most three lines.
    pub(super) fn group_label(&self, drawing: &mut Drawing, name: &str, middle: f64, room: f64) {
        let room = room - drawing.px(4.0);
        let fits = |text: &str| drawing.sheet.text_width(text) <= room;
        let mut lines: Vec<String> = Vec::new();
        // The separator stays with the word before it, so that a hyphen ends a line.
        for word in name.split_inclusive([' ', '-']) {
            match lines.last_mut() {
                Some(line) if fits(&format!("{line}{}", word.trim_end())) => line.push_str(word),
                _ => lines.push(word.to_owned()),
            }
        }
        let shown = |line: &String| {
            let line = line.trim_end();
            let max = (1..=line.chars().count()).rev().find(|max| fits(&shortened(line, *max)));
            shortened(line, max.unwrap_or(1))
        };
        let lines: Vec<String> = lines.iter().take(3).map(shown).collect();
        for (row, line) in lines.into_iter().enumerate() {
            let place = (middle, self.bottom + drawing.px(20.0 + 16.0 * row as f64));
            drawing.text(place, line, Anchor::Middle, Paint::Ink);
        }
    }
}

/// Position of the middle of the label of y: next to the axis, lower if it would reach into the key, and
/// always on the sheet.
fn middle_of_label(drawing: &Drawing, label: &str, (top, bottom): (f64, f64)) -> f64 {
    let half = drawing.sheet.text_width(label) / 2.0;
    ((top + bottom) / 2.0).max(top + half).min(drawing.sheet.height - half).max(half)
}

/// Ticks of x that fit the sheet.
fn x_ticks(drawing: &Drawing) -> usize {
    ((drawing.sheet.width / drawing.sheet.text / 5.0) as usize).clamp(3, 12)
}

/// Sample before a name in the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sample {
    /// A line with its mark.
    Line,
    /// A mark without a line.
    Mark,
    /// A hatched area, as of a bar.
    Block,
}

/// Position in the key: the next name's left end, and its base line.
pub(super) struct Key {
    left: f64,
    x: f64,
    base: f64,
}

impl Key {
    /// A key at the top of the sheet.
    pub(super) fn new(drawing: &Drawing) -> Self {
        let left = drawing.px(14.0);
        Self { left, x: left, base: drawing.px(17.0) }
    }

    /// The height used so far.
    pub(super) fn height(&self, drawing: &Drawing) -> f64 {
        // A row without an entry takes no room.
        if self.x > self.left { self.base + drawing.px(9.0) } else { self.base - drawing.px(11.0) }
    }

    /// Starts a new row unless the current one is empty.
    pub(super) fn new_row(&mut self, drawing: &Drawing) {
        if self.x > self.left {
            (self.x, self.base) = (self.left, self.base + drawing.px(20.0));
        }
    }

    /// A name with its sample.
    pub(super) fn series(&mut self, drawing: &mut Drawing, sample: Sample, index: usize, name: &str) {
        self.series_like(drawing, sample, (index, index), name);
    }

    /// Adds the name of a series at a place to the key, with the sample of another series.
    pub(super) fn series_like(
        &mut self,
        drawing: &mut Drawing,
        sample: Sample,
        (place, look): (usize, usize),
        name: &str,
    ) {
        drawing.owned(Owner::Key(place), |drawing| self.entry(drawing, sample, look, name));
    }

    fn entry(&mut self, drawing: &mut Drawing, sample: Sample, index: usize, name: &str) {
        let name = shortened(name, 48);
        let width = drawing.px(if sample == Sample::Line { 30.0 } else { 14.0 });
        let (x, middle) = self.place(drawing, width, &name);
        let paint = Paint::Series(index);
        let centre = (x + width / 2.0, middle);
        match sample {
            Sample::Line => {
                let stroke = Stroke { dash: dash(index), ..Stroke::solid(paint, 2.0) };
                drawing.line(vec![(x, middle), (x + width, middle)], stroke);
                drawing.marks(shape(index), vec![centre], 3.5, paint);
            }
            Sample::Mark => {
                drawing.marks(shape(index), vec![centre], 4.0, paint);
            }
            Sample::Block => {
                let half = drawing.px(6.0);
                let (from, to) = ((centre.0 - half, middle - half), (centre.0 + half, middle + half));
                drawing.block(from, to, paint, hatch(index), String::new());
            }
        }
    }

    /// Reserves room for a sample of `width`, writes a text after it, and returns the left end and the middle
    /// of the sample.
    pub(super) fn place(&mut self, drawing: &mut Drawing, width: f64, text: &str) -> Point {
        let needed = width + drawing.px(7.0) + drawing.sheet.text_width(text);
        if self.x + needed > drawing.sheet.width - drawing.px(6.0) {
            self.new_row(drawing);
        }
        let at = self.x;
        drawing.text((at + width + drawing.px(7.0), self.base), text, Anchor::Start, Paint::Ink);
        self.x += needed + drawing.px(18.0);
        (at, self.base - drawing.px(4.5))
    }
}

/// Adds results of ours to the key; `has_published` if it has published values, too.
pub(super) fn estimate_key(drawing: &mut Drawing, key: &mut Key, is_line: bool, has_published: bool) {
    let width = drawing.px(14.0);
    let words = if has_published { "ours, mean ± 95 % interval" } else { "mean ± 95 % interval" };
    let (x, middle) = key.place(drawing, width, words);
    let centre = x + width / 2.0;
    let reach = drawing.px(8.0);
    if is_line {
        drawing.marks(Shape::Circle, vec![(centre, middle)], 4.0, Paint::Soft);
    } else {
        let half = drawing.px(6.0);
        let [(left, right), (top, bottom)] = [centre, middle].map(|at| (at - half, at + half));
        let points = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        let fill = Some(super::drawing::Fill { paint: Paint::Soft, opacity: 0.4 });
        drawing.add(Item::Area { points, fill, stroke: None });
    }
    whisker(drawing, centre, (middle - reach, middle + reach), Paint::Soft);
}

/// Adds published values to the key.
pub(super) fn published_key(drawing: &mut Drawing, key: &mut Key) {
    let width = drawing.px(14.0);
    let (x, middle) = key.place(drawing, width, "published");
    diamond(drawing, (x + width / 2.0, middle), Paint::Soft, String::new());
}

/// An interval as a vertical line with ends.
pub(super) fn whisker(drawing: &mut Drawing, x: f64, (low, high): (f64, f64), paint: Paint) {
    let half = drawing.px(4.0);
    let lines = vec![
        vec![(x, low), (x, high)],
        vec![(x - half, low), (x + half, low)],
        vec![(x - half, high), (x + half, high)],
    ];
    drawing.add(Item::Lines { lines, stroke: Stroke::solid(paint, 1.5) });
}

/// A published value: a hollow diamond.
pub(super) fn diamond(drawing: &mut Drawing, at: Point, paint: Paint, note: String) {
    let points = super::drawing::corners(Shape::Diamond, at, drawing.px(7.0));
    let fill = Some(super::drawing::Fill { paint: Paint::Ground, opacity: 0.6 });
    drawing.noted(Item::Area { points, fill, stroke: Some(Stroke::solid(paint, 2.0)) }, note);
}
