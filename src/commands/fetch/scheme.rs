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

/// A scheme ready to fetch.
pub(super) struct Chosen {
    pub(super) name: &'static str,
    pub(super) controller: Box<dyn CongestionController>,
    pub(super) shell: Shell,
}

/// Makes the scheme that the command line asks for.
pub(super) fn make(session: &Session, arguments: &Arguments) -> Result<Chosen, Failure> {
    let scheme = find(session, &arguments.scheme)?;
    let Some(make) = scheme.consumer else {
        let (name, known) = (scheme.name, known(session));
        return Err(Failure::usage(format!("scheme {name:?} is no consumer; consumers: {known}")));
    };
    let settings = Settings(arguments.set.iter().map(|(key, text)| (key.clone(), value(text))).collect());
    let controller = make(&settings).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(|fault| format!("--set: {fault}")).collect();
        Failure::usage(faults.join("\nerror: "))
    })?;
    let kind = match &arguments.shell {
        None => scheme.shell,
        Some(asked) => shell(asked)?,
    };
    let shell = live_shell(kind, arguments.retries, arguments.lifetime);
    Ok(Chosen { name: scheme.name, controller, shell })
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
