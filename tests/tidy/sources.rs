//! The repository's files, and Rust sources without their comments and texts.

use std::fs;
use std::path::Path;

/// A text file of the repository.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path from the root, with `/`.
    pub path: String,
    pub text: String,
    /// As `text`, with comments, texts and characters blanked; lines stay where they are.
    pub code: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), code: blank(text) }
    }

    /// File name without its folder.
    pub fn file(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Folder without a `/` at its end.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

/// Folders that are made, not written; in a second working tree `.git` is a file.
const MADE: [&str; 4] = [".git", "target", "artifacts", "vendor"];

/// Every text file below `root`, in order of path.
pub fn read_all(root: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    walk(root, "", &mut sources);
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

fn walk(folder: &Path, path: &str, sources: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    for entry in entries {
        let entry = entry.expect("a folder's entry can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let inner = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        // What a link leads to is read where it is.
        // `crates/results` is source code; what runs write is a folder of this name at the root.
        if MADE.contains(&name.as_str()) || inner == "results" || entry.path().is_symlink() {
            continue;
        }
        if entry.path().is_dir() {
            walk(&entry.path(), &inner, sources);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            let code = if name.ends_with(".rs") { blank(&text) } else { String::new() };
            sources.push(Source { path: inner, text, code });
        }
    }
}

/// `text` with everything in comments and quotes replaced by blanks.
pub fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match skipped(&chars, at) {
            0 => {
                code.push(chars[at]);
                at += 1;
                continue;
            }
            length => at + length,
        };
        code.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    code
}

/// Characters of the comment, text or character that begins at `at`; 0 for code.
fn skipped(chars: &[char], at: usize) -> usize {
    let rest = &chars[at..];
    let until = |from: usize, is_end: &dyn Fn(usize) -> bool| {
        (from..rest.len()).find(|i| is_end(*i)).map_or(rest.len(), |i| i + 1)
    };
    match rest {
        ['/', '/', ..] => until(2, &|i| rest[i] == '\n') - 1,
        ['/', '*', ..] => until(3, &|i| rest[i] == '/' && rest[i - 1] == '*'),
        ['"', ..] => quoted(rest),
        ['r', '"' | '#', ..] if at == 0 || !is_word(chars[at - 1]) => raw(rest),
        ['\'', '\\', ..] => until(3, &|i| rest[i] == '\''),
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

fn quoted(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

fn raw(rest: &[char]) -> usize {
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let closes = |i: usize| {
        rest[i] == '"' && rest[i + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    (hashes + 2..rest.len()).find(|i| closes(*i)).map_or(rest.len(), |i| i + 1 + hashes)
}

/// Whether `c` can stand in a name.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Every place where `word` stands as a whole word in `code`.
pub fn places<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !code[..*at].ends_with(is_word) && !code[at + word.len()..].starts_with(is_word))
}

/// Line of the byte `at`, from 1.
pub fn line(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

/// What stands between the bracket at the start of `code` and its partner.
pub fn bracketed(code: &str) -> &str {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => {
                depth -= 1;
                if depth == 0 {
                    return &code[1..at];
                }
            }
            _ => {}
        }
    }
    ""
}
