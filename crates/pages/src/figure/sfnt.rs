//! The subset of the font as a separate TrueType file, for SVG.
//!
//! A PDF has its own character map, so that the subsetter omits that of the font; a browser needs it, and the
//! metrics.

use ttf_parser::Tag;

use super::font::{self, Subset};

/// Bytes of a file's head, and of one entry of its list of tables.
const HEAD: usize = 12;
const ENTRY: usize = 16;

/// The subset's file with character map and metrics.
pub(super) fn with_character_map(subset: &Subset) -> Vec<u8> {
    let mut tables = tables(&subset.file);
    tables.push((*b"cmap", character_map(subset)));
    // Those of the whole font, which the subset shares.
    let metrics = font::face().raw_face().table(Tag::from_bytes(b"OS/2"));
    tables.push((*b"OS/2", metrics.unwrap_or_default().to_vec()));
    if !tables.iter().any(|(tag, _)| tag == b"post") {
        tables.push((*b"post", nameless_glyphs()));
    }
    // The list of tables has to be in ascending order of tags (OpenType 1.9, Table Directory).
    tables.sort();
    assembled(&tables)
}

/// The tables of a font file.
fn tables(file: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let number = |at: usize| {
        file.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes)
    };
    let count = usize::from(u16::from_be_bytes([file[4], file[5]]));
    let table = |index: usize| {
        let entry = HEAD + index * ENTRY;
        let tag: [u8; 4] = file.get(entry..entry + 4)?.try_into().ok()?;
        let (start, length) = (number(entry + 8) as usize, number(entry + 12) as usize);
        Some((tag, file.get(start..start.checked_add(length)?)?.to_vec()))
    };
    (0..count).filter_map(table).collect()
}

/// `cmap` with one subtable of format 12: groups of characters (OpenType 1.9, cmap).
fn character_map(subset: &Subset) -> Vec<u8> {
    let groups = subset.glyphs.len() as u32;
    let mut map = Vec::new();
    // Version 0 with one subtable, for Windows (3) with full Unicode (10).
    for half in [0_u16, 1, 3, 10] {
        map.extend(half.to_be_bytes());
    }
    map.extend(12_u32.to_be_bytes());
    // Format 12 and a reserved field of zero.
    map.extend([0, 12, 0, 0]);
    // Length of the subtable, language, number of groups.
    for whole in [16 + 12 * groups, 0, groups] {
        map.extend(whole.to_be_bytes());
    }
    for (character, glyph) in &subset.glyphs {
        for whole in [u32::from(*character), u32::from(*character), u32::from(*glyph)] {
            map.extend(whole.to_be_bytes());
        }
    }
    map
}

/// `post` of version 3: no names of glyphs.
fn nameless_glyphs() -> Vec<u8> {
    let mut post = vec![0; 32];
    post[1] = 3;
    post
}

fn assembled(tables: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let count = tables.len() as u16;
    let power = count.max(1).ilog2() as u16;
    let range = 16 << power;
    let mut file = vec![0, 1, 0, 0];
    // Number of tables and the fields for a binary search over them.
    for half in [count, range, power, count * 16 - range] {
        file.extend(half.to_be_bytes());
    }
    let mut start = HEAD + ENTRY * tables.len();
    for (tag, table) in tables {
        file.extend(tag);
        for whole in [checksum(table), start as u32, table.len() as u32] {
            file.extend(whole.to_be_bytes());
        }
        start += table.len().next_multiple_of(4);
    }
    for (_, table) in tables {
        file.extend(table);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    file
}

fn checksum(table: &[u8]) -> u32 {
    let word = |bytes: &[u8]| {
        bytes.iter().chain(&[0; 3]).take(4).fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
    };
    table.chunks(4).fold(0, |sum, bytes| sum.wrapping_add(word(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subset_maps_each_character_to_the_glyph_of_the_font() {
        let text = "Mbit/s ± 95 % αλΩ é";
        let file = with_character_map(&Subset::of([text]));
        assert!(file.len() < 40_000, "{}", file.len());
        let face = ttf_parser::Face::parse(&file, 0).expect("a font");
        for (character, glyph) in font::shown(text) {
            let own = face.glyph_index(character).expect("mapped");
            assert_eq!(face.glyph_hor_advance(own).map(u32::from), Some(font::advance(glyph)), "{character}");
            assert_eq!(face.glyph_bounding_box(own), font::face().glyph_bounding_box(glyph), "{character}");
        }
        assert_eq!(face.glyph_index('Z'), None);
    }
}
