//! `reproduce`: the quick look, which gives every claim a number and none a verdict.

use std::fs;
use std::path::Path;

use crate::json::Value;
use crate::outputs::assert_self_contained;
use crate::{Scratch, tidegate};

/// Figures of each paper, and how many claims it has at least.
const PLR: (&[&str], usize) = (&["fig7a", "fig7b", "fig8a", "fig8b", "fig9a", "fig9b", "fig9c"], 50);
const NDNSIEVE: (&[&str], usize) = (
    &[
        "fig4", "fig5", "fig6a", "fig7", "fig8", "fig9a", "fig10", "fig11", "fig13a", "fig14a", "fig16c",
        "fig17",
    ],
    58,
);
const BRF: (&[&str], usize) = (
    &[
        "fig8a", "fig8b", "fig9a", "fig9b", "fig10a", "fig10d", "table4", "fig11a", "fig11c", "fig12a",
        "fig12b",
    ],
    69,
);

#[test]
fn a_quick_look_at_all_papers_shows_every_claim_without_a_verdict() {
    let scratch = Scratch::new("papers");
    let ended = tidegate(&["reproduce", "all", "--reduced", "--quiet", "--out", scratch.path()]).with(0);
    assert_eq!(ended.err, "");
    let folder = Path::new(scratch.path());
    let all = fs::read_to_string(folder.join("all/report.html")).expect("readable");
    assert_self_contained(&all);
    for (paper, expected) in [("plr", PLR), ("ndnsieve", NDNSIEVE), ("brf", BRF)] {
        let claims = assert_whole(&folder.join(paper), expected);
        for claim in &claims {
            let id = claim.get("id").text();
            assert_eq!(claim.get("verdict"), &Value::Null, "{id}");
            assert!(ended.out.contains(id), "{id} is not printed");
        }
        assert!(all.contains(&format!("../{paper}/report.html")), "{paper} is not on the page of all papers");
        let counts = format!("0 agree, 0 direction, 0 differ, {} reduced, without verdict", claims.len());
        assert!(ended.out.contains(&counts), "{}", ended.out);
    }
    assert_links_lead_somewhere(&all, &folder.join("all"));
    for paper in ["plr", "ndnsieve", "mircc", "bbr-cd", "brf"] {
        let page = fs::read_to_string(folder.join(paper).join("report.html")).expect("readable");
        assert_claims_have_their_figures(paper, &page);
        assert_axes_have_units(&folder.join(paper).join("figures.json"));
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

/// Every axis of numbers says its quantity and its unit.
fn assert_axes_have_units(file: &Path) {
    let text = fs::read_to_string(file).expect("readable");
    let figures = Value::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    for figure in figures.list() {
        for label in [figure.get("x_label").text(), figure.get("y_label").text()] {
            let has_unit = label.ends_with(']') && label.contains(" [");
            assert!(has_unit || label.is_empty(), "{}: {label:?}", figure.get("id").text());
        }
        assert!(!figure.get("y_label").text().is_empty(), "{}", figure.get("id").text());
    }
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
fn assert_whole(folder: &Path, (figures, least): (&[&str], usize)) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("claims.json")).expect("readable");
    let document = Value::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let page = fs::read_to_string(folder.join("report.html")).expect("readable");
    let claims = document.get("claims").list();
    assert!(claims.len() >= least, "{} claims", claims.len());
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
            ["agrees", "direction", "differs"].contains(&verdict),
            "{}: {verdict:?}",
            claim.get("id").text()
        );
        assert!(matches!(claim.get("ours").get("mean"), Value::Number(_)), "{}", claim.get("id").text());
    }
}
