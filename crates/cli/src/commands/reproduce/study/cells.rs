//! The cells of experiments and their plans.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_papers::experiments::{Alternative, Experiment, Override, SEEDS};
use tidegate_papers::formula::Leaf;
use tidegate_settings::error::{Error, Errors};
use tidegate_settings::suggest::question;
use tidegate_sim::plan::Plan;
use tidegate_sim::roles;

use super::{Files, Study, Text, plainly};
use crate::Session;
use crate::commands::reproduce::Extent;
use crate::exit::Failure;
use crate::store::Identity;

/// File of an override in messages of its scenario.
const OVERRIDE: &str = "--set";

/// Place of a cell in the experiments of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellId {
    /// Number of the alternative; `None` for the assumed conditions.
    pub(super) alternative: Option<usize>,
    /// Number of the experiment.
    pub(super) experiment: usize,
    /// Number of the cell in it.
    pub(super) cell: usize,
}

impl CellId {
    pub(super) fn of(leaf: &Leaf) -> Self {
        Self { alternative: None, experiment: leaf.experiment, cell: leaf.cell }
    }
}

/// Plan of a cell with its identity in the store.
pub(super) struct CellRun {
    pub(super) plan: Plan,
    pub(super) identity: Identity,
}

/// The plans of all cells of all experiments that are run.
pub(super) fn points(
    session: &Session,
    files: Files<'_>,
    study: &Study,
) -> Result<BTreeMap<CellId, CellRun>, Failure> {
    let mut points = BTreeMap::new();
    for (number, experiment) in study.experiments.list.iter().enumerate() {
        // Not even planned: a sensitivity study can have thousands of cells.
        if experiment.is_full && study.extent != Extent::Full {
            continue;
        }
        for cell in 0..experiment.cells() {
            let under = Conditions { extent: study.extent, alternative: None };
            let Some(point) = point(session, files, study, (experiment, cell), under)? else { continue };
            if !experiment.allows_incomplete {
                refuse_incomplete(study, experiment, cell, &point.plan)?;
            }
            points.insert(CellId { alternative: None, experiment: number, cell }, point);
        }
    }
    Ok(points)
}

fn refuse_incomplete(
    study: &Study,
    experiment: &Experiment,
    cell: usize,
    plan: &Plan,
) -> Result<(), Failure> {
    let lacking = roles::incomplete(plan);
    if lacking.is_empty() {
        return Ok(());
    }
    // A scheme without its counterpart still runs, and its numbers would be published as the scheme's.
    let what = format!("{}: {}", experiment.cell_name(cell), lacking.join("; "));
    let message = format!("{what}; allow_incomplete = true in the experiment runs it anyway");
    Err(study.experiments_text.at(experiment.at, message))
}

/// The plans of the cells that claims use, under every alternative that runs them; none without `--full`.
pub(super) fn alternatives(
    session: &Session,
    files: Files<'_>,
    study: &Study,
) -> Result<Vec<(CellId, CellRun)>, Failure> {
    let mut points = Vec::new();
    if study.extent != Extent::Full {
        return Ok(points);
    }
    let used: BTreeSet<CellId> = study.leaves().map(CellId::of).collect();
    for (number, alternative) in study.experiments.alternatives.iter().enumerate() {
        for place in &used {
            let cell = (&study.experiments.list[place.experiment], place.cell);
            let under = Conditions { extent: study.extent, alternative: Some(alternative) };
            let found = point(session, files, study, cell, under)?;
            points.extend(found.map(|point| (CellId { alternative: Some(number), ..*place }, point)));
        }
    }
    Ok(points)
}

/// Plans cells that only other options run, so that a wrong override in them is found now: all cells of experiments with
/// `--reduced`, and with `--full` the first cell of each further experiment and of each entry of the alternatives. Returns
/// name and content of the files that their scenarios name.
pub(super) fn check_other_extents(
    session: &Session,
    files: Files<'_>,
    study: &Study,
) -> Result<Vec<(String, String)>, Failure> {
    let experiments = &study.experiments;
    let mut named = Vec::new();
    let mut check = |cell: (&Experiment, usize), under: Conditions<'_>| -> Result<(), Failure> {
        let found = point(session, files, study, cell, under)?;
        named.extend(found.into_iter().flat_map(|found| found.plan.files));
        Ok(())
    };
    if study.extent != Extent::Reduced {
        let under = Conditions { extent: Extent::Reduced, alternative: None };
        for experiment in experiments.list.iter().filter(|one| !one.is_full && !one.reduced.is_empty()) {
            for cell in 0..experiment.cells() {
                check((experiment, cell), under)?;
            }
        }
    }
    if study.extent == Extent::Full {
        return Ok(named);
    }
    // A sensitivity study can have thousands of cells, whose overrides differ in few values.
    for experiment in experiments.list.iter().filter(|one| one.is_full) {
        let under = Conditions { extent: Extent::Full, alternative: None };
        check((experiment, 0), under)?;
    }
    for alternative in &experiments.alternatives {
        let under = Conditions { extent: Extent::Full, alternative: Some(alternative) };
        for (name, first, _) in &alternative.set {
            let parts = experiments.list.iter().filter(|part| part.name == *name);
            let mut cells = parts.flat_map(|part| (0..part.cells()).map(move |cell| (part, cell)));
            let is_meant = |(part, cell): &(&Experiment, usize)| {
                part.settings(*cell).iter().zip(first).all(|(setting, name)| setting.name == *name)
            };
            if let Some(cell) = cells.find(is_meant) {
                check(cell, under)?;
            }
        }
    }
    Ok(named)
}

/// Conditions under which a cell is planned.
#[derive(Clone, Copy)]
struct Conditions<'a> {
    extent: Extent,
    alternative: Option<&'a Alternative>,
}

/// The plan of a cell; `None` if the alternative does not run it.
fn point(
    session: &Session,
    files: Files<'_>,
    study: &Study,
    (experiment, cell): (&Experiment, usize),
    Conditions { extent, alternative }: Conditions<'_>,
) -> Result<Option<CellRun>, Failure> {
    let is_reduced = extent == Extent::Reduced;
    let Some(mut overrides) = experiment.overrides(cell, alternative, is_reduced) else { return Ok(None) };
    let of_full = experiment.full_seeds.filter(|_| extent == Extent::Full);
    if let Some(seeds) = of_full.or(experiment.seeds) {
        let (key, value) = (SEEDS.to_owned(), seeds.to_string());
        overrides.push(Override { key, value, at: experiment.at });
    }
    let pairs: Vec<(String, String)> =
        overrides.iter().map(|one| (one.key.clone(), one.value.clone())).collect();
    let plan = files.plan(session, &experiment.file(cell), &pairs)?;
    let mut plan = plan.map_err(|errors| unsound(study, &experiment.cell_name(cell), &overrides, &errors))?;
    for note in &mut plan.renamed {
        // A reader of the file has given no --set.
        let of = |one: &Override| {
            Some((one.at, note.strip_prefix(&format!("{OVERRIDE} {}: ", one.key))?.to_owned()))
        };
        if let Some((at, message)) = overrides.iter().find_map(of) {
            let Text { path, text } = &study.experiments_text;
            let line = 1 + text.get(..at.start).unwrap_or("").matches('\n').count();
            *note = format!("{path}:{line}: {message}");
        }
    }
    let max = [
        is_reduced.then_some(experiment.reduced_seeds),
        alternative.and_then(|alternative| alternative.seeds),
    ];
    for max in max.into_iter().flatten() {
        // The first seeds remain: a later study with more seeds finds their runs in the store.
        plan.seeds.truncate(usize::try_from(max).unwrap_or(usize::MAX));
    }
    Ok(Some(CellRun { identity: Identity::of(&plan), plan }))
}

/// Errors of a cell: those of overrides at their lines of the experiments file, others at their own place.
fn unsound(study: &Study, cell: &str, overrides: &[Override], errors: &Errors) -> Failure {
    let of_override = |error: &Error| {
        // The line of an override in such a message is its number, from 1.
        let place = error.line.checked_sub(1).filter(|_| error.file == OVERRIDE)?;
        let message = format!("{cell}: {}{}", error.message, question(&error.suggestions));
        Some((overrides.get(place)?.at, message))
    };
    let known: Vec<_> = errors.iter().filter_map(of_override).collect();
    if known.is_empty() {
        plainly(format!("{errors}\nin the cell {cell}"))
    } else {
        study.experiments_text.all(known)
    }
}
