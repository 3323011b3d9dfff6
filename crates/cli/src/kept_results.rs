//! A folder of results that an earlier command has written.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_pages::figure::Figure;
use tidegate_results::tables::RunContext;

use crate::code::CODE_FILE;
use crate::command_line::word;
use crate::commands::figure::read_figures;
use crate::exit::Failure;
use crate::results::cannot;
use crate::{SEMANTICS, page};

/// A folder of results, with the command that made them.
#[derive(Debug)]
pub(crate) struct KeptResults {
    pub(crate) folder: PathBuf,
    /// The command, as `command.txt` has it.
    pub(crate) command: String,
    /// Origin of its runs; empty for a reproduction, whose results contain no tables of runs.
    pub(crate) context: RunContext,
}

impl KeptResults {
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let command = text_in(folder, page::COMMAND)?.trim_end().to_owned();
        let mut context = RunContext::default();
        if folder.join(CODE_FILE).is_file() {
            context.code = text_in(folder, CODE_FILE)?;
            context.scenario_text = text_in(folder, "scenario.toml")?;
            // The semantics are part of a run's key, so that the store only finds runs with those of this
            // program.
            context.semantics = SEMANTICS;
        }
        Ok(Self { folder: folder.to_owned(), command, context })
    }

    /// Path of the scenario with the overrides of the command.
    pub(crate) fn scenario(&self) -> PathBuf {
        self.folder.join("scenario.toml")
    }

    /// The folder under which the command wrote.
    pub(crate) fn out(&self) -> PathBuf {
        // The parent of a bare name is empty, which would be no argument of `--out`.
        let parent = self.folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).to_owned()
    }

    /// The figures in the folder of the page.
    pub(crate) fn figures(&self) -> Result<Vec<Figure>, Failure> {
        read_figures(&self.folder.join("figures.json"))
    }

    /// The failure for a page with missing runs, which `command` makes.
    pub(crate) fn refused(&self, failure: &Failure, command: &str) -> Failure {
        let out = word(&self.out().display().to_string());
        let why = failure.message.trim_start_matches("error: ");
        self.failure(&format!("{why}; to make the missing runs: {command} --out {out}"))
    }

    /// The failure for a page that cannot be made for the reason `why`.
    pub(crate) fn failure(&self, why: &str) -> Failure {
        Failure::error(format!("{}: the page cannot be regenerated: {why}", self.folder.display()))
    }
}

/// The text of a file of results.
pub(crate) fn text_in(folder: &Path, name: &str) -> Result<String, Failure> {
    let path = folder.join(name);
    fs::read_to_string(&path).map_err(|why| cannot("read", &path, &why))
}
