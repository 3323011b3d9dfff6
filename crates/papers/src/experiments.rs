//! `experiments.toml`: axes with named settings, and experiments over them.
//!
//! ```toml
//! format = 1
//!
//! [axis.scheme]
//! bbr-cd = { label = "BBR-CD", set = ["scheme=bbr-cd"] }
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
//!
//! [measure]
//! resent = "retransmissions / interests"
//! ```
//!
//! A setting is a list of overrides as for `--set` of the command line; in their values `{loss}` is replaced
//! by the name of the cell's setting on the axis `loss`.

use tidegate_settings::document::{Entry, Item, TomlValue};
use tidegate_settings::error::{Errors, Place};
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::{Format, KeyKind};
use tidegate_settings::read_context::ReadContext;

use crate::expression::{Binding, Range, parse_binding, unknown};
use crate::function::Function;
use crate::items::{expression, key_tables, read_file, table, text, words_of};
use crate::quantity::{MeasureDefinition, faults};

/// Maximum number of cells of one experiment.
const MAX_CELLS: usize = 10_000;
/// Maximum number of seeds of a cell.
const MAX_SEEDS: i64 = 100_000;
/// Key of a scenario with the number of its seeds.
pub const SEEDS: &str = "scenario.seeds";
/// Default number of seeds of a cell in a reduced study.
pub const REDUCED_SEEDS: u64 = 3;

key_tables! {
    ROOT "experiments.toml" {
        "format" Must: KeyKind::Count(1, 1), "Version of this format: 1.";
        "axis" May: KeyKind::Open(&KeyKind::Any), "Axes: named settings, each a list of overrides.";
        "experiment" Must: KeyKind::List(&KeyKind::Table(&EXPERIMENT)), "Experiments: scenarios with combinations of settings.";
        "measure" May: KeyKind::Open(&KeyKind::Text), "Measures defined by expressions over existing measures.";
        "alternative" May: KeyKind::List(&KeyKind::Table(&ALTERNATIVE)), "Other conditions under which all claims are computed with --full.";
    }
    SETTING "a setting" {
        "label" May: KeyKind::Text, "Label in figures and tables; the name by default.";
        "set" Must: KeyKind::List(&KeyKind::Text), "Overrides, KEY=VALUE.";
    }
    EXPERIMENT "[[experiment]]" {
        "name" Must: KeyKind::Name, "Name in expressions.";
        "scenario" Must: KeyKind::Text,
            "File of the scenario, relative to the folder of the paper; {place} is replaced by the setting of the axis place.";
        "axes" May: KeyKind::List(&KeyKind::Text),
            "Axes whose settings are combined, such as \"loss\", or \"loss[clean, lossy]\" for some of its settings; one cell without axes.";
        "seeds" May: KeyKind::Count(1, MAX_SEEDS), "Number of runs of each cell; by default that of the scenario.";
        "set" May: KeyKind::List(&KeyKind::Text), "Overrides of every cell, KEY=VALUE, applied before those of the axes.";
        "full" May: KeyKind::Bool, "Whether the experiment is run with --full only.";
        "full_seeds" May: KeyKind::Count(1, MAX_SEEDS), "Number of runs of each cell with --full, instead of seeds.";
        "allow_incomplete" May: KeyKind::Bool, "Whether schemes may run without roles that they depend on.";
        "reduced" May: KeyKind::List(&KeyKind::Text), "Further overrides with --reduced, applied after all others.";
        "reduced_seeds" May: KeyKind::Count(1, MAX_SEEDS), "Maximum number of runs of each cell with --reduced.";
    }
    ALTERNATIVE "[[alternative]]" {
        "name" Must: KeyKind::Name, "Name in messages.";
        "label" May: KeyKind::Text, "Label in tables; the name by default.";
        "seeds" May: KeyKind::Count(1, MAX_SEEDS), "Maximum number of runs of each cell.";
        "set" Must: KeyKind::Open(&KeyKind::List(&KeyKind::Text)),
            "Overrides by experiment, or by experiment[setting, ...] for the cells whose first settings these are.";
    }
}

static FORMAT: Format =
    Format { root: &ROOT, version: 1, synonyms: &[("axis", "axes"), ("file", "scenario")] };

/// One override of a scenario's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Dotted path of the key.
    pub key: String,
    /// Value of the key as TOML; without a value the key is removed.
    pub value: String,
    /// Place of the override in the file.
    pub at: Range,
}

/// Everything in an `experiments.toml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiments {
    /// All axes, in the order of the file.
    pub axes: Vec<Axis>,
    /// Experiments in the order of the file.
    pub list: Vec<Experiment>,
    /// Measures of the paper, in the order of the file.
    pub measures: Vec<MeasureDefinition>,
    /// Other conditions for all claims, in the order of the file.
    pub alternatives: Vec<Alternative>,
}

/// A scenario over the combinations of its axes' settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Name of the experiment in expressions; parts of one experiment share it.
    pub name: String,
    /// Place of the name in the file.
    pub at: Range,
    /// File of the scenario, relative to the folder of the paper; see [`Experiment::file`].
    pub scenario: String,
    /// Place of the scenario's name in the file.
    pub scenario_at: Range,
    /// Axes of the experiment, each with the settings that are combined.
    pub axes: Vec<Axis>,
    /// Number of runs of each cell; `None` for that of the scenario.
    pub seeds: Option<u64>,
    /// Overrides of every cell.
    pub set: Vec<Override>,
    /// Whether it belongs to a full study only.
    pub is_full: bool,
    /// Number of runs of each cell in a full study; `None` for that of other studies.
    pub full_seeds: Option<u64>,
    /// Whether schemes may run without the parts that they need elsewhere.
    pub allows_incomplete: bool,
    /// Further overrides of a reduced study.
    pub reduced: Vec<Override>,
    /// Maximum number of runs of each cell in a reduced study.
    pub reduced_seeds: u64,
}

/// A quantity that varies, with its named settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name, such as `scheme`.
    pub name: String,
    /// Settings of the axis, at least one, in the order of the file; names are unique.
    pub settings: Vec<AxisSetting>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisSetting {
    /// Name of the setting in expressions.
    pub name: String,
    /// Name of the setting in figures and tables.
    pub label: String,
    /// Changes of the scenario under this setting.
    pub set: Vec<Override>,
}

/// Conditions under which all claims are computed again.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// Name of the alternative in messages.
    pub name: String,
    /// Name of the alternative in tables.
    pub label: String,
    /// Maximum number of runs of each cell.
    pub seeds: Option<u64>,
    /// Overrides by experiment and first settings of the cells.
    pub set: Vec<(String, Vec<String>, Vec<Override>)>,
}

impl Experiment {
    /// Number of cells: the product of the axes' settings.
    pub fn cells(&self) -> usize {
        self.axes.iter().map(|axis| axis.settings.len()).product()
    }

    /// The settings of cell number `cell`, from 0; the last axis changes fastest.
    pub fn settings(&self, cell: usize) -> Vec<&AxisSetting> {
        let mut rest = cell;
        let mut settings: Vec<&AxisSetting> = self
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

    /// All overrides of cell number `cell`; of several for one key the last one remains. With `is_reduced`,
    /// those of a reduced study are included. `None` if the alternative does not run the cell.
    pub fn overrides(
        &self,
        cell: usize,
        alternative: Option<&Alternative>,
        is_reduced: bool,
    ) -> Option<Vec<Override>> {
        let settings = self.settings(cell);
        let names: Vec<&str> = settings.iter().map(|setting| setting.name.as_str()).collect();
        let under: Vec<&Override> = match alternative {
            None => Vec::new(),
            Some(alternative) => alternative.overrides(&self.name, &names)?,
        };
        let reduced = if is_reduced { self.reduced.as_slice() } else { &[] };
        let of_settings = settings.iter().flat_map(|setting| &setting.set);
        let mut kept: Vec<Override> = Vec::new();
        for one in self.set.iter().chain(of_settings).chain(under).chain(reduced) {
            // A removed override loses its place, so that the order is that of the last settings.
            kept.retain(|known| known.key != one.key);
            kept.push(Override { value: self.filled(&one.value, &names), ..one.clone() });
        }
        Some(kept)
    }

    /// The text with `{axis}` replaced by the name of the setting on each axis.
    fn filled(&self, text: &str, names: &[&str]) -> String {
        let put =
            |text: String, (axis, name): (&Axis, &&str)| text.replace(&format!("{{{}}}", axis.name), name);
        self.axes.iter().zip(names).fold(text.to_owned(), put)
    }

    /// The scenario of cell number `cell`.
    pub fn file(&self, cell: usize) -> String {
        let names: Vec<&str> = self.settings(cell).iter().map(|setting| setting.name.as_str()).collect();
        self.filled(&self.scenario, &names)
    }

    /// Returns the name of cell number `cell`, such as `grid[bbr-cd, clean]`.
    pub fn cell_name(&self, cell: usize) -> String {
        let names: Vec<&str> = self.settings(cell).iter().map(|setting| setting.name.as_str()).collect();
        if names.is_empty() { self.name.clone() } else { format!("{}[{}]", self.name, names.join(", ")) }
    }

    fn place(&self, settings: &[String]) -> Result<usize, String> {
        if settings.len() != self.axes.len() {
            let axes: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
            let axes = if axes.is_empty() { "no axis".to_owned() } else { axes.join(", ") };
            let given = [std::slice::from_ref(&self.name), settings].concat().join(", ");
            return Err(format!(
                "experiment {} has {axes}, so that a cell has {} settings; [{given}] has {}",
                self.name,
                self.axes.len(),
                settings.len()
            ));
        }
        self.axes.iter().zip(settings).try_fold(0, |place, (axis, name)| {
            Ok(place * axis.settings.len() + axis.place(name, &format!(" in experiment {}", self.name))?)
        })
    }

    /// Checks that it has cells whose first settings are these.
    fn check_first(&self, settings: &[String]) -> Result<(), String> {
        if settings.len() > self.axes.len() {
            return self.place(settings).map(drop);
        }
        let mut all = self.axes.iter().zip(settings);
        all.try_for_each(|(axis, name)| axis.place(name, &format!(" in experiment {}", self.name)).map(drop))
    }
}

impl Axis {
    fn place(&self, name: &str, whereabouts: &str) -> Result<usize, String> {
        let found = self.settings.iter().position(|setting| setting.name == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.settings.iter().map(|setting| setting.name.as_str()).collect();
            format!("axis {} has no setting {name:?}{whereabouts}; it has {}", self.name, known.join(", "))
        })
    }

    /// The settings with these names, in this order.
    fn part(&self, names: &[String]) -> Result<Vec<AxisSetting>, String> {
        names.iter().map(|name| self.place(name, "").map(|place| self.settings[place].clone())).collect()
    }
}

impl Alternative {
    /// Overrides of a cell; `None` if the alternative does not name the experiment.
    fn overrides(&self, experiment: &str, names: &[&str]) -> Option<Vec<&Override>> {
        let of_experiment = || self.set.iter().filter(|(name, ..)| name == experiment);
        of_experiment().next()?;
        let fits = |first: &Vec<String>| first.iter().zip(names).all(|(required, name)| required == name);
        Some(of_experiment().filter(|(_, first, _)| fits(first)).flat_map(|(.., set)| set).collect())
    }
}

impl Experiments {
    /// Reads the text of the file called `source_name` in messages.
    ///
    /// # Errors
    /// All errors of the text, with their lines.
    pub fn parse(source_name: &str, text: &str) -> Result<Self, Errors> {
        read_file(source_name, text, &FORMAT, read)
    }

    /// Index of an experiment and of its cell.
    ///
    /// # Errors
    /// An unknown experiment or setting, or a wrong number of settings.
    pub fn find(&self, experiment: &str, settings: &[String]) -> Result<(usize, usize), String> {
        let mut wrong = None;
        for (place, part) in self.list.iter().enumerate().filter(|(_, part)| part.name == experiment) {
            // Parts of one experiment have the same axes, so that the first message applies to all of them.
            match part.place(settings) {
                Ok(cell) => return Ok((place, cell)),
                Err(message) => wrong = Some(wrong.unwrap_or(message)),
            }
        }
        Err(wrong.unwrap_or_else(|| {
            let mut known: Vec<&str> = self.list.iter().map(|known| known.name.as_str()).collect();
            // Parts of an experiment have the same name and are consecutive in most files.
            known.dedup();
            format!("experiment {experiment:?} is not known; known: {}", known.join(", "))
        }))
    }

    /// The settings that a variable takes.
    ///
    /// # Errors
    /// An unknown axis or setting.
    pub fn settings_of(&self, binding: &Binding) -> Result<Vec<AxisSetting>, String> {
        settings_of(&self.axes, binding)
    }
}

fn settings_of(axes: &[Axis], binding: &Binding) -> Result<Vec<AxisSetting>, String> {
    let Some(axis) = axes.iter().find(|axis| axis.name == binding.axis) else {
        return Err(unknown("axis", &binding.axis, axes.iter().map(|axis| axis.name.as_str())));
    };
    if binding.settings.is_empty() { Ok(axis.settings.clone()) } else { axis.part(&binding.settings) }
}

fn read(root: &Fields<'_>) -> Option<Experiments> {
    let axes = axes(root);
    let mut list: Vec<Experiment> = Vec::new();
    for fields in root.tables("experiment", &EXPERIMENT) {
        let Some(experiment) = experiment(&fields, &axes) else { continue };
        if let Some(message) = list.iter().find_map(|known| overlap(known, &experiment)) {
            fields.refuse("name", message);
        }
        list.push(experiment);
    }
    // A missing key and a wrong experiment have been reported.
    if matches!(root.item("experiment").map(|item| &item.value), Some(TomlValue::List(all)) if all.is_empty())
    {
        root.refuse("experiment", "there is no [[experiment]]; at least one is needed");
    }
    let mut alternatives: Vec<Alternative> = Vec::new();
    for fields in root.tables("alternative", &ALTERNATIVE) {
        let Some(alternative) = alternative(&fields, &list) else { continue };
        if alternatives.iter().any(|known| known.name == alternative.name) {
            fields.refuse("name", format!("alternative {:?} is given twice", alternative.name));
        }
        alternatives.push(alternative);
    }
    Some(Experiments { axes, list, measures: measures(root), alternatives })
}

fn axes(root: &Fields<'_>) -> Vec<Axis> {
    let Some(item) = root.item("axis") else { return Vec::new() };
    let entries = table(root.context, item, "axis is a table of axes, such as [axis.scheme]");
    entries.iter().map(|entry| axis(root.context, entry)).collect()
}

fn axis(context: &ReadContext<'_>, entry: &Entry) -> Axis {
    let entries = table(
        context,
        &entry.item,
        "an axis is a table of settings, such as aimd = [\"scheme=catchunks-aimd\"]",
    );
    let settings: Vec<AxisSetting> = entries.iter().map(|entry| setting(context, entry)).collect();
    if settings.is_empty() {
        context.refuse(entry.place, format!("axis {} requires at least one setting", entry.key));
    }
    for (place, setting) in settings.iter().enumerate() {
        let at = entries[place].place;
        if setting.name.trim().is_empty() {
            context.refuse(at, format!("a setting of axis {} has an empty name", entry.key));
        } else if let Some(other) = settings[..place].iter().find(|other| other.label == setting.label) {
            let (label, first, second) = (&setting.label, &other.name, &setting.name);
            context.refuse(at, format!("settings {first:?} and {second:?} have the same label, {label:?}"));
        }
    }
    Axis { name: entry.key.clone(), settings }
}

fn setting(context: &ReadContext<'_>, entry: &Entry) -> AxisSetting {
    let name = entry.key.clone();
    let TomlValue::Table(_) = entry.item.value else {
        return AxisSetting { label: name.clone(), name, set: overrides(context, &entry.item) };
    };
    let fields = Fields::open(context, &entry.item, &SETTING);
    let label = fields.as_ref().and_then(|fields| words_of(fields, "label")).unwrap_or_else(|| name.clone());
    let set = fields.as_ref().and_then(|fields| fields.item("set"));
    AxisSetting { name, label, set: set.map_or_else(Vec::new, |item| overrides(context, item)) }
}

fn overrides(context: &ReadContext<'_>, item: &Item) -> Vec<Override> {
    match &item.value {
        TomlValue::List(items) => items.iter().filter_map(|item| key_and_value(context, item)).collect(),
        other => {
            let rule = "settings are a list of overrides, such as [\"flow.0.scheme=icp\"]";
            context.refuse(item.place, format!("{rule}; this is {}", other.kind()));
            Vec::new()
        }
    }
}

fn key_and_value(context: &ReadContext<'_>, item: &Item) -> Option<Override> {
    let written = match &item.value {
        TomlValue::Text(text) => text.split_once('=').filter(|(key, _)| !key.trim().is_empty()),
        _ => None,
    };
    if written.is_none() {
        context.refuse(item.place, "an override is a text \"KEY=VALUE\", as --set takes it");
    }
    let (key, value) = written?;
    if key.trim() == SEEDS {
        let message =
            "the number of runs is given by the keys seeds, full_seeds and reduced_seeds of [[experiment]]";
        return context.refused(item.place, message);
    }
    Some(Override { key: key.trim().to_owned(), value: value.trim().to_owned(), at: item.place.into() })
}

fn experiment(fields: &Fields<'_>, known: &[Axis]) -> Option<Experiment> {
    let set = |key: &str| fields.item(key).map_or_else(Vec::new, |item| overrides(fields.context, item));
    let count = |key: &str| fields.count(key).and_then(|count| u64::try_from(count).ok());
    let axes = fields.list("axes").iter().filter_map(|item| axis_of(fields.context, item, known)).collect();
    let experiment = Experiment {
        name: name(fields, "name")?,
        at: fields.place_of("name").into(),
        scenario: fields.text("scenario")?,
        scenario_at: fields.place_of("scenario").into(),
        axes,
        seeds: count("seeds"),
        set: set("set"),
        is_full: fields.flag("full").unwrap_or(false),
        full_seeds: count("full_seeds"),
        allows_incomplete: fields.flag("allow_incomplete").unwrap_or(false),
        reduced: set("reduced"),
        reduced_seeds: count("reduced_seeds").unwrap_or(REDUCED_SEEDS),
    };
    let twice =
        |(place, axis): (usize, &Axis)| experiment.axes[..place].iter().any(|other| other.name == axis.name);
    if let Some(place) = experiment.axes.iter().enumerate().position(twice) {
        fields.refuse("axes", format!("axis {} is listed twice", experiment.axes[place].name));
    }
    // Twenty axes of 200 settings exceed 64 bits, so the product is checked before any cell is created.
    let cells = experiment.axes.iter().try_fold(1usize, |cells, axis| cells.checked_mul(axis.settings.len()));
    if cells.is_none_or(|cells| cells > MAX_CELLS) {
        return fields.refused("axes", format!("more than {MAX_CELLS} cells; split the experiment"));
    }
    // The files of a paper may come from others: they must not read other folders, and results are written
    // under these names.
    let outside = (0..experiment.cells()).map(|cell| experiment.file(cell)).find(|name| !is_file_name(name));
    if let Some(name) = outside {
        let message =
            format!("{name:?} is not a name of a file in the folder of the paper, such as \"path.toml\"");
        fields.refuse("scenario", message);
    }
    let of_axes = experiment.axes.iter().flat_map(|axis| &axis.settings).flat_map(|setting| &setting.set);
    for one in experiment.set.iter().chain(of_axes).chain(&experiment.reduced) {
        refuse_braces(fields.context, one, &experiment);
    }
    Some(experiment)
}

/// Refuses `{axis}` in an override of an experiment without this axis, which would remain as it is written.
fn refuse_braces(context: &ReadContext<'_>, one: &Override, experiment: &Experiment) {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|sign| sign.is_alphanumeric() || matches!(sign, '_' | '-'))
    };
    let wrong = one.value.match_indices('{').find_map(|(start, _)| {
        let Some((name, _)) = one.value[start + 1..].split_once('}') else {
            return Some("'{' has no '}' behind it".to_owned());
        };
        // Other braces are those of a table in TOML; a scenario replaces {i} in a table with `repeat`.
        let is_unknown = is_name(name) && name != "i" && experiment.axes.iter().all(|axis| axis.name != name);
        is_unknown.then(|| format!("{{{name}}} is no axis of experiment {}", experiment.name))
    });
    if let Some(message) = wrong {
        context.refuse(Place { start: one.at.start, end: one.at.end, origin: 0 }, message);
    }
}

/// Whether a name is one of a file in the same folder on every system; results are written under such names.
fn is_file_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    !name.trim().is_empty() && !name.starts_with('.') && name.chars().all(is_plain)
}

/// The message if two experiments of one name are not parts of one experiment: their axes differ, or they
/// share a cell.
fn overlap(known: &Experiment, other: &Experiment) -> Option<String> {
    let names = |one: &Experiment| one.axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
    if known.name != other.name {
        return None;
    }
    if names(known) != names(other) {
        return Some(format!("experiment {:?} is given twice, with different axes", known.name));
    }
    let of_other =
        |cell: usize| other.settings(cell).iter().map(|setting| setting.name.clone()).collect::<Vec<_>>();
    let shared = (0..other.cells()).find(|cell| known.place(&of_other(*cell)).is_ok())?;
    Some(format!("two experiments have the cell {}", other.cell_name(shared)))
}

/// A name that needs no quotes in an expression.
fn name(fields: &Fields<'_>, key: &str) -> Option<String> {
    let name = fields.text(key)?;
    let is_plain = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(is_plain) {
        return fields.refused(key, format!("{name:?} is not a name of letters, digits, '_', '-' and '.'"));
    }
    Some(name)
}

/// Reads an axis or a part of one: `loss`, `loss[clean, lossy]`.
fn axis_of(context: &ReadContext<'_>, item: &Item, known: &[Axis]) -> Option<Axis> {
    let written = text(context, item)?;
    // A part of an axis has the syntax of a binding in an expression, so that the same parser reads it.
    let found = parse_binding(&format!("x in {written}")).map_err(|fault| fault.message);
    let found = found.and_then(|binding| {
        let settings = settings_of(known, &binding)?;
        Ok(Axis { name: binding.axis, settings })
    });
    found.map_err(|message| context.refuse(item.place, message)).ok()
}

fn measures(root: &Fields<'_>) -> Vec<MeasureDefinition> {
    let Some(item) = root.item("measure") else { return Vec::new() };
    let entries = table(root.context, item, "measure is a table of expressions, such as [measure]");
    let measures: Vec<MeasureDefinition> =
        entries.iter().filter_map(|entry| measure(root.context, entry)).collect();
    // Without those that cannot be read, uses of them would be errors, too.
    if measures.len() == entries.len() {
        for (Range { start, end }, message) in faults(&measures) {
            if root.context.is_full() {
                break;
            }
            root.context.refuse(Place { start, end, ..item.place }, message);
        }
    }
    measures
}

/// Reads a measure, such as `"loss(flow)" = "1 - delivered_segments(flow) / interests(flow)"`.
fn measure(context: &ReadContext<'_>, entry: &Entry) -> Option<MeasureDefinition> {
    // TOML keys with brackets are quoted: "loss(flow)".
    let (name, parameters) = match entry.key.split_once('(') {
        None => (entry.key.as_str(), Some(Vec::new())),
        Some((name, rest)) => {
            let parameters = rest.strip_suffix(')').map(|inner| inner.split(',').map(str::trim).collect());
            (name, parameters)
        }
    };
    let is_name = |name: &str| {
        name.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
            && name != "inf"
    };
    let parameters = parameters.filter(|all| is_name(name) && all.iter().all(|name| is_name(name)));
    let Some(parameters) = parameters else {
        let rule = "the name of a measure and its parameters have letters, digits and '_': \"loss(flow)\"";
        return context.refused(entry.place, format!("{rule}; this is {:?}", entry.key));
    };
    if Function::find(name).is_some() {
        let message = format!("{name} is a function of expressions; choose another name for the measure");
        return context.refused(entry.place, message);
    }
    let is_twice = |(place, parameter): &(usize, &&str)| parameters[..*place].contains(parameter);
    if let Some((_, parameter)) = parameters.iter().enumerate().find(is_twice) {
        return context.refused(entry.place, format!("measure {name} has two parameters {parameter:?}"));
    }
    let body = expression(context, &entry.item)?;
    if let Some(unused) = parameters.iter().find(|parameter| !body.expression.uses(parameter)) {
        let message = format!("measure {name} does not use its parameter {unused:?}");
        return context.refused(entry.place, message);
    }
    Some(MeasureDefinition {
        name: name.to_owned(),
        parameters: parameters.into_iter().map(str::to_owned).collect(),
        body,
        at: entry.place.into(),
    })
}

/// The experiment and the first settings in a key of `set`, such as `grid[aimd]`.
fn cells_of<'a>(context: &ReadContext<'_>, entry: &'a Entry) -> Option<(&'a str, Vec<String>)> {
    let Some((experiment, rest)) = entry.key.split_once('[') else { return Some((&entry.key, Vec::new())) };
    let settings = rest.strip_suffix(']').map(|inner| inner.split(',').map(str::trim));
    let Some(settings) = settings.filter(|names| names.clone().all(|name| !name.is_empty())) else {
        let rule = "a key of set is an experiment, or \"experiment[setting, ...]\"";
        return context.refused(entry.place, format!("{rule}; this is {:?}", entry.key));
    };
    Some((experiment, settings.map(str::to_owned).collect()))
}

fn alternative(fields: &Fields<'_>, experiments: &[Experiment]) -> Option<Alternative> {
    let name = name(fields, "name")?;
    let entries = table(fields.context, fields.item("set")?, "set is a table of overrides by experiment");
    if entries.is_empty() {
        fields.refuse("set", "set names no experiment, so that no cell is run; it needs one");
    }
    let set = entries.iter().filter_map(|entry| {
        let (experiment, settings) = cells_of(fields.context, entry)?;
        // An alternative that matches no cell would appear as one under which nothing changes.
        let mut parts = experiments.iter().filter(|known| known.name == experiment).peekable();
        let Some(first) = parts.peek().copied() else {
            let known = experiments.iter().map(|known| known.name.as_str());
            fields.context.refuse_word(entry.place, "experiment", experiment, known);
            return None;
        };
        if !parts.any(|part| part.check_first(&settings).is_ok()) {
            // Parts of one experiment have the same axes, so that the message of the first applies to all of them.
            return fields.context.refused(entry.place, first.check_first(&settings).err()?);
        }
        let set = overrides(fields.context, &entry.item);
        set.iter().for_each(|one| refuse_braces(fields.context, one, first));
        Some((experiment.to_owned(), settings, set))
    });
    Some(Alternative {
        label: words_of(fields, "label").unwrap_or_else(|| name.clone()),
        seeds: fields.count("seeds").and_then(|seeds| u64::try_from(seeds).ok()),
        set: set.collect(),
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"format = 1
[axis.scheme]
bbr-cd = { label = "BBR-CD", set = ["scheme=bbr-cd"] }
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
scenario = "{loss}.toml"
axes = ["loss[bursty, clean]"]
set = ["scenario.name={loss}"]
full = true
[measure]
resent = "retransmissions / interests"
"loss(flow, from)" = "1 - delivered(flow, from = from) / interests(flow)"
[[alternative]]
name = "longer"
label = "twice as long"
seeds = 3
set.grid = ["scenario.duration=40s"]
set."grid[aimd, lossy]" = ["x=1"]
"#;

    fn written(one: &Override) -> String {
        format!("{}={}", one.key, one.value)
    }

    fn experiments() -> Experiments {
        Experiments::parse("experiments.toml", TEXT).expect("sound")
    }

    #[test]
    fn cells_are_all_combinations_and_the_last_axis_changes_fastest() {
        let experiments = experiments();
        let [grid, alone] = experiments.list.as_slice() else { panic!("two experiments") };
        assert_eq!((grid.cells(), alone.cells()), (6, 2));
        let names: Vec<String> = (0..6).map(|cell| grid.cell_name(cell)).collect();
        assert_eq!(
            names[..4],
            ["grid[bbr-cd, clean]", "grid[bbr-cd, lossy]", "grid[bbr-cd, bursty]", "grid[aimd, clean]"]
        );
        assert_eq!(
            (alone.cell_name(0), alone.file(1)),
            ("alone[bursty]".to_owned(), "clean.toml".to_owned())
        );
        assert_eq!([&grid.settings(0)[0].label, &grid.settings(3)[0].label], ["BBR-CD", "aimd"]);
    }

    #[test]
    fn overrides_of_axes_come_after_those_of_the_experiment_and_of_a_quick_look_last() {
        let grid = &experiments().list[0];
        let shown = |cell, is_reduced| -> Vec<String> {
            grid.overrides(cell, None, is_reduced).unwrap_or_default().iter().map(written).collect()
        };
        assert_eq!(shown(3, false), ["scenario.duration=20s", "scheme=catchunks-aimd", "flow.0.size=1MB"]);
        assert_eq!(shown(2, false), ["flow.0.size=2MB", "scheme=bbr-cd", "scenario.duration=3s"]);
        assert_eq!(shown(2, true), ["flow.0.size=2MB", "scheme=bbr-cd", "scenario.duration=1s"]);
        let lossy = grid.overrides(1, None, false).expect("it is run");
        assert_eq!(lossy[3].value, "{ model = \"bernoulli\", probability = 0.03 }");
    }

    #[test]
    fn names_of_settings_stand_for_axes_in_braces() {
        let alone = &experiments().list[1];
        let overrides = alone.overrides(1, None, false).expect("it is run");
        assert_eq!(overrides.iter().map(written).collect::<Vec<_>>(), ["scenario.name=clean"]);
        assert_eq!(TEXT[overrides[0].at.start..overrides[0].at.end], *"\"scenario.name={loss}\"");
    }

    #[test]
    fn an_alternative_runs_the_experiments_that_it_names_with_its_overrides() {
        let Experiments { list, alternatives, .. } = experiments();
        let set = |experiment: usize, cell: usize| -> Option<Vec<String>> {
            let overrides = list[experiment].overrides(cell, alternatives.first(), false)?;
            Some(overrides.iter().map(written).collect())
        };
        assert_eq!(set(1, 0), None);
        let [plain, lossy] = [0, 4].map(|cell| set(0, cell).expect("it is run"));
        assert!(plain.contains(&"scenario.duration=40s".to_owned()) && !plain.contains(&"x=1".to_owned()));
        assert!(lossy.contains(&"scenario.duration=40s".to_owned()) && lossy.contains(&"x=1".to_owned()));
    }

    #[test]
    fn measures_of_the_paper_have_names_parameters_and_expressions() {
        let measures = experiments().measures;
        let shown: Vec<String> = measures
            .iter()
            .map(|one| format!("{}({}): {}", one.name, one.parameters.join(", "), one.body.expression))
            .collect();
        assert_eq!(
            shown,
            [
                "resent(): (retransmissions / interests)",
                "loss(flow, from): (1 - (delivered(flow, from = from) / interests(flow)))"
            ]
        );
    }

    #[test]
    fn a_cell_is_found_by_its_names_and_a_slip_is_named() {
        let experiments = experiments();
        let find = |names: &[&str]| {
            let settings: Vec<String> = names[1..].iter().map(|name| (*name).to_owned()).collect();
            experiments.find(names[0], &settings)
        };
        assert_eq!(find(&["grid", "aimd", "lossy"]), Ok((0, 4)));
        assert_eq!(find(&["alone", "clean"]), Ok((1, 1)));
        let slip = |names: &[&str]| find(names).expect_err("a slip");
        assert_eq!(slip(&["gird", "aimd"]), "experiment \"gird\" is not known; known: grid, alone");
        assert_eq!(
            slip(&["grid", "aimd", "dirty"]),
            "axis loss has no setting \"dirty\" in experiment grid; it has clean, lossy, bursty"
        );
        assert_eq!(
            slip(&["alone", "lossy"]),
            "axis loss has no setting \"lossy\" in experiment alone; it has bursty, clean"
        );
        let few = "experiment grid has scheme, loss, so that a cell has 2 settings; [grid, aimd] has 1";
        assert_eq!(slip(&["grid", "aimd"]), few);
    }

    #[test]
    fn experiments_of_one_name_are_parts_of_one_that_share_no_cell() {
        let part = |axes: &str| {
            let more = format!("[[experiment]]\nname = \"alone\"\nscenario = \"x.toml\"\naxes = {axes}\n");
            Experiments::parse("e.toml", &TEXT.replacen("[measure]", &format!("{more}[measure]"), 1))
        };
        let experiments = part("[\"loss[lossy]\"]").expect("sound");
        assert_eq!(experiments.find("alone", &["lossy".to_owned()]), Ok((2, 0)));
        let wrong = |axes: &str| part(axes).expect_err("wrong").to_string();
        assert!(wrong("[\"loss\"]").contains("two experiments have the cell alone[clean]"));
        assert!(wrong("[\"scheme\"]").contains("experiment \"alone\" is given twice, with different axes"));
    }

    #[track_caller]
    fn assert_refused(from: &str, to: &str, place: &str, message: &str) {
        assert!(TEXT.contains(from), "{from}");
        let errors = Experiments::parse("e.toml", &TEXT.replacen(from, to, 1)).expect_err("wrong");
        assert_eq!(crate::first_of(&errors), (place.to_owned(), message.to_owned()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_refused(
            "axes = [\"scheme\"",
            "axes = [\"schema\"",
            "12:9",
            "axis \"schema\" is not known; did you mean \"scheme\"?",
        );
        assert_refused(
            "interests\"",
            "interests +\"",
            "23:40",
            "the end where a number, a function, a measure or an opening bracket is expected",
        );
        assert_refused(
            "resent =",
            "mean =",
            "23:1",
            "mean is a function of expressions; choose another name for the measure",
        );
        assert_refused("set.grid =", "set.gird =", "29:5", "experiment \"gird\" is not known");
        assert_refused(
            "[\"scheme=bbr-cd\"]",
            "\"scheme=bbr-cd\"",
            "3:36",
            "settings are a list of overrides, such as [\"flow.0.scheme=icp\"]; this is a text",
        );
        assert_refused(
            "\"scheme=bbr-cd\"",
            "\"scheme\"",
            "3:37",
            "an override is a text \"KEY=VALUE\", as --set takes it",
        );
        assert_refused("[\"scheme\", \"loss\"]", "[\"loss\", \"loss\"]", "12:8", "axis loss is listed twice");
        assert_refused(
            "name = \"alone\"",
            "name = \"grid\"",
            "17:8",
            "experiment \"grid\" is given twice, with different axes",
        );
        assert_refused(
            "name = \"alone\"",
            "name = \"a b\"",
            "17:8",
            "\"a b\" is not a name of letters, digits, '_', '-' and '.'",
        );
        for (text, expected) in [
            ("format = 1\n", vec!["[[experiment]] is missing; experiments.toml requires it"]),
            ("format = 1\nexperiment = []\n", vec!["there is no [[experiment]]; at least one is needed"]),
            (
                "format = 1\n[[experiment]]\nname = \"gr id\"\nscenario = \"a.toml\"\n",
                vec!["\"gr id\" is not a name of letters, digits, '_', '-' and '.'"],
            ),
        ] {
            let errors = Experiments::parse("e.toml", text).expect_err("wrong");
            assert_eq!(errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>(), expected);
        }
        assert_refused(
            "scenario = \"path.toml\"\naxes",
            "axes",
            "9:1",
            "\"scenario\" is missing; [[experiment]] requires it",
        );
        assert_refused(
            "format = 1",
            "format = 2",
            "1:10",
            "format 2 is not known; this program reads format 1",
        );
    }

    #[test]
    fn settings_without_a_name_of_their_own_and_overrides_without_effect_are_refused() {
        let lossy = "probability = 0.03";
        for (from, to, place, message) in [
            ("clean = []", "\"\" = []", "6:1", "a setting of axis loss has an empty name"),
            ("label = \"BBR-CD\"", "label = \"\"", "3:20", "label is empty; a text is needed"),
            (
                "label = \"BBR-CD\"",
                "label = \"aimd\"",
                "4:1",
                "settings \"bbr-cd\" and \"aimd\" have the same label, \"aimd\"",
            ),
            (
                "[\"scheme\", \"loss\"]",
                "[\"loss[clean, clean]\"]",
                "12:9",
                "setting \"clean\" is listed twice",
            ),
            (
                "\"scenario.duration=1s\"",
                "\"scenario.seeds=1\"",
                "15:12",
                "the number of runs is given by the keys seeds, full_seeds and reduced_seeds of [[experiment]]",
            ),
            (lossy, "probability = {los}", "7:10", "{los} is no axis of experiment grid"),
            ("scenario.name={loss}", "scenario.name={loss", "20:8", "'{' has no '}' behind it"),
            ("\"x=1\"", "\"x={place}\"", "30:28", "{place} is no axis of experiment grid"),
        ] {
            assert_refused(from, to, place, message);
        }
    }

    #[test]
    fn a_wrong_definition_is_named_with_its_place_in_it() {
        let (resent, loss) = (
            "resent = \"retransmissions / interests\"",
            "\"loss(flow, from)\" = \"1 - delivered(flow, from = from) / interests(flow)\"",
        );
        for (from, to, place, message) in [
            (
                resent,
                "resent = \"1 + resent\"",
                "23:15",
                "resent uses itself; a definition may use those above it",
            ),
            (
                resent,
                "resent = \"1 + a\"\na = \"b / 2\"\nb = \"a + resent\"",
                "23:15",
                "resent uses a, which uses b, which uses resent; a definition may use those above it",
            ),
            (
                resent,
                "resent = \"loss(C1, 2)\"",
                "23:11",
                "loss is defined below resent; a definition may use those above it",
            ),
            (loss, "late = \"2 * resent(C1)\"", "24:13", "resent takes no arguments"),
            (loss, "\"resent(flow)\" = \"timeouts(flow)\"", "24:1", "measure \"resent\" is defined twice"),
            (loss, "\"half(a)\" = \"1\"", "24:1", "measure half does not use its parameter \"a\""),
            (loss, "\"loss(a, a)\" = \"1\"", "24:1", "measure loss has two parameters \"a\""),
            (
                loss,
                "\"loss(a\" = \"1\"",
                "24:1",
                "the name of a measure and its parameters have letters, digits and '_': \"loss(flow)\"; this is \"loss(a\"",
            ),
            (
                loss,
                "late = \"2 * timeouts[grid, aimd, clean]\"",
                "24:21",
                "a cell within what is measured of one run",
            ),
            (loss, "late = \"2 * best(timeouts)\"", "24:13", "best is over seeds, and this is of one run"),
            (
                loss,
                "late = \"quantile(timeouts, 2)\"",
                "24:9",
                "quantile takes a part from 0 to 1; it is given 2",
            ),
        ] {
            assert_refused(from, to, place, message);
        }
    }

    #[test]
    fn an_alternative_of_no_cell_is_named_with_its_line() {
        let part = "set.\"grid[aimd, lossy]\" = [\"x=1\"]";
        for (to, message) in [
            (
                "set.\"grid[aimd, dirty]\" = []",
                "axis loss has no setting \"dirty\" in experiment grid; it has clean, lossy, bursty",
            ),
            (
                "set.\"grid[aimd, lossy, x]\" = []",
                "experiment grid has scheme, loss, so that a cell has 2 settings; [grid, aimd, lossy, x] has 3",
            ),
            (
                "set.\"grid[aimd\" = []",
                "a key of set is an experiment, or \"experiment[setting, ...]\"; this is \"grid[aimd\"",
            ),
        ] {
            assert_refused(part, to, "30:5", message);
        }
        let again = format!("{part}\n[[alternative]]\nname = \"longer\"\nset.alone = []");
        assert_refused(part, &again, "32:8", "alternative \"longer\" is given twice");
        let empty = format!("{part}\n[[alternative]]\nname = \"none\"\nset = {{}}");
        assert_refused(part, &empty, "33:7", "set names no experiment, so that no cell is run; it needs one");
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
