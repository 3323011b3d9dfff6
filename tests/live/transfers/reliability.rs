//! Transfers over a UDP hop that loses frames and sends them again (NDNLPv2 reliability).

use super::{assert_content, file_of};
use crate::number;
use support::json::Value;
use support::program::Scratch;
use support::running::{Forwarder, Running, Way};

/// Segments of 8000 bytes, in six frames each.
const SEGMENTS: u64 = 300;

/// Sum of a counter over all faces of a forwarder.
fn of_faces(forwarder: &Forwarder, key: &str) -> f64 {
    forwarder.status().get("faces").list().iter().map(|face| number(face, key)).sum()
}

#[test]
fn frames_that_a_hop_loses_are_sent_again_by_the_forwarders_and_not_requested_again() {
    let scratch = Scratch::new("reliable-hop");
    let reliable = "[face_defaults]\nreliability = true\n";
    let far = Forwarder::start("reliable-far", reliable);
    let arguments = ["link", "--format", "json", "--listen", "127.0.0.1:0", "--to", far.address(Way::Udp)];
    let link = Running::start(&[&arguments[..], &["--loss", "0.1", "--delay", "2ms"]].concat());
    let line = link.err_line("{\"note\":\"carrying ");
    let address = line.split_whitespace().nth(1).expect("where it listens");
    let route = format!("[[route]]\nprefix = \"/reliable\"\nface = \"udp4://{address}\"\n");
    let near = Forwarder::start("reliable-near", &format!("{reliable}{route}"));

    let file = file_of(&scratch, SEGMENTS * 8_000);
    let serve = ["serve", "/reliable/file", &file, "--version", "5", "--segment-size", "8000"];
    let server = Running::start(&[&serve[..], &["--transport", far.uri(Way::Unix)]].concat());
    server.out_line("serving");
    let copy = scratch.at("copy");
    let fetch = ["fetch", "/reliable/file/v=5", "-o", &copy, "--format", "json", "--scheme", "fixed"];
    let more = ["--set", "window=20", "--transport", near.uri(Way::Unix)];
    let ended = Running::start(&[&fetch[..], &more].concat()).wait().with(0);
    assert_eq!(assert_content(&copy), SEGMENTS * 8_000);
    // With 10 % of frames lost 47 % of the packets of six are incomplete.
    let summary = ended.json();
    assert!(number(&summary, "retransmissions") < 0.1 * SEGMENTS as f64, "{summary:?}");
    assert_eq!(*summary.get("complete"), Value::Bool(true));
    for forwarder in [&near, &far] {
        assert!(of_faces(forwarder, "resent_frames") > 0.0, "{:?}", forwarder.status());
    }
    server.stop().with(0);
    link.stop().with(0);
}
