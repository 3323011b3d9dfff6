//! `tidegate reproduce`: a paper's experiments, its claims beside our results, and a page with its figures.

mod plr;

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Instant;

use tidegate_core::records::RunRecord;
use tidegate_report::claims::{Judged, Paper};
use tidegate_report::figure::{Figure, Look, write_figures};
use tidegate_report::page::{BoardPage, board_page};
use tidegate_report::{claims, text};
use tidegate_sim::plan::Plan;
use tidegate_sim::run::{Job, Progress, run_batch};

use super::threads;
use crate::exit::{Exit, Failure, Outcome, print};
use crate::progress::ProgressLine;
use crate::results::cannot;
use crate::{Format, SEMANTICS, Session};

/// Papers that can be reproduced.
const PAPERS: [&str; 1] = ["plr"];

/// What to reproduce and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The paper: plr, or all.
    #[arg(value_name = "PAPER")]
    paper: String,
    /// Also run what shows how results depend on values the paper leaves open.
    #[arg(long)]
    full: bool,
    /// A quick look: a tenth of the packets and three seeds. Gives no verdicts.
    #[arg(long, conflicts_with = "full")]
    reduced: bool,
    /// Folder under which results are written.
    #[arg(long, value_name = "DIR", default_value = "results")]
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

/// What a paper's experiments give.
struct Board {
    paper: Paper,
    claims: Vec<Judged>,
    figures: Vec<Figure>,
    /// More results, as text.
    remarks: String,
}

/// Runs experiments on all cores and keeps of each run what a paper asks for.
struct Bench<'a> {
    session: &'a Session,
    threads: usize,
    extent: Extent,
}

impl Bench<'_> {
    /// Every seed of every plan; one list per plan, in the order of its seeds.
    fn run<T: Send>(&self, plans: &[Plan], keep: impl Fn(&Plan, RunRecord) -> T + Sync) -> Vec<Vec<T>> {
        let jobs: Vec<Job<'_>> = plans
            .iter()
            .flat_map(|plan| plan.seeds.iter().map(move |seed| Job { plan, seed: *seed }))
            .collect();
        let line = Line(ProgressLine::new("runs", jobs.len(), self.session.quiet));
        let mut kept =
            run_batch(&jobs, self.threads, &line, |job, run| keep(jobs[job].plan, run)).into_iter().flatten();
        plans.iter().map(|plan| kept.by_ref().take(plan.seeds.len()).collect()).collect()
    }
}

struct Line(ProgressLine);

impl Progress for Line {
    fn finished(&self, _: usize, _: &RunRecord) {
        self.0.one_done();
    }
}

pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let papers: Vec<&str> = match arguments.paper.as_str() {
        "all" => PAPERS.to_vec(),
        paper if PAPERS.contains(&paper) => vec![paper],
        other => {
            return Err(Failure::usage(format!(
                "paper {other:?} is not known; known: {}, all",
                PAPERS.join(", ")
            )));
        }
    };
    let mut exit = Exit::Ok;
    for paper in papers {
        if reproduce(session, arguments, paper)? == Exit::Unexpected {
            exit = Exit::Unexpected;
        }
    }
    Ok(exit)
}

fn reproduce(session: &Session, arguments: &Arguments, name: &str) -> Outcome {
    let begun = Instant::now();
    let extent = match (arguments.reduced, arguments.full) {
        (true, _) => Extent::Reduced,
        (_, true) => Extent::Full,
        _ => Extent::Paper,
    };
    let bench = Bench { session, threads: threads(arguments.threads), extent };
    let board = plr::board(&bench)?;
    let folder = arguments.out.join(name);
    let command = command_line(name, extent);
    write(&folder, &board, &command)?;
    match session.format {
        Format::Json => print(&(text::claims_json(&board.paper, &board.claims).to_string() + "\n")),
        Format::Text => print(&format!(
            "{}\n{}, {}\n\n{}{}\nreport  {}\ndone in {:.1} s\n",
            board.paper.title,
            board.paper.authors,
            board.paper.venue,
            text::claims_table(&board.claims),
            board.remarks,
            folder.join("report.html").display(),
            begun.elapsed().as_secs_f64()
        )),
    }
    let surprised = board.claims.iter().any(Judged::contradicts_record);
    Ok(if surprised { Exit::Unexpected } else { Exit::Ok })
}

fn command_line(name: &str, extent: Extent) -> String {
    let flag = match extent {
        Extent::Reduced => " --reduced",
        Extent::Paper => "",
        Extent::Full => " --full",
    };
    format!("tidegate reproduce {name}{flag}")
}

/// Writes the page and every figure.
fn write(folder: &std::path::Path, board: &Board, command: &str) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|why| cannot("make", folder, &why))?;
    let page = board_page(&BoardPage {
        paper: &board.paper,
        claims: &board.claims,
        figures: &board.figures,
        command,
        semantics: SEMANTICS,
    });
    let mut files = vec![("report.html".to_owned(), page)];
    files.extend(
        board.figures.iter().map(|figure| (format!("{}.svg", figure.id), figure.to_svg(Look::default()))),
    );
    files.push(("figures.json".to_owned(), write_figures(&board.figures)));
    files.push(("claims.json".to_owned(), text::claims_json(&board.paper, &board.claims).to_string() + "\n"));
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
