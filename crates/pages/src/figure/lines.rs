//! Estimates over a number: marks with whiskers, joined by lines; published values as diamonds.

use super::drawing::{Anchor, Drawing, Item, Label, Owner, Point, Stroke};
use super::frame::{self, Key, PlotArea, Sample, diamond, whisker};
use super::model::{Figure, Series, interval};
use super::style::{Paint, dash, shape};
use crate::axis::Scale;
use crate::markup::shortened;
use tidegate_results::text;

/// Draws the lines with their marks and intervals.
pub(super) fn draw(drawing: &mut Drawing, figure: &Figure, series: &[Series]) {
    let names: Vec<String> = series.iter().map(|series| shortened(&series.name, 22)).collect();
    let shown = series.iter().zip(&names).filter(|(series, _)| !series.is_aside);
    let widest = shown.map(|(_, name)| drawing.sheet.text_width(name)).fold(0.0, f64::max);
    // Names beside the lines are easiest to read, but in a narrow figure they would take a third of it.
    let names_at_ends = widest <= drawing.sheet.width * 0.26;
    let has_published = series.iter().any(|series| series.theirs().next().is_some());
    let mut key = Key::new(drawing);
    frame::estimate_key(drawing, &mut key, true, has_published);
    if has_published {
        frame::published_key(drawing, &mut key);
    }
    if !names_at_ends || series.iter().any(|series| series.is_aside) {
        key.new_row(drawing);
    }
    for (index, series) in series.iter().enumerate() {
        if series.is_aside {
            key.series(drawing, Sample::Line, index, &series.named_aside());
        } else if !names_at_ends {
            key.series(drawing, Sample::Line, index, &series.name);
        }
    }
    let top = key.height(drawing) + drawing.px(12.0);
    let right_room = if names_at_ends { widest + drawing.px(26.0) } else { drawing.px(16.0) };
    let (frame, x) = PlotArea::numbered(drawing, figure, top, right_room, drawing.px(8.0));
    for (index, one) in series.iter().enumerate() {
        // Lines with equal values would cover each other with their whiskers.
        let moved = x.moved(drawing.px(beside(index, series.len())));
        drawing.owned(Owner::Series(index), |drawing| draw_line(drawing, &frame.y, &moved, one, index));
    }
    if names_at_ends {
        label_ends(drawing, &frame, &x, series, &names);
    }
}

/// Horizontal offset of the marks of line `index`, px, so that equal results stay distinguishable.
fn beside(index: usize, count: usize) -> f64 {
    if count > 6 { 0.0 } else { (index as f64 - (count as f64 - 1.0) / 2.0) * 4.0 }
}

fn draw_line(drawing: &mut Drawing, y: &Scale, x: &Scale, series: &Series, index: usize) {
    let paint = Paint::Series(index);
    let path: Vec<Point> = series.ours().map(|(at, ours)| (x.at(at), y.at(ours.mean))).collect();
    if path.len() > 1 {
        drawing.line(path, Stroke { dash: dash(index), ..Stroke::solid(paint, 2.0) });
    }
    for (at, ours) in series.ours() {
        if let Some((low, high)) = interval(&ours) {
            whisker(drawing, x.at(at), (y.clamped(low), y.clamped(high)), paint);
        }
        let note = format!("{}, x = {}: {ours}", series.name, text::number(at));
        drawing.marks(shape(index), vec![(x.at(at), y.at(ours.mean))], 4.0, paint).meaning(note);
    }
    for (at, value) in series.theirs() {
        let note = format!("{}, x = {}: published {}", series.name, text::number(at), text::number(value));
        diamond(drawing, (x.at(at), y.at(value)), paint, note);
    }
}

/// Names at the right ends of the lines, moved apart where they would overlap.
fn label_ends(drawing: &mut Drawing, frame: &PlotArea, x: &Scale, series: &[Series], names: &[String]) {
    let end = |series: &Series| {
        let ours = series.ours().next_back().map(|(at, estimate)| (at, estimate.mean));
        ours.or_else(|| series.theirs().next_back())
    };
    let ends = series.iter().enumerate();
    let mut ends: Vec<(usize, f64, f64)> = ends
        .filter_map(|(index, series)| end(series).map(|(at, value)| (index, x.at(at), frame.y.at(value))))
        .collect();
    ends.sort_by(|left, right| left.2.total_cmp(&right.2).then(left.0.cmp(&right.0)));
    let heights: Vec<f64> = ends.iter().map(|(_, _, y)| *y).collect();
    let room = drawing.px(4.0);
    let places = spread(&heights, drawing.px(16.0), frame.top + room, frame.bottom - room);
    for ((index, from, y), place) in ends.into_iter().zip(places) {
        let (to, paint) = (frame.right + drawing.px(12.0), Paint::Series(index));
        let leader = vec![(from + drawing.px(5.0), y), (to - drawing.px(2.0), place)];
        let name = Label::new((to, place + drawing.px(4.5)), names[index].as_str(), Anchor::Start, paint);
        let name = Label { is_name: true, ..name };
        drawing.owned(Owner::Series(index), |drawing| {
            drawing.line(leader, Stroke { opacity: 0.5, ..Stroke::solid(paint, 1.0) });
        });
        drawing.owned(Owner::Key(index), |drawing| drawing.add(Item::Label(name)));
    }
}

/// Sorted positions moved apart to at least `gap`, within `low..=high` as far as they fit.
fn spread(positions: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut places = positions.to_vec();
    for index in 0..places.len() {
        let min = if index == 0 { low } else { places[index - 1] + gap };
        places[index] = places[index].max(min);
    }
    let mut max = high;
    // The first pass may have moved labels beyond the end; the second moves them back.
    for place in places.iter_mut().rev() {
        *place = place.min(max);
        max = *place - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_labels_keep_their_distance_and_stay_inside() {
        assert_eq!(spread(&[10.0, 11.0, 12.0], 16.0, 0.0, 100.0), [10.0, 26.0, 42.0]);
        assert_eq!(spread(&[90.0, 95.0, 99.0], 16.0, 0.0, 100.0), [68.0, 84.0, 100.0]);
    }
}
