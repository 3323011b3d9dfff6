//! The consumer scheme of a fetch, from the command line.

use std::fmt;

use tidegate_core::ndn::consumer::profile::{ConsumerProfile, ProfileRules};
use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::congestion::CongestionController;
use tidegate_core::scheme::params::{ParamError, Setting, Settings, renamed};
use tidegate_live::fetch::live_profile;
use tidegate_settings::suggest::{nearest, question};

use super::Arguments;
use crate::Session;
use crate::commands::schemes;
use crate::exit::Failure;

/// The scheme of a fetch without `--scheme`, chosen by `tidegate bench fetch`.
pub(crate) const DEFAULT: &str = "bbr";

/// Parameters of the default scheme: losses by order, with a timer above the pauses of a busy host; TCP's
/// initial window (RFC 6928); a short Startup and windows that add little to a queue; and a window large enough for hosts that
/// handle packets in batches.
pub(crate) const DEFAULT_SETTINGS: [(&str, &str); 9] = [
    ("loss_timer", "rack"),
    ("min_margin", "100ms"),
    ("quanta", "1"),
    ("initial_window", "10"),
    ("high_gain", "2"),
    ("full_rounds", "2"),
    ("cwnd_gain", "1.25"),
    ("min_round_trip", "3ms"),
    ("min_pace", "2"),
];

/// A scheme ready to fetch.
pub(crate) struct Chosen {
    /// Name of the scheme in the catalogue.
    pub(crate) name: &'static str,
    /// Name and parameters for the summary.
    pub(super) label: Label,
    /// Congestion controller of the transfer.
    pub(crate) controller: Box<dyn CongestionController>,
    /// Consumer profile around the scheme.
    pub(crate) kind: ConsumerProfile,
}

/// Creates the scheme and the consumer profile that the command line selects.
pub(super) fn make(session: &Session, arguments: &Arguments) -> Result<(Chosen, ProfileRules), Failure> {
    let chosen = make_with(session, arguments.scheme.as_deref(), &arguments.set)?;
    if arguments.shell.is_some() {
        session.note(&renamed("option", "--shell", "--profile"));
    }
    let kind = match arguments.profile.as_ref().or(arguments.shell.as_ref()) {
        None => chosen.kind,
        Some(requested) => profile(requested)?,
    };
    let mut rules = live_profile(kind, arguments.retries, arguments.lifetime);
    let min_rto = arguments.ndnget.as_ref().and_then(|ndnget| ndnget.min_rto);
    rules.timeout.min = min_rto.or(rules.timeout.min);
    Ok((chosen, rules))
}

/// Makes the scheme `name` with its own defaults; `None`: the default of `fetch`.
pub(crate) fn make_named(session: &Session, name: Option<&str>) -> Result<Chosen, Failure> {
    make_with(session, name, &[])
}

fn make_with(session: &Session, name: Option<&str>, set: &[(String, String)]) -> Result<Chosen, Failure> {
    let scheme = find(session, name.unwrap_or(DEFAULT))?;
    let Some(make) = scheme.consumer else {
        return Err(not_found(session, scheme.name));
    };
    let refuse = |faults: Vec<ParamError>| {
        let known = || scheme.params.iter().map(|spec| spec.name);
        let similar = |fault: &ParamError| {
            let is_known = known().any(|name| name == fault.name);
            question(nearest(&fault.name, known()).filter(|_| !is_known).as_slice())
        };
        let faults: Vec<String> =
            faults.iter().map(|fault| format!("--set: {fault}{}", similar(fault))).collect();
        // `usage` begins the first line with `error: `.
        Failure::usage(faults.join("\nerror: "))
    };
    // Earlier names of parameters are updated before the merge, so that they replace defaults under the new
    // names.
    let mut given = Settings(set.iter().map(|(key, text)| (key.clone(), value(text))).collect());
    let notes = given.update(scheme.params).map_err(refuse)?;
    notes.iter().for_each(|note| session.note(&format!("--set: {note}")));
    let mut settings = Settings::default();
    // A named scheme has the defaults of its catalogue entry, even if it is the default scheme.
    if name.is_none() {
        settings.0.extend(DEFAULT_SETTINGS.map(|(key, text)| (key.to_owned(), value(text))));
    }
    for (key, value) in given.0 {
        settings.0.retain(|(known, _)| *known != key);
        settings.0.push((key, value));
    }
    let controller = make(&settings).map_err(refuse)?;
    let label = Label {
        scheme: scheme.name,
        is_default: name.is_none(),
        parameters: settings.0.iter().map(|(key, value)| format!("{key}={}", bare(value))).collect(),
    };
    Ok(Chosen { name: scheme.name, label, controller, kind: scheme.profile })
}

/// Name and parameters of the scheme of a fetch.
pub(super) struct Label {
    scheme: &'static str,
    /// No scheme was named.
    pub(super) is_default: bool,
    /// Parameters that are not the scheme's own defaults, as `--set` takes them.
    pub(super) parameters: Vec<String>,
}

impl Label {
    /// Without the parameters, for a heading.
    pub(super) fn short(&self) -> &'static str {
        if self.is_default { "the default scheme" } else { self.scheme }
    }
}

/// Text such as `bbr with window=20`, with the word `default` for the default of fetch.
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = if self.parameters.is_empty() { "" } else { " with " };
        let text = format!("{}{with}{}", self.scheme, self.parameters.join(", "));
        if self.is_default { write!(f, "default ({text})") } else { f.write_str(&text) }
    }
}

/// A value as `--set` takes it.
fn bare(value: &Setting) -> String {
    match value {
        Setting::Text(text) => text.clone(),
        value => value.to_string(),
    }
}

fn find(session: &Session, name: &str) -> Result<&'static Scheme, Failure> {
    tidegate_schemes::find(&session.schemes, name).ok_or_else(|| not_found(session, name))
}

/// The failure for a name that is not that of a consumer scheme.
fn not_found(session: &Session, name: &str) -> Failure {
    schemes::unknown(session, "consumer scheme", name, |scheme| scheme.consumer.is_some())
}

fn profile(requested: &str) -> Result<ConsumerProfile, Failure> {
    let found = ConsumerProfile::ALL.iter().find(|(_, name)| *name == requested);
    found.map(|(kind, _)| *kind).ok_or_else(|| {
        let known: Vec<&str> = ConsumerProfile::ALL.iter().map(|(_, name)| *name).collect();
        Failure::usage(format!("profile {requested:?} is not known; known: {}", known.join(", ")))
    })
}

/// A value as in a scenario; the quotes of a text may be omitted.
fn value(text: &str) -> Setting {
    match (text, text.parse()) {
        ("true", _) => Setting::Bool(true),
        ("false", _) => Setting::Bool(false),
        (_, Ok(number)) => Setting::Number(number),
        _ => {
            let bare = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            Setting::Text(bare.unwrap_or(text).to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_names_the_default_and_what_differs_from_the_scheme() {
        let parameters = vec!["quanta=1".to_owned(), "min_margin=1s".to_owned()];
        let label = |is_default, parameters| Label { scheme: "bbr", is_default, parameters }.to_string();
        assert_eq!(label(true, parameters.clone()), "default (bbr with quanta=1, min_margin=1s)");
        assert_eq!(label(false, parameters), "bbr with quanta=1, min_margin=1s");
        assert_eq!(label(false, Vec::new()), "bbr");
    }

    #[test]
    fn the_book_has_the_default_with_its_parameters() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/src/fetch-default.md");
        let page = std::fs::read_to_string(file).expect("the page is there");
        let is_named = |line: &str| line.contains(&format!("`tidegate fetch` uses `{DEFAULT}` with"));
        assert!(page.lines().any(is_named), "{DEFAULT} is not named");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | `"));
        let reported: Vec<(&str, &str)> =
            rows.filter_map(|(name, rest)| Some((name, rest.split_once("` |")?.0))).collect();
        assert_eq!(reported, DEFAULT_SETTINGS);
    }

    #[test]
    fn values_are_read_as_in_a_scenario_with_or_without_quotes() {
        assert_eq!(value("2.5"), Setting::Number(2.5));
        assert_eq!(value("true"), Setting::Bool(true));
        assert_eq!(value("15ms"), Setting::Text("15ms".to_owned()));
        assert_eq!(value("\"15ms\""), Setting::Text("15ms".to_owned()));
    }
}
