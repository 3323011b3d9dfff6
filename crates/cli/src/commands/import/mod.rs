//! `tidegate import`: a topology that another program wrote, as the start of a scenario.

mod start;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_results::text::counted;
use tidegate_sim::scenario::Limits;
use tidegate_sim::scenario::import::{self, Imported, TopologyFormat};

use super::{read_text, write_new};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::results::cannot;
use crate::{Format as Printed, Session};

/// Arguments of the command `tidegate import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Topology file. A scenario can also refer to such a file: `[topology] file = "abilene.graphml"`.
    file: PathBuf,
    /// Format of the file; detected from its content by default.
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    from: Option<TopologyFormat>,
    /// File with the latencies of the links, for a file with Rocketfuel's weights.
    #[arg(long, value_name = "FILE")]
    latencies: Option<PathBuf>,
    /// Scenario file to write; standard output by default.
    #[arg(long, short, alias = "output", value_name = "SCENARIO.toml")]
    out: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long, requires = "out")]
    force: bool,
}

fn format(text: &str) -> Result<TopologyFormat, String> {
    let found = TopologyFormat::ALL.iter().find(|(_, name)| *name == text).map(|(format, _)| *format);
    found.ok_or_else(|| format!("known are {}", names().join(", ")))
}

fn names() -> Vec<&'static str> {
    TopologyFormat::ALL.iter().map(|(_, name)| *name).collect()
}

/// Runs the command `tidegate import`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let (format, mut topology) = read(&arguments.file, arguments.from)?;
    if let Some(latencies) = &arguments.latencies {
        // Other formats have delays in the topology file itself.
        if format != TopologyFormat::Rocketfuel {
            return Err(Failure::usage(format!("--latencies applies to rocketfuel, not to {format}")));
        }
        let label = format!("latencies {}", latencies.display());
        topology.take_delays(&parse(&label, &read_text(latencies)?, format)?);
    }
    let file = arguments.file.display().to_string();
    let name =
        arguments.file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let text = |topology: &Imported, consumers: &[usize]| {
        import::scenario_text(&name, &file, format, topology, consumers)
    };
    let consumers = start::complete(session, &mut topology, &text);
    let scenario = text(&topology, &consumers);
    for note in &topology.notes {
        session.note(note);
    }
    match &arguments.out {
        Some(path) => {
            match arguments.force {
                true => std::fs::write(path, &scenario).map_err(|why| cannot("write", path, &why))?,
                false => write_new(path, &scenario, "use --force to overwrite it, or give another name")?,
            }
            report(session, path, format, &topology);
        }
        None if session.format == Printed::Json => {
            print(&(json(None, format, &topology, Some(&scenario)) + "\n"))
        }
        None => print(&scenario),
    }
    Ok(Exit::Ok)
}

fn read(path: &Path, requested: Option<TopologyFormat>) -> Result<(TopologyFormat, Imported), Failure> {
    let bytes = read_text(path)?;
    let file = path.display().to_string();
    let shown = || TopologyFormat::of(&String::from_utf8_lossy(&bytes));
    let format = requested.or_else(shown).ok_or_else(|| {
        Failure::error(format!(
            "{file}: its format was not recognised; give --from, one of {}",
            names().join(", ")
        ))
    })?;
    Ok((format, parse(&file, &bytes, format)?))
}

fn parse(file: &str, bytes: &[u8], format: TopologyFormat) -> Result<Imported, Failure> {
    // The message begins with `file:line:`, so that editors find the place.
    import::read(file, bytes, format, &Limits::default())
        .map_err(|errors| Failure { exit: Exit::Error, message: errors.to_string() })
}

fn report(session: &Session, path: &Path, format: TopologyFormat, topology: &Imported) {
    print(&match session.format {
        Printed::Json => json(Some(path), format, topology, None) + "\n",
        Printed::Text => format!(
            "{}: {} and {} from format {format}; next: tidegate check {0}\n",
            path.display(),
            counted(topology.nodes.len(), "node"),
            counted(topology.links.len(), "link")
        ),
    });
}

fn json(path: Option<&Path>, format: TopologyFormat, topology: &Imported, scenario: Option<&str>) -> String {
    json!({
        "file": path.map_or(Value::Null, |path| Value::from(path.display().to_string())),
        "format": format.to_string(),
        "nodes": topology.nodes.len() as u64,
        "links": topology.links.len() as u64,
        "notes": topology.notes,
        "scenario": scenario,
    })
    .to_string()
}
