//! A table as read back from its file.

use std::path::Path;

use super::build::shape;
use super::decode::TableFile;
use super::folder::{ALWAYS, Checksums, EVENTS, FolderFault};
use super::{Column, ColumnData, ResultTable};

/// The names of the tables in `dir`, in the order in which they are written.
///
/// # Errors
/// As [`super::read_run`].
pub fn table_names(dir: &Path) -> Result<Vec<&'static str>, FolderFault> {
    let sums = Checksums::read(dir)?;
    Ok(ALWAYS.into_iter().chain([EVENTS]).filter(|name| sums.files.contains_key(name)).collect())
}

/// The table `name` of the folder `dir`, of one run or merged of many.
///
/// # Errors
/// As [`super::read_run`].
pub fn read_table(dir: &Path, name: &'static str) -> Result<ResultTable, FolderFault> {
    let file = Checksums::read(dir)?.open(dir, name)?;
    let shape = shape(name);
    let columns = shape.columns.iter().map(|column| read_column(&file, column));
    let metadata = file.entries().iter();
    let metadata = metadata.map(|entry| (entry.key.clone(), entry.value.clone().unwrap_or_default()));
    Ok(ResultTable { name, columns: columns.collect::<Result<_, _>>()?, metadata: metadata.collect() })
}

fn read_column(file: &TableFile, like: &Column) -> Result<Column, FolderFault> {
    let name = like.name();
    let (data, present) = match &like.data {
        ColumnData::Bool(_) => split(file.bool(name)?, ColumnData::Bool),
        ColumnData::U32(_) => split(file.maybe_u32(name)?, ColumnData::U32),
        ColumnData::U64(_) => split(file.maybe_u64(name)?, ColumnData::U64),
        ColumnData::F32(_) => split(file.f32(name, Some)?, ColumnData::F32),
        ColumnData::F64(_) => split(file.f64(name, Some)?, ColumnData::F64),
        ColumnData::Text { .. } => split(file.maybe_text(name)?, text),
    };
    let present = like.present.is_some().then_some(present);
    Ok(Column { data, present, ..like.clone() })
}

/// Values, with a default for missing ones, and their presence.
fn split<T: Default>(values: Vec<Option<T>>, data: impl Fn(Vec<T>) -> ColumnData) -> (ColumnData, Vec<bool>) {
    let present = values.iter().map(Option::is_some).collect();
    (data(values.into_iter().map(Option::unwrap_or_default).collect()), present)
}

fn text(values: Vec<String>) -> ColumnData {
    let index = (0..values.len() as u32).collect();
    ColumnData::Text { names: values, index }
}
