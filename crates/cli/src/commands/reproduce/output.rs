//! The folder of a paper's results, all of whose files are replaced.

use std::fs;
use std::path::{Component, Path};

use super::SOURCE;
use crate::exit::Failure;
use crate::page::COMMAND;
use crate::results::{cannot, replace_files};
use crate::store::Store;

/// File with the names of all files that the command has written, one a line.
const LIST: &str = "files.txt";

/// Refuses a folder with files that no reproduction has written, which results could overwrite.
pub(super) fn check_folder(folder: &Path) -> Result<(), Failure> {
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if is_empty || [SOURCE, COMMAND].iter().any(|name| folder.join(name).is_file()) {
        return Ok(());
    }
    Err(Failure::error(format!(
        "{} has files that are not results of a paper, and would be overwritten; --out DIR writes the results elsewhere",
        folder.display()
    )))
}

/// Writes `files`, name and content of each, and removes those of an earlier run that are not among them.
pub(super) fn write_files(
    folder: &Path,
    mut files: Vec<(String, String)>,
    store: &Store,
) -> Result<(), Failure> {
    let mut names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    names.push(LIST.to_owned());
    files.push((LIST.to_owned(), names.join("\n") + "\n"));
    let earlier = fs::read_to_string(folder.join(LIST)).unwrap_or_default();
    // Written beside the results and then moved, so that an interruption or a full disk leaves the old results whole.
    let new = store.temporary();
    let written = files.iter().try_for_each(|(name, content)| {
        let path = new.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, content)).map_err(|why| cannot("write", &path, &why))
    });
    // The first error is the one to report.
    written.inspect_err(|_| _ = fs::remove_dir_all(&new))?;
    replace_files(&new, folder)?;
    for name in earlier
        .lines()
        .filter(|name| is_inside(name) && !names.iter().any(|new| new.eq_ignore_ascii_case(name)))
    {
        let path = folder.join(name);
        if path.is_file() {
            fs::remove_file(&path).map_err(|why| cannot("remove", &path, &why))?;
        }
    }
    Ok(())
}

/// Whether a name in the list, which may come from others, is one of a file in the folder.
fn is_inside(name: &str) -> bool {
    Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}
