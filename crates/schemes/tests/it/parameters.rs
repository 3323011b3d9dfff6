//! Parameter tables keep what they promise: defaults are accepted, values out of range refused by name.

use tidegate_core::params::{ParamError, ParamSpec, Settings, Value};
use tidegate_core::scheme::Scheme;

use crate::consumers;

/// The value that a scenario's text stands for.
pub fn read(text: &str) -> Value {
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(word) => Value::Text(word.to_owned()),
        None if text == "true" || text == "false" => Value::Bool(text == "true"),
        None => Value::Number(text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number"))),
    }
}

/// Both ends of a parameter's range, if it has one.
pub fn ends(spec: &ParamSpec) -> Option<[Value; 2]> {
    let range = (spec.range)();
    range.split_once(" to ").map(|(low, high)| [read(low), read(high)])
}

/// The consumer with one parameter set.
fn make(scheme: &Scheme, spec: &ParamSpec, value: Value) -> Result<(), Vec<ParamError>> {
    let make = scheme.consumer.expect("a consumer");
    make(&Settings(vec![(spec.name.to_owned(), value)])).map(|_| ())
}

/// Values that no range holds, whatever the parameter's type.
fn outside() -> Vec<Value> {
    let texts = ["200000h", "18000000000Gbps", "18000000000GB", "4294967295pkt", "no such word"];
    let numbers = [-1e300, 1e300, f64::NAN, f64::INFINITY];
    let texts = texts.map(|text| Value::Text(text.to_owned()));
    texts.into_iter().chain(numbers.map(Value::Number)).collect()
}

#[test]
fn every_default_and_every_end_of_a_range_is_accepted() {
    for scheme in consumers() {
        for spec in scheme.params {
            let values = ends(spec).into_iter().flatten().chain([read(&(spec.default)())]);
            for value in values {
                let made = make(scheme, spec, value.clone());
                assert!(made.is_ok(), "{} {} = {value}: {made:?}", scheme.name, spec.name);
            }
        }
    }
}

#[test]
fn values_out_of_range_are_refused_by_the_name_of_the_parameter() {
    for scheme in consumers() {
        for spec in scheme.params.iter().filter(|spec| spec.unit != "true or false") {
            for value in outside() {
                let Err(errors) = make(scheme, spec, value.clone()) else {
                    panic!("{} takes {} = {value}", scheme.name, spec.name);
                };
                let message = &errors[0].message;
                assert!(message.contains(&format!("{:?}", spec.name)), "{}: {message}", scheme.name);
            }
        }
    }
}

#[test]
fn an_unknown_parameter_is_refused_with_the_known_ones() {
    for scheme in consumers() {
        let make = scheme.consumer.expect("a consumer");
        let errors = make(&Settings(vec![("no_such".to_owned(), Value::Number(1.0))])).expect_err("unknown");
        let known: Vec<&str> = scheme.params.iter().map(|spec| spec.name).collect();
        assert!(errors[0].message.contains(&known.join(", ")), "{}: {}", scheme.name, errors[0].message);
    }
}
