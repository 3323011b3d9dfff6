//! A paper as files: `experiments.toml`, `claims.toml`, `board.toml` and scenarios, without code in Rust.
//!
//! Its runs are in the store of sweeps, under keys that depend on everything that determines a run, so that
//! they resume and are shared. The values that expressions need of a run are stored beside it.

mod cells;
mod names;
mod render;

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use tidegate_core::observe::event::EventMask;
use tidegate_core::rng::Seed;
use tidegate_papers::board::Board;
use tidegate_papers::claims::{ClaimSource, Claims};
use tidegate_papers::experiments::Experiments;
use tidegate_papers::expression::{self, Binding, Expression, PlacedExpression, Range, unknown};
use tidegate_papers::formula::{Bindings, Formula, Leaf, SeedColumn};
use tidegate_papers::quantity::{MeasureDefinition, unknown_measures};
use tidegate_papers::value::MeasureValue;
use tidegate_results::claims::{Claim, ClaimVerdict, Judged, Paper};
use tidegate_settings::error::{Errors, Place as FilePlace, Problems, Sources};
use tidegate_settings::reader::decode;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::Job;
use tidegate_sim::scenario;

use super::measures::{self, Run};
use super::values::{self, Values};
use super::{Census, Extent, duration_estimate};
use crate::Session;
use crate::batch;
use crate::exit::{Exit, Failure};
use crate::plans::{note_renamed, parse_plan, read_text};
use crate::progress::ProgressLine;
use crate::store::{Found, Store};
use cells::{CellId, CellRun};

/// Names of the files beside the scenarios.
const CLAIMS: &str = "claims.toml";
const EXPERIMENTS: &str = "experiments.toml";
const BOARD: &str = "board.toml";
/// Message about a number that cannot be judged or shown.
const UNDEFINED: &str = "it is undefined or infinite in some runs: it divides by 0, takes the mean or an extreme of no values, the deviation \
                         of one, a moving mean longer than its list, or the logarithm or root of a negative number, is too large, or \
                         `between` or `every` selects no point of a series";

/// Source of a paper's files.
#[derive(Clone, Copy, Debug)]
pub(super) enum Files<'a> {
    /// Files in a folder.
    Folder(&'a Path),
    /// Files in the program: the path for messages, and name and content of each file.
    Program(&'static str, &'static [(&'static str, &'static str)]),
}

impl Files<'_> {
    /// A file's name in messages.
    fn path(&self, name: &str) -> String {
        match self {
            Self::Folder(folder) => folder.join(name).display().to_string(),
            Self::Program(folder, _) => format!("{folder}/{name}"),
        }
    }

    /// The text of a file; `None` if there is no board.
    fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                // A paper without a board gets tables of its experiments; every other file is needed.
                // A link that leads nowhere is a mistake, and no missing board.
                if name == BOARD
                    && path.symlink_metadata().is_err_and(|why| why.kind() == ErrorKind::NotFound)
                {
                    return Ok(None);
                }
                // A pipe would be waited for without end.
                if path.exists() && !path.is_file() {
                    return Err(Failure::error(format!("{}: this is not a regular file", path.display())));
                }
                let bytes = read_text(&path)?;
                let text = decode(&path.display().to_string(), &bytes).map_err(plainly)?;
                // Readers leave a byte order mark out, so places in the file are counted without it.
                Ok(Some(text.strip_prefix('\u{FEFF}').unwrap_or(text).to_owned()))
            }
            Self::Program(_, files) => {
                Ok(files.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()))
            }
        }
    }

    fn needed(&self, name: &str) -> Result<Text, Failure> {
        let path = self.path(name);
        match self.text(name)? {
            Some(text) => Ok(Text { path, text }),
            None => Err(Failure::error(format!("{path}: there is no such file"))),
        }
    }

    /// The plan of a scenario, or the errors in it and in the overrides.
    fn plan(
        &self,
        session: &Session,
        name: &str,
        overrides: &[(String, String)],
    ) -> Result<Result<Plan, Errors>, Failure> {
        match self {
            Self::Folder(folder) => parse_plan(session, &folder.join(name), overrides),
            Self::Program(..) => {
                let Text { path, text } = self.needed(name)?;
                Ok(scenario::parse(&path, &text, overrides, &session.schemes))
            }
        }
    }
}

/// A file of the paper, for messages about it.
struct Text {
    /// Name of the file in messages.
    path: String,
    text: String,
}

impl Text {
    /// The failure for an error at a range of bytes of the file.
    fn at(&self, at: Range, message: String) -> Failure {
        self.all([(at, message)])
    }

    fn all(&self, wrong: impl IntoIterator<Item = (Range, String)>) -> Failure {
        let mut problems = Problems::default();
        for (Range { start, end }, message) in wrong {
            problems.add(FilePlace { origin: 0, start, end }, message, None);
        }
        plainly(problems.locate(&Sources { name: &self.path, text: &self.text, overrides: &[] }))
    }

    /// The failure for an error in an expression.
    fn fault(&self, expression: Range, fault: expression::Fault) -> Failure {
        self.at(fault.at.behind(expression.start), fault.message)
    }
}

/// The failure for a message that already begins with file and line.
fn plainly(why: impl std::fmt::Display) -> Failure {
    Failure { exit: Exit::Error, message: why.to_string() }
}

fn names(definitions: &[MeasureDefinition]) -> Vec<&str> {
    definitions.iter().map(|definition| definition.name.as_str()).collect()
}

/// Refuses a scheme of the paper that the program does not have.
fn check_scheme(session: &Session, claims: &Claims, text: &Text) -> Result<(), Failure> {
    let known = session.schemes.iter().map(|scheme| scheme.name);
    if known.clone().any(|name| name == claims.paper.scheme) {
        return Ok(());
    }
    Err(text.at(claims.scheme_at, unknown("scheme", &claims.paper.scheme, known)))
}

/// Checks all definitions against the measures of the program, also those that nothing uses.
fn check_measures(definitions: &[MeasureDefinition], text: &Text) -> Result<(), Failure> {
    let own = names(definitions);
    let check = |call: &expression::Call, parameters: &[String]| measures::check(call, parameters, &own);
    let wrong = unknown_measures(definitions, measures::is_measure, check);
    if wrong.is_empty() { Ok(()) } else { Err(text.all(wrong)) }
}

/// Quantity that is computed for the runs of one cell, and the place of its first use.
#[derive(Clone)]
struct Quantity {
    expression: Expression,
    events: EventMask,
    file: File,
    at: Range,
}

/// A file with expressions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum File {
    Claims,
    Board,
}

/// A paper, read and checked.
pub(super) struct Study {
    pub(super) extent: Extent,
    pub(super) paper: Paper,
    experiments: Experiments,
    board: Option<Board>,
    claims_text: Text,
    board_text: Text,
    experiments_text: Text,
    /// What each claim refers to.
    sources: Vec<ClaimSource>,
    /// Formula of each claim with its place in the file.
    formulas: Vec<(Range, Formula)>,
    points: BTreeMap<CellId, CellRun>,
    /// Quantities of each cell that any expression needs, by their canonical text.
    quantities: BTreeMap<CellId, BTreeMap<String, Quantity>>,
    /// Files of the paper: name and content.
    pub(super) files: Vec<(String, String)>,
    /// Files that the scenarios name: name and content.
    pub(super) named: BTreeMap<String, String>,
}

impl Study {
    /// Reads and checks the files, so that errors in them are reported before the first run.
    pub(super) fn read(session: &Session, files: Files<'_>, extent: Extent) -> Result<Self, Failure> {
        let (claims_text, experiments_text) = (files.needed(CLAIMS)?, files.needed(EXPERIMENTS)?);
        let board_file = files.text(BOARD)?;
        let board_text = Text { path: files.path(BOARD), text: board_file.clone().unwrap_or_default() };
        let claims = Claims::parse(&claims_text.path, &claims_text.text).map_err(plainly)?;
        let experiments =
            Experiments::parse(&experiments_text.path, &experiments_text.text).map_err(plainly)?;
        check_scheme(session, &claims, &claims_text)?;
        check_measures(&experiments.measures, &experiments_text)?;
        let board = board_file.as_deref().map(|text| Board::parse(&board_text.path, text));
        let board = board.transpose().map_err(plainly)?;
        let mut all = vec![
            (CLAIMS.to_owned(), claims_text.text.clone()),
            (EXPERIMENTS.to_owned(), experiments_text.text.clone()),
        ];
        all.extend(board_file.map(|text| (BOARD.to_owned(), text)));
        for experiment in &experiments.list {
            for name in (0..experiment.cells()).map(|cell| experiment.file(cell)) {
                if all.iter().all(|(known, _)| *known != name) {
                    let text = files.needed(&name).map_err(|failure| {
                        let why = failure.message.trim_start_matches("error: ").to_owned();
                        experiments_text.at(experiment.scenario_at, why)
                    })?;
                    all.push((name, text.text));
                }
            }
        }
        let mut study = Self {
            extent,
            paper: claims.paper,
            points: BTreeMap::new(),
            experiments,
            board,
            sources: claims.sources,
            claims_text,
            board_text,
            experiments_text,
            formulas: Vec::new(),
            quantities: BTreeMap::new(),
            files: all,
            named: BTreeMap::new(),
        };
        // Plans come before expressions, because names of flows in measures are checked against them.
        study.points = cells::points(session, files, &study)?;
        study.resolve()?;
        // Alternatives run only the cells that claims use, which `resolve` has found.
        study.points.extend(cells::alternatives(session, files, &study)?);
        note_renamed(session, study.points.values().map(|point| &point.plan));
        study.quantities_of_alternatives();
        // Names do not depend on values, so that errors in them are found before the runs.
        let results = Results { study: &study, values: BTreeMap::new() };
        results.check_names()?;
        results.check_figures()?;
        let others = cells::check_other_extents(session, files, &study)?;
        let planned = study.points.values().flat_map(|point| point.plan.files.iter().cloned());
        study.named = planned.chain(others).collect();
        Ok(study)
    }

    fn text(&self, file: File) -> &Text {
        match file {
            File::Claims => &self.claims_text,
            File::Board => &self.board_text,
        }
    }

    /// Finds the cells and measures of all expressions.
    fn resolve(&mut self) -> Result<(), Failure> {
        for claim in 0..self.sources.len() {
            let source = &self.sources[claim].formula;
            let (at, formula) = (source.at, self.resolved(File::Claims, source, &Bindings::new())?);
            // Arithmetic alone would be within its band regardless of the scheme.
            if formula.leaves.is_empty() {
                let message = "it names no cell, so that nothing is measured".to_owned();
                return Err(self.claims_text.at(at, message));
            }
            self.need(File::Claims, at, &formula)?;
            self.formulas.push((at, formula));
        }
        // Taken out for the loop, because `need` changes the study.
        let Some(board) = self.board.take() else { return self.need_tables() };
        if let Some(binding) = expression::unused(&board.sources(true)) {
            let message = format!("variable {} is used by no expression", binding.variable);
            return Err(self.board_text.at(binding.at, message));
        }
        let is_full = self.extent == Extent::Full;
        for (around, source) in board.sources(is_full) {
            for scope in self.scopes(&around)? {
                let formula = self.resolved(File::Board, source, &scope)?;
                self.need(File::Board, source.at, &formula)?;
            }
        }
        self.board = Some(board);
        Ok(())
    }

    fn resolved(&self, file: File, source: &PlacedExpression, scope: &Bindings) -> Result<Formula, Failure> {
        Formula::resolve(&source.expression, scope, &self.experiments)
            .map_err(|fault| self.text(file).fault(source.at, fault))
    }

    /// All combinations of the settings of variables; the last variable changes fastest.
    fn scopes(&self, bindings: &[&Binding]) -> Result<Vec<Bindings>, Failure> {
        let mut scopes: Vec<Bindings> = vec![Bindings::new()];
        for binding in bindings {
            let settings = self
                .experiments
                .settings_of(binding)
                .map_err(|message| self.board_text.at(binding.at, message))?;
            let with = |scope: &Bindings| -> Vec<Bindings> {
                let one =
                    |name: &String| [scope.as_slice(), &[(binding.variable.clone(), name.clone())]].concat();
                settings.iter().map(|setting| one(&setting.name)).collect()
            };
            scopes = scopes.iter().flat_map(with).collect();
        }
        Ok(scopes)
    }

    /// Adds the quantities that a formula, which begins at `whole`, needs of the runs.
    fn need(&mut self, file: File, whole: Range, formula: &Formula) -> Result<(), Failure> {
        for leaf in &formula.leaves {
            let at = leaf.at.behind(whole.start);
            let place = CellId::of(leaf);
            let Some(point) = self.points.get(&place) else {
                let name = &self.experiments.list[leaf.experiment].name;
                let message = format!("experiment {name} is run with --full only, and this is shown without");
                return Err(self.text(file).at(at, message));
            };
            let events = measures::events(&leaf.quantity, &point.plan, &self.own_measures())
                .map_err(|(call, message)| self.wrong_call(leaf, (file, at), call, message))?;
            let quantity = Quantity { expression: leaf.quantity.clone(), events, file, at };
            let of_place = self.quantities.entry(place).or_default();
            // Messages name the place of the first use.
            of_place.entry(leaf.quantity.to_string()).or_insert(quantity);
        }
        Ok(())
    }

    /// The failure for a wrong measure, at its place in a definition or, outside of definitions, where it is used.
    fn wrong_call(
        &self,
        leaf: &Leaf,
        (file, at): (File, Range),
        call: &expression::Call,
        message: String,
    ) -> Failure {
        let text = self.text(file);
        match call.definition.and_then(|place| self.experiments.measures.get(place)) {
            None => text.at(at, message),
            Some(definition) => {
                let line = 1 + text.text.get(..at.start).unwrap_or("").matches('\n').count();
                let user = format!("{} in line {line} of {}", leaf.name, text.path);
                self.experiments_text.at(definition.place(call.at), format!("{message}; used by {user}"))
            }
        }
    }

    /// Names of the paper's own measures.
    fn own_measures(&self) -> Vec<&str> {
        names(&self.experiments.measures)
    }

    /// Without a board every experiment has a table of all its cells with the quantities that claims use.
    fn need_tables(&mut self) -> Result<(), Failure> {
        let places: Vec<CellId> = self.points.keys().copied().collect();
        for place in places {
            for (whole, leaf) in self.used(place.experiment) {
                // Places are relative to the claim that uses the quantity first.
                let leaf = Leaf { cell: place.cell, ..leaf };
                self.need(File::Claims, whole, &Formula::of_leaf(leaf))?;
            }
        }
        Ok(())
    }

    /// Quantities of an experiment that claims use, each once, with the place of the claim.
    fn used(&self, experiment: usize) -> Vec<(Range, Leaf)> {
        let mut used: Vec<(Range, Leaf)> = Vec::new();
        for (whole, formula) in &self.formulas {
            for leaf in formula.leaves.iter().filter(|leaf| leaf.experiment == experiment) {
                // As texts, because expressions also have the place in their claim.
                let quantity = leaf.quantity.to_string();
                if used.iter().all(|(_, known)| known.quantity.to_string() != quantity) {
                    used.push((*whole, leaf.clone()));
                }
            }
        }
        used
    }

    /// All cells that claims use, with their quantities.
    fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.formulas.iter().flat_map(|(_, formula)| &formula.leaves)
    }

    /// Adds to the cells of alternatives the quantities that claims need of the assumed cells.
    fn quantities_of_alternatives(&mut self) {
        for place in self.points.keys().filter(|place| place.alternative.is_some()) {
            let assumed = CellId { alternative: None, ..*place };
            let known = self.quantities.get(&assumed);
            let keys = self.leaves().filter(|leaf| CellId::of(leaf) == assumed);
            let keys = keys.map(|leaf| leaf.quantity.to_string());
            let copied = keys.filter_map(|key| Some((key.clone(), known?.get(&key)?.clone()))).collect();
            self.quantities.insert(*place, copied);
        }
    }
}

/// One run with the quantities of all cells that share it.
struct Task<'a> {
    key: String,
    point: &'a CellRun,
    seed: Seed,
    quantities: BTreeMap<&'a str, &'a Quantity>,
    known: Values,
}

impl Task<'_> {
    fn missing(&self) -> impl Iterator<Item = (&str, &Quantity)> + '_ {
        let all = self.quantities.iter().map(|(text, quantity)| (*text, *quantity));
        all.filter(|(text, _)| !self.known.contains_key(*text))
    }

    fn is_finished(&self) -> bool {
        self.missing().next().is_none()
    }

    fn events(&self) -> EventMask {
        self.missing().fold(EventMask::NONE, |mask, (_, quantity)| mask.union(quantity.events))
    }
}

impl Study {
    /// Every run that expressions use, each once.
    fn tasks(&self, store: &Store) -> Vec<Task<'_>> {
        let mut tasks: Vec<Task<'_>> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (place, point) in &self.points {
            let Some(quantities) = self.quantities.get(place).filter(|all| !all.is_empty()) else { continue };
            for seed in &point.plan.seeds {
                let key = point.identity.key(*seed);
                // Cells of several experiments can have equal scenarios, which then share the run.
                let task = *places.entry(key.clone()).or_insert_with(|| {
                    let known = values::read(store, &key);
                    tasks.push(Task { key, point, seed: *seed, quantities: BTreeMap::new(), known });
                    tasks.len() - 1
                });
                tasks[task].quantities.extend(quantities.iter().map(|(text, one)| (text.as_str(), one)));
            }
        }
        tasks
    }

    /// Number of runs and of finished runs, with the approximate duration of the others.
    pub(super) fn census(&self, store: &Store, threads: usize) -> Census {
        let tasks = self.tasks(store);
        let unfinished: Vec<&Task<'_>> = tasks.iter().filter(|task| !task.is_finished()).collect();
        let jobs: Vec<Job<'_>> =
            unfinished.iter().map(|task| Job { plan: &task.point.plan, seed: task.seed }).collect();
        let time = duration_estimate::of(&jobs, threads);
        Census { runs: tasks.len(), finished: tasks.len() - unfinished.len(), time }
    }

    /// Runs everything that is missing in the store, and stores the values that expressions need.
    pub(super) fn fill(&self, session: &Session, store: &Store, threads: usize) -> Result<(), Failure> {
        let mut tasks = self.tasks(store);
        let all = tasks.len();
        tasks.retain(|task| !task.is_finished());
        let mut unfinished = Vec::new();
        for task in tasks {
            // Reading a run takes milliseconds and repeating it up to minutes.
            if !self.recall(store, &task)? {
                unfinished.push(task);
            }
        }
        let plans: Vec<Plan> = unfinished.iter().map(|task| with_events(task)).collect();
        let jobs: Vec<Job<'_>> =
            unfinished.iter().zip(&plans).map(|(task, plan)| Job { plan, seed: task.seed }).collect();
        let line = ProgressLine::new("runs", jobs.len(), session).after(all - jobs.len());
        let keep = |job: usize, run: tidegate_core::observe::records::RunRecord| {
            let task = &unfinished[job];
            let values = self.values(task, &Run { plan: &plans[job], record: &run })?;
            // A sweep may have stored the run without the events that this measure needs.
            if store.look(&task.point.identity, task.seed) != Found::Whole {
                let plain = measures::without_extra_events(&task.point.plan, run);
                store.keep(&task.point.identity, &task.point.plan, &plain)?;
            }
            values::write(store, &task.key, &values)
        };
        let done = batch::run(&jobs, threads, line, &|_, _| Ok(()), keep)?;
        done.whole(|job| format!("{}, seed {}", plans[job].name, unfinished[job].seed.0)).map(|_| ())
    }

    /// Computes the values from a stored run, if there is one and no events are needed.
    fn recall(&self, store: &Store, task: &Task<'_>) -> Result<bool, Failure> {
        let CellRun { plan, identity, .. } = task.point;
        // Runs are stored without the events of measures, for which the run is repeated.
        if task.events() != EventMask::NONE || store.look(identity, task.seed) != Found::Whole {
            return Ok(false);
        }
        let record = store.recall(identity, task.seed, &plan.name, true)?;
        let values = self.values(task, &Run { plan, record: &record })?;
        values::write(store, &task.key, &values).map(|()| true)
    }

    /// The values of a task: those that were known, and the missing ones of its run.
    fn values(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Values, Failure> {
        let mut values = task.known.clone();
        for (text, quantity) in task.missing() {
            let value = measures::value(run, &quantity.expression)
                .map_err(|message| self.text(quantity.file).at(quantity.at, message))?;
            values.insert(text.to_owned(), value);
        }
        Ok(values)
    }

    /// Runs that the store does not have.
    pub(super) fn missing(&self, store: &Store) -> usize {
        self.tasks(store).iter().filter(|task| !task.is_finished()).count()
    }
}

fn with_events(task: &Task<'_>) -> Plan {
    let plan = &task.point.plan;
    Plan { recorded: plan.recorded.union(task.events()), ..plan.clone() }
}

/// The values of all runs, all of which are in the store.
pub(super) struct Results<'a> {
    study: &'a Study,
    /// By place, one per seed.
    values: BTreeMap<CellId, Vec<Values>>,
}

impl<'a> Results<'a> {
    pub(super) fn read(study: &'a Study, store: &Store) -> Self {
        let of_point = |(place, point): (&CellId, &CellRun)| {
            let of_seed = |seed: &Seed| values::read(store, &point.identity.key(*seed));
            (*place, point.plan.seeds.iter().map(of_seed).collect())
        };
        let needed: BTreeSet<&CellId> = study.quantities.keys().collect();
        let points = study.points.iter().filter(|(place, _)| needed.contains(place));
        Self { study, values: points.map(of_point).collect() }
    }

    /// The values of a formula, in which a measure without a value is NaN if it `may_lack` one; `None` if the
    /// alternative does not run one of its cells.
    fn column(
        &self,
        formula: &Formula,
        alternative: Option<usize>,
        may_lack: bool,
    ) -> Result<Option<SeedColumn>, expression::Fault> {
        let place = |leaf: &Leaf| CellId { alternative, ..CellId::of(leaf) };
        // An alternative runs only the experiments that it names; claims over others have no value under it.
        if formula.leaves.iter().any(|leaf| !self.values.contains_key(&place(leaf))) {
            return Ok(None);
        }
        let column = formula.column(&mut |leaf| {
            let key = leaf.quantity.to_string();
            let place = place(leaf);
            let runs = self.values.get(&place).map_or(&[][..], Vec::as_slice);
            let seeds = self.study.points.get(&place).map_or(&[][..], |point| point.plan.seeds.as_slice());
            let value = |(values, seed): (&Values, &Seed)| {
                let found = values.get(&key).cloned().flatten();
                // Reduced runs may be too short for the measure.
                let is_open = may_lack || self.study.extent == Extent::Reduced;
                let open = is_open.then_some(MeasureValue::Number(f64::NAN));
                found.or(open).ok_or_else(|| no_value(leaf, *seed))
            };
            runs.iter().zip(seeds).map(value).collect()
        });
        column.map(Some)
    }

    /// The claims with our results and verdicts.
    pub(super) fn judge(&self) -> Result<Vec<Judged>, Failure> {
        let claims = self.study.paper.claims.iter().zip(&self.study.formulas);
        let judged = claims.zip(&self.study.sources).map(|((claim, (whole, formula)), source)| {
            let samples = self.samples((*whole, formula), source.may_be_undefined)?;
            // Reduced runs may be too short for the measure.
            let may_be_undefined = source.may_be_undefined || self.study.extent == Extent::Reduced;
            if !may_be_undefined && samples.iter().any(|sample| !sample.is_finite()) {
                let accepted = "undefined = true in the claim accepts this, and the claim differs then";
                return Err(self.study.claims_text.at(*whole, format!("{UNDEFINED}; {accepted}")));
            }
            Ok(match self.study.extent {
                Extent::Reduced => Judged::reduced(claim.clone(), &samples),
                Extent::Paper => Judged::full(claim.clone(), &samples),
                Extent::Full => Judged::full(with_record_of_full(claim), &samples),
            })
        });
        judged.collect()
    }

    fn samples(&self, (whole, formula): (Range, &Formula), may_lack: bool) -> Result<Vec<f64>, Failure> {
        let text = &self.study.claims_text;
        let column = self.column(formula, None, may_lack).map_err(|fault| text.fault(whole, fault))?;
        let column = column.ok_or_else(|| text.at(whole, "a cell of it was not run".to_owned()))?;
        column.samples().map_err(|message| text.at(whole, message))
    }
}

/// The claim with the verdict on record for `--full`, whose further seeds may decide an undecided claim.
fn with_record_of_full(claim: &Claim) -> Claim {
    let recorded = claim.recorded.filter(|verdict| *verdict != ClaimVerdict::Undecided);
    Claim { recorded: claim.recorded_full.or(recorded), ..claim.clone() }
}

fn no_value(leaf: &Leaf, seed: Seed) -> String {
    let call = leaf.quantity.calls().into_iter().next();
    let text = call.map_or("", |call| measures::text(&call.name));
    let accepted = "optional(...) on the board and undefined = true in a claim accept this";
    format!("{} has no value with seed {}; {accepted}. {text}", leaf.name, seed.0)
}

#[cfg(test)]
mod tests;
