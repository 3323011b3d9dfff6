//! Transfers over a UDP hop that loses frames, and sends them again (NDNLPv2 reliability) or not.

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

/// A lossy hop to a forwarder, with a server of `/hop/file/v=5` at the forwarder.
struct FarEnd {
    far: Forwarder,
    link: Running,
    /// UDP address of this end of the hop.
    address: String,
    server: Running,
}

/// Two forwarders with a lossy hop between them.
struct Hop {
    near: Forwarder,
    end: FarEnd,
}

impl FarEnd {
    /// A forwarder of the configuration `config`, a link with the options `link`, and a server with `serve`.
    fn start(name: &str, config: &str, link: &[&str], serve: &[&str]) -> Self {
        let far = Forwarder::start(&format!("{name}-far"), config);
        let arguments =
            ["link", "--format", "json", "--listen", "127.0.0.1:0", "--to", far.address(Way::Udp)];
        let link = Running::start(&[&arguments[..], link].concat());
        let line = link.err_line("{\"note\":\"carrying ");
        let address = line.split_whitespace().nth(1).expect("where it listens").to_owned();
        let more = ["--version", "5", "--transport", far.uri(Way::Unix)];
        let server = Running::start(&[&["serve", "/hop/file"], serve, &more].concat());
        server.out_line("serving");
        Self { far, link, address, server }
    }

    fn stop(self) {
        self.server.stop().with(0);
        self.link.stop().with(0);
    }
}

impl Hop {
    /// Both forwarders have the configuration `both`, the link the options `link`, the server `serve`.
    fn start(name: &str, both: &str, link: &[&str], serve: &[&str]) -> Self {
        let end = FarEnd::start(name, both, link, serve);
        let address = &end.address;
        let route = format!("[[route]]\nprefix = \"/hop\"\nface = \"udp4://{address}\"\n");
        let near = Forwarder::start(&format!("{name}-near"), &format!("{both}{route}"));
        Self { near, end }
    }
}

#[test]
fn frames_that_a_hop_loses_are_sent_again_by_the_forwarders_and_not_requested_again() {
    let scratch = Scratch::new("reliable-hop");
    let file = file_of(&scratch, SEGMENTS * 8_000);
    let lossy = ["--loss", "0.1", "--delay", "2ms"];
    let reliable = "[face_defaults]\nreliability = true\n";
    let hop = Hop::start("reliable", reliable, &lossy, &[&file, "--segment-size", "8000"]);

    let copy = scratch.at("copy");
    let fetch = ["fetch", "/hop/file/v=5", "-o", &copy, "--format", "json", "--scheme", "fixed"];
    let more = ["--set", "window=20", "--transport", hop.near.uri(Way::Unix)];
    let ended = Running::start(&[&fetch[..], &more].concat()).wait().with(0);
    assert_eq!(assert_content(&copy), SEGMENTS * 8_000);
    // With 10 % of frames lost 47 % of the packets of six are incomplete.
    let summary = ended.json();
    assert!(number(&summary, "retransmissions") < 0.1 * SEGMENTS as f64, "{summary:?}");
    assert_eq!(*summary.get("complete"), Value::Bool(true));
    for forwarder in [&hop.near, &hop.end.far] {
        assert!(of_faces(forwarder, "resent_frames") > 0.0, "{:?}", forwarder.status());
    }
    hop.end.stop();
}

#[test]
fn a_fetch_over_a_hop_that_loses_three_tenths_of_the_frames_each_way_finishes() {
    let scratch = Scratch::new("lossy-hop");
    let len = 60_000;
    let file = file_of(&scratch, len);
    let hop =
        Hop::start("lossy", "", &["--loss", "0.3", "--delay", "2ms"], &[&file, "--segment-size", "1200"]);
    let copy = scratch.at("copy");
    // The version is discovered over the hop, too.
    let fetch = ["fetch", "/hop/file", "-o", &copy, "--transport", hop.near.uri(Way::Unix)];
    Running::start(&fetch).wait().with(0);
    assert_eq!(assert_content(&copy), len);
    hop.end.stop();
}

#[test]
fn a_fetch_that_uses_udp_acknowledges_frames_and_numbers_its_own_on_request() {
    let scratch = Scratch::new("reliable-fetch");
    let file = file_of(&scratch, SEGMENTS * 8_000);
    let reliable = "[face_defaults]\nreliability = true\n";
    for options in [&["--reliability"][..], &[]] {
        let lossy = ["--loss", "0.1", "--delay", "2ms"];
        let end = FarEnd::start("reliable-fetch", reliable, &lossy, &[&file, "--segment-size", "8000"]);
        let (copy, uri) = (scratch.at("copy"), format!("udp4://{}", end.address));
        let fetch = ["fetch", "/hop/file/v=5", "-o", &copy, "--format", "json", "--scheme", "fixed"];
        let more = ["--set", "window=20", "--transport", &uri];
        let summary = Running::start(&[&fetch[..], &more, options].concat()).wait().with(0).json();
        assert_eq!(assert_content(&copy), SEGMENTS * 8_000);
        // Without numbers on Interests a tenth of them is lost, and requested again.
        let retransmissions = number(&summary, "retransmissions");
        let expected = if options.is_empty() { 0.05..0.3 } else { 0.0..0.05 };
        assert!(expected.contains(&(retransmissions / SEGMENTS as f64)), "{retransmissions}");
        // Data that is acknowledged is not given up.
        let (resent, given_up) =
            (of_faces(&end.far, "resent_frames"), of_faces(&end.far, "given_up_packets"));
        assert!(resent > 0.0 && given_up < 0.05 * SEGMENTS as f64, "{resent} {given_up}");
        end.stop();
    }
    let refused =
        Running::start(&["fetch", "/hop/file", "--reliability", "--transport", "tcp4://127.0.0.1:1"]);
    let refused = refused.wait().with(2);
    assert!(refused.err.contains("tcp4://127.0.0.1:1 is no UDP address"), "{}", refused.err);
}
