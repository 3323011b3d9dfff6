//! Numbers on the pages of the papers are those of the runs on record, `docs/papers/values/*.md`.
//!
//! `reproduce` writes these files as `values.md`; `tests/cli/papers.rs` compares a run with them. On a page, a value with an
//! interval, `12.3 ± 0.4`, has to be one of a record. A mark directly behind a number states its source:
//!
//! * `<!-- CLAIM -->`: a claim, by its id;
//! * `<!-- TITLE / CELL / CELL / COLUMN -->`: a table of the record, the first cells of a row, and the heading of a column,
//!   each as far as it is unique; `#3` is the third column;
//! * `<!-- A ÷ B -->`: the ratio of two such values.
//!
//! It may end with `full` (the record with `--full`), `x100` (the value times 100), `above` or `below` (what a ratio is
//! above or below 1, in per cent).
//!
//! Every other number with a decimal point or a unit (see [`UNITS`]) has to be in the page's list of numbers that are not
//! results, `<!-- not results: 25.6 %; 10 ms -->`: published values, parameters, constants. Sections on the paper and on
//! the set-up, code and made parts are exempt. Whole numbers without a unit are not recognised.

use std::collections::BTreeSet;
use std::fs;

use crate::record::{Interval, cell, claim, record};
use crate::root;

/// Factors between a record and a value with an interval in a sentence: per cent, milliseconds, and a fall in place of a rise.
const FACTORS: [f64; 5] = [1.0, 100.0, 1000.0, -1.0, -100.0];
/// Units that distinguish a quantity from a name or a count.
const UNITS: [&str; 7] = ["%", "ms", "s", "Mbit/s", "Mbyte", "times", "decades"];
/// Sections whose numbers are published ones and parameters.
const EXEMPT: [&str; 2] = ["What the paper says", "How we set it up"];
/// Stands for a number that has a mark.
const MARKED: char = '§';
const LIST: &str = "not results: ";

/// The value that a mark names.
fn marked_value(mark: &str, records: [&str; 2]) -> Option<Interval> {
    let mut mark = mark;
    let (mut factor, mut beyond, mut record) = (1.0, None, records[0]);
    while let Some((rest, word)) = mark.rsplit_once(' ') {
        match word {
            "full" => record = records[1],
            "above" => beyond = Some(1.0),
            "below" => beyond = Some(-1.0),
            _ => match word.strip_prefix('x').and_then(|number| number.parse().ok()) {
                Some(number) => factor = number,
                None => break,
            },
        }
        mark = rest;
    }
    let value = |source: &str| match source.contains(" / ") {
        true => cell(record, &source.split(" / ").collect::<Vec<_>>()),
        false => claim(record, source),
    };
    let found = match mark.split_once(" ÷ ") {
        Some((own, other)) => value(own)?.over(value(other)?),
        None => value(mark)?,
    };
    Some(beyond.map_or(found, |sign| found.beyond_one(sign)).scaled(factor))
}

/// A page whose marks were compared.
#[derive(Default)]
struct Compared {
    faults: Vec<String>,
    /// The text without comments, with [`MARKED`] in place of numbers that have a mark.
    plain: String,
    /// Numbers that are not results.
    listed: Vec<String>,
}

/// Compares the marked numbers of a page with the records.
fn compare(page: &str, records: [&str; 2]) -> Compared {
    let mut compared = Compared::default();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("<!-- ") {
        let (mark, after) = after.split_once(" -->").expect("a comment has an end");
        rest = after;
        if let Some(list) = mark.strip_prefix(LIST) {
            compared.listed.extend(list.split(';').map(|number| number.trim().replace('\n', " ")));
        }
        // A mark stands directly behind its number.
        if before.ends_with(char::is_whitespace) || before.is_empty() {
            compared.plain += before;
            continue;
        }
        let number = before.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let found = marked_value(mark, records);
        if !Interval::last(number).zip(found).is_some_and(|(own, found)| own.is(found)) {
            let tail: String = before.chars().rev().take(30).collect::<Vec<_>>().into_iter().rev().collect();
            compared.faults.push(format!("{tail:?} is not {mark}, which is {found:?}"));
        }
        let is_part = |letter: char| letter.is_ascii_digit() || ".,".contains(letter);
        compared.plain += number.trim_end_matches(is_part);
        compared.plain.push(MARKED);
        compared.plain += &before[number.len()..];
    }
    compared.plain += rest;
    compared
}

/// The sections with results, without code and without the targets of links.
fn prose(plain: &str) -> String {
    let is_exempt = |section: &&str| EXEMPT.iter().any(|title| section.starts_with(title));
    // The first part has the title of the paper and where it appeared.
    let sections = plain.split("\n## ").skip(1).filter(|section| !is_exempt(section));
    let text: String = sections.map(|section| format!("{section}\n")).collect();
    let without_blocks: String = text.split("```").step_by(2).collect();
    let without_code: String = without_blocks.split('`').step_by(2).collect();
    let mut parts = without_code.split("](");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, after)| after))
}

/// A number in a sentence.
struct Number<'a> {
    text: &'a str,
    unit: Option<&'static str>,
    before: &'a str,
    /// What stands between it and the next number.
    gap: &'a str,
}

/// All numbers in a text that are words of their own, and the places of marked ones.
fn numbers(text: &str) -> Vec<Number<'_>> {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == MARKED;
    let mut found: Vec<Number<'_>> = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find(is_part).map(|offset| at + offset) {
        let more = |letter: char| is_part(letter) || ".,".contains(letter);
        let length = text[begin..].find(|letter| !more(letter)).unwrap_or(text.len() - begin);
        let number = text[begin..begin + length].trim_end_matches(['.', ',']);
        at = begin + number.len();
        let (before, after) = (&text[..begin], &text[at..]);
        // Names such as `R6-10` and `802.11n` are not numbers.
        let stem = before.trim_end_matches(['-', '–', '_', '.']);
        if stem.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphabetic) {
            continue;
        }
        let word = after.trim_start_matches([' ', '\n']);
        let unit = UNITS.into_iter().find(|unit| {
            word.strip_prefix(unit).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        let gap = &after[..after.find(is_part).unwrap_or(after.len())];
        found.push(Number { text: number, unit, before, gap });
    }
    found
}

/// Quantities in a text that have no mark and no interval, each with its unit.
fn unmarked(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut next_unit = None;
    for number in numbers(text).into_iter().rev() {
        // The unit of "62 and 59 Mbit/s" belongs to both.
        let is_joined = ["and", "or", "to", "against"].contains(&number.gap.trim());
        let unit = number.unit.or(next_unit.filter(|_| is_joined));
        next_unit = unit;
        let has_interval =
            number.gap.trim_start().starts_with('±') || number.before.trim_end().ends_with('±');
        let is_marked = number.text.contains(MARKED);
        if !is_marked && !has_interval && (unit.is_some() || number.text.contains('.')) {
            found.push(unit.map_or(number.text.to_owned(), |unit| format!("{} {unit}", number.text)));
        }
    }
    found
}

/// What is wrong with the numbers of a page.
fn faults(page: &str, records: [&str; 2]) -> Vec<String> {
    let Compared { mut faults, plain, listed } = compare(page, records);
    let known: Vec<Interval> = records.into_iter().flat_map(Interval::all).collect();
    let is_known = |value: &Interval| {
        FACTORS.iter().any(|factor| known.iter().any(|recorded| value.is(recorded.scaled(*factor))))
    };
    for value in Interval::all(&plain).iter().filter(|value| !is_known(value)) {
        let half = value.half.map_or(f64::NAN, |half| half.value);
        faults.push(format!("{} ± {half} is in no record", value.mean.value));
    }
    let listed: BTreeSet<String> = listed.into_iter().collect();
    let without_mark: BTreeSet<String> = unmarked(&prose(&plain)).into_iter().collect();
    faults.extend(without_mark.difference(&listed).map(|number| format!("{number:?} has no mark")));
    faults
        .extend(listed.difference(&without_mark).map(|number| format!("{number:?} is listed and not used")));
    faults
}

#[test]
fn numbers_on_the_pages_of_papers_are_those_of_the_runs_on_record() {
    let mut all = Vec::new();
    for name in crate::made::paper_names() {
        let file = format!("docs/papers/{name}.md");
        let page = fs::read_to_string(root().join(&file)).unwrap_or_else(|why| panic!("{file}: {why}"));
        let page =
            crate::made::remake(&page, |_| String::new()).unwrap_or_else(|why| panic!("{file}: {why}"));
        let records = [record(&name), record(&format!("{name}-full"))];
        let found = faults(&page, [&records[0], &records[1]]);
        all.extend(found.into_iter().map(|fault| format!("{file}: {fault}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_number_is_compared_in_its_own_digits() {
    let record = "| P1 | Fig. 1 | loss | 0.5 | 0.615 ± 0.029 | 0 to 1 | agrees |\n| t | 12.34 ± 0.56 |\n";
    let faults = |page: &str| compare(page, [record, ""]).faults.len();
    assert_eq!(
        faults("0.61 ± 0.03<!-- P1 --> and 0.62<!-- P1 -->, 61 %<!-- P1 x100 -->, 61.5 %<!-- P1 x100 -->"),
        0
    );
    assert_eq!(faults("38 %<!-- P1 below --> and -38.5 %<!-- P1 above -->"), 0);
    assert_eq!(
        faults("0.63 ± 0.03<!-- P1 --> and 0.62 ± 0.02<!-- P1 -->, 0.6<!-- P2 -->, 0.6<!-- P1 full -->"),
        4
    );
    let known = Interval::all(record);
    let is_known = |text: &str| known.iter().any(|recorded| Interval::all(text)[0].is(*recorded));
    assert!(is_known("about 12.3 ± 0.6 ms.") && !is_known("12.5 ± 0.6") && !is_known("12.3 ± 0.4"));
}

#[test]
fn a_cell_of_a_table_is_found_by_its_row_and_column() {
    let table = "\n## Figure 8: goodput\n\n| buffer | scheme | 1 % | most | most |\n| --: | --- | --: |\n\
                 | 1000 | BBR | 95.47 ± 0.03 | 3 | 4 (1 not done) |\n| 1000 | BBRv3 | 80 | 5 | 6 |\n";
    let faults = |page: &str| compare(page, [table, table]).faults.len();
    assert_eq!(
        faults("95.5<!-- Figure 8 / 1000 / BBR / 1 % --> and 4<!-- Figure 8 / 1000 / BBR / #5 full -->"),
        0
    );
    assert_eq!(faults("0.84<!-- Figure 8 / 1000 / BBRv3 / 1 % ÷ Figure 8 / 1000 / BBR / 1 % -->"), 0);
    // Another value, two rows, two columns, no such table.
    assert_eq!(faults("95.4<!-- Figure 8 / 1000 / BBR / 1 % -->, 95.5<!-- Figure 8 / 1000 / 1 % -->"), 2);
    assert_eq!(faults("3<!-- Figure 8 / 1000 / BBR / most -->, 3<!-- Table 1 / 1000 / BBR / 1 % -->"), 2);
}

#[test]
fn a_quantity_has_a_mark_or_is_listed() {
    let page = "DOI 10.1\n\n## What the paper says\n\n25.6 %\n\n## In short\n\n<!-- not results: 3 ms; 7 s -->\n\n\
                R6-1.5 in 802.11n with 1000 packets, `0.5`, [x](y-0.5): 62 and 59 Mbit/s, 1.5 ± 0.1, 3 ms, 0.25.\n";
    let found = faults(page, ["| t | 1.5 ± 0.1 |", ""]).join("; ");
    let expected = ["0.25", "59 Mbit/s", "62 Mbit/s"].map(|number| format!("{number:?} has no mark"));
    assert_eq!(found, format!("{}; \"7 s\" is listed and not used", expected.join("; ")));
}
