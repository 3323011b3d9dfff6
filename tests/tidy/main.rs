//! The repository keeps the rules that no compiler knows: who may import whom, what is named how, which licences.
//!
//! Every rule is held against the repository, and against a snippet that breaks it, so that each can fail.

mod rules;
mod self_tests;
mod sources;

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use sources::Source;
use support::json::Value;

const SEALED: [&str; 4] =
    ["crates/core/src/", "crates/schemes/src/", "crates/settings/src/", "crates/papers/src/"];
const ORDERED: [&str; 9] = [
    "crates/core/src/",
    "crates/schemes/src/",
    "crates/settings/src/",
    "crates/sim/src/",
    "crates/results/src/",
    "crates/pages/src/",
    "crates/wire/src/",
    "crates/live/src/",
    "crates/papers/src/",
];

/// Crates whose public items all have a documentation comment of four words or more.
const DOCUMENTED: [&str; 13] = [
    "crates/cli/src/",
    "crates/core/src/",
    "crates/hostile/src/",
    "crates/identity/src/",
    "crates/live/src/",
    "crates/papers/src/",
    "crates/results/src/",
    "crates/pages/src/",
    "crates/schemes/src/",
    "crates/settings/src/",
    "crates/sim/src/",
    "crates/testkit/src/",
    "crates/wire/src/",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| sources::read_all(root()));

static METADATA: LazyLock<Value> = LazyLock::new(|| {
    // Without the network only this platform's packages can be asked for.
    let texts = [metadata(&[]), metadata(&["--filter-platform", host(), "--offline"])];
    let text = texts.into_iter().find_map(Result::ok).expect("cargo metadata says what is needed");
    Value::parse(&text).expect("cargo prints JSON")
});

fn metadata(more: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(more)
        .current_dir(root())
        .output()
        .map_err(|why| why.to_string())?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

fn host() -> &'static str {
    static HOST: LazyLock<String> = LazyLock::new(|| {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc).arg("-vV").output().expect("rustc runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned()
    });
    &HOST
}

#[track_caller]
fn holds(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

fn scheme_modules() -> Vec<String> {
    let registry = SOURCES.iter().find(|source| source.path == "crates/schemes/src/lib.rs");
    let modules = rules::scheme_modules(registry.expect("schemes has a lib.rs"));
    assert!(modules.len() >= 10, "{modules:?}");
    modules
}

#[test]
fn core_schemes_and_settings_reach_no_clock_no_thread_and_no_file() {
    let sources = rules::of(&SOURCES, &SEALED);
    assert!(sources.len() > 40, "{} sources", sources.len());
    holds("core, schemes and settings have no IO, clock, thread or output", &rules::world_outside(&sources));
}

#[test]
fn no_order_of_a_hash_map_reaches_a_result() {
    holds(
        "BTreeMap, or hashbrown::HashTable without iteration",
        &rules::hash_maps(&rules::of(&SOURCES, &ORDERED)),
    );
}

#[test]
fn simulation_and_statistics_compute_the_same_bits_on_every_target() {
    let more = ["crates/sim/src/", "crates/results/src/compare/", "crates/cli/src/commands/reproduce/"];
    let mut sources = rules::of(&SOURCES, &[&SEALED[..], &more].concat());
    sources.extend(SOURCES.iter().filter(|source| source.path == "crates/results/src/stats.rs"));
    holds("core::math in place of the methods of f64", &rules::platform_functions(&sources));
}

#[test]
fn unsafe_code_stands_in_one_file_and_says_why_it_is_sound() {
    holds("the root of every crate has #![forbid(unsafe_code)]", &rules::unsafe_allowed(&SOURCES));
    let rust = rules::of(&SOURCES, &["crates/", "src/", "tests/", "benches/", "fuzz/"]);
    holds("unsafe code is in crates/live/src/sys.rs, argued for", &rules::unsafe_code(&rust));
}

#[test]
fn dependencies_point_one_way() {
    holds("see ARCHITECTURE.md", &rules::direction(&METADATA));
}

#[test]
fn every_dependency_has_a_free_licence() {
    assert!(METADATA.get("packages").list().len() > 20);
    holds("licences that MIT OR Apache-2.0 can live with", &rules::licences(&METADATA));
}

#[test]
fn every_package_to_publish_has_the_texts_of_its_licences() {
    let packages = METADATA.get("packages").list().iter();
    let ours = packages.filter(|package| *package.get("source") == Value::Null);
    let published: Vec<&Path> = ours
        .filter(|package| *package.get("publish") == Value::Null)
        .filter_map(|package| Path::new(package.get("manifest_path").text()).parent())
        .collect();
    assert!(published.len() > 10, "{published:?}");
    let texts =
        published.iter().flat_map(|folder| ["LICENSE-MIT", "LICENSE-APACHE"].map(|text| folder.join(text)));
    let missing: Vec<String> =
        texts.filter(|text| !text.is_file()).map(|text| text.display().to_string()).collect();
    holds("link the texts at the root into the folder of the package", &missing);
}

#[test]
fn no_scheme_imports_another_scheme() {
    let sources = rules::of(&SOURCES, &["crates/schemes/src/"]);
    holds("what two schemes share belongs in toolbox", &rules::scheme_imports(&sources, &scheme_modules()));
}

#[test]
fn every_scheme_says_what_it_follows_and_has_a_golden_text() {
    holds("a scheme has a source and a record", &rules::scheme_papers(&SOURCES, &scheme_modules()));
}

#[test]
fn a_paper_has_at_most_150_lines_of_rust() {
    let folders = std::fs::read_dir(root().join("scenarios/papers")).expect("there are papers").flatten();
    let papers: Vec<String> = folders.map(|paper| paper.file_name().to_string_lossy().into_owned()).collect();
    let sources = rules::of(&SOURCES, &["crates/cli/src/commands/reproduce/measures/"]);
    assert!(papers.len() >= 5 && sources.len() >= 5, "{} papers, {} sources", papers.len(), sources.len());
    holds("define the measure in experiments.toml", &rules::paper_lines(&sources, &papers));
}

#[test]
fn every_golden_text_is_named_by_a_test() {
    holds("remove it, or test it", &rules::golden_orphans(&SOURCES));
}

#[test]
fn every_source_file_belongs_to_a_crate() {
    holds("remove it, or declare it", &rules::dead_files(&SOURCES));
}

#[test]
fn no_module_is_included_from_another_place() {
    let rust = rules::of(&SOURCES, &["crates/", "src/", "tests/", "benches/", "examples/", "fuzz/"]);
    holds("what two crates need is a crate", &rules::module_paths(&rust));
}

/// Without it, a rule over a folder that is not read would hold of nothing.
#[test]
fn the_folders_of_the_rules_have_sources() {
    for folder in SEALED.iter().chain(&ORDERED).chain(&DOCUMENTED) {
        assert!(!rules::of(&SOURCES, &[folder]).is_empty(), "{folder}");
    }
}

#[test]
fn a_module_with_files_of_its_own_is_in_its_folder() {
    let rust = rules::of(&SOURCES, &["crates/", "src/", "tests/", "benches/", "examples/", "fuzz/"]);
    holds("one style of modules", &rules::divided_modules(&rust));
}

#[test]
fn no_test_skips_something_without_counting_it() {
    let rust = rules::of(&SOURCES, &["tests/", "crates/"]);
    holds("a check that is skipped is counted and shown", &rules::silent_skips(&rust));
    let run = SOURCES.iter().find(|source| source.path == ".ci/run").expect("there is .ci/run");
    assert!(run.text.contains("TIDEGATE_SKIPPED"), ".ci/run shows what was skipped");
}

#[test]
fn times_rates_and_sizes_have_a_type_in_the_interface_of_core() {
    let sources = rules::of(&SOURCES, &["crates/core/src/"]);
    holds("use Time, Span, BitRate, ByteCount", &rules::bare_quantities(&sources));
}

#[test]
fn a_function_has_at_most_five_parameters_besides_self() {
    let rust = rules::of(&SOURCES, &["crates/", "src/", "tests/", "examples/", "fuzz/"]);
    holds("one struct for what travels together", &rules::many_parameters(&rust));
}

#[test]
fn documentation_comments_have_four_words() {
    holds("write what it is, with unit and range", &rules::short_docs(&rules::of(&SOURCES, &DOCUMENTED)));
}

#[test]
fn a_type_name_is_public_in_one_crate_and_defined_in_three_files_at_most() {
    holds("qualify the name", &rules::repeated_types(&rules::of(&SOURCES, &["crates/"])));
}

/// Verbs of people, which the glossary of CONTRIBUTING.md excludes from names.
const PERSONIFICATIONS: [&str; 24] = [
    "tell", "tells", "told", "hear", "hears", "heard", "obey", "obeys", "heed", "heeds", "believe",
    "believes", "believed", "ask", "asks", "asked", "know", "knows", "knew", "want", "wants", "wanted",
    "rings", "rang",
];

#[test]
fn no_function_has_a_verb_of_people_in_its_name() {
    let rust = rules::of(&SOURCES, &["crates/", "src/", "tests/", "examples/"]);
    holds("see the verbs in CONTRIBUTING.md", &rules::personifications(&rust, &PERSONIFICATIONS));
}

#[test]
fn no_file_names_a_place_on_somebodys_machine() {
    holds("paths are relative to the repository", &rules::machine_paths(&SOURCES));
}

#[test]
fn every_link_in_the_documentation_leads_somewhere() {
    holds(
        "links are relative to their file",
        &rules::broken_links(&SOURCES, |path| root().join(path).exists()),
    );
}

#[test]
fn the_two_commands_of_the_readme_are_those_of_ci() {
    let text = |path: &str| {
        let source = SOURCES.iter().find(|source| source.path == path);
        source.unwrap_or_else(|| panic!("{path} is not there")).text.as_str()
    };
    for command in ["cargo test --workspace", "cargo run --profile quick -- reproduce plr"] {
        assert!(text("README.md").contains(command) && text(".ci/run").contains(command), "{command}");
    }
}

/// Not a rule: growth is to be seen, whether or not output of tests is captured.
#[test]
fn the_longest_files_and_functions_are_printed() {
    let rust = rules::of(&SOURCES, &["crates/", "src/", "tests/"]);
    let mut files: Vec<(usize, String)> =
        rust.iter().map(|source| (source.text.lines().count(), source.path.clone())).collect();
    let mut functions: Vec<(usize, String)> =
        rust.iter().flat_map(|source| rules::function_lengths(source)).collect();
    let mut text = String::new();
    for (head, list) in [("longest files", &mut files), ("longest functions", &mut functions)] {
        list.sort_by(|a, b| b.cmp(a));
        text.push_str(&format!("{head}, lines:\n"));
        list.iter().take(5).for_each(|(lines, place)| text.push_str(&format!("{lines:6}  {place}\n")));
    }
    assert!(functions.len() > 100);
    // A reader that has gone away is no fault of the sources.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
