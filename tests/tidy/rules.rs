//! The rules, each a function from sources to everything that breaks it.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Source, bracketed, is_word, line, places};
use support::json::Value;

/// Sources of the crates whose files begin with one of `folders`.
pub fn of<'a>(sources: &'a [Source], folders: &[&str]) -> Vec<&'a Source> {
    let is_in = |source: &&Source| {
        source.file().ends_with(".rs") && folders.iter().any(|folder| source.path.starts_with(folder))
    };
    sources.iter().filter(is_in).collect()
}

/// `core`, `schemes` and `settings` have no IO, no clock and no threads.
pub fn world_outside(sources: &[&Source]) -> Vec<String> {
    const MODULES: [&str; 6] = ["net", "fs", "thread", "env", "process", "os"];
    const WORDS: [&str; 7] = ["Instant", "SystemTime", "println", "eprintln", "print", "eprint", "dbg"];
    let mut faults = Vec::new();
    for source in sources {
        for at in places(&source.code, "std").filter(|at| source.code[at + 3..].starts_with("::")) {
            let rest = &source.code[at + 5..];
            let inside = if rest.starts_with('{') { bracketed(rest) } else { rest };
            let count = if rest.starts_with('{') { usize::MAX } else { 1 };
            let heads = inside.split(',').take(count).map(|part| part.trim().split(|c| !is_word(c)).next());
            for module in heads.flatten().filter(|head| MODULES.contains(head)) {
                faults.push(format!("{}:{}: std::{module}", source.path, line(&source.code, at)));
            }
        }
        for word in WORDS {
            let faulty = places(&source.code, word).map(|at| (at, &source.code[at + word.len()..]));
            // A macro needs its mark; a type does not.
            let faulty =
                faulty.filter(|(_, rest)| word.starts_with(char::is_uppercase) || rest.starts_with('!'));
            faults
                .extend(faulty.map(|(at, _)| format!("{}:{}: {word}", source.path, line(&source.code, at))));
        }
    }
    faults
}

/// Hash maps of the standard library, whose order differs from run to run, and any map that iterates by hash.
pub fn hash_maps(sources: &[&Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        for word in ["HashMap", "HashSet", "RandomState"] {
            faults.extend(
                places(&source.code, word)
                    .map(|at| format!("{}:{}: {word}", source.path, line(&source.code, at))),
            );
        }
    }
    faults
}

/// Methods of `f64` that call the platform's library, whose last bit differs between systems. `core::math` has
/// the same from one implementation; tests may use either.
pub fn platform_functions(sources: &[&Source]) -> Vec<String> {
    const FUNCTIONS: [&str; 24] = [
        "cbrt", "powf", "powi", "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log2", "log10", "sin", "cos",
        "sin_cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "hypot", "mul_add",
    ];
    let is_test =
        |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/testing");
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| !is_test(&source.path)) {
        let code = source.code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for word in FUNCTIONS {
            let called = places(code, word).filter(|at| {
                let (before, after) = (&code[..*at], &code[at + word.len()..]);
                (before.ends_with('.') && after.starts_with('(')) || before.ends_with("f64::")
            });
            faults.extend(called.map(|at| format!("{}:{}: {word}", source.path, line(code, at))));
        }
    }
    faults
}

/// Lines of Rust that belong to one paper, at most; everything else of a paper is text.
const PAPER_LINES: usize = 150;

/// Papers with more Rust of their own than [`PAPER_LINES`]: what `reproduce/measures` has under a paper's name.
pub fn paper_lines(sources: &[&Source], papers: &[String]) -> Vec<String> {
    let lines_of = |paper: &String| -> usize {
        let name = paper.replace('-', "_");
        let is_own = |source: &&&Source| {
            let rest = source.path.split_once("reproduce/measures/").map_or("", |(_, rest)| rest);
            rest == format!("{name}.rs") || rest.starts_with(&format!("{name}/"))
        };
        let own = sources.iter().filter(is_own);
        // The text, as a line of a long description is a line of the table of measures.
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        own.map(|source| source.text.lines().filter(is_code).count()).sum()
    };
    let long = papers.iter().map(|paper| (lines_of(paper), paper)).filter(|(lines, _)| *lines > PAPER_LINES);
    long.map(|(lines, paper)| format!("{paper}: {lines} lines")).collect()
}

/// The one file with unsafe code, and the root that lets it.
const UNSAFE: (&str, &str) = ("crates/live/src/sys.rs", "crates/live/src/lib.rs");
/// How far above unsafe code the argument for it may begin, lines.
const ARGUMENT: usize = 8;

/// Unsafe code outside [`UNSAFE`], and there without a comment that says why it is sound.
pub fn unsafe_code(sources: &[&Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let lines: Vec<&str> = source.text.lines().collect();
        for at in places(&source.code, "unsafe") {
            let number = line(&source.code, at);
            let above = &lines[number.saturating_sub(ARGUMENT + 1)..number];
            let is_argued = above.iter().any(|line| line.to_uppercase().contains("SAFETY"));
            if source.path != UNSAFE.0 || !is_argued {
                faults.push(format!("{}:{number}: unsafe", source.path));
            }
        }
        if source.path != UNSAFE.0 {
            let is_for_sys = |at: usize| {
                source.path == UNSAFE.1 && source.code[at..].starts_with("unsafe_code)]\nmod sys;")
            };
            let allows = places(&source.code, "unsafe_code")
                .filter(|at| source.code[..*at].trim_end_matches('(').ends_with("allow"))
                .filter(|at| !is_for_sys(*at));
            faults.extend(
                allows.map(|at| format!("{}:{}: allow(unsafe_code)", source.path, line(&source.code, at))),
            );
        }
    }
    faults
}

/// The root of every crate forbids unsafe code; one denies it, as only that can be lifted for a module.
pub fn unsafe_allowed(sources: &[Source]) -> Vec<String> {
    let is_root = |path: &str| {
        matches!(path, "src/lib.rs" | "src/main.rs")
            || (path.starts_with("crates/") && path.ends_with("/src/lib.rs"))
    };
    let allows = |source: &&Source| {
        let level = if source.path == UNSAFE.1 { "deny" } else { "forbid" };
        !source.code.contains(&format!("#![{level}(unsafe_code)]"))
    };
    sources
        .iter()
        .filter(|source| is_root(&source.path))
        .filter(allows)
        .map(|source| format!("{}: no #![forbid(unsafe_code)]", source.path))
        .collect()
}

/// What a crate of ours may (or must not) need.
pub enum Needs {
    Only(&'static [&'static str]),
    Never(&'static [&'static str]),
}

/// Dependencies point one way; tests' dependencies do not count.
pub const DIRECTION: [(&str, Needs); 9] = [
    ("tidegate-core", Needs::Only(&["hashbrown", "libm", "thiserror"])),
    ("tidegate-schemes", Needs::Only(&["tidegate-core"])),
    ("tidegate-settings", Needs::Only(&["tidegate-core", "serde_json", "strsim", "thiserror", "toml"])),
    (
        "tidegate-wire",
        Needs::Only(&[
            "tidegate-core",
            "bytes",
            "ed25519-dalek",
            "p256",
            "pkcs8",
            "rsa",
            "sha2",
            "thiserror",
        ]),
    ),
    (
        "tidegate-sim",
        Needs::Never(&[
            "tidegate-wire",
            "tidegate-live",
            "tidegate-results",
            "tidegate-pages",
            "tidegate-cli",
        ]),
    ),
    (
        "tidegate-results",
        Needs::Never(&[
            "tidegate-pages",
            "tidegate-schemes",
            "tidegate-sim",
            "tidegate-live",
            "tidegate-cli",
        ]),
    ),
    ("tidegate-pages", Needs::Never(&["tidegate-schemes", "tidegate-sim", "tidegate-live", "tidegate-cli"])),
    ("tidegate", Needs::Only(&["tidegate-cli", "tidegate-core"])),
    ("tidegate-live", Needs::Never(&["tidegate-sim", "tidegate-results", "tidegate-pages", "tidegate-cli"])),
];

/// Dependencies of our crates against [`DIRECTION`]; `metadata` is what `cargo metadata` prints.
pub fn direction(metadata: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for package in metadata.get("packages").list() {
        let name = package.get("name").text();
        let Some((_, needs)) = DIRECTION.iter().find(|(ours, _)| *ours == name) else { continue };
        let shipped =
            package.get("dependencies").list().iter().filter(|need| need.get("kind").text() != "dev");
        for need in shipped.map(|need| need.get("name").text()) {
            let is_fine = match needs {
                Needs::Only(allowed) => allowed.contains(&need),
                Needs::Never(refused) => !refused.contains(&need),
            };
            if !is_fine {
                faults.push(format!("{name} depends on {need}"));
            }
        }
    }
    faults
}

/// Licences that a dependency may be used under. CC0 gives up all rights, so it asks for nothing either.
const LICENCES: [&str; 10] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "0BSD",
    "CC0-1.0",
];

/// Whether an SPDX expression can be met with [`LICENCES`]. An exception (`WITH`) only widens what its licence allows.
pub fn is_free(expression: &str) -> bool {
    let is_listed = |required: &spdx::LicenseReq| {
        required.license.id().is_some_and(|licence| LICENCES.contains(&licence.name))
    };
    // Older manifests write `MIT/Apache-2.0`, which the strict mode refuses.
    spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX).is_ok_and(|read| read.evaluate(is_listed))
}

/// Packages whose licence is missing or not among [`LICENCES`].
pub fn licences(metadata: &Value) -> Vec<String> {
    let packages = metadata.get("packages").list().iter();
    packages
        .filter(|package| !is_free(package.get("license").text()))
        .map(|package| format!("{}: licence {:?}", package.get("name").text(), package.get("license").text()))
        .collect()
}

/// Modules named by `schemes! { ... }`.
pub fn scheme_modules(registry: &Source) -> Vec<String> {
    let Some(at) = registry.code.find("\nschemes! {") else { return Vec::new() };
    let list = bracketed(&registry.code[at + "\nschemes! ".len()..]);
    list.split(',').map(|module| module.trim().to_owned()).filter(|module| !module.is_empty()).collect()
}

/// The scheme that a file of `schemes` belongs to; `None` for the toolbox and the like.
fn scheme_of<'a>(source: &Source, modules: &'a [String]) -> Option<&'a String> {
    let inner = source.path.strip_prefix("crates/schemes/src/")?;
    let module = inner.split(['/', '.']).next()?;
    modules.iter().find(|known| *known == module)
}

/// A scheme that imports another one; shared parts belong in the toolbox.
pub fn scheme_imports(sources: &[&Source], modules: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let Some(own) = scheme_of(source, modules) else { continue };
        let depth = source.path.matches('/').count() - 3;
        // `super` leads out of the scheme from its top file only.
        let doors: &[&str] =
            if depth == 0 || source.file() == "mod.rs" { &["crate", "super"] } else { &["crate"] };
        for (door, at) in doors.iter().flat_map(|door| places(&source.code, door).map(move |at| (door, at))) {
            let Some(rest) = source.code[at + door.len()..].strip_prefix("::") else { continue };
            let inside = if rest.starts_with('{') {
                bracketed(rest)
            } else {
                rest.split([';', ',']).next().unwrap_or("")
            };
            let heads = inside.split(',').filter_map(|part| part.trim().split(|c| !is_word(c)).next());
            for other in heads.filter(|head| *head != own && modules.iter().any(|module| module == head)) {
                faults.push(format!("{}:{}: imports scheme {other}", source.path, line(&source.code, at)));
            }
        }
    }
    faults
}

/// Every scheme says what it follows and has a golden text.
pub fn scheme_papers(sources: &[Source], modules: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    for module in modules {
        let files =
            [format!("crates/schemes/src/{module}.rs"), format!("crates/schemes/src/{module}/mod.rs")];
        let Some(source) = sources.iter().find(|source| files.contains(&source.path)) else {
            faults.push(format!("scheme {module} has no file"));
            continue;
        };
        if !source
            .text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .any(|line| line.starts_with("//! Paper: "))
        {
            faults.push(format!("{}: no line \"//! Paper: ...\" in its head", source.path));
        }
        let name = scheme_name(source);
        let has_golden = sources.iter().any(|file| file.path.starts_with(&format!("golden/{name}/")));
        if !has_golden {
            faults.push(format!("{}: golden/{name}/ has no text", source.path));
        }
    }
    faults
}

/// The name in a file's `SCHEME`.
fn scheme_name(source: &Source) -> String {
    let head = source.text.split_once("static SCHEME").map_or("", |(_, rest)| rest);
    head.split_once("name: \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(name, _)| name)
        .to_owned()
}

/// Golden texts that no test names.
pub fn golden_orphans(sources: &[Source]) -> Vec<String> {
    let is_test = |source: &&Source| source.path.contains("/tests/") && source.file().ends_with(".rs");
    let tests: String = sources.iter().filter(is_test).map(|source| source.text.as_str()).collect();
    let is_orphan = |source: &&Source| {
        source.path.starts_with("golden/") && !tests.contains(&format!("{}\"", source.file()))
    };
    sources.iter().filter(is_orphan).map(|source| format!("{}: no test names it", source.path)).collect()
}

/// Tests that print that they skip something: nobody sees what a test prints that passes.
pub fn silent_skips(sources: &[&Source]) -> Vec<String> {
    let tests = sources.iter().filter(|source| source.path.contains("tests/"));
    let is_silent =
        |line: &str| ["println!(\"skip", "print!(\"skip"].iter().any(|print| line.contains(print));
    tests
        .flat_map(|source| {
            let lines = source.text.lines().enumerate().filter(move |(_, line)| is_silent(line));
            lines.map(|(number, _)| format!("{}:{}: use support::skipped", source.path, number + 1))
        })
        .collect()
}

/// Rust files that no other file declares as a module.
pub fn dead_files(sources: &[Source]) -> Vec<String> {
    let rust: Vec<&Source> = sources.iter().filter(|source| source.file().ends_with(".rs")).collect();
    let is_dead = |source: &&&Source| !is_target(&source.path) && !is_declared(source, &rust);
    rust.iter().filter(is_dead).map(|source| format!("{}: no `mod` names it", source.path)).collect()
}

/// Modules that are taken from elsewhere by path: a file belongs to one crate, and what two need is a crate.
pub fn module_paths(sources: &[&Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let attributes = source.code.match_indices("#[path").map(|(at, _)| line(&source.code, at));
        faults.extend(attributes.map(|number| format!("{}:{number}: #[path]", source.path)));
    }
    faults
}

/// Files beside a folder of the same name: such a module is `x/mod.rs` everywhere.
pub fn divided_modules(sources: &[&Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let Some(folder) = source.path.strip_suffix(".rs").map(|stem| format!("{stem}/")) else { continue };
        if sources.iter().any(|other| other.path.starts_with(&folder)) {
            faults.push(format!("{}: write {folder}mod.rs", source.path));
        }
    }
    faults
}

/// Whether Cargo itself finds the file.
fn is_target(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let inner = match parts.as_slice() {
        ["crates", _, rest @ ..] | ["fuzz", rest @ ..] => rest,
        ["examples", _, "src", file] | ["tests", "support", "src", file] => &["src", file],
        rest => rest,
    };
    matches!(
        inner,
        ["src", "lib.rs" | "main.rs"]
            | ["src", "bin", _]
            | ["build", "main.rs" | "tests.rs"]
            | ["tests" | "examples" | "benches" | "fuzz_targets", _]
            | ["tests" | "examples" | "benches", _, "main.rs"]
    )
}

fn is_declared(source: &Source, rust: &[&Source]) -> bool {
    let stem = source.file().trim_end_matches(".rs");
    let (module, folder) = match stem {
        "mod" => {
            let folder = source.folder();
            folder.rsplit_once('/').map_or((folder, ""), |(parent, name)| (name, parent))
        }
        _ => (stem, source.folder()),
    };
    let parents = [
        format!("{folder}/lib.rs"),
        format!("{folder}/main.rs"),
        format!("{folder}/mod.rs"),
        format!("{folder}.rs"),
    ];
    let declares = |parent: &&&Source| {
        parents.contains(&parent.path)
            && (parent.code.contains(&format!("mod {module};"))
                || scheme_modules(parent).iter().any(|m| m == module))
    };
    rust.iter().find(declares).is_some()
}

/// Last words of names that stand for a time, a rate or a size.
const QUANTITIES: [&str; 27] = [
    "ns", "us", "ms", "s", "secs", "seconds", "nanos", "micros", "millis", "time", "now", "delay", "rtt",
    "rto", "interval", "timeout", "deadline", "duration", "lifetime", "sojourn", "age", "rate", "bps",
    "mbps", "size", "bytes", "payload",
];

/// Numbers without a unit in their type.
const BARE: [&str; 10] = ["f32", "f64", "u16", "u32", "u64", "u128", "usize", "i32", "i64", "i128"];

/// Where a quantity may be a bare number, and why.
pub const BARE_ALLOWED: [(&str, &str, &str); 3] = [
    ("crates/core/src/units/mod.rs", "", "numbers become units here and nowhere else"),
    ("crates/core/src/ndn/packet.rs", "data", "a size on the wire is worked out from lengths"),
    (
        "crates/core/src/ndn/pit/mod.rs",
        "memory_bytes",
        "memory of the process, not a size of the simulated network",
    ),
];

/// Public functions of `core` that take or give a time, a rate or a size as a bare number.
pub fn bare_quantities(sources: &[&Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        for (at, name, parameters, result) in public_functions(&source.code) {
            let mut bare: Vec<&str> = parameters
                .iter()
                .filter(|(name, kind)| is_quantity(name) && is_bare(kind))
                .map(|(name, _)| *name)
                .collect();
            if is_quantity(name) && is_bare(result) {
                bare.push("the result");
            }
            let is_allowed = BARE_ALLOWED.iter().any(|(file, function, _)| {
                source.path == *file && (function.is_empty() || *function == name)
            });
            if !bare.is_empty() && !is_allowed {
                faults.push(format!(
                    "{}:{}: {name}: {} without a unit",
                    source.path,
                    line(&source.code, at),
                    bare.join(", ")
                ));
            }
        }
    }
    faults
}

fn is_quantity(name: &str) -> bool {
    name.rsplit('_').next().is_some_and(|word| QUANTITIES.contains(&word))
}

fn is_bare(kind: &str) -> bool {
    let kind = kind.trim();
    let inner = kind.strip_prefix("Option<").and_then(|inner| inner.strip_suffix('>')).unwrap_or(kind);
    BARE.contains(&inner)
}

type Function<'a> = (usize, &'a str, Vec<(&'a str, &'a str)>, &'a str);

/// Functions that are `pub`, and those of `pub trait`s.
fn public_functions(code: &str) -> impl Iterator<Item = Function<'_>> {
    let traits: Vec<(usize, usize)> = places(code, "pub trait")
        .filter_map(|at| {
            let open = at + code[at..].find('{')?;
            Some((open, open + bracketed(&code[open..]).len()))
        })
        .collect();
    functions(code).filter(move |(at, ..)| {
        let before = code[..*at].trim_end().trim_end_matches("const").trim_end();
        before.ends_with("pub") || traits.iter().any(|(from, to)| from < at && at < to)
    })
}

/// All functions: place, name, parameters, result.
fn functions(code: &str) -> impl Iterator<Item = Function<'_>> {
    places(code, "fn").filter_map(|at| {
        let rest = code[at + 2..].trim_start();
        let name = &rest[..rest.find(|c| !is_word(c))?];
        let open = open_parenthesis(rest)?;
        let inside = bracketed(&rest[open..]);
        let after = &rest[open + inside.len() + 2..];
        let end = after.find(['{', ';']).unwrap_or(after.len());
        let result = after[..end].trim().strip_prefix("->").unwrap_or("");
        let result = result.split(" where").next().unwrap_or(result);
        Some((at, name, parameters(inside), result.trim()))
    })
}

/// Most parameters of a function besides `self`.
const MAX_PARAMETERS: usize = 5;

/// Functions with more than [`MAX_PARAMETERS`] parameters besides `self`.
pub fn many_parameters(sources: &[&Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        for (at, name, parameters, _) in functions(&source.code) {
            let count = parameters.iter().filter(|(name, _)| *name != "self").count();
            if count > MAX_PARAMETERS {
                let place = format!("{}:{}", source.path, line(&source.code, at));
                faults.push(format!("{place}: {name} has {count} parameters"));
            }
        }
    }
    faults
}

/// The parenthesis of the parameters, past those in generics (`fn f<F: Fn(u8)>(x: F)`).
fn open_parenthesis(rest: &str) -> Option<usize> {
    let mut depth = 0;
    let mut last = ' ';
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if last != '-' => depth -= 1,
            '(' if depth == 0 => return Some(at),
            _ => {}
        }
        last = c;
    }
    None
}

/// `name: type` pairs; commas inside brackets do not part them.
fn parameters(inside: &str) -> Vec<(&str, &str)> {
    let (mut depth, mut last) = (0, ' ');
    let parts = inside.split(|c| {
        match c {
            '<' | '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '>' if last != '-' => depth -= 1,
            _ => {}
        }
        last = c;
        c == ',' && depth == 0
    });
    parts.filter_map(|part| part.split_once(':')).map(|(name, kind)| (name.trim(), kind.trim())).collect()
}

/// Paths that exist on one machine only.
pub fn machine_paths(sources: &[Source]) -> Vec<String> {
    // Written in two parts, so that this file does not break its own rule.
    let paths = ["home", "root", "Users", "work", "tmp"].map(|folder| format!("/{folder}/"));
    let mut faults = Vec::new();
    for source in sources {
        for (number, text) in source.text.lines().enumerate() {
            // `$HOME/root/`, `a/work/b` and addresses are no paths from the root of a machine.
            let is_path = |path: &String| {
                text.match_indices(path.as_str())
                    .any(|(at, _)| !text[..at].ends_with(|c: char| is_word(c) || "./-}".contains(c)))
            };
            if let Some(path) = paths.iter().find(|path| is_path(path)) {
                faults.push(format!("{}:{}: {path}", source.path, number + 1));
            }
        }
    }
    faults
}

/// Links of Markdown files that lead to no file of the repository.
pub fn broken_links(sources: &[Source], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".md")) {
        for rest in source.text.split("](").skip(1) {
            let link = rest.split([')', '#']).next().unwrap_or("");
            if link.is_empty() || link.contains("://") {
                continue;
            }
            let folder = source.folder();
            let path = if folder.is_empty() { link.to_owned() } else { format!("{folder}/{link}") };
            if !exists(&path) {
                faults.push(format!("{}: {link} does not exist", source.path));
            }
        }
    }
    faults
}

/// Length of every function in lines, with its place.
pub fn function_lengths(source: &Source) -> Vec<(usize, String)> {
    let code = &source.code;
    places(code, "fn")
        .filter_map(|at| {
            let rest = &code[at..];
            let open = rest.find('{')?;
            if rest.find(';').is_some_and(|end| end < open) {
                return None;
            }
            let name: String = rest[2..].trim_start().chars().take_while(|c| is_word(*c)).collect();
            if name.is_empty() {
                return None; // The type `fn(A) -> B`.
            }
            let lines = rest[..open + bracketed(&rest[open..]).len() + 1].matches('\n').count() + 1;
            Some((lines, format!("{}:{} {name}", source.path, line(code, at))))
        })
        .collect()
}

/// Minimum number of words of a documentation comment.
const MIN_DOC_WORDS: usize = 4;

/// Number of files that may each define a type of the same name. `Arguments` is exempt: each command has one.
const MAX_FILES_OF_A_NAME: usize = 3;

/// Documentation comments outside tests with fewer than [`MIN_DOC_WORDS`] words, which seldom add to the name.
pub fn short_docs(sources: &[&Source]) -> Vec<String> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs");
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| !is_test(&source.path)) {
        let production = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let (mut words, mut begin) = (0, 0);
        // A last line without a comment ends a comment in the last line of the file.
        for (number, text) in production.lines().chain([""]).enumerate() {
            if let Some(doc) = text.trim_start().strip_prefix("///") {
                begin = if words == 0 { number + 1 } else { begin };
                words += doc.split_whitespace().count();
                continue;
            }
            if (1..MIN_DOC_WORDS).contains(&words) {
                faults.push(format!("{}:{begin}: a comment of {words} words", source.path));
            }
            words = 0;
        }
    }
    faults
}

/// Type names defined outside tests that are public in two crates, or that more than [`MAX_FILES_OF_A_NAME`] files use
/// for different types.
pub fn repeated_types(sources: &[&Source]) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        // Names of tests may repeat those of what they test.
        let Some((library, _)) = source.path.split_once("/src/").filter(|_| !source.path.contains("/tests"))
        else {
            continue;
        };
        for text in source.code.lines() {
            // An enum within `choice!` is indented.
            let text = text.strip_prefix("    ").filter(|text| text.starts_with("pub enum ")).unwrap_or(text);
            let mut words =
                text.split(|c| !is_word(c)).filter(|word| !["", "crate", "super", "in"].contains(word));
            let mut word = words.next();
            let is_public = text.starts_with("pub ");
            if word == Some("pub") {
                word = words.next();
            }
            let is_type = word.is_some_and(|word| ["struct", "enum", "trait", "type"].contains(&word));
            if let (true, Some(name)) = (is_type && !text.starts_with(' '), words.next()) {
                files.entry(name).or_default().insert(&source.path);
                if is_public {
                    crates.entry(name).or_default().insert(library);
                }
            }
        }
    }
    let list = |name: &str, places: &BTreeSet<&str>| {
        format!("{name} in {}", Vec::from_iter(places.clone()).join(", "))
    };
    let doubled = crates.iter().filter(|(_, places)| places.len() > 1);
    let frequent =
        files.iter().filter(|(name, places)| places.len() > MAX_FILES_OF_A_NAME && **name != "Arguments");
    doubled.chain(frequent).map(|(name, places)| list(name, places)).collect()
}

/// Functions whose names have a verb of people, which the glossary of CONTRIBUTING.md excludes.
pub fn personifications(sources: &[&Source], excluded: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        for at in places(&source.code, "fn") {
            let name = source.code[at + 2..].trim_start().split(|c| !is_word(c)).next().unwrap_or_default();
            if name.split('_').any(|word| excluded.contains(&word)) {
                faults.push(format!("{}:{}: {name}", source.path, line(&source.code, at)));
            }
        }
    }
    faults
}
