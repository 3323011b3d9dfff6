//! What a whole sweep leaves: tables of all runs and of all points, and a summary.

use std::fs;
use std::path::Path;

use tidegate_report::figure::write_figures;
use tidegate_report::json::Json;
use tidegate_report::measures::{RUN_MEASURES, RunMeasure};
use tidegate_report::page::{SweepPage, sweep_page};
use tidegate_report::tables::{Parameter, Point, RunContext, point_tables};
use tidegate_report::text::{self, Align, Screen, TextTable};

use super::plan::{Sweep, SweepArguments};
use crate::code::code;
use crate::commands::installed;
use crate::exit::{Exit, Failure, Outcome};
use crate::page::COMMAND;
use crate::results::{cannot, keep_scenario, replace_files};
use crate::store::Store;
use crate::{Format, SEMANTICS, Session};

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

/// Writes everything about a sweep whose runs are all in `store`, and prints the summary.
pub(super) fn write(session: &Session, arguments: &SweepArguments, sweep: &Sweep, store: &Store) -> Outcome {
    // Everything is read back, so that nothing depends on who ran what when.
    let points = sweep.points.iter().map(|point| {
        let runs =
            sweep.seeds.iter().map(|seed| store.recall(&point.identity, *seed, &sweep.base.name, false));
        Ok(Point { runs: runs.collect::<Result<_, Failure>>()? })
    });
    let points: Vec<Point> = points.collect::<Result<_, Failure>>()?;
    let value = |axis: usize| sweep.points.iter().map(|point| point.values[axis].clone()).collect();
    let parameters: Vec<Parameter> = sweep
        .axes
        .iter()
        .enumerate()
        .map(|(index, axis)| Parameter { key: axis.key.clone(), values: value(index) })
        .collect();
    let context = RunContext {
        scenario_text: sweep.base.text.clone(),
        semantics: SEMANTICS,
        code: code().to_owned(),
        ..RunContext::default()
    };
    let folder = arguments.out.join(sweep.folder_name());
    let new = store.temporary();
    point_tables(&points, &parameters, &context).write(&new).map_err(Failure::error)?;
    let command = format!("tidegate sweep run {}", arguments.command_line());
    let labelled = sweep.points.iter().map(|point| (point.values.join(", "), &point.plan));
    let context = RunContext { installed: installed(labelled), ..context };
    let (page, figures) = sweep_page(&SweepPage {
        title: &sweep.base.name,
        points: &points,
        parameters: &parameters,
        measures: &printed(&points),
        command: &command,
        context: &context,
    });
    let command = command + "\n";
    for (name, content) in
        [("report.html", page), ("figures.json", write_figures(&figures)), (COMMAND, command)]
    {
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

/// The measures worth a column.
fn printed(points: &[Point]) -> Vec<&'static RunMeasure> {
    let has_news = |measure: &&RunMeasure| {
        let estimates = points.iter().map(|point| point.estimate(measure));
        estimates.filter(|estimate| estimate.n > 0).any(|estimate| estimate.mean != 0.0)
    };
    RUN_MEASURES.iter().filter(|measure| PRINTED.contains(&measure.name)).filter(has_news).collect()
}

fn table(sweep: &Sweep, points: &[Point], screen: Screen) -> String {
    let measures = printed(points);
    let mut head: Vec<(&str, Align)> =
        sweep.axes.iter().map(|axis| (axis.key.as_str(), Align::Left)).collect();
    head.extend(measures.iter().map(|measure| (measure.name, Align::Right)));
    let mut table = TextTable::new(&head);
    for (point, runs) in sweep.points.iter().zip(points) {
        let of_runs = runs.runs.len();
        let values = measures.iter().map(|measure| text::over_runs(&runs.estimate(measure), of_runs));
        table.row(point.values.iter().cloned().chain(values));
    }
    let note = match sweep.seeds.len() {
        1 => "one run each: no intervals".to_owned(),
        seeds => format!("mean ± 95 % interval over {seeds} runs each; no interval: did not vary"),
    };
    let mut text =
        format!("{}, {} points\n\n{}{note}\n", sweep.base.name, points.len(), table.render(screen));
    for measure in measures {
        let is_partial = |point: &&Point| (1..point.runs.len()).contains(&point.estimate(measure).n);
        match points.iter().filter(is_partial).count() {
            0 => {}
            count => text.push_str(&format!(
                "warning: {} has a value in some of the runs only at {count} of {} points; means are over these runs, \
                 which may flatter them\n",
                measure.name,
                points.len()
            )),
        }
    }
    text
}

fn json(sweep: &Sweep, points: &[Point], folder: &Path) -> Json {
    let estimate = |point: &Point, measure| text::over_runs_json(&point.estimate(measure), point.runs.len());
    let point = |(index, runs): (usize, &Point)| {
        let of = &sweep.points[index];
        let parameters =
            sweep.axes.iter().zip(&of.values).map(|(axis, value)| (axis.key.clone(), Json::text(value)));
        let measures = RUN_MEASURES.iter().map(|measure| (measure.name, estimate(runs, measure))).collect();
        Json::Object(vec![
            ("parameters", Json::Map(parameters.collect())),
            ("scenario", Json::text(&of.identity.hash)),
            ("measures", Json::Object(measures)),
        ])
    };
    Json::Object(vec![
        ("folder", Json::text(folder.display())),
        ("code", Json::text(code())),
        ("seeds", Json::List(sweep.seeds.iter().map(|seed| Json::Count(seed.0)).collect())),
        ("missing", Json::Count(0)),
        ("points", Json::List(points.iter().enumerate().map(point).collect())),
    ])
}
