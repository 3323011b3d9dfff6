//! Lines on standard error about what happens to a forwarder.

use std::net::UdpSocket;

use super::Target;
use crate::of_forwarder;
use crate::peer::{interest, uri};
use support::json::Value;
use support::program::{Scratch, program};
use support::running::{Forwarder, Running, Way};

#[test]
fn refusals_of_a_flood_are_all_counted_in_few_lines() {
    let mut target = Target::start("logs-flood", "[forwarder]\nfaces_per_address = 1\n");
    let crowd: Vec<UdpSocket> = (0..100).map(|_| UdpSocket::bind("127.0.0.1:0").expect("a port")).collect();
    let hello = interest(&uri(&["no-route"]));
    let is_flooded = |status: &Value| {
        for socket in &crowd {
            socket.send_to(&hello, target.forwarder.address(Way::Udp)).expect("sent");
        }
        of_forwarder(status, "faces_refused") >= 90.0
    };
    target.forwarder.status_when("refusals", is_flooded);
    let refused = of_forwarder(&target.forwarder.status(), "faces_refused");
    let ended = target.forwarder.end("-INT").with(0);
    let lines: Vec<Value> = ended
        .err
        .lines()
        .map(|line| Value::parse(line).unwrap_or_else(|why| panic!("{why}: {line}")))
        .filter(
            |line| matches!(line.get("warning"), Value::Text(text) if text.starts_with("a peer was refused")),
        )
        .collect();
    let suppressed = |line: &Value| match line.get("suppressed") {
        Value::Number(count) => *count,
        _ => 0.0,
    };
    // The last line, at the end, stands for suppressed ones alone.
    let is_end = |line: &&Value| matches!(line.get("suppressed"), Value::Number(_));
    let shown = lines.len() - usize::from(lines.last().as_ref().is_some_and(is_end));
    let total = shown as f64 + lines.iter().map(suppressed).sum::<f64>();
    assert!((total - refused).abs() <= 1.0, "{total} of {refused}: {lines:?}");
    assert!(lines.len() < 60, "{lines:?}");
}

#[test]
fn with_log_format_json_every_line_is_a_json_object() {
    let scratch = Scratch::new("logs-json");
    let uri = format!("unix://{}", scratch.at("f.sock"));
    let forwarder = Running::start(&["forward", "--log-format", "json", "--listen", &uri]);
    forwarder.err_line("{\"note\":\"listening at unix://");
    let ended = forwarder.stop().with(0);
    assert!(ended.err.lines().all(|line| Value::parse(line).is_ok()), "{}", ended.err);
    assert!(!ended.out.starts_with('{'), "results have the format of --format: {}", ended.out);
    let failed = Running::start(&["put", "/a/seg=0", "--log-format", "json"]).wait().with(2);
    assert!(failed.err.starts_with("{\"error\":"), "{}", failed.err);
}

#[test]
fn the_level_comes_from_the_command_line_or_the_environment() {
    let scratch = Scratch::new("logs-level");
    let uri = format!("unix://{}", scratch.at("f.sock"));
    let start = |more: &[&str], variable: &str| {
        let mut command = program();
        command.args(["forward", "--listen", &uri]).args(more).env("TIDEGATE_LOG", variable);
        Running::of(command)
    };
    let by_variable = start(&[], "info");
    by_variable.err_line("listening at ");
    Running::start(&["status", "--transport", &uri]).wait().with(0);
    let line = by_variable.err_line("info: a face was created face=256 remote=fd://");
    assert!(!line.contains("suppressed"), "{line}");
    by_variable.stop().with(0);
    let by_option = start(&["--log", "warn"], "info");
    by_option.err_line("listening at ");
    Running::start(&["status", "--transport", &uri]).wait().with(0);
    let ended = by_option.stop().with(0);
    assert!(!ended.err.contains("info: "), "{}", ended.err);
    let wrong = start(&[], "loud").wait().with(2);
    assert!(wrong.err.contains("TIDEGATE_LOG: \"loud\""), "{}", wrong.err);
}

#[test]
fn a_face_that_goes_down_and_comes_back_is_logged_with_its_peer() {
    let mut peer = Forwarder::start("logs-peer", "");
    let uri = peer.uri(Way::Tcp).to_owned();
    let face = format!("[[face]]\nname = \"peer\"\nuri = \"{uri}\"\n");
    let forwarder = Forwarder::start("logs-down", &face);
    let status =
        |status: &Value| status.get("faces").list().iter().any(|face| face.get("remote").text() == uri);
    forwarder.status_when("the face", status);
    peer.kill();
    let down = forwarder.err_line("{\"warning\":\"a face is down; connecting again\"");
    assert!(down.contains(&uri), "{down}");
    peer.restart();
    forwarder.err_line("{\"warning\":\"a face is up again\"");
}
