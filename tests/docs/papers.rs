//! Numbers on the pages of the papers are those of the runs on record, `docs/papers/values/*.md`.
//!
//! `reproduce` writes these files as `values.md`; `tests/cli/papers.rs` holds a run against them. On a page a value with an
//! interval, `12.3 ± 0.4`, has to be one of a record. A number before `<!-- CLAIM -->` has to be that of the claim;
//! `<!-- CLAIM full -->` is the claim with the seeds of `--full`, and `<!-- CLAIM x100 -->` the claim times 100.

use std::fs;

use crate::root;

/// Factors between a record and a sentence: per cent, milliseconds, and a fall in place of a rise.
const FACTORS: [f64; 5] = [1.0, 100.0, 1000.0, -1.0, -100.0];

/// A number as it is written: its value, and half of its last digit.
#[derive(Clone, Copy, Debug)]
struct Written {
    value: f64,
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

    /// Whether it is `factor` times the recorded number, up to the rounding of both.
    fn is(self, recorded: Self, factor: f64) -> bool {
        let allowed = self.rounding + recorded.rounding * factor.abs();
        (self.value - recorded.value * factor).abs() <= allowed * 1.000_001
    }
}

/// A mean, and half of its interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    mean: Written,
    half: Option<Written>,
}

impl Interval {
    /// The value at the end of `text`; without ± it has no interval.
    fn last(text: &str) -> Option<Self> {
        let (before, last) = Written::last(text)?;
        let Some(before) = before.strip_suffix("± ") else { return Some(Self { mean: last, half: None }) };
        let (_, mean) = Written::last(before.trim_end())?;
        Some(Self { mean, half: Some(last) })
    }

    /// All values with an interval in a text.
    fn all(text: &str) -> Vec<Self> {
        let ends = text.match_indices("± ").filter_map(|(at, sign)| {
            let after = &text[at + sign.len()..];
            let length = after.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
            let number = after[..length.unwrap_or(after.len())].trim_end_matches('.');
            Self::last(&text[..at + sign.len() + number.len()])
        });
        ends.collect()
    }

    fn is(self, recorded: Self, factor: f64) -> bool {
        let is_half = match (self.half, recorded.half) {
            (Some(own), Some(recorded)) => own.is(recorded, factor.abs()),
            (own, _) => own.is_none(),
        };
        is_half && self.mean.is(recorded.mean, factor)
    }
}

/// The record of a paper; `name` may end with `-full`.
pub fn record(name: &str) -> String {
    let file = format!("docs/papers/values/{name}.md");
    fs::read_to_string(root().join(&file)).unwrap_or_else(|why| panic!("{file}: {why}"))
}

/// The value of a claim in a record, without its unit.
fn claim(record: &str, id: &str) -> Option<Interval> {
    let row = record.lines().find_map(|line| line.strip_prefix(&format!("| {id} | ")))?;
    let ours = row.split(" | ").nth(3)?;
    let is_number = |word: &&str| {
        *word == "±" || word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-')
    };
    let words: Vec<&str> = ours.split(' ').take_while(is_number).collect();
    Interval::last(&words.join(" "))
}

/// What is wrong with the marked numbers of a page, and the page without its marks.
fn marked(page: &str, records: [&str; 2]) -> (Vec<String>, String) {
    let (mut faults, mut plain) = (Vec::new(), String::new());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("<!-- ") {
        let (mark, after) = after.split_once(" -->").expect("a comment has an end");
        plain += before;
        rest = after;
        // A mark stands directly behind its number.
        if before.ends_with(char::is_whitespace) {
            continue;
        }
        let words: Vec<&str> = mark.split(' ').collect();
        let factor = words.iter().find_map(|word| word.strip_prefix('x')?.parse().ok()).unwrap_or(1.0);
        let found = claim(records[usize::from(words.contains(&"full"))], words[0]);
        let number = before.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let is_same = Interval::last(number).zip(found).is_some_and(|(own, found)| own.is(found, factor));
        if !is_same {
            let tail: String = before.chars().rev().take(30).collect::<Vec<_>>().into_iter().rev().collect();
            faults.push(format!("{tail:?} is not {mark}, which is {found:?}"));
            // The value is reported once.
            plain = plain.replace(number, "");
        }
    }
    (faults, plain + rest)
}

#[test]
fn numbers_on_the_pages_of_papers_are_those_of_the_runs_on_record() {
    let mut faults = Vec::new();
    for name in crate::made::paper_names() {
        let file = format!("docs/papers/{name}.md");
        let page = fs::read_to_string(root().join(&file)).unwrap_or_else(|why| panic!("{file}: {why}"));
        let page =
            crate::made::remake(&page, |_| String::new()).unwrap_or_else(|why| panic!("{file}: {why}"));
        let (own, full) = (record(&name), record(&format!("{name}-full")));
        let known = [Interval::all(&own), Interval::all(&full)].concat();
        let (wrong, plain) = marked(&page, [&own, &full]);
        faults.extend(wrong.into_iter().map(|fault| format!("{file}: {fault}")));
        let is_known = |value: &Interval| {
            FACTORS.iter().any(|factor| known.iter().any(|recorded| value.is(*recorded, *factor)))
        };
        for value in Interval::all(&plain).iter().filter(|value| !is_known(value)) {
            let half = value.half.map_or(f64::NAN, |half| half.value);
            faults.push(format!("{file}: {} ± {half} is in no record", value.mean.value));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_number_is_compared_in_its_own_digits() {
    let record = "| P1 | Fig. 1 | loss | 0.5 | 0.615 ± 0.029 | 0 to 1 | agrees |\n| t | 12.34 ± 0.56 |\n";
    let faults = |page: &str| marked(page, [record, ""]).0.len();
    assert_eq!(
        faults("0.61 ± 0.03<!-- P1 --> and 0.62<!-- P1 -->, 61 %<!-- P1 x100 -->, 61.5 %<!-- P1 x100 -->"),
        0
    );
    assert_eq!(
        faults("0.63 ± 0.03<!-- P1 --> and 0.62 ± 0.02<!-- P1 -->, 0.6<!-- P2 -->, 0.6<!-- P1 full -->"),
        4
    );
    let known = Interval::all(record);
    let is_known = |text: &str| known.iter().any(|recorded| Interval::all(text)[0].is(*recorded, 1.0));
    assert!(is_known("about 12.3 ± 0.6 ms.") && !is_known("12.5 ± 0.6") && !is_known("12.3 ± 0.4"));
}
