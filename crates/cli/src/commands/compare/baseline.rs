//! Files of baselines.

use std::path::{Path, PathBuf};

use tidegate_results::compare::{Baseline, Comparison};

use super::variants::VariantPlan;
use crate::SEMANTICS;
use crate::code::code;
use crate::exit::Failure;
use crate::plans::read_text;
use crate::results::cannot;
use crate::store::differences;

/// Maximum number of differing values that are listed.
const MAX_DIFFERENCES: usize = 3;

/// The file of the baseline `name`: itself if it ends in `.json`, else one in the folder of results.
///
/// # Errors
/// A name with characters that a file name cannot have everywhere; replaced by others, two names would be one file.
fn path(out: &Path, name: &str) -> Result<PathBuf, Failure> {
    if name.ends_with(".json") {
        return Ok(PathBuf::from(name));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ['.', '_', '-'].contains(&c);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(Failure::usage(format!(
            "a baseline is a name of letters, digits, '.', '_' and '-', or a file that ends in .json; this is {name:?}"
        )));
    }
    Ok(out.join("baselines").join(format!("{name}.json")))
}

/// Reads a baseline.
///
/// # Errors
/// A file that cannot be read, another scenario, or none of the variants in it.
pub(super) fn read(out: &Path, name: &str, variants: &[VariantPlan]) -> Result<Baseline, Failure> {
    let path = path(out, name)?;
    let fault = |why: String| Failure::error(format!("baseline {}: {why}", path.display()));
    if !path.exists() {
        return Err(missing(&path, name));
    }
    let bytes = read_text(&path)?;
    let text = String::from_utf8(bytes).map_err(|_| fault("it is not UTF-8".to_owned()))?;
    let baseline = Baseline::read(&text, SEMANTICS);
    let baseline = baseline.map_err(|why| {
        fault(format!("{why}; --save-baseline {name} instead of --baseline regenerates it with this program"))
    })?;
    let mut common = 0;
    for variant in variants {
        let Some(then) = baseline.variants.iter().find(|then| then.label == variant.label) else { continue };
        common += 1;
        let mut differing = differences(&then.scenario, &variant.identity.text);
        // Equal labels do not show that it is the same network; the judgement would blame the scheme for
        // another link.
        if !differing.is_empty() {
            differing.truncate(MAX_DIFFERENCES);
            return Err(fault(format!(
                "it is of another scenario; {}: {}",
                variant.label,
                differing.join("; ")
            )));
        }
    }
    // A variant that is missing on one side is reported later, but without a common one nothing would be
    // judged.
    if common == 0 {
        let known: Vec<&str> = baseline.variants.iter().map(|variant| variant.label.as_str()).collect();
        return Err(fault(format!("it has none of these variants; its variants: {}", known.join(", "))));
    }
    Ok(baseline)
}

/// The failure for a baseline that does not exist; it lists the existing ones.
fn missing(path: &Path, name: &str) -> Failure {
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut known: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "json"))
        .filter_map(|file| file.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    known.sort();
    let is_file = name.ends_with(".json");
    let there = match known.as_slice() {
        _ if is_file => String::new(),
        [] => "; there are none yet".to_owned(),
        known => format!("; there are {}", known.join(", ")),
    };
    Failure::error(format!(
        "baseline {name:?} not found: {} does not exist{there}; the same command with --save-baseline {name} in \
         place of --baseline makes it",
        path.display()
    ))
}

/// The file to which the baseline `name` is saved.
///
/// # Errors
/// A wrong name, or a file there that is no baseline and would be lost.
pub(super) fn to_save(out: &Path, name: &str) -> Result<PathBuf, Failure> {
    let path = path(out, name)?;
    if path.exists() && !String::from_utf8(read_text(&path)?).is_ok_and(|text| Baseline::is_one(&text)) {
        let why = "exists and is not a baseline; --save-baseline would replace it; give another name";
        return Err(Failure::error(format!("{} {why}", path.display())));
    }
    Ok(path)
}

/// Saves a comparison as a baseline in the file `path`.
pub(super) fn write(path: &Path, variants: &[VariantPlan], comparison: &Comparison) -> Result<(), Failure> {
    let scenarios: Vec<String> = variants.iter().map(|variant| variant.identity.text.clone()).collect();
    let scenario = variants.first().map_or("", |variant| variant.plan.name.as_str());
    let baseline = Baseline::of(comparison, scenario, SEMANTICS, code(), &scenarios);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|why| cannot("make", parent, &why))?;
    }
    std::fs::write(path, baseline.to_text()).map_err(|why| cannot("write", path, &why))
}
