//! Input files, the plans in them, and notes on their schemes.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde_json::{Value, json};
use tidegate_core::scheme::whole::Installed;
use tidegate_settings::reader::decode;
use tidegate_sim::plan::Plan;
use tidegate_sim::{roles, scenario};

use crate::Session;
use crate::exit::{Exit, Failure};
use crate::results::cannot;

/// Maximum number of variants that are named with a scheme.
const MAX_LABELS: usize = 4;

/// Maximum length of a text that is read, bytes: more than any of the input formats accepts.
const LONGEST_TEXT: u64 = 16 << 20;

/// Reads an input file. A file without an end, such as a device, is truncated, and its reader finds it too
/// long.
pub(crate) fn read_text(file: &Path) -> Result<Vec<u8>, Failure> {
    read_bytes(file).map_err(|why| Failure::error(format!("{}: {why}", file.display())))
}

fn read_bytes(file: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.take(LONGEST_TEXT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a new file; an existing file is not overwritten, and the error contains the `advice`.
pub(crate) fn write_new(file: &Path, text: &str, advice: &str) -> Result<(), Failure> {
    // `create_new` checks and creates in one step, so that a file of another process is not overwritten
    // either.
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    let mut opened = opened.map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => Failure::error(format!("{} already exists; {advice}", file.display())),
        _ => cannot("write", file, &why),
    })?;
    opened.write_all(text.as_bytes()).map_err(|why| cannot("write", file, &why))
}

/// Reads and checks the scenario in `file`; the inner result is about its content.
pub(crate) fn parse_plan(
    session: &Session,
    file: &Path,
    overrides: &[(String, String)],
) -> Result<Result<Plan, scenario::Errors>, Failure> {
    let bytes = read_text(file)?;
    let name = file.display().to_string();
    // Files that a scenario refers to are relative to it; a results folder contains copies.
    let folder = file.parent().unwrap_or(Path::new(""));
    let read = |named: &str| {
        let kept = crate::results::kept_file(folder, named);
        let path = if kept.is_file() { kept } else { folder.join(named) };
        let bytes = read_bytes(&path).map_err(|why| why.to_string())?;
        let text = decode(named, &bytes).map_err(|errors| match errors.iter().next() {
            Some(error) => format!("line {}, column {}: {}", error.line, error.column, error.message),
            None => errors.to_string(),
        });
        text.map(str::to_owned)
    };
    let parser =
        scenario::Parser { overrides, files: Some(&read), ..scenario::Parser::new(&name, &session.schemes) };
    Ok(parser.parse_bytes(&bytes))
}

/// As [`parse_plan`], with all errors of the text in the failure.
pub(crate) fn read_plan(
    session: &Session,
    file: &Path,
    overrides: &[(String, String)],
) -> Result<Plan, Failure> {
    // The message begins with `file:line:`, so that editors find the place.
    parse_plan(session, file, overrides)?
        .map_err(|errors| Failure { exit: Exit::Error, message: errors.to_string() })
}

/// The schemes in use in the plans of several variants, each with the variants that use it there; a scheme
/// that all variants use has no label.
pub(crate) fn installed<'a>(variants: impl Iterator<Item = (String, &'a Plan)>) -> Vec<(String, Installed)> {
    let mut found: Vec<(Installed, Vec<String>)> = Vec::new();
    let mut count = 0;
    for (label, plan) in variants {
        count += 1;
        for installed in roles::installed(plan) {
            match found.iter_mut().find(|(known, _)| *known == installed) {
                Some((_, labels)) => labels.push(label.clone()),
                None => found.push((installed, vec![label.clone()])),
            }
        }
    }
    let named = |(installed, labels): (Installed, Vec<String>)| {
        let more = labels.len().saturating_sub(MAX_LABELS);
        let label = match more {
            _ if labels.len() == count => String::new(),
            0 => labels.join("; "),
            more => format!("{} and {more} more", labels[..MAX_LABELS].join("; ")),
        };
        (label, installed)
    };
    found.into_iter().map(named).collect()
}

/// A scheme in use, as JSON.
pub(crate) fn about_scheme(installed: &Installed) -> Value {
    json!({
        "role": installed.role,
        "scheme": installed.scheme,
        "at": installed.at,
    })
}

/// Prints once the names of earlier versions in `plans`, what their whole schemes replaced and removed, and which of them
/// fill no role.
pub(crate) fn note_replaced<'a>(session: &Session, plans: impl Iterator<Item = &'a Plan> + Clone) {
    note_renamed(session, plans.clone());
    once(plans.clone().flat_map(|plan| plan.replaced.iter().cloned()), |line| session.note(line));
    once(plans.filter_map(roles::idle), |line| session.warn(line));
}

/// Prints once the names of earlier versions in `plans`.
pub(crate) fn note_renamed<'a>(session: &Session, plans: impl Iterator<Item = &'a Plan>) {
    once(plans.flat_map(|plan| plan.renamed.iter().cloned()), |line| session.note(line));
}

/// Calls `notify` with each of the `lines` once.
fn once(lines: impl Iterator<Item = String>, notify: impl Fn(&str)) {
    let mut reported = BTreeSet::new();
    for line in lines {
        if !reported.contains(&line) {
            notify(&line);
            reported.insert(line);
        }
    }
}

/// Prints one warning about the roles of `plan` that lack a role they depend on.
pub(crate) fn warn_incomplete(session: &Session, plan: &Plan) {
    let sentences = roles::incomplete(plan);
    if !sentences.is_empty() {
        session.warn(&sentences.join("; "));
    }
}

/// Refuses plans, each with its name, in which a role lacks a role that it depends on.
pub(crate) fn refuse_incomplete<'a>(plans: impl Iterator<Item = (String, &'a Plan)>) -> Result<(), Failure> {
    let mut lines: Vec<String> = Vec::new();
    for (name, plan) in plans {
        for sentence in roles::incomplete(plan) {
            // The same sentence about every point of a grid is printed for the first point only.
            if !lines.iter().any(|line| line.ends_with(&sentence)) {
                lines.push(format!("{name}: {sentence}"));
            }
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    lines.push("--allow-incomplete runs it anyway".to_owned());
    Err(Failure { exit: Exit::Error, message: lines.join("\n") })
}
