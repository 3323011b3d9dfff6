//! Command lines as text: what a results folder keeps of the command that made it, which shells take and `report` reads.

/// `text` as one word of a shell, always in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// `text` as one word of a shell, in quotes only where it needs them.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted(text) }
}

/// Maximum number of known names in a message.
const MAX_NAMES: usize = 20;

/// The known names for a message about an unknown one, as far as it has room for them: `a, b and 5 more`.
pub(crate) fn listed<'a>(known: impl Iterator<Item = &'a str> + Clone) -> String {
    let text = known.clone().take(MAX_NAMES).collect::<Vec<_>>().join(", ");
    match known.skip(MAX_NAMES).count() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// The words of a line made by [`quoted`] and [`word`]; `None` if a quote is left open.
pub(crate) fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut rest = line.trim().chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(rest.next()?),
            // `take` of no word adds nothing, so several blanks in a row separate only once. `''` is an empty
            // word.
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_twentieth_are_counted() {
        let names: Vec<String> = (1..=25).map(|number| number.to_string()).collect();
        let first = |count: usize| listed(names.iter().take(count).map(String::as_str));
        assert_eq!([first(1), first(2)], ["1", "1, 2"]);
        assert!(first(20).ends_with(", 20") && first(25).ends_with(", 20 and 5 more"), "{}", first(25));
    }

    #[test]
    fn words_come_back_from_a_line_as_they_were() {
        for text in ["a", "", "two words", "it's", "{ name = \"icp\", x = 'y' }", "\\", "a'b'c\\ d"] {
            for line in [format!("run {} --x", quoted(text)), format!("run {} --x", word(text))] {
                assert_eq!(words(&line), Some(vec!["run".into(), text.into(), "--x".into()]), "{line}");
            }
        }
        assert_eq!(words("run 'open"), None);
        assert_eq!(word("scenarios/examples/dumbbell.toml"), "scenarios/examples/dumbbell.toml");
    }
}
