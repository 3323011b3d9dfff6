//! Curves of many points, such as time series and cumulative distributions.

use super::drawing::{Drawing, Item, Owner, Point, Stroke};
use super::frame::{Key, PlotArea, Sample};
use super::model::{Curve, Figure, is_drawable};
use super::style::{Paint, dash, shape};
use crate::axis::Scale;

/// Maximum number of points of one curve that are drawn: more than a printer resolves on 180 mm.
pub(super) const MAX_POINTS: usize = 2000;
/// Marks on one curve.
const MARKS: usize = 6;

/// Draws curves of many points over a number.
pub(super) fn draw(drawing: &mut Drawing, figure: &Figure, curves: &[Curve]) {
    draw_all(drawing, figure, curves, MAX_POINTS);
}

/// Draws cumulative distributions as steps.
pub(super) fn draw_cdf(drawing: &mut Drawing, figure: &Figure, curves: &[Curve]) {
    let step = |curve: &Curve| match figure.kind.is_x_logarithmic() {
        true => stepped(&curve.over_logarithm()),
        false => stepped(curve),
    };
    let steps: Vec<Curve> = curves.iter().map(step).collect();
    // Steps are thinned already; thinning them again could remove one corner of a step.
    draw_all(drawing, figure, &steps, 2 * MAX_POINTS);
}

/// Steps of a distribution: the cumulative fraction increases at each value.
fn stepped(curve: &Curve) -> Curve {
    let mut points = Vec::new();
    let mut last = 0.0;
    // Every point becomes the two ends of a step.
    for (value, part) in thinned(&curve.points, MAX_POINTS / 2).into_iter().flatten() {
        let part = part.clamp(0.0, 1.0);
        points.extend([(value, last), (value, part)]);
        last = part;
    }
    Curve { points, ..Curve::clone(curve) }
}

fn draw_all(drawing: &mut Drawing, figure: &Figure, curves: &[Curve], max: usize) {
    let mut key = Key::new(drawing);
    for (index, curve) in curves.iter().enumerate() {
        key.series_like(drawing, Sample::Line, (index, curve.look.unwrap_or(index)), &curve.name);
    }
    let top = key.height(drawing) + drawing.px(10.0);
    let (frame, x) = PlotArea::numbered(drawing, figure, top, drawing.px(16.0), 0.0);
    for (index, curve) in curves.iter().enumerate() {
        drawing.owned(Owner::Series(index), |drawing| {
            let look = curve.look.unwrap_or(index);
            draw_curve(drawing, (&x, &frame.y), thinned(&curve.points, max), (index, curves.len()), look);
        });
    }
}

fn draw_curve(
    drawing: &mut Drawing,
    (x, y): (&Scale, &Scale),
    runs: Vec<Vec<Point>>,
    (index, count): (usize, usize),
    look: usize,
) {
    let lines: Vec<Vec<Point>> = runs
        .into_iter()
        .map(|line| line.into_iter().map(|(at, value)| (x.at(at), y.at(value))).collect())
        .collect();
    let marks = marked(&lines, (x.start, x.end), (index, count));
    let paint = Paint::Series(look);
    let stroke = Stroke { dash: dash(look), ..Stroke::solid(paint, 1.6) };
    drawing.add(Item::Lines { lines, stroke });
    drawing.marks(shape(look), marks, 3.2, paint);
}

/// A few of the points, spread over x and offset from those of other curves; a single point is always one.
fn marked(lines: &[Vec<Point>], (from, to): (f64, f64), (index, count): (usize, usize)) -> Vec<Point> {
    let beside = (index as f64 + 0.5) / count.max(1) as f64;
    let required = (0..MARKS).map(|mark| from + (to - from) * (mark as f64 + beside) / MARKS as f64);
    let alone = lines.iter().filter(|line| line.len() == 1).flatten().copied();
    let on = |at: f64| lines.iter().find_map(|line| at_x(line, at));
    required.filter_map(on).chain(alone).collect()
}

/// The place on a line at an x between two neighbours, in either order.
fn at_x(line: &[Point], x: f64) -> Option<Point> {
    let pair = line.windows(2).find(|pair| (pair[0].0 - x) * (pair[1].0 - x) <= 0.0)?;
    let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
    let part = if x1 == x0 { 0.0 } else { (x - x0) / (x1 - x0) };
    Some((x, y0 + part * (y1 - y0)))
}

/// The points in runs without a gap, thinned to about `max` in all: the minimum and the maximum of each
/// stretch remain.
pub(super) fn thinned(points: &[(f64, f64)], max: usize) -> Vec<Vec<(f64, f64)>> {
    let is_gap = |point: &(f64, f64)| !is_drawable(point.0) || !is_drawable(point.1);
    // Two points remain of each stretch.
    let stretch = points.len().div_ceil((max / 2).max(1)).max(1);
    let runs = points.split(is_gap).filter(|run| !run.is_empty());
    runs.map(|run| {
        if points.len() <= max { run.to_vec() } else { run.chunks(stretch).flat_map(extremes).collect() }
    })
    .collect()
}

/// The points with the minimum and the maximum y, in their order.
fn extremes(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let of = |order: std::cmp::Ordering| {
        let better =
            |best: usize, at: usize| if points[at].1.total_cmp(&points[best].1) == order { at } else { best };
        (0..points.len()).reduce(better)
    };
    let (Some(min), Some(max)) = (of(std::cmp::Ordering::Less), of(std::cmp::Ordering::Greater)) else {
        return Vec::new();
    };
    let mut kept = vec![min, max];
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|at| points[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_peaks_and_gaps() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 5.0)).collect();
        points[12_345].1 = 99.0;
        points[50_000].1 = f64::NAN;
        points[77_777].1 = -3.0;
        let runs = thinned(&points, 2000);
        assert_eq!(runs.len(), 2);
        let kept: Vec<(f64, f64)> = runs.concat();
        assert!(kept.len() <= 2010 && kept.contains(&(12_345.0, 99.0)) && kept.contains(&(77_777.0, -3.0)));
    }

    #[test]
    fn a_distribution_rises_at_its_values() {
        let curve = Curve::new("", vec![(1.0, 0.25), (2.0, 1.0)]);
        assert_eq!(stepped(&curve).points, [(1.0, 0.0), (1.0, 0.25), (2.0, 0.25), (2.0, 1.0)]);
    }

    #[test]
    fn marks_of_neighbours_do_not_meet() {
        let line = vec![vec![(0.0, 1.0), (100.0, 1.0)]];
        let first = marked(&line, (0.0, 100.0), (0, 2));
        let second = marked(&line, (0.0, 100.0), (1, 2));
        assert_eq!((first.len(), second.len()), (MARKS, MARKS));
        assert!(first.iter().all(|mark| second.iter().all(|other| (mark.0 - other.0).abs() > 5.0)));
    }
}
