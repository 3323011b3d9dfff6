//! Quantities of one run: expressions over the measures of the catalogue, and measures that a paper defines of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::expression::{Call, Expression, Fault, PlacedExpression, Range, Word};
use crate::function::Function;
use crate::value::MeasureValue;

/// Maximum number of parts of a quantity after all definitions are expanded.
const MAX_PARTS: usize = 10_000;
/// Maximum nesting of a quantity after all definitions are expanded: what reads it is recursive, and a thread's stack small.
const MAX_EXPANDED_DEPTH: usize = 500;

/// Maximum number of reported uses of wrong measures in one definition.
const MAX_FAULTS: usize = 10;

/// A measure that a paper defines: `"loss(flow)" = "1 - delivered_segments(flow) / interests(flow)"`.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureDefinition {
    /// Name of the measure in expressions.
    pub name: String,
    /// Names of its parameters, which are replaced by objects or by values of named arguments.
    pub parameters: Vec<String>,
    /// Expression by which the name is replaced.
    pub body: PlacedExpression,
    /// Place of the name in the file.
    pub at: Range,
}

impl MeasureDefinition {
    /// Place in the file of a range of its expression.
    pub fn place(&self, at: Range) -> Range {
        at.behind(self.body.at.start)
    }

    /// Measures that its expression uses, without its parameters.
    fn measures(&self) -> impl Iterator<Item = &Call> {
        let is_parameter = |call: &&Call| call.is_bare() && self.parameters.contains(&call.name);
        self.body.expression.calls().into_iter().filter(move |call| !is_parameter(call))
    }

    /// Error message for a call of it with other arguments than its parameters.
    fn wrong_arguments(&self, call: &Call) -> Option<String> {
        let Self { name, parameters, .. } = self;
        if call.objects.len() == parameters.len() && call.named.is_empty() {
            return None;
        }
        Some(match parameters.as_slice() {
            [] => format!("{name} takes no arguments"),
            [one] => format!("{name} takes 1 argument without names: {name}({one})"),
            all => format!("{name} takes {} arguments without names: {name}({})", all.len(), all.join(", ")),
        })
    }
}

/// Errors of definitions that can be found without the measures of the program, each with its place in the file.
pub(crate) fn faults(definitions: &[MeasureDefinition]) -> impl Iterator<Item = (Range, String)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, definition) in definitions.iter().enumerate() {
        places.entry(&definition.name).or_insert(place);
    }
    definitions.iter().enumerate().flat_map(move |(place, definition)| {
        let name = &definition.name;
        let twice = places.get(name.as_str()).is_some_and(|first| *first != place);
        let twice = twice.then(|| (definition.at, format!("measure {name:?} is defined twice")));
        let misplaced = first_misplaced(&definition.body.expression);
        let uses = definition.measures().filter_map(|call| {
            let used = *places.get(call.name.as_str())?;
            let is_above = used < place;
            let wrong = definitions[used].wrong_arguments(call).filter(|_| is_above);
            let message = wrong.or_else(|| (!is_above).then(|| below(definitions, &places, place, used)))?;
            Some((definition.place(call.at), message))
        });
        let misplaced = misplaced.map(|fault| (definition.place(fault.at), fault.message));
        // Each of a million uses could search the definitions below, and a few messages are enough.
        twice.into_iter().chain(misplaced).chain(uses.take(MAX_FAULTS)).collect::<Vec<_>>()
    })
}

/// Error message for the definition at `user`, which uses the one at `used`, itself or one further below.
fn below(
    definitions: &[MeasureDefinition],
    places: &BTreeMap<&str, usize>,
    user: usize,
    used: usize,
) -> String {
    let rule = "a definition may use those above it";
    let name = |place: usize| definitions[place].name.as_str();
    if user == used {
        return format!("{} uses itself; {rule}", name(user));
    }
    // The shortest way from the used definition back to its user, if there is one.
    let (mut before, mut next) = (BTreeMap::from([(used, user)]), VecDeque::from([used]));
    while let Some(place) = next.pop_front().filter(|_| !before.contains_key(&user)) {
        for inner in definitions[place].measures().filter_map(|call| places.get(call.name.as_str())) {
            before.entry(*inner).or_insert_with(|| {
                next.push_back(*inner);
                place
            });
        }
    }
    let Some(mut place) = before.get(&user).copied() else {
        return format!("{} is defined below {}; {rule}", name(used), name(user));
    };
    let mut circle = vec![name(user)];
    while place != user {
        circle.push(name(place));
        place = before[&place];
    }
    circle.reverse();
    format!("{} uses {}; {rule}", name(user), circle.join(", which uses "))
}

/// What has no meaning within one run; `None` for an expression with a meaning there.
fn misplaced(part: &Expression) -> Option<Fault> {
    let (at, message) = match part {
        Expression::Apply(function, _, at) if function.is_over_seeds() => {
            (*at, format!("{} is over seeds, and this is of one run", function.name()))
        }
        Expression::Cell(_, cell) => (cell.at, "a cell within what is measured of one run".to_owned()),
        Expression::For(_, bindings) => {
            let at = bindings.first().map(|binding| binding.at).unwrap_or_default();
            (at, "settings vary within what is measured of one run".to_owned())
        }
        _ => return None,
    };
    Some(Fault { at, message })
}

fn first_misplaced(expression: &Expression) -> Option<Fault> {
    misplaced(expression).or_else(|| expression.parts().iter().find_map(first_misplaced))
}

/// Errors of definitions in the measures of the program that they use, each with its place in the file: `has` returns whether
/// there is a measure of this name, and `check` the error of a call, whose arguments may be parameters of the definition.
pub fn unknown_measures(
    definitions: &[MeasureDefinition],
    has: impl Fn(&str) -> bool,
    check: impl Fn(&Call, &[String]) -> Result<(), String>,
) -> Vec<(Range, String)> {
    let own: BTreeSet<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
    let mut faults = Vec::new();
    for definition in definitions {
        if has(&definition.name) {
            let message = format!("the program has a measure {:?}; choose another name", definition.name);
            faults.push((definition.at, message));
        }
        for call in definition.measures().filter(|call| !own.contains(call.name.as_str())) {
            let wrong = check(call, &definition.parameters).err();
            faults.extend(wrong.map(|message| (definition.place(call.at), message)));
        }
    }
    faults
}

/// The quantity with all definitions expanded; a definition may use those before it.
///
/// # Errors
/// A cell, a list over settings or a function over seeds, none of which has a meaning within one run; a wrong number of
/// arguments; definitions that grow too large.
pub fn expand(quantity: &Expression, definitions: &[MeasureDefinition]) -> Result<Expression, Fault> {
    put_in(quantity, definitions, 0, &mut 0)
}

/// [`expand`] at a `depth`, with the number of `parts` so far.
fn put_in(
    quantity: &Expression,
    definitions: &[MeasureDefinition],
    depth: usize,
    parts: &mut usize,
) -> Result<Expression, Fault> {
    *parts += 1;
    // A definition that uses the one before it twice doubles in size with every line, and one that uses it once is deeper.
    let limits = [(*parts, MAX_PARTS, "parts"), (depth, MAX_EXPANDED_DEPTH, "levels")];
    if let Some((_, max, what)) = limits.iter().find(|(value, max, _)| value > max) {
        // Not `calls`, which is recursive itself.
        let at = if let Expression::Call(call) = quantity { call.at } else { Range::default() };
        return Err(Fault { at, message: format!("it has more than {max} {what}") });
    }
    if let Some(fault) = misplaced(quantity) {
        return Err(fault);
    }
    let depth = depth + 1;
    let mut inner = |part: &Expression| put_in(part, definitions, depth, parts);
    Ok(match quantity {
        Expression::Number(number) => Expression::Number(*number),
        Expression::Call(call) => return with_definition(call, definitions, depth, parts),
        Expression::Minus(part) => Expression::Minus(Box::new(inner(part)?)),
        Expression::Pair(operator, sides) => {
            Expression::Pair(*operator, Box::new([inner(&sides[0])?, inner(&sides[1])?]))
        }
        Expression::Apply(function, arguments, at) => {
            let arguments: Vec<Expression> = arguments.iter().map(inner).collect::<Result<_, _>>()?;
            // Parameters have become numbers, which the parser could not check.
            if let Some(message) = function.wrong_literals(&arguments) {
                return Err(Fault { at: *at, message });
            }
            Expression::Apply(*function, arguments, *at)
        }
        Expression::Cell(..) | Expression::For(..) => quantity.clone(),
    })
}

fn with_definition(
    call: &Call,
    definitions: &[MeasureDefinition],
    depth: usize,
    parts: &mut usize,
) -> Result<Expression, Fault> {
    // The last definition of a name counts, and it sees those before it only: none can contain itself.
    let Some(place) = definitions.iter().rposition(|known| known.name == call.name) else {
        return Ok(Expression::Call(call.clone()));
    };
    let definition = &definitions[place];
    let MeasureDefinition { name, parameters, .. } = definition;
    let argument = |word: &Word| {
        let place = parameters.iter().position(|known| *known == word.text && !word.is_quoted)?;
        call.objects.get(place).cloned()
    };
    let body = &definition.body.expression;
    let wrong = definition.wrong_arguments(call).or_else(|| {
        let no_number = |call: &Call| argument(&call.bare()?).filter(|word| number(&word.text).is_none());
        let word = body.calls().into_iter().find_map(no_number)?;
        Some(format!("{name} computes with {:?}, which is not a number", word.text))
    });
    if let Some(message) = wrong {
        return Err(Fault { at: call.at, message });
    }
    let body = substituted(body, Some(place), &argument);
    let expanded = put_in(&body, &definitions[..place], depth, parts);
    // A place within the definition is of another text than the call.
    expanded.map_err(|fault| Fault { at: call.at, ..fault })
}

/// The quantity with variables among its objects and arguments replaced by their settings.
pub(crate) fn with_objects(quantity: &Expression, setting: &dyn Fn(&str) -> Option<String>) -> Expression {
    substituted(quantity, None, &|word: &Word| {
        let text = setting(&word.text).filter(|_| !word.is_quoted)?;
        Some(Word { text, is_quoted: true })
    })
}

/// The expression with words replaced among the arguments of its measures; a parameter outside of them
/// becomes a number. Its measures stand in the text of the definition with this index.
fn substituted(
    expression: &Expression,
    definition: Option<usize>,
    by: &dyn Fn(&Word) -> Option<Word>,
) -> Expression {
    let inner = |part: &Expression| substituted(part, definition, by);
    match expression {
        Expression::Call(call) => {
            // `from * 2` in the body of `late(from)` is arithmetic with a number, not a measure called `from`.
            if let Some(number) = call.bare().and_then(|word| number(&by(&word)?.text)) {
                return Expression::Number(number);
            }
            let replaced = |word: &Word| by(word).unwrap_or_else(|| word.clone());
            Expression::Call(Call {
                objects: call.objects.iter().map(replaced).collect(),
                named: call.named.iter().map(|(key, value)| (key.clone(), replaced(value))).collect(),
                definition,
                ..call.clone()
            })
        }
        Expression::Minus(part) => Expression::Minus(Box::new(inner(part))),
        Expression::Pair(operator, sides) => {
            Expression::Pair(*operator, Box::new([inner(&sides[0]), inner(&sides[1])]))
        }
        Expression::Apply(function, arguments, at) => {
            Expression::Apply(*function, arguments.iter().map(inner).collect(), *at)
        }
        other => other.clone(),
    }
}

/// A number, such as the name of a setting may be; `inf` is infinite.
pub(crate) fn number(text: &str) -> Option<f64> {
    // `parse` accepts "nan" and "infinity", too, which are more likely names of settings.
    match text {
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => text.parse::<f64>().ok().filter(|number| number.is_finite()),
    }
}

/// The value of a quantity with all definitions expanded; `measure` returns that of a measure, `None` if the
/// run has none, and then the quantity has none either.
///
/// # Errors
/// The first of `measure`, or of a function that is given what it does not take.
pub fn value(
    quantity: &Expression,
    measure: &mut dyn FnMut(&Call) -> Result<Option<MeasureValue>, String>,
) -> Result<Option<MeasureValue>, String> {
    let mut values = Vec::new();
    for part in quantity.parts() {
        match value(part, measure)? {
            Some(value) => values.push(value),
            // Without one of its values the whole has none: a partial sum would look like a result.
            None => return Ok(None),
        }
    }
    let combined = match (quantity, values.as_slice()) {
        (Expression::Number(number), _) => Ok(MeasureValue::Number(*number)),
        (Expression::Call(call), _) => return measure(call),
        (Expression::Minus(_), [inner]) => Ok(inner.each(|number| -number)),
        (Expression::Pair(operator, _), [left, right]) => {
            left.pair(right, |left, right| operator.of(left, right))
        }
        (Expression::Apply(function, ..), values) => combine(*function, values),
        _ => Err("it is not a quantity of one run".to_owned()),
    };
    combined.map(Some)
}

fn combine(function: Function, values: &[MeasureValue]) -> Result<MeasureValue, String> {
    if function.is_over_seeds() {
        return Err(format!("{} is over seeds, and this is of one run", function.name()));
    }
    function.of(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::parse;

    fn define(name: &str, parameters: &[&str], body: &str) -> MeasureDefinition {
        let parameters = parameters.iter().map(|name| (*name).to_owned()).collect();
        let body = PlacedExpression { expression: parse(body).expect("sound"), at: Range::default() };
        MeasureDefinition { name: name.to_owned(), parameters, body, at: Range::default() }
    }

    fn expanded(text: &str, definitions: &[MeasureDefinition]) -> Result<String, Fault> {
        expand(&parse(text).expect("sound"), definitions).map(|quantity| quantity.to_string())
    }

    #[test]
    fn definitions_are_put_in_with_their_arguments() {
        let definitions = [
            define("loss", &["flow"], "1 - delivered(flow) / interests(flow)"),
            define("both", &[], "max(loss(C1), loss(\"C 2\"))"),
            define("late", &["from"], "goodput(C1, from = from) * from"),
        ];
        let loss = |flow: &str| format!("(1 - (delivered({flow}) / interests({flow})))");
        assert_eq!(expanded("both", &definitions), Ok(format!("max({}, {})", loss("C1"), loss("\"C 2\""))));
        assert_eq!(expanded("late(3)", &definitions), Ok("(goodput(C1, from = 3) * 3)".to_owned()));
        assert_eq!(expanded("other(x)", &definitions), Ok("other(x)".to_owned()));
        let wrong = |text: &str| expanded(text, &definitions).expect_err("wrong").message;
        assert_eq!(wrong("2 * loss(C1, C2)"), "loss takes 1 argument without names: loss(flow)");
        assert_eq!(wrong("both(C1)"), "both takes no arguments");
        assert_eq!(wrong("late(C1)"), "late computes with \"C1\", which is not a number");
    }

    #[test]
    fn a_number_that_a_function_does_not_take_is_found_where_the_argument_is_given() {
        let definitions =
            [define("low", &["part"], "quantile(delays, part)"), define("lower", &[], "low(7)")];
        assert!(expanded("low(1)", &definitions).is_ok());
        for text in ["1 + low(2)", "1 + lower "] {
            let fault = expanded(text, &definitions).expect_err("too large");
            assert!(
                fault.message.starts_with("quantile takes a part from 0 to 1; it is given "),
                "{fault:?}"
            );
            assert_eq!(text[fault.at.start..fault.at.end].trim(), text[4..].trim());
        }
    }

    #[test]
    fn measures_of_a_definition_have_its_text_and_those_of_arguments_do_not() {
        let definitions =
            [define("half", &["flow"], "goodput(flow) / 2"), define("both", &[], "half(a) + rtt")];
        let quantity = expand(&parse("both + delay").expect("sound"), &definitions).expect("sound");
        let places: Vec<_> =
            quantity.calls().iter().map(|call| (call.name.clone(), call.definition)).collect();
        let expected = [("goodput", Some(0)), ("rtt", Some(1)), ("delay", None)];
        assert_eq!(places, expected.map(|(name, place)| (name.to_owned(), place)));
    }

    #[test]
    fn definitions_are_checked_against_the_measures_of_the_program() {
        let definitions = [
            define("goodput", &[], "1 + rtt(C1)"),
            define("loss", &["flow", "from"], "goodput / bytes(flow) + from"),
        ];
        let check = |call: &Call, parameters: &[String]| {
            if call.name == "rtt" { Ok(()) } else { Err(format!("{call} with {}", parameters.join(", "))) }
        };
        let wrong = unknown_measures(&definitions, |name| name == "goodput", check);
        let messages: Vec<&str> = wrong.iter().map(|(_, message)| message.as_str()).collect();
        assert_eq!(
            messages,
            ["the program has a measure \"goodput\"; choose another name", "bytes(flow) with flow, from"]
        );
    }

    #[test]
    fn a_definition_uses_those_before_it_alone_so_that_none_is_a_circle() {
        let definitions = [define("a", &[], "b"), define("b", &[], "a"), define("b", &[], "b + 1")];
        assert_eq!(expanded("b", &definitions), Ok("(b + 1)".to_owned()));
        let doubling: Vec<MeasureDefinition> = (0..40)
            .map(|place| define(&format!("d{place}"), &[], &format!("d{0} + d{0}", place - 1)))
            .collect();
        assert!(expanded("d39", &doubling).expect_err("too large").message.contains("more than 10000"));
        let chain: Vec<MeasureDefinition> = (0..5_000)
            .map(|place| define(&format!("d{place}"), &[], &format!("d{} + 1", place - 1)))
            .collect();
        assert!(expanded("d100", &chain).is_ok());
        assert!(expanded("d4999", &chain).expect_err("too deep").message.contains("more than 500 levels"));
    }

    #[test]
    fn what_has_no_meaning_within_one_run_is_refused() {
        let message = |text: &str| expanded(text, &[]).expect_err("wrong").message;
        assert_eq!(message("best(a)"), "best is over seeds, and this is of one run");
        assert_eq!(message("a[x]"), "a cell within what is measured of one run");
        assert_eq!(message("max(a for b in c)"), "settings vary within what is measured of one run");
    }

    #[test]
    fn a_quantity_without_one_of_its_measures_has_no_value() {
        let value_of = |text: &str| {
            value(&parse(text).expect("sound"), &mut |call| {
                Ok((call.name != "none").then(|| MeasureValue::List(vec![1.0, 2.0])))
            })
        };
        assert_eq!(value_of("-sum(a) * 2"), Ok(Some(MeasureValue::Number(-6.0))));
        assert_eq!(value_of("sum(a) + none"), Ok(None));
        assert!(value_of("every(a, 1)").is_err());
    }
}
