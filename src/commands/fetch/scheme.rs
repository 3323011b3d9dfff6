//! The consumer scheme of a fetch, from the command line.

use tidegate_core::congestion::CongestionController;
use tidegate_core::consumer::shell::{Shell, ShellKind};
use tidegate_core::params::{Settings, Value};
use tidegate_core::scheme::Scheme;
use tidegate_live::fetch::live_shell;

use super::Arguments;
use crate::Session;
use crate::commands::schemes;
use crate::exit::Failure;

/// The scheme of a fetch without `--scheme`, chosen by `tidegate bench fetch`.
pub(crate) const DEFAULT: &str = "bbr";

/// What it is given: losses by order, with a timer that a busy host does not set off; windows that add little to a queue;
/// and enough of one for hosts to handle packets together.
pub(crate) const DEFAULT_SETTINGS: [(&str, &str); 6] = [
    ("loss_timer", "order"),
    ("min_margin", "100ms"),
    ("quanta", "1"),
    ("high_gain", "2"),
    ("cwnd_gain", "1.25"),
    ("min_round_trip", "3ms"),
];

/// A scheme ready to fetch.
pub(crate) struct Chosen {
    pub(crate) name: &'static str,
    pub(crate) controller: Box<dyn CongestionController>,
    /// Whose habits it is used with.
    pub(crate) kind: ShellKind,
}

/// Makes the scheme that the command line asks for, and the habits around it.
pub(super) fn make(session: &Session, arguments: &Arguments) -> Result<(Chosen, Shell), Failure> {
    let chosen = make_with(session, arguments.scheme.as_deref(), &arguments.set)?;
    let kind = match &arguments.shell {
        None => chosen.kind,
        Some(asked) => shell(asked)?,
    };
    Ok((chosen, live_shell(kind, arguments.retries, arguments.lifetime)))
}

/// Makes the scheme `name` with its own defaults; `None`: the default of `fetch`.
pub(crate) fn make_named(session: &Session, name: Option<&str>) -> Result<Chosen, Failure> {
    make_with(session, name, &[])
}

fn make_with(session: &Session, name: Option<&str>, set: &[(String, String)]) -> Result<Chosen, Failure> {
    let scheme = find(session, name.unwrap_or(DEFAULT))?;
    let Some(make) = scheme.consumer else {
        let (name, known) = (scheme.name, known(session));
        return Err(Failure::usage(format!("scheme {name:?} is no consumer; consumers: {known}")));
    };
    let mut settings = Settings::default();
    if name.is_none() {
        settings.0.extend(DEFAULT_SETTINGS.map(|(key, text)| (key.to_owned(), value(text))));
    }
    settings.0.extend(set.iter().map(|(key, text)| (key.clone(), value(text))));
    let controller = make(&settings).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(|fault| format!("--set: {fault}")).collect();
        Failure::usage(faults.join("\nerror: "))
    })?;
    Ok(Chosen { name: scheme.name, controller, kind: scheme.shell })
}

fn find(session: &Session, name: &str) -> Result<&'static Scheme, Failure> {
    tidegate_schemes::find(&session.schemes, name)
        .ok_or_else(|| schemes::unknown(session, "consumer scheme", name, |scheme| scheme.consumer.is_some()))
}

fn known(session: &Session) -> String {
    let consumers = session.schemes.iter().filter(|scheme| scheme.consumer.is_some());
    consumers.map(|scheme| scheme.name).collect::<Vec<_>>().join(", ")
}

fn shell(asked: &str) -> Result<ShellKind, Failure> {
    let found = ShellKind::ALL.iter().find(|(_, name)| *name == asked);
    found.map(|(kind, _)| *kind).ok_or_else(|| {
        let known: Vec<&str> = ShellKind::ALL.iter().map(|(_, name)| *name).collect();
        Failure::usage(format!("shell {asked:?} is not known; known: {}", known.join(", ")))
    })
}

/// A value as it would stand in a scenario; the quotes of a text may be left out.
fn value(text: &str) -> Value {
    match (text, text.parse()) {
        ("true", _) => Value::Bool(true),
        ("false", _) => Value::Bool(false),
        (_, Ok(number)) => Value::Number(number),
        _ => {
            let bare = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            Value::Text(bare.unwrap_or(text).to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_in_a_scenario_with_or_without_quotes() {
        assert_eq!(value("2.5"), Value::Number(2.5));
        assert_eq!(value("true"), Value::Bool(true));
        assert_eq!(value("15ms"), Value::Text("15ms".to_owned()));
        assert_eq!(value("\"15ms\""), Value::Text("15ms".to_owned()));
    }
}
