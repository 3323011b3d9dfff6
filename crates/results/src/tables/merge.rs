//! Merges the tables of the parts of a batch, by copying column chunks unchanged.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::FileReader;
use parquet::file::writer::SerializedFileWriter;

use super::build::shape;
use super::decode::TableFile;
use super::folder::{ALWAYS, Checksums, EVENTS, FolderFault, Summed, table_path};

/// Joins the folders `parts`, in their order, into the tables of the whole batch in the folder `out`.
///
/// Every part's row groups are copied without decoding, so memory does not grow with the samples and the
/// bytes depend on the parts alone, not on when or where those were written. The metadata are the parts'.
/// `events` is written when a part has events. Other files in `out` stay; while the tables in it are being
/// replaced it counts as unfinished.
///
/// # Errors
/// The part's file, and what is wrong with it, when a part is unfinished, damaged, or differs from the first
/// in its metadata (another scenario or semantics); `out` when `parts` is empty or the system refuses to
/// write. The tables in `out` stay as they were when a part is refused.
pub fn merge(parts: &[PathBuf], out: &Path) -> std::result::Result<(), FolderFault> {
    if parts.is_empty() {
        return Err(FolderFault::content(out, "has no parts to be merged from; expected at least one"));
    }
    let sums = parts.iter().map(|part| Checksums::read(part)).collect::<std::result::Result<Vec<_>, _>>()?;
    fs::create_dir_all(out).map_err(FolderFault::io(out))?;
    let has_events = sums.iter().any(|sums| sums.files.contains_key(EVENTS));
    let names: Vec<&'static str> = ALWAYS.into_iter().chain(has_events.then_some(EVENTS)).collect();
    let mut merged = Checksums::default();
    let written = names.iter().try_for_each(|name| {
        let of_name = parts.iter().zip(&sums).filter(|(_, sums)| sums.files.contains_key(name));
        let path = unfinished_path(out, name);
        let file = File::create(&path).map_err(FolderFault::io(&path))?;
        let mut file = BufWriter::new(Summed::new(file));
        merge_table(name, of_name, &path, &mut file)?;
        let file = file.into_inner().map_err(|fault| FolderFault::io(&path)(fault.into_error()))?;
        merged.files.insert(name, file.sum);
        Ok(())
    });
    if let Err(fault) = written {
        // The fault matters more than what is left of the attempt.
        names.iter().for_each(|name| drop(fs::remove_file(unfinished_path(out, name))));
        return Err(fault);
    }
    // From here to `write` the tables are partly old and partly new.
    Checksums::remove(out)?;
    for name in names {
        let path = table_path(out, name);
        fs::rename(unfinished_path(out, name), &path).map_err(FolderFault::io(&path))?;
    }
    // Events of an earlier batch in `out` would seem to belong to this one.
    let stale = table_path(out, EVENTS);
    if !has_events && stale.exists() {
        fs::remove_file(&stale).map_err(FolderFault::io(&stale))?;
    }
    merged.write(out)
}

fn unfinished_path(out: &Path, name: &str) -> PathBuf {
    out.join(format!("{name}.parquet.part"))
}

fn merge_table<'a>(
    name: &'static str,
    parts: impl Iterator<Item = (&'a PathBuf, &'a Checksums)>,
    path: &Path,
    out: impl Write + Send,
) -> std::result::Result<(), FolderFault> {
    let unwritten = |cause| FolderFault::content(path, format!("cannot be written: {cause}"));
    let mut out = Some(out);
    let mut file: Option<SerializedFileWriter<_>> = None;
    let mut entries: Vec<KeyValue> = Vec::new();
    for (dir, sums) in parts {
        let part = sums.open(dir, name)?;
        if let Some(out) = out.take() {
            entries = part.entries().to_vec();
            file = Some(start(name, &entries, out).map_err(unwritten)?);
        }
        if let Some(other) = differing(&entries, part.entries()) {
            return Err(part.fault(format!("its metadata {other:?} differs from the first part's")));
        }
        if let Some(file) = &mut file {
            append(file, &part).map_err(|cause| part.fault(format!("cannot be copied: {cause}")))?;
        }
    }
    file.map_or(Ok(()), |file| file.close().map(drop).map_err(unwritten))
}

fn start<W: Write + Send>(
    name: &'static str,
    entries: &[KeyValue],
    out: W,
) -> Result<SerializedFileWriter<W>> {
    let mut shape = shape(name);
    shape.metadata =
        entries.iter().map(|entry| (entry.key.clone(), entry.value.clone().unwrap_or_default())).collect();
    SerializedFileWriter::new(out, Arc::new(shape.schema()?), Arc::new(shape.properties()?))
}

/// Key of the first entry in which two files' metadata differ.
fn differing(expected: &[KeyValue], found: &[KeyValue]) -> Option<String> {
    let pair = expected.iter().zip(found).find(|(expected, found)| expected != found);
    let longer = if expected.len() > found.len() { expected } else { found };
    let rest = longer.get(expected.len().min(found.len()));
    pair.map(|(_, found)| found).or(rest).map(|entry| entry.key.clone())
}

fn append<W: Write + Send>(file: &mut SerializedFileWriter<W>, part: &TableFile) -> Result<()> {
    let source = File::open(&part.path)?;
    for group in part.reader.metadata().row_groups() {
        let mut copy = file.next_row_group()?;
        for chunk in group.columns() {
            let chunk = ColumnCloseResult {
                bytes_written: chunk.compressed_size().unsigned_abs(),
                rows_written: group.num_rows().unsigned_abs(),
                metadata: chunk.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            copy.append_column(&source, chunk)?;
        }
        copy.close()?;
    }
    Ok(())
}
