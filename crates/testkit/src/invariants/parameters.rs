//! Parameter tables: defaults and ends of ranges are accepted, everything else is refused by name.

use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::params::{ParamError, ParamSpec, Setting, Settings};

/// The value that the text of a scenario stands for: `"15ms"` in quotes, a number, `true` or `false`.
fn read(text: &str) -> Setting {
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(word) => Setting::Text(word.to_owned()),
        None if text == "true" || text == "false" => Setting::Bool(text == "true"),
        None => Setting::Number(text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number"))),
    }
}

/// Both ends of a parameter's range, if it has one.
pub(super) fn ends(spec: &ParamSpec) -> Option<[Setting; 2]> {
    let range = (spec.range)();
    range.split_once(" to ").map(|(low, high)| [read(low), read(high)])
}

/// Both ends of a parameter's range, if it has one, and its default.
pub fn values(spec: &ParamSpec) -> Vec<Setting> {
    ends(spec).into_iter().flatten().chain([read(&(spec.default)())]).collect()
}

/// Values that `spec` refuses: those that no range and no list of words holds, or, without either, those that no type of
/// a number or a quantity takes.
fn outside(spec: &ParamSpec) -> Vec<Setting> {
    if spec.unit == "true or false" {
        return Vec::new();
    }
    if ends(spec).is_none() && spec.unit != "word" {
        return [f64::NAN, f64::INFINITY].map(Setting::Number).to_vec();
    }
    let texts = ["200000h", "18000000000Gbps", "18000000000GB", "4294967295pkt", "no such word"];
    let numbers = [-1e300, 1e300, f64::NAN, f64::INFINITY];
    let texts = texts.map(|text| Setting::Text(text.to_owned()));
    texts.into_iter().chain(numbers.map(Setting::Number)).collect()
}

/// Makes every part of `scheme` with one parameter set.
fn make(scheme: &Scheme, name: &str, value: Setting) -> Result<(), Vec<ParamError>> {
    scheme.check(&Settings(vec![(name.to_owned(), value)]))
}

/// Checks the parameters of `scheme`, one at a time: its default and both ends of its range are accepted; values outside are
/// refused by its name. An unknown name is refused with the known ones, but for a scheme without parameters, which may ignore
/// its settings. Without a range, only a number that is not finite counts as outside.
///
/// # Panics
/// If that does not hold; the message has the parameter.
pub fn check_parameters(scheme: &Scheme) {
    for spec in scheme.params {
        for value in values(spec) {
            let made = make(scheme, spec.name, value.clone());
            assert!(made.is_ok(), "{} {} = {value}: {made:?}", scheme.name, spec.name);
        }
        for value in outside(spec) {
            let Err(errors) = make(scheme, spec.name, value.clone()) else {
                panic!("{} takes {} = {value}", scheme.name, spec.name);
            };
            let message = &errors[0].message;
            assert!(message.contains(&format!("{:?}", spec.name)), "{}: {message}", scheme.name);
        }
    }
    let Err(errors) = make(scheme, "no_such", Setting::Number(1.0)) else {
        assert!(scheme.params.is_empty(), "{} takes a parameter that it does not have", scheme.name);
        return;
    };
    let known: Vec<&str> = scheme.params.iter().map(|spec| spec.name).collect();
    let known = if known.is_empty() { "no parameters".to_owned() } else { known.join(", ") };
    assert!(errors[0].message.contains(&known), "{}: {}", scheme.name, errors[0].message);
}
