//! Parts of the documents that the program makes: tables of schemes, exit codes, measures, papers and crates.
//!
//! A part stands between `<!-- made: NAME -->` and `<!-- made: end -->`; `UPDATE_BOOK=1 cargo test --test docs made` writes
//! it anew. The words after the name of a part are its arguments.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use tidegate_papers::claims::Claims;
use tidegate_results::claims::{Claim, ClaimVerdict, Paper};
use tidegate_results::measures::find;

use crate::root;
use support::json::Value;
use support::program::tidegate;

const BEGIN: &str = "<!-- made: ";
const END: &str = "<!-- made: end -->";

/// A part: its name, and the function that makes its Markdown from the words after the name.
type Part = (&'static str, fn(&str) -> String);

const PARTS: [Part; 7] = [
    ("schemes", schemes),
    ("exit-codes", exit_codes),
    ("measures", measures),
    ("papers", papers),
    ("verdicts", verdicts),
    ("table", table),
    ("crates", crates),
];

/// The text with every part as `make` gives it.
///
/// # Errors
/// A part without an end.
pub fn remake(page: &str, mut make: impl FnMut(&str) -> String) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (part, after) = after.split_once(" -->").ok_or("a part without a name")?;
        let (_, after) = after.split_once(END).ok_or_else(|| format!("part {part:?} has no end"))?;
        // A table goes on to the next empty line in some readers of Markdown.
        text += &format!("{before}{BEGIN}{part} -->\n{}\n\n{END}", make(part).trim_end());
        rest = after;
    }
    Ok(text + rest)
}

/// What stands in the part called `part`.
fn make(part: &str) -> String {
    let (name, arguments) = part.split_once(' ').unwrap_or((part, ""));
    let known = PARTS.iter().find(|(known, _)| *known == name);
    let (_, of) =
        known.unwrap_or_else(|| panic!("no part is called {name:?}; known: {:?}", PARTS.map(|part| part.0)));
    of(arguments)
}

/// Every file that may have parts, by its path from the root.
fn documents() -> Vec<String> {
    let mut found: Vec<String> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned).into();
    found.extend(crate::pages().into_iter().map(|(name, _)| format!("docs/book/src/{name}")));
    found.extend(paper_names().iter().map(|paper| format!("docs/papers/{paper}.md")));
    found
}

/// The papers that have claims, in the order of the alphabet.
pub fn paper_names() -> Vec<String> {
    let folders = fs::read_dir(root().join("scenarios/papers")).expect("readable").flatten();
    let with_claims = folders.filter(|folder| folder.path().join("claims.toml").is_file());
    let mut names: Vec<String> =
        with_claims.map(|folder| folder.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The names of the catalogue by role.
fn schemes(_: &str) -> String {
    let catalogue = tidegate(&["schemes", "--format", "json"]).with(0).json();
    let roles = |scheme: &Value| {
        scheme.get("roles").list().iter().map(|role| role.text().to_owned()).collect::<Vec<_>>()
    };
    let mut by_role: Vec<(String, Vec<String>)> = Vec::new();
    for scheme in catalogue.list() {
        let name = format!("`{}`", scheme.get("name").text());
        for role in roles(scheme) {
            match by_role.iter_mut().find(|(known, _)| *known == role) {
                Some((_, names)) => names.push(name.clone()),
                None => by_role.push((role, vec![name.clone()])),
            }
        }
    }
    by_role.sort_by_key(|(role, names)| (std::cmp::Reverse(names.len()), role.clone()));
    let rows: String = by_role.iter().map(|(role, names)| row(&[role, &names.join(", ")])).collect();
    format!("| role | schemes |\n|---|---|\n{rows}")
}

fn exit_codes(_: &str) -> String {
    let listed = tidegate(&["docs", "--format", "json"]).with(0).json();
    let code = |exit: &Value| match exit.get("code") {
        Value::Number(code) => code.to_string(),
        other => panic!("{other:?} is no exit code"),
    };
    let rows =
        listed.get("exit_codes").list().iter().map(|exit| row(&[&code(exit), exit.get("meaning").text()]));
    format!("| code | meaning |\n|---|---|\n{}", rows.collect::<String>())
}

/// What `[expect]` takes, and what each measure is.
fn measures(_: &str) -> String {
    let row_of = |name: &&str| {
        let measure = find(name).unwrap_or_else(|| panic!("{name} is not in the catalogue of measures"));
        row(&[&format!("`{name}`"), measure.unit, measure.text])
    };
    let rows: String = tidegate_sim::plan::MEASURES.iter().map(row_of).collect();
    format!("| measure | unit | meaning |\n|---|---|---|\n{rows}")
}

fn claims_of(name: &str) -> Paper {
    let file = format!("scenarios/papers/{name}/claims.toml");
    let text = fs::read_to_string(root().join(&file)).unwrap_or_else(|why| panic!("{file}: {why}"));
    Claims::parse(&file, &text).unwrap_or_else(|why| panic!("{why}")).paper
}

/// How many of these claims have each recorded verdict, in the order of [`ClaimVerdict::ALL`].
fn recorded(claims: &[&Claim]) -> [usize; 4] {
    numbers(claims, |claim| claim.recorded)
}

fn numbers(claims: &[&Claim], of: impl Fn(&Claim) -> Option<ClaimVerdict>) -> [usize; 4] {
    ClaimVerdict::ALL.map(|verdict| claims.iter().filter(|claim| of(claim) == Some(verdict)).count())
}

/// The claims of the paper, and those that it does not make.
fn apart(paper: &Paper) -> (Vec<&Claim>, Vec<&Claim>) {
    paper.claims.iter().partition(|claim| !claim.is_ours)
}

/// One row for each paper.
fn papers(_: &str) -> String {
    let mut text =
        "| paper | its claims | agree | direction only | undecided | differ | claims of ours | more |\n\
                    |---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for name in paper_names() {
        let paper = claims_of(&name);
        let (its, ours) = apart(&paper);
        let [agree, direction, undecided, differ] = recorded(&its).map(|count| count.to_string());
        let title = format!("{} ({})", paper.title, paper.venue);
        let more = format!("[`{name}`](docs/papers/{name}.md)");
        let ours = match ours.len() {
            0 => "none".to_owned(),
            all => format!("{all}, {} agree", recorded(&ours)[0]),
        };
        text +=
            &row(&[&title, &its.len().to_string(), &agree, &direction, &undecided, &differ, &ours, &more]);
    }
    text
}

/// The recorded verdicts of one paper in a sentence or two.
fn verdicts(name: &str) -> String {
    let paper = claims_of(name);
    let (its, ours) = apart(&paper);
    let mut text =
        format!("Verdicts on record: {}", counted(&format!("of {} claims", its.len()), recorded(&its)));
    if its.iter().any(|claim| claim.recorded_full.is_some()) {
        let full = numbers(&its, |claim| claim.recorded_full.or(claim.recorded));
        text += &counted("; with the seeds of `--full`", full);
    }
    text += ".";
    assert_eq!(recorded(&its).iter().sum::<usize>(), its.len(), "{name}: claims without a recorded verdict");
    if ours.is_empty() {
        return text;
    }
    let head = format!(" Of {} more claims, which the paper does not make,", ours.len());
    text + &counted(&head, recorded(&ours)) + "."
}

/// The table of a record, `docs/papers/values/NAME.md`, whose title begins with the words after its name.
fn table(arguments: &str) -> String {
    let (name, title) = arguments.split_once(' ').expect("a record and a title");
    let record = crate::record::record(name);
    let mut parts = record.split("\n## ").skip(1).filter(|part| part.starts_with(title));
    let found = parts.next().unwrap_or_else(|| panic!("docs/papers/values/{name}.md has no table {title:?}"));
    found.split_once("\n\n").expect("a table").1.to_owned()
}

/// `head` and how many claims have each verdict.
fn counted(head: &str, [agree, direction, undecided, differ]: [usize; 4]) -> String {
    let have = if direction == 1 { "has" } else { "have" };
    let are = if undecided == 1 { "is" } else { "are" };
    format!(
        "{head} {agree} agree, {direction} {have} the paper's direction only, {undecided} {are} undecided and \
         {differ} differ"
    )
}

/// Crates of the workspace with what they depend on.
fn crates(_: &str) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata = Value::parse(&String::from_utf8_lossy(&output.stdout)).expect("cargo prints JSON");
    let is_example = |package: &&Value| !package.get("name").text().starts_with("tidegate");
    let packages = metadata.get("packages").list().iter().filter(|package| !is_example(package));
    let mut rows: Vec<[String; 4]> = packages.map(crate_row).collect();
    // Lower layers first: a crate comes after those that it depends on.
    rows.sort_by_key(|[_, _, ours, _]| {
        (ours.split(", ").filter(|name| !name.is_empty()).count(), ours.clone())
    });
    let rows: String = rows.iter().map(|cells| row(&cells.each_ref().map(String::as_str))).collect();
    format!("| crate | what it is | depends on ours | on others |\n|---|---|---|---|\n{rows}")
}

fn crate_row(package: &Value) -> [String; 4] {
    let name = package.get("name").text();
    let short = |name: &str| format!("`{}`", name.strip_prefix("tidegate-").unwrap_or(name));
    let link = match name.strip_prefix("tidegate-") {
        Some(folder) => format!("[crates/{folder}](crates/{folder}/src/lib.rs)"),
        None => "the package to install, [src](src/lib.rs)".to_owned(),
    };
    let needs = package.get("dependencies").list().iter().filter(|need| need.get("kind").text() != "dev");
    let needs: BTreeSet<&str> = needs.map(|need| need.get("name").text()).collect();
    let of = |is_ours: bool| {
        let named = needs.iter().filter(|name| name.starts_with("tidegate-") == is_ours);
        named
            .map(|name| if is_ours { short(name) } else { (*name).to_owned() })
            .collect::<Vec<_>>()
            .join(", ")
    };
    [link, package.get("description").text().to_owned(), of(true), of(false)]
}

#[test]
fn made_parts_of_the_documents_are_what_the_program_makes() {
    let mut used = BTreeSet::new();
    let mut stale = Vec::new();
    for name in documents() {
        let file = root().join(&name);
        let kept = fs::read_to_string(&file).unwrap_or_else(|why| panic!("{name}: {why}"));
        let made = remake(&kept, |part| {
            used.insert(part.split(' ').next().unwrap_or_default().to_owned());
            make(part)
        });
        let made = made.unwrap_or_else(|why| panic!("{name}: {why}"));
        if std::env::var_os("UPDATE_BOOK").is_some() {
            fs::write(&file, &made).expect("documents can be written");
        } else if made != kept {
            stale.push(format!("{name}: {}", first_difference(&kept, &made)));
        }
    }
    assert!(
        stale.is_empty(),
        "run UPDATE_BOOK=1 cargo test --test docs made, and review the change:\n{}",
        stale.join("\n")
    );
    let known: BTreeSet<String> = PARTS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(used, known, "parts that no document has");
}

/// The first line that differs.
fn first_difference(kept: &str, made: &str) -> String {
    let pair = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
    pair.map_or("one has more lines".to_owned(), |(kept, made)| format!("{kept:?} in place of {made:?}"))
}

#[test]
fn a_part_is_replaced_between_its_marks_and_nothing_else_is() {
    let page = "a\n<!-- made: x 1 -->\nold\n<!-- made: end -->\nb\n";
    let made = remake(page, |part| format!("new {part}"));
    assert_eq!(made.as_deref(), Ok("a\n<!-- made: x 1 -->\nnew x 1\n\n<!-- made: end -->\nb\n"));
    assert!(remake("<!-- made: x -->\nold", |_| String::new()).is_err());
}
