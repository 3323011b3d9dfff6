//! Texts on record: the course of a scheme, in whole packets and few digits, reviewed once and compared by every test run.
//!
//! With `UPDATE_GOLDEN=1` in the environment the texts are written in place of being compared. Review the difference
//! before you commit it.

use std::fs;
use std::path::PathBuf;

/// Texts on record below one folder, and the differences found so far.
#[derive(Debug)]
pub struct Golden {
    root: PathBuf,
    updates: bool,
    differences: Vec<String>,
}

impl Golden {
    /// The texts below the folder `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let updates = std::env::var_os("UPDATE_GOLDEN").is_some();
        Self { root: root.into(), updates, differences: Vec::new() }
    }

    /// Compares `now` with the text in `file`, a path below the root, or writes it there. A missing file counts as an
    /// empty text.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn compare(&mut self, file: &str, now: &str) {
        let path = self.root.join(file);
        if self.updates {
            fs::create_dir_all(path.parent().expect("a file lies in a folder"))
                .expect("the folder is writable");
            fs::write(&path, now).expect("the golden text is writable");
            return;
        }
        let recorded = fs::read_to_string(&path).unwrap_or_default();
        self.differences.extend(first_difference(&recorded, now).map(|line| format!("{file}: {line}")));
    }

    /// Ends the comparison.
    ///
    /// # Panics
    /// If a text differs from its record; the message has the first differing line of each.
    #[track_caller]
    pub fn finish(self) {
        assert!(
            self.differences.is_empty(),
            "{:#?}\nreview, then set UPDATE_GOLDEN=1 and run the test again",
            self.differences
        );
    }
}

/// The first line in which two texts differ, in words; `None` if there is none.
pub fn first_difference(recorded: &str, now: &str) -> Option<String> {
    if recorded == now {
        return None;
    }
    let (mut old, mut new) = (recorded.lines(), now.lines());
    (1..).find_map(|number| match (old.next(), new.next()) {
        (None, None) => Some("the ends of lines differ".to_owned()),
        (old, new) if old != new => Some(format!("line {number}: recorded {old:?}, now {new:?}")),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(updates: bool) -> Golden {
        let root = std::env::temp_dir().join(format!("tidegate-testkit-{}", std::process::id()));
        Golden { root, updates, differences: Vec::new() }
    }

    #[test]
    fn a_text_is_recorded_once_and_compared_afterwards() {
        golden(true).compare("a/b.txt", "1\n2\n");
        let mut again = golden(false);
        again.compare("a/b.txt", "1\n2\n");
        assert_eq!(again.differences, Vec::<String>::new());
        again.compare("a/b.txt", "1\n3\n");
        again.compare("a/missing.txt", "1\n");
        assert_eq!(
            again.differences,
            [
                "a/b.txt: line 2: recorded Some(\"2\"), now Some(\"3\")",
                "a/missing.txt: line 1: recorded None, now Some(\"1\")"
            ]
        );
        fs::remove_dir_all(again.root).expect("the folder is ours");
    }

    #[test]
    fn a_line_end_is_a_difference() {
        assert_eq!(first_difference("1\n", "1\r\n"), Some("the ends of lines differ".to_owned()));
        assert_eq!(first_difference("1\n", "1"), Some("the ends of lines differ".to_owned()));
    }
}
