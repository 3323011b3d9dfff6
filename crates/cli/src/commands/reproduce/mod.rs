//! `tidegate reproduce`: a paper's experiments, its claims beside our results, and a page with its figures.

mod duration_estimate;
mod measures;
mod output;
mod study;
mod values;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidegate_pages::figure::{Figure, Look, stated, write_figures};
use tidegate_pages::page::{BoardPage, board_page, boards_page};
use tidegate_results::claims::{Judged, Paper};
use tidegate_results::text::{self, Screen, TextTable, counted};
use tidegate_settings::suggest::{intended, question};

use study::{Files, Results, Study};

use super::threads;
use crate::code::code;
use crate::command_line::word;
use crate::exit::{Exit, Failure, Outcome, print};
use crate::kept_results::KeptResults;
use crate::page::COMMAND;
use crate::progress::in_words;
use crate::results::{file_name, kept_name};
use crate::store::Store;
use crate::{Format, SEMANTICS, Session};

/// A paper that comes with the program.
struct Entry {
    /// On the command line; also its folder.
    name: &'static str,
    /// Path of its folder in the sources, for messages.
    folder: &'static str,
    /// Files of the paper: name and content.
    files: &'static [(&'static str, &'static str)],
}

/// The files of a paper, from its folder in the sources.
macro_rules! paper {
    ($name:literal, $($file:literal),+) => {
        Entry {
            name: $name,
            folder: concat!("scenarios/papers/", $name),
            files: &[$(($file, include_str!(concat!("../../../scenarios/papers/", $name, "/", $file)))),+],
        }
    };
}

/// Papers that come with the program, in the order of `all`.
static PAPERS: [Entry; 5] = [
    paper!("plr", "claims.toml", "experiments.toml", "board.toml", "linear.toml", "burst.toml"),
    paper!(
        "ndnsieve",
        "claims.toml",
        "experiments.toml",
        "board.toml",
        "dumbbell.toml",
        "multipath1.toml",
        "multipath2.toml",
        "generated-waxman.toml",
        "generated-barabasi-albert.toml"
    ),
    paper!("mircc", "claims.toml", "experiments.toml", "board.toml", "dumbbell.toml"),
    paper!("bbr-cd", "claims.toml", "experiments.toml", "board.toml", "cell.toml", "apart.toml"),
    paper!(
        "brf",
        "claims.toml",
        "experiments.toml",
        "board.toml",
        "path.toml",
        "round-trips.toml",
        "shared.toml",
        "demands.toml"
    ),
];

/// Value of PAPER that selects every paper.
const ALL: &str = "all";

/// File in the results of a paper of the user's own with the absolute path of the paper's folder.
const SOURCE: &str = "paper.txt";

/// What to reproduce and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The paper: plr, ndnsieve, mircc, bbr-cd, brf, or all; or a folder of your own, such as `./my-paper`, with
    /// `claims.toml`, `experiments.toml`, scenarios and optionally `board.toml`.
    #[arg(value_name = "PAPER")]
    paper: String,
    /// Also run the experiments on the sensitivity to values that the paper does not specify.
    #[arg(long)]
    full: bool,
    /// Quick check with shorter runs and at most three seeds, without verdicts.
    #[arg(long, conflicts_with = "full")]
    reduced: bool,
    /// Before the start, remove the runs of papers that other builds of the program made and this one cannot use.
    #[arg(long)]
    remove_old_runs: bool,
    /// Directory under which results are written.
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    out: PathBuf,
    /// Number of threads; one per core by default. Results do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
}

/// Extent of the experiments that are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Reduced,
    Paper,
    Full,
}

/// Results of a paper's experiments.
struct Board {
    paper: Paper,
    claims: Vec<Judged>,
    figures: Vec<Figure>,
    /// More results, with their titles.
    tables: Vec<(String, TextTable)>,
}

/// A board, and the command that makes it.
struct Written {
    board: Board,
    /// Files of the paper: name and content.
    files: Vec<(String, String)>,
    /// Names of the files.
    names: Vec<String>,
    /// Files that the scenarios name: name and content.
    named: BTreeMap<String, String>,
    command: String,
}

impl Written {
    /// The claims, figures and tables of a study all of whose runs are in the store.
    fn of(study: &Study, store: &Store, name: &str) -> Result<Self, Failure> {
        let results = Results::read(study, store);
        let (claims, mut figures) = (results.judge()?, results.figures()?);
        figures.extend(stated(&claims, &figures));
        let board = Board { paper: study.paper.clone(), claims, figures, tables: results.tables()? };
        let names = study.files.iter().map(|(name, _)| name.clone()).collect();
        let (files, named, command) =
            (study.files.clone(), study.named.clone(), command_line(name, study.extent));
        Ok(Self { board, files, names, named, command })
    }

    fn page(&self) -> BoardPage<'_> {
        BoardPage {
            paper: &self.board.paper,
            claims: &self.board.claims,
            figures: &self.board.figures,
            tables: &self.board.tables,
            files: &self.names,
            command: &self.command,
            semantics: SEMANTICS,
            code: code(),
        }
    }

    /// Claims and tables in Markdown, as in `docs/papers/values` of the repository.
    fn values(&self) -> String {
        let Board { claims, tables, .. } = &self.board;
        let claims = [("Claims".to_owned(), text::claims_as_table(claims))];
        let parts = claims.iter().chain(tables);
        let parts: String =
            parts.map(|(title, table)| format!("\n## {title}\n\n{}", table.to_markdown())).collect();
        format!("# {}, semantics {SEMANTICS}\n{parts}", self.command)
    }

    fn json(&self) -> Value {
        text::claims_json(&self.board.paper, &self.board.claims)
    }
}

/// Accepted values of PAPER, without folders.
pub(crate) fn paper_names() -> Vec<&'static str> {
    PAPERS.iter().map(|entry| entry.name).chain([ALL]).collect()
}

/// One of the requested papers.
struct Chosen<'a> {
    /// Name as given on the command line.
    name: &'a str,
    /// Name of its folder of results.
    folder: String,
    files: Files<'a>,
}

impl Chosen<'_> {
    /// Absolute path of the folder of a paper of the user's own.
    fn source(&self) -> Option<String> {
        let Files::Folder(folder) = self.files else { return None };
        Some(folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).display().to_string())
    }

    /// Refuses a folder of results that has other files, or the results of another paper whose folder has the same name.
    fn check_owner(&self, out: &Path) -> Result<(), Failure> {
        let folder = out.join(&self.folder);
        output::check_folder(&folder)?;
        let known = std::fs::read_to_string(folder.join(SOURCE)).ok();
        match (self.source(), known.as_deref().map(str::trim_end)) {
            (Some(source), Some(known)) if source != known => Err(Failure::error(format!(
                "{} has the results of another paper, {known}; --out DIR writes those of {source} elsewhere",
                folder.display()
            ))),
            // Results written by an earlier version; files of the paper would be removed as those of an earlier run.
            (Some(source), _) if folder.canonicalize().is_ok_and(|folder| folder == Path::new(&source)) => {
                Err(Failure::error(format!(
                    "{source} is the folder of the paper; --out DIR writes the results elsewhere"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// The requested papers, at least one.
fn chosen(paper: &str) -> Result<Vec<Chosen<'_>>, Failure> {
    let known: Vec<Chosen<'_>> = PAPERS
        .iter()
        .filter(|entry| paper == ALL || entry.name == paper)
        .map(|entry| Chosen {
            name: entry.name,
            folder: entry.name.to_owned(),
            files: Files::Program(entry.folder, entry.files),
        })
        .collect();
    if !known.is_empty() {
        return Ok(known);
    }
    if Path::new(paper).is_file() {
        let message =
            format!("{paper} is a file; PAPER takes a folder with claims.toml and experiments.toml");
        return Err(Failure::usage(message));
    }
    // A word without a slash that is not a folder is more likely a misspelt paper than a missing folder.
    if !paper.contains(['/', '\\']) && !Path::new(paper).is_dir() {
        return Err(unknown_paper(paper));
    }
    if !Path::new(paper).is_dir() {
        let create = word(paper);
        let message =
            format!("{paper}: there is no such folder; `tidegate new --paper {create}` creates one");
        return Err(Failure::error(message));
    }
    let folder = results_name(paper);
    Ok(vec![Chosen { name: paper, folder, files: Files::Folder(Path::new(paper)) }])
}

/// Name of the folder of results of a paper of the user's own: that of the paper's folder.
fn results_name(paper: &str) -> String {
    let folder = Path::new(paper);
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = whole.file_name().map_or("paper".to_owned(), |name| file_name(&name.to_string_lossy()));
    let is_taken = PAPERS.iter().any(|entry| entry.name == name) || [ALL, "store"].contains(&name.as_str());
    // The results of the program's own papers, their common page and the store are folders of these names.
    if is_taken { format!("{name}-paper") } else { name }
}

fn unknown_paper(name: &str) -> Failure {
    let known = paper_names();
    let mut hint = question(&intended(name, known.iter().copied()));
    if hint.is_empty() {
        hint = format!("; known: {}", known.join(", "));
    }
    Failure::usage(format!("paper {name:?} is not known{hint}"))
}

/// The store below a folder of results.
fn store_of(out: &Path) -> PathBuf {
    out.join("store")
}

/// Runs the missing runs, judges the claims and writes the pages.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let papers = chosen(&arguments.paper)?;
    let (extent, threads) = (extent(arguments), threads(arguments.threads));
    // All papers are read first, so that an error in the last one costs no computing time.
    let studies: Vec<Study> =
        papers.iter().map(|paper| Study::read(session, paper.files, extent)).collect::<Result<_, _>>()?;
    papers.iter().try_for_each(|paper| paper.check_owner(&arguments.out))?;
    let is_all = arguments.paper == ALL;
    if is_all {
        output::check_folder(&arguments.out.join(ALL))?;
    }
    let store = Store::make(&store_of(&arguments.out))?;
    // Before the census, which counts the remaining runs.
    if arguments.remove_old_runs {
        values::of_other_code(&store)?.iter().try_for_each(|key| store.discard(&store.path(key)))?;
    }
    // The estimate starts some of the runs, which takes a moment.
    if !session.quiet {
        mention_others(session, &store)?;
        let census = studies.iter().map(|study| study.census(&store, threads)).sum();
        session.begun(&forecast(census, threads));
    }
    let mut boards = Vec::new();
    for (paper, study) in papers.iter().zip(&studies) {
        boards.push(reproduce(session, arguments, paper, study, &store)?);
    }
    if is_all {
        write_all(session, arguments, &boards, &store)?;
    }
    if session.format == Format::Json {
        let documents: Vec<Value> = boards.iter().map(Written::json).collect();
        let document = if is_all { Some(json!(documents)) } else { documents.into_iter().next() };
        print(&(document.unwrap_or(Value::Null).to_string() + "\n"));
    }
    // A verdict that is better than the one on record is a change that has to be recorded, too.
    let surprised = boards.iter().flat_map(|done| &done.board.claims).any(Judged::contradicts_record);
    Ok(if surprised { Exit::Unexpected } else { Exit::Ok })
}

/// The page of the results in `kept`, made of the runs in the store; nothing is run.
pub(crate) fn page_again(
    session: &Session,
    kept: &KeptResults,
    arguments: &Arguments,
) -> Result<String, Failure> {
    let store = Store::at(&store_of(&kept.out()));
    // The files beside the results, because those of the paper may have changed since.
    let papers: Vec<(&str, PathBuf)> = match arguments.paper.as_str() {
        ALL => PAPERS.iter().map(|entry| (entry.name, kept.out().join(entry.name))).collect(),
        name => vec![(name, kept.folder.clone())],
    };
    let mut boards = Vec::new();
    for (name, folder) in papers {
        let study = Study::read(session, Files::Folder(&folder), extent(arguments))?;
        let missing = study.missing(&store);
        // A page with some of its runs would show other numbers than the results beside it.
        if missing > 0 {
            let why =
                format!("{missing} of its runs, made by this build of the program, are not in the store");
            return Err(kept.refused(&Failure::error(why), &kept.command));
        }
        boards.push(Written::of(&study, &store, &word(name))?);
    }
    match boards.as_slice() {
        [one] if arguments.paper != ALL => Ok(board_page(&one.page())),
        boards => Ok(boards_page(&boards.iter().map(Written::page).collect::<Vec<_>>(), &kept.command)),
    }
}

fn extent(arguments: &Arguments) -> Extent {
    match (arguments.reduced, arguments.full) {
        (true, _) => Extent::Reduced,
        (_, true) => Extent::Full,
        _ => Extent::Paper,
    }
}

/// Prints a note if the store has runs of other code.
fn mention_others(session: &Session, store: &Store) -> Result<(), Failure> {
    let others = values::of_other_code(store)?.len();
    if others > 0 {
        session.note(&format!(
            "{others} runs of papers in {} were made by other builds of the program, which this one cannot use; \
             --remove-old-runs removes them",
            store.root().display()
        ));
    }
    Ok(())
}

/// Number of runs of a command, with the finished ones.
#[derive(Clone, Copy, Debug, Default)]
struct Census {
    runs: usize,
    /// Of these, finished before.
    finished: usize,
    /// Approximate duration of the unfinished runs.
    time: Duration,
}

impl std::iter::Sum for Census {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            runs: sum.runs + one.runs,
            finished: sum.finished + one.finished,
            time: sum.time + one.time,
        })
    }
}

/// Sentence with the number of runs and their approximate duration on this machine.
fn forecast(census: Census, threads: usize) -> String {
    let Census { runs, finished, time } = census;
    let time = format!("about {} on {}", in_words(time), counted(threads, "thread"));
    let all = counted(runs, "run");
    match finished {
        _ if runs == finished => format!("{all}, all of them finished earlier"),
        0 => format!("{all}: {time}"),
        _ => format!("{all}, {finished} of them finished earlier: {time}"),
    }
}

fn reproduce(
    session: &Session,
    arguments: &Arguments,
    paper: &Chosen<'_>,
    study: &Study,
    store: &Store,
) -> Result<Written, Failure> {
    let begun = Instant::now();
    study.fill(session, store, threads(arguments.threads))?;
    let folder = arguments.out.join(&paper.folder);
    let done = Written::of(study, store, &word(paper.name))?;
    write(&folder, &done, paper.source(), store)?;
    if session.format == Format::Text {
        session.show(&summary(session.screen, &done.board, &folder.join("report.html"), begun));
    }
    Ok(done)
}

fn summary(screen: Screen, board: &Board, page: &Path, begun: Instant) -> String {
    let tables: String =
        board.tables.iter().map(|(title, table)| format!("\n{title}:\n{}", table.render(screen))).collect();
    format!(
        "{}\n{}, {}\n\n{}{tables}\nreport  {}\ndone in {:.1} s\n",
        board.paper.title,
        board.paper.authors,
        board.paper.venue,
        text::claims_table(&board.claims, screen),
        page.display(),
        begun.elapsed().as_secs_f64()
    )
}

fn command_line(name: &str, extent: Extent) -> String {
    let flag = match extent {
        Extent::Reduced => " --reduced",
        Extent::Paper => "",
        Extent::Full => " --full",
    };
    format!("tidegate reproduce {name}{flag}")
}

/// Writes a paper's page, its figures, its claims and its files.
fn write(folder: &Path, done: &Written, source: Option<String>, store: &Store) -> Result<(), Failure> {
    let board = &done.board;
    let mut files = vec![
        ("report.html".to_owned(), board_page(&done.page())),
        ("figures.json".to_owned(), write_figures(&board.figures)),
        ("claims.json".to_owned(), done.json().to_string() + "\n"),
        ("values.md".to_owned(), done.values()),
        (COMMAND.to_owned(), done.command.clone() + "\n"),
    ];
    files.extend(
        board.figures.iter().map(|figure| (format!("{}.svg", figure.id), figure.to_svg(Look::default()))),
    );
    files.extend(done.files.iter().cloned());
    files.extend(source.map(|source| (SOURCE.to_owned(), source + "\n")));
    files.extend(done.named.iter().map(|(name, text)| (kept_name(name), text.clone())));
    output::write_files(folder, files, store)
}

/// Writes the page of all papers, beside the folders of the papers.
fn write_all(
    session: &Session,
    arguments: &Arguments,
    boards: &[Written],
    store: &Store,
) -> Result<(), Failure> {
    let command = command_line(ALL, extent(arguments));
    let page = boards_page(&boards.iter().map(Written::page).collect::<Vec<_>>(), &command);
    let folder = arguments.out.join(ALL);
    let files = vec![("report.html".to_owned(), page), (COMMAND.to_owned(), command + "\n")];
    output::write_files(&folder, files, store)?;
    if session.format == Format::Text {
        print(&format!("\nall papers  {}\n", folder.join("report.html").display()));
    }
    Ok(())
}
