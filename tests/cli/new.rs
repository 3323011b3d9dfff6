//! `new`: a scenario that works as it is written.

use std::fs;

use crate::{Scratch, program, tidegate};

/// Words of `--template`.
pub const TEMPLATES: [&str; 7] =
    ["dumbbell", "chain", "parking-lot", "cache", "multipath", "lossy", "failure"];

/// Names of all schemes with the role of a consumer.
fn consumers() -> Vec<String> {
    let catalogue = tidegate(&["schemes", "--format", "json"]).with(0).json();
    let is_consumer = |scheme: &&support::json::Value| {
        scheme.get("roles").list().iter().any(|role| role.text() == "consumer")
    };
    catalogue.list().iter().filter(is_consumer).map(|scheme| scheme.get("name").text().to_owned()).collect()
}

#[test]
fn the_templates_are_those_that_the_command_line_offers() {
    let ended = tidegate(&["new", "--template", "no-such-template"]).with(2);
    let listed = format!("[possible values: {}]", TEMPLATES.join(", "));
    assert!(ended.err.contains(&listed), "{}", ended.err);
}

#[test]
fn every_template_runs_as_it_is_written() {
    let scratch = Scratch::new("templates");
    for template in TEMPLATES {
        let file = scratch.at(&format!("{template}.toml"));
        let ended = tidegate(&["new", &file, "--template", template]).with(0);
        assert!(ended.out.contains(&format!("tidegate run {file}")), "{}", ended.out);
        tidegate(&["run", &file, "--quiet", "--out", &scratch.at("results")]).with(0);
    }
}

#[test]
fn every_template_takes_every_consumer_scheme() {
    let scratch = Scratch::new("all-schemes");
    let schemes = consumers();
    assert!(schemes.len() >= 9, "{schemes:?}");
    for template in TEMPLATES {
        for scheme in &schemes {
            let file = scratch.at(&format!("{template}-{scheme}.toml"));
            tidegate(&["new", &file, "--template", template, "--scheme", scheme]).with(0);
            tidegate(&["check", &file]).with(0);
        }
    }
}

#[test]
fn a_file_that_is_there_is_not_overwritten() {
    let scratch = Scratch::new("there");
    let file = scratch.file("mine.toml", b"mine");
    let ended = tidegate(&["new", &file]).with(1);
    assert!(ended.err.contains("mine.toml already exists"), "{}", ended.err);
    assert_eq!(fs::read(&file).expect("readable"), b"mine");
}

#[test]
fn without_a_name_the_file_is_called_like_its_template() {
    let scratch = Scratch::new("unnamed");
    let mut command = program();
    let ended = command.args(["new", "--template", "cache", "--quiet"]).current_dir(scratch.path());
    let ended = crate::Ended::from(ended.output().expect("the program starts")).with(0);
    assert_eq!(ended.out, "");
    assert!(fs::read_to_string(scratch.at("cache.toml")).expect("written").contains("name = \"cache\""));
}

#[test]
fn a_dash_is_standard_output_and_json_holds_the_same_text() {
    let text = tidegate(&["new", "-", "--scheme", "icp"]).with(0).out;
    assert!(text.contains("scheme = \"icp\"") && text.contains("name = \"dumbbell\""), "{text}");
    let document = tidegate(&["new", "-", "--scheme", "icp", "--format", "json"]).with(0).json();
    assert_eq!(document.get("scenario").text(), text);
}

#[test]
fn a_scheme_that_is_not_for_consumers_is_refused_with_those_that_are() {
    let ended = tidegate(&["new", "-", "--scheme", "codel"]).with(2);
    assert!(ended.err.contains("catchunks-cubic") && !ended.err.contains("drop-tail"), "{}", ended.err);
    assert!(
        ended.err.starts_with("error: scheme \"codel\" is not a consumer scheme; its roles: "),
        "{}",
        ended.err
    );
}

#[test]
fn the_next_commands_are_quoted_for_a_shell() {
    let scratch = Scratch::new("new-quoted");
    let (file, folder) = (scratch.at("two words.toml"), scratch.at("a b/ü"));
    let printed = tidegate(&["new", &file]).with(0).out;
    assert!(printed.contains(&format!("\ntidegate check '{file}' ")), "{printed}");
    let text = fs::read_to_string(&file).expect("it is written");
    assert!(text.contains(&format!("tidegate run '{file}'\n")), "{text}");
    let printed = tidegate(&["new", "--paper", &folder]).with(0).out;
    assert!(printed.contains(&format!("\ntidegate reproduce '{folder}' ")), "{printed}");
    let text = fs::read_to_string(scratch.at("a b/ü/experiments.toml")).expect("it is written");
    assert!(text.contains(&format!("tidegate reproduce '{folder}' --reduced\n")), "{text}");
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let ended = tidegate(&["new", "no/such/folder/x.toml"]).with(1);
    assert!(ended.err.starts_with("error: cannot write no/such/folder/x.toml: "), "{}", ended.err);
}

#[test]
fn the_folder_of_a_paper_is_reproduced_as_it_is_written() {
    let scratch = Scratch::new("new-paper");
    let folder = scratch.at("mine");
    let ended = tidegate(&["new", "--paper", &folder]).with(0);
    assert!(ended.out.contains(&format!("tidegate reproduce {folder}")), "{}", ended.out);
    let results = scratch.at("results");
    let document =
        tidegate(&["reproduce", &folder, "--out", &results, "--format", "json", "--quiet"]).with(0).json();
    let verdicts = document.get("claims").list().iter().map(|claim| claim.get("verdict").text().to_owned());
    assert_eq!(verdicts.collect::<Vec<String>>(), ["agrees", "agrees"]);
    assert!(fs::metadata(scratch.at("results/mine/fig1.svg")).is_ok());
    let again = tidegate(&["new", "--paper", &folder]).with(1);
    assert!(again.err.contains("already exists; choose another name"), "{}", again.err);
}
