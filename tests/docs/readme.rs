//! What the README and the book promise beyond their commands: a first example without warnings, tests for every row of what
//! was checked, a manifest for a scheme of one's own.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::blocks::{Block, blocks};
use crate::made::remake;
use crate::{root, sources};
use support::program::{Scratch, tidegate};

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The first `toml` block of `page` that begins with `start`.
fn toml_block(page: &str, start: &str) -> String {
    let is_it = |block: &Block| block.info == "toml" && block.text.starts_with(start);
    blocks(page).into_iter().find(is_it).unwrap_or_else(|| panic!("no toml block begins with {start:?}")).text
}

#[test]
fn the_first_example_of_the_readme_has_no_warning_and_shows_intervals() {
    let scratch = Scratch::new("first-example");
    let example = toml_block(&text(&root().join("README.md")), "format = 1\n");
    let file = scratch.file("first.toml", example.as_bytes());
    let checked = tidegate(&["check", &file, "--strict"]).with(0);
    assert!(!checked.out.contains("warning") && checked.err.is_empty(), "{}{}", checked.out, checked.err);
    let ran = tidegate(&["run", &file, "--quiet", "--out", scratch.path()]).with(0);
    let flows: Vec<&str> = ran.out.lines().filter(|line| line.starts_with(['c'])).collect();
    assert!(flows.len() == 2 && flows.iter().all(|row| row.contains(" ± ")), "{}", ran.out);
}

#[test]
fn every_file_of_a_run_is_listed_under_results_on_disk() {
    let scratch = Scratch::new("on-disk");
    let run =
        ["run", "scenarios/examples/loss.toml", "--seeds", "1", "--set", "scenario.duration=1s", "--quiet"];
    tidegate(&[&run[..], &["--out", scratch.path()]].concat()).with(0);
    let folders = fs::read_dir(scratch.path()).expect("readable").flatten();
    let files: Vec<String> = folders
        .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(files.len() > 10, "{files:?}");
    let page = text(&root().join("ARCHITECTURE.md"));
    let (_, rest) = page.split_once("## Results on disk").expect("a section");
    let listed = rest.split("```").nth(1).expect("a list");
    let missing: Vec<&String> = files.iter().filter(|file| !listed.contains(file.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_readme_is_short_and_its_picture_is_small() {
    // Made tables grow with the catalogue.
    let own = remake(&text(&root().join("README.md")), |_| String::new()).expect("made parts have ends");
    let lines = own.lines().count();
    assert!(lines <= 125, "{lines} lines without its tables");
    let bytes = fs::metadata(root().join("docs/page.png")).expect("there is a picture").len();
    assert!(bytes <= 150_000, "{bytes} bytes");
}

#[test]
fn the_readme_has_a_picture_what_to_install_each_first_command_and_where_to_read_on() {
    let readme = text(&root().join("README.md"));
    let commands: Vec<String> =
        blocks(&readme).into_iter().filter(|block| block.info == "sh").map(|block| block.text).collect();
    let commands = commands.concat();
    for command in ["new", "check", "run", "compare", "forward", "serve", "fetch"] {
        let start = format!("tidegate {command} ");
        assert!(commands.lines().any(|line| line.starts_with(&start)), "no command begins with {start:?}");
    }
    for part in [
        // A picture of an older schema is made again by docs/picture.
        &format!(" (results schema {})](docs/page.png)", tidegate_results::RESULTS_SCHEMA),
        "`cargo install ",
        "](docs/book/src/install.md)",
        "<!-- made: papers -->",
        "](docs/book/src/SUMMARY.md)",
    ] {
        assert!(readme.contains(part), "no {part:?}");
    }
}

/// Tests that a page names as `` `path/to/file.rs::name` ``.
fn named_tests(page: &str) -> Vec<(&str, &str)> {
    page.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(".rs::")).collect()
}

/// What the page says of one table: the numbers of its rows, and the tests that the list below it names for each.
#[derive(Default)]
struct Checked<'a> {
    rows: Vec<usize>,
    tests: BTreeMap<usize, Vec<(&'a str, &'a str)>>,
}

/// The tables of what was checked against what.
fn checked(page: &str) -> Vec<Checked<'_>> {
    let mut tables: Vec<Checked<'_>> = Vec::new();
    let mut item = 0;
    for line in page.lines() {
        if line.starts_with('|') && line.contains("| checked against |") {
            tables.push(Checked::default());
            item = 0;
        }
        let Some(table) = tables.last_mut() else { continue };
        if let Some(row) = line.strip_prefix("| ") {
            table.rows.extend(row.split(' ').next().and_then(|cell| cell.parse::<usize>().ok()));
        }
        let number = line.split_once(". `").and_then(|(number, _)| number.parse().ok());
        item = number.unwrap_or(if line.starts_with("   ") { item } else { 0 });
        if item > 0 {
            table.tests.entry(item).or_default().extend(named_tests(line));
        }
    }
    tables
}

#[test]
fn every_row_of_the_page_on_accuracy_names_tests_that_are_there() {
    let page = text(&sources().join("accuracy.md"));
    let tables = checked(&page);
    let rows: Vec<usize> = tables.iter().map(|table| table.rows.len()).collect();
    assert!(rows.len() == 3 && rows.iter().all(|count| *count >= 3), "{rows:?}");
    for Checked { rows, tests } in &tables {
        assert!(rows.iter().copied().eq(1..=rows.len()), "rows are numbered: {rows:?}");
        assert!(tests.keys().eq(rows), "rows {rows:?}, tests {tests:#?}");
        assert!(tests.values().all(|tests| !tests.is_empty()), "{tests:#?}");
    }
    let is_missing = |(file, name): &&(&str, &str)| {
        let source = fs::read_to_string(root().join(format!("{file}.rs"))).unwrap_or_default();
        !source.contains(&format!("#[test]\nfn {name}("))
    };
    let missing: Vec<_> =
        tables.iter().flat_map(|table| table.tests.values()).flatten().filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    assert_eq!(named_tests("`a/b.rs::c` and `d` and `e.rs::f`"), [("a/b", "c"), ("e", "f")]);
}

#[test]
fn the_manifest_of_an_outside_scheme_has_what_the_scheme_imports() {
    let scratch = Scratch::new("outside");
    let page = text(&sources().join("add-a-scheme.md"));
    let repository = root().to_str().expect("a path in UTF-8");
    let manifest = toml_block(&page, "[package]\n").replace("\"../tidegate", &format!("\"{repository}"));
    // The folder lies below the repository, of whose workspace it is no part.
    scratch.file("Cargo.toml", (manifest + "[workspace]\n").as_bytes());
    scratch.file("Cargo.lock", text(&root().join("Cargo.lock")).as_bytes());
    fs::create_dir(scratch.0.join("src")).expect("the folder can be written");
    let scheme = text(&root().join("examples/halving/src/main.rs"));
    fs::write(scratch.0.join("src/main.rs"), &scheme).expect("the folder can be written");
    let tree = cargo(&scratch, &["tree", "--offline", "--depth", "1", "--prefix", "none"]);
    for import in scheme.lines().filter_map(|line| line.strip_prefix("use tidegate")) {
        let name = format!("tidegate{}", import.split("::").next().unwrap_or_default()).replace('_', "-");
        assert!(tree.lines().any(|line| line.starts_with(&format!("{name} v"))), "{name} is not in\n{tree}");
    }
    assert!(tree.starts_with("halving v0.1.0") && tree.contains("\ntidegate v"), "{tree}");
    // A whole build, which takes minutes, is for the long checks.
    if std::env::var_os("TIDEGATE_FULL").is_some() {
        let target = root().join("target/outside");
        cargo(&scratch, &["check", "--offline", "--target-dir", target.to_str().expect("a path in UTF-8")]);
    }
}

/// What Cargo prints in the folder.
fn cargo(scratch: &Scratch, arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(&scratch.0).output().expect("cargo runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
