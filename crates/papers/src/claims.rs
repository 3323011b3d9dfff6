//! `claims.toml`: statements of a paper, and the expressions over cells from which our results for them are
//! computed.

use std::collections::BTreeMap;

use tidegate_results::claims::{
    Assumption, Band, Bar, Claim, ClaimVerdict, Effect, Paper, Published, Sign, ValueProvenance,
};
use tidegate_settings::document::{Item, TomlValue};
use tidegate_settings::error::{Errors, Place};
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::{Format, KeyKind};
use tidegate_settings::values::{read_number, read_text, shown};

use crate::expression::{Expression, PlacedExpression, Range};
use crate::function::Function;
use crate::items::{expression, key_tables, read_file, words_of};

/// Any number but infinity.
const FINITE: KeyKind = KeyKind::Number(f64::MIN, f64::MAX);
const BAND: KeyKind = KeyKind::List(&KeyKind::Number(f64::NEG_INFINITY, f64::INFINITY));

key_tables! {
    ROOT "claims.toml" {
        "paper" Must: KeyKind::Table(&PAPER), "The paper.";
        "assumption" May: KeyKind::List(&KeyKind::Table(&ASSUMPTION)), "Values that the paper does not specify.";
        "claim" Must: KeyKind::List(&KeyKind::Table(&CLAIM)), "Statements of the paper.";
    }
    PAPER "[paper]" {
        "title" Must: KeyKind::Text, "Title of the paper.";
        "authors" Must: KeyKind::Text, "Authors, as printed.";
        "venue" Must: KeyKind::Text, "Venue and year.";
        "scheme" Must: KeyKind::Text, "Name of the paper's scheme, one of those that `tidegate schemes` lists.";
    }
    ASSUMPTION "[[assumption]]" {
        "name" Must: KeyKind::Text, "Name of the quantity.";
        "value" Must: KeyKind::Text, "Value of the quantity, with its unit.";
        "provenance" Must: KeyKind::Words(|| words(&PROVENANCES)), "Provenance of the value.";
        "why" Must: KeyKind::Text, "Reason for the value.";
    }
    CLAIM "[[claim]]" {
        "id" Must: KeyKind::Text, "Unique short name of the claim, such as P5-icp.";
        "where" Must: KeyKind::Text, "Place in the paper: figure, table, section.";
        "figure" May: KeyKind::Text, "Id of the figure in board.toml that shows the claim.";
        "quantity" Must: KeyKind::Text, "Description of the measured quantity.";
        "is" Must: KeyKind::Text, "The quantity as an expression over cells.";
        "axis" May: KeyKind::Text, "Short name of the quantity in a figure; requires group.";
        "group" May: KeyKind::Text, "Label under the bar in a figure; requires axis.";
        "unit" Else(""): KeyKind::Text, "Unit of all numbers of the claim.";
        "published" Must: KeyKind::Any, "Published value: a number or a text.";
        "band" Must: BAND, "Range of values that count as agreement, [low, high]; -inf or inf for an open end.";
        "earlier_band" May: BAND, "Band before a change; requires band_reason.";
        "band_reason" May: KeyKind::Text, "Reason for the change of the band; requires earlier_band.";
        "null" May: FINITE, "Value of the quantity if there is no effect.";
        "sign" May: KeyKind::Words(|| words(&SIGNS)), "Side of null on which the published effect lies.";
        "verdict" May: KeyKind::Words(|| words(&VERDICTS)), "Recorded verdict.";
        "full_verdict" May: KeyKind::Words(|| words(&VERDICTS)), "Recorded verdict with --full, if it differs.";
        "note" May: KeyKind::Text, "Explanation for readers.";
        "undefined" Else("false"): KeyKind::Bool,
            "Whether the quantity may be undefined or infinite in our runs, which is an error otherwise; the claim differs then.";
        "exact" Else("false"): KeyKind::Bool, "Whether every single run has to lie in the band.";
        "ours" Else("false"): KeyKind::Bool, "Whether the claim is ours, not the paper's.";
    }
}

static FORMAT: Format = Format {
    root: &ROOT,
    version: 1,
    synonyms: &[("claims", "claim"), ("assumptions", "assumption"), ("formula", "is"), ("place", "where")],
};

const SIGNS: [(Sign, &str); 2] = [(Sign::Above, "above"), (Sign::Below, "below")];
static PROVENANCES: [(ValueProvenance, &str); 4] = {
    let [a, b, c, d] = ValueProvenance::ALL;
    [(a, a.word()), (b, b.word()), (c, c.word()), (d, d.word())]
};
static VERDICTS: [(ClaimVerdict, &str); 4] = {
    let [a, b, c, d] = ClaimVerdict::ALL;
    [(a, a.word()), (b, b.word()), (c, c.word()), (d, d.word())]
};

fn words<T>(all: &[(T, &'static str)]) -> Vec<&'static str> {
    all.iter().map(|(_, word)| *word).collect()
}

/// Everything in a `claims.toml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// The paper with its claims, as pages and verdicts need them.
    pub paper: Paper,
    /// Place of the scheme's name.
    pub scheme_at: Range,
    /// Sources of the claims, in their order.
    pub sources: Vec<ClaimSource>,
}

/// Parts of a claim that can be checked only with the other files of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimSource {
    /// Expression of the quantity.
    pub formula: PlacedExpression,
    /// Place of the id of the figure; that of the claim without one.
    pub figure_at: Range,
    /// Whether the quantity may be undefined or infinite.
    pub may_be_undefined: bool,
}

impl Claims {
    /// Reads the text of the file called `source_name` in messages.
    ///
    /// # Errors
    /// All errors of the text, with their lines.
    pub fn parse(source_name: &str, text: &str) -> Result<Self, Errors> {
        read_file(source_name, text, &FORMAT, read)
    }
}

fn read(root: &Fields<'_>) -> Option<Claims> {
    let assumptions = root.tables("assumption", &ASSUMPTION).iter().filter_map(assumption).collect();
    let tables = root.tables("claim", &CLAIM);
    refuse_duplicate_ids(&tables);
    // In pairs: both lists have one entry per claim, also after an error in one of them.
    let (claims, sources) = tables.iter().filter_map(|one| claim(one).zip(source(one))).unzip();
    let head = root.table("paper", &PAPER)?;
    let [title, authors, venue, scheme] =
        ["title", "authors", "venue", "scheme"].map(|key| words_of(&head, key));
    let (title, authors, venue, scheme) = (title?, authors?, venue?, scheme?);
    let scheme_at = head.place_of("scheme").into();
    Some(Claims { paper: Paper { title, authors, venue, scheme, assumptions, claims }, scheme_at, sources })
}

fn assumption(fields: &Fields<'_>) -> Option<Assumption> {
    let [name, value, why] = ["name", "value", "why"].map(|key| words_of(fields, key));
    let provenance = fields.word("provenance", &PROVENANCES);
    Some(Assumption { name: name?, value: value?, provenance: provenance?, why: why? })
}

fn source(fields: &Fields<'_>) -> Option<ClaimSource> {
    let formula = expression(fields.context, fields.item("is")?)?;
    let may_be_undefined = fields.flag("undefined")?;
    if let Some(at) = optional(&formula.expression) {
        let Range { start, end } = at.behind(formula.at.start);
        let message =
            "optional(...) is for figures and tables; undefined = true in the claim accepts undefined values";
        fields.context.refuse(Place { start, end, ..fields.place_of("is") }, message);
    }
    Some(ClaimSource { formula, figure_at: fields.place_of("figure").into(), may_be_undefined })
}

/// Place of the first `optional(...)` in an expression.
fn optional(expression: &Expression) -> Option<Range> {
    match expression {
        Expression::Apply(Function::Optional, _, at) => Some(*at),
        other => other.parts().iter().find_map(optional),
    }
}

fn claim(fields: &Fields<'_>) -> Option<Claim> {
    let [id, place, figure, quantity, axis, group, band_reason, note] =
        ["id", "where", "figure", "quantity", "axis", "group", "band_reason", "note"]
            .map(|key| words_of(fields, key));
    require_together(fields, "axis", "group");
    require_together(fields, "group", "axis");
    require_together(fields, "earlier_band", "band_reason");
    require_together(fields, "band_reason", "earlier_band");
    // `null` alone is allowed: it is drawn, but has no influence on the verdict.
    require_together(fields, "sign", "null");
    let (null, sign) = (fields.number("null"), fields.word("sign", &SIGNS));
    let (published, [band, earlier_band]) =
        (published(fields), ["band", "earlier_band"].map(|key| band(fields, key)));
    let direction = null.zip(sign).map(|(null, sign)| Effect { null, sign });
    if let (Some(Published::Number(number)), Some(Effect { null, sign })) = (&published, direction) {
        refuse_other_side(fields, *number, null, sign);
    }
    Some(Claim {
        recorded: fields.word("verdict", &VERDICTS),
        recorded_full: fields.word("full_verdict", &VERDICTS),
        unit: fields.text("unit")?,
        exact: fields.flag("exact")?,
        is_ours: fields.flag("ours")?,
        id: id?,
        place: place?,
        figure,
        quantity: quantity?,
        bar: axis.zip(group).map(|(axis, group)| Bar { axis, group }),
        published: published?,
        band: band?,
        earlier_band,
        band_reason,
        direction,
        note,
    })
}

/// Refuses a published effect that has not the sign of the claim.
fn refuse_other_side(fields: &Fields<'_>, published: f64, null: f64, sign: Sign) {
    let (is_other, side) = match sign {
        Sign::Above => (published < null, "above"),
        Sign::Below => (published > null, "below"),
    };
    if is_other {
        fields.refuse("published", format!("published is {published}, which is not {side} null, {null}"));
    }
}

fn require_together(fields: &Fields<'_>, key: &str, needs: &str) {
    if fields.item(key).is_some() && fields.item(needs).is_none() {
        fields.refuse(key, format!("{key} stands without {needs:?}; both or none"));
    }
}

/// Whether a text has characters that a terminal obeys instead of showing them.
fn hides(text: &str) -> bool {
    // `{:?}` escapes what is not printable.
    let is_escaped = || !text.contains('\\') && format!("{text:?}").contains("\\u{");
    text.contains(char::is_control) || is_escaped()
}

fn refuse_duplicate_ids(claims: &[Fields<'_>]) {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for fields in claims {
        let Some(item) = fields.item("id") else { continue };
        let Ok(id) = read_text(item) else { continue };
        if hides(id) {
            fields.refuse("id", format!("id {id:?} has control or format characters"));
        }
        // The message names the first line; the reader adds the line of the second one.
        let line = 1 + fields.context.text.get(..item.place.start).unwrap_or("").matches('\n').count();
        match lines.get(id) {
            Some(first) => fields.refuse("id", format!("id {id:?} is used in line {first} already")),
            None => _ = lines.insert(id, line),
        }
    }
}

fn published(fields: &Fields<'_>) -> Option<Published> {
    let item = fields.item("published")?;
    if let TomlValue::Text(_) = item.value {
        let text = words_of(fields, "published")?;
        // In quotes a number may keep its printed digits, such as "0.30". "inf" and "nan" remain texts.
        let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
        return Some(number.map_or(Published::Text(text), Published::Number));
    }
    let found = match &item.value {
        TomlValue::Number(_) => read_number(item, &FINITE),
        other => Err(format!("{} is neither a number nor a text in quotes", shown(other))),
    };
    found.map(Published::Number).map_err(|why| fields.refuse("published", format!("published: {why}"))).ok()
}

fn band(fields: &Fields<'_>, key: &str) -> Option<Band> {
    let end = |item: &Item| match &item.value {
        TomlValue::Number(number) => Some(number.value),
        _ => None,
    };
    let item = fields.item(key)?;
    let ends: Option<Vec<f64>> = match &item.value {
        TomlValue::List(ends) => ends.iter().map(end).collect(),
        _ => None,
    };
    let message = match ends.as_deref() {
        Some(&[low, high]) if low == f64::NEG_INFINITY && high == f64::INFINITY => {
            format!("{key} goes from -inf to inf, so that every number is inside; one end is a number")
        }
        // A swapped band, one with NaN, or one at infinity would accept nothing.
        Some(&[low, high]) if low <= high && low < f64::INFINITY && high > f64::NEG_INFINITY => {
            return Some(Band { low, high });
        }
        Some([low, high]) if low == high => format!("{key} goes from {low} to {high}; no number is inside"),
        Some([low, high]) => format!("{key} goes from {low} to {high}; the lower end is the first"),
        _ => format!("{key} is two numbers, such as [10.0, 40.0]; an open end is -inf or inf"),
    };
    fields.refused(key, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_results::claims::decide;

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
is = "max(loss[grid, a] for a in alpha)"
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
is = '''
notices[grid]'''
published = "at most alpha times the queue"
band = [-inf, 1.0]
exact = true
"#;

    fn parsed(text: &str) -> Claims {
        Claims::parse("claims.toml", text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[track_caller]
    fn problems(text: &str) -> Vec<String> {
        let errors = Claims::parse("claims.toml", text).expect_err("the file has problems");
        errors.iter().map(|error| format!("{}: {}", error.line, error.message)).collect()
    }

    #[test]
    fn a_good_file_is_read_in_full() {
        let Claims { paper, sources, .. } = parsed(GOOD);
        assert_eq!((paper.scheme.as_str(), paper.assumptions.len()), ("plr", 1));
        assert_eq!(paper.assumptions[0].provenance, ValueProvenance::Reconstruction);
        let first = &paper.claims[0];
        assert_eq!((first.id.as_str(), first.unit.as_str()), ("P5-icp", "%"));
        assert_eq!(first.band, Band { low: 10.0, high: 40.0 });
        assert_eq!(first.earlier_band, Some(Band { low: 15.0, high: 30.0 }));
        assert_eq!(first.direction, Some(Effect { null: 0.0, sign: Sign::Above }));
        assert_eq!(first.recorded, Some(ClaimVerdict::Agrees));
        let second = &paper.claims[1];
        assert!(second.exact && second.direction.is_none() && second.recorded.is_none());
        assert_eq!(second.published, Published::Text("at most alpha times the queue".into()));
        assert_eq!(second.band.low, f64::NEG_INFINITY);
        let places = sources.iter().map(|source| source.formula.at);
        let written = places.map(|at| &GOOD[at.start..at.end]);
        assert_eq!(written.collect::<Vec<_>>(), ["max(loss[grid, a] for a in alpha)", "notices[grid]"]);
    }

    #[test]
    fn a_message_has_file_line_column_and_an_arrow_under_the_text() {
        let text = GOOD.replace("quantity = \"loss", "quantitiy = \"loss");
        let errors = Claims::parse("papers/plr/claims.toml", &text).expect_err("misspelt");
        let expected = "papers/plr/claims.toml:26:1: \"quantity\" is missing; [[claim]] requires it\n\
            \u{20} [[claim]]\n\
            \u{20} ^^^^^^^^^\n\
            papers/plr/claims.toml:29:1: unknown key \"quantitiy\"; did you mean \"quantity\"?\n\
            \u{20} quantitiy = \"loss notices per episode\"\n\
            \u{20} ^^^^^^^^^";
        assert_eq!(errors.to_string(), expected);
    }

    #[test]
    fn several_problems_come_at_once_in_the_order_of_lines() {
        let text = GOOD
            .replace("provenance = \"reconstruction\"", "provenance = \"guess\"")
            .replace("band = [10, 40.0]", "band = [40, 10]")
            .replace("verdict = \"agrees\"", "verdict = \"agree\"")
            .replace("notices[grid]", "notices[grid")
            .replace("exact = true", "exact = \"yes\"");
        assert_eq!(
            problems(&text),
            [
                "10: provenance \"guess\" is not known; known: paper, source, reconstruction, fitted",
                "19: band goes from 40 to 10; the lower end is the first",
                "24: verdict \"agree\" is not known",
                "31: the end where ']' or ',' is expected",
                "34: exact: \"yes\" is not true or false",
            ]
        );
    }

    #[test]
    fn a_published_number_in_quotes_is_a_number_and_changes_no_verdict() {
        let published = |value: &str| {
            let text = GOOD.replace("published = 21.8", &format!("published = {value}"));
            let text = text.replace("null = 0.0", "null = -1.0");
            parsed(&text).paper.claims.swap_remove(0)
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
        let missing = [
            "1: [paper] is missing; claims.toml requires it",
            "1: [[claim]] is missing; claims.toml requires it",
        ];
        assert_eq!(problems(""), missing);
    }

    #[test]
    fn an_id_stands_once() {
        let text = GOOD.replace("id = \"P12\"", "id = \"P5-icp\"");
        assert_eq!(problems(&text), ["27: id \"P5-icp\" is used in line 13 already"]);
        let text = GOOD.replace("id = \"P12\"", "id = \"P\u{202E}12\"");
        assert_eq!(problems(&text), ["27: id \"P\\u{202e}12\" has control or format characters"]);
    }

    #[test]
    fn a_changed_band_needs_its_reason_and_a_sign_its_null() {
        let text = GOOD
            .replace("band_reason = \"the paper does not say which alpha\"\n", "")
            .replace("null = 0.0\n", "");
        assert_eq!(
            problems(&text),
            [
                "20: earlier_band stands without \"band_reason\"; both or none",
                "21: sign stands without \"null\"; both or none",
            ]
        );
    }

    #[test]
    fn a_claim_that_contradicts_itself_or_cannot_differ_is_refused() {
        for (from, to, message) in [
            ("sign = \"above\"", "sign = \"below\"", "18: published is 21.8, which is not below null, 0"),
            ("null = 0.0", "null = 22", "18: published is 21.8, which is not above null, 22"),
            (
                "band = [10, 40.0]",
                "band = [-inf, inf]",
                "19: band goes from -inf to inf, so that every number is inside; one end is a number",
            ),
            (
                "\"max(loss[grid, a] for a in alpha)\"",
                "\"1 + optional(loss[grid, b])\"",
                "16: optional(...) is for figures and tables; undefined = true in the claim accepts undefined values",
            ),
        ] {
            assert_eq!(problems(&GOOD.replace(from, to)), [message]);
        }
    }

    #[test]
    fn names_for_a_figure_come_together() {
        let with = |keys: &str| GOOD.replace("unit = \"%\"\n", &format!("unit = \"%\"\n{keys}\n"));
        let both = parsed(&with("axis = \"decrease\"\ngroup = \"ICP\""));
        assert_eq!(both.paper.claims[0].bar(), ("decrease", "ICP"));
        let expected = "18: axis stands without \"group\"; both or none";
        assert_eq!(problems(&with("axis = \"decrease\"")), [expected]);
        let empty = problems(&with("axis = \"decrease\"\ngroup = \"\""));
        assert_eq!(empty, ["19: group is empty; a text is needed"]);
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
                "18: published: nan is not finite",
                "22: null: \"zero\" is not a plain number",
                "25: note is empty; a text is needed",
                "27: id: 12 is not a text in quotes",
            ]
        );
    }

    #[test]
    fn a_band_of_three_numbers_or_of_text_is_refused() {
        let expected = "19: band is two numbers, such as [10.0, 40.0]; an open end is -inf or inf";
        for band in ["band = [1, 2, 3]", "band = [\"1\", \"2\"]", "band = []"] {
            assert_eq!(problems(&GOOD.replace("band = [10, 40.0]", band)), [expected]);
        }
        for (band, message) in [
            ("[nan, 2]", "band goes from NaN to 2; the lower end is the first"),
            ("[inf, inf]", "band goes from inf to inf; no number is inside"),
            ("[-inf, -inf]", "band goes from -inf to -inf; no number is inside"),
            ("[inf, -inf]", "band goes from inf to -inf; the lower end is the first"),
        ] {
            let text = GOOD.replace("band = [10, 40.0]", &format!("band = {band}"));
            assert_eq!(problems(&text), [format!("19: {message}")]);
        }
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
