//! Results of a whole sweep: tables of all runs and of all points, and a summary.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tidegate_core::rng::Seed;
use tidegate_pages::figure::{Figure, write_figures};
use tidegate_pages::page::{SweepPage, sweep_page};
use tidegate_results::measures::{RUN_MEASURES, RunMeasure};
use tidegate_results::tables::{Parameter, Point, RunContext, point_tables};
use tidegate_results::text::{self, Screen, counted, sweep_rows};

use super::plan::{Sweep, SweepArguments};
use crate::code::{CODE_FILE, code};
use crate::commands::{Overrides, installed};
use crate::exit::{Exit, Failure, Outcome};
use crate::kept_results::KeptResults;
use crate::page::COMMAND;
use crate::parameter_grid::GridPoint;
use crate::results::{cannot, context, keep_scenario, replace_files};
use crate::store::{Found, Store};
use crate::{Format, Session};

/// Measures of the table that is printed, as far as they are defined and not zero everywhere.
const PRINTED: [&str; 7] = [
    "goodput_mbps",
    "completion_s",
    "full_delay_ms",
    "full_delay_p95_ms",
    "jain",
    "retransmissions",
    "dropped_packets",
];

/// Writes the results of a sweep whose runs are all in `store`, and prints the summary.
pub(super) fn write(session: &Session, arguments: &SweepArguments, sweep: &Sweep, store: &Store) -> Outcome {
    let points = recall(sweep, store)?;
    let context = context(&sweep.base.text);
    let folder = arguments.out.join(sweep.folder_name());
    // Written beside the results and then moved, so that an interruption leaves the old results whole.
    let new = store.temporary();
    point_tables(&points, &parameters(sweep), &context).write(&new).map_err(Failure::error)?;
    let command = format!("tidegate sweep run {}", arguments.command_line());
    let (page, figures) = page(sweep, &points, &command, &context);
    for (name, content) in [
        ("report.html", page),
        ("figures.json", write_figures(&figures)),
        (COMMAND, command + "\n"),
        (CODE_FILE, code().to_owned()),
    ] {
        let path = new.join(name);
        fs::write(&path, content).map_err(|why| cannot("write", &path, &why))?;
    }
    replace_files(&new, &folder)?;
    keep_scenario(&folder, &sweep.base)?;
    session.show(&match session.format {
        Format::Text => {
            let report = folder.join("report.html");
            format!(
                "{}\ntables  {}\nreport  {}\n",
                table(sweep, &points, session.screen),
                folder.display(),
                report.display()
            )
        }
        Format::Json => json(sweep, &points, &folder).to_string() + "\n",
    });
    Ok(Exit::Ok)
}

/// The page of the results in `kept`, made from stored runs; nothing is run.
pub(super) fn page_again(
    session: &Session,
    kept: &KeptResults,
    arguments: SweepArguments,
) -> Result<String, Failure> {
    let arguments = SweepArguments {
        // The kept scenario is written with its overrides applied; they are not applied a second time.
        scenario: kept.scenario(),
        overrides: Overrides::default(),
        out: kept.out(),
        ..arguments
    };
    let sweep = Sweep::read(session, &arguments)?;
    let store = Store::of_code(&arguments.store(), &kept.context.code);
    let missing = sweep.look(&store).iter().filter(|found| **found != Found::Whole).count();
    let command = format!("tidegate sweep run {}", arguments.command_line());
    store.may_grow(missing).map_err(|failure| kept.refused(&failure, &command))?;
    Ok(page(&sweep, &recall(&sweep, &store)?, &kept.command, &kept.context).0)
}

/// The runs of every point, all from the store, so that results do not depend on the process that ran them.
fn recall(sweep: &Sweep, store: &Store) -> Result<Vec<Point>, Failure> {
    let point = |point: &GridPoint| {
        let run = |seed: &Seed| store.recall(&point.identity, *seed, &sweep.base.name, false);
        Ok(Point { runs: sweep.seeds.iter().map(run).collect::<Result<_, Failure>>()? })
    };
    sweep.points.iter().map(point).collect()
}

fn parameters(sweep: &Sweep) -> Vec<Parameter> {
    let value = |axis: usize| sweep.points.iter().map(|point| point.values[axis].clone()).collect();
    let axes = sweep.axes.iter().enumerate();
    axes.map(|(index, axis)| Parameter { key: axis.key.clone(), values: value(index) }).collect()
}

fn page(sweep: &Sweep, points: &[Point], command: &str, context: &RunContext) -> (String, Vec<Figure>) {
    let labelled = sweep.points.iter().map(|point| (point.values.join(", "), &point.plan));
    let context = RunContext { installed: installed(labelled), ..context.clone() };
    sweep_page(&SweepPage {
        title: &sweep.base.name,
        points,
        parameters: &parameters(sweep),
        measures: &printed(points),
        command,
        context: &context,
    })
}

/// Measures that are not zero or undefined at every point.
fn printed(points: &[Point]) -> Vec<&'static RunMeasure> {
    let has_news = |measure: &&RunMeasure| {
        let estimates = points.iter().map(|point| point.estimate(measure));
        estimates.filter(|estimate| estimate.n > 0).any(|estimate| estimate.mean != 0.0)
    };
    RUN_MEASURES.iter().filter(|measure| PRINTED.contains(&measure.name)).filter(has_news).collect()
}

fn table(sweep: &Sweep, points: &[Point], screen: Screen) -> String {
    let measures = printed(points);
    let table = sweep_rows(&parameters(sweep), points, &measures, |measure| measure.name.to_owned());
    let note = match sweep.seeds.len() {
        1 => "one run each: no intervals".to_owned(),
        seeds => format!("mean ± 95 % interval over {seeds} runs each; no interval: the same in every run"),
    };
    let count = counted(points.len(), "point");
    let mut text = format!("{}, {count}\n\n{}{note}\n", sweep.base.name, table.render(screen));
    for measure in measures {
        let is_partial = |point: &&Point| (1..point.runs.len()).contains(&point.estimate(measure).n);
        match points.iter().filter(is_partial).count() {
            0 => {}
            count => text.push_str(&format!(
                "warning: {} has a value in some of the runs only at {count} of {} points; means are over these runs, \
                 which may bias them\n",
                measure.name,
                points.len()
            )),
        }
    }
    text
}

fn json(sweep: &Sweep, points: &[Point], folder: &Path) -> Value {
    let estimate = |point: &Point, measure| text::over_runs_json(&point.estimate(measure), point.runs.len());
    let point = |(index, runs): (usize, &Point)| {
        let of = &sweep.points[index];
        let parameters = sweep
            .axes
            .iter()
            .zip(&of.values)
            .map(|(axis, value)| (axis.key.clone(), Value::from(value.as_str())));
        let measures = RUN_MEASURES.iter().map(|measure| (measure.name, estimate(runs, measure)));
        json!({
            "parameters": Value::from_iter(parameters),
            "scenario": of.identity.hash,
            "measures": Value::from_iter(measures),
        })
    };
    json!({
        "folder": folder.display().to_string(),
        "code": code(),
        "seeds": sweep.seeds.iter().map(|seed| Value::from(seed.0)).collect::<Value>(),
        "missing": 0,
        "points": points.iter().enumerate().map(point).collect::<Value>(),
    })
}
