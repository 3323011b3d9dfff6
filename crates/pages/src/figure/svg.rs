//! A drawing as SVG: inside a page, which provides colours and font, or as a self-contained file.

use base64ct::{Base64, Encoding};

use super::drawing::{Anchor, Drawing, Drawn, Fill, Item, Label, Owner, Point, Stroke};
use super::font::{self, Subset};
use super::model::Figure;
use super::style::{COLOURS, Paint, Sheet};
use super::{layout, sfnt};
use crate::figure::Look;
use crate::markup::{Escaped, Markup};

/// Weight of names in a page, which has a bold face.
const NAME: &str = " font-weight=\"600\"";

/// The figure for a page, with colours by class and the font of the page. If the figure omits lines, a second
/// drawing with all of them follows, which the script of the page shows on request.
pub(super) fn inline(figure: &Figure) -> String {
    let Some(whole) = figure.with_lines_aside() else { return drawn_inline(figure, "figure") };
    drawn_inline(figure, "figure") + &drawn_inline(&whole, "figure whole")
}

fn drawn_inline(figure: &Figure, class: &str) -> String {
    let drawing = layout(figure, Sheet::PAGE);
    let mut svg = Writer { out: Markup::default(), unit: 1.0, greyscale: false, is_inline: true };
    let Sheet { width, height, text, .. } = drawing.sheet;
    svg.out.add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" font-family=\"system-ui, Helvetica, Arial, sans-serif\" \
         font-size=\"{text}\"><title>{}</title>\n",
        Escaped(&figure.title)
    ));
    svg.drawing(&drawing);
    svg.out.0.push_str("</svg>\n");
    svg.out.0
}

/// The figure as a separate file, on white, in its printed size and with its font.
pub(super) fn file(figure: &Figure, look: Look) -> String {
    let drawing = layout(figure, Sheet::of(look.columns));
    let (width_mm, height_mm) = look.columns.size_mm();
    let Sheet { width, height, text, .. } = drawing.sheet;
    let mut svg = Writer {
        out: Markup::default(),
        unit: drawing.sheet.unit(),
        greyscale: look.greyscale,
        is_inline: false,
    };
    svg.out.add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.2} {height:.2}\" width=\"{width_mm}mm\" \
         height=\"{height_mm}mm\" role=\"img\" font-family=\"'{0}', 'DejaVu Sans', sans-serif\" font-size=\"{text}\">\
         <title>{1}</title><desc>{2}</desc>\n\
         <style>@font-face{{font-family:'{0}';src:url(data:font/ttf;base64,{3}) format('truetype')}}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        font::FAMILY,
        Escaped(&figure.title),
        Escaped(&figure.caption),
        Base64::encode_string(&sfnt::with_character_map(&Subset::of(drawing.texts())))
    ));
    svg.drawing(&drawing);
    svg.out.0.push_str("</svg>\n");
    svg.out.0
}

struct Writer {
    out: Markup,
    /// Units of one pixel of a page.
    unit: f64,
    greyscale: bool,
    is_inline: bool,
}

impl Writer {
    fn drawing(&mut self, drawing: &Drawing) {
        // Consecutive items only: collecting all items of a series would change what covers what.
        for part in drawing.items.chunk_by(|one, next| one.owner == next.owner) {
            // Only pages have a script that uses groups.
            let is_group = self.is_inline && self.open_group(part);
            for drawn in part {
                self.item(drawn, drawing.sheet.text);
            }
            if is_group {
                self.out.0.push_str("</g>\n");
            }
        }
    }

    /// Opens the group by which the script of a page finds the items of a series; false for items of no
    /// series.
    fn open_group(&mut self, part: &[Drawn]) -> bool {
        let (name, index) = match part.first().map(|drawn| drawn.owner) {
            Some(Owner::Series(index)) => ("series", index),
            Some(Owner::Key(index)) => ("key", index),
            Some(Owner::PlotArea) | None => return false,
        };
        self.out.add(format_args!("<g data-{name}=\"{index}\">\n"));
        true
    }

    fn item(&mut self, drawn: &Drawn, text: f64) {
        let note = if drawn.note.is_empty() {
            String::new()
        } else {
            format!("<title>{}</title>", Escaped(&drawn.note))
        };
        match &drawn.item {
            Item::Lines { lines, stroke } => {
                let path: String = lines.iter().map(|line| path(line)).collect();
                let looks = self.looks(None, Some(stroke));
                self.path(&path, &looks, &note);
            }
            Item::Area { points, fill, stroke } => {
                let looks = self.looks(fill.as_ref(), stroke.as_ref());
                self.path(&(path(points) + "z"), &looks, &note);
            }
            Item::Circles { centres, radius, fill, stroke } => {
                let looks = self.looks(fill.as_ref(), stroke.as_ref());
                for (x, y) in centres {
                    self.out.add(format_args!(
                        "<circle{looks} cx=\"{}\" cy=\"{}\" r=\"{}\">{note}</circle>\n",
                        Short(*x),
                        Short(*y),
                        Short(*radius)
                    ));
                }
            }
            Item::Label(label) => self.label(label, text),
        }
    }

    fn path(&mut self, path: &str, looks: &str, note: &str) {
        if note.is_empty() {
            self.out.add(format_args!("<path{looks} d=\"{path}\"/>\n"));
        } else {
            self.out.add(format_args!("<path{looks} d=\"{path}\">{note}</path>\n"));
        }
    }

    /// Attributes of fill and stroke, with the class by which a page recolours them.
    fn looks(&self, fill: Option<&Fill>, stroke: Option<&Stroke>) -> String {
        let mut looks = Markup::default();
        if self.is_inline {
            let classes =
                [fill.map(|fill| fill_class(fill.paint)), stroke.map(|stroke| stroke_class(stroke.paint))];
            let classes: Vec<String> = classes.into_iter().flatten().collect();
            looks.add(format_args!(" class=\"{}\"", classes.join(" ")));
        }
        match fill {
            Some(fill) => {
                looks.add(format_args!(" fill=\"{}\"", fill.paint.colour(self.greyscale)));
                opacity(&mut looks, "fill", fill.opacity);
            }
            None => looks.0.push_str(" fill=\"none\""),
        }
        if let Some(stroke) = stroke {
            looks.add(format_args!(
                " stroke=\"{}\" stroke-width=\"{}\"",
                stroke.paint.colour(self.greyscale),
                Short(stroke.width * self.unit)
            ));
            opacity(&mut looks, "stroke", stroke.opacity);
            if !stroke.dash.is_empty() {
                let parts: Vec<String> =
                    stroke.dash.iter().map(|part| Short(part * self.unit).to_string()).collect();
                looks.add(format_args!(" stroke-dasharray=\"{}\"", parts.join(" ")));
            }
        }
        looks.0
    }

    fn label(&mut self, label: &Label, size: f64) {
        let anchor = match label.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y) = (Short(label.at.0), Short(label.at.1));
        let place = if label.upwards {
            format!(" transform=\"translate({x} {y}) rotate(-90)\"")
        } else {
            format!(" x=\"{x}\" y=\"{y}\"")
        };
        let class =
            if self.is_inline { format!(" class=\"{}\"", fill_class(label.paint)) } else { String::new() };
        // A file embeds the regular face only.
        let weight = if self.is_inline && label.is_name { NAME } else { "" };
        let scale = if label.scale == 1.0 {
            String::new()
        } else {
            format!(" font-size=\"{}\"", Short(size * label.scale))
        };
        self.out.add(format_args!(
            "<text{class}{place}{anchor} fill=\"{}\"{weight}{scale}>{}</text>\n",
            label.paint.colour(self.greyscale),
            Escaped(&label.text)
        ));
    }
}

fn opacity(looks: &mut Markup, what: &str, opacity: f64) {
    if opacity < 1.0 {
        looks.add(format_args!(" {what}-opacity=\"{opacity}\""));
    }
}

/// Class that recolours an area or a text on dark ground.
fn fill_class(paint: Paint) -> String {
    match paint {
        Paint::Series(index) => format!("f{}", index % COLOURS.len()),
        Paint::Ink => "ink".to_owned(),
        Paint::Soft => "soft".to_owned(),
        Paint::Grid => "gridfill".to_owned(),
        Paint::Ground => "ground".to_owned(),
    }
}

/// Class that recolours a line on dark ground.
fn stroke_class(paint: Paint) -> String {
    match paint {
        Paint::Series(index) => format!("s{}", index % COLOURS.len()),
        Paint::Ink => "inkstroke".to_owned(),
        Paint::Soft => "softstroke".to_owned(),
        Paint::Grid => "grid".to_owned(),
        Paint::Ground => "groundstroke".to_owned(),
    }
}

fn path(points: &[Point]) -> String {
    let mut path = Markup::default();
    for (position, (x, y)) in points.iter().enumerate() {
        path.add(format_args!("{}{} {}", if position == 0 { 'M' } else { 'L' }, Short(*x), Short(*y)));
    }
    path.0
}

/// A number rounded to a hundredth.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if text == "-0" { "0" } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [1.0, 0.126, -0.001, 10.5].map(|value| Short(value).to_string()),
            ["1", "0.13", "0", "10.5"]
        );
    }
}
