//! The cells of experiments and their plans.

use std::collections::BTreeMap;

use tidegate_papers::experiments::{Alternative, Experiment, Experiments};
use tidegate_papers::formula::Leaf;
use tidegate_sim::plan::Plan;

use super::{Files, Study, plainly};
use crate::Session;
use crate::commands::refuse_incomplete;
use crate::commands::reproduce::Extent;
use crate::exit::Failure;
use crate::store::Identity;

/// Which cell it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Number of the alternative; `None` for the assumed conditions.
    pub(super) alternative: Option<usize>,
    /// Number of the experiment.
    pub(super) experiment: usize,
    /// Number of the cell in it.
    pub(super) cell: usize,
}

impl Place {
    pub(super) fn of(leaf: &Leaf) -> Self {
        Self { alternative: None, experiment: leaf.experiment, cell: leaf.cell }
    }
}

/// One cell.
pub(super) struct Point {
    pub(super) plan: Plan,
    pub(super) identity: Identity,
}

/// The plans of all cells of all experiments that are run.
pub(super) fn points(
    session: &Session,
    files: Files<'_>,
    experiments: &Experiments,
    extent: Extent,
) -> Result<BTreeMap<Place, Point>, Failure> {
    let mut points = BTreeMap::new();
    for (number, experiment) in experiments.list.iter().enumerate() {
        if experiment.is_full && extent != Extent::Full {
            continue;
        }
        for cell in 0..experiment.cells() {
            let place = Place { alternative: None, experiment: number, cell };
            if let Some(point) = point(session, files, experiment, cell, None, extent)? {
                points.insert(place, point);
            }
        }
    }
    let named = |place: &Place| experiments.list[place.experiment].cell_name(place.cell);
    let whole = points.iter().filter(|(place, _)| !experiments.list[place.experiment].allows_incomplete);
    refuse_incomplete(whole.map(|(place, point)| (named(place), &point.plan)))?;
    Ok(points)
}

/// The plans of the cells that claims use, under every alternative that runs them; none without `--full`.
pub(super) fn alternatives(
    session: &Session,
    files: Files<'_>,
    study: &Study,
) -> Result<Vec<(Place, Point)>, Failure> {
    let mut points = Vec::new();
    if study.extent != Extent::Full {
        return Ok(points);
    }
    let leaves = study.formulas.iter().flat_map(|formula| &formula.leaves);
    let used: std::collections::BTreeSet<Place> = leaves.map(Place::of).collect();
    for (number, alternative) in study.experiments.alternatives.iter().enumerate() {
        for place in &used {
            let experiment = &study.experiments.list[place.experiment];
            let found = point(session, files, experiment, place.cell, Some(alternative), study.extent)?;
            points.extend(found.map(|point| (Place { alternative: Some(number), ..*place }, point)));
        }
    }
    Ok(points)
}

/// The plan of a cell; `None` if the alternative does not run it.
fn point(
    session: &Session,
    files: Files<'_>,
    experiment: &Experiment,
    cell: usize,
    alternative: Option<&Alternative>,
    extent: Extent,
) -> Result<Option<Point>, Failure> {
    let is_reduced = extent == Extent::Reduced;
    let Some(mut overrides) = experiment.overrides(cell, alternative, is_reduced) else { return Ok(None) };
    let of_full = experiment.full_seeds.filter(|_| extent == Extent::Full);
    if let Some(seeds) = of_full.or(experiment.seeds) {
        overrides.insert(0, ("scenario.seeds".to_owned(), seeds.to_string()));
    }
    let plan = files.plan(session, &experiment.file(cell), &overrides);
    let mut plan = plan.map_err(|failure| {
        let file = files.path(super::EXPERIMENTS);
        plainly(format!("{file}: {}: {}", experiment.cell_name(cell), failure.message))
    })?;
    let most = [
        is_reduced.then_some(experiment.reduced_seeds),
        alternative.and_then(|alternative| alternative.seeds),
    ];
    for most in most.into_iter().flatten() {
        plan.seeds.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    }
    Ok(Some(Point { identity: Identity::of(&plan), plan }))
}
