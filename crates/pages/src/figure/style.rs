//! Style of figures: sizes, colours, dashes, marks and hatches, which are distinguishable without colour.

use super::font;

/// Series colours (Okabe and Ito) on light ground; black takes the place of yellow, which is too faint there.
pub(crate) const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1b1e22"];
/// Greys in place of the colours; neighbours differ clearly.
const GREYS: [&str; 7] = ["#1b1e22", "#8c8c8c", "#5a5a5a", "#a6a6a6", "#383838", "#787878", "#000000"];
/// Dash patterns, in pixels of a page; six against seven colours, so that 42 series differ.
pub(crate) const DASHES: [&[f64]; 6] =
    [&[], &[8.0, 4.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0], &[14.0, 4.0], &[5.0, 3.0, 5.0, 8.0]];

/// Width of a figure on paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// One column of two, 88 mm.
    #[default]
    One,
    /// The whole page, 180 mm.
    Two,
}

/// Style of a figure file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Width in columns of a paper.
    pub columns: Columns,
    /// Whether greys take the place of colours.
    pub greyscale: bool,
}

/// The area that a figure is laid out on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sheet {
    /// Width in the unit of the sheet: points (1/72 inch) on paper, pixels in a page.
    pub(super) width: f64,
    /// Height in the same unit as `width`.
    pub(super) height: f64,
    /// Size of text in the same unit as `width`.
    pub(super) text: f64,
    /// Factor by which the font that sets the text may be wider than ours.
    stretch: f64,
}

/// Points of a millimetre.
const POINTS_PER_MM: f64 = 72.0 / 25.4;

impl Sheet {
    /// A figure in a page, which has its own font.
    pub(super) const PAGE: Self = Self { width: 640.0, height: 400.0, text: 13.0, stretch: 1.12 };

    /// A figure on paper, with text of 8 pt.
    pub(super) fn of(columns: Columns) -> Self {
        let (width_mm, height_mm) = columns.size_mm();
        Self { width: width_mm * POINTS_PER_MM, height: height_mm * POINTS_PER_MM, text: 8.0, stretch: 1.0 }
    }

    /// Length of one pixel of a page, the unit of all distances.
    pub(super) fn unit(&self) -> f64 {
        self.text / Self::PAGE.text
    }

    /// The width of a text in the size of this sheet.
    pub(super) fn text_width(&self, text: &str) -> f64 {
        font::width(text, self.text) * self.stretch
    }
}

impl Columns {
    /// Width and height on paper, mm.
    pub fn size_mm(self) -> (f64, f64) {
        match self {
            Self::One => (88.0, 60.0),
            Self::Two => (180.0, 76.0),
        }
    }
}

/// Colour of a painted item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    /// Text and strong lines.
    Ink,
    /// Axes and other items in the background.
    Soft,
    /// Lines of the grid.
    Grid,
    /// The background of the figure.
    Ground,
    /// A series, by its index.
    Series(usize),
}

impl Paint {
    /// The colour on white, `#rrggbb`.
    pub(super) fn colour(self, greyscale: bool) -> &'static str {
        let palette = if greyscale { &GREYS } else { &COLOURS };
        match self {
            Self::Ink => "#1b1e22",
            Self::Soft => "#5b6066",
            Self::Grid => "#dfe2e6",
            Self::Ground => "#ffffff",
            Self::Series(index) => palette[index % palette.len()],
        }
    }
}

/// Dash pattern of series `index`, pixels of a page.
pub(super) fn dash(index: usize) -> &'static [f64] {
    DASHES[index % DASHES.len()]
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Up,
    Down,
    Cross,
    Plus,
    Diamond,
}

/// Marks of series; the diamond is left to published values.
const SHAPES: [Shape; 5] = [Shape::Circle, Shape::Square, Shape::Up, Shape::Down, Shape::Cross];

/// Mark of series `index`.
pub(super) fn shape(index: usize) -> Shape {
    SHAPES[index % SHAPES.len()]
}

/// Colours and marks of events of segments, equal to those of the diagram in a page (`looks` in segments.js):
/// frequent events are pale, losses and retransmissions are prominent.
const EVENTS: [(Paint, Shape); 8] = [
    (Paint::Soft, Shape::Circle),
    (Paint::Series(5), Shape::Square),
    (Paint::Series(2), Shape::Down),
    (Paint::Series(4), Shape::Up),
    (Paint::Series(1), Shape::Cross),
    (Paint::Series(3), Shape::Diamond),
    (Paint::Ink, Shape::Plus),
    (Paint::Series(0), Shape::Circle),
];

/// Colour and mark of the events of kind `index`.
pub(super) fn event(index: usize) -> (Paint, Shape) {
    EVENTS[index % EVENTS.len()]
}

/// Hatching of an area over its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hatch {
    None,
    Rising,
    Falling,
    Level,
    Crossed,
}

const HATCHES: [Hatch; 5] = [Hatch::None, Hatch::Rising, Hatch::Level, Hatch::Falling, Hatch::Crossed];

/// Hatch of series `index`.
pub(super) fn hatch(index: usize) -> Hatch {
    HATCHES[index % HATCHES.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_the_colours_and_marks_of_the_diagram_in_a_page() {
        let in_page = include_str!("../page/segments.js").lines().filter_map(|line| {
            let (colour, rest) = line.split_once("{ colour: \"--")?.1.split_once("\", shape: \"")?;
            Some((colour.to_owned(), rest.split('"').next()?))
        });
        let words = |(paint, shape): &(Paint, Shape)| {
            let colour = match paint {
                Paint::Series(index) => format!("c{index}"),
                Paint::Ink => "ink".to_owned(),
                _ => "soft".to_owned(),
            };
            let shape = match shape {
                Shape::Circle => "dot",
                Shape::Square => "square",
                Shape::Up => "up",
                Shape::Down => "down",
                Shape::Cross => "cross",
                Shape::Plus => "plus",
                Shape::Diamond => "diamond",
            };
            (colour, shape)
        };
        let in_files: Vec<(String, &str)> = EVENTS[..7].iter().map(words).collect();
        assert_eq!(in_page.take(7).collect::<Vec<_>>(), in_files);
    }
}
