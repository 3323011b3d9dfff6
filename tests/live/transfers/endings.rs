//! Many at once, who leaves on the way, and who comes late.

use std::cell::Cell;
use std::fs;

use super::{assert_content, file_of, serve, wait_for_bytes};
use crate::{number, of_forwarder};
use support::json::Value;
use support::program::{Ended, Scratch, tidegate};
use support::running::{Forwarder, Running, Way};

/// Slow enough that whatever happens to a file of [`LEN`] bytes happens in the midst of it.
const SLOW: &str = "[face_defaults]\nrate = \"8Mbps\"\n";

const LEN: u64 = 1_500_000;

/// A fetch of `name` into `copy`.
fn fetch(name: &str, copy: &str, uri: &str) -> Running {
    Running::start(&["fetch", name, "-o", copy, "--format", "json", "--transport", uri])
}

/// What a fetch that ended early left behind is the beginning of the file, of the length that it tells.
#[track_caller]
fn assert_part(ended: &Ended, copy: &str) {
    let part = format!("{copy}.part");
    let len = assert_content(&part);
    assert!(len > 0 && len < LEN, "{len} bytes");
    assert!(ended.err.contains(&format!("; the first {len} bytes are in {part}")), "{}", ended.err);
    assert!(!fs::exists(copy).expect("readable"));
    let summary = ended.json();
    assert_eq!(*summary.get("complete"), Value::Bool(false), "{}", ended.out);
    assert_eq!(number(&summary, "bytes"), len as f64, "{}", ended.out);
}

#[test]
fn several_at_once_share_what_was_requested_once() {
    let scratch = Scratch::new("several");
    let forwarder = Forwarder::start("several", "");
    let file = file_of(&scratch, LEN);
    let server = serve("/several", &file, forwarder.uri(Way::Unix));
    let begin = |copy: &str| -> Vec<(String, Running)> {
        let copy = |way| scratch.at(&format!("{copy}-{way:?}"));
        Way::ALL.map(|way| (copy(way), fetch("/several/v=5", &copy(way), forwarder.uri(way)))).into()
    };
    let at_once = begin("first");
    for (copy, running) in at_once {
        running.wait().with(0);
        assert_eq!(assert_content(copy), LEN);
    }
    // Asked for by three, each segment still came from disk about once.
    let served = server.stop().with(0);
    let last = Value::parse(served.out.lines().last().unwrap_or_default()).expect("what was served");
    let segments = number(&last, "segments");
    assert!((1250.0..2500.0).contains(&segments), "{}", served.out);
    let before = of_forwarder(&forwarder.status(), "cache_hits");
    for (copy, running) in begin("second") {
        running.wait().with(0);
        assert_eq!(assert_content(copy), LEN);
    }
    let hits = of_forwarder(&forwarder.status(), "cache_hits") - before;
    assert!(hits >= 3.0 * 1250.0, "nobody serves any more, and {hits} came from the cache");
}

/// Whether more than `count` packets have left over TCP.
fn has_sent_over_tcp(status: &Value, count: f64) -> bool {
    let faces = status.get("faces").list().iter();
    let mut tcp = faces.filter(|face| face.get("remote").text().starts_with("tcp4://"));
    tcp.any(|face| number(face, "sent_packets") > count)
}

#[test]
fn a_consumer_that_comes_before_its_producer_waits_for_it() {
    let scratch = Scratch::new("early");
    let forwarder = Forwarder::start("early", "");
    let (file, copy) = (file_of(&scratch, LEN), scratch.at("copy"));
    let at = ["--wait", "120s", "--format", "json", "--transport", forwarder.uri(Way::Tcp)];
    let early = Running::start(&[&["fetch", "/early/v=5", "-o", &copy][..], &at].concat());
    forwarder.status_when("a Nack", |status| has_sent_over_tcp(status, 0.0));
    let _server = serve("/early", &file, forwarder.uri(Way::Unix));
    let ended = early.wait().with(0);
    assert_eq!(assert_content(copy), LEN);
    assert!(number(&ended.json(), "nacks") > 0.0, "{}", ended.out);
}

#[test]
fn a_producer_waits_for_a_forwarder_that_starts_later() {
    let scratch = Scratch::new("before");
    let (file, uri) = (file_of(&scratch, LEN), format!("unix://{}", scratch.at("nfd.sock")));
    let serve =
        |wait: &str| Running::start(&["serve", "/before", &file, "--transport", &uri, "--wait", wait]);
    let failed = serve("0s").wait().with(1);
    assert!(failed.err.starts_with("error: cannot connect to unix://"), "{}", failed.err);
    serve("10ms").wait().with(1);
    let interrupted = serve("1h");
    interrupted.err_line("warning: no forwarder at unix://");
    interrupted.stop().with(130);
    let server = serve("1h");
    server.err_line("warning: no forwarder at unix://");
    let forwarder = Running::start(&["forward", "--listen", &uri]);
    server.out_line("serving ");
    server.stop().with(0);
    forwarder.stop().with(0);
}

#[test]
fn a_name_without_a_route_is_an_error_at_once_with_and_without_discovery() {
    let scratch = Scratch::new("absent");
    let forwarder = Forwarder::start("absent", "");
    for name in ["/absent", "/absent/v=5"] {
        let ended = fetch(name, &scratch.at("copy"), forwarder.uri(Way::Unix)).wait().with(1);
        assert!(ended.err.contains("the forwarder has no route to the name"), "{}", ended.err);
    }
}

#[test]
fn a_producer_may_come_while_its_version_is_discovered() {
    let scratch = Scratch::new("discovered");
    let forwarder = Forwarder::start("discovered", "");
    let (file, copy) = (file_of(&scratch, LEN), scratch.at("copy"));
    let at = ["--wait", "120s", "--transport", forwarder.uri(Way::Tcp)];
    let early = Running::start(&[&["fetch", "/discovered", "-o", &copy][..], &at].concat());
    // More than the three Interests of a discovery without patience.
    forwarder.status_when("Nacks", |status| has_sent_over_tcp(status, 3.0));
    let _server = serve("/discovered", &file, forwarder.uri(Way::Unix));
    early.wait().with(0);
    assert_eq!(assert_content(copy), LEN);
}

#[test]
fn a_fetch_whose_forwarder_dies_reports_it_and_keeps_what_came() {
    for way in [Way::Tcp, Way::Unix] {
        let name = format!("killed-{way:?}");
        let scratch = Scratch::new(&name);
        let mut forwarder = Forwarder::start(&name, SLOW);
        let (file, copy) = (file_of(&scratch, LEN), scratch.at("copy"));
        let server = serve("/killed", &file, forwarder.uri(way));
        let fetch = ["fetch", "/killed", "-o", &copy, "--format", "json", "--reconnect", "0s", "--transport"];
        let fetch = Running::start(&[&fetch[..], &[forwarder.uri(way)]].concat());
        wait_for_bytes(&format!("{copy}.part"), 0);
        forwarder.kill();
        let ended = fetch.wait().with(1);
        let reported = ended.err.starts_with("{\"error\":\"/killed/v=5: the forwarder ended the connection")
            || ended.err.starts_with("{\"error\":\"/killed/v=5: the connection to the forwarder broke: ");
        assert!(reported, "{}", ended.err);
        assert_part(&ended, &copy);
        // The server tries to connect again until it is stopped.
        server.err_line("{\"warning\":\"the ");
        server.stop().with(0);
    }
}

#[test]
fn a_fetch_and_its_server_go_on_when_their_forwarder_is_restarted() {
    for way in [Way::Tcp, Way::Unix] {
        let name = format!("restarted-{way:?}");
        let scratch = Scratch::new(&name);
        let mut forwarder = Forwarder::start(&name, SLOW);
        let (file, copy) = (file_of(&scratch, LEN), scratch.at("copy"));
        let server = serve("/restarted", &file, forwarder.uri(way));
        let fetch = fetch("/restarted", &copy, forwarder.uri(way));
        wait_for_bytes(&format!("{copy}.part"), 0);
        forwarder.kill();
        server.err_line("{\"warning\":\"the ");
        fetch.err_line("{\"warning\":\"the connection to the forwarder is lost");
        forwarder.restart();
        server.err_line("{\"note\":\"connected again, serving /restarted");
        fetch.wait().with(0);
        assert_eq!(assert_content(&copy), LEN);
        server.stop().with(0);
    }
}

#[test]
fn a_forwarder_that_is_restarted_before_the_version_is_known_does_not_end_a_fetch() {
    let scratch = Scratch::new("discovery");
    let mut forwarder = Forwarder::start("discovery", "");
    let (file, copy) = (file_of(&scratch, LEN), scratch.at("copy"));
    let uri = forwarder.uri(Way::Unix).to_owned();
    let fetch = ["fetch", "/late", "-o", &copy, "--wait", "100s", "--format", "json", "--transport", &uri];
    let fetch = Running::start(&fetch);
    // Management's, that of the status itself, and that of the fetch.
    forwarder.status_when("the fetch", |status| status.get("faces").list().len() >= 3);
    forwarder.kill();
    fetch.err_line("{\"warning\":\"the connection to the forwarder is lost");
    forwarder.restart();
    let server = serve("/late", &file, &uri);
    fetch.wait().with(0);
    assert_eq!(assert_content(&copy), LEN);
    server.stop().with(0);
}

#[test]
fn a_fetch_over_udp_whose_forwarder_dies_gives_up_in_the_end() {
    let scratch = Scratch::new("silent");
    let mut forwarder = Forwarder::start("silent", SLOW);
    let (file, copy, uri) = (file_of(&scratch, LEN), scratch.at("copy"), forwarder.uri(Way::Udp).to_owned());
    let _server = serve("/silent", &file, forwarder.uri(Way::Unix));
    let fetch = ["fetch", "/silent", "-o", &copy, "--format", "json", "--retries", "2", "--transport", &uri];
    let fetch = Running::start(&fetch);
    wait_for_bytes(&format!("{copy}.part"), 0);
    forwarder.kill();
    let ended = fetch.wait().with(1);
    assert!(
        ended.err.contains("after 2 retransmissions; its producer may be unreachable; the first "),
        "{}",
        ended.err
    );
    assert_part(&ended, &copy);
}

#[test]
fn an_interrupted_fetch_keeps_what_came() {
    let scratch = Scratch::new("interrupted");
    let forwarder = Forwarder::start("interrupted", SLOW);
    let (file, copy) = (file_of(&scratch, LEN), scratch.at("copy"));
    let _server = serve("/interrupted", &file, forwarder.uri(Way::Unix));
    let fetch = fetch("/interrupted", &copy, forwarder.uri(Way::Udp));
    wait_for_bytes(&format!("{copy}.part"), 0);
    fetch.signal("-INT");
    let ended = fetch.wait().with(130);
    assert!(ended.err.starts_with("{\"error\":\"/interrupted/v=5: interrupted; the first "), "{}", ended.err);
    assert_part(&ended, &copy);
}

#[test]
fn a_forwarder_that_is_stopped_leaves_nothing_behind() {
    for signal in ["-TERM", "-INT"] {
        let mut forwarder = Forwarder::start(&format!("ended{signal}"), "");
        assert!(forwarder.socket_file().exists());
        let ended = forwarder.end(signal).with(0);
        assert!(!forwarder.socket_file().exists());
        assert!(number(&ended.json().get("forwarder").list()[0], "uptime_s") > 0.0, "{}", ended.out);
    }
}

#[test]
fn a_fetch_outlives_a_server_that_is_started_again() {
    for signal in ["-INT", "-KILL"] {
        let name = format!("restarted{signal}");
        let scratch = Scratch::new(&name);
        let forwarder = Forwarder::start(&name, SLOW);
        let (file, copy) = (file_of(&scratch, LEN), scratch.at("copy"));
        let uri = forwarder.uri(Way::Unix);
        let server = serve("/restarted", &file, uri);
        let fetch = fetch("/restarted", &copy, uri);
        wait_for_bytes(&format!("{copy}.part"), 0);
        server.signal(signal);
        let first = server.wait();
        assert_eq!(first.code, if signal == "-INT" { Some(0) } else { None }, "{}", first.err);
        let _server = serve("/restarted", &file, uri);
        let ended = fetch.wait().with(0);
        assert_eq!(assert_content(copy), LEN, "{}", ended.out);
    }
}

/// Whether this process and those that it starts ignore SIGHUP, as proc_pid_status(5) has it.
fn is_hangup_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("readable");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    u64::from_str_radix(mask.trim(), 16).expect("hexadecimal") & 1 == 1
}

#[test]
fn an_interrupted_fetch_goes_on_from_its_part_with_the_same_version_only() {
    let scratch = Scratch::new("resumed");
    let forwarder = Forwarder::start("resumed", SLOW);
    let (file, copy) = (file_of(&scratch, LEN), scratch.at("copy"));
    let uri = forwarder.uri(Way::Unix);
    let _server = serve("/resumed", &file, uri);
    let begun = fetch("/resumed", &copy, forwarder.uri(Way::Udp));
    wait_for_bytes(&format!("{copy}.part"), 0);
    // As when its terminal is closed; started by nohup, programs outlive that.
    begun.signal(if is_hangup_ignored() { "-INT" } else { "-HUP" });
    let left = number(&begun.wait().with(130).json(), "bytes");
    // One that is killed on the way leaves what the first one noted.
    let killed = fetch("/resumed", &copy, forwarder.uri(Way::Udp));
    wait_for_bytes(&format!("{copy}.part"), left as u64);
    killed.signal("-KILL");
    killed.wait();
    let ended = fetch("/resumed", &copy, uri).wait().with(0);
    let summary = ended.json();
    assert_eq!(assert_content(copy.clone()), LEN);
    assert_eq!(number(&summary, "resumed_bytes"), left, "{}", ended.out);
    assert_eq!(number(&summary, "bytes"), LEN as f64 - left, "{}", ended.out);
    assert!(!fs::exists(format!("{copy}.part")).expect("readable"));
    assert!(!fs::exists(format!("{copy}.part.state")).expect("readable"));
}

#[test]
fn a_part_of_another_version_or_trust_or_of_changed_content_is_not_gone_on_from() {
    for (what, name) in [("other", "/anew/v=6"), ("changed", "/anew/v=5"), ("unverified", "/anew/v=5")] {
        let test = format!("anew-{what}");
        let scratch = Scratch::new(&test);
        let forwarder = Forwarder::start(&test, SLOW);
        let (file, copy) = (file_of(&scratch, LEN), scratch.at("copy"));
        let (uri, part) = (forwarder.uri(Way::Unix), format!("{copy}.part"));
        let server = serve("/anew", &file, uri);
        let begun = match what {
            "unverified" => {
                let fetch =
                    ["fetch", name, "-o", &copy, "--no-verify", "--format", "json", "--transport", uri];
                Running::start(&fetch)
            }
            _ => fetch("/anew/v=5", &copy, uri),
        };
        wait_for_bytes(&part, 0);
        begun.signal("-INT");
        begun.wait().with(130);
        if what == "other" {
            server.signal("-INT");
            server.wait();
            let at = ["--transport", uri];
            let second = Running::start(&[&["serve", "/anew", &file, "--version", "6"][..], &at].concat());
            second.out_line("serving ");
            let ended = fetch(name, &copy, uri).wait().with(0);
            assert!(
                ended.err.contains(&format!("{part} belongs to /anew/v=5; fetching /anew/v=6 from")),
                "{}",
                ended.err
            );
            assert_eq!(number(&ended.json(), "resumed_bytes"), 0.0);
        } else if what == "unverified" {
            let ended = fetch(name, &copy, uri).wait().with(0);
            let why = "was verified by nothing, and this fetch verifies by digest; fetching from the start";
            assert!(ended.err.contains(&format!("{part} {why}")), "{}", ended.err);
            assert_eq!(number(&ended.json(), "resumed_bytes"), 0.0);
        } else {
            let mut content = fs::read(&part).expect("there");
            content[0] ^= 1;
            fs::write(&part, content).expect("writable");
            let ended = fetch(name, &copy, uri).wait().with(0);
            assert!(
                ended.err.contains(&format!("{part}: its content has changed; fetching")),
                "{}",
                ended.err
            );
            assert_eq!(number(&ended.json(), "resumed_bytes"), 0.0);
        }
        assert_eq!(assert_content(copy), LEN);
    }
}

#[test]
fn streams_hold_a_large_window_back_for_as_long_as_a_transfer_lasts() {
    const LONG: u64 = 20_000_000;
    let scratch = Scratch::new("held-back");
    let forwarder = Forwarder::start("held-back", "");
    let (file, copy) = (file_of(&scratch, LONG), scratch.at("copy"));
    // The part of the Interests that is sent again in a fetch of its own name, so that nothing comes from the content store.
    let sent_again = |name: &str, uri: &str, scheme: &[&str]| {
        let _server = serve(name, &file, uri);
        let versioned = format!("{name}/v=5");
        let fetch = ["fetch", &versioned, "-o", &copy, "--format", "json", "--transport", uri];
        let summary = Running::start(&[&fetch[..], scheme].concat()).wait().with(0).json();
        assert_eq!(assert_content(copy.clone()), LONG);
        number(&summary, "retransmissions") / number(&summary, "interests")
    };
    for way in [Way::Unix, Way::Tcp] {
        let uri = forwarder.uri(way);
        // It fills what lies between, and its timer may run out before the Data comes.
        sent_again(&format!("/held-back/{way:?}/fixed"), uri, &["--scheme", "fixed", "--set", "window=8000"]);
        // A machine that is busy for longer than the default's margin of 100 ms may do so in one fetch, not in three.
        let default: Vec<f64> =
            (0..3).map(|place| sent_again(&format!("/held-back/{way:?}/{place}"), uri, &[])).collect();
        assert!(default.iter().any(|part| *part < 0.001), "{way:?}, the default: {default:?} sent again");
    }
    let status = forwarder.status();
    for face in status.get("faces").list() {
        let (dropped, peak) = (number(face, "dropped_packets"), number(face, "peak_queue_packets"));
        assert!(dropped == 0.0 && peak < 1000.0, "{dropped} dropped, at most {peak} waited: {face:?}");
    }
}

#[test]
fn no_consumer_of_the_catalogue_makes_a_local_face_drop() {
    const LONG: u64 = 2_000_000;
    let scratch = Scratch::new("catalogue");
    let forwarder = Forwarder::start("catalogue", "");
    let (file, copy) = (file_of(&scratch, LONG), scratch.at("copy"));
    let catalogue = tidegate(&["schemes", "--format", "json"]).with(0).json();
    let is_consumer =
        |scheme: &&Value| scheme.get("roles").list().iter().any(|role| role.text() == "consumer");
    let consumers: Vec<&Value> = catalogue.list().iter().filter(is_consumer).collect();
    assert!(consumers.len() > 20, "{} consumers", consumers.len());
    for (way, consumer) in [Way::Unix, Way::Tcp].into_iter().cycle().zip(consumers) {
        let (name, uri) = (consumer.get("name").text(), forwarder.uri(way));
        let prefix = format!("/catalogue/{name}");
        let _server = serve(&prefix, &file, uri);
        let versioned = format!("{prefix}/v=5");
        let fetch = ["fetch", &versioned, "-o", &copy, "--quiet", "--transport", uri, "--scheme", name];
        Running::start(&fetch).wait().with(0);
        assert_eq!(assert_content(copy.clone()), LONG);
        for face in forwarder.status().get("faces").list() {
            assert_eq!(number(face, "dropped_packets"), 0.0, "{name} over {way:?}: {face:?}");
        }
    }
}

/// All that a window of 7500 asks for waits in the forwarder at once when consumer and server take turns.
#[test]
fn nothing_is_dropped_between_local_programs_whose_consumer_pauses() {
    const LONG: u64 = 80_000_000;
    let scratch = Scratch::new("paused");
    let forwarder = Forwarder::start("paused", "");
    let (file, copy) = (file_of(&scratch, LONG), scratch.at("copy"));
    let at = ["--transport", forwarder.uri(Way::Unix)];
    let serve = ["serve", "/paused", &file, "--segment-size", "8000", "--version", "5"];
    let server = Running::start(&[&serve[..], &at].concat());
    server.out_line("serving ");
    server.signal("-STOP");
    let fetch = ["fetch", "/paused/v=5", "-o", &copy, "--format", "json", "--scheme", "fixed"];
    let window = ["--set", "window=7500", "--transport", forwarder.uri(Way::Tcp)];
    let consumer = Running::start(&[&fetch[..], &window].concat());
    // As many in four looks, 110 ms apart: the consumer is held back for 250 ms at most, so that these are all.
    let last = Cell::new((0.0, 0));
    let is_over = |status: &Value| {
        let (count, looks) = (face(status, "tcp4://").map_or(0.0, |face| face.0), last.get());
        last.set((count, if count == looks.0 { looks.1 + 1 } else { 1 }));
        count > 0.0 && last.get().1 == 4
    };
    forwarder.status_when("the last Interest of a window", is_over);
    consumer.signal("-STOP");
    server.signal("-CONT");
    let is_answered = |status: &Value| {
        let (server, consumer) = (face(status, "fd://"), face(status, "tcp4://"));
        server.zip(consumer).is_some_and(|(server, consumer)| server.0 >= consumer.0)
    };
    let status = forwarder.status_when("as many Data as Interests", is_answered);
    let (_, _, dropped) = face(&status, "tcp4://").expect("the consumer is stopped");
    assert_eq!(dropped, 0.0);
    consumer.signal("-CONT");
    consumer.wait().with(0);
    assert_eq!(assert_content(copy), LONG);
}

/// Packets received, sent and dropped by the face with more than 900 packets whose remote URI begins so.
fn face(status: &Value, remote: &str) -> Option<(f64, f64, f64)> {
    let counters =
        status.get("faces").list().iter().filter(|face| face.get("remote").text().starts_with(remote));
    let counters = counters.map(|face| {
        let counter = |name| number(face, name);
        (counter("received_packets"), counter("sent_packets"), counter("dropped_packets"))
    });
    counters.into_iter().find(|(received, sent, _)| received + sent > 900.0)
}
