//! Figures of a board that show a claim, by the claim's place in the paper.

use super::Claim;

impl Claim {
    /// Whether the figure with this id shows what the claim is about: it is the one that the claim names, or its id
    /// stands for a figure or table of the claim's place. `Fig. 7` is `fig7` and its parts `fig7a`, `fig7b`;
    /// `Tab. 4` is `table4`; what follows a hyphen (`table4-phases`) is an addition to the paper's own.
    pub fn is_shown_in(&self, figure: &str) -> bool {
        match &self.figure {
            Some(named) => named == figure,
            None => stems(&self.place).any(|stem| is_of(figure, &stem)),
        }
    }
}

/// The figures and tables that a place names, as ids: `Fig. 7a, VI.B` gives `fig7a`, and `Tab. IV` gives `table4`.
fn stems(place: &str) -> impl Iterator<Item = String> {
    place.split([',', ';']).filter_map(|part| {
        let (word, rest) = part.trim().split_once(' ')?;
        let kind = match word {
            "Fig." | "Figure" => "fig",
            "Tab." | "Table" => "table",
            _ => return None,
        };
        let number = rest.split_whitespace().next()?;
        if number.starts_with(|digit: char| digit.is_ascii_digit()) {
            return Some(format!("{kind}{number}"));
        }
        roman(number).map(|number| format!("{kind}{number}"))
    })
}

/// The value of a Roman number below 40; `None` for anything else, such as `IIX`.
fn roman(text: &str) -> Option<usize> {
    const ONES: [&str; 10] = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"];
    (1..40).find(|number| format!("{}{}", "X".repeat(number / 10), ONES[number % 10]) == text)
}

fn is_of(figure: &str, stem: &str) -> bool {
    let Some(rest) = figure.strip_prefix(stem) else { return false };
    // `Fig. 7` names all of its parts, `Fig. 7a` only itself.
    let is_whole = stem.ends_with(|last: char| last.is_ascii_digit());
    match rest.chars().next() {
        None | Some('-') => true,
        Some(part) => is_whole && part.is_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<'a>(place: &str, figures: &[&'a str]) -> Vec<&'a str> {
        let stems: Vec<String> = stems(place).collect();
        figures.iter().copied().filter(|figure| stems.iter().any(|stem| is_of(figure, stem))).collect()
    }

    #[test]
    fn a_place_names_its_figures_and_tables() {
        let figures =
            ["fig7a", "fig7b", "fig7b-decrease", "fig71", "fig8", "table4", "table4-phases", "delay"];
        assert_eq!(shown("Fig. 7b, VI.B", &figures), ["fig7b", "fig7b-decrease"]);
        assert_eq!(shown("Fig. 7", &figures), ["fig7a", "fig7b", "fig7b-decrease"]);
        assert_eq!(shown("Tab. 4, Tab. 5", &figures), ["table4", "table4-phases"]);
        assert_eq!(shown("5, Fig. 8", &figures), ["fig8"]);
        assert_eq!(shown("VI.B, Table IV", &figures), ["table4", "table4-phases"]);
        assert!(shown("VI.B", &figures).is_empty() && shown("Tab. I", &figures).is_empty());
        let numbers = ["I", "IX", "XIV", "XXXIX", "IIX", "XIVa", "", "C"].map(roman);
        assert_eq!(numbers, [Some(1), Some(9), Some(14), Some(39), None, None, None, None]);
    }
}
