//! `tidegate reproduce`: a paper's experiments, its claims beside our results, and a page with its figures.

mod batch;
mod bbr_cd;
mod brf;
mod finished;
mod folder;
mod forecast;
mod mircc;
mod ndnsieve;
mod plr;

use std::cell::RefCell;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tidegate_report::claims::{Judged, Paper};
use tidegate_report::figure::{Figure, Look, stated, write_figures};
use tidegate_report::json::Json;
use tidegate_report::page::{BoardPage, board_page, boards_page};
use tidegate_report::text::{Screen, TextTable};
use tidegate_report::{claims, text};
use tidegate_settings::suggest::{meant, question};
use tidegate_sim::plan::Plan;
use tidegate_sim::scenario;

use batch::{Bench, Census, Purpose};
use finished::Finished;

use super::report::Kept;
use super::threads;
use crate::code;
use crate::exit::{Exit, Failure, Outcome, print};
use crate::page::COMMAND;
use crate::progress::in_words;
use crate::results::cannot;
use crate::{Format, SEMANTICS, Session};

/// A paper that can be reproduced.
struct Entry {
    /// On the command line; also its folder.
    name: &'static str,
    board: fn(&Bench<'_>) -> Result<Board, Failure>,
}

/// Papers that can be reproduced, in the order of `all`.
static PAPERS: [Entry; 5] = [
    Entry { name: "plr", board: plr::board },
    Entry { name: "ndnsieve", board: ndnsieve::board },
    Entry { name: "mircc", board: mircc::board },
    Entry { name: "bbr-cd", board: bbr_cd::board },
    Entry { name: "brf", board: brf::board },
];

/// What stands for every paper.
const ALL: &str = "all";

/// Seeds of a quick look.
const REDUCED_SEEDS: usize = 3;

/// What to reproduce and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The paper: plr, ndnsieve, mircc, bbr-cd, brf, or all; or the folder of one of your own, such as `./my-paper`, with
    /// `claims.toml`, `experiments.toml` and scenarios.
    #[arg(value_name = "PAPER")]
    paper: String,
    /// Also run what shows how results depend on values the paper leaves open.
    #[arg(long)]
    full: bool,
    /// A quick look: shorter runs and three seeds. Gives no verdicts.
    #[arg(long, conflicts_with = "full")]
    reduced: bool,
    /// First remove the runs that were kept for resuming by other builds of the program, which this one cannot use.
    #[arg(long)]
    remove_old_runs: bool,
    /// Folder under which results are written.
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    out: PathBuf,
    /// Threads to run on; one per core unless given. Results do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
}

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Reduced,
    Paper,
    Full,
}

impl Extent {
    /// Its word in names of folders.
    fn word(self) -> &'static str {
        match self {
            Self::Reduced => "reduced",
            Self::Paper => "paper",
            Self::Full => "full",
        }
    }
}

/// What a paper's experiments give.
struct Board {
    paper: Paper,
    claims: Vec<Judged>,
    figures: Vec<Figure>,
    /// More results, with their titles.
    tables: Vec<(String, TextTable)>,
    /// The scenarios' files: name and content.
    scenarios: Vec<(&'static str, &'static str)>,
}

/// A board, and the command that makes it.
struct Written {
    board: Board,
    /// The scenarios' files and whatever else the paper consists of: name and content.
    files: Vec<(String, String)>,
    /// Names of the files.
    names: Vec<String>,
    command: String,
}

impl Written {
    fn of(name: &str, extent: Extent, mut board: Board) -> Self {
        let own = std::mem::take(&mut board.scenarios).into_iter();
        let files = own.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        Self::with_files(name, extent, board, files)
    }

    fn with_files(name: &str, extent: Extent, mut board: Board, files: Vec<(String, String)>) -> Self {
        board.figures.extend(stated(&board.claims, &board.figures));
        let names = files.iter().map(|(name, _)| name.clone()).collect();
        Self { board, files, names, command: command_line(name, extent) }
    }

    fn page(&self) -> BoardPage<'_> {
        BoardPage {
            paper: &self.board.paper,
            claims: &self.board.claims,
            figures: &self.board.figures,
            tables: &self.board.tables,
            scenarios: &self.names,
            command: &self.command,
            semantics: SEMANTICS,
            code: code::code(),
        }
    }

    fn json(&self) -> Json {
        text::claims_json(&self.board.paper, &self.board.claims)
    }
}

/// What PAPER can be.
pub(crate) fn paper_names() -> Vec<&'static str> {
    PAPERS.iter().map(|entry| entry.name).chain([ALL]).collect()
}

/// The papers that are asked for, at least one.
fn chosen(arguments: &Arguments) -> Result<Vec<&'static Entry>, Failure> {
    let is_all = arguments.paper == ALL;
    let papers: Vec<&Entry> = PAPERS.iter().filter(|entry| is_all || entry.name == arguments.paper).collect();
    if papers.is_empty() { Err(unknown_paper(&arguments.paper)) } else { Ok(papers) }
}

fn unknown_paper(name: &str) -> Failure {
    let known = paper_names();
    let mut hint = question(&meant(name, known.iter().copied()));
    if hint.is_empty() {
        hint = format!("; known: {}", known.join(", "));
    }
    Failure::usage(format!("paper {name:?} is not known{hint}"))
}

pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    if folder::is_one(&arguments.paper) {
        return folder::run(session, arguments);
    }
    let is_all = arguments.paper == ALL;
    let papers = chosen(arguments)?;
    let code = finished::code_name();
    let open = |entry: &Entry| Finished::open(&arguments.out.join(entry.name), &code, extent(arguments));
    let mut finished: Vec<Finished> = papers.iter().map(|entry| open(entry)).collect::<Result<_, _>>()?;
    if arguments.remove_old_runs {
        finished.iter_mut().try_for_each(Finished::remove_others)?;
    }
    if !session.quiet {
        mention_others(session, &finished);
        foretell(session, arguments, &papers, &finished);
    }
    let reproduce = |(entry, finished)| reproduce(session, arguments, entry, finished);
    let boards: Vec<Written> = papers.into_iter().zip(&finished).map(reproduce).collect::<Result<_, _>>()?;
    if is_all {
        write_all(session, arguments, &boards)?;
    }
    if session.format == Format::Json {
        let documents: Vec<Json> = boards.iter().map(Written::json).collect();
        let document = if is_all { Some(Json::List(documents)) } else { documents.into_iter().next() };
        print(&(document.unwrap_or(Json::Null).to_string() + "\n"));
    }
    let surprised = boards.iter().flat_map(|done| &done.board.claims).any(Judged::contradicts_record);
    Ok(if surprised { Exit::Unexpected } else { Exit::Ok })
}

/// The page of the results in `kept`, made of the finished runs; nothing is run.
pub(crate) fn page_again(session: &Session, kept: &Kept, arguments: &Arguments) -> Result<String, Failure> {
    if folder::is_one(&arguments.paper) {
        return folder::page_again(session, kept, arguments);
    }
    let (code, out, extent) = (finished::code_name(), kept.out(), extent(arguments));
    let papers = chosen(arguments)?;
    let mut boards = Vec::new();
    for entry in papers {
        let finished = Finished::look(&out.join(entry.name), &code, extent);
        let bench = Bench::new(session, threads(arguments.threads), extent, Purpose::Read(&finished));
        let board = (entry.board)(&bench).map_err(|failure| kept.refused(&failure, &kept.command))?;
        boards.push(Written::of(entry.name, extent, board));
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

/// Says which runs of other code lie beside those of this program.
fn mention_others(session: &Session, finished: &[Finished]) {
    let others: Vec<String> =
        finished.iter().flat_map(Finished::others).map(|folder| folder.display().to_string()).collect();
    if !others.is_empty() {
        session.note(&format!(
            "runs of other builds of the program are kept in {}; this one cannot use them, and --remove-old-runs \
             removes them",
            others.join(", ")
        ));
    }
}

/// Says how many runs there are, and about how long they take on this machine.
fn foretell(session: &Session, arguments: &Arguments, papers: &[&Entry], finished: &[Finished]) {
    let (extent, threads) = (extent(arguments), threads(arguments.threads));
    let mut all = Census::default();
    for (entry, finished) in papers.iter().zip(finished) {
        let census = RefCell::default();
        // It ends with a failure once it has counted; a failure before that comes again when it runs.
        let _ = (entry.board)(&Bench::new(session, threads, extent, Purpose::Count(finished, &census)));
        all = all + census.into_inner();
    }
    session.begun(&forecast(all, extent, threads));
}

fn forecast(all: Census, extent: Extent, threads: usize) -> String {
    let Census { runs, finished, time } = all;
    // What the studies run depends on results of these, so it cannot be counted beforehand.
    let (which, more) = match extent {
        Extent::Full => (
            " of the experiments of the paper",
            "; the studies of --full come after them and are not in this number and time",
        ),
        Extent::Paper | Extent::Reduced => ("", ""),
    };
    let time = in_words(time);
    match finished {
        _ if runs == finished => format!("{runs} runs{which}, all of them finished before{more}"),
        0 => format!("{runs} runs{which}: about {time} on {threads} threads{more}"),
        _ => format!(
            "{runs} runs{which}, {finished} of them finished before: about {time} on {threads} threads{more}"
        ),
    }
}

fn reproduce(
    session: &Session,
    arguments: &Arguments,
    entry: &Entry,
    finished: &Finished,
) -> Result<Written, Failure> {
    let begun = Instant::now();
    let extent = extent(arguments);
    let threads = threads(arguments.threads);
    let board = (entry.board)(&Bench::new(session, threads, extent, Purpose::Run(finished)))?;
    let folder = arguments.out.join(entry.name);
    let done = Written::of(entry.name, extent, board);
    write(&folder, &done)?;
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

/// Writes a paper's page, its figures, its claims and its scenarios.
fn write(folder: &Path, done: &Written) -> Result<(), Failure> {
    let board = &done.board;
    let mut files = vec![
        ("report.html".to_owned(), board_page(&done.page())),
        ("figures.json".to_owned(), write_figures(&board.figures)),
        ("claims.json".to_owned(), done.json().to_string() + "\n"),
        (COMMAND.to_owned(), done.command.clone() + "\n"),
    ];
    files.extend(
        board.figures.iter().map(|figure| (format!("{}.svg", figure.id), figure.to_svg(Look::default()))),
    );
    files.extend(done.files.iter().cloned());
    write_files(folder, &files)
}

/// Writes the page of all papers, beside the folders of the papers.
fn write_all(session: &Session, arguments: &Arguments, boards: &[Written]) -> Result<(), Failure> {
    let command = command_line("all", extent(arguments));
    let page = boards_page(&boards.iter().map(Written::page).collect::<Vec<_>>(), &command);
    let folder = arguments.out.join("all");
    write_files(&folder, &[("report.html".to_owned(), page), (COMMAND.to_owned(), command + "\n")])?;
    if session.format == Format::Text {
        print(&format!("\nall papers  {}\n", folder.join("report.html").display()));
    }
    Ok(())
}

fn write_files(folder: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|why| cannot("make", folder, &why))?;
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::write(&path, content).map_err(|why| cannot("write", &path, &why))?;
    }
    Ok(())
}

/// The paper's claims with the samples of each; every claim of the file must have some.
fn judge(
    paper: &Paper,
    extent: Extent,
    samples: impl Fn(&str) -> Option<Vec<f64>>,
) -> Result<Vec<Judged>, Failure> {
    let judged = paper.claims.iter().map(|claim| {
        let samples = samples(&claim.id).ok_or_else(|| {
            Failure::error(format!("claim {:?} of {} is not measured", claim.id, paper.scheme))
        })?;
        Ok(match extent {
            Extent::Reduced => Judged::reduced(claim.clone(), &samples),
            Extent::Paper | Extent::Full => Judged::full(claim.clone(), &samples),
        })
    });
    judged.collect()
}

/// Reads claims that come with the program.
fn read_claims(text: &str, file: &str) -> Result<Paper, Failure> {
    claims::parse(text, file).map_err(Failure::error)
}

/// A scenario that comes with the program, with values set.
fn checked(
    session: &Session,
    (name, text): (&str, &str),
    overrides: &[(String, String)],
) -> Result<Plan, Failure> {
    scenario::parse(name, text, overrides, &session.schemes).map_err(Failure::error)
}
