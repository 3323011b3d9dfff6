//! `tidegate figure`: figures of a results folder as files for papers and slides.

mod source;

pub(crate) use source::read_figures;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_pages::figure::{Columns, Figure, Look};
use tidegate_results::text::{Align, TextTable};

use crate::exit::{Exit, Failure, Outcome};
use crate::results::cannot;
use crate::{Format, Session};
use source::{FigureFolder, FigureSelection};

/// Arguments of the command `tidegate figure`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Results directory of `run`, `compare`, `sweep` or `reproduce`.
    results: PathBuf,
    /// Name of the figure; all figures by default.
    name: Option<String>,
    /// File format; by default from the extension of --out, else svg.
    #[arg(long = "as", value_name = "FORMAT", value_enum)]
    kind: Option<FigureFormat>,
    /// Width in columns: one (88 mm) or two (180 mm).
    #[arg(long, value_name = "N", default_value = "1", value_parser = columns)]
    columns: Columns,
    /// Use greys instead of colours.
    #[arg(long)]
    greyscale: bool,
    /// Directory for the files, or with NAME a file that ends in .svg, .pdf or .tex; RESULTS/figures by default.
    #[arg(long, short, alias = "output", value_name = "PATH")]
    out: Option<PathBuf>,
    /// Seed of the run to draw; the first by default.
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Name of the flow in the segment diagram; the first flow by default.
    #[arg(long, value_name = "NAME")]
    flow: Option<String>,
    /// Start of the time axis, in seconds from the start of the run.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    from: f64,
    /// End of the time axis, in seconds from the start of the run.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    to: Option<f64>,
    /// List the available figures without drawing them.
    #[arg(long)]
    list: bool,
}

/// File format of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FigureFormat {
    /// Vector graphics for browsers and slides, with the font in it.
    Svg,
    /// Vector graphics for LaTeX and print, with the font in it.
    Pdf,
    /// pgfplots: a .tex with native axes, and its .dat.
    Pgf,
}

impl FigureFormat {
    fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Pgf => "tex",
        }
    }

    /// The format of a file's extension.
    fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        [Self::Svg, Self::Pdf, Self::Pgf].into_iter().find(|kind| kind.ending() == ending)
    }
}

fn columns(text: &str) -> Result<Columns, String> {
    match text {
        "1" => Ok(Columns::One),
        "2" => Ok(Columns::Two),
        _ => Err("1 or 2 is needed".to_owned()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('s').trim_end().parse::<f64>().ok();
    number
        .filter(|number| *number >= 0.0 && number.is_finite())
        .ok_or_else(|| "seconds are needed, such as 1.5".to_owned())
}

/// Runs the command `tidegate figure`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    if let Some(to) = arguments.to.filter(|to| *to <= arguments.from) {
        return Err(Failure::usage(format!("--to {to} is not after --from {}", arguments.from)));
    }
    let source = FigureFolder::open(session, &arguments.results)?;
    if arguments.list {
        list(session, &source);
        return Ok(Exit::Ok);
    }
    let (kind, target) = target(arguments)?;
    let choice = FigureSelection {
        name: arguments.name.as_deref(),
        seed: arguments.seed,
        flow: arguments.flow.as_deref(),
        from_s: arguments.from,
        to_s: arguments.to.unwrap_or(f64::INFINITY),
    };
    let figures = source.figures(session, &choice)?;
    let look = Look { columns: arguments.columns, greyscale: arguments.greyscale };
    let mut written = Vec::new();
    for figure in &figures {
        let path = match &target {
            FigureOutput::File(path) => path.clone(),
            FigureOutput::Folder(folder) => {
                folder.join(format!("{}.{}", file_name(&figure.id), kind.ending()))
            }
        };
        written.extend(write(figure, kind, look, &path)?);
    }
    session.print_files(&written);
    Ok(Exit::Ok)
}

/// Destination of figure files.
enum FigureOutput {
    Folder(PathBuf),
    File(PathBuf),
}

/// Format and place of the files; creates the folder.
fn target(arguments: &Arguments) -> Result<(FigureFormat, FigureOutput), Failure> {
    let output = arguments.out.clone().unwrap_or_else(|| arguments.results.join("figures"));
    // The name of an existing folder may end in `.pdf`, too.
    let by_ending = FigureFormat::of(&output).filter(|_| !output.is_dir());
    // A name with the extension of an unsupported format would otherwise become that of a folder.
    let ending = output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if ["png", "jpg", "jpeg", "gif", "webp", "eps", "ps"].contains(&ending) && !output.is_dir() {
        let why =
            format!("{}: figures are not drawn as .{ending}; write .svg, .pdf or .tex", output.display());
        return Err(Failure::usage(why));
    }
    let kind = arguments.kind.or(by_ending).unwrap_or(FigureFormat::Svg);
    if by_ending.is_some_and(|intended| intended != kind) {
        let wrong = format!("{} does not have the extension of --as {}", output.display(), kind.ending());
        return Err(Failure::usage(format!("{wrong}; write .{}", kind.ending())));
    }
    let (folder, target) = match by_ending {
        Some(_) if arguments.name.is_none() => {
            return Err(Failure::usage(format!(
                "{} is one file, but without a name all figures are drawn; name one figure, or give a folder",
                output.display()
            )));
        }
        Some(_) => (output.parent().map(Path::to_owned).unwrap_or_default(), FigureOutput::File(output)),
        None => (output.clone(), FigureOutput::Folder(output)),
    };
    if !folder.as_os_str().is_empty() {
        std::fs::create_dir_all(&folder).map_err(|why| cannot("make", &folder, &why))?;
    }
    Ok((kind, target))
}

/// An id as a file name; `figures.json` of another program may have any text as id.
fn file_name(id: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = id.chars().take(80).map(plain).collect();
    if name.is_empty() { "figure".to_owned() } else { name }
}

/// Writes the files of a figure and returns their paths.
fn write(figure: &Figure, kind: FigureFormat, look: Look, path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let files = match kind {
        FigureFormat::Svg => vec![(path.to_owned(), figure.to_svg(look).into_bytes())],
        FigureFormat::Pdf => vec![(path.to_owned(), figure.to_pdf(look))],
        FigureFormat::Pgf => {
            let data = path.with_extension("dat");
            let name = data.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let pgf = figure.to_pgf(look, &name);
            vec![(path.to_owned(), pgf.tex.into_bytes()), (data, pgf.data.into_bytes())]
        }
    };
    for (path, bytes) in &files {
        std::fs::write(path, bytes).map_err(|why| cannot("write", path, &why))?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

fn list(session: &Session, source: &FigureFolder) {
    let names = source.names();
    session.show(&match session.format {
        Format::Json => {
            let figure = |(name, title): &(String, String)| json!({ "name": name, "title": title });
            json!({ "figures": names.iter().map(figure).collect::<Value>() }).to_string() + "\n"
        }
        Format::Text => {
            let mut table = TextTable::new(&[("figure", Align::Left), ("title", Align::Left)]);
            names.into_iter().for_each(|(name, title)| table.row([name, title]));
            table.render(session.screen)
        }
    });
}
