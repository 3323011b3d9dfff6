//! A paper of the user's own: a folder with `claims.toml`, `experiments.toml` and scenarios, without a line of Rust.
//!
//! Its runs are in the store of sweeps, named by what they depend on, so that they resume and are shared.

use std::path::{Path, PathBuf};
use std::time::Instant;

use tidegate_core::records::RunRecord;
use tidegate_papers::experiments::{Experiment, Experiments};
use tidegate_papers::expression::{self, Cell, Expression};
use tidegate_report::claims::{self, Claim, Judged, Paper};
use tidegate_report::measures::{self, RUN_MEASURES, RunMeasure};
use tidegate_report::page::board_page;
use tidegate_report::stats::Estimate;
use tidegate_report::text::{Align, TextTable, short};
use tidegate_settings::suggest::{meant, question};
use tidegate_sim::plan::Plan;
use tidegate_sim::run::Job;

use super::{Arguments, Board, Census, Extent, PAPERS, REDUCED_SEEDS, Written, extent, summary, write};
use crate::batch::{self, Wanted};
use crate::commands::report::Kept;
use crate::commands::{read_plan, read_text, refuse_incomplete, threads};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::results::file_name;
use crate::store::{Found, Identity, Store};
use crate::words::word;
use crate::{Format, Session};

const CLAIMS: &str = "claims.toml";
const EXPERIMENTS: &str = "experiments.toml";

/// Whether `paper` is the path of a folder and no paper of the program.
pub(super) fn is_one(paper: &str) -> bool {
    let is_known = PAPERS.iter().any(|entry| entry.name == paper) || paper == super::ALL;
    !is_known && (paper.contains(['/', '\\']) || Path::new(paper).is_dir())
}

/// Runs what is missing, judges the claims and writes the page.
pub(super) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let begun = Instant::now();
    let study = Study::read(session, arguments)?;
    let store = Store::make(&store(&arguments.out))?;
    study.fill(session, &store, threads(arguments.threads))?;
    let done = study.judge(&store)?;
    let folder = arguments.out.join(study.results_name());
    write(&folder, &done)?;
    match session.format {
        Format::Text => {
            session.show(&summary(session.screen, &done.board, &folder.join("report.html"), begun));
        }
        Format::Json => print(&(done.json().to_string() + "\n")),
    }
    let is_surprise = done.board.claims.iter().any(Judged::contradicts_record);
    Ok(if is_surprise { Exit::Unexpected } else { Exit::Ok })
}

/// The page of results in `kept`, made of the runs in the store; nothing is run.
pub(super) fn page_again(session: &Session, kept: &Kept, arguments: &Arguments) -> Result<String, Failure> {
    let study = Study::read(session, arguments)?;
    let store = Store::at(&store(&kept.out()));
    let missing = study.wanted(&store).len();
    if missing > 0 {
        let failure = Failure::error(format!("{missing} of its runs are not in the store"));
        return Err(kept.refused(&failure, &kept.command));
    }
    Ok(board_page(&study.judge(&store)?.page()))
}

fn store(out: &Path) -> PathBuf {
    out.join("store")
}

/// One cell of an experiment.
struct Point {
    /// Number of the experiment.
    experiment: usize,
    /// Number of the cell in it.
    cell: usize,
    plan: Plan,
    identity: Identity,
}

/// A paper's folder, read and checked.
struct Study {
    /// As given.
    folder: String,
    extent: Extent,
    paper: Paper,
    /// Text of the claims' file, for messages.
    text: String,
    experiments: Experiments,
    /// What each claim is computed from.
    expressions: Vec<Expression>,
    /// All cells of all experiments, in their order.
    points: Vec<Point>,
    /// What the folder consists of: name and content.
    files: Vec<(String, String)>,
}

impl Study {
    /// Reads the folder; whatever is wrong in it is found before anything runs.
    fn read(session: &Session, arguments: &Arguments) -> Result<Self, Failure> {
        let extent = extent(arguments);
        let folder = Path::new(&arguments.paper);
        let text_of = |name: &str| -> Result<String, Failure> {
            let path = folder.join(name);
            String::from_utf8(read_text(&path)?)
                .map_err(|_| Failure::error(format!("{}: it is not UTF-8", path.display())))
        };
        let (text, experiments_text) = (text_of(CLAIMS)?, text_of(EXPERIMENTS)?);
        let path = |name: &str| folder.join(name).display().to_string();
        let paper = claims::parse(&text, &path(CLAIMS)).map_err(plainly)?;
        let experiments = Experiments::parse(&path(EXPERIMENTS), &experiments_text).map_err(plainly)?;
        let mut files = vec![(CLAIMS.to_owned(), text.clone()), (EXPERIMENTS.to_owned(), experiments_text)];
        for experiment in &experiments.list {
            if files.iter().all(|(name, _)| *name != experiment.scenario) {
                files.push((experiment.scenario.clone(), text_of(&experiment.scenario)?));
            }
        }
        let points = points(session, folder, &experiments, extent)?;
        let folder = arguments.paper.clone();
        let mut study =
            Self { folder, extent, paper, text, experiments, expressions: Vec::new(), points, files };
        study.expressions =
            study.paper.claims.iter().map(|claim| study.expression(claim)).collect::<Result<_, _>>()?;
        Ok(study)
    }

    /// The expression of a claim, whose cells and measures exist.
    fn expression(&self, claim: &Claim) -> Result<Expression, Failure> {
        let Some(formula) = &claim.formula else {
            let id = format!("{:?}", claim.id);
            let start = self.text.find(&id).unwrap_or(0);
            let message =
                format!("claim {id} has no key is; it needs one, such as is = \"goodput_mbps[grid, icp]\"");
            return Err(self.at(start..start + id.len(), message));
        };
        let fault = |fault| self.fault(claim, fault);
        let expression = expression::parse(&formula.text).map_err(fault)?;
        if expression.cells().is_empty() {
            let end = formula.start + formula.text.len();
            return Err(
                self.at(formula.start..end, "it names no cell, so that nothing is measured".to_owned())
            );
        }
        for cell in expression.cells() {
            self.experiments.find(cell).map_err(fault)?;
            measure(cell).map_err(fault)?;
        }
        Ok(expression)
    }

    /// The failure of what is wrong in the expression of a claim.
    fn fault(&self, claim: &Claim, fault: expression::Fault) -> Failure {
        let start = claim.formula.as_ref().map_or(0, |formula| formula.start);
        self.at(start + fault.at.start..start + fault.at.end, fault.message)
    }

    /// The failure of what is wrong with some bytes of the claims' file.
    fn at(&self, span: std::ops::Range<usize>, message: String) -> Failure {
        let file = Path::new(&self.folder).join(CLAIMS).display().to_string();
        plainly(claims::fault_at(&self.text, &file, span, message))
    }

    /// Runs that are not in the store.
    fn wanted(&self, store: &Store) -> Vec<Wanted<'_>> {
        let mut wanted = Vec::new();
        for Point { plan, identity, .. } in &self.points {
            let missing = plan.seeds.iter().filter(|seed| store.look(identity, **seed) != Found::Whole);
            wanted.extend(missing.map(|seed| Wanted { plan, identity, seed: *seed }));
        }
        wanted
    }

    /// Runs whatever the store lacks.
    fn fill(&self, session: &Session, store: &Store, threads: usize) -> Result<(), Failure> {
        let wanted = self.wanted(store);
        let runs = self.points.iter().map(|point| point.plan.seeds.len()).sum::<usize>();
        let finished = runs - wanted.len();
        let jobs: Vec<Job<'_>> = wanted.iter().map(|run| Job { plan: run.plan, seed: run.seed }).collect();
        let time = super::forecast::of(&jobs, threads);
        session.begun(&super::forecast(Census { runs, finished, time }, Extent::Paper, threads));
        let filled = batch::fill(session, store, &wanted, finished, threads)?;
        let name = |place: usize| format!("{}, seed {}", wanted[place].plan.name, wanted[place].seed.0);
        match batch::failures(&filled.failed, name) {
            Some(message) => Err(Failure { exit: Exit::Partial, message }),
            None => Ok(()),
        }
    }

    /// The claims beside our results, all of which are in the store.
    fn judge(&self, store: &Store) -> Result<Written, Failure> {
        let results = Results::read(self, store)?;
        let judged = self.paper.claims.iter().zip(&self.expressions).map(|(claim, expression)| {
            let samples = expression.samples(&mut |cell| results.values(cell));
            let samples = samples.map_err(|fault| self.fault(claim, fault))?;
            Ok(match self.extent {
                Extent::Reduced => Judged::reduced(claim.clone(), &samples),
                Extent::Paper | Extent::Full => Judged::full(claim.clone(), &samples),
            })
        });
        let board = Board {
            paper: self.paper.clone(),
            claims: judged.collect::<Result<_, Failure>>()?,
            figures: Vec::new(),
            tables: results.tables(),
            scenarios: Vec::new(),
        };
        Ok(Written::with_files(&word(&self.folder), self.extent, board, self.files.clone()))
    }

    /// Name of the folder of results: that of the paper's folder.
    fn results_name(&self) -> String {
        let folder = Path::new(&self.folder);
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = whole.file_name().map_or("paper".to_owned(), |name| file_name(&name.to_string_lossy()));
        let is_taken =
            PAPERS.iter().any(|entry| entry.name == name) || [super::ALL, "store"].contains(&name.as_str());
        if is_taken { format!("{name}-paper") } else { name }
    }
}

/// Whatever names its file and line, without a word before.
fn plainly(why: impl std::fmt::Display) -> Failure {
    Failure { exit: Exit::Error, message: why.to_string() }
}

/// The plans of all cells of all experiments.
fn points(
    session: &Session,
    folder: &Path,
    experiments: &Experiments,
    extent: Extent,
) -> Result<Vec<Point>, Failure> {
    let is_reduced = extent == Extent::Reduced;
    let mut points = Vec::new();
    for (number, experiment) in experiments.list.iter().enumerate() {
        for cell in 0..experiment.cells() {
            let mut overrides = experiment.overrides(cell, is_reduced);
            overrides.extend(experiment.seeds.map(|seeds| ("scenario.seeds".to_owned(), seeds.to_string())));
            let plan = read_plan(session, &folder.join(&experiment.scenario), &overrides);
            let in_cell =
                |failure: Failure| plainly(format!("{}: {}", experiment.cell_name(cell), failure.message));
            let mut plan = plan.map_err(in_cell)?;
            if is_reduced {
                plan.seeds.truncate(REDUCED_SEEDS);
            }
            points.push(Point { experiment: number, cell, identity: Identity::of(&plan), plan });
        }
    }
    let named = |point: &Point| experiments.list[point.experiment].cell_name(point.cell);
    refuse_incomplete(points.iter().map(|point| (named(point), &point.plan)))?;
    Ok(points)
}

/// The measure of a cell.
fn measure(cell: &Cell) -> Result<&'static RunMeasure, expression::Fault> {
    measures::find(&cell.measure).ok_or_else(|| {
        let known = || RUN_MEASURES.iter().map(|measure| measure.name);
        let hint = match meant(&cell.measure, known()).as_slice() {
            [] => format!("; known: {}", known().collect::<Vec<_>>().join(", ")),
            near => question(near),
        };
        expression::Fault { at: cell.at, message: format!("measure {:?} is not known{hint}", cell.measure) }
    })
}

/// The runs of all cells, without samples.
struct Results<'a> {
    study: &'a Study,
    /// By point and seed.
    runs: Vec<Vec<RunRecord>>,
}

impl<'a> Results<'a> {
    fn read(study: &'a Study, store: &Store) -> Result<Self, Failure> {
        let of_point = |point: &Point| -> Result<Vec<RunRecord>, Failure> {
            let recall = |seed: &_| store.recall(&point.identity, *seed, &point.plan.name, false);
            point.plan.seeds.iter().map(recall).collect()
        };
        Ok(Self { study, runs: study.points.iter().map(of_point).collect::<Result<_, _>>()? })
    }

    /// Values of a cell, one per seed.
    fn values(&self, cell: &Cell) -> Result<Vec<f64>, expression::Fault> {
        let (experiment, place) = self.study.experiments.find(cell)?;
        let measure = measure(cell)?;
        let is_it = |point: &Point| (point.experiment, point.cell) == (experiment, place);
        let runs = self.study.points.iter().position(is_it).map_or(&[][..], |point| &self.runs[point]);
        let value = |run: &RunRecord| {
            let value = (measure.of)(run).filter(|value| value.is_finite());
            value.ok_or_else(|| expression::Fault {
                at: cell.at,
                message: format!("{cell} has no value with seed {}. {}", run.seed, measure.text),
            })
        };
        runs.iter().map(value).collect()
    }

    /// One table per experiment: its cells and the measures that claims use of them.
    fn tables(&self) -> Vec<(String, TextTable)> {
        let experiments = self.study.experiments.list.iter().enumerate();
        experiments
            .map(|(number, experiment)| (experiment.name.clone(), self.table(number, experiment)))
            .collect()
    }

    fn table(&self, number: usize, experiment: &Experiment) -> TextTable {
        let mut used: Vec<&RunMeasure> = Vec::new();
        for cell in self.study.expressions.iter().flat_map(Expression::cells) {
            let is_here = self.study.experiments.find(cell).is_ok_and(|(found, _)| found == number);
            let known =
                measure(cell).ok().filter(|measure| used.iter().all(|known| known.name != measure.name));
            used.extend(known.filter(|_| is_here));
        }
        let mut head: Vec<(&str, Align)> =
            experiment.axes.iter().map(|axis| (axis.name.as_str(), Align::Left)).collect();
        head.extend(used.iter().map(|measure| (measure.name, Align::Right)));
        let mut table = TextTable::new(&head);
        for (point, runs) in
            self.study.points.iter().zip(&self.runs).filter(|(point, _)| point.experiment == number)
        {
            let settings = experiment.settings(point.cell).into_iter().map(|setting| setting.name.clone());
            let estimate = |measure: &&RunMeasure| {
                short(&Estimate::of(&runs.iter().filter_map(|run| (measure.of)(run)).collect::<Vec<f64>>()))
            };
            table.row(settings.chain(used.iter().map(estimate)).collect::<Vec<String>>());
        }
        table
    }
}
