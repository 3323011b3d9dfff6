//! `reproduce`: the quick look, which gives every claim a number and none a verdict.

use std::fs;

use crate::json::Value;
use crate::outputs::assert_self_contained;
use crate::{Scratch, tidegate};

#[test]
fn a_quick_look_at_plr_shows_every_claim_without_a_verdict() {
    let scratch = Scratch::new("plr");
    let ended = tidegate(&["reproduce", "plr", "--reduced", "--quiet", "--out", scratch.path()]).with(0);
    assert_eq!(ended.err, "");
    let folder = scratch.only_folder();
    let text = fs::read_to_string(folder.join("claims.json")).expect("readable");
    let document = Value::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let page = fs::read_to_string(folder.join("report.html")).expect("readable");
    let claims = document.get("claims").list();
    assert!(claims.len() >= 50, "{} claims", claims.len());
    for claim in claims {
        let id = claim.get("id").text();
        assert_eq!(claim.get("verdict"), &Value::Null, "{id}");
        assert!(page.contains(id) && ended.out.contains(id), "{id} is not shown");
    }
    let counts = format!("0 agree, 0 direction, 0 differ, {} reduced, without verdict", claims.len());
    assert!(ended.out.contains(&counts), "{}", ended.out);
    assert_self_contained(&page);
    for figure in ["fig7a", "fig7b", "fig8a", "fig8b", "fig9a", "fig9b", "fig9c"] {
        let svg =
            fs::read_to_string(folder.join(figure).with_extension("svg")).expect("every figure is a file");
        assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{figure}");
    }
}
