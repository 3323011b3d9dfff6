//! What is printed fits the screen, and is coloured only where somebody sees it.

use crate::{DUMBBELL, Ended, Scratch, program};

/// Runs the program with `variables` set.
fn with(variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
    let mut command = program();
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).args(arguments);
    Ended::from(command.output().expect("the program starts"))
}

/// Lines that are longer than 80 columns; paths and other words that cannot be broken are no fault of theirs.
fn too_long(text: &str) -> Vec<&str> {
    let is_long =
        |line: &&str| line.chars().count() > 80 && line.split_whitespace().all(|word| word.len() <= 60);
    text.lines().filter(is_long).collect()
}

#[test]
fn what_is_printed_fits_eighty_columns() {
    let scratch = Scratch::new("screens");
    let out = ["--quiet", "--out", scratch.path()];
    let lines: [&[&str]; 8] = [
        &["run", DUMBBELL, "--seeds", "3"],
        &["compare", DUMBBELL, "--schemes", "catchunks-aimd,catchunks-cubic", "--seeds", "3"],
        &["sweep", "run", DUMBBELL, "--seeds", "2", "--grid", "flow.0.scheme=icp,catchunks-cubic"],
        &["reproduce", "plr", "--reduced"],
        &["check", DUMBBELL],
        &["schemes"],
        &["schemes", "catchunks-cubic"],
        &["schemes", "plr"],
    ];
    for line in lines {
        let more: &[&str] = if matches!(line[0], "check" | "schemes") { &[] } else { &out };
        let ended = with(&[("COLUMNS", "80")], &[line, more].concat()).with(0);
        assert!(too_long(&ended.out).is_empty(), "{line:?}: {:#?}", too_long(&ended.out));
    }
}

#[test]
fn a_pipe_has_no_width_of_its_own_and_no_colour() {
    let ended = with(&[], &["schemes"]).with(0);
    assert!(ended.out.lines().any(|line| line.chars().count() > 80), "{}", ended.out);
    assert!(!ended.out.contains('\x1b'), "{}", ended.out);
    assert!(!with(&[], &["schemes", "no-such-scheme"]).with(2).err.contains('\x1b'));
}

#[test]
fn colour_is_forced_and_refused_by_the_usual_variables() {
    let forced = [("CLICOLOR_FORCE", "1")];
    assert!(with(&forced, &["schemes"]).with(0).out.contains("\x1b[1m"));
    assert!(with(&forced, &["schemes", "no-such-scheme"]).with(2).err.contains("\x1b[31merror\x1b[0m: "));
    let refused = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert!(!with(&refused, &["schemes"]).with(0).out.contains('\x1b'));
    let document = with(&forced, &["schemes", "--format", "json"]).with(0).out;
    assert!(!document.contains('\x1b'), "programs get no colour");
}
