//! Each rule finds what breaks it, and leaves alone what only looks like it.

use crate::rules;
use crate::sources::{Source, blank};
use support::json::Value;

fn core(text: &str) -> Source {
    Source::new("crates/core/src/x.rs", text)
}

fn scheme(file: &str, text: &str) -> Source {
    Source::new(&format!("crates/schemes/src/{file}"), text)
}

fn modules() -> Vec<String> {
    ["aimd", "plr"].map(str::to_owned).to_vec()
}

fn world_outside(text: &str) -> Vec<String> {
    rules::world_outside(&[&core(text)])
}

#[test]
fn comments_and_texts_are_no_code() {
    let text = "a // std::fs\n/* b */ \"c\\\"\" 'd' '\\'' r#\"e\"f\"# g::<'h>(x)";
    let code = blank(text);
    assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a", "g::<'h>(x)"]);
    assert_eq!((code.len(), code.lines().count()), (text.len(), 2));
}

#[test]
fn a_clock_is_found() {
    assert_eq!(world_outside("use std::time::Instant;"), ["crates/core/src/x.rs:1: Instant"]);
    assert_eq!(world_outside("\nlet now = SystemTime::now();"), ["crates/core/src/x.rs:2: SystemTime"]);
}

#[test]
fn input_and_output_are_found_alone_and_in_groups() {
    assert_eq!(world_outside("use std::fs::File;"), ["crates/core/src/x.rs:1: std::fs"]);
    assert_eq!(world_outside("use std::{fmt, env};"), ["crates/core/src/x.rs:1: std::env"]);
    assert_eq!(world_outside("fn f() { std::thread::spawn(g); }"), ["crates/core/src/x.rs:1: std::thread"]);
    assert_eq!(world_outside("println!();"), ["crates/core/src/x.rs:1: println"]);
    assert_eq!(
        world_outside("use std::fmt; // std::fs\nlet Instants = 1; fn print() {}"),
        Vec::<String>::new()
    );
}

#[test]
fn a_hash_map_is_found() {
    let found = rules::hash_maps(&[&core("use std::collections::{BTreeMap, HashMap};")]);
    assert_eq!(found, ["crates/core/src/x.rs:1: HashMap"]);
    assert!(rules::hash_maps(&[&core("use hashbrown::HashTable; // HashMap")]).is_empty());
}

#[test]
fn a_function_of_the_platforms_library_is_found_outside_tests() {
    let found = |text: &str| rules::platform_functions(&[&core(text)]);
    assert_eq!(found("\nlet k = x.cbrt();"), ["crates/core/src/x.rs:2: cbrt"]);
    assert_eq!(found("map(f64::ln)"), ["crates/core/src/x.rs:1: ln"]);
    assert!(
        found("let k = math::cbrt(x); // x.cbrt()\n#[cfg(test)]\nmod tests { fn f() { x.exp(); } }")
            .is_empty()
    );
    assert!(rules::platform_functions(&[&Source::new("crates/core/src/x/tests.rs", "x.exp();")]).is_empty());
}

#[test]
fn a_paper_with_more_than_150_lines_of_rust_is_found() {
    let of = |file: &str, lines: usize| {
        let text = format!("// A comment.\n\n{}", "f();\n".repeat(lines));
        Source::new(&format!("crates/cli/src/commands/reproduce/measures/{file}"), &text)
    };
    let papers = ["bbr-cd".to_owned(), "plr".to_owned()];
    let found = |sources: &[Source]| rules::paper_lines(&Vec::from_iter(sources), &papers);
    assert!(found(&[of("plr.rs", 150), of("flows.rs", 999), of("plr_tests.rs", 999)]).is_empty());
    assert_eq!(found(&[of("bbr_cd.rs", 151)]), ["bbr-cd: 151 lines"]);
    assert_eq!(found(&[of("plr/mod.rs", 100), of("plr/chain.rs", 51)]), ["plr: 151 lines"]);
}

#[test]
fn a_crate_that_allows_unsafe_code_is_found() {
    let sources = [Source::new("crates/a/src/lib.rs", "// #![forbid(unsafe_code)]"), core("")];
    assert_eq!(rules::unsafe_allowed(&sources), ["crates/a/src/lib.rs: no #![forbid(unsafe_code)]"]);
}

#[test]
fn the_root_above_the_one_unsafe_file_denies_what_others_forbid() {
    let root = |level: &str| {
        rules::unsafe_allowed(&[Source::new("crates/live/src/lib.rs", &format!("#![{level}(unsafe_code)]"))])
    };
    assert!(root("deny").is_empty());
    assert_eq!(root("warn").len(), 1);
}

#[test]
fn unsafe_code_in_another_file_or_without_an_argument_is_found() {
    let found = |path: &str, text: &str| rules::unsafe_code(&[&Source::new(path, text)]);
    let call = "fn f() {\n    unsafe { g() }\n}";
    let argued = "// Safety: g reads nothing.\nunsafe { g() }";
    assert_eq!(found("crates/live/src/sys.rs", call), ["crates/live/src/sys.rs:2: unsafe"]);
    assert!(found("crates/live/src/sys.rs", argued).is_empty());
    assert_eq!(found("crates/live/src/udp.rs", argued), ["crates/live/src/udp.rs:2: unsafe"]);
    assert_eq!(found("src/lib.rs", "#[allow(unsafe_code)]\nmod sys;").len(), 1);
    assert_eq!(found("crates/live/src/lib.rs", "#[allow(unsafe_code)]\nmod udp;").len(), 1);
    assert!(found("crates/live/src/lib.rs", "#[allow(unsafe_code)]\nmod sys;").is_empty());
    assert!(found("src/lib.rs", "#![forbid(unsafe_code)] // unsafe").is_empty());
}

fn metadata(name: &str, need: &str, kind: &str, licence: &str) -> Value {
    Value::parse(&format!(
        r#"{{"packages": [{{"name": "{name}", "license": {licence},
            "dependencies": [{{"name": "{need}", "kind": {kind}}}]}}]}}"#
    ))
    .expect("the snippet is JSON")
}

#[test]
fn a_dependency_that_points_the_wrong_way_is_found() {
    let direction = |name, need, kind| rules::direction(&metadata(name, need, kind, "null"));
    assert_eq!(direction("tidegate-core", "rand", "null"), ["tidegate-core depends on rand"]);
    assert_eq!(
        direction("tidegate-schemes", "tidegate-sim", "null"),
        ["tidegate-schemes depends on tidegate-sim"]
    );
    assert_eq!(direction("tidegate-sim", "tidegate-results", "\"build\"").len(), 1);
    for (name, need) in [
        ("tidegate-settings", "tidegate-schemes"),
        ("tidegate-live", "tidegate-sim"),
        ("tidegate-sim", "tidegate-wire"),
        ("tidegate-sim", "tidegate-live"),
        ("tidegate-wire", "tidegate-schemes"),
    ] {
        assert_eq!(direction(name, need, "null"), [format!("{name} depends on {need}")]);
    }
    assert!(direction("tidegate-wire", "sha2", "null").is_empty());
    assert!(direction("tidegate-core", "rand", "\"dev\"").is_empty());
    assert!(direction("tidegate-core", "hashbrown", "null").is_empty());
}

#[test]
fn a_licence_that_is_missing_or_binds_others_is_found() {
    let licences = |licence| rules::licences(&metadata("x", "y", "null", licence));
    assert_eq!(licences("\"GPL-3.0-only\""), ["x: licence \"GPL-3.0-only\""]);
    assert_eq!(licences("null"), ["x: licence \"\""]);
    assert!(licences("\"MIT OR Apache-2.0\"").is_empty());
}

#[test]
fn an_expression_of_licences_is_read_as_a_whole() {
    for free in [
        "MIT/Apache-2.0",
        "MIT OR GPL-2.0",
        "(MIT OR GPL-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR MIT",
    ] {
        assert!(rules::is_free(free), "{free}");
    }
    for bound in ["MIT AND GPL-2.0", "(MIT OR Apache-2.0) AND MPL-2.0", "", "MIT)", "LGPL-3.0 OR GPL-3.0"] {
        assert!(!rules::is_free(bound), "{bound}");
    }
}

#[test]
fn a_scheme_that_imports_another_is_found() {
    let found = |file: &str, text: &str| rules::scheme_imports(&[&scheme(file, text)], &modules()).len();
    assert_eq!(found("aimd.rs", "use crate::plr::Store;"), 1);
    assert_eq!(found("aimd.rs", "use crate::{toolbox::x, plr};"), 1);
    assert_eq!(found("aimd.rs", "fn f() { super::plr::g() }"), 1);
    assert_eq!(found("plr/store.rs", "use crate::aimd;"), 1);
    assert_eq!(
        found("plr/store.rs", "use super::plr; use crate::plr::mod_one; use crate::toolbox::aimd;"),
        0
    );
    assert_eq!(found("toolbox/x.rs", "use crate::plr;"), 0);
}

#[test]
fn a_scheme_without_a_paper_or_a_golden_text_is_found() {
    let text = "//! Idea.\n//!\n//! Paper: X.\n\npub static SCHEME: Scheme = Scheme { name: \"aimd\" };";
    let golden = Source::new("golden/aimd/a.txt", "");
    let found = |text: &str, golden: Source| {
        rules::scheme_papers(&[scheme("aimd.rs", text), golden], &["aimd".to_owned()])
    };
    assert!(found(text, golden.clone()).is_empty());
    assert!(found(&text.replace("Paper: ", ""), golden.clone())[0].contains("Paper"));
    assert_eq!(found(text, core("")), ["crates/schemes/src/aimd.rs: golden/aimd/ has no text"]);
    assert_eq!(rules::scheme_papers(&[], &["aimd".to_owned()]), ["scheme aimd has no file"]);
}

#[test]
fn a_golden_text_without_a_test_is_found() {
    let golden = Source::new("golden/aimd/a.txt", "");
    let test = Source::new("crates/schemes/tests/x.rs", "\"aimd/a.txt\"");
    assert_eq!(rules::golden_orphans(std::slice::from_ref(&golden)).len(), 1);
    assert!(rules::golden_orphans(&[golden, test]).is_empty());
}

#[test]
fn a_file_that_no_module_declares_is_found() {
    let file = |path: &str, text: &str| Source::new(path, text);
    let sources = [
        file("crates/a/src/lib.rs", "mod b;\npub mod c;\n// mod d;\n"),
        file("crates/a/src/b.rs", "mod e;"),
        file("crates/a/src/b/e.rs", ""),
        file("crates/a/src/c/mod.rs", "#[path = \"../f.rs\"]\nmod g;"),
        file("crates/a/src/d.rs", ""),
        file("crates/a/src/f.rs", ""),
        file("crates/a/tests/g.rs", ""),
        file("src/commands/h.rs", ""),
    ];
    let dead = ["crates/a/src/d.rs", "crates/a/src/f.rs", "src/commands/h.rs"];
    assert_eq!(rules::dead_files(&sources), dead.map(|path| format!("{path}: no `mod` names it")));
    let sources: Vec<&Source> = sources.iter().collect();
    assert_eq!(rules::module_paths(&sources), ["crates/a/src/c/mod.rs:1: #[path]"]);
}

#[test]
fn a_module_beside_its_folder_is_found() {
    let sources =
        ["a/src/b.rs", "a/src/b/c.rs", "a/src/d/mod.rs", "a/src/d/e.rs"].map(|path| Source::new(path, ""));
    let sources: Vec<&Source> = sources.iter().collect();
    assert_eq!(rules::divided_modules(&sources), ["a/src/b.rs: write a/src/b/mod.rs"]);
}

#[test]
fn a_quantity_without_a_unit_is_found() {
    let found = |text: &str| rules::bare_quantities(&[&core(text)]).len();
    assert_eq!(found("pub fn f(delay_ms: u64) {}"), 1);
    assert_eq!(found("pub const fn f(&self, names: Vec<(u8, u8)>, rate: f64) -> Self {}"), 1);
    assert_eq!(found("pub fn f<F: Fn(u8) -> u8>(f: F, size: Option<usize>) {}"), 1);
    assert_eq!(found("pub fn rtt(&self) -> Option<f64> { 1.0 }"), 1);
    assert_eq!(found("pub trait T { fn on(&self, now: u64); }"), 1);
    assert_eq!(found("pub fn f(delay: Span, window: f64, rate: BitRate) -> u32 {}"), 0);
    assert_eq!(found("fn f(delay_ms: u64) {} pub(crate) fn g(size: u64) {} struct S { rate: f64 }"), 0);
}

#[test]
fn a_function_with_six_parameters_is_found() {
    let found = |text: &str| rules::many_parameters(&[&core(text)]);
    assert!(found("fn f(&self, a: u8, (b, c): (u8, u8), d: u8, e: u8, f: u8) {}").is_empty());
    assert_eq!(
        found("fn f<T: Fn(u8)>(a: impl Fn(u8, u8) -> u8, b: [u8; 2], c: u8, d: u8, e: u8, f: T) {}"),
        ["crates/core/src/x.rs:1: f has 6 parameters"]
    );
    assert_eq!(
        found("trait T { fn f(self: Box<Self>, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8); }").len(),
        1
    );
}

#[test]
fn every_exception_for_bare_numbers_names_a_file_that_is_there() {
    for (file, _, why) in rules::BARE_ALLOWED {
        assert!(crate::root().join(file).exists(), "{file}");
        assert!(!why.is_empty());
    }
}

#[test]
fn a_path_of_one_machine_is_found() {
    let found = |text: &str| rules::machine_paths(&[core(text)]).len();
    let home = "/home";
    assert_eq!(found(&format!("see {home}/me/notes")), 1);
    assert_eq!(found(&format!("\"{home}/me\"")), 1);
    assert_eq!(found("https://example.org/home/page, ./tmp/x, a/work/b"), 0);
}

#[test]
fn a_link_to_nowhere_is_found() {
    let page = Source::new("docs/a.md", "[b](b.md) [c](../c.md#d) [e](https://e.org) [f](#g)");
    assert_eq!(
        rules::broken_links(&[page], |path| path == "docs/b.md"),
        ["docs/a.md: ../c.md does not exist"]
    );
}

#[test]
fn a_function_is_as_long_as_its_braces_say() {
    let source = core("fn a();\nfn b() {\n  \"}\";\n}\n\nfn c() {}\n");
    let lengths: Vec<usize> = rules::function_lengths(&source).iter().map(|(lines, _)| *lines).collect();
    assert_eq!(lengths, [3, 1]);
}

#[test]
fn a_test_that_skips_in_silence_is_found() {
    let quiet = "fn a() {\n    PRINT(\"skipped: no tool\");\n}\n".replace("PRINT", "println!");
    let source = Source::new("crates/x/tests/it/a.rs", &quiet);
    assert_eq!(rules::silent_skips(&[&source]), ["crates/x/tests/it/a.rs:2: use support::skipped"]);
    assert!(rules::silent_skips(&[&Source::new("tests/a.rs", "skipped(\"a\", \"b\");")]).is_empty());
}

#[test]
fn a_documentation_comment_of_three_words_is_found_on_any_item_outside_tests() {
    let text = "/// Name of it.\n#[must_use]\npub fn name() {}\n/// Name of the node.\npub a: u8,\n/// Its.\nb: u8,\n\
        #[cfg(test)]\nmod tests {\n    /// Its.\n    fn b() {}\n}\n";
    let found =
        ["crates/core/src/x.rs:1: a comment of 3 words", "crates/core/src/x.rs:6: a comment of 1 words"];
    assert_eq!(rules::short_docs(&[&core(text)]), found);
    assert_eq!(
        rules::short_docs(&[&Source::new("crates/core/src/x/tests.rs", "/// Its.\n")]),
        Vec::<String>::new()
    );
    let long = core("/// The node's\n/// own name.\npub fn name() {}\n");
    assert_eq!(rules::short_docs(&[&long]), Vec::<String>::new());
}

#[test]
fn a_type_name_of_two_crates_or_four_files_is_found() {
    let (one, other) =
        (core("pub struct Shaper<B> {\n"), scheme("x.rs", "pub enum Shaper {}\nenum Frame {}\n"));
    assert_eq!(rules::repeated_types(&[&one, &other]), ["Shaper in crates/core, crates/schemes"]);
    assert_eq!(rules::repeated_types(&[&one, &one]), Vec::<String>::new());
    let files = ["a", "b", "c", "d"].map(|file| scheme(&format!("{file}.rs"), "pub(super) struct Seen {\n"));
    assert_eq!(rules::repeated_types(&files.each_ref()[..3]), Vec::<String>::new());
    assert_eq!(
        rules::repeated_types(&files.each_ref()),
        [
            "Seen in crates/schemes/src/a.rs, crates/schemes/src/b.rs, crates/schemes/src/c.rs, crates/schemes/src/d.rs"
        ]
    );
}

#[test]
fn a_function_that_is_named_as_a_person_acts_is_found() {
    let source = core("fn tell_loss() {}\nfn notify_loss() {}\n// fn hear()\nfn retell() {}\n");
    let faults = rules::personifications(&[&source], &["tell", "hear"]);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].ends_with(":1: tell_loss"), "{faults:?}");
}
