//! Tables of runs: typed columns with a unit and a definition each, written as Parquet or CSV, read back
//! and merged.

mod arrow;
mod build;
mod csv;
mod decode;
mod folder;
mod merge;
mod parquet;
mod read;
mod sweep;
mod whole;

pub use build::build;
pub use build::build_summaries;
pub use folder::{FolderFault, check_folder, write_folder};
pub use merge::merge;
pub use parquet::ParquetFault;
pub use read::{read_context, read_run, read_run_summary};
pub use sweep::numbers;
pub use sweep::{Parameter, Point, PointTables, point_tables};
pub use whole::{read_table, table_names};

use std::borrow::Cow;

use tidegate_core::scheme::whole::Installed;

use crate::definitions::{self, Definition};

/// Every table with the definitions of its columns, in the order of a folder.
pub fn layout() -> Vec<(&'static str, Vec<&'static Definition>)> {
    let names = folder::ALWAYS.into_iter().chain([folder::EVENTS]);
    let columns = |name| build::shape(name).columns;
    let of =
        |name| (name, columns(name).iter().filter_map(|column| definitions::find(column.name())).collect());
    names.map(of).collect()
}

/// Metadata that all tables of one result folder share.
#[derive(Clone, Debug, Default)]
pub struct RunContext {
    /// Full text of the scenario; part of each file's metadata.
    pub scenario_text: String,
    /// Version of the results' meaning, raised whenever any result may change.
    pub semantics: u32,
    /// Identity of the code that computed the results, in hexadecimal digits; empty for measured results.
    pub code: String,
    /// Position of the first run in its plan, so that parts of a batch number their runs as the whole does.
    pub first_run: u32,
    /// Node names by number, for the events; a number beyond the list is written `#7`.
    pub nodes: Vec<String>,
    /// Prefixes by interned id, for the events; an id beyond the list is written `#7`.
    pub prefixes: Vec<String>,
    /// For pages: schemes in use, each with the name of its variant, which is empty if there is only one.
    pub installed: Vec<(String, Installed)>,
}

/// Values of one column, one per row.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Truth values, one per row.
    Bool(Vec<bool>),
    /// Small counts and indices.
    U32(Vec<u32>),
    /// Counts that may exceed 32 bits.
    U64(Vec<u64>),
    /// Measurements sampled over time, in single precision.
    F32(Vec<f32>),
    /// Measurements in double precision.
    F64(Vec<f64>),
    /// Text that repeats: row `i` reads `names[index[i]]`.
    Text {
        /// The distinct texts, in order of first use.
        names: Vec<String>,
        /// One index into `names` per row.
        index: Vec<u32>,
    },
}

impl ColumnData {
    /// Number of rows in the column.
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text { index, .. } => index.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One cell, as it is printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TableCell<'a> {
    /// The row has no value in this column.
    Missing,
    /// A truth value of [`ColumnData::Bool`].
    Bool(bool),
    /// A count, of a column of either width.
    Count(u64),
    /// A measurement in single precision.
    Short(f32),
    /// A measurement in double precision.
    Number(f64),
    /// A text of [`ColumnData::Text`].
    Text(&'a str),
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name of the column, its unit last.
    name: Cow<'static, str>,
    /// Unit, `""` for text and plain numbers.
    unit: Cow<'static, str>,
    /// Definition of the column.
    text: Cow<'static, str>,
    /// Values; any value if it is missing.
    pub data: ColumnData,
    /// Presence of a value in each row; `None` if all rows have one and the column cannot miss any.
    pub present: Option<Vec<bool>>,
}

impl Column {
    /// A column without missing values.
    ///
    /// # Panics
    /// When `name` is not in the definitions table.
    pub fn full(name: &str, data: ColumnData) -> Self {
        let definition =
            definitions::find(name).unwrap_or_else(|| panic!("column {name:?} has no definition"));
        let Definition { name, unit, text } = *definition;
        Self { name: name.into(), unit: unit.into(), text: text.into(), data, present: None }
    }

    /// A column in which row `i` is missing unless `present[i]`; panics as [`Column::full`].
    pub fn nullable(name: &str, data: ColumnData, present: Vec<bool>) -> Self {
        assert_eq!(data.len(), present.len(), "column {name:?}");
        Self { present: Some(present), ..Self::full(name, data) }
    }

    /// A column that is not among the definitions, such as a parameter of a sweep; `present` as in
    /// [`Column::nullable`], `None` when no row can miss.
    pub(crate) fn own([name, unit, text]: [String; 3], data: ColumnData, present: Option<Vec<bool>>) -> Self {
        assert!(present.as_ref().is_none_or(|present| present.len() == data.len()), "column {name:?}");
        Self { name: name.into(), unit: unit.into(), text: text.into(), data, present }
    }

    /// Name of the column, unit last.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Unit, `""` for text and plain numbers without one.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// The value in `row`.
    ///
    /// # Panics
    /// When the column has no such row.
    pub fn cell(&self, row: usize) -> TableCell<'_> {
        if self.present.as_ref().is_some_and(|present| !present[row]) {
            return TableCell::Missing;
        }
        match &self.data {
            ColumnData::Bool(values) => TableCell::Bool(values[row]),
            ColumnData::U32(values) => TableCell::Count(u64::from(values[row])),
            ColumnData::U64(values) => TableCell::Count(values[row]),
            ColumnData::F32(values) => TableCell::Short(values[row]),
            ColumnData::F64(values) => TableCell::Number(values[row]),
            ColumnData::Text { names, index } => TableCell::Text(&names[index[row] as usize]),
        }
    }
}

/// A named table; all columns have the same number of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultTable {
    /// Name of the table and of its file without extension: `runs`, `flows`, `links`, `nodes`, `media`,
    /// `flow_samples`, `link_samples` or `events`.
    pub name: &'static str,
    /// Columns in the order of the file.
    pub columns: Vec<Column>,
    /// Metadata of the file: `scenario`, `results_schema`, `semantics`, `code`, for each column
    /// `column.<name>.unit` and `column.<name>.definition`, and the same as Arrow's schema, which readers show by field.
    pub metadata: Vec<(String, String)>,
}

impl ResultTable {
    /// A table of `columns`, with metadata from `context`.
    pub(crate) fn new(name: &'static str, columns: Vec<Column>, context: &RunContext) -> Self {
        let rows = columns.first().map_or(0, |column| column.data.len());
        for column in &columns {
            assert_eq!(column.data.len(), rows, "table {name}, column {}", column.name());
        }
        let metadata = metadata(&columns, context);
        Self { name, columns, metadata }
    }

    /// Number of rows in the table.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// The column `name`; `None` when the table has no such column.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }
}

fn metadata(columns: &[Column], context: &RunContext) -> Vec<(String, String)> {
    let mut entries = vec![
        ("scenario".to_owned(), context.scenario_text.clone()),
        ("results_schema".to_owned(), crate::RESULTS_SCHEMA.to_string()),
        ("semantics".to_owned(), context.semantics.to_string()),
        ("code".to_owned(), context.code.clone()),
    ];
    for column in columns {
        let Column { name, unit, text, .. } = column;
        entries.push((format!("column.{name}.unit"), unit.to_string()));
        entries.push((format!("column.{name}.definition"), text.to_string()));
    }
    entries.push((arrow::KEY.to_owned(), arrow::schema(columns)));
    entries
}
