//! Lines and words of a text, each with its place.

use tidegate_settings::error::{Place, Problems};

/// A part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Text of the piece.
    pub(super) text: &'a str,
    /// Its first byte in the whole text.
    pub(super) start: usize,
}

impl<'a> Piece<'a> {
    /// Place of the piece in the file.
    pub(super) fn place(&self) -> Place {
        Place { origin: 0, start: self.start, end: self.start + self.text.len().max(1) }
    }

    /// Reports an error of the piece.
    pub(super) fn refuse(&self, problems: &mut Problems, message: impl Into<String>) {
        problems.add(self.place(), message.into(), None);
    }

    /// Pieces before and after the first `sign`.
    pub(super) fn split_at(&self, sign: char) -> Option<(Self, Self)> {
        let (before, after) = self.text.split_once(sign)?;
        let start = self.start + before.len() + sign.len_utf8();
        Some((Self { text: before, start: self.start }.trimmed(), Self { text: after, start }.trimmed()))
    }

    /// Without white space around.
    pub(super) fn trimmed(&self) -> Self {
        let text = self.text.trim_start();
        Self { start: self.start + self.text.len() - text.len(), text: text.trim_end() }
    }

    /// Words of the piece; quotes keep words together and are removed.
    pub(super) fn words(&self) -> Vec<Self> {
        let mut words = Vec::new();
        let mut rest = self.trimmed();
        while let Some(first) = rest.text.chars().next() {
            let is_quoted = first == '"' && rest.text.get(1..).is_some_and(|tail| tail.contains('"'));
            let skipped = usize::from(is_quoted);
            let tail = rest.text.get(skipped..).unwrap_or("");
            let end = if is_quoted { tail.find('"') } else { tail.find(char::is_whitespace) };
            let end = end.unwrap_or(tail.len());
            words.push(Self { text: tail.get(..end).unwrap_or(""), start: rest.start + skipped });
            let next = (skipped + end + skipped).min(rest.text.len());
            rest = Self { text: rest.text.get(next..).unwrap_or(""), start: rest.start + next }.trimmed();
        }
        words
    }
}

/// The lines of a text without comments and surrounding white space; empty ones are omitted.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut start = 0;
    let pieces = text.split_inclusive('\n').map(move |line| {
        let piece = Piece { text: line, start };
        start += line.len();
        piece
    });
    let bare = pieces.map(|piece| Piece { text: without_comment(piece.text), ..piece }.trimmed());
    bare.filter(|piece| !piece.text.is_empty())
}

/// The line up to a `#` that starts a word.
fn without_comment(line: &str) -> &str {
    let starts = line.match_indices('#').map(|(at, _)| at);
    let mut comments =
        starts.filter(|at| line.get(..*at).unwrap_or("").chars().next_back().is_none_or(char::is_whitespace));
    comments.next().and_then(|at| line.get(..at)).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_places() {
        let text = "# all\n  a  \"New York, NY\" c#1 # rest\n\n\"open d\n";
        let found: Vec<Vec<(&str, usize)>> = lines(text)
            .map(|line| line.words().iter().map(|word| (word.text, word.start)).collect())
            .collect();
        let first = vec![("a", 8), ("New York, NY", 12), ("c#1", 26)];
        assert_eq!(found, [first, vec![("\"open", 38), ("d", 44)]]);
        for word in found.concat() {
            assert!(text[word.1..].starts_with(word.0));
        }
    }
}
