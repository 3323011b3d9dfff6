//! Forwarders x faces of the applications x loss x PLR.
//!
//! Loss is the emulated link's, which carries UDP: with one forwarder it lies between the fetching application
//! and the forwarder, so that only UDP has it; between two forwarders it lies on their UDP hop, whatever the
//! faces of the applications are. What exists:
//!
//! | forwarders | faces | loss | PLR |
//! |---|---|---|---|
//! | 1 | UDP | 0, 5 % | off, on |
//! | 1 | TCP, Unix | 0 | off, on |
//! | 2 | UDP, TCP, Unix | 0, 5 % | off, on |
//! | 2, connected over TCP or Unix | the same | 0 | off, on |
//!
//! `TIDEGATE_FULL=1` moves 100 MB in each, best with `cargo test --release --test live matrix -- --test-threads=1`.

use super::{Content, assert_content, assert_next, file_of, serve};
use crate::number;
use support::json::Value;
use support::program::{Scratch, program};
use support::running::{Forwarder, Running, Way, is_full};

/// With PLR: a bottleneck whose queue holds 40 packets. The short run's is so slow that Data overflows it on a machine
/// that is busy with other things, too; nothing stored grows too old.
fn plr() -> String {
    let rate = if is_full() { "50Mbps" } else { "10Mbps" };
    let parts = "[{ scheme = \"plr\", residence = \"30s\" }]";
    format!("[face_defaults]\nrate = \"{rate}\"\nqueue = {{ limit = \"40pkt\" }}\nrouter_parts = {parts}\n")
}

/// A window that 5 % of lost datagrams do not close: most of it waits for timeouts.
const LOSSY: [&str; 4] = ["--scheme", "fixed", "--set", "window=150"];

/// Bytes at the end that a fetch cannot hand over before the test reads: those of its buffer and of the pipe.
const HELD_BACK: u64 = 400_000;

/// One combination.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// Between the forwarders; `None` for one forwarder.
    between: Option<Way>,
    /// Of the applications.
    faces: Way,
    loss: bool,
    plr: bool,
}

/// What stands between server and fetch.
struct Network {
    near: Forwarder,
    link: Option<Running>,
    far: Option<Forwarder>,
    /// Where the fetching application connects.
    uri: String,
}

impl Network {
    /// The forwarder that the Data meets first.
    fn bottleneck(&self) -> &Forwarder {
        self.far.as_ref().unwrap_or(&self.near)
    }
}

impl Case {
    fn name(&self) -> String {
        let Self { between, faces, loss, plr } = self;
        format!("{}{faces:?}-{loss}-{plr}", between.map_or(String::new(), |way| format!("{way:?}-")))
    }

    fn network(&self) -> Network {
        let plr = if self.plr { plr() } else { String::new() };
        let Some(between) = self.between else {
            let near = Forwarder::start(&self.name(), &plr);
            let uri = near.uri(self.faces).to_owned();
            return match self.loss {
                false => Network { near, link: None, far: None, uri },
                true => {
                    let (link, uri) = link(near.address(Way::Udp), true);
                    Network { near, link: Some(link), far: None, uri }
                }
            };
        };
        let far = Forwarder::start(&format!("{}-far", self.name()), &plr);
        let (link, uri) = match between {
            Way::Udp => {
                let (link, uri) = link(far.address(Way::Udp), self.loss);
                (Some(link), uri)
            }
            way => (None, far.uri(way).to_owned()),
        };
        let face =
            format!("[[face]]\nname = \"far\"\nuri = {uri:?}\nrouter_parts = [{{ scheme = \"plr\" }}]\n");
        let route = "[[route]]\nprefix = \"/matrix\"\nface = \"far\"\n";
        let near = Forwarder::start(&self.name(), &(face + route));
        let uri = near.uri(self.faces).to_owned();
        Network { near, link, far: Some(far), uri }
    }

    fn run(&self) {
        let scratch = Scratch::new(&self.name());
        let len = if is_full() { 100_000_000 } else { 1_500_000 };
        let file = file_of(&scratch, len);
        let network = self.network();
        // Prefixes cannot be registered over UDP.
        let serving = if self.faces == Way::Udp { Way::Unix } else { self.faces };
        let server = serve("/matrix/file", &file, network.bottleneck().uri(serving));
        let (summary, status) = match (self.plr, self.between, self.faces) {
            // The bottleneck's face is gone with the application.
            (true, None, Way::Tcp | Way::Unix) => self.fetch_watched(&network, len),
            _ => self.fetch_to_file(&network, &scratch, len),
        };
        self.check(&summary, &status);
        server.stop().with(0);
        if let Some(link) = network.link {
            let ended = link.stop().with(0);
            let report = Value::parse(ended.out.lines().last().unwrap_or_default()).expect("a report");
            assert_eq!(number(report.get("reverse"), "lost") > 0.0, self.loss, "{self:?}: {report:?}");
        }
    }

    /// Without loss the scheme that everybody gets; its slow start overflows the bottleneck.
    fn scheme(&self) -> &[&str] {
        match (self.loss, self.plr) {
            (true, _) => &LOSSY,
            // It overshoots, so that routers have packets to store; the default of `fetch` does not.
            (false, true) => &["--scheme", "catchunks-cubic"],
            (false, false) => &[],
        }
    }

    /// Fetches into a file: the summary, and the status of the bottleneck's forwarder afterwards.
    fn fetch_to_file(&self, network: &Network, scratch: &Scratch, len: u64) -> (Value, Value) {
        let copy = scratch.at("copy");
        let fetch = ["fetch", "/matrix/file", "-o", &copy, "--format", "json", "--transport", &network.uri];
        let ended = Running::start(&[&fetch[..], self.scheme()].concat()).wait().with(0);
        assert_eq!(assert_content(&copy), len, "{self:?}");
        (ended.json(), network.bottleneck().status())
    }

    /// Fetches to standard output: the summary, and the status while the fetch waits for the test to read.
    fn fetch_watched(&self, network: &Network, len: u64) -> (Value, Value) {
        let mut command = program();
        command.args(["fetch", "/matrix/file", "--format", "json", "--transport", &network.uri]);
        let (fetch, mut output) = Running::with_output(command.args(self.scheme()));
        let mut content = Content::new(len);
        assert_next(&mut content, &mut output, len - HELD_BACK);
        let status = network.bottleneck().status();
        assert_next(&mut content, &mut output, HELD_BACK);
        let ended = fetch.wait().with(0);
        // Lines of progress are before it.
        let summary = ended.err.lines().last().unwrap_or_default();
        (Value::parse(summary).unwrap_or_else(|why| panic!("{why}: {}", ended.err)), status)
    }

    fn check(&self, summary: &Value, status: &Value) {
        let reported = || format!("{self:?}: {summary:?}\n{status:?}");
        assert_eq!(*summary.get("complete"), Value::Bool(true), "{}", reported());
        assert!(!self.loss || number(summary, "retransmissions") > 0.0, "{}", reported());
        let faces = status.get("faces").list().iter();
        let notices = faces.clone().map(|face| number(face, "loss_notices")).fold(0.0, f64::max);
        assert_eq!(notices > 0.0, self.plr, "{}", reported());
        assert_eq!(number(summary, "loss_notices") > 0.0, self.plr, "{}", reported());
        for face in faces.filter(|face| number(face, "loss_notices") > 0.0) {
            let [stored, released, held] =
                ["stored_packets", "released_packets", "held_packets"].map(|key| number(face, key));
            assert!(stored > 0.0 && stored == released + held, "{}", reported());
        }
    }
}

/// A link towards `to`, and where it is heard.
fn link(to: &str, is_lossy: bool) -> (Running, String) {
    let loss = if is_lossy { "0.05" } else { "0" };
    let arguments = ["link", "--format", "json", "--listen", "127.0.0.1:0", "--to", to, "--loss", loss];
    let link = Running::start(&arguments);
    let line = link.err_line("{\"note\":\"carrying ");
    let address = line.split_whitespace().nth(1).expect("where it is heard");
    let uri = format!("udp4://{address}");
    (link, uri)
}

fn run(between: Option<Way>, faces: Way, losses: &[bool]) {
    for loss in losses {
        for plr in [false, true] {
            Case { between, faces, loss: *loss, plr }.run();
        }
    }
}

#[test]
fn a_file_is_whole_through_one_forwarder_over_udp() {
    run(None, Way::Udp, &[false, true]);
}

#[test]
fn a_file_is_whole_through_one_forwarder_over_tcp() {
    run(None, Way::Tcp, &[false]);
}

#[test]
fn a_file_is_whole_through_one_forwarder_over_unix() {
    run(None, Way::Unix, &[false]);
}

#[test]
fn a_file_is_whole_through_two_forwarders_and_a_link_over_udp() {
    run(Some(Way::Udp), Way::Udp, &[false, true]);
}

#[test]
fn a_file_is_whole_through_two_forwarders_and_a_link_over_tcp() {
    run(Some(Way::Udp), Way::Tcp, &[false, true]);
}

#[test]
fn a_file_is_whole_through_two_forwarders_and_a_link_over_unix() {
    run(Some(Way::Udp), Way::Unix, &[false, true]);
}

#[test]
fn a_file_is_whole_through_two_forwarders_connected_over_tcp() {
    run(Some(Way::Tcp), Way::Tcp, &[false]);
}

#[test]
fn a_file_is_whole_through_two_forwarders_connected_over_unix() {
    run(Some(Way::Unix), Way::Unix, &[false]);
}
