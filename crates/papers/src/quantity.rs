//! Quantities of one run: expressions over the measures of the catalogue, and measures that a paper defines of them.

use crate::expression::{Call, Expression, Fault, Range, Word};
use crate::function::Function;
use crate::value::MeasureValue;

/// Maximum number of parts of a quantity after all definitions are expanded.
const MAX_PARTS: usize = 10_000;
/// Maximum nesting of a quantity after all definitions are expanded: what reads it is recursive, and a thread's stack small.
const MAX_EXPANDED_DEPTH: usize = 500;

/// A measure that a paper defines: `"loss(flow)" = "1 - delivered_segments(flow) / interests(flow)"`.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureDefinition {
    /// Name of the measure in expressions.
    pub name: String,
    /// Names of its parameters, which are replaced by objects or by values of named arguments.
    pub parameters: Vec<String>,
    /// Expression by which the name is replaced.
    pub body: Expression,
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
            if function.is_over_seeds() {
                let message = format!("{} is over seeds, and this is of one run", function.name());
                return Err(Fault { at: *at, message });
            }
            let arguments = arguments.iter().map(inner).collect::<Result<_, _>>()?;
            Expression::Apply(*function, arguments, *at)
        }
        Expression::Cell(_, cell) => {
            return Err(Fault {
                at: cell.at,
                message: "a cell within what is measured of a cell".to_owned(),
            });
        }
        Expression::For(_, bindings) => {
            let at = bindings.first().map(|binding| binding.at).unwrap_or_default();
            return Err(Fault { at, message: "settings vary within what is measured of one run".to_owned() });
        }
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
    let MeasureDefinition { name, parameters, body } = &definitions[place];
    if call.objects.len() != parameters.len() || !call.named.is_empty() {
        let message = format!(
            "{name} takes {} argument{} without names: {name}({})",
            parameters.len(),
            if parameters.len() == 1 { "" } else { "s" },
            parameters.join(", ")
        );
        return Err(Fault { at: call.at, message });
    }
    let body = substituted(body, &|word: &Word| {
        let place = parameters.iter().position(|known| *known == word.text && !word.is_quoted)?;
        call.objects.get(place).cloned()
    });
    let expanded = put_in(&body, &definitions[..place], depth, parts);
    // A place within the definition means nothing where it is used.
    expanded.map_err(|fault| Fault { at: call.at, ..fault })
}

/// The quantity with variables among its objects and arguments replaced by their settings.
pub(crate) fn with_objects(quantity: &Expression, setting: &dyn Fn(&str) -> Option<String>) -> Expression {
    substituted(quantity, &|word: &Word| {
        let text = setting(&word.text).filter(|_| !word.is_quoted)?;
        Some(Word { text, is_quoted: true })
    })
}

/// The expression with words replaced among the arguments of its measures; a parameter outside of them
/// becomes a number.
fn substituted(expression: &Expression, by: &dyn Fn(&Word) -> Option<Word>) -> Expression {
    let inner = |part: &Expression| substituted(part, by);
    match expression {
        Expression::Call(call) => {
            // `from * 2` in the body of `late(from)` is arithmetic with a number, not a measure called `from`.
            let alone = Word { text: call.name.clone(), is_quoted: false };
            let number = by(&alone).and_then(|word| number(&word.text));
            if let Some(number) = number.filter(|_| call.objects.is_empty() && call.named.is_empty()) {
                return Expression::Number(number);
            }
            let replaced = |word: &Word| by(word).unwrap_or_else(|| word.clone());
            Expression::Call(Call {
                objects: call.objects.iter().map(replaced).collect(),
                named: call.named.iter().map(|(key, value)| (key.clone(), replaced(value))).collect(),
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
        MeasureDefinition { name: name.to_owned(), parameters, body: parse(body).expect("sound") }
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
        let fault = expanded("2 * loss(C1, C2)", &definitions).expect_err("two arguments");
        assert_eq!(fault.message, "loss takes 1 argument without names: loss(flow)");
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
        assert_eq!(message("a[x]"), "a cell within what is measured of a cell");
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
