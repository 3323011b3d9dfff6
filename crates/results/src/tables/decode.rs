//! One table's Parquet file, checked against the table's shape before any column is decoded.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use parquet::basic::Compression;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::build::shape;
use super::folder::FolderFault;

/// Number of rows decoded at a time.
const ROWS_PER_BATCH: usize = 1 << 14;

/// An open file whose columns, types, row counts and offsets are those of its table.
///
/// The decoder asserts part of what is checked here. Inside the pages it also panics on some damage (a
/// dictionary page that became something else, lengths beyond the page), which the checksum taken before opening detects; of a
/// forged file with the right checksum [`decoded`] makes an error.
pub(super) struct TableFile {
    pub(super) path: PathBuf,
    pub(super) reader: SerializedFileReader<File>,
}

impl TableFile {
    pub(super) fn open(path: PathBuf, name: &'static str) -> Result<Self, FolderFault> {
        let file = File::open(&path).map_err(FolderFault::io(&path))?;
        let length = file.metadata().map_err(FolderFault::io(&path))?.len();
        let reader = decoded(|| SerializedFileReader::new(file))
            .map_err(|cause| FolderFault::content(&path, format!("is not a Parquet file: {cause}")))?;
        let table = Self { path, reader };
        let schema = shape(name).schema().map_err(|cause| table.damaged(&cause))?;
        // The columns are compared before the version, as a file of another program has no version to name.
        if table.reader.metadata().file_metadata().schema().get_fields() != schema.get_fields() {
            return Err(table.fault(format!("its columns are not those of the table {name:?}")));
        }
        let version = table.metadata("results_schema")?;
        if version != crate::RESULTS_SCHEMA.to_string() {
            let expected = crate::RESULTS_SCHEMA;
            return Err(table.fault(format!("has results_schema {version:?}; expected {expected}")));
        }
        let groups = table.reader.metadata().row_groups();
        // Numbers of a damaged file may overflow 64 bits when added.
        let rows: i128 = groups.iter().map(|group| i128::from(group.num_rows())).sum();
        if rows != i128::from(table.reader.metadata().file_metadata().num_rows())
            || !groups.iter().all(|group| is_plausible(group, schema.get_fields().len(), length))
        {
            return Err(table.fault("its row groups contradict the file".to_owned()));
        }
        let mut chunks = groups.iter().flat_map(RowGroupMetaData::columns);
        if let Some(chunk) = chunks.find(|chunk| chunk.compression() != Compression::SNAPPY) {
            let version = match chunk.compression() {
                Compression::ZSTD(_) => ", as up to version 0.2.0",
                _ => "",
            };
            let codec = chunk.compression().to_string();
            let codec = codec.split('(').next().unwrap_or_default();
            return Err(table.fault(format!(
                "is compressed with {codec}{version}; expected SNAPPY: run the scenario again"
            )));
        }
        Ok(table)
    }

    pub(super) fn fault(&self, problem: String) -> FolderFault {
        FolderFault::content(&self.path, problem)
    }

    pub(super) fn damaged(&self, cause: &ParquetError) -> FolderFault {
        self.fault(format!("is damaged: {cause}"))
    }

    pub(super) fn rows(&self) -> usize {
        self.reader.metadata().row_groups().iter().map(|group| group.num_rows() as usize).sum()
    }

    /// Key-value metadata of the file.
    pub(super) fn entries(&self) -> &[KeyValue] {
        self.reader.metadata().file_metadata().key_value_metadata().map_or(&[], Vec::as_slice)
    }

    /// The metadata value of `key`.
    pub(super) fn metadata(&self, key: &str) -> Result<&str, FolderFault> {
        let entry = self.entries().iter().find(|entry| entry.key == key);
        let value = entry.and_then(|entry| entry.value.as_deref());
        value.ok_or_else(|| self.fault(format!("has no metadata {key:?}")))
    }

    pub(super) fn u32(&self, column: &str) -> Result<Vec<u32>, FolderFault> {
        self.column::<Int32Type, _>(column, |value| value.map(i32::cast_unsigned))
    }

    pub(super) fn u64(&self, column: &str) -> Result<Vec<u64>, FolderFault> {
        self.column::<Int64Type, _>(column, |value| value.map(i64::cast_unsigned))
    }

    pub(super) fn maybe_u32(&self, column: &str) -> Result<Vec<Option<u32>>, FolderFault> {
        self.column::<Int32Type, _>(column, |value| Some(value.map(i32::cast_unsigned)))
    }

    pub(super) fn bool(&self, column: &str) -> Result<Vec<Option<bool>>, FolderFault> {
        self.column::<BoolType, _>(column, Some)
    }

    pub(super) fn maybe_text(&self, column: &str) -> Result<Vec<Option<String>>, FolderFault> {
        self.column::<ByteArrayType, _>(column, |value| match value {
            None => Some(None),
            Some(text) => text.as_utf8().ok().map(|text| Some(text.to_owned())),
        })
    }

    pub(super) fn maybe_u64(&self, column: &str) -> Result<Vec<Option<u64>>, FolderFault> {
        self.column::<Int64Type, _>(column, |value| Some(value.map(i64::cast_unsigned)))
    }

    pub(super) fn text(&self, column: &str) -> Result<Vec<String>, FolderFault> {
        self.column::<ByteArrayType, _>(column, |value| Some(value?.as_utf8().ok()?.to_owned()))
    }

    /// The numbers in a column, missing or not, each passed through `convert`; see [`TableFile::column`].
    pub(super) fn f64<V>(
        &self,
        column: &str,
        convert: impl Fn(Option<f64>) -> Option<V>,
    ) -> Result<Vec<V>, FolderFault> {
        self.column::<DoubleType, _>(column, convert)
    }

    /// As [`TableFile::f64`], for a column of single-precision numbers.
    pub(super) fn f32<V>(
        &self,
        column: &str,
        convert: impl Fn(Option<f32>) -> Option<V>,
    ) -> Result<Vec<V>, FolderFault> {
        self.column::<FloatType, _>(column, convert)
    }

    /// All values of `column`; `convert` receives `None` for a missing one and returns `None` for an invalid one.
    fn column<T: DataType, V>(
        &self,
        column: &str,
        convert: impl Fn(Option<T::T>) -> Option<V>,
    ) -> Result<Vec<V>, FolderFault> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let position = schema.columns().iter().position(|other| other.name() == column);
        let Some(position) =
            position.filter(|at| schema.column(*at).physical_type() == T::get_physical_type())
        else {
            return Err(self.fault(format!("has no column {column:?} of the type read")));
        };
        let can_miss = schema.column(position).max_def_level() > 0;
        let mut found = Vec::new();
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|cause| self.damaged(&cause))?;
            let reader = decoded(|| group.get_column_reader(position));
            let reader = reader.map_err(|cause| self.damaged(&cause))?;
            let mut reader = get_typed_column_reader::<T>(reader);
            let mut left = group.metadata().num_rows() as usize;
            while left > 0 {
                values.clear();
                levels.clear();
                let levels_out = can_miss.then_some(&mut levels);
                let batch = left.min(ROWS_PER_BATCH);
                let (rows, ..) = decoded(|| reader.read_records(batch, levels_out, None, &mut values))
                    .map_err(|cause| self.damaged(&cause))?;
                // The decoder returns nothing at the end of a truncated chunk; the loop would not end.
                if rows == 0 {
                    return Err(self.fault(format!("column {column:?} ends {left} rows too early")));
                }
                left -= rows;
                let mut present = values.drain(..);
                for row in 0..rows {
                    let is_present = levels.get(row).is_none_or(|level| *level > 0);
                    let value = if is_present { present.next() } else { None };
                    let Some(value) = convert(value) else {
                        let row = found.len();
                        return Err(
                            self.fault(format!("column {column:?}: row {row} has an impossible value"))
                        );
                    };
                    found.push(value);
                }
            }
        }
        Ok(found)
    }
}

/// What `call` of the decoder returns, with a panic as an error. What it has panicked in is not used again.
fn decoded<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let failed = || ParquetError::General("the decoder has failed".to_owned());
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err(failed()))
}

/// Whether the chunks of a row group are complete and inside a file of `length` bytes.
fn is_plausible(group: &RowGroupMetaData, columns: usize, length: u64) -> bool {
    let chunk_is_plausible = |chunk: &ColumnChunkMetaData| {
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let sizes = [start, chunk.data_page_offset() - start, chunk.compressed_size(), chunk.num_values()];
        sizes.iter().all(|size| *size >= 0)
            && start.unsigned_abs().saturating_add(chunk.compressed_size().unsigned_abs()) <= length
            && chunk.num_values() == group.num_rows()
    };
    group.num_rows() >= 0
        && group.columns().len() == columns
        && group.columns().iter().all(chunk_is_plausible)
}
