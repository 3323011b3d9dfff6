//! The forwarder's configuration file as users write it, and as nobody should.

use std::path::{Path, PathBuf};

use tidegate_core::rng::{Rng, Seed};
use tidegate_live::daemon::config::{ForwarderConfig, json_schema};
use tidegate_schemes::SCHEMES;

const EXAMPLE: &str = include_str!("../../../../scenarios/live/forwarder.toml");

fn path(inner: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(inner)
}

/// Parses, and holds what every answer promises.
fn check(bytes: &[u8]) -> bool {
    match ForwarderConfig::parse("input.toml", bytes, SCHEMES) {
        Ok(config) => {
            assert!(config.faces.len() <= usize::from(config.max_faces));
            assert!(config.routes.iter().all(|route| route.face < config.faces.len()));
            true
        }
        Err(errors) => {
            assert!(errors.iter().count() > 0);
            for error in &errors {
                assert!(error.line >= 1 && error.width >= 1 && !error.message.is_empty(), "{error}");
            }
            false
        }
    }
}

#[test]
fn the_example_is_sound_and_says_what_its_comments_say() {
    let config = ForwarderConfig::parse("forwarder.toml", EXAMPLE.as_bytes(), SCHEMES).expect("sound");
    let [upstream, campus] = config.faces.as_slice() else { panic!("{} faces", config.faces.len()) };
    assert_eq!(upstream.config.rate.map(|rate| rate.as_bps()), Some(50_000_000));
    assert_eq!(upstream.config.parts[0].scheme.name, "plr");
    assert_eq!(upstream.config.queue.disciplines[0].scheme.name, "nfd-marking");
    assert_eq!((campus.uri.as_str(), campus.config.rate), ("tcp4://campus.example:6363", None));
    assert_eq!(config.routes.iter().map(|route| route.cost).collect::<Vec<_>>(), [10, 0]);
}

#[test]
fn the_published_schema_is_the_one_the_parser_uses() {
    let (schema, file) = (json_schema(), path("scenarios/live/forwarder.schema.json"));
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &schema).expect("the scenarios' folder can be written");
    }
    let published = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        published == schema,
        "run UPDATE_SCHEMA=1 cargo test -p tidegate-live schema, and review the change"
    );
}

#[test]
fn a_damaged_text_is_answered_soundly() {
    const PIECES: [&str; 12] =
        ["[", "]", "{", "}", "=", "\"", "\n", "[[face]]\n", "udp://", "\"0pkt\"", "-1", "\u{e4}"];
    for seed in 0..4_000 {
        let mut rng = Rng::stream(Seed(seed), "damage");
        let mut bytes = EXAMPLE.as_bytes().to_vec();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(bytes.len() as u32) as usize;
            let piece = PIECES[rng.below(PIECES.len() as u32) as usize].bytes();
            match rng.below(4) {
                0 => bytes.truncate(at.max(1)),
                1 => drop(bytes.splice(at..at, piece)),
                2 => drop(bytes.drain(at..(at + 1 + rng.below(40) as usize).min(bytes.len() - 1).max(at))),
                _ => bytes[at] = rng.below(256) as u8,
            }
        }
        check(&bytes);
    }
}

#[test]
fn texts_that_once_were_hard_are_answered_soundly() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(path("fuzz/corpus/forwarder_config"))
        .expect("the corpus is there")
        .map(|file| file.expect("readable").path())
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{} files", files.len());
    for file in files {
        println!("{}", file.display());
        check(&std::fs::read(&file).expect("readable"));
    }
}

#[test]
fn a_text_cannot_take_memory_without_bound() {
    let faces = |parts: &str| {
        let face = |number| format!("[[face]]\nuri = \"udp://h{number}\"\n");
        let all: String = (0..25_000).map(face).collect();
        format!(
            "format = 1\nforwarder = {{ max_faces = 60000 }}\n[face_defaults]\nrouter_parts = [{parts}]\n{all}"
        )
    };
    assert!(check(faces("").as_bytes()));
    let many = "{ scheme = \"plr\", alpha = 0.5 },".repeat(16);
    let errors = ForwarderConfig::parse("x.toml", faces(&many).as_bytes(), SCHEMES).expect_err("too large");
    assert!(errors.to_string().contains("with this the configuration takes more than"), "{errors}");
}
