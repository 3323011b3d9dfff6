//! python-ndn, an independent implementation, as producer and as consumer through our forwarder.
//!
//! Runs when `TIDEGATE_PYTHON` names an interpreter with python-ndn (`pip install python-ndn`).

use std::fs;
use std::path::Path;
use std::process::Command;

use support::program::Scratch;
use support::running::{Forwarder, Running, Way};
use support::skipped::skipped;

/// What is at hand for one test.
struct Bench {
    python: String,
    scratch: Scratch,
    forwarder: Forwarder,
    content: Vec<u8>,
    file: String,
}

impl Bench {
    /// `None`, reported as skipped, when there is no Python with python-ndn.
    fn start(test: &str) -> Option<Self> {
        let Some(python) = std::env::var("TIDEGATE_PYTHON").ok().filter(|python| !python.is_empty()) else {
            skipped(
                &format!("python-ndn and ours, {test}"),
                "TIDEGATE_PYTHON does not name a Python with python-ndn installed",
            );
            return None;
        };
        let scratch = Scratch::new(test);
        let content: Vec<u8> = (0..150_500u64).map(|at| (at * at / 7) as u8).collect();
        let file = scratch.file("file", &content);
        Some(Self { python, forwarder: Forwarder::start(test, ""), scratch, content, file })
    }

    /// Python with these arguments, connected to the forwarder over `way`.
    fn python(&self, way: Way, arguments: &[&str]) -> Running {
        let mut command = Command::new(&self.python);
        command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/python"));
        command.env("NDN_CLIENT_TRANSPORT", self.forwarder.uri(way)).env("HOME", self.scratch.path());
        command.env("PYTHONUNBUFFERED", "1").env("PYTHONDONTWRITEBYTECODE", "1");
        Running::of(command)
    }

    /// The same, once it has announced these prefixes.
    fn producer(&self, way: Way, arguments: &[&str], prefixes: &[&str]) -> Running {
        let running = self.python(way, arguments);
        self.forwarder.status_when("an announcement", |status| {
            let routes = status.get("routes").list();
            prefixes.iter().all(|prefix| routes.iter().any(|route| route.get("prefix").text() == *prefix))
        });
        running
    }

    /// Our server of the file, over `way`.
    fn server(&self, way: Way, more: &[&str]) -> Running {
        let serve = ["serve", "/ours/file", &self.file, "--transport", self.forwarder.uri(way)];
        let running = Running::start(&[&serve, more].concat());
        running.out_line("serving ");
        running
    }

    #[track_caller]
    fn assert_fetches(&self, name: &str, way: Way) {
        let copy = self.scratch.at("ours");
        let fetch = ["fetch", name, "-o", &copy, "--transport", self.forwarder.uri(way)];
        let ended = Running::start(&fetch).wait().with(0);
        assert!(fs::read(&copy).expect("fetched") == self.content, "{}", ended.out);
        assert!(ended.out.contains("All segments have been received."), "{}", ended.out);
        assert!(!ended.out.contains("signature"), "{}", ended.out);
    }

    #[track_caller]
    fn assert_is_copy(&self, copy: &str) {
        assert!(fs::read(copy).expect("fetched") == self.content);
    }
}

#[test]
fn we_fetch_what_python_ndn_serves() {
    let Some(bench) = Bench::start("py-serves") else { return };
    for way in [Way::Unix, Way::Tcp] {
        let script = ["segments_v1.py", "serve", "/py/first", &bench.file];
        let _first = bench.producer(way, &script, &["/py/first"]);
        let tool = ["-m", "ndn.bin.tools", "serve-rdrcontent", "--size", "3000", "/py/tool", &bench.file];
        let _second = bench.producer(way, &tool, &["/py/tool"]);
        for back in Way::ALL {
            bench.assert_fetches("/py/first", back);
            bench.assert_fetches("/py/tool", back);
        }
    }
}

#[test]
fn python_ndn_fetches_what_we_serve() {
    let Some(bench) = Bench::start("py-fetches") else { return };
    let copy = bench.scratch.at("theirs");
    let segments = ["segments_v1.py", "fetch", "/ours/file", &copy];
    // Metadata is asked for as such: a name alone is answered by the first segment.
    let tool = ["-m", "ndn.bin.tools", "fetch-rdrcontent", "-f", "-o", &copy, "/ours/file/32=metadata"];
    for (serving, fetching) in [(Way::Unix, Way::Tcp), (Way::Tcp, Way::Unix), (Way::Tcp, Way::Udp)] {
        let server = bench.server(serving, &[]);
        for arguments in [&segments[..], &tool] {
            let ended = bench.python(fetching, arguments).wait().with(0);
            assert!(ended.err.is_empty(), "{}", ended.err);
            bench.assert_is_copy(&copy);
            fs::remove_file(&copy).expect("it was there");
        }
        server.stop().with(0);
    }
}

#[test]
fn packets_of_any_size_reach_python_ndn() {
    let Some(bench) = Bench::start("py-large") else { return };
    let copy = bench.scratch.at("theirs");
    let server = bench.server(Way::Tcp, &["--segment-size", "8000"]);
    bench.python(Way::Unix, &["segments_v1.py", "fetch", "/ours/file", &copy]).wait().with(0);
    bench.assert_is_copy(&copy);
    server.stop().with(0);
}

#[test]
fn python_ndn_gets_the_answers_that_the_packet_format_requests() {
    let prefixes = ["/py/stale", "/py/fresh", "/py/long", "/py/command"];
    for (way, back) in [(Way::Unix, Way::Tcp), (Way::Tcp, Way::Unix)] {
        let Some(bench) = Bench::start(&format!("py-answers-{way:?}")) else { return };
        let _producer = bench.producer(way, &["producer.py"], &prefixes);
        let ended = bench.python(back, &["consumer.py"]).wait().with(0);
        assert!(ended.err.is_empty(), "{}", ended.err);
        let stated: Vec<&str> = ended.out.lines().collect();
        let expected = [
            "no-route Nack 150",
            "stale-1 /py/stale 1",
            "stale-cached /py/stale 1",
            "stale-again /py/stale 2",
            "fresh-1 /py/fresh 3",
            "fresh-cached /py/fresh 3",
            "prefix /py/long/longer 4",
            "prefix-cached /py/long/longer 4",
            "exact timeout",
            "long /py/long/longer 4",
            "digest /py/long/longer 4",
            "digest-same True",
            "wrong-digest timeout",
            "command drawrof",
        ];
        assert_eq!(stated, expected, "{way:?}");
    }
}

/// Standard output of one command of python-ndn's `pynfdc`.
#[track_caller]
fn pynfdc(bench: &Bench, arguments: &[&str]) -> String {
    let ended = bench.python(Way::Unix, &[&["-m", "ndn.bin.nfdc"], arguments].concat()).wait().with(0);
    assert!(ended.err.is_empty(), "{arguments:?}: {}", ended.err);
    ended.out
}

#[test]
fn python_ndn_lists_and_changes_faces_routes_and_strategies() {
    let Some(bench) = Bench::start("py-manages") else { return };
    let status = pynfdc(&bench, &["status"]);
    assert!(status.contains("tidegate ") && status.contains("nUnsatisfiedInterests"), "{status}");
    let faces = pynfdc(&bench, &["face"]);
    assert!(faces.contains("internal://") && faces.contains("unix://"), "{faces}");
    let peer = "udp4://127.0.0.1:9";
    assert_eq!(pynfdc(&bench, &["nf", peer]), "200 OK\n");
    assert_eq!(pynfdc(&bench, &["nf", peer]), format!("409 there is a face to {peer} already\n"));
    assert!(pynfdc(&bench, &["face"]).contains(peer));
    assert!(pynfdc(&bench, &["rf", peer]).ends_with("200 OK\n"));
    assert!(!pynfdc(&bench, &["face"]).contains(peer));
    assert_eq!(pynfdc(&bench, &["nr", "/py/route", "1"]), "200 OK\n");
    assert!(pynfdc(&bench, &["route"]).contains("/py/route\n\tFaceID=1 "));
    assert_eq!(pynfdc(&bench, &["rr", "/py/route", "1"]), "200 OK\n");
    assert!(!pynfdc(&bench, &["route"]).contains("/py/route"));
    assert_eq!(pynfdc(&bench, &["ss", "/py", "multicast"]), "200 OK\n");
    let strategies = pynfdc(&bench, &["strategy"]);
    assert!(strategies.contains("/py\n\t/localhost/nfd/strategy/multicast/v=5\n"), "{strategies}");
    assert_eq!(pynfdc(&bench, &["rs", "/py"]), "200 OK\n");
    let refused = pynfdc(&bench, &["ss", "/py", "asf"]);
    assert_eq!(refused, "404 strategy /localhost/nfd/strategy/asf is not known\n");
}
