//! Parameters of a scheme: declared once, with default, unit, range and help, read from a scenario's text.

use std::fmt::{self, Display};
use std::ops::RangeInclusive;

use crate::units::{BitRate, ByteCount, Packets, Span};

/// A value as a scenario or the command line gives it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Setting {
    /// A quoted text: a quantity with its unit or one of several words.
    Text(String),
    /// A number without unit, without quotes.
    Number(f64),
    /// The word `true` or `false`, without quotes.
    Bool(bool),
}

impl Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(truth) => write!(f, "{truth}"),
        }
    }
}

/// The parameters given for one scheme, in the order written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(pub Vec<(String, Setting)>);

impl Settings {
    /// The value given for `name`, if any.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Replaces the names and words of earlier versions by those of `table`. Returns one sentence per replacement.
    ///
    /// # Errors
    /// Parameters that are given by their earlier and by their present name.
    pub fn update(&mut self, table: &[ParamSpec]) -> Result<Vec<String>, Vec<ParamError>> {
        let (mut notes, mut errors) = (Vec::new(), Vec::new());
        for index in 0..self.0.len() {
            let name = self.0[index].0.clone();
            match present_name(&name, table) {
                Some(present) if self.get(present).is_some() => {
                    errors.push(ParamError { message: given_twice(&name, present), name: name.clone() });
                }
                Some(present) => {
                    notes.push(renamed("parameter", &name, present));
                    present.clone_into(&mut self.0[index].0);
                }
                None => {}
            }
            let (name, value) = &mut self.0[index];
            let Setting::Text(word) = value else { continue };
            if let Some(present) = present_word(name, word, table) {
                notes.push(renamed(name, word, present));
                present.clone_into(word);
            }
        }
        if errors.is_empty() { Ok(notes) } else { Err(errors) }
    }
}

/// Present name of the parameter of `table` that an earlier version called `name`.
pub fn present_name(name: &str, table: &[ParamSpec]) -> Option<&'static str> {
    table.iter().find(|spec| spec.renamed_from.contains(&name)).map(|spec| spec.name)
}

/// Present form of the word that parameter `name` of `table` took in an earlier version.
pub fn present_word(name: &str, word: &str, table: &[ParamSpec]) -> Option<&'static str> {
    let words = table.iter().find(|spec| spec.name == name)?.renamed_words;
    words.iter().find(|(earlier, _)| *earlier == word).map(|(_, present)| *present)
}

/// Sentence about a name of an earlier version; `what` is the kind of thing or the key that it is a value of.
pub fn renamed(what: &str, earlier: &str, present: &str) -> String {
    format!("{what} {earlier:?} was renamed {present:?} in 0.2.0")
}

/// Error of a text that has both names of one thing.
pub fn given_twice(earlier: &str, present: &str) -> String {
    format!("{earlier:?} was renamed {present:?} in 0.2.0; both are given, remove {earlier:?}")
}

/// Error of one parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParamError {
    /// The parameter, as written.
    pub name: String,
    /// Description of the problem and of the accepted values.
    pub message: String,
}

/// Description of one parameter for the catalogue and error messages.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// Key in a scenario.
    pub name: &'static str,
    /// Names in earlier versions, still accepted.
    pub renamed_from: &'static [&'static str],
    /// Words that the parameter took in earlier versions, each with its present form; still accepted.
    pub renamed_words: &'static [(&'static str, &'static str)],
    /// Help text, a line each.
    pub doc: &'static [&'static str],
    /// Unit or set of words.
    pub unit: &'static str,
    /// Default, as it is written in a scenario.
    pub default: fn() -> String,
    /// Accepted values, as text for help and errors.
    pub range: fn() -> String,
}

/// A type that a parameter can have.
pub trait ParamValue: Sized {
    /// Unit shown where the declaration gives none.
    const UNIT: &'static str;

    /// Words of earlier versions, each with its present form.
    const RENAMED_WORDS: &'static [(&'static str, &'static str)] = &[];

    /// Converts a value; the error describes the accepted values.
    fn read(value: &Setting) -> Result<Self, String>;

    /// The value as it is written in a scenario.
    fn written(&self) -> String;

    /// The value as [`read`](Self::read) takes it.
    fn value(&self) -> Setting {
        let written = self.written();
        match written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(word) => Setting::Text(word.to_owned()),
            None => match written.parse::<bool>() {
                Ok(truth) => Setting::Bool(truth),
                // What is neither a text nor a truth value is a number; anything else is refused when it is read.
                Err(_) => Setting::Number(written.parse().unwrap_or(f64::NAN)),
            },
        }
    }

    /// Accepted values where the declaration gives no range.
    fn accepted() -> String {
        Self::UNIT.to_owned()
    }
}

macro_rules! quantity {
    ($($type:ty, $unit:literal, $example:literal;)*) => {$(
        impl ParamValue for $type {
            const UNIT: &'static str = $unit;

            fn read(value: &Setting) -> Result<Self, String> {
                match value {
                    Setting::Text(text) => text.parse(),
                    other => Err(format!("{other} has no unit; write it like {:?}", $example)),
                }
            }

            fn written(&self) -> String {
                format!("\"{self}\"")
            }
        }
    )*};
}

quantity! {
    Span, "time", "15ms";
    BitRate, "rate", "10Mbps";
    ByteCount, "size", "20MB";
    Packets, "packets", "64pkt";
}

impl ParamValue for f64 {
    const UNIT: &'static str = "number";

    fn read(value: &Setting) -> Result<Self, String> {
        match value {
            Setting::Number(number) if number.is_finite() => Ok(*number),
            other => Err(format!("{other} is not a plain number")),
        }
    }

    fn written(&self) -> String {
        format!("{self:?}")
    }
}

impl ParamValue for u32 {
    const UNIT: &'static str = "count";

    fn read(value: &Setting) -> Result<Self, String> {
        match value {
            Setting::Number(number) if number.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(number) => {
                Ok(*number as Self)
            }
            other => Err(format!("{other} is not a whole number from 0 to 4294967295")),
        }
    }

    fn written(&self) -> String {
        self.to_string()
    }
}

impl ParamValue for bool {
    const UNIT: &'static str = "true or false";

    fn read(value: &Setting) -> Result<Self, String> {
        match value {
            Setting::Bool(truth) => Ok(*truth),
            other => Err(format!("{other} is not true or false")),
        }
    }

    fn written(&self) -> String {
        self.to_string()
    }
}

/// Takes the parameters of one scheme out of its settings and collects all errors.
#[derive(Debug)]
pub struct Reader {
    settings: Settings,
    errors: Vec<ParamError>,
}

impl Reader {
    /// Reads `settings`, also by the names of earlier versions, and refuses names that `table` does not have.
    pub fn new(settings: &Settings, table: &[ParamSpec]) -> Self {
        let mut settings = settings.clone();
        let mut errors = settings.update(table).err().unwrap_or_default();
        // A name that `update` has refused is not reported a second time.
        let is_unknown = |name: &str| {
            table.iter().all(|spec| spec.name != name) && errors.iter().all(|error| error.name != name)
        };
        let unknown: Vec<ParamError> = settings
            .0
            .iter()
            .filter(|(name, _)| is_unknown(name))
            .map(|(name, _)| unknown_parameter(name, table))
            .collect();
        errors.extend(unknown);
        Self { settings, errors }
    }

    /// The value of `name`, else its default.
    pub fn take<T: ParamValue>(&mut self, name: &str, default: T) -> T {
        match self.settings.get(name).map(T::read) {
            None => default,
            Some(Ok(value)) => value,
            Some(Err(why)) => {
                self.refuse(name, format!("parameter {name:?}: {why}"));
                default
            }
        }
    }

    /// As [`take`](Self::take), within `range`.
    pub fn take_within<T>(&mut self, name: &str, default: T, range: &RangeInclusive<T>) -> T
    where
        T: ParamValue + PartialOrd + Clone,
    {
        let value = self.take(name, default.clone());
        if range.contains(&value) {
            return value;
        }
        let (low, high) = (range.start().written(), range.end().written());
        self.refuse(name, format!("parameter {name:?}: {} is not within {low} to {high}", value.written()));
        default
    }

    fn refuse(&mut self, name: &str, message: String) {
        self.errors.push(ParamError { name: name.to_owned(), message });
    }

    /// Returns the parameters, or all errors.
    pub fn finish<T>(self, params: T) -> Result<T, Vec<ParamError>> {
        if self.errors.is_empty() { Ok(params) } else { Err(self.errors) }
    }
}

fn unknown_parameter(name: &str, table: &[ParamSpec]) -> ParamError {
    let known: Vec<&str> = table.iter().map(|spec| spec.name).collect();
    let known = if known.is_empty() { "no parameters".to_owned() } else { known.join(", ") };
    ParamError {
        name: name.to_owned(),
        message: format!("unknown parameter {name:?}; this scheme has {known}"),
    }
}

/// Declares the parameters of a scheme: struct, defaults, ranges, units, errors and help in one place.
///
/// ```
/// use tidegate_core::{params, scheme::params::Settings, units::Span};
///
/// params! {
///     /// Window growth per round trip.
///     increase: f64 = 1.0, "packets", 0.01..=100.0;
///     /// Interval between two samples of the queue.
///     interval: Span = Span::from_millis(1), "time", Span::from_micros(1)..=Span::from_secs(10);
///     /// Whether marks count.
///     marks: bool = true;
/// }
///
/// let params = Params::from_settings(&Settings::default()).expect("defaults are valid");
/// assert_eq!(params.increase, 1.0);
/// assert_eq!(Params::TABLE[1].unit, "time");
///
/// let slow = Params { increase: 0.5, ..Params::default() };
/// let settings = Settings::from(slow);
/// assert_eq!(Params::from_settings(&settings).expect("within the range").increase, 0.5);
/// ```
///
/// `#[renamed_from("name")]` after the help text is a name of an earlier version, which is still accepted.
#[macro_export]
macro_rules! params {
    ($($(#[doc = $doc:literal])* $(#[renamed_from($earlier:literal)])* $name:ident: $type:ty = $default:expr $(, $unit:literal, $range:expr)?;)*) => {
        /// Parameters of this scheme.
        #[derive(Clone, Debug)]
        pub struct Params { $($(#[doc = $doc])* pub $name: $type),* }

        impl Default for Params {
            fn default() -> Self {
                Self { $($name: $default),* }
            }
        }

        impl From<Params> for $crate::scheme::params::Settings {
            /// Every parameter as a scenario gives it.
            fn from(params: Params) -> Self {
                let Params { $($name),* } = params;
                Self(vec![$((stringify!($name).to_owned(), $crate::scheme::params::ParamValue::value(&$name))),*])
            }
        }

        impl Params {
            /// Name, help, unit, default and range of every parameter.
            pub const TABLE: &'static [$crate::scheme::params::ParamSpec] = &[$(
                $crate::scheme::params::ParamSpec {
                    name: stringify!($name),
                    renamed_from: &[$($earlier),*],
                    renamed_words: <$type as $crate::scheme::params::ParamValue>::RENAMED_WORDS,
                    doc: &[$($doc),*],
                    unit: $crate::params!(@unit $type $(, $unit)?),
                    default: || <$type as $crate::scheme::params::ParamValue>::written(&$default),
                    range: || $crate::params!(@range $type $(, $range)?),
                }
            ),*];

            /// Reads the parameters.
            ///
            /// # Errors
            /// Every unknown name, unreadable value and value out of its range.
            pub fn from_settings(
                settings: &$crate::scheme::params::Settings,
            ) -> Result<Self, Vec<$crate::scheme::params::ParamError>> {
                #[allow(unused_mut, reason = "a scheme may have no parameters")]
                let mut reader = $crate::scheme::params::Reader::new(settings, Self::TABLE);
                let params = Self {
                    $($name: $crate::params!(@take reader, stringify!($name), $type, $default $(, $range)?)),*
                };
                reader.finish(params)
            }
        }
    };
    (@unit $type:ty) => { <$type as $crate::scheme::params::ParamValue>::UNIT };
    (@unit $type:ty, $unit:literal) => { $unit };
    (@range $type:ty) => { <$type as $crate::scheme::params::ParamValue>::accepted() };
    (@range $type:ty, $range:expr) => {{
        use $crate::scheme::params::ParamValue as _;
        let range: std::ops::RangeInclusive<$type> = $range;
        format!("{} to {}", range.start().written(), range.end().written())
    }};
    (@take $reader:ident, $name:expr, $type:ty, $default:expr) => {
        $reader.take::<$type>($name, $default)
    };
    (@take $reader:ident, $name:expr, $type:ty, $default:expr, $range:expr) => {
        $reader.take_within::<$type>($name, $default, &$range)
    };
}

/// Declares a parameter type with a closed set of words.
///
/// ```
/// use tidegate_core::{choice, scheme::params::{ParamValue, Setting}};
///
/// choice! {
///     /// Which form of an equation is used.
///     pub enum Form {
///         /// As printed.
///         Literal = "literal",
///         /// With the error mended.
///         Corrected = "corrected",
///     }
/// }
///
/// assert_eq!(Form::read(&Setting::Text("literal".into())), Ok(Form::Literal));
/// assert!(Form::read(&Setting::Text("wrong".into())).is_err());
/// ```
///
/// `Variant = "word" renamed_from "earlier"` also accepts the word of an earlier version.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$item:meta])* $variant:ident = $word:literal $(renamed_from $earlier:literal)?),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name { $($(#[$item])* $variant),* }

        impl $crate::scheme::params::ParamValue for $name {
            const UNIT: &'static str = "word";
            const RENAMED_WORDS: &'static [(&'static str, &'static str)] = &[$($(($earlier, $word),)?)*];

            fn read(value: &$crate::scheme::params::Setting) -> Result<Self, String> {
                match value {
                    $($crate::scheme::params::Setting::Text(text) if text == $word => Ok(Self::$variant),)*
                    other => Err(format!("{other} is not known; known: {}", Self::accepted())),
                }
            }

            fn written(&self) -> String {
                match self { $(Self::$variant => concat!("\"", $word, "\"").to_owned()),* }
            }

            fn accepted() -> String {
                [$($word),*].join(", ")
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        /// Form of the rules in this test.
        pub enum Form { Literal = "literal" renamed_from "printed", Corrected = "corrected" }
    }

    params! {
        /// Fraction of the window that is kept.
        #[renamed_from("least_keep")]
        keep: f64 = 0.5, "of the window", 0.1..=0.99;
        /// Interval between two samples.
        interval: Span = Span::from_millis(1);
        /// Form of the rule in use.
        form: Form = Form::Corrected;
    }

    fn settings(given: &[(&str, Setting)]) -> Settings {
        Settings(given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    #[test]
    fn defaults_stand_where_nothing_is_given() {
        let params = Params::from_settings(&Settings::default()).expect("defaults are valid");
        assert_eq!((params.keep, params.interval, params.form), (0.5, Span::from_millis(1), Form::Corrected));
    }

    #[test]
    fn an_unknown_parameter_lists_the_known_ones() {
        let errors = Params::from_settings(&settings(&[("kep", Setting::Number(0.5))])).expect_err("unknown");
        assert_eq!(errors[0].message, "unknown parameter \"kep\"; this scheme has keep, interval, form");
    }

    #[test]
    fn an_earlier_name_and_an_earlier_word_are_read_as_the_present_ones() {
        let given =
            settings(&[("least_keep", Setting::Number(0.9)), ("form", Setting::Text("printed".into()))]);
        let params = Params::from_settings(&given).expect("both are accepted");
        assert_eq!((params.keep, params.form), (0.9, Form::Literal));
        let mut updated = given;
        let notes = updated.update(Params::TABLE).expect("each is given once");
        assert_eq!(
            notes,
            [
                "parameter \"least_keep\" was renamed \"keep\" in 0.2.0",
                "form \"printed\" was renamed \"literal\" in 0.2.0",
            ]
        );
        assert_eq!(
            updated,
            settings(&[("keep", Setting::Number(0.9)), ("form", Setting::Text("literal".into()))])
        );
    }

    #[test]
    fn both_names_of_one_parameter_are_an_error() {
        let given = settings(&[("keep", Setting::Number(0.9)), ("least_keep", Setting::Number(0.9))]);
        let errors = Params::from_settings(&given).expect_err("both are given");
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        let expected = "\"least_keep\" was renamed \"keep\" in 0.2.0; both are given, remove \"least_keep\"";
        assert_eq!(messages, [expected]);
    }

    #[test]
    fn several_errors_come_at_once() {
        let given = settings(&[
            ("keep", Setting::Number(2.0)),
            ("interval", Setting::Number(5.0)),
            ("form", Setting::Text("other".into())),
        ]);
        let errors = Params::from_settings(&given).expect_err("three errors");
        let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "parameter \"keep\": 2.0 is not within 0.1 to 0.99",
                "parameter \"interval\": 5 has no unit; write it like \"15ms\"",
                "parameter \"form\": \"other\" is not known; known: literal, corrected",
            ]
        );
    }

    #[test]
    fn parameters_survive_the_way_through_settings() {
        let given = Params { keep: 0.1 + 0.2, interval: Span::from_nanos(1_234_567), form: Form::Literal };
        let read = Params::from_settings(&Settings::from(given)).expect("within their ranges");
        assert_eq!((read.keep.to_bits(), read.interval.as_nanos()), ((0.1f64 + 0.2).to_bits(), 1_234_567));
        assert_eq!(read.form, Form::Literal);
        let wide = Params { keep: 1.5, ..Params::default() };
        assert!(
            Params::from_settings(&Settings::from(wide)).is_err(),
            "ranges hold for typed parameters too"
        );
    }

    #[test]
    fn the_table_shows_defaults_as_a_scenario_writes_them() {
        let shown: Vec<String> = Params::TABLE.iter().map(|spec| (spec.default)()).collect();
        assert_eq!(shown, ["0.5", "\"1ms\"", "\"corrected\""]);
        assert_eq!((Params::TABLE[0].range)(), "0.1 to 0.99");
    }
}
