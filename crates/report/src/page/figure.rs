//! Figures with our results and the published ones beside them, as SVG.
//!
//! Ours are filled marks with a 95 % whisker, published values hollow diamonds of the same colour. Colours
//! stand as attributes, so that an SVG file looks right in any program; a page overrides them by class.

use super::axis::{self, Extent, Scale};
use super::markup::{Escaped, Markup, class, colour, dash, shortened, text_width};
use crate::stats::Estimate;
use crate::text;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
/// Size of all text, px.
const TEXT: f64 = 13.0;
const BOTTOM: f64 = 62.0;
/// Ours and published, one line.
const LEGEND: f64 = 26.0;
/// Bars beyond this number carry no number.
const MOST_NUMBERED_BARS: usize = 16;

/// One figure of a paper, with our results and the published values.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Short id without spaces, such as `fig7a`; names its file and its place in the page.
    pub id: String,
    /// Title.
    pub title: String,
    /// What is shown, under which conditions, in a sentence or two.
    pub caption: String,
    /// The y axis with its unit.
    pub y_label: String,
    /// The data.
    pub kind: FigureKind,
}

/// How a figure is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureKind {
    /// Values over a number.
    Lines {
        /// The x axis with its unit.
        x_label: String,
        /// The lines.
        series: Vec<Series>,
    },
    /// Values over named groups.
    Bars {
        /// Names of the groups.
        groups: Vec<String>,
        /// One bar per group each.
        series: Vec<BarSeries>,
    },
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name, written at the line's end.
    pub name: String,
    /// Our results: x and estimate, in the order in which they are connected.
    pub points: Vec<(f64, Estimate)>,
    /// Published values: x and y.
    pub published: Vec<(f64, f64)>,
}

impl Series {
    /// Our results that can be drawn.
    fn ours(&self) -> impl DoubleEndedIterator<Item = (f64, Estimate)> {
        self.points.iter().copied().filter(|(x, estimate)| x.is_finite() && estimate.n > 0)
    }

    /// Published values that can be drawn.
    fn theirs(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> {
        self.published.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
    }
}

/// One bar of every group.
#[derive(Clone, Debug, PartialEq)]
pub struct BarSeries {
    /// Name, in the legend.
    pub name: String,
    /// Our results, one per group; `None` draws no bar.
    pub values: Vec<Option<Estimate>>,
    /// Published values, one per group; `None` where the paper has none.
    pub published: Vec<Option<f64>>,
}

impl Figure {
    /// The figure as an SVG file of its own, on white.
    pub fn to_svg(&self) -> String {
        self.svg("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n")
    }

    /// The figure as it stands in a page.
    pub(super) fn inline_svg(&self) -> String {
        self.svg("")
    }

    fn svg(&self, ground: &str) -> String {
        let mut svg = Markup::default();
        svg.add(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" font-family=\"system-ui, Helvetica, Arial, sans-serif\" \
             font-size=\"{TEXT}\"><title>{}</title>\n{ground}",
            Escaped(&self.title)
        ));
        match &self.kind {
            FigureKind::Lines { x_label, series } => self.lines(&mut svg, x_label, series),
            FigureKind::Bars { groups, series } => self.bars(&mut svg, groups, series),
        }
        svg.0.push_str("</svg>\n");
        svg.0
    }

    fn lines(&self, svg: &mut Markup, x_label: &str, series: &[Series]) {
        let names: Vec<String> = series.iter().map(|series| shortened(&series.name, 22)).collect();
        let widest = names.iter().map(|name| text_width(name, TEXT)).fold(0.0, f64::max);
        let x_values = series
            .iter()
            .flat_map(|series| series.ours().map(|(x, _)| x).chain(series.theirs().map(|(x, _)| x)));
        let y_values = series.iter().flat_map(|series| {
            series.ours().flat_map(|(_, ours)| shown_ends(&ours)).chain(series.theirs().map(|(_, y)| y))
        });
        let (y_extent, y_ticks) = Extent::of(y_values).near_zero().ticked(6);
        let (x_extent, x_ticks) = Extent::of(x_values).near_zero().ticked(7);
        let has_published = series.iter().any(|series| series.theirs().next().is_some());
        let top = 12.0 + legend_marks(svg, has_published, true, 0.0);
        let frame = Frame::new(&y_ticks, y_extent, top, widest + 26.0);
        frame.draw(svg, &y_ticks, &self.y_label);
        let x =
            Scale { low: x_extent.low, high: x_extent.high, start: frame.left + 8.0, end: frame.right - 8.0 };
        x_axis(svg, &frame, &x, &x_ticks, x_label);
        if y_extent.low < 0.0 {
            zero_line(svg, &frame);
        }
        let count = series.len();
        for (index, series) in series.iter().enumerate() {
            draw_line(svg, &frame.y, &x.moved(beside(index, count)), series, index);
        }
        label_ends(svg, &frame, &x, series, &names);
    }

    fn bars(&self, svg: &mut Markup, groups: &[String], series: &[BarSeries]) {
        let values = series.iter().flat_map(|series| {
            let ours = series.values.iter().flatten().flat_map(shown_ends);
            ours.chain(series.published.iter().flatten().copied())
        });
        let has_published = series.iter().any(|series| series.published.iter().any(Option::is_some));
        let (extent, ticks) = Extent::of(values).with_zero().ticked(6);
        let legend = bar_legend(svg, series, has_published);
        let frame = Frame::new(&ticks, extent, 20.0 + legend, 14.0);
        frame.draw(svg, &ticks, &self.y_label);
        let room = (frame.right - frame.left) / groups.len().max(1) as f64;
        let width = (room * 0.8 / series.len().max(1) as f64).min(64.0);
        let is_numbered = groups.len() * series.len() <= MOST_NUMBERED_BARS && width >= 24.0;
        let count = series.len();
        for (group, name) in groups.iter().enumerate() {
            let middle = frame.left + (group as f64 + 0.5) * room;
            group_label(svg, name, middle, room, frame.bottom);
            for (index, series) in series.iter().enumerate() {
                let x = middle + (index as f64 - series_middle(count)) * width;
                let bar = Bar { x, width: width * 0.86, index, is_numbered };
                let ours = series.values.get(group).copied().flatten();
                bar.draw(svg, &frame.y, ours, series.published.get(group).copied().flatten());
            }
        }
        zero_line(svg, &frame);
    }
}

/// How far the marks of line `index` stand beside their x, px: equal results stay readable side by side.
fn beside(index: usize, count: usize) -> f64 {
    if count > 6 { 0.0 } else { (index as f64 - series_middle(count)) * 4.0 }
}

/// Position of the middle among `count` neighbours, from the first.
fn series_middle(count: usize) -> f64 {
    (count as f64 - 1.0) / 2.0
}

/// Mean and, where there is an interval, both of its ends.
fn shown_ends(estimate: &Estimate) -> [f64; 3] {
    if estimate.has_interval() {
        [estimate.mean, estimate.low(), estimate.high()]
    } else {
        [estimate.mean; 3]
    }
}

/// The area inside the axes.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    y: Scale,
}

impl Frame {
    fn new(y_ticks: &[f64], extent: Extent, top: f64, right_room: f64) -> Self {
        let widest = axis::labels(y_ticks).iter().map(|label| text_width(label, TEXT)).fold(0.0, f64::max);
        let (left, right, bottom) = (34.0 + widest, WIDTH - right_room, HEIGHT - BOTTOM);
        let y = Scale { low: extent.low, high: extent.high, start: bottom, end: top };
        Self { left, right, top, bottom, y }
    }

    /// Grid, tick labels and the label of the y axis.
    fn draw(&self, svg: &mut Markup, ticks: &[f64], label: &str) {
        for (tick, text) in ticks.iter().zip(axis::labels(ticks)) {
            let y = self.y.at(*tick);
            svg.add(format_args!(
                "<path class=\"grid\" d=\"M{:.1} {y:.1}H{:.1}\" stroke=\"#dfe2e6\"/>\
                 <text class=\"soft\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#5b6066\">{text}</text>\n",
                self.left,
                self.right,
                self.left - 7.0,
                y + 4.5
            ));
        }
        let middle = (self.top + self.bottom) / 2.0;
        svg.add(format_args!(
            "<text class=\"ink\" transform=\"translate(15 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" \
             fill=\"#1b1e22\">{}</text>\n",
            Escaped(label)
        ));
    }
}

/// The value zero, which bars stand on and differences are read against.
fn zero_line(svg: &mut Markup, frame: &Frame) {
    let zero = frame.y.clamped(0.0);
    svg.add(format_args!(
        "<path class=\"axis\" d=\"M{:.1} {zero:.1}H{:.1}\" stroke=\"#5b6066\"/>\n",
        frame.left, frame.right
    ));
}

fn x_axis(svg: &mut Markup, frame: &Frame, x: &Scale, ticks: &[f64], label: &str) {
    svg.add(format_args!(
        "<path class=\"axis\" d=\"M{:.1} {:.1}H{:.1}\" stroke=\"#5b6066\"/>\n",
        frame.left, frame.bottom, frame.right
    ));
    for (tick, text) in ticks.iter().zip(axis::labels(ticks)) {
        let at = x.at(*tick);
        svg.add(format_args!(
            "<path class=\"axis\" d=\"M{at:.1} {:.1}v5\" stroke=\"#5b6066\"/>\
             <text class=\"soft\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#5b6066\">{text}</text>\n",
            frame.bottom,
            frame.bottom + 20.0
        ));
    }
    svg.add(format_args!(
        "<text class=\"ink\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#1b1e22\">{}</text>\n",
        (frame.left + frame.right) / 2.0,
        HEIGHT - 14.0,
        Escaped(label)
    ));
}

fn draw_line(svg: &mut Markup, y: &Scale, x: &Scale, series: &Series, index: usize) {
    let path: Vec<String> =
        series.ours().map(|(at, ours)| format!("{:.1} {:.1}", x.at(at), y.at(ours.mean))).collect();
    let (class, colour) = (class(index), colour(index));
    if path.len() > 1 {
        svg.add(format_args!(
            "<path class=\"s{class}\" d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n",
            path.join("L"),
            dash(index)
        ));
    }
    for (at, ours) in series.ours() {
        whisker(svg, x.at(at), y, &ours, index);
        svg.add(format_args!(
            "<circle class=\"f{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"><title>{}</title></circle>\n",
            x.at(at),
            y.at(ours.mean),
            Escaped(&format!("{}, x = {}: {ours}", series.name, text::number(at)))
        ));
    }
    for (at, value) in series.theirs() {
        let note = format!("{}, x = {}: published {}", series.name, text::number(at), text::number(value));
        diamond(svg, x.at(at), y.at(value), index, &note);
    }
}

/// The 95 % interval as a vertical bar with ends; nothing without an interval.
fn whisker(svg: &mut Markup, x: f64, y: &Scale, estimate: &Estimate, index: usize) {
    if !estimate.has_interval() {
        return;
    }
    let (low, high) = (y.clamped(estimate.low()), y.clamped(estimate.high()));
    svg.add(format_args!(
        "<path class=\"s{} whisker\" d=\"M{x:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h8M{:.1} {high:.1}h8\" fill=\"none\" \
         stroke=\"{}\" stroke-width=\"1.5\"/>\n",
        class(index),
        x - 4.0,
        x - 4.0,
        colour(index)
    ));
}

/// A published value: a hollow diamond.
fn diamond(svg: &mut Markup, x: f64, y: f64, index: usize, note: &str) {
    svg.add(format_args!(
        "<path class=\"s{} published\" d=\"M{x:.1} {:.1}l7 7l-7 7l-7 -7z\" fill=\"#ffffff\" fill-opacity=\"0.6\" \
         stroke=\"{}\" stroke-width=\"2\"><title>{}</title></path>\n",
        class(index),
        y - 7.0,
        colour(index),
        Escaped(note)
    ));
}

/// Names at the right ends of the lines, moved apart where they would overlap.
fn label_ends(svg: &mut Markup, frame: &Frame, x: &Scale, series: &[Series], names: &[String]) {
    let end = |series: &Series| {
        let ours = series.ours().next_back().map(|(at, estimate)| (at, estimate.mean));
        ours.or_else(|| series.theirs().next_back())
    };
    let mut ends: Vec<(usize, f64, f64)> = series
        .iter()
        .enumerate()
        .filter_map(|(index, series)| end(series).map(|(at, value)| (index, x.at(at), frame.y.at(value))))
        .collect();
    ends.sort_by(|left, right| left.2.total_cmp(&right.2).then(left.0.cmp(&right.0)));
    let heights: Vec<f64> = ends.iter().map(|(_, _, y)| *y).collect();
    let places = spread(&heights, 16.0, frame.top + 4.0, frame.bottom - 4.0);
    for ((index, from, y), place) in ends.into_iter().zip(places) {
        let to = frame.right + 12.0;
        svg.add(format_args!(
            "<path class=\"s{} leader\" d=\"M{:.1} {y:.1}L{:.1} {place:.1}\" stroke=\"{}\" stroke-width=\"1\" stroke-opacity=\"0.5\"/>\
             <text class=\"f{} name\" x=\"{to:.1}\" y=\"{:.1}\" fill=\"{}\" font-weight=\"600\">{}</text>\n",
            class(index),
            from + 5.0,
            to - 2.0,
            colour(index),
            class(index),
            place + 4.5,
            colour(index),
            Escaped(&names[index])
        ));
    }
}

/// Sorted positions moved apart to at least `gap`, within `low..=high` as far as they fit.
fn spread(positions: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut places = positions.to_vec();
    for index in 0..places.len() {
        let least = if index == 0 { low } else { places[index - 1] + gap };
        places[index] = places[index].max(least);
    }
    let mut most = high;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - gap;
    }
    places
}

/// The key to the marks from `x` on; returns the height used, nothing when there is nothing to tell apart.
fn legend_marks(svg: &mut Markup, has_published: bool, is_line: bool, y: f64) -> f64 {
    let base = y + 17.0;
    let ours = if is_line {
        format!("<circle class=\"fink\" cx=\"26\" cy=\"{:.1}\" r=\"4\" fill=\"#5b6066\"/>", base - 4.5)
    } else {
        format!(
            "<rect class=\"fink\" x=\"20\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"#5b6066\" fill-opacity=\"0.4\"/>",
            base - 10.5
        )
    };
    svg.add(format_args!(
        "{ours}<path class=\"axis\" d=\"M26 {0:.1}v16m-4 0h8m-8 -16h8\" fill=\"none\" stroke=\"#5b6066\"/>\
         <text class=\"soft\" x=\"40\" y=\"{base}\" fill=\"#5b6066\">ours, mean ± 95 % interval</text>",
        base - 12.5
    ));
    if has_published {
        svg.add(format_args!(
            "<path class=\"axis published\" d=\"M240 {:.1}l6 6l-6 6l-6 -6z\" fill=\"none\" stroke=\"#5b6066\" stroke-width=\"2\"/>\
             <text class=\"soft\" x=\"254\" y=\"{base}\" fill=\"#5b6066\">published</text>",
            base - 10.5
        ));
    }
    svg.0.push('\n');
    LEGEND
}

/// Names of the bars' series, then the key to the marks; returns the height used.
fn bar_legend(svg: &mut Markup, series: &[BarSeries], has_published: bool) -> f64 {
    let used = legend_marks(svg, has_published, false, 0.0);
    let (mut x, mut row) = (20.0, 0.0);
    for (index, series) in series.iter().enumerate() {
        let width = text_width(&series.name, TEXT) + 36.0;
        if x + width > WIDTH && x > 20.0 {
            (x, row) = (20.0, row + 1.0);
        }
        let base = used + 17.0 + 20.0 * row;
        svg.add(format_args!(
            "<rect class=\"f{}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{}\"/>\
             <text class=\"ink\" x=\"{:.1}\" y=\"{base}\" fill=\"#1b1e22\">{}</text>\n",
            class(index),
            base - 10.5,
            colour(index),
            x + 18.0,
            Escaped(&series.name)
        ));
        x += width;
    }
    used + 20.0 * (row + 1.0)
}

/// One bar with its whisker, its number and the published value.
struct Bar {
    x: f64,
    width: f64,
    index: usize,
    is_numbered: bool,
}

impl Bar {
    fn draw(&self, svg: &mut Markup, y: &Scale, ours: Option<Estimate>, published: Option<f64>) {
        let ours = ours.filter(|estimate| estimate.n > 0);
        let published = published.filter(|value| value.is_finite());
        if let Some(estimate) = &ours {
            let (zero, mean) = (y.at(0.0), y.at(estimate.mean));
            svg.add(format_args!(
                "<rect class=\"f{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\" fill-opacity=\"0.75\">\
                 <title>{estimate}</title></rect>\n",
                class(self.index),
                self.x - self.width / 2.0,
                zero.min(mean),
                self.width,
                (zero - mean).abs().max(1.0),
                colour(self.index)
            ));
            self.whisker(svg, y, estimate);
        }
        if let Some(value) = published {
            diamond(svg, self.x, y.at(value), self.index, &format!("published {}", text::number(value)));
        }
        self.number(svg, y, ours, published);
    }

    /// Drawn in ink, since it lies on the bar's own colour.
    fn whisker(&self, svg: &mut Markup, y: &Scale, estimate: &Estimate) {
        if estimate.has_interval() {
            let (low, high) = (y.clamped(estimate.low()), y.clamped(estimate.high()));
            svg.add(format_args!(
                "<path class=\"inkline\" d=\"M{0:.1} {low:.1}V{high:.1}M{1:.1} {low:.1}h8M{1:.1} {high:.1}h8\" fill=\"none\" \
                 stroke=\"#1b1e22\" stroke-width=\"1.5\"/>\n",
                self.x,
                self.x - 4.0
            ));
        }
    }

    /// Our mean beyond the end of the bar and clear of the published mark, or a dash at the axis where there
    /// is no result.
    fn number(&self, svg: &mut Markup, y: &Scale, ours: Option<Estimate>, published: Option<f64>) {
        let number = match &ours {
            None => "–".to_owned(),
            Some(_) if !self.is_numbered => return,
            Some(estimate) => text::number(estimate.mean),
        };
        let is_below = ours.is_some_and(|estimate| estimate.mean < 0.0);
        let ends = || ours.iter().flat_map(shown_ends).map(|value| y.at(value)).chain([y.at(0.0)]);
        let published = published.map(|value| y.at(value));
        let is_hit = |base: f64| published.is_some_and(|mark| base - 19.0 < mark && mark < base + 9.0);
        let mut base =
            if is_below { ends().fold(0.0, f64::max) + 13.0 } else { ends().fold(HEIGHT, f64::min) - 5.0 };
        if let Some(mark) = published.filter(|_| is_hit(base)) {
            base = if is_below { mark + 20.0 } else { mark - 11.0 };
        }
        svg.add(format_args!(
            "<text class=\"ink\" x=\"{:.1}\" y=\"{base:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#1b1e22\">{number}</text>\n",
            self.x
        ));
    }
}

/// The group's name under the axis, broken at spaces into at most three lines.
fn group_label(svg: &mut Markup, name: &str, middle: f64, room: f64, bottom: f64) {
    let most = (room / (TEXT * 0.56)).floor().max(4.0) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in name.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    for (row, line) in lines.iter().take(3).enumerate() {
        svg.add(format_args!(
            "<text class=\"ink\" x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#1b1e22\">{}</text>\n",
            bottom + 20.0 + 16.0 * row as f64,
            Escaped(&shortened(line, most))
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(kind: FigureKind) -> Figure {
        Figure {
            id: "fig7a".into(),
            title: "<a> & b".into(),
            caption: String::new(),
            y_label: "y [ms]".into(),
            kind,
        }
    }

    #[test]
    fn a_figure_without_data_is_still_a_figure() {
        let lines = figure(FigureKind::Lines { x_label: "x".into(), series: Vec::new() });
        let bars = figure(FigureKind::Bars { groups: Vec::new(), series: Vec::new() });
        for svg in [lines.to_svg(), bars.to_svg()] {
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(
                svg.contains("&lt;a&gt; &amp; b") && !svg.contains("NaN") && !svg.contains("inf"),
                "{svg}"
            );
        }
    }

    #[test]
    fn missing_results_and_single_runs_draw_no_whisker_and_no_nonsense() {
        let points =
            vec![(0.0, Estimate::NONE), (1.0, Estimate::of(&[3.0])), (f64::NAN, Estimate::of(&[1.0, 2.0]))];
        let series = vec![Series { name: "icp".into(), points, published: vec![(0.5, f64::NAN)] }];
        let lines = figure(FigureKind::Lines { x_label: "x".into(), series }).to_svg();
        let series = vec![BarSeries {
            name: "icp".into(),
            values: vec![None, Some(Estimate::NONE)],
            published: vec![None],
        }];
        let bars = figure(FigureKind::Bars { groups: vec!["a".into(), "b".into()], series }).to_svg();
        for svg in [lines, bars] {
            assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains("whisker"), "{svg}");
        }
    }

    #[test]
    fn published_values_are_diamonds_and_ours_have_whiskers() {
        let points = vec![(0.5, Estimate::of(&[1.0, 2.0, 3.0]))];
        let series = vec![Series { name: "icp".into(), points, published: vec![(0.5, 2.5)] }];
        let svg = figure(FigureKind::Lines { x_label: "alpha".into(), series }).to_svg();
        assert!(svg.contains("icp, x = 0.5: published 2.5") && svg.contains("whisker"), "{svg}");
    }

    #[test]
    fn end_labels_keep_their_distance_and_stay_inside() {
        assert_eq!(spread(&[10.0, 11.0, 12.0], 16.0, 0.0, 100.0), [10.0, 26.0, 42.0]);
        assert_eq!(spread(&[90.0, 95.0, 99.0], 16.0, 0.0, 100.0), [68.0, 84.0, 100.0]);
    }
}
