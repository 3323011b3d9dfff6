//! Parquet by the low-level column writers: from typed slices to Snappy, without work per row.
//!
//! Integers are delta-encoded: sampled indices and counters shrink to almost nothing before they
//! reach the compressor. Texts use a dictionary.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::{Column, ColumnData, ResultTable};

/// Maximum number of rows in a row group.
const ROWS_PER_GROUP: usize = 1 << 20;
/// Number of rows converted at a time; small enough to stay in the processor's cache.
const ROWS_PER_BATCH: usize = 1 << 14;

/// Reason why a Parquet file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("table {table}: {cause}")]
pub struct ParquetFault {
    /// Table that was being written.
    pub table: &'static str,
    /// Cause of the error, usually an error of the underlying output.
    #[source]
    pub cause: ParquetError,
}

impl ResultTable {
    /// Writes the table as one Parquet file.
    ///
    /// # Errors
    /// Those of `out`, as the writer reports them.
    pub fn write_parquet(&self, out: impl Write + Send) -> std::result::Result<(), ParquetFault> {
        self.write(out).map_err(|cause| ParquetFault { table: self.name, cause })
    }

    fn write(&self, out: impl Write + Send) -> Result<()> {
        let mut file =
            SerializedFileWriter::new(out, Arc::new(self.schema()?), Arc::new(self.properties()?))?;
        for start in (0..self.rows()).step_by(ROWS_PER_GROUP) {
            let rows = start..self.rows().min(start + ROWS_PER_GROUP);
            let mut group = file.next_row_group()?;
            for column in &self.columns {
                let Some(mut writer) = group.next_column()? else {
                    return Err(ParquetError::General(format!("no writer for column {}", column.name())));
                };
                write_column(&mut writer, column, rows.clone())?;
                writer.close()?;
            }
            group.close()?;
        }
        file.close()?;
        Ok(())
    }

    pub(super) fn schema(&self) -> Result<Type> {
        let fields: Result<Vec<_>> = self.columns.iter().map(|column| field(column).map(Arc::new)).collect();
        Type::group_type_builder("schema").with_fields(fields?).build()
    }

    pub(super) fn properties(&self) -> Result<WriterProperties> {
        let entries = self.metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        let mut builder = WriterProperties::builder()
            .set_created_by(concat!("tidegate ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(entries.collect()));
        for column in &self.columns {
            let path = ColumnPath::from(column.name());
            builder = match &column.data {
                ColumnData::U32(_) | ColumnData::U64(_) => {
                    builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
                }
                ColumnData::Text { .. } => builder.set_column_dictionary_enabled(path, true),
                ColumnData::F32(_) | ColumnData::F64(_) | ColumnData::Bool(_) => builder,
            };
        }
        Ok(builder.build())
    }
}

fn field(column: &Column) -> Result<Type> {
    let (physical, logical) = match &column.data {
        ColumnData::Bool(_) => (PhysicalType::BOOLEAN, None),
        ColumnData::U32(_) => (PhysicalType::INT32, Some(LogicalType::integer(32, false))),
        ColumnData::U64(_) => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
        ColumnData::F32(_) => (PhysicalType::FLOAT, None),
        ColumnData::F64(_) => (PhysicalType::DOUBLE, None),
        ColumnData::Text { .. } => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = if column.present.is_some() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(column.name(), physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}

fn write_column(writer: &mut SerializedColumnWriter<'_>, column: &Column, rows: Range<usize>) -> Result<()> {
    let present = column.present.as_deref();
    match &column.data {
        ColumnData::Bool(values) => {
            write_values::<BoolType, _>(writer, values, present, rows, |value| *value)
        }
        // Parquet stores unsigned integers in the bits of signed ones.
        ColumnData::U32(values) => {
            write_values::<Int32Type, _>(writer, values, present, rows, |value| value.cast_signed())
        }
        ColumnData::U64(values) => {
            write_values::<Int64Type, _>(writer, values, present, rows, |value| value.cast_signed())
        }
        ColumnData::F32(values) => {
            write_values::<FloatType, _>(writer, values, present, rows, |value| *value)
        }
        ColumnData::F64(values) => {
            write_values::<DoubleType, _>(writer, values, present, rows, |value| *value)
        }
        ColumnData::Text { names, index } => {
            let names: Vec<ByteArray> = names.iter().map(|name| ByteArray::from(name.as_str())).collect();
            let name = |index: &u32| names[*index as usize].clone();
            write_values::<ByteArrayType, _>(writer, index, present, rows, name)
        }
    }
}

/// Writes `rows` of a column batch by batch, each value converted by `convert` into a reused buffer.
fn write_values<T: DataType, V>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[V],
    present: Option<&[bool]>,
    rows: Range<usize>,
    convert: impl Fn(&V) -> T::T,
) -> Result<()> {
    let writer = writer.typed::<T>();
    let mut batch: Vec<T::T> = Vec::with_capacity(ROWS_PER_BATCH);
    let mut levels: Vec<i16> = Vec::new();
    for start in rows.clone().step_by(ROWS_PER_BATCH) {
        let range = start..rows.end.min(start + ROWS_PER_BATCH);
        batch.clear();
        levels.clear();
        let Some(present) = present else {
            batch.extend(values[range].iter().map(&convert));
            writer.write_batch(&batch, None, None)?;
            continue;
        };
        let present = &present[range.clone()];
        levels.extend(present.iter().map(|is_present| i16::from(*is_present)));
        let kept = values[range].iter().zip(present).filter(|(_, is_present)| **is_present);
        batch.extend(kept.map(|(value, _)| convert(value)));
        writer.write_batch(&batch, Some(&levels), None)?;
    }
    Ok(())
}
