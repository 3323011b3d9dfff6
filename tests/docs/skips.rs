//! A check that is skipped is shown, counted, and can be demanded.

use std::fs;
use std::process::{Command, Output};

use support::program::Scratch;
use support::skipped::skipped;

/// Not a claim: the test below runs it in a process of its own, with an environment of its own.
#[test]
#[ignore = "run by a_skipped_check_is_shown_counted_and_can_be_demanded"]
fn skips() {
    skipped("a check", "a tool is not installed");
}

/// Runs [`skips`] as `cargo test` runs a test, with this variable set.
fn run(variable: &str, value: &str) -> Output {
    let mut test = Command::new(std::env::current_exe().expect("this test is a program"));
    test.args(["--ignored", "--exact", "skips::skips"]);
    test.env_remove("TIDEGATE_SKIPPED").env_remove("TIDEGATE_REQUIRE_TOOLS").env(variable, value);
    test.output().expect("it runs")
}

#[test]
fn a_skipped_check_is_shown_counted_and_can_be_demanded() {
    const LINE: &str = "skipped: a check: a tool is not installed\n";
    let scratch = Scratch::new("skips");
    let list = scratch.at("skipped.txt");
    for count in 1..=2 {
        let ended = run("TIDEGATE_SKIPPED", &list);
        assert!(ended.status.success());
        assert!(String::from_utf8_lossy(&ended.stderr).contains(LINE), "not captured with what passes");
        assert_eq!(fs::read_to_string(&list).expect("written"), LINE.repeat(count));
    }
    assert!(!run("TIDEGATE_REQUIRE_TOOLS", "1").status.success());
    assert!(run("TIDEGATE_REQUIRE_TOOLS", "0").status.success());
}
