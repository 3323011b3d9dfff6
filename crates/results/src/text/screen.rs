//! Terminal properties: width of lines, and whether styles are supported.

use anstyle::{AnsiColor, Style};

/// Destination of text, with its width and style support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// Columns of a terminal; `None` for a file or a pipe, where lines are as long as they need to be.
    pub width: Option<usize>,
    /// Whether escape sequences may set weight and colour.
    pub is_styled: bool,
}

/// Indentation of continuation lines, spaces, unless the line has a label.
const INDENT: usize = 2;
/// Maximum width of a label, columns.
const WIDEST_LABEL: usize = 24;

impl Screen {
    /// A file or a pipe.
    pub const PLAIN: Self = Self { width: None, is_styled: false };

    /// A head or a label.
    pub fn bold(self, text: &str) -> String {
        self.styled(Style::new().bold(), text)
    }

    /// Styles text as less important.
    pub fn dim(self, text: &str) -> String {
        self.styled(Style::new().dimmed(), text)
    }

    /// Styles text that reports a success.
    pub fn green(self, text: &str) -> String {
        self.styled(AnsiColor::Green.on_default(), text)
    }

    /// Styles text as a warning.
    pub fn yellow(self, text: &str) -> String {
        self.styled(AnsiColor::Yellow.on_default(), text)
    }

    /// Styles text that reports a failure.
    pub fn red(self, text: &str) -> String {
        self.styled(AnsiColor::Red.on_default(), text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        if self.is_styled && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Breaks every line of `text` that is too long at spaces. Further lines are indented; under a label,
    /// which two spaces end, they are aligned with the text after it.
    pub fn fold(self, text: &str) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        text.split_inclusive('\n').map(|line| fold_line(line, width)).collect()
    }
}

fn fold_line(line: &str, width: usize) -> String {
    if visible(line.trim_end()) <= width {
        return line.to_owned();
    }
    // Beside a wide label on a narrow screen there would be no room for text.
    let indent = hanging_indent(line).min(width / 2);
    let (mut folded, mut used) = (String::new(), 0);
    // Leading spaces of a word are those of the line itself, so that labels keep their distance.
    for word in line.trim_end().split_inclusive(' ') {
        let length = visible(word.trim_end());
        if used > indent && used + length > width {
            folded.truncate(folded.trim_end().len());
            folded.push_str(&format!("\n{}", " ".repeat(indent)));
            used = indent;
        }
        folded.push_str(word);
        used += visible(word);
    }
    folded.push_str(&line[line.trim_end().len()..]);
    folded
}

/// Indentation of the further lines of `line`, columns.
fn hanging_indent(line: &str) -> usize {
    let leading = line.len() - line.trim_start().len();
    let rest = &line[leading..];
    let Some(end) = rest.find("  ").filter(|end| *end <= WIDEST_LABEL) else { return leading + INDENT };
    let text = rest[end..].trim_start();
    leading + visible(&rest[..rest.len() - text.len()])
}

/// Columns that `text` takes; escape sequences take none.
pub(super) fn visible(text: &str) -> usize {
    let mut is_escape = false;
    let counts = |c: &char| {
        let was_escape = is_escape;
        // Styles end with `m`; no other sequences are written.
        is_escape = *c == '\x1b' || is_escape && *c != 'm';
        !(was_escape || is_escape)
    };
    text.chars().filter(counts).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: Screen = Screen { width: Some(20), is_styled: false };

    #[test]
    fn a_long_line_goes_on_under_its_text() {
        let folded = NARROW.fold("short\nwarning: one two three four five\nroles   a long list of them\n");
        let expected = "short\nwarning: one two\n  three four five\nroles   a long list\n        of them\n";
        assert_eq!(folded, expected);
    }

    #[test]
    fn a_word_that_is_longer_than_the_screen_stays_whole() {
        let path = "report  results/dumbbell-0123456789/report.html\n";
        assert_eq!(
            NARROW.fold(path).split_whitespace().last(),
            Some("results/dumbbell-0123456789/report.html")
        );
        assert_eq!(NARROW.fold(&"x".repeat(50)), "x".repeat(50));
    }

    #[test]
    fn a_pipe_gets_every_line_as_it_is() {
        let text = "a line of many words ".repeat(20);
        assert_eq!(Screen::PLAIN.fold(&text), text);
    }

    #[test]
    fn styles_take_no_room_and_are_left_out_where_they_are_not_requested() {
        let screen = Screen { width: None, is_styled: true };
        let bold = screen.bold("head");
        assert_eq!((visible(&bold), bold.len() > 4), (4, true));
        assert_eq!(Screen::PLAIN.red("bad"), "bad");
    }
}
