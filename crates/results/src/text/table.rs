//! Aligned tables of plain text, as wide as their screen allows.

use super::screen::{Screen, visible};

/// Alignment of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Aligned at the left edge, for text.
    Left,
    /// Aligned at the right edge, for numbers.
    Right,
}

/// Columns between two cells.
const GAP: usize = 2;
/// Maximum length of a word in a head that is not broken in the middle, characters.
const LONGEST_HEAD: usize = 8;

/// Places at which cells and heads may be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breaks {
    /// At spaces; heads also after `_` and `.`.
    Loose,
    /// Texts also after `-`, heads also in the middle of a word.
    Tight,
}

/// A table of plain text. Columns are as wide as their widest cell, or narrower where the screen requires it.
#[derive(Clone, Debug)]
pub struct TextTable {
    head: Vec<(String, Align)>,
    /// Rows of cells, each cell divided into words.
    rows: Vec<Vec<Vec<String>>>,
}

impl TextTable {
    /// A table without rows.
    pub fn new(head: &[(&str, Align)]) -> Self {
        let head = head.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect();
        Self { head, rows: Vec::new() }
    }

    /// A table without rows; columns of texts come first, then columns of numbers, which are aligned on the right.
    pub fn of(texts: &[&str], numbers: &[&str]) -> Self {
        let texts = texts.iter().map(|name| (*name, Align::Left));
        Self::new(&texts.chain(numbers.iter().map(|name| (*name, Align::Right))).collect::<Vec<_>>())
    }

    /// Adds a row; missing cells are empty, control characters become spaces.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<Vec<String>> = cells.into_iter().map(|cell| words(&cell)).collect();
        row.resize(self.head.len(), Vec::new());
        self.rows.push(row);
    }

    /// Names of the columns with their alignment.
    pub fn head(&self) -> &[(String, Align)] {
        &self.head
    }

    /// Cells by row, each on one line.
    pub fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(|cell| cell.join(" ")).collect())
    }

    /// The table in Markdown: head, alignment, rows; `|` is escaped.
    pub fn to_markdown(&self) -> String {
        let escaped = |cell: String| cell.replace('|', "\\|");
        let line = |cells: Vec<String>| {
            format!("| {} |\n", cells.into_iter().map(escaped).collect::<Vec<_>>().join(" | "))
        };
        let heads = self.head.iter().map(|(name, _)| name.clone()).collect();
        let dashes = self.head.iter().map(|(_, align)| match align {
            Align::Left => "---".to_owned(),
            Align::Right => "--:".to_owned(),
        });
        let rows = self.rows().map(line);
        format!("{}{}{}", line(heads), line(dashes.collect()), rows.collect::<String>())
    }

    /// The table: head, a line of dashes, rows; each line ends with `\n` and has no trailing spaces.
    ///
    /// On a screen that is too narrow, first texts, heads and numbers are broken at spaces, and heads after
    /// `_` and `.`; then texts after `-` and long words of heads in the middle. If that is not enough, the
    /// columns are divided into groups, each of which begins with the texts that identify a row.
    pub fn render(&self, screen: Screen) -> String {
        let columns: Vec<usize> = (0..self.head.len()).collect();
        let Some(width) = screen.width else { return self.render_group(&columns, Breaks::Loose, screen) };
        if self.min(&columns, Breaks::Loose) <= width {
            return self.render_group(&columns, Breaks::Loose, screen);
        }
        let groups = self.groups(&columns, width);
        let rendered: Vec<String> =
            groups.iter().map(|group| self.render_group(group, Breaks::Tight, screen)).collect();
        rendered.join("\n")
    }

    /// The columns, in the minimum number of groups that are narrow enough.
    fn groups(&self, columns: &[usize], width: usize) -> Vec<Vec<usize>> {
        let keys: Vec<usize> =
            columns.iter().copied().take_while(|column| self.head[*column].1 == Align::Left).collect();
        let keys = match keys.as_slice() {
            keys if !keys.is_empty() && self.min(keys, Breaks::Tight) <= width / 2 => keys,
            // Wide texts would leave no room for numbers: only the first is repeated in each group.
            _ => &columns[..1],
        };
        let mut groups = vec![keys.to_vec()];
        for &column in &columns[keys.len()..] {
            let last = groups.len() - 1;
            let wider = [groups[last].as_slice(), &[column]].concat();
            // A group has at least one column besides the repeated ones, however wide it is.
            if groups[last].len() == keys.len() || self.min(&wider, Breaks::Tight) <= width {
                groups[last] = wider;
            } else {
                groups.push([keys, &[column]].concat());
            }
        }
        groups
    }

    /// Minimum width of `columns`.
    fn min(&self, columns: &[usize], breaks: Breaks) -> usize {
        let widths = columns.iter().map(|column| self.width_at(*column, 0, breaks));
        widths.sum::<usize>() + GAP * columns.len().saturating_sub(1)
    }

    fn render_group(&self, columns: &[usize], breaks: Breaks, screen: Screen) -> String {
        let widths = self.widths(columns, breaks, screen.width);
        let cells = |of: &dyn Fn(usize, usize) -> Vec<String>| -> Vec<Vec<String>> {
            columns.iter().zip(&widths).map(|(column, width)| of(*column, *width)).collect()
        };
        let heads = cells(&|column, width| head_lines(&self.head[column].0, width, breaks));
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        let head = self.lines(columns, &heads, &widths);
        let mut text: String = head.lines().map(|line| screen.bold(line) + "\n").collect();
        text.push_str(&screen.dim(rule.join(&" ".repeat(GAP)).trim_end()));
        text.push('\n');
        for row in &self.rows {
            let cells = cells(&|column, width| self.cell_lines(row, column, width, breaks));
            text.push_str(&self.lines(columns, &cells, &widths));
        }
        text
    }

    /// Widths of `columns`, together at most `max` if that is possible: the widest is reduced first.
    fn widths(&self, columns: &[usize], breaks: Breaks, max: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = columns.iter().map(|column| self.natural_width(*column)).collect();
        let Some(max) = max else { return widths };
        let min: Vec<usize> = columns.iter().map(|column| self.width_at(*column, 0, breaks)).collect();
        while widths.iter().sum::<usize>() + GAP * (widths.len() - 1) > max {
            let can_give = |place: &usize| widths[*place] > min[*place];
            let Some(place) = (0..widths.len()).filter(can_give).max_by_key(|place| widths[*place]) else {
                return widths;
            };
            widths[place] = self.width_at(columns[place], widths[place] - 1, breaks);
        }
        widths
    }

    /// Width of a column with each cell and the head on one line.
    fn natural_width(&self, column: usize) -> usize {
        self.cells_width(column, usize::MAX, Breaks::Loose).max(visible(&self.head[column].0))
    }

    /// Width of a column whose cells and head are broken after `limit` characters, as far as that is possible.
    fn width_at(&self, column: usize, limit: usize, breaks: Breaks) -> usize {
        let head = head_lines(&self.head[column].0, limit, breaks);
        let head = head.iter().map(|line| visible(line)).max().unwrap_or(0);
        self.cells_width(column, limit, breaks).max(head)
    }

    fn cells_width(&self, column: usize, limit: usize, breaks: Breaks) -> usize {
        let lines = self.rows.iter().flat_map(|row| self.cell_lines(row, column, limit, breaks));
        lines.map(|line| visible(&line)).max().unwrap_or(0)
    }

    /// A cell in lines of at most `limit` characters; a part that cannot be broken has its own line.
    fn cell_lines(&self, row: &[Vec<String>], column: usize, limit: usize, breaks: Breaks) -> Vec<String> {
        let is_broken = breaks == Breaks::Tight && self.head[column].1 == Align::Left;
        let parts = |word: &'_ String| -> Vec<String> {
            let parts = word.split_inclusive('-').map(str::to_owned);
            if is_broken { parts.collect() } else { vec![word.clone()] }
        };
        let pieces = row[column].iter().flat_map(|word| {
            parts(word).into_iter().enumerate().map(|(place, part)| (if place == 0 { " " } else { "" }, part))
        });
        joined(pieces, limit)
    }

    /// A row of `cells`, each of which may have several lines.
    fn lines(&self, columns: &[usize], cells: &[Vec<String>], widths: &[usize]) -> String {
        let count = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let cell = |((column, cell), width): ((&usize, &Vec<String>), &usize)| {
                let text = cell.get(number).map_or("", String::as_str);
                let space = " ".repeat(width.saturating_sub(visible(text)));
                match self.head[*column].1 {
                    Align::Left => format!("{text}{space}"),
                    Align::Right => format!("{space}{text}"),
                }
            };
            let cells: Vec<String> = columns.iter().zip(cells).zip(widths).map(cell).collect();
            format!("{}\n", cells.join(&" ".repeat(GAP)).trim_end())
        };
        (0..count).map(line).collect()
    }
}

/// The words of a cell; the sign of an interval stays with the number after it.
fn words(cell: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in cell.split(|character: char| character.is_whitespace() || character.is_control()) {
        match words.last_mut() {
            // A line that begins with the half width would read as a number of its own.
            Some(last) if last == "±" => last.push_str(&format!(" {word}")),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// The name of a column in lines of at most `limit` characters.
fn head_lines(name: &str, limit: usize, breaks: Breaks) -> Vec<String> {
    let pieces = name.split_inclusive([' ', '_', '.']).map(|piece| ("", piece.to_owned()));
    let lines = joined(pieces, limit).into_iter().map(|line| line.trim_end().to_owned());
    if breaks == Breaks::Loose {
        return lines.collect();
    }
    let halves = |line: String| {
        let length = visible(&line);
        if length <= limit.max(LONGEST_HEAD) {
            return vec![line];
        }
        let (first, second): (Vec<_>, Vec<_>) =
            line.chars().enumerate().partition(|(at, _)| *at < length / 2);
        let text = |half: Vec<(usize, char)>| half.into_iter().map(|(_, c)| c).collect::<String>();
        vec![text(first) + "-", text(second)]
    };
    lines.flat_map(halves).collect()
}

/// Joins pieces, each with its separator unless it begins a line, into lines of at most `limit` characters.
fn joined(pieces: impl Iterator<Item = (&'static str, String)>, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (between, piece) in pieces {
        match lines.last_mut() {
            Some(line) if visible(line) + between.len() + visible(piece.trim_end()) <= limit => {
                line.push_str(between);
                line.push_str(&piece);
            }
            _ => lines.push(piece),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of a run with two flows: names, numbers with intervals, long heads.
    fn wide() -> TextTable {
        let heads =
            ["goodput_mbps", "completion_s", "full_delay_mean_ms", "retransmissions", "timeouts", "marks"];
        let mut head = vec![("flow", Align::Left), ("scheme", Align::Left)];
        head.extend(heads.map(|name| (name, Align::Right)));
        let mut table = TextTable::new(&head);
        let values = ["9.412 ± 0.034", "17.62 ± 0.12", "104.2 ± 1.7", "12.1 ± 3.4", "0", "0"];
        for flow in ["first", "second"] {
            let cells = [flow, "catchunks-cubic"].into_iter().chain(values);
            table.row(cells.map(str::to_owned));
        }
        table
    }

    fn on(width: usize) -> Screen {
        Screen { width: Some(width), is_styled: false }
    }

    #[test]
    fn a_table_in_markdown_aligns_numbers_and_escapes_bars() {
        let mut table = TextTable::new(&[("what", Align::Left), ("|value|", Align::Right)]);
        table.row(["mean |ln|".to_owned(), "12.3 ± 0.4".to_owned()]);
        assert_eq!(
            table.to_markdown(),
            "| what | \\|value\\| |\n| --- | --: |\n| mean \\|ln\\| | 12.3 ± 0.4 |\n"
        );
    }

    #[test]
    fn a_table_fits_every_screen_and_keeps_every_cell() {
        for width in [40, 60, 80, 100, 200] {
            let text = wide().render(on(width));
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(longest <= width, "{width}: {longest}\n{text}");
            for word in ["first", "second", "9.412", "± 0.034", "± 1.7", "catchunks-"] {
                assert!(text.contains(word), "{width}: {word}\n{text}");
            }
        }
    }

    #[test]
    fn heads_are_broken_before_numbers_are() {
        let text = wide().render(on(100));
        assert!(text.contains("9.412 ± 0.034") && text.contains("full_delay_"), "{text}");
        assert!(!text.contains("full_delay_mean_ms"), "{text}");
    }

    #[test]
    fn long_words_are_broken_before_columns_are_taken_apart() {
        let text = wide().render(on(76));
        assert_eq!(text.matches("first").count(), 1, "{text}");
        assert!(text.contains("retrans-") && text.contains("missions"), "{text}");
        assert!(wide().render(on(50)).matches("first").count() > 1);
    }

    #[test]
    fn what_does_not_fit_beside_each_other_follows_with_the_first_column_again() {
        let mut table = TextTable::new(&[("name", Align::Left), ("a", Align::Left), ("b", Align::Left)]);
        table.row(["x", "aaaaaaaaaa", "bbbbbbbbbb"].map(str::to_owned));
        let expected =
            "name  a\n----  ----------\nx     aaaaaaaaaa\n\nname  b\n----  ----------\nx     bbbbbbbbbb\n";
        assert_eq!(table.render(on(20)), expected);
        assert_eq!(table.render(Screen::PLAIN).lines().count(), 3);
    }

    #[test]
    fn long_cells_are_broken_where_the_screen_is_narrower() {
        let mut table = TextTable::new(&[("quantity", Align::Left), ("n", Align::Right)]);
        table.row(["largest decrease of completion time over alpha, ICP".to_owned(), "10".to_owned()]);
        let expected = [
            "quantity                              n",
            "-----------------------------------  --",
            "largest decrease of completion time  10",
            "over alpha, ICP",
            "",
        ];
        assert_eq!(table.render(on(39)), expected.join("\n"));
        for wide_enough in [Screen::PLAIN, on(400)] {
            assert_eq!(table.render(wide_enough).lines().count(), 3);
        }
    }

    #[test]
    fn columns_line_up_and_lines_end_without_spaces() {
        let mut table = TextTable::new(&[("name", Align::Left), ("n", Align::Right)]);
        table.row(["é".to_owned(), "10".to_owned()]);
        table.row(["longer\nname".to_owned()]);
        let expected = "name          n\n-----------  --\né            10\nlonger name\n";
        assert_eq!(table.render(Screen::PLAIN), expected);
    }
}
