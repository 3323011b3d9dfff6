//! `tidegate new`: a scenario or the folder of a paper as a starting point, with comments on its lines.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;
use tidegate_core::scheme::Scheme;

use super::{schemes, write_new};
use crate::command_line::word;
use crate::exit::{Exit, Failure, Outcome, print};
use crate::results::cannot;
use crate::{Format, Session};

/// Arguments of the command `tidegate new`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Output file, `-` for standard output; named after the template by default. An existing file is not overwritten.
    file: Option<PathBuf>,
    /// Write a folder for `tidegate reproduce` instead of a scenario: experiments, claims, figures and a scenario.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["file", "template", "scheme"])]
    paper: Option<PathBuf>,
    /// Template of the scenario.
    #[arg(long, value_enum, default_value = "dumbbell")]
    template: Template,
    /// Consumer scheme of the flows; `tidegate schemes` lists them.
    #[arg(long, value_name = "SCHEME", default_value = "catchunks-cubic")]
    scheme: String,
}

/// A network and what happens in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Template {
    /// Two flows share one bottleneck.
    Dumbbell,
    /// One file over a chain of routers.
    Chain,
    /// A long flow crosses the short flows of each hop.
    ParkingLot,
    /// Two consumers request the same file; the router has a content store.
    Cache,
    /// One prefix with several producers, each on a separate path.
    Multipath,
    /// A link that loses packets in bursts.
    Lossy,
    /// A link fails, recovers, and later has a lower rate.
    Failure,
}

impl Template {
    /// Text of the scenario, with the placeholders `@NAME@` and `@SCHEME@`.
    fn text(self) -> &'static str {
        match self {
            Self::Dumbbell => include_str!("dumbbell.toml"),
            Self::Chain => include_str!("chain.toml"),
            Self::ParkingLot => include_str!("parking-lot.toml"),
            Self::Cache => include_str!("cache.toml"),
            Self::Multipath => include_str!("multipath.toml"),
            Self::Lossy => include_str!("lossy.toml"),
            Self::Failure => include_str!("failure.toml"),
        }
    }

    /// Name of the template on the command line.
    fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Files of a paper's folder, with the placeholder `@NAME@`.
const PAPER: [(&str, &str); 4] = [
    ("scenario.toml", include_str!("paper/scenario.toml")),
    ("experiments.toml", include_str!("paper/experiments.toml")),
    ("claims.toml", include_str!("paper/claims.toml")),
    ("board.toml", include_str!("paper/board.toml")),
];

/// Beginning of every scenario.
const HEAD: &str = "\
# Check it:  tidegate check @FILE@
# Run it:    tidegate run @FILE@
# Quantities carry their unit: 10Mbps, 15ms, 100pkt, 20MB (k, M and G are decimal, MiB is binary).

";

/// Runs the command `tidegate new`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    if let Some(folder) = &arguments.paper {
        return paper(session, folder);
    }
    let template = arguments.template;
    let file = arguments.file.clone().unwrap_or_else(|| PathBuf::from(template.word() + ".toml"));
    // The text is a template that no parser has seen: a wrong scheme would only fail in `check`.
    check_scheme(session, &arguments.scheme)?;
    let to_output = file == Path::new("-");
    let name = if to_output { template.word() } else { scenario_name(&file, template) };
    let shown = if to_output { "FILE".to_owned() } else { in_comment(&file, "FILE") };
    let text = (HEAD.to_owned() + template.text())
        .replace("@FILE@", &shown)
        .replace("@NAME@", &name)
        .replace("@SCHEME@", &arguments.scheme);
    if !to_output {
        write_new(&file, &text, "choose another name")?;
    }
    report(session, arguments, (!to_output).then_some(&file), &text);
    Ok(Exit::Ok)
}

/// Writes a folder that `tidegate reproduce` runs without further edits.
fn paper(session: &Session, folder: &Path) -> Outcome {
    if folder.exists() {
        let why = format!("{} already exists; choose another name", folder.display());
        return Err(Failure::error(why));
    }
    std::fs::create_dir_all(folder).map_err(|why| cannot("make", folder, &why))?;
    let name =
        plain_name(&folder.file_name().unwrap_or_default().to_string_lossy()).unwrap_or("paper".to_owned());
    // `reproduce` takes a word without a slash as one of the program's papers first.
    let here = if folder.components().count() == 1 { Path::new(".").join(folder) } else { folder.to_owned() };
    let mut files = Vec::new();
    for (file, text) in PAPER {
        let path = folder.join(file);
        let text = text.replace("@NAME@", &name).replace("@FOLDER@", &in_comment(&here, "FOLDER"));
        write_new(&path, &text, "choose another name")?;
        files.push(path.display().to_string());
    }
    match session.format {
        Format::Json => {
            print(&(json!({ "folder": folder.display().to_string(), "files": files }).to_string() + "\n"));
        }
        Format::Text if session.quiet => {}
        Format::Text => {
            let shown = word(&here.display().to_string());
            let command = format!("tidegate reproduce {shown}   runs it and gives a verdict on each claim");
            print(&format!("wrote {}\n\n{command}\n", files.join(", ")));
        }
    }
    Ok(Exit::Ok)
}

fn check_scheme(session: &Session, name: &str) -> Result<(), Failure> {
    let is_consumer = |scheme: &Scheme| scheme.consumer.is_some();
    let is_known = session.schemes.iter().any(|scheme| scheme.name == name && is_consumer(scheme));
    if is_known { Ok(()) } else { Err(schemes::unknown(session, "consumer scheme", name, is_consumer)) }
}

/// Name of the scenario: that of the file, in characters that need no quoting.
fn scenario_name(file: &Path, template: Template) -> String {
    plain_name(&file.file_stem().unwrap_or_default().to_string_lossy()).unwrap_or_else(|| template.word())
}

/// The path as a word of a shell in a comment; `instead` if it has a line break, which would end the comment.
fn in_comment(path: &Path, instead: &str) -> String {
    let shown = path.display().to_string();
    if shown.contains(char::is_control) { instead.to_owned() } else { word(&shown) }
}

fn plain_name(text: &str) -> Option<String> {
    let plain = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '-' };
    let name: String = text.trim().chars().take(60).map(plain).collect();
    (!name.is_empty()).then_some(name)
}

fn report(session: &Session, arguments: &Arguments, file: Option<&PathBuf>, text: &str) {
    let shown = file.map(|file| file.display().to_string());
    print(&match (session.format, shown) {
        (Format::Json, shown) => {
            let document = json!({
                "file": shown,
                "template": arguments.template.word(),
                "scheme": arguments.scheme,
                "scenario": text,
            });
            document.to_string() + "\n"
        }
        (Format::Text, None) => text.to_owned(),
        (Format::Text, Some(_)) if session.quiet => String::new(),
        (Format::Text, Some(file)) => {
            let name = word(&file);
            format!(
                "wrote {file}\n\ntidegate check {name}   describes the simulation\ntidegate run {name}     runs it and writes the results\n"
            )
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_name_becomes_a_name_that_needs_no_quoting() {
        let name = |file: &str| scenario_name(Path::new(file), Template::Chain);
        assert_eq!(name("a/first try.toml"), "first try");
        assert_eq!(name("we\"ird\\\n\u{7f}.toml"), "we-ird---");
        assert_eq!(name(" .toml"), "chain");
        assert_eq!(name(".."), "chain");
    }

    #[test]
    fn every_line_of_a_template_says_what_it_is() {
        for template in Template::value_variants() {
            let text = template.text();
            let silent: Vec<&str> = text
                .lines()
                .filter(|line| !line.is_empty() && !line.contains('#') && !line.starts_with('['))
                .collect();
            assert!(silent.is_empty(), "{template:?}: {silent:?}");
            assert!(text.contains("@NAME@") && text.contains("@SCHEME@"), "{template:?}");
        }
    }
}
