//! `tidegate docs`: the reference pages of the book, made from the definitions that the program itself uses.

mod commands;
mod results;
mod schemes;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::exit::{Exit, Failure, Outcome, print};
use crate::guide;
use crate::results::cannot;
use crate::{Format, Session};

/// Arguments of the command `tidegate docs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Page to print; without it, all pages are listed.
    page: Option<String>,
    /// Write all pages to this directory, which is created if needed.
    #[arg(long, short, value_name = "DIR", conflicts_with = "page")]
    out: Option<PathBuf>,
}

/// A page of the reference.
struct ReferencePage {
    /// Name, and of its file without `.md`.
    name: &'static str,
    /// First line of the page.
    title: &'static str,
    /// The rest, as Markdown.
    body: fn(&Session) -> String,
}

const PAGES: &[ReferencePage] = &[
    ReferencePage { name: "scenario-keys", title: "Every key of a scenario", body: scenario_keys },
    #[cfg(target_os = "linux")]
    ReferencePage {
        name: "forwarder-keys",
        title: "Every key of a forwarder's configuration",
        body: forwarder_keys,
    },
    #[cfg(target_os = "linux")]
    ReferencePage {
        name: "trust-schema-keys",
        title: "Every key of a trust schema",
        body: trust_schema_keys,
    },
    ReferencePage { name: "schemes", title: "Scheme catalogue", body: schemes::body },
    ReferencePage { name: "definitions", title: "Definitions of metrics", body: results::body },
    ReferencePage { name: "commands", title: "Commands", body: commands::body },
];

/// Notice below every title: manual edits would be overwritten.
const MADE: &str = "<!-- Made by `tidegate docs`; change the program instead. -->";

impl ReferencePage {
    fn text(&self, session: &Session) -> String {
        format!("# {}\n\n{MADE}\n\n{}\n", self.title, (self.body)(session).trim_end())
    }
}

/// Runs the command `tidegate docs`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    match (&arguments.page, &arguments.out) {
        (Some(name), _) => show(session, name),
        (None, Some(folder)) => write_all(session, folder),
        (None, None) => list(session),
    }
}

/// Names of all pages.
pub(crate) fn page_names() -> Vec<&'static str> {
    PAGES.iter().map(|page| page.name).collect()
}

fn show(session: &Session, name: &str) -> Outcome {
    let Some(page) = PAGES.iter().find(|page| page.name == name) else {
        let known = page_names().join(", ");
        return Err(Failure::usage(format!("page {name:?} is not known; known: {known}")));
    };
    session.print(|| page.text(session), || json!({ "name": page.name, "page": page.text(session) }));
    Ok(Exit::Ok)
}

fn write_all(session: &Session, folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|why| cannot("make", folder, &why))?;
    let mut files = Vec::new();
    for page in PAGES {
        let file = folder.join(page.name).with_extension("md");
        fs::write(&file, page.text(session)).map_err(|why| cannot("write", &file, &why))?;
        files.push(file);
    }
    session.print_files(&files);
    Ok(Exit::Ok)
}

/// Names and titles; for programs also every command and exit code, so that they can go through all of them.
fn list(session: &Session) -> Outcome {
    print(&match session.format {
        Format::Text => PAGES.iter().map(|page| format!("{:<15}  {}\n", page.name, page.title)).collect(),
        Format::Json => {
            let page = |page: &ReferencePage| json!({ "name": page.name, "title": page.title });
            let root = crate::command();
            let commands = guide::walk(&root).into_iter().map(|(words, _)| Value::from(words));
            let exit = |exit: Exit| json!({ "code": exit as u8, "meaning": exit.meaning() });
            let document = json!({
                "pages": PAGES.iter().map(page).collect::<Value>(),
                "commands": commands.collect::<Value>(),
                "exit_codes": Exit::ALL.map(exit),
            });
            document.to_string() + "\n"
        }
    });
    Ok(Exit::Ok)
}

fn scenario_keys(_: &Session) -> String {
    "Quantities are texts with their unit: `\"10Mbps\"`, `\"15ms\"`, `\"64pkt\"`, `\"20MB\"`. Units of time are ns, us, \
     ms, s, min and h; of rates bps, kbps, Mbps and Gbps; of sizes B, kB, MB, GB (decimal), KiB, MiB and GiB \
     (binary); of packets pkt. A bare number where a unit is needed is an error.\n\n"
        .to_owned()
        + &tidegate_sim::scenario::reference()
}

#[cfg(target_os = "linux")]
fn forwarder_keys(_: &Session) -> String {
    "The file that `tidegate forward` takes. Quantities are written as in scenarios.\n\n".to_owned()
        + &tidegate_live::daemon::config::reference()
}

#[cfg(target_os = "linux")]
fn trust_schema_keys(_: &Session) -> String {
    "The file that `fetch --trust-schema` takes.\n\n".to_owned() + &tidegate_live::trust_policy::reference()
}

/// A row of a Markdown table.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}
