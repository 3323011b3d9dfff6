//! `tidegate man`: manual pages, one for each command; the same program always makes the same pages.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use serde_json::json;

use crate::Session;
use crate::exit::{Exit, Failure, Outcome};
use crate::guide::{self, Guide};
use crate::results::cannot;

/// Arguments of the command `tidegate man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Command whose page is printed, such as `run`; the program's page by default.
    command: Vec<String>,
    /// Write the pages of all commands to this directory, which is created if needed.
    #[arg(long, short, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// A page: the name of its file and its text.
struct ManualPage {
    name: String,
    text: String,
}

/// Runs the command `tidegate man`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    match &arguments.out {
        Some(folder) => write_all(session, folder),
        None => show(session, &arguments.command.join(" ")),
    }
}

fn show(session: &Session, required: &str) -> Outcome {
    let root = built();
    let commands = guide::walk(&root);
    let Some((words, command)) = commands.iter().find(|(words, _)| words == required) else {
        let known: Vec<&str> = commands.iter().map(|(words, _)| words.as_str()).skip(1).collect();
        return Err(Failure::usage(format!(
            "command {required:?} is not known; known: {}",
            known.join(", ")
        )));
    };
    let page = page(words, command)?;
    session.print(|| page.text.clone(), || json!({ "name": page.name, "page": page.text }));
    Ok(Exit::Ok)
}

fn write_all(session: &Session, folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|why| cannot("make", folder, &why))?;
    let mut files = Vec::new();
    for (words, command) in guide::walk(&built()) {
        let page = page(&words, command)?;
        let file = folder.join(&page.name);
        fs::write(&file, page.text).map_err(|why| cannot("write", &file, &why))?;
        files.push(file);
    }
    session.print_files(&files);
    Ok(Exit::Ok)
}

/// The program's command with all that clap derives, such as the whole name of each command below it.
fn built() -> Command {
    let mut root = crate::command().disable_help_subcommand(true);
    root.build();
    root
}

fn page(words: &str, command: &Command) -> Result<ManualPage, Failure> {
    let name = format!("tidegate {words}").trim_end().replace(' ', "-");
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .source(concat!("tidegate ", env!("CARGO_PKG_VERSION")))
        .manual("Tidegate");
    let mut text = Vec::new();
    write_page(&man, words, command, &mut text).map_err(Failure::error)?;
    Ok(ManualPage { name: name + ".1", text: String::from_utf8_lossy(&text).into_owned() })
}

fn write_page(man: &Man, words: &str, command: &Command, text: &mut Vec<u8>) -> io::Result<()> {
    man.render_title(text)?;
    man.render_name_section(text)?;
    man.render_synopsis_section(text)?;
    man.render_description_section(text)?;
    man.render_options_section(text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(text)?;
    }
    match Guide::find(words) {
        Some(guide) => sections(guide).to_writer(text),
        None => Ok(()),
    }
}

/// EXAMPLES, COLUMNS, FILES and EXIT STATUS.
fn sections(guide: &Guide) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    for (what, line) in &guide.examples {
        roff.control("TP", []);
        roff.text([roman(*what)]);
        roff.text([bold(*line)]);
    }
    if !guide.columns.is_empty() {
        roff.control("SH", ["COLUMNS"]);
        entries(&mut roff, guide.columns.iter().map(|(head, what)| ((*head).to_owned(), *what)));
    }
    if !guide.files.is_empty() {
        roff.control("SH", ["FILES"]);
        entries(&mut roff, guide.files.iter().map(|(file, what)| ((*file).to_owned(), *what)));
    }
    roff.control("SH", ["EXIT STATUS"]);
    entries(&mut roff, guide.all_exits().map(|(exit, when)| ((exit as u8).to_string(), when)));
    roff
}

fn entries(roff: &mut Roff, entries: impl Iterator<Item = (String, &'static str)>) {
    for (head, text) in entries {
        roff.control("TP", []);
        roff.text([bold(head)]);
        roff.text([roman(text)]);
    }
}
