//! The book as a whole: its list of pages, its links, and the pages that are made.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::{pages, sources};
use support::program::{Scratch, tidegate};

/// Targets of all links of a Markdown text outside its code.
fn links(page: &str) -> Vec<String> {
    let mut code = false;
    let mut found = Vec::new();
    for line in page.lines() {
        code ^= line.starts_with("```");
        if !code {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            found.extend(targets.map(str::to_owned));
        }
    }
    found
}

/// Ids that links may lead to: explicit ones, and those that mdBook gives to headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let explicit =
        page.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    let heading = |line: &str| {
        let plain = line.trim_start_matches('#').trim().to_lowercase();
        let kept = plain.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    explicit.chain(page.lines().filter(|line| line.starts_with('#')).map(heading)).collect()
}

#[test]
fn every_page_is_in_the_list_of_pages_and_the_other_way_round() {
    let summary = fs::read_to_string(sources().join("SUMMARY.md")).expect("there is a list of pages");
    let listed: BTreeSet<String> = links(&summary).into_iter().collect();
    let written = pages().into_iter().map(|(name, _)| name).filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(listed, written);
}

#[test]
fn every_link_of_the_book_leads_to_a_page_and_a_place_in_it() {
    let pages: BTreeMap<String, String> = pages().into_iter().collect();
    let mut faults = Vec::new();
    for (name, page) in &pages {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        for link in links(page).iter().filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = resolve(folder, path, name);
            let is_there = match pages.get(&target) {
                Some(to) => anchor.is_empty() || anchors(to).contains(anchor),
                None => target.ends_with(".svg") && sources().join(&target).is_file(),
            };
            if !is_there {
                faults.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The page that `path` leads to from `folder`; `own` for a link within a page.
fn resolve(folder: &str, path: &str, own: &str) -> String {
    if path.is_empty() {
        return own.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

#[test]
fn the_reference_is_what_the_program_says() {
    let scratch = Scratch::new("reference");
    let made = tidegate(&["docs", "--out", scratch.path(), "--format", "json"]).with(0).json();
    let folder = sources().join("reference");
    let mut names = BTreeSet::new();
    for file in made.get("files").list() {
        let name = file.text().rsplit('/').next().expect("a file has a name").to_owned();
        let text = fs::read_to_string(file.text()).expect("written");
        if std::env::var_os("UPDATE_BOOK").is_some() {
            fs::write(folder.join(&name), &text).expect("the book can be written");
        }
        let kept = fs::read_to_string(folder.join(&name)).unwrap_or_default();
        assert!(
            kept == text,
            "{name}: run UPDATE_BOOK=1 cargo test --test docs reference, and review the change"
        );
        names.insert(name);
    }
    let kept = fs::read_dir(&folder).expect("readable").flatten();
    let kept: BTreeSet<String> = kept.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(kept, names, "pages that nothing makes");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    assert_eq!(links("[a](b.md#c) and\n```\n[no](x)\n```\n[d](#e)"), ["b.md#c", "#e"]);
    assert!(anchors("## First run, again\n<a id=\"x\"></a>").contains("first-run-again"));
    assert_eq!(resolve("reference", "../results.md", "own.md"), "results.md");
}
