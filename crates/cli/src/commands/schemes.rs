//! `tidegate schemes`: the catalogue.

use serde_json::{Value, json};
use tidegate_core::scheme::whole::{Counterpart, Need};
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_results::text::{Align, Screen, TextTable};
use tidegate_settings::suggest::{intended, question};

use crate::exit::{Exit, Failure, Outcome};
use crate::{Format, Session};

/// Arguments of the command `tidegate schemes`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Scheme to describe: source, deviations and parameters.
    name: Option<String>,
}

/// Runs the command `tidegate schemes`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let shown: Vec<&Scheme> = match &arguments.name {
        None => session.schemes.clone(),
        Some(name) => vec![find(session, name)?],
    };
    session.show(&match (session.format, &arguments.name) {
        (Format::Json, _) => shown.iter().map(|scheme| as_json(scheme)).collect::<Value>().to_string() + "\n",
        (Format::Text, None) => list(&shown, session.screen),
        (Format::Text, Some(_)) => shown.iter().map(|scheme| details(scheme, session.screen)).collect(),
    });
    Ok(Exit::Ok)
}

fn find(session: &Session, name: &str) -> Result<&'static Scheme, Failure> {
    tidegate_schemes::find(&session.schemes, name).ok_or_else(|| unknown(session, "scheme", name, |_| true))
}

/// The failure for a name that is not a scheme for which `fits` holds; `what` is the term for such schemes.
pub(crate) fn unknown(session: &Session, what: &str, name: &str, fits: impl Fn(&Scheme) -> bool) -> Failure {
    let known: Vec<&str> =
        session.schemes.iter().filter(|scheme| fits(scheme)).map(|scheme| scheme.name).collect();
    // A scheme of other roles is in the catalogue: "is not known" would be wrong.
    if let Some(other) = tidegate_schemes::find(&session.schemes, name) {
        let (roles, known) = (other.roles().join(", "), known.join(", "));
        return Failure::usage(format!(
            "scheme {name:?} is not a {what}; its roles: {roles}; {what}s: {known}"
        ));
    }
    let mut hint = question(&intended(name, known.iter().copied()));
    if hint.is_empty() {
        hint = format!("; known: {}", known.join(", "));
    }
    Failure::usage(format!("{what} {name:?} is not known{hint}"))
}

fn list(schemes: &[&Scheme], screen: Screen) -> String {
    let mut table =
        TextTable::new(&[("scheme", Align::Left), ("roles", Align::Left), ("what it does", Align::Left)]);
    for scheme in schemes {
        table.row([scheme.name.to_owned(), scheme.roles().join(", "), scheme.summary.to_owned()]);
    }
    table.render(screen) + "\n`tidegate schemes NAME` shows the parameters of one scheme.\n"
}

fn details(scheme: &Scheme, screen: Screen) -> String {
    let mut text = format!(
        "{}: {}\n\nroles       {}\npaper       {}\nprovenance  {}\n",
        scheme.name,
        scheme.summary,
        scheme.roles().join(", "),
        scheme.paper,
        provenance(scheme.provenance)
    );
    text.push_str(&format!("whole       {}\n", whole(scheme).join(", ")));
    if let Some(limit) = scheme.whole.limit {
        text.push_str(&format!("limit       {}\n", limit.why));
    }
    for need in scheme.whole.needs {
        text.push_str(&format!("needs       {}\n", needed(need)));
    }
    for deviation in scheme.deviations {
        text.push_str(&format!("different   {deviation}\n"));
    }
    if scheme.params.is_empty() {
        return text + "\nNo parameters.\n";
    }
    let columns = ["parameter", "default", "unit", "accepted", "meaning"].map(|head| (head, Align::Left));
    let mut table = TextTable::new(&columns);
    for spec in scheme.params {
        let meaning: Vec<&str> = spec.doc.iter().map(|line| line.trim()).collect();
        let cells =
            [spec.name.to_owned(), (spec.default)(), spec.unit.to_owned(), (spec.range)(), meaning.join(" ")];
        table.row(cells);
    }
    text.push('\n');
    text + &table.render(screen)
}

/// Roles that the whole scheme fills.
pub(super) fn whole(scheme: &Scheme) -> Vec<String> {
    let own = scheme.whole_roles().map(|role| role.word().to_owned());
    let with = scheme.whole.with.iter().map(|with| format!("{} {}", with.role.word(), with.scheme));
    let hops = scheme.whole.all_next_hops.then(|| "all next hops".to_owned());
    own.chain(with).chain(hops).collect()
}

/// A missing counterpart, such as `consumer without router: no rate on Data`.
fn needed(need: &Need) -> String {
    let other = match need.other {
        Counterpart::Role(role) => role.word(),
        Counterpart::Marks => "marks",
    };
    format!("{} without {other}: {}", need.role.word(), need.without)
}

/// Returns the provenance of a parameter's default in words.
pub(super) fn provenance(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Paper => "paper",
        Provenance::Source => "source code, read for its rules",
        Provenance::Reconstruction => "reconstruction: not the authors' scheme",
    }
}

fn as_json(scheme: &Scheme) -> Value {
    let params = scheme.params.iter().map(|spec| {
        let meaning: Vec<&str> = spec.doc.iter().map(|line| line.trim()).collect();
        json!({
            "name": spec.name,
            "default": (spec.default)(),
            "unit": spec.unit,
            "accepted": (spec.range)(),
            "meaning": meaning.join(" "),
        })
    });
    json!({
        "name": scheme.name,
        "summary": scheme.summary,
        "paper": scheme.paper,
        "provenance": provenance(scheme.provenance),
        "deviations": scheme.deviations,
        "roles": scheme.roles().into_iter().collect::<Value>(),
        "whole": whole(scheme),
        "limit": scheme.whole.limit.map(|limit| limit.why),
        "needs": scheme.whole.needs.iter().map(|need| Value::from(needed(need))).collect::<Value>(),
        "parameters": params.collect::<Value>(),
    })
}
