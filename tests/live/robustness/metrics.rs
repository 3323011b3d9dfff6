//! Metrics over HTTP, beside transfers.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::Target;
use support::running::Way;

/// The response to `request` at the metrics' `address`.
fn response(address: &str, request: &str) -> String {
    let mut client = TcpStream::connect(address).expect("the metrics are served");
    client.write_all(request.as_bytes()).expect("connected");
    let mut text = String::new();
    client.read_to_string(&mut text).expect("the response ends");
    text
}

#[test]
fn metrics_have_the_counters_of_the_status_and_silent_clients_do_not_stop_the_forwarder() {
    let target = Target::start("metrics", "[forwarder]\nmetrics = \"127.0.0.1:0\"\n");
    let line = target.forwarder.err_line("{\"note\":\"metrics at http://");
    let address = line.trim_start_matches("{\"note\":\"metrics at http://").trim_end_matches("/metrics\"}");
    let silent: Vec<TcpStream> =
        (0..20).map(|_| TcpStream::connect(address).expect("the system accepts it")).collect();
    target.assert_well(Way::Unix);
    drop(silent);
    let text = response(address, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{text}");
    let sent = text.lines().find(|line| line.starts_with("tidegate_face_sent_bytes_total{face=\"1\""));
    assert!(sent.is_some_and(|line| line.contains("scope=\"local\"")), "{text}");
    assert!(response(address, "GET /other HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
}
