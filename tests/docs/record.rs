//! The records of runs, `docs/papers/values/*.md`: their claims, their tables, and numbers as they are written.

use std::fs;

use crate::root;

/// A number as it is written: its value, and half of its last digit.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    pub value: f64,
    rounding: f64,
}

impl Written {
    /// The number at the end of `text`, and what stands before it.
    fn last(text: &str) -> Option<(&str, Self)> {
        let is_part = |letter: char| letter.is_ascii_digit() || ".,-e".contains(letter);
        let begin = text.char_indices().rev().take_while(|(_, letter)| is_part(*letter)).last()?.0;
        let digits = text[begin..].replace(',', "");
        let rounding = match digits.split_once('.') {
            Some((_, decimals)) if !decimals.contains('e') => 0.5 * 0.1_f64.powi(decimals.len() as i32),
            _ => 0.5,
        };
        Some((&text[..begin], Self { value: digits.parse().ok()?, rounding }))
    }

    /// Whether it is the recorded number, up to the rounding of both.
    fn is(self, recorded: Self) -> bool {
        (self.value - recorded.value).abs() <= (self.rounding + recorded.rounding) * 1.000_001
    }

    fn scaled(self, factor: f64) -> Self {
        Self { value: self.value * factor, rounding: self.rounding * factor.abs() }
    }
}

/// A mean, and half of its interval.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub mean: Written,
    pub half: Option<Written>,
}

impl Interval {
    /// The value at the end of `text`; without ± it has no interval.
    pub fn last(text: &str) -> Option<Self> {
        let (before, last) = Written::last(text)?;
        let Some(before) = before.strip_suffix("± ") else { return Some(Self { mean: last, half: None }) };
        let (_, mean) = Written::last(before.trim_end())?;
        Some(Self { mean, half: Some(last) })
    }

    /// The value at the beginning of `text`, which may go on with a unit.
    fn first(text: &str) -> Option<Self> {
        let is_number = |word: &&str| {
            *word == "±" || word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-')
        };
        let words: Vec<&str> = text.split(' ').take_while(is_number).collect();
        Self::last(&words.join(" "))
    }

    /// All values with an interval in a text.
    pub fn all(text: &str) -> Vec<Self> {
        let ends = text.match_indices("± ").filter_map(|(at, sign)| {
            let after = &text[at + sign.len()..];
            let length = after.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
            let number = after[..length.unwrap_or(after.len())].trim_end_matches('.');
            Self::last(&text[..at + sign.len() + number.len()])
        });
        ends.collect()
    }

    /// Whether it is the recorded value; an interval may be left out.
    pub fn is(self, recorded: Self) -> bool {
        let is_half = match (self.half, recorded.half) {
            (Some(own), Some(recorded)) => own.is(recorded),
            (own, _) => own.is_none(),
        };
        is_half && self.mean.is(recorded.mean)
    }

    /// The value times a factor.
    pub fn scaled(self, factor: f64) -> Self {
        Self { mean: self.mean.scaled(factor), half: self.half.map(|half| half.scaled(factor.abs())) }
    }

    /// What it differs from 1, in per cent; `sign` is -1 for what it is below 1.
    pub fn beyond_one(self, sign: f64) -> Self {
        let mut percent = self.scaled(100.0 * sign);
        percent.mean.value -= 100.0 * sign;
        percent
    }

    /// The ratio of two means, without an interval.
    pub fn over(self, other: Self) -> Self {
        let (own, other) = (self.mean, other.mean);
        let value = own.value / other.value;
        let relative = own.rounding / own.value.abs() + other.rounding / other.value.abs();
        Self { mean: Written { value, rounding: value.abs() * relative }, half: None }
    }
}

/// The record of a paper; `name` may end with `-full`.
pub fn record(name: &str) -> String {
    let file = format!("docs/papers/values/{name}.md");
    fs::read_to_string(root().join(&file)).unwrap_or_else(|why| panic!("{file}: {why}"))
}

/// The value of a claim in a record, without its unit.
pub fn claim(record: &str, id: &str) -> Option<Interval> {
    let row = record.lines().find_map(|line| line.strip_prefix(&format!("| {id} | ")))?;
    Interval::first(row.split(" | ").nth(3)?)
}

/// The value in a table of a record: `path` is the title, the first cells of the row, and the column (its heading, or `#3`
/// for the third one). A part may be shortened if only one title, row or heading begins with it.
pub fn cell(record: &str, path: &[&str]) -> Option<Interval> {
    let (title, rest) = path.split_first()?;
    let (column, row) = rest.split_last()?;
    let tables: Vec<&str> = record.split("\n## ").skip(1).collect();
    let titles: Vec<Vec<&str>> =
        tables.iter().map(|table| vec![table.lines().next().unwrap_or("")]).collect();
    let mut lines = tables[only(&titles, &[title])?].lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        Some(cells.split(" | ").collect::<Vec<_>>())
    });
    let headings: Vec<Vec<&str>> = lines.next()?.into_iter().map(|heading| vec![heading]).collect();
    let rows: Vec<Vec<&str>> = lines.skip(1).collect();
    let column = match column.strip_prefix('#') {
        Some(number) => number.parse::<usize>().ok()?.checked_sub(1)?,
        None => only(&headings, &[column])?,
    };
    Interval::first(rows[only(&rows, row)?].get(column)?)
}

/// The index of the only item whose cells begin with these parts; a cell that is equal to a part is preferred.
fn only(items: &[Vec<&str>], parts: &[&str]) -> Option<usize> {
    let mut found: Vec<usize> = (0..items.len()).collect();
    for (at, part) in parts.iter().enumerate() {
        found.retain(|index| items[*index].get(at).is_some_and(|cell| cell.starts_with(part)));
        if found.iter().any(|index| items[*index][at] == *part) {
            found.retain(|index| items[*index][at] == *part);
        }
    }
    (found.len() == 1).then(|| found[0])
}
