//! A figure for pgfplots: native axes and a table of data, so that authors set it in their own style.

mod data;
mod escape;
mod plots;

use std::fmt::Write;

use data::Data;
use escape::{Comment, Tex};

use super::model::{Figure, FigureKind};
use super::range;
use super::style::{Hatch, Look, Paint, Shape, dash, hatch, shape};
use crate::axis::Extent;

/// The two files of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pgf {
    /// LaTeX document of the figure, `.tex`.
    pub tex: String,
    /// Data file of the figure, `.dat`.
    pub data: String,
}

/// A figure's document as it grows.
pub(super) struct PgfDocument {
    /// Options of the axis, one a line.
    options: Vec<String>,
    /// Plot commands of the figure.
    plots: String,
    data: Data,
    data_name: String,
}

impl PgfDocument {
    fn option(&mut self, option: impl Into<String>) {
        self.options.push(option.into());
    }

    /// Adds a plot of two columns, with more options of the table.
    fn plot(&mut self, options: &str, (x, y): (&str, &str), more: &str) {
        let _ =
            writeln!(self.plots, "  \\addplot[{options}] table[x={x}, y={y}{more}] {{{}}};", self.data_name);
    }

    /// Adds a series that is in the key only.
    fn plot_nothing(&mut self, index: usize) {
        let _ = writeln!(self.plots, "  \\addlegendimage{{tidegate line {index}}}");
    }

    /// The name of the last plot in the key.
    fn entry(&mut self, name: &str) {
        let _ = writeln!(self.plots, "  \\addlegendentry{{{}}}", Tex(name));
    }
}

/// The files of `figure`; the data is found as `data_name`.
pub(super) fn files(figure: &Figure, look: Look, data_name: &str) -> Pgf {
    let mut page = PgfDocument {
        options: Vec::new(),
        plots: String::new(),
        data: Data::default(),
        data_name: data_name.to_owned(),
    };
    page.data.comment(&figure.title);
    page.option(format!("xlabel={{{}}}", Tex(&figure.x_label)));
    page.option(format!("ylabel={{{}}}", Tex(&figure.y_label)));
    ranges(&mut page, &figure.kind);
    let count = plots::write(&mut page, &figure.kind);
    let PgfDocument { options, plots, data, .. } = page;
    let mut tex = String::new();
    head(&mut tex, figure, look, data_name);
    styles(&mut tex, count, look);
    let library = if matches!(figure.kind, FigureKind::Boxes { .. }) {
        "boxplot/draw direction=y, boxplot/box extend=0.5, boxplot/every median/.style={black, line width=1pt},\n  "
    } else {
        ""
    };
    let _ = writeln!(
        tex,
        "\\begin{{tikzpicture}}\n\\begin{{axis}}[\n  tidegate,\n  {library}{},\n]",
        options.join(",\n  ")
    );
    tex.push_str(&plots);
    tex.push_str("\\end{axis}\n\\end{tikzpicture}\n\\end{document}\n");
    Pgf { tex, data: data.text() }
}

/// Sets the ranges of the axes to those of the SVG and PDF figure.
fn ranges(page: &mut PgfDocument, kind: &FigureKind) {
    let (x, y) = range::of(kind);
    // Axes with names get their range from `bars` and `box_plots`.
    if !matches!(kind, FigureKind::Bars { .. } | FigureKind::Boxes { .. }) {
        let x = match kind.is_x_logarithmic() {
            true => {
                page.option("xmode=log");
                let (decades, _) = x.decades(6);
                Extent { low: 10f64.powf(decades.low), high: 10f64.powf(decades.high) }
            }
            false => x.ticked(6).0,
        };
        page.option(format!("xmin={}, xmax={}", data::number(Some(x.low)), data::number(Some(x.high))));
    }
    let (y, _) = y.ticked(6);
    page.option(format!("ymin={}, ymax={}", data::number(Some(y.low)), data::number(Some(y.high))));
}

fn head(tex: &mut String, figure: &Figure, look: Look, data_name: &str) {
    let (width_mm, height_mm) = look.columns.size_mm();
    let _ = write!(
        tex,
        "% {}\n% {}\n\
         % The data is in {}. Compile this file alone, or \\input it in a document that has in its preamble\n\
         % \\usepackage{{standalone}} and the lines on iftex and pgfplots below.\n\
         \\documentclass[border=1pt]{{standalone}}\n\
         \\usepackage{{iftex}}\n\\usepackage{{pgfplots}}\n\
         \\pgfplotsset{{compat=1.16}}\n\\usepgfplotslibrary{{statistics}}\n\\usetikzlibrary{{patterns}}\n\
         \\begin{{document}}\n\
         % A character that pdfTeX's fonts lack; other engines set it.\n\
         \\providecommand\\tidegatechar[1]{{\\ifpdftex?\\else\\char\"#1\\relax\\fi}}%\n\
         \\pgfplotsset{{tidegate/.style={{\n  width={width_mm}mm, height={height_mm}mm,\n  \
         font=\\fontsize{{8}}{{9.5}}\\selectfont, line width=0.4pt,\n  \
         axis lines=left, axis line style={{-}}, tick align=outside, grid=major, grid style={{black!12}},\n  \
         unbounded coords=jump, scaled ticks=false, tick label style={{/pgf/number format/fixed, /pgf/number format/1000 sep={{}}}},\n  \
         legend style={{draw=none, fill=none, at={{(0.5,1.02)}}, anchor=south, legend columns=-1, column sep=3pt}},\n  \
         legend cell align=left,\n}}}}\n",
        Comment(&figure.title),
        Comment(&figure.caption),
        Comment(data_name)
    );
}

/// One style for each series, which a document may redefine.
fn styles(tex: &mut String, count: usize, look: Look) {
    for index in 0..count {
        let colour = Paint::Series(index).colour(look.greyscale).trim_start_matches('#').to_uppercase();
        // About 0.6 pt for a pixel of a page, as for text: 8 pt for 13 px.
        let parts: Vec<String> = dash(index)
            .chunks(2)
            .map(|pair| format!("on {:.1}pt off {:.1}pt", pair[0] * 0.6, pair.get(1).unwrap_or(&0.0) * 0.6))
            .collect();
        let pattern =
            if parts.is_empty() { "solid".to_owned() } else { format!("dash pattern={}", parts.join(" ")) };
        let fill = match hatch_name(hatch(index)) {
            Some(name) => format!(", postaction={{pattern={name}, pattern color=white}}"),
            None => String::new(),
        };
        let _ = write!(
            tex,
            "\\definecolor{{tidegate{index}}}{{HTML}}{{{colour}}}%\n\
             \\pgfplotsset{{\n  \
             tidegate line {index}/.style={{color=tidegate{index}, line width=0.9pt, {pattern}, {mark}}},\n  \
             tidegate mark {index}/.style={{only marks, color=tidegate{index}, {mark}}},\n  \
             tidegate area {index}/.style={{draw=tidegate{index}, fill=tidegate{index}!80{fill}}},\n}}%\n",
            mark = mark(shape(index))
        );
    }
}

fn mark(shape: Shape) -> &'static str {
    match shape {
        Shape::Circle => "mark=*, mark size=1.6pt, mark options={solid}",
        Shape::Square => "mark=square*, mark size=1.5pt, mark options={solid}",
        Shape::Up => "mark=triangle*, mark size=1.9pt, mark options={solid}",
        Shape::Down => "mark=triangle*, mark size=1.9pt, mark options={solid, rotate=180}",
        Shape::Cross => "mark=x, mark size=1.9pt, mark options={solid}",
        Shape::Plus => "mark=+, mark size=1.9pt, mark options={solid}",
        Shape::Diamond => "mark=diamond*, mark size=1.9pt, mark options={solid}",
    }
}

fn hatch_name(hatch: Hatch) -> Option<&'static str> {
    match hatch {
        Hatch::None => None,
        Hatch::Rising => Some("north east lines"),
        Hatch::Falling => Some("north west lines"),
        Hatch::Level => Some("horizontal lines"),
        Hatch::Crossed => Some("crosshatch"),
    }
}
