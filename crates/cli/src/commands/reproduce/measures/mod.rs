//! Measures of one run that expressions of a paper name, beside those that `compare` and `sweep` have.

mod brf;
mod events;
mod flows;
mod links;
mod mircc;
mod ndnsieve;
mod plr;

use tidegate_core::observe::event::EventMask;
use tidegate_core::observe::records::{EventRecord, RunRecord};
use tidegate_papers::expression::{Call, Expression, Word};
use tidegate_papers::quantity;
use tidegate_papers::value::Value;
use tidegate_results::measures::{self, RUN_MEASURES};
use tidegate_settings::suggest::{meant, question};
use tidegate_sim::plan::Plan;

/// A run and what was planned.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    /// With samples, and with the events that the measures need.
    pub(super) record: &'a RunRecord,
}

/// A measure that takes arguments.
pub(super) struct Measure {
    /// Name.
    pub(super) name: &'static str,
    /// What it is, with its unit and its arguments.
    pub(super) text: &'static str,
    /// Names of its arguments.
    pub(super) parameters: &'static [&'static str],
    /// Events that the run must have recorded.
    pub(super) events: EventMask,
    /// Its value; `None` if this run has none.
    pub(super) of: fn(&Run<'_>, &Arguments<'_>) -> Result<Option<Value>, String>,
}

/// A measure that needs no events.
const fn measure(
    name: &'static str,
    parameters: &'static [&'static str],
    text: &'static str,
    of: fn(&Run<'_>, &Arguments<'_>) -> Result<Option<Value>, String>,
) -> Measure {
    Measure { name, text, parameters, events: EventMask::NONE, of }
}

/// All measures that take arguments.
fn all() -> impl Iterator<Item = &'static Measure> {
    let general = [flows::MEASURES, links::MEASURES, events::MEASURES];
    let of_papers = [plr::MEASURES, ndnsieve::MEASURES, mircc::MEASURES, brf::MEASURES];
    general.into_iter().chain(of_papers).flatten()
}

fn find(name: &str) -> Option<&'static Measure> {
    all().find(|measure| measure.name == name)
}

/// Whether a call is one of a measure of the whole run, without arguments.
fn of_run(call: &Call) -> Option<&'static measures::RunMeasure> {
    measures::find(&call.name).filter(|_| call.objects.is_empty() && call.named.is_empty())
}

/// Events that a run must record for a quantity; `own` are the names of the paper's own measures.
///
/// # Errors
/// A measure that is not known, or an argument that it does not have.
pub(super) fn events(quantity: &Expression, own: &[&str]) -> Result<EventMask, String> {
    let mut mask = EventMask::NONE;
    for call in quantity.calls() {
        if of_run(call).is_some() {
            continue;
        }
        let measure = find(&call.name).ok_or_else(|| unknown(&call.name, own))?;
        if let Some((key, _)) = call.named.iter().find(|(key, _)| !measure.parameters.contains(&key.as_str()))
        {
            return Err(match measure.parameters {
                [] => format!("{} has no argument {key:?}; it has none", call.name),
                known => format!("{} has no argument {key:?}; it has {}", call.name, known.join(", ")),
            });
        }
        mask = mask.and(measure.events);
    }
    Ok(mask)
}

fn unknown(name: &str, own: &[&str]) -> String {
    let of_runs = RUN_MEASURES.iter().map(|measure| measure.name);
    let mut known: Vec<&str> =
        own.iter().copied().chain(of_runs).chain(all().map(|measure| measure.name)).collect();
    known.sort_unstable();
    known.dedup();
    let hint = match meant(name, known.iter().copied()).as_slice() {
        [] => format!("; known: {}", known.join(", ")),
        near => question(near),
    };
    format!("measure {name:?} is not known{hint}")
}

/// What a measure that has no value is.
pub(super) fn text(name: &str) -> &'static str {
    find(name).map(|measure| measure.text).or(measures::find(name).map(|measure| measure.text)).unwrap_or("")
}

/// The value of a quantity; `None` if a measure in it has none.
///
/// # Errors
/// Objects that the run does not have, arguments that are no numbers, a value that a function does not take.
pub(super) fn value(run: &Run<'_>, quantity: &Expression) -> Result<Option<Value>, String> {
    quantity::value(quantity, &mut |call| {
        if let Some(measure) = of_run(call) {
            return Ok((measure.of)(run.record).filter(|value| value.is_finite()).map(Value::Number));
        }
        let measure = find(&call.name).ok_or_else(|| unknown(&call.name, &[]))?;
        (measure.of)(run, &Arguments { call })
    })
}

/// What a measure is asked for.
pub(super) struct Arguments<'a> {
    call: &'a Call,
}

impl Arguments<'_> {
    /// A named argument as a text.
    fn text(&self, key: &str) -> Option<&str> {
        self.call.named.iter().find(|(known, _)| known == key).map(|(_, word)| word.text.as_str())
    }

    /// A named argument as a number.
    pub(super) fn number(&self, key: &str) -> Result<f64, String> {
        let text = self.text(key).ok_or_else(|| format!("{} needs {key} = NUMBER", self.call.name))?;
        let number = match text {
            "inf" => Some(f64::INFINITY),
            _ => text.parse().ok().filter(|number: &f64| number.is_finite()),
        };
        number.ok_or_else(|| format!("{key} of {} is {text:?}, which is no number", self.call.name))
    }

    /// The same, or `default` without it.
    pub(super) fn number_or(&self, key: &str, default: f64) -> Result<f64, String> {
        if self.text(key).is_none() { Ok(default) } else { self.number(key) }
    }

    /// A named argument among these words, the first without it.
    pub(super) fn word(&self, key: &str, known: &[&'static str]) -> Result<&'static str, String> {
        let Some(text) = self.text(key) else { return Ok(known.first().copied().unwrap_or("")) };
        let found = known.iter().copied().find(|word| *word == text);
        found
            .ok_or_else(|| format!("{key} of {} is {text:?}; it can be {}", self.call.name, known.join(", ")))
    }

    /// Indices of the flows that are named, in the run's order; all flows if none is named.
    pub(super) fn flows(&self, run: &Run<'_>) -> Result<Vec<usize>, String> {
        self.objects("flow", run.record.flows.iter().map(|flow| flow.name.clone()).collect())
    }

    /// Indices of the directions of links that are named, such as `r1>c1`.
    pub(super) fn links(&self, run: &Run<'_>) -> Result<Vec<usize>, String> {
        let names = run.record.links.iter().map(|link| format!("{}>{}", link.from, link.to));
        self.objects("direction of a link", names.collect())
    }

    /// Indices of the nodes that are named.
    pub(super) fn nodes(&self, run: &Run<'_>) -> Result<Vec<usize>, String> {
        self.objects("node", run.record.nodes.iter().map(|node| node.name.clone()).collect())
    }

    fn objects(&self, what: &str, names: Vec<String>) -> Result<Vec<usize>, String> {
        let wanted = &self.call.objects;
        if let Some(word) = wanted.iter().find(|word| !names.iter().any(|name| fits(&word.text, name))) {
            let listed: Vec<&str> = names.iter().take(20).map(String::as_str).collect();
            return Err(format!("no {what} is called {:?}; there are {}", word.text, listed.join(", ")));
        }
        let is_wanted = |name: &String| wanted.is_empty() || wanted.iter().any(|word| fits(&word.text, name));
        Ok((0..names.len()).filter(|place| is_wanted(&names[*place])).collect())
    }

    /// Whether one object is named exactly, so that there is one value and no list.
    fn is_single(&self) -> bool {
        matches!(self.call.objects.as_slice(), [Word { text, .. }] if !text.contains('*'))
    }

    /// The value of each object: a number for a single one, else a list without those that have none.
    pub(super) fn each(
        &self,
        objects: Vec<usize>,
        of: impl Fn(usize) -> Option<f64>,
    ) -> Result<Option<Value>, String> {
        let mut values = objects.into_iter().filter_map(of);
        Ok(if self.is_single() {
            values.next().map(Value::Number)
        } else {
            Some(Value::List(values.collect()))
        })
    }
}

/// Whether a name fits a pattern, in which `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(found) = rest.find(part) else { return false };
        rest = &rest[found + part.len()..];
    }
    rest.ends_with(last)
}

/// Series of several objects, added point by point.
fn added(all: impl Iterator<Item = Vec<(f64, f64)>>) -> Result<Option<Value>, String> {
    let mut sum: Option<Vec<(f64, f64)>> = None;
    for series in all {
        match &mut sum {
            None => sum = Some(series),
            Some(sum) if sum.len() == series.len() => {
                sum.iter_mut().zip(&series).for_each(|(point, other)| point.1 += other.1);
            }
            Some(sum) => {
                return Err(format!("series of {} and of {} points are added", sum.len(), series.len()));
            }
        }
    }
    Ok(Some(Value::Series(sum.unwrap_or_default())))
}

/// The run without events that were recorded for measures alone.
pub(super) fn without_extra_events(plan: &Plan, record: RunRecord) -> RunRecord {
    let is_wanted = |event: &EventRecord| plan.recorded.has(event.event.bit());
    let events = record.events.iter().filter(|event| is_wanted(event)).cloned().collect();
    RunRecord { events, ..record }
}

#[cfg(test)]
mod brf_tests;
#[cfg(test)]
mod mircc_tests;
#[cfg(test)]
mod ndnsieve_tests;
#[cfg(test)]
mod plr_tests;
#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_in_a_pattern_stands_for_any_text() {
        for (pattern, name) in
            [("*", ""), ("*", "c1"), ("c*", "c1"), ("r*>c1", "r12>c1"), ("*>*", "a>b"), ("a*b*c", "abc")]
        {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("c1", "c12"), ("c*", "r1"), ("r*>c1", "r1>c2"), ("a*b*c", "acb")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn no_two_measures_with_arguments_share_a_name_and_each_is_described() {
        let names: Vec<&str> = all().map(|measure| measure.name).collect();
        for (place, name) in names.iter().enumerate() {
            assert!(!names[..place].contains(name), "{name}");
            assert!(!text(name).is_empty(), "{name}");
        }
    }
}
