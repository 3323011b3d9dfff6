//! `reproduce`: the quick look, which gives every claim a number and none a verdict.

use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::{process::Stdio, time::Duration};

use crate::outputs::assert_self_contained;
use crate::{Ended, Scratch, program, tidegate};
use support::json::Value;

/// Figures of each paper, and how many claims it has at least.
const PLR: (&[&str], usize) = (&["fig7a", "fig7b", "fig8a", "fig8b", "fig9a", "fig9b", "fig9c"], 75);
const NDNSIEVE: (&[&str], usize) = (
    &[
        "fig4", "fig5", "fig6a", "fig7", "fig8", "fig9a", "fig10", "fig11", "fig13a", "fig14a", "fig16c",
        "fig17",
    ],
    111,
);
const BRF: (&[&str], usize) = (
    &[
        "fig8a", "fig8b", "fig9a", "fig9b", "fig10a", "fig10d", "table4", "fig11a", "fig11c", "fig12a",
        "fig12b",
    ],
    83,
);
const MIRCC: (&[&str], usize) = (
    &[
        "fig5a",
        "fig5d",
        "fig6a",
        "fig6d",
        "fig7a",
        "fig7d",
        "fig8a",
        "fig8d",
        "table4",
        "table5",
        "depth100",
        "depth750",
        "wakeups",
        "goodput",
        "others-goodput",
        "others-loss",
        "stated1",
    ],
    87,
);
const BBR_CD: (&[&str], usize) = (&["fig5", "fig6", "fig7", "resent", "bursts", "queues", "stated1"], 52);

#[test]
fn a_quick_look_at_all_papers_shows_every_claim_without_a_verdict() {
    let scratch = Scratch::new("papers");
    let ended = tidegate(&["reproduce", "all", "--reduced", "--quiet", "--out", scratch.path()]).with(0);
    assert_eq!(ended.err, "");
    let folder = Path::new(scratch.path());
    let all = fs::read_to_string(folder.join("all/report.html")).expect("readable");
    assert_self_contained(&all);
    for (paper, expected) in
        [("plr", PLR), ("ndnsieve", NDNSIEVE), ("mircc", MIRCC), ("bbr-cd", BBR_CD), ("brf", BRF)]
    {
        let claims = assert_whole(&folder.join(paper), expected);
        for claim in &claims {
            let id = claim.get("id").text();
            assert_eq!(claim.get("verdict"), &Value::Null, "{id}");
            assert!(ended.out.contains(id), "{id} is not printed");
        }
        assert!(all.contains(&format!("../{paper}/report.html")), "{paper} is not on the page of all papers");
        let ours = claims.iter().filter(|claim| *claim.get("is_ours") == Value::Bool(true)).count();
        let none = "0 agree, 0 direction, 0 undecided, 0 differ";
        let counts = format!("{none}, {} reduced, without verdict", claims.len() - ours);
        assert!(ended.out.contains(&counts), "{}", ended.out);
    }
    assert_links_lead_somewhere(&all, &folder.join("all"));
    for paper in ["plr", "ndnsieve", "mircc", "bbr-cd", "brf"] {
        let page = fs::read_to_string(folder.join(paper).join("report.html")).expect("readable");
        assert_claims_have_their_figures(paper, &page);
        assert_numbers_have_figures(&folder.join(paper), &page);
        assert_axes_have_units(&folder.join(paper).join("figures.json"));
        assert_stated_numbers_have_words(&folder.join(paper));
        assert_nothing_is_cut(&folder.join(paper));
    }
}

/// Every figure that a claim of the paper names is on its page, and leads back.
fn assert_claims_have_their_figures(paper: &str, page: &str) {
    let claims = fs::read_to_string(format!("scenarios/papers/{paper}/claims.toml")).expect("readable");
    let named: Vec<&str> =
        claims.lines().filter_map(|line| line.strip_prefix("figure = \"")?.strip_suffix('"')).collect();
    assert!(!named.is_empty(), "{paper} names no figure");
    for figure in named {
        assert!(page.contains(&format!("<figure id=\"{figure}\"")), "{paper} has no figure {figure}");
        assert!(page.contains(&format!("href=\"#{figure}\"")), "{paper}: nothing leads to {figure}");
    }
}

/// Every claim with a published number leads to a figure of its page.
fn assert_numbers_have_figures(folder: &Path, page: &str) {
    let text = fs::read_to_string(folder.join("claims.json")).expect("readable");
    let document = Value::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let numbers = document.get("claims").list().iter();
    let numbers = numbers.filter(|claim| matches!(claim.get("published"), Value::Number(_)));
    let ids: Vec<&str> = numbers.map(|claim| claim.get("id").text()).collect();
    assert!(!ids.is_empty(), "{} has no published number", folder.display());
    let row = |id: &&str| page.split(&format!("<tr id=\"{id}\"")).nth(1)?.split("</tr>").next();
    let is_lost = |id: &&str| !row(id).is_some_and(|row| row.contains("class=\"shown\""));
    let lost: Vec<&str> = ids.into_iter().filter(is_lost).collect();
    assert!(lost.is_empty(), "{}: no figure for {lost:?}", folder.display());
}

/// Words that do not fit into a figure end with an ellipsis.
fn assert_nothing_is_cut(folder: &Path) {
    let files = fs::read_dir(folder).expect("readable").flatten().map(|file| file.path());
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "svg")) {
        let svg = fs::read_to_string(&file).expect("readable");
        let cut: Vec<&str> = svg.split(['<', '>']).filter(|part| part.contains('…')).collect();
        assert!(cut.is_empty(), "{}: {cut:?}", file.display());
    }
}

/// Every axis of numbers says its quantity and its unit, and every name in a key says of what it is.
fn assert_axes_have_units(file: &Path) {
    let text = fs::read_to_string(file).expect("readable");
    let figures = Value::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    for figure in figures.list() {
        for label in [figure.get("x_label").text(), figure.get("y_label").text()] {
            let has_unit = label.ends_with(']') && label.contains(" [");
            assert!(has_unit || label.is_empty(), "{}: {label:?}", figure.get("id").text());
        }
        let (id, y_label) = (figure.get("id").text(), figure.get("y_label").text());
        assert!(!y_label.is_empty() && !y_label.contains("quantity of"), "{id}: {y_label:?}");
        // Numbers under bars are of a quantity, which only the axis can name.
        let kind = figure.get("kind");
        let groups = match kind {
            Value::Object(kinds) if kinds.iter().any(|(name, _)| name == "bars") => {
                kind.get("bars").get("groups").list()
            }
            _ => &[],
        };
        let are_numbers = !groups.is_empty()
            && groups.iter().all(|group| group.text().starts_with(|sign: char| sign.is_ascii_digit()));
        assert!(!are_numbers || !figure.get("x_label").text().is_empty(), "{id}: groups without a quantity");
        let lists = ["lines", "bars", "curves", "cdf"].map(|name| kind.get(name));
        let lists = lists.into_iter().flat_map(|data| [data.get("series"), data.get("curves")]);
        let names = lists.flat_map(Value::list).map(|one| one.get("name").text());
        let is_vague = |name: &&str| {
            let is_value = name.starts_with(|sign: char| sign.is_ascii_digit());
            is_value || *name == "plain" || name.ends_with("without")
        };
        let vague: Vec<&str> = names.filter(is_vague).collect();
        assert!(vague.is_empty(), "{id}: {vague:?} of what?");
    }
}

/// What a number is about that stands in the text alone is told by words, not by its id or place in the paper.
fn assert_stated_numbers_have_words(folder: &Path) {
    let read = |file: &str| {
        let text = fs::read_to_string(folder.join(file)).expect("readable");
        Value::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"))
    };
    let (claims, figures) = (read("claims.json"), read("figures.json"));
    let is_stated = |figure: &&Value| figure.get("id").text().starts_with("stated");
    for figure in figures.list().iter().filter(is_stated) {
        for group in figure.get("kind").get("bars").get("groups").list() {
            let claims = claims.get("claims").list().iter();
            let mut names = claims.flat_map(|claim| ["id", "where"].map(|key| claim.get(key)));
            assert!(!names.any(|name| name == group), "{}: {group:?}", folder.display());
        }
    }
}

/// Files with the values of finished runs below `out`, in order.
#[cfg(unix)]
fn finished(out: &Path) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(out.join("store")).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let is_values = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "values");
    let mut files: Vec<_> = files.map(|file| file.path()).filter(is_values).collect();
    files.sort();
    files
}

#[test]
fn a_paper_that_is_not_known_is_refused_with_the_nearest() {
    let stated = tidegate(&["reproduce", "plrx"]).with(2).err;
    assert!(stated.contains("paper \"plrx\" is not known; did you mean \"plr\"?"), "{stated}");
    let stated = tidegate(&["reproduce", "./Cargo.toml"]).with(2).err;
    assert!(stated.contains("./Cargo.toml is a file; PAPER takes a folder with claims.toml"), "{stated}");
    let stated = tidegate(&["reproduce", "unheard-of"]).with(2).err;
    assert!(stated.contains("paper \"unheard-of\" is not known; known: plr, ndnsieve, "), "{stated}");
}

#[cfg(unix)]
#[test]
fn a_program_that_was_rebuilt_from_the_same_simulation_goes_on_with_finished_runs() {
    let scratch = Scratch::new("paper-rebuilt");
    let out = scratch.at("out");
    let arguments = ["reproduce", "plr", "--reduced", "--out", &out];
    tidegate(&arguments).with(0);
    let (before, rebuilt) = (finished(Path::new(&out)), scratch.at("rebuilt"));
    // What follows the last section of an executable changes its hash and nothing else.
    fs::copy(env!("CARGO_BIN_EXE_tidegate"), &rebuilt).expect("the program can be copied");
    let mut file = fs::OpenOptions::new().append(true).open(&rebuilt).expect("the copy can be written");
    std::io::Write::write_all(&mut file, b"edited").expect("the copy can be written");
    drop(file);
    let old = Path::new(&out).join("store/01").join("01".repeat(32));
    fs::create_dir_all(&old).expect("writable");
    fs::write(old.join("code.txt"), "other").expect("writable");
    fs::write(old.with_extension("values"), "").expect("writable");
    let notify = |more: &[&str]| {
        let mut command = std::process::Command::new(&rebuilt);
        command.args(arguments).args(more).stdin(Stdio::null());
        Ended::from(command.output().expect("the program starts")).with(0)
    };
    let stated = notify(&[]).err;
    assert!(stated.contains("runs, all of them finished earlier"), "{stated}");
    assert!(
        stated.contains("1 runs of papers in")
            && stated.contains("were made by other builds")
            && old.exists(),
        "{stated}"
    );
    let stated = notify(&["--remove-old-runs"]).err;
    assert!(
        !stated.contains("other builds") && !old.exists() && !old.with_extension("values").exists(),
        "{stated}"
    );
    assert_eq!(finished(Path::new(&out)), before);
}

#[cfg(unix)]
#[test]
fn an_interrupted_reproduction_ends_with_130_and_goes_on_to_the_same_bytes() {
    let (stopped, whole) = (Scratch::new("paper-stopped"), Scratch::new("paper-whole"));
    let arguments = |out| ["reproduce", "plr", "--reduced", "--quiet", "--threads", "1", "--out", out];
    let mut child = program().args(arguments(stopped.path())).stderr(Stdio::piped()).spawn().expect("starts");
    while finished(&stopped.0).len() < 3 {
        assert!(child.try_wait().expect("a child of ours").is_none(), "it was done before it was stopped");
        std::thread::sleep(Duration::from_millis(2));
    }
    let reported = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(reported.expect("kill is there").success());
    let ended = Ended::from(child.wait_with_output().expect("ours")).with(130);
    assert!(
        ended.err.contains("were finished and are kept; repeat the command to continue"),
        "{}",
        ended.err
    );
    let kept = finished(&stopped.0);
    assert!(kept.len() >= 3 && !stopped.0.join("plr/report.html").exists(), "{kept:?}");
    let modified =
        |path: &std::path::PathBuf| fs::metadata(path).and_then(|file| file.modified()).expect("a file");
    let before: Vec<_> = kept.iter().map(modified).collect();
    tidegate(&arguments(stopped.path())).with(0);
    assert_eq!(kept.iter().map(modified).collect::<Vec<_>>(), before, "finished runs were run again");
    tidegate(&arguments(whole.path())).with(0);
    for file in ["report.html", "claims.json", "figures.json"] {
        let read = |scratch: &Scratch| fs::read(scratch.0.join("plr").join(file)).expect("readable");
        assert!(read(&stopped) == read(&whole), "{file} differs");
    }
}

#[test]
fn a_reproduction_says_beforehand_how_much_there_is_to_do() {
    let scratch = Scratch::new("paper-foretold");
    let arguments = ["reproduce", "plr", "--reduced", "--out", scratch.path()];
    let first = tidegate(&arguments).with(0).err;
    let line = first.lines().next().unwrap_or_default();
    assert!(line.contains(" runs: about ") && line.contains(" threads"), "{first}");
    let again = tidegate(&arguments).with(0).err;
    let (runs, _) = line.split_once(' ').expect("a count");
    assert_eq!(again, format!("{runs} runs, all of them finished earlier\n"));
}

/// Every relative link of a page in `folder` names a file.
fn assert_links_lead_somewhere(page: &str, folder: &Path) {
    let links: Vec<&str> = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let files: Vec<&&str> = links.iter().filter(|link| !link.starts_with('#')).collect();
    assert!(files.len() >= 5, "{links:?}");
    for file in files {
        assert!(folder.join(file).is_file(), "{file}");
    }
}

/// The claims of the board in `folder`, once it is sure that the page shows each and all figures are there.
fn assert_whole(folder: &Path, (figures, min): (&[&str], usize)) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("claims.json")).expect("readable");
    let document = Value::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let page = fs::read_to_string(folder.join("report.html")).expect("readable");
    let claims = document.get("claims").list();
    assert!(claims.len() >= min, "{} claims", claims.len());
    for claim in claims {
        let id = claim.get("id").text();
        assert!(!id.is_empty() && page.contains(id), "{id:?} is not on the page");
    }
    assert_self_contained(&page);
    for figure in figures {
        let svg =
            fs::read_to_string(folder.join(figure).with_extension("svg")).expect("every figure is a file");
        assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{figure}");
    }
    claims.to_vec()
}

/// What `.ci/run` asks of the main job's output; the folder is named as its paper.
#[test]
#[ignore = "reads the folder that TIDEGATE_BOARD names"]
fn the_board_on_disk_is_whole() {
    let folder = std::env::var_os("TIDEGATE_BOARD").expect("TIDEGATE_BOARD names a folder");
    let folder = Path::new(&folder);
    let expected = if folder.ends_with("ndnsieve") { NDNSIEVE } else { PLR };
    let claims = assert_whole(folder, expected);
    for claim in &claims {
        let verdict = claim.get("verdict").text();
        assert!(
            ["agrees", "direction", "undecided", "differs"].contains(&verdict),
            "{}: {verdict:?}",
            claim.get("id").text()
        );
        assert!(matches!(claim.get("ours").get("mean"), Value::Number(_)), "{}", claim.get("id").text());
    }
}

/// Values of a run against `docs/papers/values/PAPER.md`, or `PAPER-full.md` for a run with `--full`; `UPDATE_GOLDEN=1` writes it.
#[test]
#[ignore = "reads the folder that TIDEGATE_BOARD names"]
fn the_values_on_disk_are_those_on_record() {
    let folder = std::env::var_os("TIDEGATE_BOARD").expect("TIDEGATE_BOARD names a folder");
    let folder = Path::new(&folder);
    let paper = folder.file_name().expect("a folder with a name").to_string_lossy();
    let values = fs::read_to_string(folder.join("values.md")).expect("readable");
    let full = if values.lines().next().is_some_and(|head| head.contains(" --full")) { "-full" } else { "" };
    let record = format!("docs/papers/values/{paper}{full}.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&record, &values).unwrap_or_else(|why| panic!("{record}: {why}"));
    }
    let recorded = fs::read_to_string(&record).unwrap_or_else(|why| panic!("{record}: {why}"));
    let other = values.lines().zip(recorded.lines()).find(|(found, recorded)| found != recorded);
    assert_eq!(other, None, "{record}: the first line that is another one");
    assert_eq!(values.lines().count(), recorded.lines().count(), "{record}");
}
