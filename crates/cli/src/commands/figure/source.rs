//! Sources of figures: `figures.json`, the tables of a run, or the run itself, repeated with its events.

use std::path::{Path, PathBuf};

use tidegate_core::observe::event::EventMask;
use tidegate_core::rng::Seed;
use tidegate_pages::figure::Figure;
use tidegate_pages::figure::run::{RUN_FIGURES, RunFigure, SegmentDiagram, Window, of_run, of_watched};
use tidegate_results::tables;
use tidegate_results::text::sent_by_kinds;
use tidegate_settings::suggest::nearest;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::watch;

use crate::command_line::listed;
use crate::exit::Failure;
use crate::plans::{read_plan, read_text};
use crate::{SEMANTICS, Session};

/// A results folder, with the figures that it can give.
pub(super) struct FigureFolder {
    folder: PathBuf,
    /// Figures in its `figures.json`.
    ready: Vec<Figure>,
    /// The scenario; `None` without tables of runs.
    plan: Option<Plan>,
}

/// Figures and options that were requested.
pub(super) struct FigureSelection<'a> {
    /// Name of the figure; all by default.
    pub(super) name: Option<&'a str>,
    /// Seed of the run; the first by default.
    pub(super) seed: Option<u64>,
    /// Name of the flow; all by default.
    pub(super) flow: Option<&'a str>,
    /// Start of the time that is drawn, seconds.
    pub(super) from_s: f64,
    /// End of the time that is drawn, seconds.
    pub(super) to_s: f64,
}

impl FigureFolder {
    /// Reads the scenario and the figures of a folder.
    pub(super) fn open(session: &Session, folder: &Path) -> Result<Self, Failure> {
        let (figures, scenario) = (folder.join("figures.json"), folder.join("scenario.toml"));
        // Tables of several scenarios (a comparison, a sweep) have no checksums, and no run to draw.
        let has_runs = scenario.is_file() && folder.join("checksums.txt").is_file();
        if !figures.is_file() && !has_runs {
            return Err(Failure::error(no_results(folder)));
        }
        let ready = if figures.is_file() { read_figures(&figures)? } else { Vec::new() };
        let plan = has_runs.then(|| read_plan(session, &scenario, &[])).transpose()?;
        Ok(Self { folder: folder.to_owned(), ready, plan })
    }

    /// Names and titles of all figures.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        let ready = self.ready.iter().map(|figure| (figure.id.clone(), figure.title.clone()));
        let of_runs = self.plan.iter().flat_map(|plan| {
            let sent = sent_by_kinds(plan.flows.iter().map(|flow| flow.tcp.is_some()));
            RUN_FIGURES.iter().map(move |figure| (figure.name.to_owned(), figure.title_of(sent).to_owned()))
        });
        ready.chain(of_runs).collect()
    }

    /// The requested figures. Without a name, those without data are omitted.
    pub(super) fn figures(
        &self,
        session: &Session,
        choice: &FigureSelection<'_>,
    ) -> Result<Vec<Figure>, Failure> {
        let is_requested = |name: &str| choice.name.is_none_or(|requested| requested == name);
        let mut figures: Vec<Figure> =
            self.ready.iter().filter(|figure| is_requested(&figure.id)).cloned().collect();
        let required: Vec<RunFigure> = RUN_FIGURES
            .into_iter()
            .filter(|figure| is_requested(figure.name) && self.plan.is_some())
            .collect();
        if let (Some(name), true) = (choice.name, figures.is_empty() && required.is_empty()) {
            return Err(Failure::usage(self.unknown(name)));
        }
        if let Some(plan) = &self.plan {
            figures.extend(self.run_figures(session, plan, &required, choice)?);
        }
        match (choice.name, figures.is_empty()) {
            (Some(name), true) => Err(Failure::error(format!(
                "{name:?} has nothing to show: the run was not sampled, or no such event occurred"
            ))),
            _ => Ok(figures),
        }
    }

    fn run_figures(
        &self,
        session: &Session,
        plan: &Plan,
        required: &[RunFigure],
        choice: &FigureSelection<'_>,
    ) -> Result<Vec<Figure>, Failure> {
        let seed = seed(plan, choice.seed)?;
        let flow = flow(plan, choice.flow)?;
        if choice.from_s >= plan.duration.as_secs_f64() {
            let end = plan.duration.as_secs_f64();
            return Err(Failure::usage(format!(
                "--from {} is not before the run's end at {end} s",
                choice.from_s
            )));
        }
        let window = Window { from_s: choice.from_s, to_s: choice.to_s };
        let folder = self.folder.join("seeds").join(seed.0.to_string());
        self.check_semantics()?;
        // Without the tables of this seed, the repeated run takes their place.
        let tables = tables::read_run(&folder).ok();
        let needs_watch = required.iter().any(|figure| figure.is_detail || tables.is_none());
        let mut segments = SegmentDiagram::new(flow, window);
        let watched = needs_watch.then(|| {
            session
                .note(&format!("simulating seed {} again for data that the tables do not contain", seed.0));
            let needs_events = required.iter().any(|figure| figure.name == "segments");
            let mask = if needs_events { SegmentDiagram::MASK } else { EventMask::NONE };
            watch(plan, seed, mask, &mut |events| segments.on_events(events))
        });
        let rates = crate::network_drawing::rates(plan);
        let draw = |figure: &RunFigure| match (&tables, &watched) {
            (_, Some(watched)) if figure.is_detail => of_watched(watched, &segments, figure.name),
            (Some(run), _) => of_run(run, &rates, figure.name, window),
            (None, Some(watched)) => of_run(&watched.record, &rates, figure.name, window),
            (None, None) => None,
        };
        Ok(required.iter().filter_map(draw).collect())
    }

    /// Refuses tables of other semantics, which differ from a run that is repeated now.
    fn check_semantics(&self) -> Result<(), Failure> {
        let context = tables::read_context(&self.folder).map_err(Failure::error)?;
        if context.semantics == SEMANTICS {
            return Ok(());
        }
        Err(Failure::error(format!(
            "{}: its results have semantics {}, this program {SEMANTICS}; run the scenario again",
            self.folder.display(),
            context.semantics
        )))
    }

    fn unknown(&self, name: &str) -> String {
        let names = self.names();
        let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let near = nearest(name, known.iter().copied());
        let hint = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        format!("{} has no figure {name:?}{hint}\nIt has: {}", self.folder.display(), known.join(", "))
    }
}

fn no_results(folder: &Path) -> String {
    let what = if folder.is_dir() {
        "is not a results folder: it has neither figures.json nor scenario.toml with runs.parquet"
    } else if folder.exists() {
        "is a file; a results folder is needed"
    } else {
        "does not exist"
    };
    format!(
        "{} {what}\n`tidegate run`, `compare`, `sweep` and `reproduce` write such folders",
        folder.display()
    )
}

/// The figures that a command has left in the file `path`.
pub(crate) fn read_figures(path: &Path) -> Result<Vec<Figure>, Failure> {
    let bytes = read_text(path)?;
    let wrong = |why: String| Failure::error(format!("{}: {why}", path.display()));
    let text = std::str::from_utf8(&bytes).map_err(|why| wrong(why.to_string()))?;
    Figure::read_all(text).map_err(wrong)
}

fn seed(plan: &Plan, requested: Option<u64>) -> Result<Seed, Failure> {
    let (first, last) = (plan.seeds.first(), plan.seeds.last());
    let (Some(first), Some(last)) = (first, last) else {
        return Err(Failure::error("the scenario has no seeds"));
    };
    let Some(requested) = requested else { return Ok(*first) };
    let found = plan.seeds.iter().find(|seed| seed.0 == requested).copied();
    found.ok_or_else(|| {
        Failure::usage(format!("seed {requested} was not run; seeds are {} to {}", first.0, last.0))
    })
}

fn flow(plan: &Plan, requested: Option<&str>) -> Result<u32, Failure> {
    let Some(requested) = requested else { return Ok(0) };
    let names = || plan.flows.iter().map(|flow| flow.name.as_str());
    let found = names().position(|name| name == requested);
    found.and_then(|index| u32::try_from(index).ok()).ok_or_else(|| {
        let near = nearest(requested, names()).map(|near| format!("; did you mean {near:?}?"));
        let known = || format!("; known: {}", listed(names()));
        Failure::usage(format!("flow {requested:?} is not known{}", near.unwrap_or_else(known)))
    })
}
