//! Figures: a model of the content, and writers for several formats.
//!
//! [`Figure`] has data and texts. A layout converts it to a list of shapes in its final size, from which come
//! SVG, for a page or as a file with its font, and PDF. pgfplots is written from the data itself, so that authors can
//! set it in their own style. Series differ by colour, dash and mark, areas by hatch too, so a figure without colour
//! can be read.

mod bars;
mod boxes;
pub mod compare;
mod curves;
mod drawing;
mod font;
mod frame;
mod lines;
mod model;
mod number;
mod pdf;
mod pgf;
mod published_bars;
mod range;
pub mod run;
mod sfnt;
mod style;
mod svg;

use drawing::Drawing;
pub use model::{
    BarSeries, BoxStats, Cloud, Curve, Figure, FigureKind, SegmentEvents, Series, write_figures,
};
pub use pgf::Pgf;
pub use published_bars::stated;
pub(crate) use published_bars::{has_group, is_stated};
use style::Sheet;
pub(crate) use style::{COLOURS, DASHES};
pub use style::{Columns, Look};

impl Figure {
    /// The figure as a separate SVG file, on white, with its font.
    pub fn to_svg(&self, look: Look) -> String {
        svg::file(self, look)
    }

    /// The figure as inline SVG for a page, which sets colours by class.
    pub fn inline_svg(&self) -> String {
        svg::inline(self)
    }

    /// The figure as a PDF of one page, with its font.
    pub fn to_pdf(&self, look: Look) -> Vec<u8> {
        pdf::file(self, look)
    }

    /// The figure for pgfplots; the program reads its data from the file `data_name`.
    pub fn to_pgf(&self, look: Look, data_name: &str) -> Pgf {
        pgf::files(self, look, data_name)
    }
}

/// The figure as shapes on a sheet.
fn layout(figure: &Figure, sheet: Sheet) -> Drawing {
    let mut drawing = Drawing::new(sheet);
    match &figure.kind {
        FigureKind::Lines { series } => lines::draw(&mut drawing, figure, series),
        FigureKind::Bars { groups, series } => bars::draw(&mut drawing, figure, groups, series),
        FigureKind::Curves { curves } => curves::draw(&mut drawing, figure, curves),
        FigureKind::Cdf { curves, .. } => curves::draw_cdf(&mut drawing, figure, curves),
        FigureKind::Boxes { boxes } => boxes::boxes(&mut drawing, figure, boxes),
        FigureKind::Scatter { clouds, .. } => boxes::scatter(&mut drawing, figure, clouds),
        FigureKind::Segments { kinds } => boxes::segments(&mut drawing, figure, kinds),
    }
    drawing
}
