//! `experiments.toml`: axes with named settings, and experiments over them.
//!
//! ```toml
//! format = 1
//!
//! [axis.scheme]
//! bbr-cd = ["scheme=bbr-cd"]
//! aimd = ["scheme=catchunks-aimd"]
//!
//! [axis.loss]
//! clean = []
//! lossy = ["link.r1-r2.loss={ model = \"bernoulli\", probability = 0.03 }"]
//!
//! [[experiment]]
//! name = "grid"
//! scenario = "path.toml"
//! axes = ["scheme", "loss"]
//! seeds = 5
//! ```
//!
//! A setting is a list of overrides as `--set` of the command line takes them.

use tidegate_settings::desk::Desk;
use tidegate_settings::document::{Entry, Item, Table, Value};
use tidegate_settings::error::Errors;
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::{Format, Keys, Kind, Need, key, keys};
use tidegate_settings::reader::{Reader, check_version};

use crate::expression::{Cell, Fault};

/// Cells of one experiment, at most.
const MAX_CELLS: usize = 10_000;
/// Longest text that is read, bytes.
const TEXT_BYTES: usize = 1 << 20;
/// What is read may take so much memory, bytes.
const MAX_BYTES: u64 = 64 << 20;
/// Seeds of a cell, at most.
const MAX_SEEDS: i64 = 100_000;

static ROOT: Keys = keys(
    "experiments",
    &[
        key("format", Kind::Count(1, 1), Need::Must, "Version of this format: 1."),
        key("axis", Kind::Open(&Kind::Any), Need::May, "Axes: named settings, each a list of overrides."),
        key("experiment", Kind::List(&Kind::Table(&EXPERIMENT)), Need::Must, "What is run."),
    ],
);

static EXPERIMENT: Keys = keys(
    "[[experiment]]",
    &[
        key("name", Kind::Name, Need::Must, "What expressions call it."),
        key("scenario", Kind::Text, Need::Must, "File of the scenario, relative to the folder of the paper."),
        key(
            "axes",
            Kind::List(&Kind::Name),
            Need::May,
            "Axes whose settings are combined; one cell without.",
        ),
        key(
            "seeds",
            Kind::Count(1, MAX_SEEDS),
            Need::May,
            "Runs of each cell; those of the scenario unless given.",
        ),
        key(
            "set",
            Kind::List(&Kind::Text),
            Need::May,
            "Overrides of every cell, KEY=VALUE; those of axes come after them.",
        ),
        key(
            "reduced",
            Kind::List(&Kind::Text),
            Need::May,
            "Further overrides of a quick look (--reduced), after all others.",
        ),
    ],
);

static FORMAT: Format =
    Format { root: &ROOT, version: 1, synonyms: &[("axis", "axes"), ("file", "scenario")] };

/// One override: a key of the scenario and its value as TOML.
pub type Override = (String, String);

/// Everything in an `experiments.toml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiments {
    /// In the order of the file; names are unique.
    pub list: Vec<Experiment>,
}

/// A scenario over the combinations of its axes' settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Name, by which expressions find it.
    pub name: String,
    /// File of the scenario, relative to the folder of the paper.
    pub scenario: String,
    /// Its axes.
    pub axes: Vec<Axis>,
    /// Runs of each cell; `None` for those of the scenario.
    pub seeds: Option<u64>,
    /// Overrides of every cell.
    pub set: Vec<Override>,
    /// Further overrides of a quick look.
    pub reduced: Vec<Override>,
}

/// Named settings of one thing that varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name, such as `scheme`.
    pub name: String,
    /// Its settings, at least one, in the order of the file; names are unique.
    pub settings: Vec<Setting>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Name, by which expressions find it.
    pub name: String,
    /// What it changes in the scenario.
    pub set: Vec<Override>,
}

impl Experiment {
    /// Number of cells: the product of the axes' settings.
    pub fn cells(&self) -> usize {
        self.axes.iter().map(|axis| axis.settings.len()).product()
    }

    /// The settings of cell number `cell`, from 0; the last axis changes fastest.
    pub fn settings(&self, cell: usize) -> Vec<&Setting> {
        let mut rest = cell;
        let mut settings: Vec<&Setting> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let setting = &axis.settings[rest % axis.settings.len()];
                rest /= axis.settings.len();
                setting
            })
            .collect();
        settings.reverse();
        settings
    }

    /// All overrides of cell number `cell`, later ones before earlier ones where both set a key; `is_reduced`: of a quick
    /// look.
    pub fn overrides(&self, cell: usize, is_reduced: bool) -> Vec<Override> {
        let settings = self.settings(cell);
        let reduced = if is_reduced { self.reduced.as_slice() } else { &[] };
        let all = self.set.iter().chain(settings.iter().flat_map(|setting| &setting.set)).chain(reduced);
        let mut kept: Vec<Override> = Vec::new();
        for (key, value) in all {
            kept.retain(|(known, _)| known != key);
            kept.push((key.clone(), value.clone()));
        }
        kept
    }

    /// What cell number `cell` is called: `grid[bbr-cd, clean]`.
    pub fn cell_name(&self, cell: usize) -> String {
        let names: Vec<&str> = self.settings(cell).iter().map(|setting| setting.name.as_str()).collect();
        if names.is_empty() { self.name.clone() } else { format!("{}[{}]", self.name, names.join(", ")) }
    }

    fn place(&self, cell: &Cell) -> Result<usize, String> {
        if cell.settings.len() != self.axes.len() {
            let axes: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
            let axes = if axes.is_empty() { "no axis".to_owned() } else { axes.join(", ") };
            return Err(format!(
                "experiment {} has {axes}, so that a cell has {} settings; {cell} has {}",
                self.name,
                self.axes.len(),
                cell.settings.len()
            ));
        }
        self.axes.iter().zip(&cell.settings).try_fold(0, |place, (axis, name)| {
            let found = axis.settings.iter().position(|setting| setting.name == *name);
            let found = found.ok_or_else(|| {
                let known: Vec<&str> = axis.settings.iter().map(|setting| setting.name.as_str()).collect();
                format!("axis {} has no setting {name:?}; it has {}", axis.name, known.join(", "))
            })?;
            Ok(place * axis.settings.len() + found)
        })
    }
}

impl Experiments {
    /// Reads the text of the file called `source_name` in messages.
    ///
    /// # Errors
    /// Everything that is wrong, with its line.
    pub fn parse(source_name: &str, text: &str) -> Result<Self, Errors> {
        let reader = Reader {
            source_name,
            format: &FORMAT,
            schemes: &[],
            files: None,
            text_bytes: TEXT_BYTES,
            max_bytes: MAX_BYTES,
        };
        reader.read(text, &[], |desk, document, _| read(desk, &document))
    }

    /// Number of an experiment and of its cell.
    ///
    /// # Errors
    /// An experiment or a setting that is not there, or too few or too many settings.
    pub fn find(&self, cell: &Cell) -> Result<(usize, usize), Fault> {
        let place = self.list.iter().position(|experiment| experiment.name == cell.experiment);
        let known =
            || self.list.iter().map(|experiment| experiment.name.as_str()).collect::<Vec<_>>().join(", ");
        let found = match place {
            None => Err(format!("experiment {:?} is not known; known: {}", cell.experiment, known())),
            Some(place) => self.list[place].place(cell).map(|cell| (place, cell)),
        };
        found.map_err(|message| Fault { at: cell.at, message })
    }
}

fn read(desk: &Desk<'_>, document: &Table) -> Option<Experiments> {
    check_version(desk, document)?;
    let root = Fields::root(desk, document);
    let axes = axes(desk, &root);
    let mut list: Vec<Experiment> = Vec::new();
    for fields in root.tables("experiment", &EXPERIMENT) {
        let Some(experiment) = experiment(&fields, &axes) else { continue };
        if list.iter().any(|known| known.name == experiment.name) {
            fields.refuse("name", format!("experiment {:?} is there twice", experiment.name));
        }
        list.push(experiment);
    }
    if list.is_empty() {
        desk.refuse(root.place_of("experiment"), "there is no [[experiment]]; at least one is needed");
    }
    Some(Experiments { list })
}

fn axes(desk: &Desk<'_>, root: &Fields<'_>) -> Vec<Axis> {
    let Some(item) = root.item("axis") else { return Vec::new() };
    let entries = table(desk, item, "axis is a table of axes, such as [axis.scheme]");
    entries.iter().map(|entry| axis(desk, entry)).collect()
}

fn axis(desk: &Desk<'_>, entry: &Entry) -> Axis {
    let entries = table(
        desk,
        &entry.item,
        "an axis is a table of settings, such as aimd = [\"scheme=catchunks-aimd\"]",
    );
    let setting = |entry: &Entry| Setting { name: entry.key.clone(), set: overrides(desk, &entry.item) };
    let settings: Vec<Setting> = entries.iter().map(setting).collect();
    if settings.is_empty() {
        desk.refuse(entry.place, format!("axis {} has no setting; it needs one", entry.key));
    }
    Axis { name: entry.key.clone(), settings }
}

fn table<'a>(desk: &Desk<'_>, item: &'a Item, rule: &str) -> &'a [Entry] {
    match &item.value {
        Value::Table(table) => &table.0,
        other => {
            desk.refuse(item.place, format!("{rule}; this is {}", other.kind()));
            &[]
        }
    }
}

fn overrides(desk: &Desk<'_>, item: &Item) -> Vec<Override> {
    match &item.value {
        Value::List(items) => items.iter().filter_map(|item| key_and_value(desk, item)).collect(),
        other => {
            let rule = "settings are a list of overrides, such as [\"flow.0.scheme=icp\"]";
            desk.refuse(item.place, format!("{rule}; this is {}", other.kind()));
            Vec::new()
        }
    }
}

fn key_and_value(desk: &Desk<'_>, item: &Item) -> Option<Override> {
    let written = match &item.value {
        Value::Text(text) => text.split_once('=').filter(|(key, _)| !key.trim().is_empty()),
        _ => None,
    };
    if written.is_none() {
        desk.refuse(item.place, "an override is a text \"KEY=VALUE\", as --set takes it");
    }
    written.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
}

fn experiment(fields: &Fields<'_>, known: &[Axis]) -> Option<Experiment> {
    let set = |key: &str| match fields.item(key) {
        Some(item) => overrides(fields.desk, item),
        None => Vec::new(),
    };
    let experiment = Experiment {
        name: name(fields, "name")?,
        scenario: fields.text("scenario")?,
        axes: fields.list("axes").iter().filter_map(|item| find_axis(fields.desk, item, known)).collect(),
        seeds: fields.count("seeds").and_then(|seeds| u64::try_from(seeds).ok()),
        set: set("set"),
        reduced: set("reduced"),
    };
    let twice =
        |(place, axis): (usize, &Axis)| experiment.axes[..place].iter().any(|other| other.name == axis.name);
    if let Some(place) = experiment.axes.iter().enumerate().position(twice) {
        fields.refuse("axes", format!("axis {} is listed twice", experiment.axes[place].name));
    }
    let cells = experiment.axes.iter().try_fold(1usize, |cells, axis| cells.checked_mul(axis.settings.len()));
    if cells.is_none_or(|cells| cells > MAX_CELLS) {
        fields.refuse("axes", format!("more than {MAX_CELLS} cells; split the experiment"));
        return None;
    }
    Some(experiment)
}

/// A name that an expression can hold without quotes.
fn name(fields: &Fields<'_>, key: &str) -> Option<String> {
    let name = fields.text(key)?;
    let is_plain = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(is_plain) {
        fields.refuse(key, format!("{name:?} is no name of letters, digits, '_', '-' and '.'"));
        return None;
    }
    Some(name)
}

fn find_axis(desk: &Desk<'_>, item: &Item, known: &[Axis]) -> Option<Axis> {
    let Value::Text(name) = &item.value else {
        desk.refuse(item.place, "an axis is named by a text");
        return None;
    };
    let found = known.iter().find(|axis| axis.name == *name);
    if found.is_none() {
        desk.refuse_word(item.place, "axis", name, known.iter().map(|axis| axis.name.as_str()));
    }
    found.cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::parse;

    const TEXT: &str = r#"format = 1
[axis.scheme]
bbr-cd = ["scheme=bbr-cd"]
aimd = ["scheme=catchunks-aimd", "flow.0.size=1MB"]
[axis.loss]
clean = []
lossy = ["link.r1-r2.loss={ model = \"bernoulli\", probability = 0.03 }"]
bursty = ["scenario.duration=3s"]
[[experiment]]
name = "grid"
scenario = "path.toml"
axes = ["scheme", "loss"]
seeds = 5
set = ["scenario.duration=20s", "flow.0.size=2MB"]
reduced = ["scenario.duration=1s"]
[[experiment]]
name = "alone"
scenario = "path.toml"
"#;

    fn experiments() -> Experiments {
        Experiments::parse("experiments.toml", TEXT).expect("sound")
    }

    #[test]
    fn cells_are_all_combinations_and_the_last_axis_changes_fastest() {
        let experiments = experiments();
        let [grid, alone] = experiments.list.as_slice() else { panic!("two experiments") };
        assert_eq!((grid.cells(), alone.cells()), (6, 1));
        let names: Vec<String> = (0..6).map(|cell| grid.cell_name(cell)).collect();
        assert_eq!(
            names[..4],
            ["grid[bbr-cd, clean]", "grid[bbr-cd, lossy]", "grid[bbr-cd, bursty]", "grid[aimd, clean]"]
        );
        assert_eq!(alone.cell_name(0), "alone");
    }

    #[test]
    fn overrides_of_axes_come_after_those_of_the_experiment_and_of_a_quick_look_last() {
        let grid = &experiments().list[0];
        let shown = |cell, is_reduced| -> Vec<String> {
            grid.overrides(cell, is_reduced).iter().map(|(key, value)| format!("{key}={value}")).collect()
        };
        assert_eq!(shown(3, false), ["scenario.duration=20s", "scheme=catchunks-aimd", "flow.0.size=1MB"]);
        assert_eq!(shown(2, false), ["flow.0.size=2MB", "scheme=bbr-cd", "scenario.duration=3s"]);
        assert_eq!(shown(2, true), ["flow.0.size=2MB", "scheme=bbr-cd", "scenario.duration=1s"]);
        let lossy = grid.overrides(1, false);
        assert_eq!(lossy[3].1, "{ model = \"bernoulli\", probability = 0.03 }");
    }

    #[test]
    fn a_cell_is_found_by_its_names_and_a_slip_is_named() {
        let experiments = experiments();
        let find = |text: &str| {
            experiments.find(parse(text).expect("sound").cells()[0]).map_err(|fault| fault.message)
        };
        assert_eq!(find("x[grid, aimd, lossy]"), Ok((0, 4)));
        assert_eq!(find("x[alone]"), Ok((1, 0)));
        let slip = |text: &str| find(text).expect_err("a slip");
        assert_eq!(slip("x[gird, aimd]"), "experiment \"gird\" is not known; known: grid, alone");
        assert_eq!(
            slip("x[grid, aimd, dirty]"),
            "axis loss has no setting \"dirty\"; it has clean, lossy, bursty"
        );
        let few = "experiment grid has scheme, loss, so that a cell has 2 settings; x[grid, aimd] has 1";
        assert_eq!(slip("x[grid, aimd]"), few);
        assert_eq!(
            slip("x[alone, aimd]"),
            "experiment alone has no axis, so that a cell has 0 settings; x[alone, aimd] has 1"
        );
    }

    #[track_caller]
    fn assert_refused(from: &str, to: &str, place: &str, message: &str) {
        assert!(TEXT.contains(from), "{from}");
        let errors = Experiments::parse("e.toml", &TEXT.replacen(from, to, 1)).expect_err("wrong");
        let first = errors.iter().next().expect("an error");
        assert_eq!(
            (format!("{}:{}", first.line, first.column).as_str(), first.message.as_str()),
            (place, message)
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_refused("axes = [\"scheme\"", "axes = [\"schema\"", "12:9", "axis \"schema\" is not known");
        assert_refused(
            "[\"scheme=bbr-cd\"]",
            "\"scheme=bbr-cd\"",
            "3:10",
            "settings are a list of overrides, such as [\"flow.0.scheme=icp\"]; this is a text",
        );
        assert_refused(
            "\"scheme=bbr-cd\"",
            "\"scheme\"",
            "3:11",
            "an override is a text \"KEY=VALUE\", as --set takes it",
        );
        assert_refused("[\"scheme\", \"loss\"]", "[\"loss\", \"loss\"]", "12:8", "axis loss is listed twice");
        assert_refused("name = \"alone\"", "name = \"grid\"", "17:8", "experiment \"grid\" is there twice");
        assert_refused(
            "name = \"alone\"",
            "name = \"a b\"",
            "17:8",
            "\"a b\" is no name of letters, digits, '_', '-' and '.'",
        );
        assert_refused(
            "scenario = \"path.toml\"\naxes",
            "axes",
            "9:1",
            "[[experiment]] has no \"scenario\"; it needs one",
        );
        assert_refused(
            "format = 1",
            "format = 2",
            "1:10",
            "format 2 is not known; this program reads format 1",
        );
    }

    #[test]
    fn a_product_of_axes_that_is_too_large_is_refused_before_it_is_made() {
        let settings: String = (0..200).map(|place| format!("s{place} = []\n")).collect();
        let axes: String = (0..20).map(|place| format!("[axis.a{place}]\n{settings}")).collect();
        let names: Vec<String> = (0..20).map(|place| format!("\"a{place}\"")).collect();
        let text = format!(
            "format = 1\n{axes}[[experiment]]\nname = \"x\"\nscenario = \"y\"\naxes = [{}]\n",
            names.join(", ")
        );
        let errors = Experiments::parse("e.toml", &text).expect_err("wrong").to_string();
        assert!(errors.contains("more than 10000 cells"), "{errors}");
    }
}
