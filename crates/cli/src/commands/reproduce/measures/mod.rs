//! Measures of one run for the expressions of papers, in addition to those of `compare` and `sweep`.

mod brf;
mod events;
mod flows;
mod links;
mod mircc;
mod ndnsieve;
mod plr;

use tidegate_core::observe::event::EventMask;
use tidegate_core::observe::records::{
    EventRecord, FlowRecord, FlowSamples, LinkRecord, LinkSamples, RunRecord,
};
use tidegate_core::units::Time;
use tidegate_papers::expression::{Call, Expression, Word};
use tidegate_papers::quantity;
use tidegate_papers::value::MeasureValue;
use tidegate_results::measures::{self, RUN_MEASURES};
use tidegate_settings::suggest::{intended, question};
use tidegate_sim::plan::{LinkPlan, Plan};

use crate::command_line::listed;

/// A run with its plan.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    /// With samples, and with the events that the measures need.
    pub(super) record: &'a RunRecord,
}

/// A value; `None` if this run has none.
type Answer = Result<Option<MeasureValue>, String>;

/// A measure that takes arguments.
pub(super) struct MeasureFunction {
    /// Name of the measure in expressions.
    name: &'static str,
    /// Description with the unit and all arguments.
    text: &'static str,
    /// Named arguments of the measure.
    parameters: &'static [(&'static str, Takes)],
    /// Events that the run must have recorded.
    events: EventMask,
    of: Of,
}

/// Accepted values of a named argument.
enum Takes {
    /// A number of at least 0 that must be given.
    Number,
    /// A finite number above 0 that must be given.
    Positive,
    /// A whole number from 1 to 1000000 that may be omitted.
    Count,
    /// A time of at least 0 that may be omitted, s.
    Time,
    /// As `Time`, or the word `first`.
    First,
    /// One of these words; the first by default.
    Words(&'static [&'static str]),
}

impl Takes {
    /// Whether it accepts a number, and the numbers that it accepts in words.
    fn accepts(&self, number: f64) -> (bool, &'static str) {
        match self {
            Self::Positive => (number > 0.0 && number.is_finite(), "a number above 0"),
            Self::Count => {
                ((1.0..=1e6).contains(&number) && number.fract() == 0.0, "a whole number from 1 to 1000000")
            }
            Self::Number => (number >= 0.0, "a number of at least 0"),
            Self::Time | Self::First => (number >= 0.0, "a time of at least 0"),
            Self::Words(_) => (true, ""),
        }
    }
}

/// Objects of a measure, and the function that computes it.
enum Of {
    /// A value for each named flow, or for all flows.
    Flow(fn(&FlowRecord, Time) -> Option<f64>),
    /// A value for each named direction of a link, such as `r1>c1`, or for all.
    Link(fn(&LinkRecord, Time) -> Option<f64>),
    /// A value for each sample, summed over the flows.
    FlowSample(fn(&FlowSamples, usize) -> f64),
    /// A value for each sample, summed over the links.
    LinkSample(fn(&LinkSamples, usize) -> f64),
    Flows(fn(&Run<'_>, &Arguments<'_>) -> Answer),
    OneFlow(fn(&Run<'_>, &Arguments<'_>, usize) -> Answer),
    Links(fn(&Run<'_>, &Arguments<'_>) -> Answer),
    Nodes(fn(&Run<'_>, &Arguments<'_>) -> Answer),
    /// A value of the one thing that has this name in events.
    Thing(fn(&Run<'_>, &str, &Arguments<'_>) -> Answer),
    Whole(fn(&Run<'_>, &Arguments<'_>) -> Answer),
}

/// A table of measures: name, named arguments, events, function, description.
macro_rules! measure_table {
    ($($name:literal [$($key:literal $takes:expr),*] $events:expr, $of:ident($value:expr), $text:literal;)*) => {
        pub(super) const MEASURES: &[MeasureFunction] = &[$(MeasureFunction {
            name: $name,
            text: $text,
            parameters: &[$(($key, $takes)),*],
            events: $events,
            of: Of::$of($value),
        }),*];
    };
}
use measure_table;

/// The arguments of measures of delays.
const AT: Takes = Takes::Words(&["mean", "min", "p50", "p95", "p99", "max"]);
const NONE: EventMask = EventMask::NONE;

/// All measures that take arguments.
fn all() -> impl Iterator<Item = &'static MeasureFunction> {
    let general = [flows::MEASURES, links::MEASURES, events::MEASURES];
    let of_papers = [plr::MEASURES, ndnsieve::MEASURES, mircc::MEASURES, brf::MEASURES];
    general.into_iter().chain(of_papers).flatten()
}

fn find(name: &str) -> Option<&'static MeasureFunction> {
    all().find(|measure| measure.name == name)
}

/// The measure of the whole run that a call without arguments refers to; `None` for other calls.
fn of_run(call: &Call) -> Option<&'static measures::RunMeasure> {
    // The same name with a flow is another measure: `goodput_mbps` is the total, `goodput_mbps(C1)` of one.
    measures::find(&call.name).filter(|_| call.objects.is_empty() && call.named.is_empty())
}

/// Whether the program has a measure of this name.
pub(super) fn is_measure(name: &str) -> bool {
    find(name).is_some() || measures::find(name).is_some()
}

/// Checks a call in a definition, whose arguments may be its `parameters`; `own` are the names of the paper's own measures.
///
/// # Errors
/// A measure or an argument that is not known.
pub(super) fn check(call: &Call, parameters: &[String], own: &[&str]) -> Result<(), String> {
    if of_run(call).is_some() {
        return Ok(());
    }
    let measure = find(&call.name).ok_or_else(|| unknown(&call.name, own))?;
    Arguments { call, measure }.check_named(parameters)
}

/// Events that a run of `plan` must record for a quantity; `own` are the names of the paper's own measures.
///
/// # Errors
/// A measure, an argument or an object that is not known, with its call.
pub(super) fn events<'a>(
    quantity: &'a Expression,
    plan: &Plan,
    own: &[&str],
) -> Result<EventMask, (&'a Call, String)> {
    let mut mask = EventMask::NONE;
    for call in quantity.calls().into_iter().filter(|call| of_run(call).is_none()) {
        let wrong = |message: String| (call, message);
        check(call, &[], own).map_err(wrong)?;
        let Some(measure) = find(&call.name) else { continue };
        Arguments { call, measure }.check_objects(plan).map_err(wrong)?;
        mask = mask.union(measure.events);
    }
    Ok(mask)
}

fn unknown(name: &str, own: &[&str]) -> String {
    let of_runs = RUN_MEASURES.iter().map(|measure| measure.name);
    let mut known: Vec<&str> =
        own.iter().copied().chain(of_runs).chain(all().map(|measure| measure.name)).collect();
    known.sort_unstable();
    known.dedup();
    not_known("measure", name, &known)
}

/// The message for a name that is not among `known`.
fn not_known(what: &str, name: &str, known: &[&str]) -> String {
    let near = intended(name, known.iter().copied());
    if !near.is_empty() {
        return format!("{what} {name:?} is not known{}", question(&near));
    }
    format!("{what} {name:?} is not known; known: {}", listed(known.iter().copied()))
}

/// Description of a measure, for messages about one without a value; empty if there is no such measure.
pub(super) fn text(name: &str) -> &'static str {
    find(name).map(|measure| measure.text).or(measures::find(name).map(|measure| measure.text)).unwrap_or("")
}

/// The value of a quantity; `None` if a measure in it has none.
///
/// # Errors
/// Objects that the run does not have, arguments that are no numbers, a value that a function does not take.
pub(super) fn value(run: &Run<'_>, quantity: &Expression) -> Result<Option<MeasureValue>, String> {
    quantity::value(quantity, &mut |call| {
        if let Some(measure) = of_run(call) {
            return Ok((measure.of)(run.record).filter(|value| value.is_finite()).map(MeasureValue::Number));
        }
        let measure = find(&call.name).ok_or_else(|| unknown(&call.name, &[]))?;
        Arguments { call, measure }.value(run)
    })
}

/// A measure with its arguments.
pub(super) struct Arguments<'a> {
    call: &'a Call,
    measure: &'static MeasureFunction,
}

impl Arguments<'_> {
    /// Checks the named arguments except for those that are a parameter of a definition.
    fn check_named(&self, parameters: &[String]) -> Result<(), String> {
        let (name, declared) = (&self.call.name, self.measure.parameters);
        for (place, (key, _)) in self.call.named.iter().enumerate() {
            if declared.iter().all(|(known, _)| known != key) {
                let known: Vec<&str> = declared.iter().map(|(known, _)| *known).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(format!("{name} has no argument {key:?}; it has {known}"));
            }
            if self.call.named[..place].iter().any(|(other, _)| other == key) {
                return Err(format!("{name} is given {key} twice"));
            }
        }
        let is_open = |key: &str| parameters.iter().any(|parameter| self.text(key) == Some(parameter));
        for (key, takes) in declared.iter().filter(|(key, _)| !is_open(key)) {
            self.check_value(key, takes)?;
        }
        let [from, to] = [["from"; 2], ["to", "until"]].map(|keys| {
            let key = keys.into_iter().find(|key| self.text(key).is_some() && !is_open(key))?;
            Some((key, self.number(key).ok()?))
        });
        match (from, to) {
            (Some((_, from)), Some((key, to))) if to <= from => {
                Err(format!("{key} of {name} is {to}, which is not after from, {from}"))
            }
            _ => Ok(()),
        }
    }

    fn check_value(&self, key: &str, takes: &Takes) -> Result<(), String> {
        let number = match (takes, self.text(key)) {
            (Takes::Words(_), _) => return self.word(key).map(drop),
            (Takes::First, Some("first")) | (Takes::First | Takes::Time | Takes::Count, None) => {
                return Ok(());
            }
            _ => self.number(key)?,
        };
        let (is_accepted, rule) = takes.accepts(number);
        if is_accepted {
            Ok(())
        } else {
            Err(format!("{key} of {} is {number}; it is {rule}", self.call.name))
        }
    }

    /// Checks the names of objects.
    fn check_objects(&self, plan: &Plan) -> Result<(), String> {
        match self.measure.of {
            Of::OneFlow(_) => self.one(plan).map(drop),
            Of::Thing(_) => self.thing().map(drop),
            _ => self.objects(plan).map(drop),
        }
    }

    fn value(&self, run: &Run<'_>) -> Answer {
        let Run { plan, record } = *run;
        match self.measure.of {
            Of::Flow(of) => self.each(run, |flow| of(&record.flows[flow], record.ended)),
            Of::Link(of) => self.each(run, |link| of(&record.links[link], record.ended)),
            Of::FlowSample(of) => {
                self.added(run, |flow| flows::points(run, flow, |row| of(&record.flow_samples, row)))
            }
            Of::LinkSample(of) => {
                self.added(run, |link| links::points(run, link, |row| of(&record.link_samples, row)))
            }
            Of::OneFlow(of) => of(run, self, self.one(plan)?),
            Of::Thing(of) => of(run, self.thing()?, self),
            Of::Flows(of) | Of::Links(of) | Of::Nodes(of) | Of::Whole(of) => of(run, self),
        }
    }

    /// A named argument as a text.
    fn text(&self, key: &str) -> Option<&str> {
        self.call.named.iter().find(|(known, _)| known == key).map(|(_, word)| word.text.as_str())
    }

    /// A named argument as a number.
    fn number(&self, key: &str) -> Result<f64, String> {
        let text = self.text(key).ok_or_else(|| format!("{} needs {key} = NUMBER", self.call.name))?;
        let number = match text {
            // `parse` would also accept "infinity" and "nan".
            "inf" => Some(f64::INFINITY),
            _ => text.parse().ok().filter(|number: &f64| number.is_finite()),
        };
        number.ok_or_else(|| format!("{key} of {} is {text:?}, which is not a number", self.call.name))
    }

    /// A named argument as a number; `default` if it is not given.
    fn number_or(&self, key: &str, default: f64) -> Result<f64, String> {
        if self.text(key).is_none() { Ok(default) } else { self.number(key) }
    }

    /// A named argument among its words; the first word if it is not given.
    fn word(&self, key: &str) -> Result<&'static str, String> {
        let declared = self.measure.parameters.iter().find(|(known, _)| *known == key);
        let Some((_, Takes::Words(known))) = declared else { return Ok("") };
        let text = self.text(key).or_else(|| known.first().copied()).unwrap_or_default();
        let found = known.iter().copied().find(|word| *word == text);
        found
            .ok_or_else(|| format!("{key} of {} is {text:?}; it can be {}", self.call.name, known.join(", ")))
    }

    /// Kind of the measure's objects, for messages, and the names of all such objects of `plan`.
    fn names(&self, plan: &Plan) -> (&'static str, Vec<String>) {
        let of_link = |link: &LinkPlan| {
            let [a, b] = [link.a, link.b].map(|node| &plan.nodes[node].name);
            [format!("{a}>{b}"), format!("{b}>{a}")]
        };
        match self.measure.of {
            Of::Flow(_) | Of::FlowSample(_) | Of::Flows(_) | Of::OneFlow(_) => {
                ("flow", plan.flows.iter().map(|flow| flow.name.clone()).collect())
            }
            Of::Link(_) | Of::LinkSample(_) | Of::Links(_) => {
                ("direction of a link", plan.links.iter().flat_map(of_link).collect())
            }
            Of::Nodes(_) => ("node", plan.nodes.iter().map(|node| node.name.clone()).collect()),
            Of::Thing(_) | Of::Whole(_) => ("", Vec::new()),
        }
    }

    /// Indices of the flows, links or nodes that are named, in the run's order; all of them if none is named.
    fn objects(&self, plan: &Plan) -> Result<Vec<usize>, String> {
        let (required, (what, names)) = (&self.call.objects, self.names(plan));
        if let Some(word) = required.iter().find(|word| !names.iter().any(|name| stands_for(word, name))) {
            if what.is_empty() {
                return Err(format!("{} is of the whole run and takes no {:?}", self.call.name, word.text));
            }
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(not_known(what, &word.text, &known));
        }
        let is_required =
            |name: &String| required.is_empty() || required.iter().any(|word| stands_for(word, name));
        Ok((0..names.len()).filter(|place| is_required(&names[*place])).collect())
    }

    fn one(&self, plan: &Plan) -> Result<usize, String> {
        match self.objects(plan)?.as_slice() {
            [flow] => Ok(*flow),
            flows => Err(format!("{} is of one flow, and this names {}", self.call.name, flows.len())),
        }
    }

    fn thing(&self) -> Result<&str, String> {
        match self.call.objects.as_slice() {
            [thing] => Ok(&thing.text),
            _ => {
                Err(format!("{0} needs the name of one thing, such as {0}(\"first grant\")", self.call.name))
            }
        }
    }

    /// The value of each object: a number if one is named exactly, else a list without those that have none.
    fn each(&self, run: &Run<'_>, of: impl Fn(usize) -> Option<f64>) -> Answer {
        let objects = self.objects(run.plan)?;
        // A pattern with `*` may match one object only; the kind of a value must not depend on the topology.
        if matches!(self.call.objects.as_slice(), [word] if word.is_quoted || !word.text.contains('*')) {
            return Ok(objects.into_iter().find_map(of).map(MeasureValue::Number));
        }
        let end = run.plan.duration.as_secs_f64();
        Ok(Some(MeasureValue::List(match self.number_or("from", 0.0) {
            // The sum of a list without values would be 0.
            Ok(from) if from >= end => vec![f64::NAN; objects.len()],
            _ => objects.into_iter().filter_map(of).collect(),
        })))
    }

    /// The series of all objects, added point by point.
    fn added(&self, run: &Run<'_>, of: impl Fn(usize) -> Vec<(f64, f64)>) -> Answer {
        let mut all = self.objects(run.plan)?.into_iter().map(of);
        let mut sum = all.next().unwrap_or_default();
        for series in all {
            // Points are added by place, which is the same time only in series of one length.
            if sum.len() != series.len() {
                return Err(format!("series of {} and of {} points are added", sum.len(), series.len()));
            }
            sum.iter_mut().zip(&series).for_each(|(point, other)| point.1 += other.1);
        }
        Ok(Some(MeasureValue::Series(sum)))
    }
}

/// Whether a word stands for a name: in quotes it is the name itself, else a pattern.
fn stands_for(word: &Word, name: &str) -> bool {
    if word.is_quoted { word.text == name } else { fits(&word.text, name) }
}

/// Whether a name matches a pattern, in which `*` matches any text.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        // The first occurrence is enough: the rest of the pattern that fits behind a later one also fits
        // behind it.
        let Some(found) = rest.find(part) else { return false };
        rest = &rest[found + part.len()..];
    }
    rest.ends_with(last)
}

/// The run without events that were recorded for measures alone.
pub(super) fn without_extra_events(plan: &Plan, record: RunRecord) -> RunRecord {
    // A sweep of the same scenario has to find the same bytes in the store.
    let is_required = |event: &EventRecord| plan.recorded.has(event.event.bit());
    let events = record.events.iter().filter(|event| is_required(event)).cloned().collect();
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

    const DUMBBELL: &str = include_str!("../../../../scenarios/papers/mircc/dumbbell.toml");

    #[test]
    fn a_quoted_name_is_no_pattern_and_a_wrong_time_or_name_does_not_give_0() {
        let (mut plan, record) = testing::recorded(DUMBBELL, 2, &[]);
        plan.flows[0].name = "a*".to_owned();
        plan.flows[1].name = "ab".to_owned();
        let run = (plan, record);
        assert!(testing::number(&run, "interests(\"a*\")") > 0.0);
        assert!(
            matches!(testing::value(&run, "interests(a*)"), Ok(MeasureValue::List(all)) if all.len() == 2)
        );
        assert!(testing::number(&run, "sum(goodput_mbps(*, from = 25))").is_nan(), "not 0");
        let wrong = testing::value(&run, "count(estimates(\"first grants\"))").expect_err("misspelt");
        assert_eq!(wrong, "estimated quantity \"first grants\" is not known; did you mean \"first grant\"?");
        assert_eq!(testing::number(&run, "count(estimates(\"first grant\"))"), 0.0);
    }

    #[test]
    fn the_book_lists_every_measure_with_arguments() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/src/reproduce.md");
        let page = std::fs::read_to_string(page).expect("the page is there");
        for measure in all() {
            let is_listed =
                ["`", "(", ","].iter().any(|end| page.contains(&format!("`{}{end}", measure.name)));
            assert!(is_listed, "{} is not in docs/book/src/reproduce.md", measure.name);
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
