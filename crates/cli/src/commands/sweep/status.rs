//! `tidegate sweep status`: number of finished runs of each point.

use serde_json::Value;
use tidegate_results::text::{Screen, TextTable};

use super::plan::{Sweep, SweepArguments};
use crate::exit::{Exit, Outcome};
use crate::store::{Found, Store};
use crate::{Format, Session};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sweep: SweepArguments,
}

/// Runs of a point, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    done: usize,
    missing: usize,
    damaged: usize,
}

impl Counts {
    fn of(found: &[Found]) -> Self {
        let mut counts = Self::default();
        for found in found {
            match found {
                Found::Whole => counts.done += 1,
                Found::Missing => counts.missing += 1,
                Found::Damaged(_) => counts.damaged += 1,
            }
        }
        counts
    }

    fn json(self) -> [(&'static str, Value); 3] {
        [("done", self.done), ("missing", self.missing), ("damaged", self.damaged)]
            .map(|(name, count)| (name, Value::from(count)))
    }
}

/// Runs the command `tidegate sweep status`.
pub(super) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let sweep = Sweep::read(session, &arguments.sweep)?;
    let found = sweep.look(&Store::at(&arguments.sweep.store()));
    // The seed changes fastest in the numbers of runs, so that a chunk is a point.
    let points: Vec<Counts> = found.chunks(sweep.seeds.len()).map(Counts::of).collect();
    let all = Counts::of(&found);
    session.show(&match session.format {
        Format::Text => {
            let Counts { done, missing, damaged } = all;
            format!(
                "{}\n{done} runs done, {missing} missing, {damaged} damaged\n",
                table(&sweep, &points, session.screen)
            )
        }
        Format::Json => json(&sweep, &points, all).to_string() + "\n",
    });
    Ok(Exit::Ok)
}

fn table(sweep: &Sweep, points: &[Counts], screen: Screen) -> String {
    let axes: Vec<&str> = sweep.axes.iter().map(|axis| axis.key.as_str()).collect();
    let mut table = TextTable::of(&axes, &["done", "missing", "damaged"]);
    for (point, counts) in sweep.points.iter().zip(points) {
        let counts = [counts.done, counts.missing, counts.damaged].map(|count| count.to_string());
        table.row(point.values.iter().cloned().chain(counts));
    }
    table.render(screen)
}

fn json(sweep: &Sweep, points: &[Counts], all: Counts) -> Value {
    let point = |(index, counts): (usize, &Counts)| {
        let values = &sweep.points[index].values;
        let parameters = sweep
            .axes
            .iter()
            .zip(values)
            .map(|(axis, value)| (axis.key.clone(), Value::from(value.as_str())));
        let mut entries = vec![("parameters", Value::from_iter(parameters))];
        entries.extend(counts.json());
        Value::from_iter(entries)
    };
    let mut entries = vec![("points", points.iter().enumerate().map(point).collect::<Value>())];
    entries.extend(all.json());
    Value::from_iter(entries)
}
