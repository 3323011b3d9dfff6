//! What shells and `man` get of the program.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::{Scratch, tidegate};
use support::skipped::skipped;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Names of all pages that are written into `scratch`, with their text.
fn pages(scratch: &Scratch) -> BTreeMap<String, String> {
    let listed = tidegate(&["man", "--out", scratch.path(), "--format", "json"]).with(0).json();
    let file = |file: &support::json::Value| {
        let name = file.text().rsplit('/').next().unwrap_or_default().to_owned();
        (name, fs::read_to_string(file.text()).expect("what is listed was written"))
    };
    listed.get("files").list().iter().map(file).collect()
}

/// The commands in the order of the page of the program itself.
fn commands() -> Vec<String> {
    let help = tidegate(&["--help"]).with(0).out;
    let (_, list) = help.split_once("Commands:\n").expect("commands are listed");
    let (list, _) = list.split_once("\n\n").expect("and options after them");
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_shell_completes_every_command() {
    let commands = commands();
    assert!(commands.len() >= 8, "{commands:?}");
    for shell in SHELLS {
        let script = tidegate(&["completions", shell]).with(0).out;
        let missing: Vec<&String> = commands.iter().filter(|name| !script.contains(name.as_str())).collect();
        assert!(missing.is_empty(), "{shell}: {missing:?}");
        let document = tidegate(&["completions", shell, "--format", "json"]).with(0).json();
        assert_eq!(document.get("script").text(), script);
    }
    tidegate(&["completions", "no-such-shell"]).with(2);
}

/// What bash offers for the last of `words`; `None` on a machine without bash.
fn offered(words: &[&str]) -> Option<Vec<String>> {
    let script = tidegate(&["completions", "bash"]).with(0).out;
    let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
    let line = words.join(" ");
    let request = format!(
        "\nCOMP_WORDS=({line}); COMP_CWORD={}; _tidegate tidegate '{last}' '{before}'; echo ${{COMPREPLY[@]}}\n",
        words.len() - 1
    );
    let shell =
        Command::new("bash").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut shell) = shell else {
        skipped("completion by bash", "bash is not installed");
        return None;
    };
    let mut stdin = shell.stdin.take().expect("piped");
    stdin.write_all((script + &request).as_bytes()).expect("bash reads");
    drop(stdin);
    let ended = crate::Ended::from(shell.wait_with_output().expect("ours")).with(0);
    assert_eq!(ended.err, "");
    Some(ended.out.split_whitespace().map(str::to_owned).collect())
}

#[test]
fn bash_reads_its_script_and_completes_by_it() {
    if let Some(offered) = offered(&["tidegate", "chec"]) {
        assert_eq!(offered, ["check"]);
    }
}

#[test]
fn bash_offers_the_values_that_are_known() {
    let cases: [(&[&str], &[&str]); 12] = [
        (&["reproduce", "p"], &["plr"]),
        (&["schemes", "catchunks-c"], &["catchunks-cubic"]),
        (&["compare", "--schemes", "catchunks-c"], &["catchunks-cubic"]),
        (&["compare", "--measures", "j"], &["jain"]),
        (&["new", "--template", "p"], &["parking-lot"]),
        (&["new", "--scheme", "catchunks-a"], &["catchunks-aimd"]),
        (&["import", "--from", "g"], &["graphml"]),
        (&["compare", "--schemes", "icp,bbr,mir"], &["icp,bbr,mircc"]),
        (&["compare", "--measures", "marks,j"], &["marks,jain"]),
        (&["sweep", "run", "--schemes", "mir"], &["mircc"]),
        (&["sweep", "why", "--schemes", "icp,catchunks-c"], &["icp,catchunks-cubic"]),
        (&["bench", "--schemes", "def"], &["default"]),
    ];
    for (words, expected) in cases {
        let words = [&["tidegate"], words].concat();
        if let Some(offered) = offered(&words) {
            assert_eq!(offered, expected, "{words:?}");
        }
    }
}

#[test]
fn every_shell_completes_schemes_papers_and_measures() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = tidegate(&["completions", shell]).with(0).out;
        // Elvish and PowerShell complete commands and options only.
        if !matches!(shell, "elvish" | "powershell") {
            for value in ["bbr-cd", "ndnsieve", "catchunks-cubic", "jain", "rocketfuel"] {
                assert!(script.contains(value), "{shell}: {value}");
            }
        }
    }
}

/// The options of a command's help that begin with `-o`.
fn output_option(words: &str) -> Option<String> {
    let arguments: Vec<&str> = words.split_whitespace().chain(["--help"]).collect();
    let help = tidegate(&arguments).with(0).out;
    help.lines().map(str::trim).find(|line| line.contains("--out <")).map(str::to_owned)
}

#[test]
fn out_and_its_letter_mean_the_same_in_every_command() {
    let listed = tidegate(&["docs", "--format", "json"]).with(0).json();
    let words: Vec<String> =
        listed.get("commands").list().iter().map(|words| words.text().to_owned()).collect();
    let options: Vec<(String, String)> =
        words.into_iter().filter_map(|words| Some((words.clone(), output_option(&words)?))).collect();
    assert!(options.len() >= 10, "{options:?}");
    let strange: Vec<_> = options.iter().filter(|(_, line)| !line.starts_with("-o, --out <")).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

#[test]
fn every_command_has_a_manual_page_with_examples_files_and_codes() {
    let scratch = Scratch::new("man");
    let pages = pages(&scratch);
    assert!(pages.contains_key("tidegate.1"));
    for command in commands() {
        let page =
            pages.get(&format!("tidegate-{command}.1")).unwrap_or_else(|| panic!("{command} has none"));
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "\"EXIT STATUS\""] {
            assert!(page.contains(&format!(".SH {section}\n")), "{command}: no {section}\n{page}");
        }
    }
    assert!(pages["tidegate-run.1"].contains(".SH FILES\n"));
}

#[test]
fn a_page_is_the_same_at_every_making_and_alone() {
    let (first, again) = (Scratch::new("man-first"), Scratch::new("man-again"));
    let made = pages(&first);
    assert_eq!(made, pages(&again));
    assert_eq!(tidegate(&["man", "run"]).with(0).out, made["tidegate-run.1"]);
    assert_eq!(tidegate(&["man"]).with(0).out, made["tidegate.1"]);
    let title = made["tidegate-run.1"].lines().find(|line| line.starts_with(".TH")).expect("titled");
    assert_eq!(title, format!(".TH TIDEGATE-RUN 1  \"tidegate {}\" Tidegate", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_page_of_no_command_is_refused_with_those_there_are() {
    let ended = tidegate(&["man", "simulate"]).with(2);
    assert!(ended.err.contains("\"simulate\" is not known; known: run, "), "{}", ended.err);
}

#[test]
fn help_ends_with_examples() {
    for command in commands() {
        let help = tidegate(&[&command, "--help"]).with(0).out;
        let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{command}:\n{help}"));
        assert!(examples.starts_with("  # ") && examples.contains(&format!("tidegate {command}")), "{help}");
    }
}
