//! The font of figure files: DejaVu Sans Condensed, and the subset of it that a file embeds.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use subsetter::GlyphRemapper;
use ttf_parser::{Face, GlyphId};

/// Name of the font family.
pub(super) const FAMILY: &str = "DejaVu Sans Condensed";
/// Name of the font in PostScript.
pub(super) const POSTSCRIPT_NAME: &str = "DejaVuSansCondensed";
/// Replaces characters that the font does not have.
const REPLACEMENT: char = '\u{fffd}';

/// The font that measures and sets all text of figures.
pub(super) fn face() -> &'static Face<'static> {
    static FACE: OnceLock<Face<'static>> = OnceLock::new();
    FACE.get_or_init(|| {
        Face::parse(dejavu::sans_condensed::regular(), 0).expect("the font that comes with the crate")
    })
}

/// The text with one glyph per character; control and unknown characters are replaced.
pub(super) fn shown(text: &str) -> impl Iterator<Item = (char, GlyphId)> + '_ {
    text.chars().map(|character| {
        let character = if character.is_whitespace() { ' ' } else { character };
        let known = |character| face().glyph_index(character).map(|glyph| (character, glyph));
        let fallback = (REPLACEMENT, GlyphId(0));
        Some(character)
            .filter(|c| !c.is_control())
            .and_then(known)
            .or_else(|| known(REPLACEMENT))
            .unwrap_or(fallback)
    })
}

/// Width of a text of `size`, in the unit of `size`.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let units: u32 = shown(text).map(|(_, glyph)| advance(glyph)).sum();
    f64::from(units) * size / f64::from(face().units_per_em())
}

/// Advance of a glyph, font units.
pub(super) fn advance(glyph: GlyphId) -> u32 {
    face().glyph_hor_advance(glyph).unwrap_or(0).into()
}

/// Subset of the font for some texts.
pub(super) struct Subset {
    /// The file, as PDF takes it: without a character map.
    pub(super) file: Vec<u8>,
    /// Each character with its glyph in the subset, by character.
    pub(super) glyphs: BTreeMap<char, u16>,
    /// Advance of each glyph of the subset, font units; glyph 0 is the one for unknown characters.
    pub(super) advances: Vec<u32>,
}

impl Subset {
    /// Subset with the characters of `texts`; the same texts give the same bytes.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        // Sorted by character, so that the order of the texts has no influence on the file.
        let used: BTreeMap<char, GlyphId> = texts.into_iter().flat_map(shown).collect();
        let mut remapper = GlyphRemapper::new();
        let mut advances = vec![advance(GlyphId(0))];
        let mut glyphs = BTreeMap::new();
        for (character, glyph) in used {
            let new = remapper.remap(glyph.0);
            // Several characters can have the same glyph, whose advance is added once.
            if usize::from(new) == advances.len() {
                advances.push(advance(glyph));
            }
            glyphs.insert(character, new);
        }
        let file = subsetter::subset(dejavu::sans_condensed::regular(), 0, &remapper);
        Self { file: file.expect("the font that comes with the crate"), glyphs, advances }
    }

    /// Glyphs of a text, in order.
    pub(super) fn glyphs_of<'a>(&'a self, text: &'a str) -> impl Iterator<Item = u16> + 'a {
        shown(text).map(|(character, _)| self.glyphs.get(&character).copied().unwrap_or(0))
    }
}
