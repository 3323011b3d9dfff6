//! A grid of parameters over a scenario: keys with values, from the command line or the scenario's `[sweep]`.

use std::path::Path;

use tidegate_settings::suggest;
use tidegate_sim::plan::{Plan, SweepAxis};
use tidegate_sim::scenario::{Error, Errors};

use crate::Session;
use crate::exit::{Exit, Failure};
use crate::plans::{parse_plan, read_plan};
use crate::store::Identity;

/// Maximum number of points of a grid.
const MAX_POINTS: usize = 10_000;

/// One key with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Path of the value, as for `--set`.
    pub(crate) key: String,
    /// Values, at least one.
    pub(crate) values: Vec<Tried>,
}

impl Axis {
    /// `KEY=V1,V2,...`, as an option takes it.
    pub(crate) fn written(&self) -> String {
        let values: Vec<&str> = self.values.iter().map(|tried| tried.written.as_str()).collect();
        format!("{}={}", self.key, values.join(","))
    }
}

/// A value of an axis with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tried {
    /// The value as TOML, or as bare text.
    pub(crate) written: String,
    /// Origin of the value, for the beginning of messages.
    place: String,
}

impl Tried {
    /// The value as a table shows it: a text without quotes.
    pub(crate) fn shown(&self) -> String {
        let text = self.written.trim();
        let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match inner {
            // A text with escapes is shown as written, so that different values remain different.
            Some(inner) if !inner.contains(['"', '\\']) => inner.to_owned(),
            _ => text.to_owned(),
        }
    }
}

/// Parses `KEY=V1,V2,...` of the option `option`; commas inside brackets and quotes do not separate values.
pub(crate) fn parse_axis(option: &str, text: &str) -> Result<Axis, String> {
    let wrong = || format!("{text:?} is not of the form KEY=VALUE,VALUE,...");
    let (key, values) = text.split_once('=').ok_or_else(wrong)?;
    let key = key.trim();
    if key.is_empty() {
        return Err(wrong());
    }
    axis(key, values, wrong(), |value| format!("{option} '{key}={value}'"))
}

/// Parses `A,B,...` of the option `option`, which takes schemes only, for the key `scheme`.
pub(crate) fn parse_schemes(option: &str, text: &str) -> Result<Axis, String> {
    let is_plain = |c: char| c.is_alphanumeric() || c == '-';
    let place = |value: &str| match value.chars().all(is_plain) {
        true => format!("{option} {value}"),
        false => format!("{option} '{value}'"),
    };
    axis("scheme", text, format!("{text:?} is not of the form A,B,..."), place)
}

/// The axis of `key` with the values that `text` lists, each with its `place`; `wrong` is the error of an empty value.
fn axis(key: &str, text: &str, wrong: String, place: impl Fn(&str) -> String) -> Result<Axis, String> {
    let values: Vec<&str> = split(text).into_iter().map(str::trim).collect();
    if values.iter().any(|value| value.is_empty()) {
        return Err(wrong);
    }
    // Equal points would have the same name in tables.
    if let Some(twice) = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value)) {
        return Err(format!("{:?} is listed twice", twice.1));
    }
    let tried = |value: &&str| Tried { written: (*value).to_owned(), place: place(value) };
    Ok(Axis { key: key.to_owned(), values: values.iter().map(tried).collect() })
}

/// The parts of `text` between its outermost commas.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            // An unbalanced bracket is an error of the value, which the reader of the scenario reports.
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The axes of a scenario's `[sweep]`, replaced or followed by those of the command line.
pub(crate) fn axes(file: &Path, plan: &Plan, more: &[Axis]) -> Vec<Axis> {
    let of_file = |axis: &SweepAxis| Axis {
        key: axis.key.clone(),
        values: axis
            .values
            .iter()
            .map(|value| Tried {
                written: value.written.clone(),
                place: format!(
                    "{}:{}:{}: [sweep] {:?} = {}",
                    file.display(),
                    value.line,
                    value.column,
                    axis.key,
                    value.written
                ),
            })
            .collect(),
    };
    let mut axes: Vec<Axis> = plan.sweep.iter().map(of_file).collect();
    for axis in more {
        match axes.iter_mut().find(|known| known.key == axis.key) {
            Some(known) => *known = axis.clone(),
            None => axes.push(axis.clone()),
        }
    }
    axes
}

/// Whether a value at the path `later` replaces what was set at `earlier`: all of it, or with `some` a part of it.
fn replaces(later: &str, earlier: &str, some: bool) -> bool {
    let [later, earlier] = [later, earlier].map(|path| path.split('.').collect::<Vec<&str>>());
    let number = |step: &str| step.parse::<usize>().ok();
    let meets = |(later, earlier): (&&str, &&str)| {
        let is_same = later == earlier || number(later).is_some_and(|place| number(earlier) == Some(place));
        is_same || *later == "*" || (some && *earlier == "*")
    };
    // A longer path changes a part of the earlier value, such as a parameter of a scheme.
    later.len() <= earlier.len() && later.iter().zip(&earlier).all(meets)
}

/// Refuses an axis whose values replace those of one before it: points would have labels that do not apply.
pub(crate) fn refuse_overlap(axes: &[Axis]) -> Result<(), Failure> {
    for (place, later) in axes.iter().enumerate() {
        if let Some(earlier) = axes[..place].iter().find(|earlier| replaces(&later.key, &earlier.key, true)) {
            return Err(Failure::usage(format!(
                "the values of {} replace those of {}; give each value by one key only",
                later.key, earlier.key
            )));
        }
    }
    Ok(())
}

/// Refuses a value of --set that every value of `key` replaces; `option` names the origin of these.
pub(crate) fn refuse_set(option: &str, key: &str, set: &[(String, String)]) -> Result<(), Failure> {
    match set.iter().find(|(set, _)| replaces(key, set, false)) {
        Some((set, _)) => {
            Err(Failure::usage(format!("{option} replaces the value of --set {set}; remove one of them")))
        }
        None => Ok(()),
    }
}

/// One combination of values, checked.
#[derive(Debug)]
pub(crate) struct GridPoint {
    /// The value of each axis, as it is shown.
    pub(crate) values: Vec<String>,
    /// Plan with the values of the point.
    pub(crate) plan: Plan,
    /// Identity of the plan in the store.
    pub(crate) identity: Identity,
}

/// Every combination of the values of `axes` over the scenario in `file`; the last axis changes fastest.
///
/// # Errors
/// All values that are invalid alone, or else the first invalid combination.
pub(crate) fn points(
    session: &Session,
    file: &Path,
    base: &[(String, String)],
    axes: &[Axis],
) -> Result<Vec<GridPoint>, Failure> {
    let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.values.len()));
    let Some(count) = count.filter(|count| *count <= MAX_POINTS) else {
        return Err(Failure::usage(format!("the grid has more than {MAX_POINTS} points")));
    };
    // Before the combinations: one invalid value is reported once and not with every value of the other axes.
    check_each(session, file, base, axes)?;
    let point = |index: usize| {
        let chosen = combination(axes, index);
        let mut overrides = base.to_vec();
        overrides
            .extend(axes.iter().zip(&chosen).map(|(axis, tried)| (axis.key.clone(), tried.written.clone())));
        let plan = parse_plan(session, file, &overrides)?.map_err(|errors| {
            let places: Vec<&str> = chosen.iter().map(|tried| tried.place.as_str()).collect();
            Failure {
                exit: Exit::Error,
                message: refused(&format!("{}: together", places.join(", ")), &errors),
            }
        })?;
        let values = chosen.iter().map(|tried| tried.shown()).collect();
        Ok(GridPoint { values, identity: Identity::of(&plan), plan })
    };
    (0..count).map(point).collect()
}

/// The scenario in `file` with `overrides`, which set `tried`; the inner error describes invalid values.
pub(crate) fn read_tried(
    session: &Session,
    file: &Path,
    overrides: &[(String, String)],
    tried: &Tried,
) -> Result<Result<(Plan, Identity), String>, Failure> {
    let parsed = parse_plan(session, file, overrides)?;
    let identified = |plan: Plan| {
        let identity = Identity::of(&plan);
        (plan, identity)
    };
    Ok(parsed.map(identified).map_err(|errors| refused(&tried.place, &errors)))
}

/// Checks every value alone, with the others as in the file, and reports all invalid values together.
fn check_each(
    session: &Session,
    file: &Path,
    base: &[(String, String)],
    axes: &[Axis],
) -> Result<(), Failure> {
    read_plan(session, file, base)?;
    let mut messages = Vec::new();
    for axis in axes {
        for tried in &axis.values {
            let mut overrides = base.to_vec();
            overrides.push((axis.key.clone(), tried.written.clone()));
            if let Err(errors) = parse_plan(session, file, &overrides)? {
                // Other errors may disappear with the values of another axis; `points` reads the
                // combinations.
                if let Some(error) = errors.iter().find(|error| error.file == "--set") {
                    messages.push(format!("{}: {}", tried.place, sentence(error)));
                }
            }
        }
    }
    match messages.is_empty() {
        true => Ok(()),
        false => Err(Failure { exit: Exit::Error, message: messages.join("\n") }),
    }
}

fn combination(axes: &[Axis], mut index: usize) -> Vec<&Tried> {
    let mut chosen = Vec::with_capacity(axes.len());
    // Digits of `index` in a mixed base, the last axis first.
    for axis in axes.iter().rev() {
        chosen.push(&axis.values[index % axis.values.len()]);
        index /= axis.values.len();
    }
    chosen.reverse();
    chosen
}

fn refused(place: &str, errors: &Errors) -> String {
    let sentences: Vec<String> = errors.iter().map(sentence).collect();
    format!("{place}: {}", sentences.join("; "))
}

fn sentence(error: &Error) -> String {
    format!("{}{}", error.message, suggest::question(&error.suggestions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_inside_brackets_and_quotes_separate_nothing() {
        let axis = parse_axis("--grid", "k = a,{ x = [1,2], y = \"b,c\" }, 'd,e'").expect("sound");
        let values: Vec<&str> = axis.values.iter().map(|tried| tried.written.as_str()).collect();
        assert_eq!((axis.key.as_str(), values), ("k", vec!["a", "{ x = [1,2], y = \"b,c\" }", "'d,e'"]));
    }

    #[test]
    fn a_path_replaces_what_was_set_at_it_or_below_it() {
        let all = |later, earlier| replaces(later, earlier, false);
        assert!(all("flow.*.scheme", "flow.0.scheme") && all("flow.0.scheme", "flow.00.scheme"));
        assert!(all("flow.0.scheme", "flow.0.scheme.beta") && !all("flow.0.scheme.beta", "flow.0.scheme"));
        assert!(!all("flow.0.scheme", "flow.*.scheme") && replaces("flow.0.scheme", "flow.*.scheme", true));
        assert!(!all("flow.0.scheme", "flow.1.scheme") && !all("flow.*.scheme", "flow.0.size"));
    }

    #[test]
    fn a_grid_without_key_or_value_is_refused() {
        for text in ["", "k", "k=", "=a", "k=a,,b", "k=a,b,a"] {
            assert!(parse_axis("--grid", text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_last_axis_changes_fastest() {
        let axes = ["a=1,2", "b=x,y,z"].map(|text| parse_axis("--grid", text).expect("sound"));
        let shown = |index| combination(&axes, index).iter().map(|tried| tried.shown()).collect::<String>();
        assert_eq!((0..6).map(shown).collect::<Vec<_>>(), ["1x", "1y", "1z", "2x", "2y", "2z"]);
    }
}
