//! The emulated link as its users start and stop it.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use crate::tidegate;
use support::json::Value;
use support::running::Running;

/// A link towards `server` with `more` arguments, and where it is heard.
fn start(server: &UdpSocket, more: &[&str]) -> (Running, String) {
    let to = server.local_addr().expect("bound").to_string();
    let arguments = ["link", "--format", "json", "--listen", "127.0.0.1:0", "--to", &to];
    let link = Running::start(&[&arguments, more].concat());
    let reported = link.err_line("{\"note\":\"carrying ");
    let local = reported.split_whitespace().nth(1).unwrap_or_else(|| panic!("{reported}")).to_owned();
    (link, local)
}

/// Ends the link by a signal: what it printed last.
fn end(link: Running, signal: &str) -> Value {
    link.signal(signal);
    let out = link.wait().with(0).out;
    let last = out.lines().last().unwrap_or_default();
    Value::parse(last).unwrap_or_else(|why| panic!("{why}: {out}"))
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout can be set");
    socket
}

#[test]
fn a_link_delays_both_ways_and_reports_when_a_signal_ends_it() {
    for signal in ["-INT", "-TERM"] {
        let (client, server) = (socket(), socket());
        let (link, local) =
            start(&server, &["--rate", "10Mbps", "--delay", "15ms", "--reverse-delay", "5ms"]);
        let mut memory = [0; 100];
        let before = Instant::now();
        client.send_to(b"there", &local).expect("sent");
        let (len, back) = server.recv_from(&mut memory).expect("it arrives");
        assert_eq!(&memory[..len], b"there");
        assert!(before.elapsed() >= Duration::from_millis(15), "{:?}", before.elapsed());
        server.send_to(b"back", back).expect("sent");
        let len = client.recv(&mut memory).expect("it arrives");
        assert_eq!(&memory[..len], b"back");
        assert!(before.elapsed() >= Duration::from_millis(20), "{:?}", before.elapsed());
        let report = end(link, signal);
        for direction in ["forward", "reverse"] {
            let way = report.get(direction);
            assert_eq!((way.get("in"), way.get("delivered")), (&Value::Number(1.0), &Value::Number(1.0)));
            assert_eq!(way.get("lateness_ms").get("count"), &Value::Number(1.0));
        }
    }
}

#[test]
fn a_datagram_above_the_mtu_is_dropped_and_counted() {
    let (client, server) = (socket(), socket());
    let (link, local) = start(&server, &["--mtu", "50"]);
    let mut memory = [0; 100];
    client.send_to(&[1; 51], &local).expect("sent");
    client.send_to(&[2; 50], &local).expect("sent");
    let (len, _) = server.recv_from(&mut memory).expect("the second arrives");
    assert_eq!(memory[..len], [2; 50]);
    let forward = end(link, "-INT").get("forward").clone();
    assert_eq!((forward.get("too_large"), forward.get("in")), (&Value::Number(1.0), &Value::Number(1.0)));
}

#[test]
fn a_link_ends_by_itself_after_its_duration() {
    let server = socket().local_addr().expect("bound").to_string();
    let arguments = ["link", "--quiet", "--listen", "127.0.0.1:0", "--to", &server, "--duration", "50ms"];
    let ended = tidegate(&arguments).with(0);
    assert!(ended.out.starts_with("after 0.0") && ended.out.contains("lateness p99, ms"), "{}", ended.out);
}

#[test]
fn a_link_that_cannot_be_is_refused_with_what_is_accepted() {
    let refused = |more: &[&str]| {
        let base = ["link", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"];
        tidegate(&[&base, more].concat()).with(2).err
    };
    assert!(refused(&["--rate", "0Mbps"]).contains("\"0Mbps\" is not above zero"));
    assert!(refused(&["--loss", "1.5"]).contains("\"1.5\" is not a number from 0 to 1"));
    assert!(refused(&["--mtu", "9001"]).contains("\"9001\" is not within 1B to 9000B"));
    assert!(refused(&["--queue", "0pkt"]).contains("\"0pkt\" is not above zero"));
    let foreign = tidegate(&["link", "--listen", "192.0.2.1:7", "--to", "127.0.0.1:9"]).with(1).err;
    assert!(foreign.contains("--listen 192.0.2.1:7: "), "{foreign}");
}

#[test]
fn a_link_to_itself_or_to_no_port_is_refused() {
    for to in ["127.0.0.1:7001", "127.0.0.1:0"] {
        let refused = tidegate(&["link", "--listen", "127.0.0.1:7001", "--to", to]).with(2);
        assert!(refused.err.contains(&format!("--to {to}: ")), "{}", refused.err);
    }
}
