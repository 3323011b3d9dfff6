//! Damaged scenarios: whatever the damage, the answer is a sound plan or a list of problems.

use std::path::Path;

use tidegate_core::rng::{Rng, Seed};

use super::examples::EXAMPLES;
use super::sound::check;

/// Pieces that mean something to the parser.
const PIECES: [&str; 24] = [
    "\"",
    "'''",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    "\n",
    ".",
    "#",
    "\"\"\"",
    "99999999999999999999",
    "-1",
    "nan",
    "0",
    "true",
    "[[flow]]\n",
    "repeat = 1000000\n",
    "{i%",
    "\\u0000",
    "\u{FEFF}",
    "ä",
    "\"0s\"",
    ", ",
];

pub fn damage(text: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len() as u32 + 1) as usize;
        match rng.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 => bytes.truncate(at),
            2 => drop(bytes.splice(at..at, PIECES[rng.below(PIECES.len() as u32) as usize].bytes())),
            3 => {
                let end = bytes.len().min(at + 1 + rng.below(30) as usize);
                bytes.drain(at..end);
            }
            4 => delete_line(&mut bytes, at),
            5 => {
                let end = bytes.len().min(at + rng.below(200) as usize);
                let piece = bytes[at..end].to_vec();
                let to = rng.below(bytes.len() as u32 + 1) as usize;
                bytes.splice(to..to, piece);
            }
            _ => change_digits(&mut bytes, at, rng),
        }
    }
    bytes
}

fn delete_line(bytes: &mut Vec<u8>, at: usize) {
    let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
    let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |index| at + index + 1);
    bytes.drain(start..end);
}

/// The first digit from `at` on becomes another number.
fn change_digits(bytes: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    const NUMBERS: [&str; 8] =
        ["0", "1", "3.5", "65537", "1000000", "4294967295", "9223372036854775807", "1e309"];
    if let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let number = NUMBERS[rng.below(NUMBERS.len() as u32) as usize];
        bytes.splice(at + digit..=at + digit, number.bytes());
    }
}

#[test]
fn damaged_examples_are_answered_soundly() {
    let (mut sound, mut refused) = (0, 0);
    for seed in 0..6_000 {
        let mut rng = Rng::stream(Seed(seed), "damage");
        let (name, text) = EXAMPLES[rng.below(EXAMPLES.len() as u32) as usize];
        let bytes = damage(text.as_bytes(), &mut rng);
        println!("seed {seed}, {name}:\n{}", String::from_utf8_lossy(&bytes));
        match check(&bytes, &[]) {
            Ok(_) => sound += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(
        sound > 300 && refused > 3_000,
        "{sound} sound, {refused} refused: the damage is too great or too small"
    );
}

#[test]
fn damaged_overrides_are_answered_soundly() {
    const PATHS: [&str; 8] = [
        "flow.0.scheme.beta",
        "flow.*.size",
        "topology.bottleneck.rate",
        "scenario.seeds",
        "link.r1-r2.loss.model",
        "node.r1.cache",
        "expect.jain",
        "router.router_parts.0.alpha",
    ];
    const VALUES: [&str; 8] = ["0.5", "10Mbps", "{a=1}", "[1,2]", "\"x", "none", "1e400", "3"];
    for seed in 0..3_000 {
        let mut rng = Rng::stream(Seed(seed), "overrides");
        let (name, text) = EXAMPLES[rng.below(EXAMPLES.len() as u32) as usize];
        let mut pick = |list: &[&str]| list[rng.below(list.len() as u32) as usize].as_bytes().to_vec();
        let (path, value) = (pick(&PATHS), pick(&VALUES));
        let (path, value) = if seed % 2 == 0 { (damage(&path, &mut rng), value) } else { (path, value) };
        let text_of = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let overrides = [(text_of(path), text_of(value))];
        println!("seed {seed}, {name}, {overrides:?}");
        let _ = check(text.as_bytes(), &overrides);
    }
}

#[test]
fn texts_that_once_were_hard_are_answered_soundly() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/scenario");
    let mut files: Vec<_> = std::fs::read_dir(&corpus)
        .expect("the corpus is there")
        .map(|file| file.expect("readable").path())
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{} files", files.len());
    for file in files {
        println!("{}", file.display());
        let bytes = std::fs::read(&file).expect("readable");
        let (text, overrides) = split_overrides(&bytes);
        let _ = check(text, &overrides);
    }
}

/// As the fuzz target reads its input: text, then overrides, each after a zero byte.
fn split_overrides(bytes: &[u8]) -> (&[u8], Vec<(String, String)>) {
    let mut parts = bytes.split(|byte| *byte == 0);
    let text = parts.next().unwrap_or(&[]);
    let pair = |part: &[u8]| {
        let part = String::from_utf8_lossy(part).into_owned();
        part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()))
    };
    (text, parts.filter_map(pair).collect())
}

#[test]
fn the_deepest_text_that_is_read_does_not_exhaust_a_small_stack() {
    let inside = "{a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=".repeat(15);
    let text = format!("[a.a.a.a.a.a.a.a.a]\na.a.a.a.a.a.a.a={inside}1{}", "}".repeat(15));
    let deeper = format!("x = {}", "[".repeat(500_000));
    let work = move || {
        assert!(
            check(text.as_bytes(), &[]).is_err_and(|errors| errors.to_string().contains("unknown key \"a\""))
        );
        assert!(check(deeper.as_bytes(), &[]).is_err());
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(work).expect("a thread can start");
    thread.join().expect("no panic");
}
