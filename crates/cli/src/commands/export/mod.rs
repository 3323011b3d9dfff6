//! `tidegate export`: results in the formats of other tools.

mod capture;
mod traces;

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use tidegate_results::tables;

use super::Overrides;
use crate::Session;
use crate::exit::{Exit, Failure, Outcome};
use crate::replay::ReplaySource;
use crate::results::cannot;

/// Arguments of the command `tidegate export`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Results directory, or a scenario file (not for csv). All formats except csv are produced by running a seed
    /// again.
    source: PathBuf,
    /// Format of the exported files.
    #[arg(long, value_enum)]
    to: ExportFormat,
    #[command(flatten)]
    overrides: Overrides,
    /// Seed to run again; the first by default.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Directory for the files; by default `export` in the results directory, or `<scenario>-export`.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Period of the rows of ndnSIM's rate, drop and cache traces, such as 2s; 500ms by default.
    #[arg(long, value_name = "TIME")]
    period: Option<String>,
    /// Export only this link, in both directions (pcapng); may be given several times.
    #[arg(long = "link", value_name = "NAME")]
    links: Vec<String>,
}

/// Format of the exported files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    /// Every table as CSV, one file each.
    Csv,
    /// rate-trace.txt, drop-trace.txt, app-delays-trace.txt and cs-trace.txt as ndnSIM writes them.
    Ndnsim,
    /// One qlog file for each consumer, and one for all queues and links.
    Qlog,
    /// Every packet on every link, for Wireshark.
    Pcapng,
}

impl Arguments {
    /// Refuses options that do not apply to the format, instead of ignoring them.
    fn refuse_misplaced(&self) -> Result<(), Failure> {
        let misplaced = [
            (!self.links.is_empty() && self.to != ExportFormat::Pcapng, "--link applies to --to pcapng only"),
            (
                self.period.is_some() && self.to != ExportFormat::Ndnsim,
                "--period applies to --to ndnsim only",
            ),
            (
                self.seed.is_some() && self.to == ExportFormat::Csv,
                "--seed cannot be combined with --to csv: the tables contain all seeds",
            ),
        ];
        misplaced.iter().find(|(is, _)| *is).map_or(Ok(()), |(_, why)| Err(Failure::usage(why)))
    }
}

/// Runs the command `tidegate export`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    arguments.refuse_misplaced()?;
    let source = ReplaySource::open(session, &arguments.source, &arguments.overrides.set, arguments.seed)?;
    let out = match (&arguments.out, &source.folder) {
        (Some(out), _) => out.clone(),
        (None, Some(folder)) => folder.join("export"),
        (None, None) => PathBuf::from(format!("{}-export", crate::results::file_name(&source.plan.name))),
    };
    fs::create_dir_all(&out).map_err(|why| cannot("make", &out, &why))?;
    let files = match arguments.to {
        ExportFormat::Csv => csv(&source, &out)?,
        ExportFormat::Ndnsim => traces::ndnsim(
            &source,
            &out,
            traces::period(arguments.period.as_deref().unwrap_or("500ms"), source.plan.duration)?,
        )?,
        ExportFormat::Qlog => traces::qlog(&source, &out)?,
        ExportFormat::Pcapng => capture::pcapng(&source, &out, &arguments.links)?,
    };
    let has_tcp = source.plan.flows.iter().any(|flow| flow.tcp.is_some());
    if has_tcp && matches!(arguments.to, ExportFormat::Ndnsim | ExportFormat::Pcapng) {
        session.note("these files contain Interests and Data only, not TCP connections");
    }
    session.print_files(&files);
    Ok(Exit::Ok)
}

fn csv(source: &ReplaySource, out: &Path) -> Result<Vec<PathBuf>, Failure> {
    let Some(folder) = &source.folder else {
        let why = "csv is made from results; run the scenario first (tidegate run), then export its folder";
        return Err(Failure::error(why));
    };
    let mut files = Vec::new();
    for name in tables::table_names(folder).map_err(Failure::error)? {
        let table = tables::read_table(folder, name).map_err(Failure::error)?;
        let path = out.join(format!("{name}.csv"));
        let mut file = create(&path)?;
        // Flushed here, because dropping a buffered writer ignores the error of its last write.
        let written = table.write_csv(&mut file).and_then(|()| io::Write::flush(&mut file));
        written.map_err(|why| cannot("write", &path, &why))?;
        files.push(path);
    }
    Ok(files)
}

fn create(path: &Path) -> Result<BufWriter<File>, Failure> {
    File::create(path).map(BufWriter::new).map_err(|why| cannot("write", path, &why))
}
