//! `reproduce`: the quick look, which gives every claim a number and none a verdict.

use std::fs;
use std::path::Path;

use crate::json::Value;
use crate::outputs::assert_self_contained;
use crate::{Scratch, tidegate};

#[test]
fn a_quick_look_at_plr_shows_every_claim_without_a_verdict() {
    let scratch = Scratch::new("plr");
    let ended = tidegate(&["reproduce", "plr", "--reduced", "--quiet", "--out", scratch.path()]).with(0);
    assert_eq!(ended.err, "");
    let claims = assert_whole(&scratch.only_folder());
    for claim in &claims {
        let id = claim.get("id").text();
        assert_eq!(claim.get("verdict"), &Value::Null, "{id}");
        assert!(ended.out.contains(id), "{id} is not printed");
    }
    let counts = format!("0 agree, 0 direction, 0 differ, {} reduced, without verdict", claims.len());
    assert!(ended.out.contains(&counts), "{}", ended.out);
}

/// The claims of PLR's board in `folder`, once it is sure that the page shows each and all figures are there.
fn assert_whole(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("claims.json")).expect("readable");
    let document = Value::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let page = fs::read_to_string(folder.join("report.html")).expect("readable");
    let claims = document.get("claims").list();
    assert!(claims.len() >= 50, "{} claims", claims.len());
    for claim in claims {
        let id = claim.get("id").text();
        assert!(!id.is_empty() && page.contains(id), "{id:?} is not on the page");
    }
    assert_self_contained(&page);
    for figure in ["fig7a", "fig7b", "fig8a", "fig8b", "fig9a", "fig9b", "fig9c"] {
        let svg =
            fs::read_to_string(folder.join(figure).with_extension("svg")).expect("every figure is a file");
        assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{figure}");
    }
    claims.to_vec()
}

/// What `.ci/run` asks of the main job's output.
#[test]
#[ignore = "reads the folder that TIDEGATE_BOARD names"]
fn the_board_on_disk_is_whole() {
    let folder = std::env::var_os("TIDEGATE_BOARD").expect("TIDEGATE_BOARD names a folder");
    let claims = assert_whole(Path::new(&folder));
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
