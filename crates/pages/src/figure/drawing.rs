//! A figure as shapes on a sheet, made by the layouts and read by the writers of SVG and PDF.

use super::style::{Hatch, Paint, Shape, Sheet};

/// A place on the sheet; y grows downwards.
pub(super) type Point = (f64, f64);

/// Style of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub(super) paint: Paint,
    /// Pixels of a page.
    pub(super) width: f64,
    /// Lengths of dashes and gaps by turns, pixels of a page.
    pub(super) dash: &'static [f64],
    /// Opacity, 0 (invisible) to 1 (opaque).
    pub(super) opacity: f64,
}

impl Stroke {
    /// A line without dashes.
    pub(super) fn solid(paint: Paint, width: f64) -> Self {
        Self { paint, width, dash: &[], opacity: 1.0 }
    }
}

/// Style of a filled area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fill {
    pub(super) paint: Paint,
    /// Opacity, 0 (invisible) to 1 (opaque).
    pub(super) opacity: f64,
}

/// Horizontal alignment of a text to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    /// On the base line.
    pub(super) at: Point,
    pub(super) text: String,
    /// Size as a multiple of the sheet's text size.
    pub(super) scale: f64,
    pub(super) anchor: Anchor,
    /// Whether it runs upwards.
    pub(super) upwards: bool,
    pub(super) paint: Paint,
    /// Whether it is emphasised where the writer has a bold face.
    pub(super) is_name: bool,
}

impl Label {
    /// A horizontal text of the default size.
    pub(super) fn new(at: Point, text: impl Into<String>, anchor: Anchor, paint: Paint) -> Self {
        Self { at, text: text.into(), scale: 1.0, anchor, upwards: false, paint, is_name: false }
    }
}

/// Shape of a drawn item.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// Lines from point to point; several of them share one stroke.
    Lines { lines: Vec<Vec<Point>>, stroke: Stroke },
    /// A closed polygon, filled or outlined.
    Area { points: Vec<Point>, fill: Option<Fill>, stroke: Option<Stroke> },
    /// Circles of one size.
    Circles { centres: Vec<Point>, radius: f64, fill: Option<Fill>, stroke: Option<Stroke> },
    /// One line of text.
    Label(Label),
}

/// Series that an item belongs to, so that a page can hide it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Owner {
    /// Axes and other items that are always visible.
    #[default]
    PlotArea,
    /// The series with this index.
    Series(usize),
    /// The entry of the series with this index in the key.
    Key(usize),
}

/// A drawn item with its owner and its tooltip.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawn {
    pub(super) owner: Owner,
    pub(super) item: Item,
    /// Shown under the pointer; empty for none.
    pub(super) note: String,
}

/// A figure ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawing {
    pub(super) sheet: Sheet,
    pub(super) items: Vec<Drawn>,
    /// Owner of the items that are added next.
    owner: Owner,
}

impl Drawing {
    /// A drawing without items on `sheet`.
    pub(super) fn new(sheet: Sheet) -> Self {
        Self { sheet, items: Vec::new(), owner: Owner::PlotArea }
    }

    /// Length of `pixels` of a page.
    pub(super) fn px(&self, pixels: f64) -> f64 {
        pixels * self.sheet.unit()
    }

    /// Adds what `draw` adds, as a part of `owner`.
    pub(super) fn owned(&mut self, owner: Owner, draw: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.owner, owner);
        draw(self);
        self.owner = outer;
    }

    /// Adds an item without a note.
    pub(super) fn add(&mut self, item: Item) {
        self.noted(item, String::new());
    }

    /// Adds an item with a note.
    pub(super) fn noted(&mut self, item: Item, note: String) {
        self.items.push(Drawn { owner: self.owner, item, note });
    }

    /// Adds one line through `points`.
    pub(super) fn line(&mut self, points: Vec<Point>, stroke: Stroke) {
        self.add(Item::Lines { lines: vec![points], stroke });
    }

    /// Adds a line of text in the sheet's size.
    pub(super) fn text(&mut self, at: Point, text: impl Into<String>, anchor: Anchor, paint: Paint) {
        self.add(Item::Label(Label::new(at, text, anchor, paint)));
    }

    /// Adds a filled rectangle with its hatch.
    pub(super) fn block(&mut self, from: Point, to: Point, paint: Paint, hatch: Hatch, note: String) {
        let points = vec![from, (to.0, from.1), to, (from.0, to.1)];
        let fill = Some(Fill { paint, opacity: 0.8 });
        self.noted(Item::Area { points, fill, stroke: None }, note);
        // In the order of painting: the outline covers the ends of the hatch.
        let lines = hatch_lines(from, to, hatch, self.px(6.0));
        if !lines.is_empty() {
            self.add(Item::Lines { lines, stroke: Stroke::solid(Paint::Ground, 1.2) });
        }
        let stroke = Some(Stroke::solid(paint, 1.0));
        let points = vec![from, (to.0, from.1), to, (from.0, to.1)];
        self.add(Item::Area { points, fill: None, stroke });
    }

    /// Adds marks of one shape, `radius` pixels of a page.
    pub(super) fn marks(
        &mut self,
        shape: Shape,
        centres: Vec<Point>,
        radius: f64,
        paint: Paint,
    ) -> &mut Self {
        let size = self.px(radius);
        let fill = Some(Fill { paint, opacity: 1.0 });
        match shape {
            Shape::Circle => self.add(Item::Circles { centres, radius: size, fill, stroke: None }),
            Shape::Cross | Shape::Plus => {
                let lines = centres.iter().flat_map(|centre| strokes(shape, *centre, size)).collect();
                self.add(Item::Lines { lines, stroke: Stroke::solid(paint, 1.6) });
            }
            _ => {
                for centre in centres {
                    self.add(Item::Area { points: corners(shape, centre, size), fill, stroke: None });
                }
            }
        }
        self
    }

    /// Sets the tooltip of the last item.
    pub(super) fn meaning(&mut self, note: String) {
        self.items.last_mut().into_iter().for_each(|drawn| drawn.note.clone_from(&note));
    }

    /// All texts of the drawing.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|drawn| match &drawn.item {
            Item::Label(label) => Some(label.text.as_str()),
            _ => None,
        })
    }
}

/// Corners of a filled shape around `centre`.
pub(super) fn corners(shape: Shape, (x, y): Point, size: f64) -> Vec<Point> {
    let at = |across: f64, down: f64| (x + across * size, y + down * size);
    match shape {
        Shape::Square => vec![at(-0.9, -0.9), at(0.9, -0.9), at(0.9, 0.9), at(-0.9, 0.9)],
        Shape::Up => vec![at(0.0, -1.2), at(1.1, 0.8), at(-1.1, 0.8)],
        Shape::Down => vec![at(0.0, 1.2), at(1.1, -0.8), at(-1.1, -0.8)],
        _ => vec![at(0.0, -1.0), at(1.0, 0.0), at(0.0, 1.0), at(-1.0, 0.0)],
    }
}

fn strokes(shape: Shape, (x, y): Point, size: f64) -> [Vec<Point>; 2] {
    if shape == Shape::Plus {
        [vec![(x - size, y), (x + size, y)], vec![(x, y - size), (x, y + size)]]
    } else {
        [vec![(x - size, y - size), (x + size, y + size)], vec![(x - size, y + size), (x + size, y - size)]]
    }
}

/// The lines of a hatch inside a rectangle.
fn hatch_lines(from: Point, to: Point, hatch: Hatch, pause: f64) -> Vec<Vec<Point>> {
    let (left, right) = (from.0.min(to.0), from.0.max(to.0));
    let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
    let (width, height) = (right - left, bottom - top);
    // More lines cannot be distinguished, and would make large files.
    let steps =
        |length: f64| (1..).map(move |i| f64::from(i) * pause).take_while(move |at| *at < length).take(400);
    let rising = |at: f64| {
        // A line at 45° meets the left side, or the bottom once it is longer than the side; likewise at its
        // other end.
        let (x0, y0) = if at <= height { (left, top + at) } else { (left + at - height, bottom) };
        let (x1, y1) = if at <= width { (left + at, top) } else { (right, top + at - width) };
        vec![(x0, y0), (x1, y1)]
    };
    let mirrored = |line: Vec<Point>| line.into_iter().map(|(x, y)| (left + right - x, y)).collect();
    let slanted = || steps(width + height).map(rising);
    match hatch {
        Hatch::None => Vec::new(),
        Hatch::Rising => slanted().collect(),
        Hatch::Falling => slanted().map(mirrored).collect(),
        Hatch::Level => steps(height).map(|at| vec![(left, top + at), (right, top + at)]).collect(),
        Hatch::Crossed => slanted().chain(slanted().map(mirrored)).collect(),
    }
}
