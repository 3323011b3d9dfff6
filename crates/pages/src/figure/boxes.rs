//! Boxes, clouds of points, and segments over time.

use std::collections::BTreeSet;

use super::drawing::{Drawing, Fill, Item, Owner, Point, Stroke};
use super::frame::{Key, PlotArea, Sample, whisker};
use super::model::{BoxStats, Cloud, Figure, Moments, SegmentEvents, drawable, is_drawable};
use super::style::{Paint, dash, event, hatch, shape};
use crate::axis::Scale;
use tidegate_results::text;

/// Maximum number of events of one kind that are drawn.
const MAX_EVENTS: usize = 8_000;

/// Draws boxes from the first to the third quartile with whiskers.
pub(super) fn boxes(drawing: &mut Drawing, figure: &Figure, boxes: &[BoxStats]) {
    let frame = PlotArea::named(drawing, figure, drawing.px(14.0));
    frame.base_line(drawing);
    let room = (frame.right - frame.left) / boxes.len().max(1) as f64;
    let half = (room * 0.3).min(drawing.px(28.0));
    for (index, stats) in boxes.iter().enumerate() {
        let middle = frame.left + (index as f64 + 0.5) * room;
        frame.group_label(drawing, &stats.name, middle, room);
        let Some(numbers) = stats.numbers() else { continue };
        let [low, first, median, third, high] = numbers.map(|number| frame.y.at(number));
        let paint = Paint::Series(index);
        whisker(drawing, middle, (low, first), paint);
        whisker(drawing, middle, (third, high), paint);
        drawing.block((middle - half, third), (middle + half, first), paint, hatch(index), note(stats));
        let line = vec![(middle - half, median), (middle + half, median)];
        drawing.line(line, Stroke::solid(Paint::Ink, 2.0));
        if is_drawable(stats.mean) {
            let mean = (middle, frame.y.at(stats.mean));
            let (fill, stroke) =
                (Fill { paint: Paint::Ground, opacity: 1.0 }, Stroke::solid(Paint::Ink, 1.2));
            let radius = drawing.px(3.0);
            drawing.add(Item::Circles {
                centres: vec![mean],
                radius,
                fill: Some(fill),
                stroke: Some(stroke),
            });
        }
    }
}

fn note(stats: &BoxStats) -> String {
    let [low, first, median, third, high] =
        [stats.low, stats.first_quartile, stats.median, stats.third_quartile, stats.high].map(text::number);
    let mean =
        if is_drawable(stats.mean) { format!("; mean {}", text::number(stats.mean)) } else { String::new() };
    format!("{}: {low}, quartiles {first}, {median}, {third}, {high}{mean}", stats.name)
}

/// Draws clouds, each with its mean and an ellipse of one standard deviation.
pub(super) fn scatter(drawing: &mut Drawing, figure: &Figure, clouds: &[Cloud]) {
    let mut key = Key::new(drawing);
    for (index, cloud) in clouds.iter().enumerate() {
        key.series(drawing, Sample::Mark, index, &cloud.name);
    }
    let top = key.height(drawing) + drawing.px(10.0);
    let (frame, x) = PlotArea::numbered(drawing, figure, top, drawing.px(18.0), drawing.px(8.0));
    let at = |(across, up): Point| (x.at(across), frame.y.at(up));
    let moments: Vec<Option<Moments>> = clouds.iter().map(Cloud::moments).collect();
    for (index, moments) in moments.iter().enumerate() {
        let Some(moments) = moments else { continue };
        let paint = Paint::Series(index);
        let stroke = Stroke { dash: dash(index), ..Stroke::solid(paint, 1.5) };
        let points = moments.outline().into_iter().map(at).collect();
        let fill = Some(Fill { paint, opacity: 0.12 });
        let ellipse = Item::Area { points, fill, stroke: Some(stroke) };
        drawing.owned(Owner::Series(index), |drawing| drawing.add(ellipse));
    }
    for (index, (cloud, moments)) in clouds.iter().zip(&moments).enumerate() {
        let paint = Paint::Series(index);
        drawing.owned(Owner::Series(index), |drawing| {
            drawing.marks(shape(index), drawable(&cloud.points).map(at).collect(), 2.0, paint);
            if let Some(Moments { mean: (x, y), .. }) = moments {
                let note = format!("{}: mean {}, {}", cloud.name, text::number(*x), text::number(*y));
                drawing.marks(shape(index), vec![at((*x, *y))], 5.5, paint).meaning(note);
            }
        });
    }
}

/// Draws numbered segments over time.
pub(super) fn segments(drawing: &mut Drawing, figure: &Figure, kinds: &[SegmentEvents]) {
    let mut key = Key::new(drawing);
    for (index, kind) in kinds.iter().enumerate() {
        drawing.owned(Owner::Key(index), |drawing| {
            let (x, middle) = key.place(drawing, drawing.px(10.0), &kind.name);
            let centre = (x + drawing.px(5.0), middle);
            let (paint, shape) = event(kind.look.unwrap_or(index));
            drawing.marks(shape, vec![centre], 3.5, paint);
        });
    }
    let top = key.height(drawing) + drawing.px(10.0);
    let (frame, x) = PlotArea::numbered(drawing, figure, top, drawing.px(16.0), drawing.px(4.0));
    for (index, kind) in kinds.iter().enumerate() {
        let look = kind.look.unwrap_or(index);
        let (paint, shape) = event(look);
        // The first two kinds occur with every segment; smaller marks leave the rare kinds visible.
        let radius = if look < 2 { 1.5 } else { 3.0 };
        let marks = distinct(&kind.points, &x, &frame.y, drawing.px(radius * 0.5));
        drawing.owned(Owner::Series(index), |drawing| {
            drawing.marks(shape, marks, radius, paint);
        });
    }
}

/// Places of the points, one where several would cover each other.
fn distinct(points: &[(f64, f64)], x: &Scale, y: &Scale, cell: f64) -> Vec<Point> {
    let places: Vec<Point> = drawable(points).map(|(at, value)| (x.at(at), y.at(value))).collect();
    let mut cell = cell.max(1e-3);
    loop {
        let mut seen = BTreeSet::new();
        let kept: Vec<Point> = places
            .iter()
            .copied()
            .filter(|(x, y)| seen.insert(((x / cell) as i64, (y / cell) as i64)))
            .collect();
        if kept.len() <= MAX_EVENTS {
            return kept;
        }
        // A coarser grid merges more points, evenly over the plot; leaving out every n-th one would remove
        // rare events.
        cell *= 1.5;
    }
}
