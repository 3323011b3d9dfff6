//! A drawing as PDF: vectors, and text in an embedded TrueType subset. Equal figures give equal bytes: no time,
//! no host.

use std::collections::BTreeSet;

use pdf_writer::types::{CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::writers::ExtGraphicsState;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use tidegate_core::hash;

use super::drawing::{Anchor, Drawing, Drawn, Fill, Item, Label, Point, Stroke};
use super::font::{self, Subset};
use super::layout;
use super::model::Figure;
use super::style::{Look, Paint, Sheet};

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
const FONT: Ref = Ref::new(6);
const CID_FONT: Ref = Ref::new(7);
const DESCRIPTOR: Ref = Ref::new(8);
const FONT_FILE: Ref = Ref::new(9);
const UNICODE: Ref = Ref::new(10);
/// Glyph numbers are character codes.
const IDENTITY: SystemInfo<'_> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The figure as a PDF of one page in its size on paper.
pub(super) fn file(figure: &Figure, look: Look) -> Vec<u8> {
    let drawing = layout(figure, Sheet::of(look.columns));
    let subset = Subset::of(drawing.texts());
    let page = PdfPage { drawing: &drawing, subset: &subset, greyscale: look.greyscale };
    let (content, opacities) = page.content();
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES).lang(TextStr("en"));
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut info = pdf.document_info(INFO);
    info.title(TextStr(&figure.title)).subject(TextStr(&figure.caption)).creator(TextStr("Tidegate"));
    info.finish();
    let mut leaf = pdf.page(PAGE);
    let sheet = drawing.sheet;
    leaf.parent(PAGES)
        .media_box(Rect::new(0.0, 0.0, short(sheet.width), short(sheet.height)))
        .contents(CONTENT);
    let mut resources = leaf.resources();
    resources.fonts().pair(Name(b"F"), FONT);
    let mut states = resources.ext_g_states();
    for opacity in opacities {
        let mut state = states.insert(Name(&state_name(opacity))).start::<ExtGraphicsState<'_>>();
        let [fill, stroke] = [opacity.0, opacity.1].map(|percent| f32::from(percent) / 100.0);
        state.non_stroking_alpha(fill).stroking_alpha(stroke);
    }
    states.finish();
    resources.finish();
    leaf.finish();
    pdf.stream(CONTENT, &content);
    write_font(&mut pdf, &subset);
    pdf.finish()
}

/// Opacities of areas and of lines, in per cent.
type Opacity = (u8, u8);

/// Name of the graphics state with this opacity.
fn state_name((fill, stroke): Opacity) -> Vec<u8> {
    format!("G{fill}-{stroke}").into_bytes()
}

/// A coordinate rounded to a hundredth of a point.
fn short(value: f64) -> f32 {
    ((value * 100.0).round() / 100.0) as f32
}

struct PdfPage<'a> {
    drawing: &'a Drawing,
    subset: &'a Subset,
    greyscale: bool,
}

impl PdfPage<'_> {
    /// The page's content, and the opacities it uses.
    fn content(&self) -> (Vec<u8>, BTreeSet<Opacity>) {
        let mut content = Content::new();
        let mut opacities = BTreeSet::new();
        content.set_line_cap(LineCapStyle::ButtCap).set_line_join(LineJoinStyle::RoundJoin);
        for drawn in &self.drawing.items {
            // Colours, dashes and opacity of an item must not reach the next one.
            content.save_state();
            self.item(&mut content, drawn, &mut opacities);
            content.restore_state();
        }
        (content.finish().into_vec(), opacities)
    }

    fn item(&self, content: &mut Content, drawn: &Drawn, opacities: &mut BTreeSet<Opacity>) {
        match &drawn.item {
            Item::Lines { lines, stroke } => {
                self.looks(content, None, Some(stroke), opacities);
                lines.iter().for_each(|line| self.path(content, line));
                paint(content, false, true);
            }
            Item::Area { points, fill, stroke } => {
                self.looks(content, fill.as_ref(), stroke.as_ref(), opacities);
                self.path(content, points);
                content.close_path();
                paint(content, fill.is_some(), stroke.is_some());
            }
            Item::Circles { centres, radius, fill, stroke } => {
                self.looks(content, fill.as_ref(), stroke.as_ref(), opacities);
                centres.iter().for_each(|centre| self.circle(content, *centre, *radius));
                paint(content, fill.is_some(), stroke.is_some());
            }
            Item::Label(label) => self.label(content, label),
        }
    }

    fn looks(
        &self,
        content: &mut Content,
        fill: Option<&Fill>,
        stroke: Option<&Stroke>,
        opacities: &mut BTreeSet<Opacity>,
    ) {
        let percent = |opacity: Option<f64>| (opacity.unwrap_or(1.0) * 100.0).round() as u8;
        let opacity = (percent(fill.map(|fill| fill.opacity)), percent(stroke.map(|stroke| stroke.opacity)));
        // Opaque is the initial state, so that most figures need no transparency.
        if opacity != (100, 100) {
            opacities.insert(opacity);
            content.set_parameters(Name(&state_name(opacity)));
        }
        if let Some(fill) = fill {
            let [r, g, b] = self.colour(fill.paint);
            content.set_fill_rgb(r, g, b);
        }
        if let Some(stroke) = stroke {
            let [r, g, b] = self.colour(stroke.paint);
            content.set_stroke_rgb(r, g, b).set_line_width(short(self.drawing.px(stroke.width)));
            if !stroke.dash.is_empty() {
                content.set_dash_pattern(stroke.dash.iter().map(|part| short(self.drawing.px(*part))), 0.0);
            }
        }
    }

    /// Red, green and blue, 0 to 1.
    fn colour(&self, paint: Paint) -> [f32; 3] {
        let digits = paint.colour(self.greyscale).trim_start_matches('#');
        [0, 2, 4].map(|at| {
            let part = digits.get(at..at + 2).and_then(|part| u8::from_str_radix(part, 16).ok()).unwrap_or(0);
            (f32::from(part) / 255.0 * 1000.0).round() / 1000.0
        })
    }

    /// Coordinates on the page, whose y grows upwards.
    fn place(&self, (x, y): Point) -> (f32, f32) {
        (short(x), short(self.drawing.sheet.height - y))
    }

    fn path(&self, content: &mut Content, points: &[Point]) {
        for (position, point) in points.iter().enumerate() {
            let (x, y) = self.place(*point);
            if position == 0 {
                content.move_to(x, y);
            } else {
                content.line_to(x, y);
            }
        }
    }

    /// Four Bézier curves, off by 0.03 % of the radius.
    fn circle(&self, content: &mut Content, centre: Point, radius: f64) {
        const BEND: f64 = 0.552_285;
        let at = |across: f64, down: f64| self.place((centre.0 + across * radius, centre.1 + down * radius));
        let (x, y) = at(1.0, 0.0);
        content.move_to(x, y);
        for (c, s) in [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
            let (x1, y1) = at(c - BEND * s, s + BEND * c);
            let (x2, y2) = at(-s + BEND * c, c + BEND * s);
            let (x3, y3) = at(-s, c);
            content.cubic_to(x1, y1, x2, y2, x3, y3);
        }
        content.close_path();
    }

    fn label(&self, content: &mut Content, label: &Label) {
        let size = self.drawing.sheet.text * label.scale;
        let width = font::width(&label.text, size);
        // PDF places text by its start only.
        let back = match label.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let [r, g, b] = self.colour(label.paint);
        // Identity-H: a code is a glyph number in two bytes.
        let codes: Vec<u8> = self.subset.glyphs_of(&label.text).flat_map(u16::to_be_bytes).collect();
        let matrix = if label.upwards {
            let (x, y) = self.place((label.at.0, label.at.1 + back));
            [0.0, 1.0, -1.0, 0.0, x, y]
        } else {
            let (x, y) = self.place((label.at.0 - back, label.at.1));
            [1.0, 0.0, 0.0, 1.0, x, y]
        };
        content.set_fill_rgb(r, g, b).begin_text().set_font(Name(b"F"), short(size));
        content.set_text_matrix(matrix).show(Str(&codes)).end_text();
    }
}

fn paint(content: &mut Content, is_filled: bool, is_stroked: bool) {
    match (is_filled, is_stroked) {
        (true, true) => content.fill_nonzero_and_stroke(),
        (true, false) => content.fill_nonzero(),
        (false, true) => content.stroke(),
        (false, false) => content.end_path(),
    };
}

/// The font as PDF requires it (ISO 32000-1, 9.7): glyph numbers as codes, and their characters for search and copy.
fn write_font(pdf: &mut Pdf, subset: &Subset) {
    let face = font::face();
    let name = format!("{}+{}", tag(subset), font::POSTSCRIPT_NAME);
    let name = Name(name.as_bytes());
    let thousandths = |units: f64| (units * 1000.0 / f64::from(face.units_per_em())).round() as f32;
    pdf.type0_font(FONT)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(CID_FONT)
        .to_unicode(UNICODE);
    let mut cid = pdf.cid_font(CID_FONT);
    cid.subtype(CidFontType::Type2).base_font(name).system_info(IDENTITY).font_descriptor(DESCRIPTOR);
    // All glyphs of the subset have a width of their own below.
    cid.default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
    cid.widths().consecutive(0, subset.advances.iter().map(|advance| thousandths(f64::from(*advance))));
    cid.finish();
    let bounds = face.global_bounding_box();
    let corner = |x: i16, y: i16| (thousandths(f64::from(x)), thousandths(f64::from(y)));
    let ((left, low), (right, high)) =
        (corner(bounds.x_min, bounds.y_min), corner(bounds.x_max, bounds.y_max));
    pdf.font_descriptor(DESCRIPTOR)
        .name(name)
        // Codes are glyph numbers and not those of a standard character set.
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(left, low, right, high))
        .italic_angle(0.0)
        .ascent(thousandths(f64::from(face.ascender())))
        .descent(thousandths(f64::from(face.descender())))
        .cap_height(thousandths(f64::from(face.capital_height().unwrap_or(face.ascender()))))
        .stem_v(80.0)
        .font_file2(FONT_FILE);
    pdf.stream(FONT_FILE, &subset.file).pair(Name(b"Length1"), subset.file.len() as i32);
    let mut meanings = UnicodeCmap::new(Name(b"Tidegate-UCS"), IDENTITY);
    for (character, glyph) in &subset.glyphs {
        meanings.pair(*glyph, *character);
    }
    pdf.cmap(UNICODE, &meanings.finish());
}

/// Six letters that distinguish subsets of one font when documents are joined: a hash of its characters.
fn tag(subset: &Subset) -> String {
    let characters = subset.glyphs.keys().map(|character| u64::from(u32::from(*character)));
    let digest = characters.fold(hash::EMPTY, hash::fnv1a_word);
    let letter = |place: u32| char::from(b'A' + (digest / 26_u64.pow(place) % 26) as u8);
    (0..6).map(letter).collect()
}
