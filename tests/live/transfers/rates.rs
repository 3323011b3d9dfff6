//! Rates that forwarders stamp and consumers follow.

use super::{assert_content, file_of, serve};
use crate::number;
use support::json::Value;
use support::program::Scratch;
use support::running::{Forwarder, Running, Way};

/// Interests per second that the gates give to one flow.
const CAPACITY: u32 = 400;

/// Segments of 1200 bytes.
const SEGMENTS: u32 = 400;

/// Seconds that a fetch with MIRCC's consumer takes through a forwarder with `parts`.
fn elapsed(test: &str, parts: &str) -> f64 {
    let scratch = Scratch::new(test);
    let forwarder = Forwarder::start(test, &format!("[face_defaults]\nrouter_parts = [{parts}]\n"));
    let file = file_of(&scratch, u64::from(SEGMENTS) * 1_200);
    let server = serve("/rates", &file, forwarder.uri(Way::Unix));
    let copy = scratch.at("copy");
    let uri = forwarder.uri(Way::Unix);
    let fetch =
        ["fetch", "/rates/v=5", "-o", &copy, "--scheme", "mircc", "--format", "json", "--transport", uri];
    let ended = Running::start(&fetch).wait().with(0);
    assert_eq!(assert_content(&copy), u64::from(SEGMENTS) * 1_200);
    let summary = ended.json();
    assert_eq!(*summary.get("complete"), Value::Bool(true), "{}", ended.out);
    server.stop().with(0);
    number(&summary, "elapsed_s")
}

#[test]
fn a_fetch_follows_the_rate_that_a_forwarder_stamps() {
    // Nothing but the stamp holds it back: without it this takes a tenth of a second.
    let parts = format!("{{ scheme = \"mircc\", capacity = {CAPACITY}, policing = \"off\" }}");
    let (stamped, min) = (elapsed("stamped", &parts), f64::from(SEGMENTS - 1) / f64::from(CAPACITY));
    assert!(stamped > min * 0.99, "{stamped} s, at the rate {min} s");
}
