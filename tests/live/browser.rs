//! A JavaScript program at the WebSocket listener, with the WebSocket of its own runtime.

use std::process::Command;

use support::running::Forwarder;
use support::skipped::skipped;
use tidegate_wire::tlv::types;
use tidegate_wire::{DataView, InterestBuilder, decode_frame};

use crate::peer::uri;

/// Sends one message and prints the answer in hexadecimal digits.
const SCRIPT: &str = r#"
const [at, interest] = process.argv.slice(1);
const socket = new WebSocket(at);
socket.binaryType = "arraybuffer";
socket.onopen = () => socket.send(Buffer.from(interest, "hex"));
socket.onmessage = ({ data }) => {
  console.log(Buffer.from(data).toString("hex"));
  socket.close();
};
socket.onerror = ({ message }) => { console.error(message); process.exit(1); };
"#;

/// `node` with a WebSocket: since version 22 by default, since 20.10 on request.
fn node() -> Option<Command> {
    let with_socket = |command: &mut Command| {
        command.args(["--no-warnings", "--experimental-websocket"]);
    };
    let mut question = Command::new("node");
    with_socket(&mut question);
    let asked = question.args(["-e", "process.exit(typeof WebSocket === 'function' ? 0 : 1)"]).output();
    let mut command = Command::new("node");
    with_socket(&mut command);
    asked.is_ok_and(|ended| ended.status.success()).then_some(command)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
    (0..hex.len()).step_by(2).map(digits).collect()
}

#[test]
fn a_javascript_program_fetches_the_status_over_websocket() {
    let Some(mut node) = node() else {
        return skipped("a WebSocket of JavaScript", "node 22, or 20.10");
    };
    let forwarder = Forwarder::start("browser", "websocket = [\"127.0.0.1:0\"]\n");
    let line = forwarder.err_line("{\"note\":\"listening at ws://");
    let at = line.trim_start_matches("{\"note\":\"listening at ").trim_end_matches("\"}");
    let name = uri(&["localhost", "nfd", "status", "general"]);
    let interest = InterestBuilder {
        name: &name,
        can_be_prefix: true,
        must_be_fresh: true,
        ..InterestBuilder::default()
    };
    let sent = hex(&interest.build().expect("valid"));
    let ended = node.args(["-e", SCRIPT, "--", at, &sent]).output().expect("it was there");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let received = bytes(String::from_utf8_lossy(&ended.stdout).trim());
    let data = decode_frame(received.into()).expect("a frame").fragment;
    assert_eq!(u32::from(data[0]), types::DATA);
    assert!(DataView::parse(&data).expect("a Data").name.components().starts_with(&name));
}
