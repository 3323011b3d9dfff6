//! Reads `claims.toml` and reports everything wrong with it at once.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{ClaimFault, ClaimsFault, Problem};
use super::{
    Assumption, Band, Bar, Claim, Effect, FormulaText, Paper, Published, Sign, ValueProvenance, Verdict,
};

const ROOT: &str = "the file";
const PAPER: &str = "[paper]";
const ASSUMPTION: &str = "[[assumption]]";
const CLAIM: &str = "[[claim]]";
const ROOT_KEYS: &[&str] = &["paper", "assumption", "claim"];
const PAPER_KEYS: &[&str] = &["title", "authors", "venue", "scheme"];
const ASSUMPTION_KEYS: &[&str] = &["name", "value", "provenance", "why"];
const CLAIM_KEYS: &[&str] = &[
    "id",
    "where",
    "figure",
    "quantity",
    "is",
    "axis",
    "group",
    "unit",
    "published",
    "band",
    "earlier_band",
    "band_reason",
    "null",
    "sign",
    "verdict",
    "full_verdict",
    "note",
    "exact",
    "ours",
];

/// Reads the text of a `claims.toml`; `file` is its name in messages.
///
/// # Errors
/// Every problem of the file with its line: bad TOML, unknown or missing keys, values of a wrong kind, bands
/// with swapped ends, ids used twice.
pub fn parse(text: &str, file: &str) -> Result<Paper, ClaimsFault> {
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { text, problems: Vec::new() };
    for error in errors {
        let fault = ClaimFault::Syntax { message: error.message().to_owned() };
        reader.report(error.span().unwrap_or(0..0), fault);
    }
    // What follows a syntax error would be reported as missing.
    let paper = if reader.problems.is_empty() { reader.paper(&root) } else { None };
    let mut problems = reader.problems;
    problems.sort_by_key(|problem| (problem.line, problem.column));
    match paper {
        Some(paper) if problems.is_empty() => Ok(paper),
        _ => Err(ClaimsFault { file: file.to_owned(), problems }),
    }
}

/// What is wrong with the bytes `span` of a file that could be read, such as an expression in it.
pub fn fault_at(text: &str, file: &str, span: Range<usize>, message: String) -> ClaimsFault {
    let problem = Problem::at(text, span, ClaimFault::Other { message });
    ClaimsFault { file: file.to_owned(), problems: vec![problem] }
}

/// Collects problems while reading; a part that could not be read is `None` and has left a problem.
struct Reader<'t> {
    text: &'t str,
    problems: Vec<Problem>,
}

/// A table with its place, for messages.
struct Entry<'a, 't> {
    table: &'a DeTable<'t>,
    span: Range<usize>,
    name: &'static str,
}

impl<'a, 't> Entry<'a, 't> {
    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'t>>> {
        self.table.get(key)
    }
}

impl Reader<'_> {
    fn report(&mut self, span: Range<usize>, fault: ClaimFault) {
        self.problems.push(Problem::at(self.text, span, fault));
    }

    fn paper(&mut self, root: &Spanned<DeTable<'_>>) -> Option<Paper> {
        let root = Entry { table: root.get_ref(), span: 0..0, name: ROOT };
        self.refuse_unknown(&root, ROOT_KEYS);
        let assumptions = self.list(&root, "assumption", ASSUMPTION, Self::assumption);
        let claims = self.list(&root, "claim", CLAIM, Self::claim);
        if claims.is_empty() && root.get("claim").is_none() {
            self.report(0..0, ClaimFault::MissingKey { key: "claim", table: ROOT });
        }
        self.refuse_duplicate_ids(&root);
        let Some(head) = root.get("paper") else {
            self.report(0..0, ClaimFault::MissingKey { key: "paper", table: ROOT });
            return None;
        };
        let head = self.entry(head, "paper", PAPER)?;
        self.refuse_unknown(&head, PAPER_KEYS);
        let title = self.text(&head, "title");
        let authors = self.text(&head, "authors");
        let venue = self.text(&head, "venue");
        let scheme = self.text(&head, "scheme");
        Some(Paper { title: title?, authors: authors?, venue: venue?, scheme: scheme?, assumptions, claims })
    }

    fn assumption(&mut self, entry: &Entry<'_, '_>) -> Option<Assumption> {
        self.refuse_unknown(entry, ASSUMPTION_KEYS);
        let name = self.text(entry, "name");
        let value = self.text(entry, "value");
        let words = ValueProvenance::ALL.map(|provenance| (provenance.word(), provenance));
        let provenance =
            self.required(entry, "provenance", |reader, value| reader.word(value, "provenance", &words));
        let why = self.text(entry, "why");
        Some(Assumption { name: name?, value: value?, provenance: provenance?, why: why? })
    }

    fn claim(&mut self, entry: &Entry<'_, '_>) -> Option<Claim> {
        self.refuse_unknown(entry, CLAIM_KEYS);
        let id = self.text(entry, "id");
        let place = self.text(entry, "where");
        let figure = self.optional(entry, "figure", |reader, value| reader.some_text(value, "figure"));
        let quantity = self.text(entry, "quantity");
        let formula = self.optional(entry, "is", Self::formula);
        let bar = self.bar(entry);
        let unit = self.optional(entry, "unit", |reader, value| reader.any_text(value, "unit"));
        let published = self.required(entry, "published", Self::published);
        let band = self.required(entry, "band", |reader, value| reader.band(value, "band"));
        let earlier_band =
            self.optional(entry, "earlier_band", |reader, value| reader.band(value, "earlier_band"));
        let band_reason =
            self.optional(entry, "band_reason", |reader, value| reader.some_text(value, "band_reason"));
        self.require_together(entry, "earlier_band", "band_reason");
        self.require_together(entry, "band_reason", "earlier_band");
        let direction = self.direction(entry);
        let words = Verdict::ALL.map(|verdict| (verdict.word(), verdict));
        let recorded = self.optional(entry, "verdict", |reader, value| reader.word(value, "verdict", &words));
        let recorded_full =
            self.optional(entry, "full_verdict", |reader, value| reader.word(value, "full_verdict", &words));
        let note = self.optional(entry, "note", |reader, value| reader.some_text(value, "note"));
        let exact = self.optional(entry, "exact", |reader, value| reader.truth(value, "exact"));
        let is_ours = self.optional(entry, "ours", |reader, value| reader.truth(value, "ours"));
        Some(Claim {
            id: id?,
            place: place?,
            figure,
            quantity: quantity?,
            formula,
            bar,
            unit: unit.unwrap_or_default(),
            published: published?,
            band: band?,
            earlier_band,
            band_reason,
            direction,
            recorded,
            recorded_full,
            note,
            exact: exact.unwrap_or(false),
            is_ours: is_ours.unwrap_or(false),
        })
    }

    fn formula(&mut self, value: &Spanned<DeValue<'_>>) -> Option<FormulaText> {
        let text = self.some_text(value, "is")?;
        // Text in quotes begins with one of them, or with three.
        let written = self.text.get(value.span()).unwrap_or("");
        let quotes = if written.starts_with("\"\"\"") || written.starts_with("'''") { 3 } else { 1 };
        Some(FormulaText { text, start: value.span().start + quotes })
    }

    /// Names for a figure, both or none.
    fn bar(&mut self, entry: &Entry<'_, '_>) -> Option<Bar> {
        let axis = self.optional(entry, "axis", |reader, value| reader.some_text(value, "axis"));
        let group = self.optional(entry, "group", |reader, value| reader.some_text(value, "group"));
        self.require_together(entry, "axis", "group");
        self.require_together(entry, "group", "axis");
        Some(Bar { axis: axis?, group: group? })
    }

    /// `null` alone is allowed: it is drawn, but nothing follows from it.
    fn direction(&mut self, entry: &Entry<'_, '_>) -> Option<Effect> {
        let null = self.optional(entry, "null", |reader, value| reader.finite(value, "null"));
        let words = [("above", Sign::Above), ("below", Sign::Below)];
        let sign = self.optional(entry, "sign", |reader, value| reader.word(value, "sign", &words));
        self.require_together(entry, "sign", "null");
        Some(Effect { null: null?, sign: sign? })
    }

    fn refuse_unknown(&mut self, entry: &Entry<'_, '_>, known: &'static [&'static str]) {
        for (key, _) in entry.table.iter() {
            if !known.contains(&key.get_ref().as_ref()) {
                let fault =
                    ClaimFault::UnknownKey { key: key.get_ref().to_string(), table: entry.name, known };
                self.report(key.span(), fault);
            }
        }
    }

    fn refuse_duplicate_ids(&mut self, root: &Entry<'_, '_>) {
        let claims = root.get("claim").and_then(|value| value.get_ref().as_array());
        let tables = claims
            .into_iter()
            .flat_map(|claims| claims.iter())
            .filter_map(|claim| claim.get_ref().as_table());
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        for value in tables.filter_map(|table| table.get("id")) {
            let Some(id) = value.get_ref().as_str() else { continue };
            let line = self.text[..value.span().start].matches('\n').count() + 1;
            if let Some(first_line) = lines.get(id).copied() {
                self.report(value.span(), ClaimFault::DuplicateId { id: id.to_owned(), first_line });
            } else {
                lines.insert(id.to_owned(), line);
            }
        }
    }

    fn require_together(&mut self, entry: &Entry<'_, '_>, key: &'static str, needs: &'static str) {
        if let (Some(value), None) = (entry.get(key), entry.get(needs)) {
            self.report(value.span(), ClaimFault::Alone { key, needs });
        }
    }

    fn entry<'a, 't>(
        &mut self,
        value: &'a Spanned<DeValue<'t>>,
        key: &str,
        name: &'static str,
    ) -> Option<Entry<'a, 't>> {
        let Some(table) = value.get_ref().as_table() else {
            self.report_kind(value, key, "a table");
            return None;
        };
        Some(Entry { table, span: value.span(), name })
    }

    /// The tables of `[[key]]`; none when absent.
    fn list<T>(
        &mut self,
        root: &Entry<'_, '_>,
        key: &str,
        name: &'static str,
        read: fn(&mut Self, &Entry<'_, '_>) -> Option<T>,
    ) -> Vec<T> {
        let Some(value) = root.get(key) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            self.report_kind(value, key, "a list of tables");
            return Vec::new();
        };
        let mut parts = Vec::new();
        for item in list.iter() {
            let entry = self.entry(item, key, name);
            parts.extend(entry.and_then(|entry| read(self, &entry)));
        }
        parts
    }

    fn required<T>(
        &mut self,
        entry: &Entry<'_, '_>,
        key: &'static str,
        read: impl FnOnce(&mut Self, &Spanned<DeValue<'_>>) -> Option<T>,
    ) -> Option<T> {
        if let Some(value) = entry.get(key) {
            return read(self, value);
        }
        self.report(entry.span.clone(), ClaimFault::MissingKey { key, table: entry.name });
        None
    }

    fn optional<T>(
        &mut self,
        entry: &Entry<'_, '_>,
        key: &str,
        read: impl FnOnce(&mut Self, &Spanned<DeValue<'_>>) -> Option<T>,
    ) -> Option<T> {
        entry.get(key).and_then(|value| read(self, value))
    }

    /// A required text that is not empty.
    fn text(&mut self, entry: &Entry<'_, '_>, key: &'static str) -> Option<String> {
        self.required(entry, key, |reader, value| reader.some_text(value, key))
    }

    fn some_text(&mut self, value: &Spanned<DeValue<'_>>, key: &'static str) -> Option<String> {
        let text = self.any_text(value, key)?;
        if text.trim().is_empty() {
            self.report(value.span(), ClaimFault::Empty { key });
            return None;
        }
        Some(text)
    }

    fn any_text(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.report_kind(value, key, "text in quotes");
        }
        text
    }

    fn published(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Published> {
        if value.get_ref().is_str() {
            let text = self.some_text(value, "published")?;
            // In quotes a number may keep the digits that are printed, such as "0.30". "inf" and "nan" stay words.
            let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
            return Some(number.map_or(Published::Text(text), Published::Number));
        }
        if number(value.get_ref()).is_none() {
            self.report_kind(value, "published", "a number or text in quotes");
            return None;
        }
        self.finite(value, "published").map(Published::Number)
    }

    fn finite(&mut self, value: &Spanned<DeValue<'_>>, key: &'static str) -> Option<f64> {
        let Some(number) = number(value.get_ref()) else {
            self.report_kind(value, key, "a number");
            return None;
        };
        if !number.is_finite() {
            self.report(value.span(), ClaimFault::NotFinite { key });
            return None;
        }
        Some(number)
    }

    fn band(&mut self, value: &Spanned<DeValue<'_>>, key: &'static str) -> Option<Band> {
        let ends: Option<Vec<f64>> = value
            .get_ref()
            .as_array()
            .and_then(|ends| ends.iter().map(|end| number(end.get_ref())).collect());
        let Some([low, high]) = ends.as_deref() else {
            self.report_kind(value, key, "two numbers like [10.0, 40.0]; an open end is -inf or inf");
            return None;
        };
        let (low, high) = (*low, *high);
        // A swapped band or one with NaN would accept nothing.
        if low.is_nan() || high.is_nan() || low > high {
            self.report(value.span(), ClaimFault::BadBand { key, low, high });
            return None;
        }
        Some(Band { low, high })
    }

    fn truth(&mut self, value: &Spanned<DeValue<'_>>, key: &'static str) -> Option<bool> {
        let truth = value.get_ref().as_bool();
        if truth.is_none() {
            self.report_kind(value, key, "true or false");
        }
        truth
    }

    fn word<T: Copy>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.any_text(value, key)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let known = words.iter().map(|(word, _)| *word).collect();
            self.report(value.span(), ClaimFault::UnknownWord { key, word: text, known });
        }
        found
    }

    fn report_kind(&mut self, value: &Spanned<DeValue<'_>>, key: &str, expected: &'static str) {
        let found = match value.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a truth value",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.report(value.span(), ClaimFault::WrongKind { key: key.to_owned(), expected, found });
    }
}

/// An integer or float; integers in another base too.
fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|integer| integer as f64)
        }
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::decide;
    use super::*;

    const GOOD: &str = r#"
[paper]
title = "A paper"
authors = "A. Author"
venue = "ICCCN 2023"
scheme = "plr"
[[assumption]]
name = "link rate"
value = "20Mbps"
provenance = "reconstruction"
why = "fits the completion times of Fig. 7"
[[claim]]
id = "P5-icp"
where = "Fig. 7b, §VI.B"
quantity = "largest decrease of completion time over alpha, ICP"
unit = "%"
published = 21.8
band = [10, 40.0]
earlier_band = [15.0, 30.0]
band_reason = "the paper does not say which alpha"
null = 0.0
sign = "above"
verdict = "agrees"
note = "known"
[[claim]]
id = "P12"
where = "§IV"
quantity = "loss notices per episode"
published = "at most alpha times the queue"
band = [-inf, 1.0]
exact = true
"#;

    #[track_caller]
    fn problems(text: &str) -> Vec<String> {
        let fault = parse(text, "claims.toml").expect_err("the file has problems");
        fault.problems.iter().map(|problem| format!("{}: {}", problem.line, problem.fault)).collect()
    }

    #[test]
    fn a_good_file_is_read_in_full() {
        let paper = parse(GOOD, "claims.toml").expect("the file is good");
        assert_eq!((paper.scheme.as_str(), paper.assumptions.len()), ("plr", 1));
        assert_eq!(paper.assumptions[0].provenance, ValueProvenance::Reconstruction);
        let first = &paper.claims[0];
        assert_eq!((first.id.as_str(), first.unit.as_str()), ("P5-icp", "%"));
        assert_eq!(first.band, Band { low: 10.0, high: 40.0 });
        assert_eq!(first.earlier_band, Some(Band { low: 15.0, high: 30.0 }));
        assert_eq!(first.direction, Some(Effect { null: 0.0, sign: Sign::Above }));
        assert_eq!(first.recorded, Some(Verdict::Agrees));
        let second = &paper.claims[1];
        assert!(second.exact && second.direction.is_none() && second.recorded.is_none());
        assert_eq!(second.published, Published::Text("at most alpha times the queue".into()));
        assert_eq!(second.band.low, f64::NEG_INFINITY);
    }

    #[test]
    fn a_message_has_file_line_column_and_an_arrow_under_the_text() {
        let text = GOOD.replace("quantity = \"loss", "quantitiy = \"loss");
        let fault = parse(&text, "papers/plr/claims.toml").expect_err("misspelt");
        let expected = "papers/plr/claims.toml:25:1: key \"quantity\" is missing in [[claim]]\n\
            25 | [[claim]]\n\
            \u{20}  | ^^^^^^^^^\n\
            papers/plr/claims.toml:28:1: unknown key \"quantitiy\" in [[claim]]; did you mean \"quantity\"?\n\
            28 | quantitiy = \"loss notices per episode\"\n\
            \u{20}  | ^^^^^^^^^";
        assert_eq!(fault.to_string(), expected);
    }

    #[test]
    fn several_problems_come_at_once_in_the_order_of_lines() {
        let text = GOOD
            .replace("provenance = \"reconstruction\"", "provenance = \"guess\"")
            .replace("band = [10, 40.0]", "band = [40, 10]")
            .replace("verdict = \"agrees\"", "verdict = \"agree\"")
            .replace("exact = true", "exact = \"yes\"");
        assert_eq!(
            problems(&text),
            [
                "10: provenance \"guess\" is not known; known: paper, source, reconstruction, fitted",
                "18: band goes from 40 to 10; expected two numbers, the lower one first",
                "23: verdict \"agree\" is not known; did you mean \"agrees\"?",
                "31: exact is text; expected true or false",
            ]
        );
    }

    #[test]
    fn a_published_number_in_quotes_is_a_number_and_changes_no_verdict() {
        let published = |value: &str| {
            let text = GOOD.replace("published = 21.8", &format!("published = {value}"));
            parse(&text, "claims.toml").expect("the file is good").claims.swap_remove(0)
        };
        for (value, number) in [("\"-0.008\"", -0.008), ("\" 600 \"", 600.0), ("\"0.30\"", 0.3)] {
            assert_eq!(published(value).published, Published::Number(number), "{value}");
        }
        for words in ["C = 1000", "4 (k)", "1 - 200/250", "<= 3", "inf", "nan"] {
            let read = published(&format!("{words:?}")).published;
            assert_eq!(read, Published::Text(words.to_owned()));
        }
        for samples in [[20.0, 22.0, 24.0], [4.0, 5.0, 6.0], [-1.0, 5.0, 6.0]] {
            let [number, words] =
                ["\"37.8\"", "\"37.8 or so\""].map(|value| decide(&samples, &published(value)));
            assert_eq!(number, words, "{samples:?}");
        }
    }

    #[test]
    fn bad_toml_is_reported_alone() {
        let found = problems("[paper]\ntitle = \n");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("2: "), "{found:?}");
    }

    #[test]
    fn an_empty_file_misses_its_paper_and_claims() {
        assert_eq!(
            problems(""),
            ["1: key \"claim\" is missing in the file", "1: key \"paper\" is missing in the file"]
        );
    }

    #[test]
    fn an_id_stands_once() {
        let text = GOOD.replace("id = \"P12\"", "id = \"P5-icp\"");
        assert_eq!(problems(&text), ["26: id \"P5-icp\" is used in line 13 already; expected a new one"]);
    }

    #[test]
    fn a_changed_band_needs_its_reason_and_a_sign_its_null() {
        let text = GOOD
            .replace("band_reason = \"the paper does not say which alpha\"\n", "")
            .replace("null = 0.0\n", "");
        assert_eq!(
            problems(&text),
            [
                "19: earlier_band stands without \"band_reason\"; expected both or none",
                "20: sign stands without \"null\"; expected both or none",
            ]
        );
    }

    #[test]
    fn names_for_a_figure_come_together() {
        let with = |keys: &str| GOOD.replace("unit = \"%\"\n", &format!("unit = \"%\"\n{keys}\n"));
        let both = with("axis = \"decrease\"\ngroup = \"ICP\"");
        let paper = parse(&both, "claims.toml").expect("the file is good");
        assert_eq!(paper.claims[0].bar(), ("decrease", "ICP"));
        let expected = "17: axis stands without \"group\"; expected both or none";
        assert_eq!(problems(&with("axis = \"decrease\"")), [expected]);
        assert_eq!(
            problems(&with("axis = \"decrease\"\ngroup = \"\"")),
            ["18: group is empty; expected text"]
        );
    }

    #[test]
    fn numbers_where_text_belongs_and_the_other_way_round_are_refused() {
        let text = GOOD
            .replace("id = \"P12\"", "id = 12")
            .replace("published = 21.8", "published = nan")
            .replace("null = 0.0", "null = \"zero\"")
            .replace("note = \"known\"", "note = \"\"");
        assert_eq!(
            problems(&text),
            [
                "17: published is not finite; expected a finite number",
                "21: null is text; expected a number",
                "24: note is empty; expected text",
                "26: id is a number; expected text in quotes",
            ]
        );
    }

    #[test]
    fn a_band_of_three_numbers_or_of_text_is_refused() {
        let expected =
            "18: band is a list; expected two numbers like [10.0, 40.0]; an open end is -inf or inf";
        for band in ["band = [1, 2, 3]", "band = [\"1\", \"2\"]", "band = []"] {
            assert_eq!(problems(&GOOD.replace("band = [10, 40.0]", band)), [expected]);
        }
        assert_eq!(problems(&GOOD.replace("band = [10, 40.0]", "band = [nan, 2]")).len(), 1);
    }

    #[test]
    fn wrong_shapes_anywhere_are_problems_not_panics() {
        for text in [
            "paper = 1\nclaim = 2\n",
            "[[paper]]\n[claim]\n",
            "claim = [1, \"é\"]\nassumption = true\n",
            "\u{feff}é = \"",
            "a = 1é",
        ] {
            assert!(!problems(text).is_empty());
        }
    }
}
