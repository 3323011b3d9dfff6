//! The plots of each kind of figure.

use std::fmt::Write;

use super::PgfDocument;
use super::escape::Tex;
use crate::figure::curves::thinned;
use crate::figure::model::{
    BarSeries, BoxStats, Cloud, Curve, FigureKind, SegmentEvents, Series, drawable, interval, is_drawable,
};
use crate::figure::style::{COLOURS, Paint, event};

/// Maximum number of points of one curve, because pdfTeX's memory is small.
const MAX_POINTS: usize = 1000;
/// Maximum number of events of one kind.
const MAX_EVENTS: usize = 2000;
/// Published values: hollow diamonds.
const PUBLISHED: &str = "mark=diamond, mark size=2.6pt, mark options={solid, line width=0.8pt}, forget plot";

/// Writes the plots; returns the number of series that need a style.
pub(super) fn write(page: &mut PgfDocument, kind: &FigureKind) -> usize {
    match kind {
        FigureKind::Lines { series } => lines(page, series),
        FigureKind::Bars { groups, series } => bars(page, groups, series),
        FigureKind::Curves { curves } => time_series(page, curves),
        FigureKind::Cdf { curves, .. } => distributions(page, curves),
        FigureKind::Boxes { boxes } => box_plots(page, boxes),
        FigureKind::Scatter { is_x_reversed, clouds } => scatter(page, *is_x_reversed, clouds),
        FigureKind::Segments { kinds } => segments(page, kinds),
    }
}

fn lines(page: &mut PgfDocument, series: &[Series]) -> usize {
    for (index, series) in series.iter().enumerate() {
        if series.is_aside {
            page.data.comment(&format!("s{index}: {}", series.named_aside()));
            page.plot_nothing(index);
            page.entry(&series.named_aside());
            continue;
        }
        page.data.comment(&format!(
            "s{index}: {}; mean and half of its 95 % interval, published values",
            series.name
        ));
        let ours: Vec<_> = series.ours().collect();
        page.data.column(format!("s{index}x"), ours.iter().map(|(x, _)| *x));
        page.data.column(format!("s{index}mean"), ours.iter().map(|(_, estimate)| estimate.mean));
        let half = ours.iter().map(|(_, estimate)| interval(estimate).map_or(0.0, |_| estimate.half_width));
        page.data.column(format!("s{index}half"), half);
        let options = format!(
            "tidegate line {index}, error bars/.cd, y dir=both, y explicit, error bar style={{solid}}"
        );
        let (x, mean) = (format!("s{index}x"), format!("s{index}mean"));
        page.plot(&options, (&x, &mean), &format!(", y error=s{index}half"));
        page.entry(&series.name);
        let theirs: Vec<_> = series.theirs().collect();
        if !theirs.is_empty() {
            page.data.points(&format!("p{index}"), &theirs);
            let (x, y) = (format!("p{index}x"), format!("p{index}y"));
            page.plot(&format!("only marks, color=tidegate{index}, {PUBLISHED}"), (&x, &y), "");
        }
    }
    series.len()
}

fn bars(page: &mut PgfDocument, groups: &[String], series: &[BarSeries]) -> usize {
    let width = 0.8 / series.len().max(1) as f64;
    // The positions in the data include the offset of each series, which the marks of published values share.
    page.option(format!("ybar, bar shift=0pt, /pgf/bar width={:.4}, area legend", width * 0.9));
    let ticks: Vec<String> = (0..groups.len()).map(|group| group.to_string()).collect();
    let names: Vec<String> = groups.iter().map(|group| format!("{{{}}}", Tex(group))).collect();
    page.option(format!("xtick={{{}}}, xticklabels={{{}}}", ticks.join(","), names.join(",")));
    page.option(format!("xmin=-0.5, xmax={:.1}", groups.len().max(1) as f64 - 0.5));
    page.option("xticklabel style={align=center, text width=16mm}, xmajorgrids=false");
    for (index, one) in series.iter().enumerate() {
        page.data.comment(&format!(
            "s{index}: {}; mean and half of its 95 % interval, published values",
            one.name
        ));
        let beside = (index as f64 - (series.len() as f64 - 1.0) / 2.0) * width;
        let all = || (0..groups.len()).map(|group| (group as f64 + beside, group));
        page.data.column(format!("s{index}x"), all().map(|(x, _)| x));
        let mean = all().map(|(_, group)| one.ours(group).map_or(f64::NAN, |estimate| estimate.mean));
        page.data.column(format!("s{index}mean"), mean);
        let half = |group| {
            one.ours(group).filter(|ours| interval(ours).is_some()).map_or(0.0, |ours| ours.half_width)
        };
        page.data.column(format!("s{index}half"), all().map(|(_, group)| half(group)));
        let options = format!("tidegate area {index}, error bars/.cd, y dir=both, y explicit");
        let x = format!("s{index}x");
        page.plot(&options, (&x, &format!("s{index}mean")), &format!(", y error=s{index}half"));
        page.entry(&one.name);
        if (0..groups.len()).any(|group| one.theirs(group).is_some()) {
            let published = all().map(|(_, group)| one.theirs(group).unwrap_or(f64::NAN));
            page.data.column(format!("s{index}published"), published);
            let options = format!("draw=none, only marks, color=tidegate{index}!70!black, {PUBLISHED}");
            page.plot(&options, (&x, &format!("s{index}published")), "");
        }
    }
    series.len()
}

/// Columns of a curve, thinned, with gaps as `nan`.
fn curve_columns(page: &mut PgfDocument, index: usize, curve: &Curve) -> usize {
    page.data.comment(&format!("s{index}: {}", curve.name));
    let mut points: Vec<(f64, f64)> = Vec::new();
    for run in thinned(&curve.points, MAX_POINTS) {
        if let Some((x, _)) = points.last().copied() {
            // `unbounded coords=jump` makes a gap at `nan`.
            points.push((x, f64::NAN));
        }
        points.extend(run);
    }
    page.data.points(&format!("s{index}"), &points);
    points.len()
}

fn time_series(page: &mut PgfDocument, curves: &[Curve]) -> usize {
    for (index, curve) in curves.iter().enumerate() {
        let count = curve_columns(page, index, curve);
        let look = curve.look.unwrap_or(index);
        let options = format!("tidegate line {look}, {}", few_marks(count, (index, curves.len())));
        page.plot(&options, (&format!("s{index}x"), &format!("s{index}y")), "");
        page.entry(&curve.name);
    }
    styles(curves)
}

/// Styles that the curves need.
fn styles(curves: &[Curve]) -> usize {
    curves.iter().enumerate().map(|(index, curve)| curve.look.unwrap_or(index) + 1).max().unwrap_or(0)
}

fn distributions(page: &mut PgfDocument, curves: &[Curve]) -> usize {
    for (index, curve) in curves.iter().enumerate() {
        let count = curve_columns(page, index, curve);
        let options =
            format!("const plot, tidegate line {index}, {}", few_marks(count, (index, curves.len())));
        page.plot(&options, (&format!("s{index}x"), &format!("s{index}y")), "");
        page.entry(&curve.name);
    }
    curves.len()
}

/// About six marks on a curve, offset from those of the others.
fn few_marks(points: usize, (index, count): (usize, usize)) -> String {
    let pause = (points / 6).max(1);
    format!("mark repeat={pause}, mark phase={}", 1 + pause * index / count.max(1))
}

fn box_plots(page: &mut PgfDocument, boxes: &[BoxStats]) -> usize {
    let ticks: Vec<String> = (1..=boxes.len()).map(|place| place.to_string()).collect();
    let names: Vec<String> = boxes.iter().map(|stats| format!("{{{}}}", Tex(&stats.name))).collect();
    page.option(format!("xtick={{{}}}, xticklabels={{{}}}", ticks.join(","), names.join(",")));
    page.option("xticklabel style={align=center, text width=16mm}, xmajorgrids=false");
    page.option(format!("xmin=0.5, xmax={:.1}", boxes.len().max(1) as f64 + 0.5));
    page.data.comment("whiskers, quartiles, median and mean of each box");
    page.data.column("box".to_owned(), (1..=boxes.len()).map(|place| place as f64));
    let columns = ["low", "first", "median", "third", "high", "mean"];
    let values = |stats: &BoxStats| {
        [stats.low, stats.first_quartile, stats.median, stats.third_quartile, stats.high, stats.mean]
    };
    for (place, name) in columns.into_iter().enumerate() {
        page.data.column(name.to_owned(), boxes.iter().map(|stats| values(stats)[place]));
    }
    for (index, stats) in boxes.iter().enumerate() {
        let Some([low, first, median, third, high]) = stats.numbers() else { continue };
        let mean = if is_drawable(stats.mean) { format!(", average={}", stats.mean) } else { String::new() };
        let _ = writeln!(
            page.plots,
            "  \\addplot[tidegate area {index}, mark=o, boxplot prepared={{draw position={}, lower whisker={low}, \
             lower quartile={first}, median={median}, upper quartile={third}, upper whisker={high}{mean}}}] coordinates {{}};",
            index + 1
        );
    }
    boxes.len()
}

fn scatter(page: &mut PgfDocument, is_x_reversed: bool, clouds: &[Cloud]) -> usize {
    if is_x_reversed {
        page.option("x dir=reverse");
    }
    for (index, cloud) in clouds.iter().enumerate() {
        page.data.comment(&format!(
            "s{index}: {}; runs, e: one standard deviation around m, the mean",
            cloud.name
        ));
        page.data.points(&format!("s{index}"), &drawable(&cloud.points).collect::<Vec<_>>());
        let options = format!("tidegate mark {index}, mark size=1pt");
        page.plot(&options, (&format!("s{index}x"), &format!("s{index}y")), "");
        page.entry(&cloud.name);
        let Some(moments) = cloud.moments() else { continue };
        let mut outline = moments.outline();
        // Closes the ellipse, which is drawn as a line.
        outline.extend(outline.first().copied());
        page.data.points(&format!("s{index}e"), &outline);
        page.data.points(&format!("s{index}m"), &[moments.mean]);
        let options = format!("tidegate line {index}, no marks, forget plot");
        page.plot(&options, (&format!("s{index}ex"), &format!("s{index}ey")), "");
        let options = format!("tidegate mark {index}, mark size=2.6pt, forget plot");
        page.plot(&options, (&format!("s{index}mx"), &format!("s{index}my")), "");
    }
    clouds.len()
}

fn segments(page: &mut PgfDocument, kinds: &[SegmentEvents]) -> usize {
    for (index, kind) in kinds.iter().enumerate() {
        page.data.comment(&format!("s{index}: {}", kind.name));
        let points: Vec<(f64, f64)> = drawable(&kind.points).collect();
        // `step_by` panics at 0, which a kind without events would give.
        let pause = points.len().div_ceil(MAX_EVENTS).max(1);
        if pause > 1 {
            page.data.comment(&format!("s{index}: one of {pause} events"));
        }
        let kept: Vec<(f64, f64)> = points.into_iter().step_by(pause).collect();
        page.data.points(&format!("s{index}"), &kept);
        let (paint, shape) = event(kind.look.unwrap_or(index));
        let colour = match paint {
            Paint::Series(series) => format!("tidegate{series}"),
            Paint::Ink => "black".to_owned(),
            _ => "black!60".to_owned(),
        };
        let options = format!("only marks, color={colour}, {}, mark size=0.7pt", super::mark(shape));
        page.plot(&options, (&format!("s{index}x"), &format!("s{index}y")), "");
        page.entry(&kind.name);
    }
    // Kinds of events use the colours of series by their own index, so all are defined.
    COLOURS.len()
}
