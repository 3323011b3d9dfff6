//! Scenario texts: the text, then overrides (`key=value`), each after a zero byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_schemes::SCHEMES;
use tidegate_sim::scenario::{Limits, Parser};

/// Small enough that one number cannot make an input slow.
const LIMITS: Limits = Limits { text_bytes: 1 << 20, nodes: 300, links: 600, flows: 300, plan_bytes: 16 << 20 };

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|byte| *byte == 0);
    let text = parts.next().unwrap_or(&[]);
    let overrides: Vec<(String, String)> = parts.filter_map(pair).take(8).collect();
    let read = |name: &str| if name == "loss.txt" { Ok("0001".to_owned()) } else { Err("not there".to_owned()) };
    let parser = Parser {
        overrides: &overrides,
        files: Some(&read),
        limits: LIMITS,
        ..Parser::new("input.toml", SCHEMES)
    };
    match parser.parse_bytes(text) {
        Ok(plan) => {
            // What is kept beside the results can be read again.
            let again = Parser { overrides: &[], ..parser }.parse(&plan.text);
            assert!(again.is_ok_and(|again| again.flows.len() == plan.flows.len()));
        }
        Err(errors) => {
            assert!(errors.iter().count() > 0);
            assert!(!errors.to_string().is_empty());
        }
    }
});

fn pair(part: &[u8]) -> Option<(String, String)> {
    let part = std::str::from_utf8(part).ok()?;
    part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()))
}
