//! Escapes plain text for a TeX document.

use std::fmt::{self, Write};

/// Text for TeX: special characters are escaped, characters that pdfTeX's fonts lack become commands.
pub(super) struct Tex<'a>(pub(super) &'a str);

impl fmt::Display for Tex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\\' => f.write_str("\\textbackslash{}")?,
                '{' | '}' | '$' | '&' | '#' | '_' | '%' => write!(f, "\\{character}")?,
                '^' => f.write_str("\\textasciicircum{}")?,
                '~' => f.write_str("\\textasciitilde{}")?,
                '<' => f.write_str("\\textless{}")?,
                '>' => f.write_str("\\textgreater{}")?,
                '|' => f.write_str("\\textbar{}")?,
                '"' => f.write_str("\\char34{}")?,
                '`' => f.write_str("\\textasciigrave{}")?,
                other => match named(other) {
                    Some(name) => f.write_str(name)?,
                    None if other.is_whitespace() || other.is_control() => f.write_char(' ')?,
                    None if other.is_ascii() || ('\u{c0}'..='\u{ff}').contains(&other) => {
                        f.write_char(other)?
                    }
                    None => write!(f, "\\tidegatechar{{{:X}}}", u32::from(other))?,
                },
            }
        }
        Ok(())
    }
}

/// Characters that are usual in figures and that every TeX can set.
fn named(character: char) -> Option<&'static str> {
    Some(match character {
        '–' => "--",
        '—' => "---",
        '…' => "\\ldots{}",
        '→' => "$\\rightarrow$",
        '←' => "$\\leftarrow$",
        '±' => "$\\pm$",
        '×' => "$\\times$",
        '·' => "$\\cdot$",
        '−' => "$-$",
        '≤' => "$\\leq$",
        '≥' => "$\\geq$",
        'µ' | 'μ' => "$\\mu$",
        'α' => "$\\alpha$",
        'β' => "$\\beta$",
        'γ' => "$\\gamma$",
        'δ' => "$\\delta$",
        'λ' => "$\\lambda$",
        'σ' => "$\\sigma$",
        'τ' => "$\\tau$",
        '°' => "$^{\\circ}$",
        '’' => "'",
        '“' => "``",
        '”' => "''",
        '\u{a0}' => "~",
        _ => return None,
    })
}

/// Text for a comment: one line.
pub(super) struct Comment<'a>(pub(super) &'a str);

impl fmt::Display for Comment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .chars()
            .try_for_each(|character| f.write_char(if character.is_control() { ' ' } else { character }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_tex_stands_as_itself() {
        assert_eq!(
            Tex("<&\"%$_#\\{}~^").to_string(),
            "\\textless{}\\&\\char34{}\\%\\$\\_\\#\\textbackslash{}\\{\\}\\textasciitilde{}\\textasciicircum{}"
        );
        assert_eq!(Tex("a\nb é α → 漢").to_string(), "a b é $\\alpha$ $\\rightarrow$ \\tidegatechar{6F22}");
        assert_eq!(Comment("a\n\\end").to_string(), "a \\end");
    }
}
