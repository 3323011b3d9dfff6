//! More peers than there are faces for.

use std::net::UdpSocket;
use std::time::Instant;

use super::Target;
use super::authority::{can_be_another, command};
use crate::of_forwarder;
use crate::peer::{Peer, interest, uri};
use support::json::Value;
use support::running::{Forwarder, Running, Way, is_full, patience};

/// Faces of the configuration; the server has one.
const MAX: usize = 40;

/// Beyond them for Unix sockets.
const RESERVED: usize = 16;

#[test]
fn peers_beyond_the_last_face_are_refused_until_others_leave() {
    let config = format!("[forwarder]\nmax_faces = {MAX}\n[face_defaults]\nidle = \"1s\"\n");
    let target = Target::start("crowd", &config);
    let forwarder = &target.forwarder;
    let mut streams: Vec<Peer> = (0..MAX).map(|_| Peer::connect(forwarder, Way::Tcp)).collect();
    let sockets: Vec<UdpSocket> = (0..MAX)
        .map(|_| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
            socket.send_to(&[5], forwarder.address(Way::Udp)).expect("sent");
            socket
        })
        .collect();
    let all_came = |status: &Value| of_forwarder(status, "faces_refused") as usize == MAX + 1;
    let status = forwarder.status_when("refusal", all_came);
    // Management and who asks beside them.
    assert_eq!(status.get("faces").list().len(), MAX + 2, "{status:?}");
    // Those that came first are served.
    streams[0].send(&interest(&uri(&["no-route"])));
    assert!(streams[0].receive().is_some(), "a Nack");
    assert_eq!(streams[MAX - 1].receive(), None, "the server was before it");
    drop(streams);
    let has_udp = |status: &Value| {
        status.get("faces").list().iter().any(|face| face.get("remote").text().starts_with("udp4://"))
    };
    // Faces of UDP peers go when they are silent, and who looks seldom would never see one that spoke once.
    let speaks = |status: &Value| {
        sockets[0].send_to(&[5], forwarder.address(Way::Udp)).expect("sent");
        has_udp(status)
    };
    forwarder.status_when("a face that was refused before", speaks);
    forwarder.status_when("the end of a silent face", |status| !has_udp(status));
    target.assert_well(Way::Udp);
}

#[test]
fn unix_sockets_have_some_faces_beyond_the_last_and_no_more() {
    let target = Target::start("reserved", &format!("[forwarder]\nmax_faces = {MAX}\n"));
    let forwarder = &target.forwarder;
    let count = MAX - 1 + RESERVED;
    let mut peers: Vec<Peer> = (0..count).map(|_| Peer::connect(forwarder, Way::Unix)).collect();
    peers.iter_mut().for_each(|peer| assert!(peer.answers().is_empty()));
    assert_eq!(forwarder.request_status().code, Some(1));
    peers.pop();
    forwarder.status_when("room for a face", |_| true);
}

#[test]
fn a_user_with_all_local_faces_does_not_lock_another_out() {
    if !can_be_another("a local face for another user") {
        return;
    }
    let target = Target::start("users", &format!("[forwarder]\nmax_faces = {MAX}\n"));
    let forwarder = &target.forwarder;
    let _idle: Vec<Peer> = (0..MAX - 1 + RESERVED).map(|_| Peer::connect(forwarder, Way::Unix)).collect();
    assert_eq!(forwarder.request_status().code, Some(1));
    let status = ["status", "--transport", forwarder.uri(Way::Unix)];
    let until = Instant::now() + patience();
    // A new connection has some time for its first packet.
    while Running::of(command(&status)).wait().code != Some(0) {
        assert!(Instant::now() < until, "the other user is refused");
    }
    target.assert_well(Way::Unix);
}

#[test]
fn a_thousand_connections_that_come_and_go_leave_no_face() {
    let target = Target::start("passing", "");
    for way in [Way::Tcp, Way::Unix] {
        for _ in 0..1_000 {
            let mut peer = Peer::connect(&target.forwarder, way);
            peer.send(&[5]);
            peer.end();
        }
        let status = target.assert_well(way);
        // Management, the server, and who asks.
        assert_eq!(status.get("faces").list().len(), 3, "{status:?}");
    }
}

/// Sockets at `address`.
fn strangers(address: &str, count: usize) -> Vec<UdpSocket> {
    (0..count).map(|_| UdpSocket::bind((address, 0)).expect("a port is free")).collect()
}

/// Every socket sends `bytes` to the forwarder. A new face may have caught what another sent before, so that a test has to
/// send again.
fn send_all(target: &Target, sockets: &[UdpSocket], bytes: &[u8]) {
    for socket in sockets {
        socket.send_to(bytes, target.forwarder.address(Way::Udp)).expect("sent");
    }
}

/// Number of faces of UDP peers at `address`.
fn faces_at(status: &Value, address: &str) -> usize {
    let start = format!("udp4://{address}:");
    status.get("faces").list().iter().filter(|face| face.get("remote").text().starts_with(&start)).count()
}

#[test]
fn one_address_takes_its_share_of_faces_and_no_more() {
    let target = Target::start("address", "[forwarder]\nfaces_per_address = 8\n");
    let hello = interest(&uri(&["no-route"]));
    let crowd = strangers("127.0.0.1", 20);
    let is_full = |status: &Value| {
        send_all(&target, &crowd, &hello);
        faces_at(status, "127.0.0.1") >= 8 && of_forwarder(status, "faces_refused") >= 12.0
    };
    let status = target.forwarder.status_when("refusals", is_full);
    assert_eq!(faces_at(&status, "127.0.0.1"), 8);
    let others = strangers("127.0.0.2", 3);
    let have_faces = |status: &Value| {
        send_all(&target, &others, &hello);
        faces_at(status, "127.0.0.2") == 3
    };
    target.forwarder.status_when("faces of another address", have_faces);
    let warning = target.forwarder.err_line("{\"warning\":");
    assert!(warning.contains("127.0.0.1 has 8 faces already (faces_per_address)"), "{warning}");
}

#[test]
fn a_face_that_never_sent_a_packet_is_closed_for_a_newcomer() {
    let target = Target::start("useless", "[forwarder]\nmax_faces = 20\n");
    // One is the server's.
    let useless = strangers("127.0.0.1", 19);
    let is_full = |status: &Value| {
        send_all(&target, &useless, &[5]);
        faces_at(status, "127.0.0.1") == 19
    };
    target.forwarder.status_when("all faces", is_full);
    let newcomer = UdpSocket::bind("127.0.0.2:0").expect("a port is free");
    let has_face = |status: &Value| {
        newcomer.send_to(&interest(&uri(&["no-route"])), target.forwarder.address(Way::Udp)).expect("sent");
        faces_at(status, "127.0.0.2") == 1
    };
    let status = target.forwarder.status_when("a face of the newcomer", has_face);
    assert!(faces_at(&status, "127.0.0.1") < 19, "{status:?}");
}

#[test]
fn a_connection_without_a_packet_ends_and_one_with_packets_stays() {
    let target = Target::start("half-open", "local_tcp = false\n[face_defaults]\nidle = \"1s\"\n");
    let mut proven = Peer::connect(&target.forwarder, Way::Tcp);
    assert!(proven.answers().is_empty());
    let mut silent = Peer::connect(&target.forwarder, Way::Tcp);
    assert_eq!(silent.receive(), None, "the forwarder ends it");
    assert!(proven.answers().is_empty());
    // An application of this machine may take its time.
    let mut local = Peer::connect(&target.forwarder, Way::Unix);
    target.forwarder.status_when("some time", |status| of_forwarder(status, "uptime_s") > 4.0);
    assert!(local.answers().is_empty());
}

#[test]
fn an_address_with_its_share_of_faces_gives_the_place_of_a_silent_one_to_a_newcomer() {
    let target = Target::start("share", "[forwarder]\nfaces_per_address = 4\n");
    let silent = strangers("127.0.0.1", 4);
    let is_full = |status: &Value| {
        send_all(&target, &silent, &[5]);
        faces_at(status, "127.0.0.1") == 4
    };
    target.forwarder.status_when("all faces", is_full);
    let newcomer = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let remote = format!("udp4://{}", newcomer.local_addr().expect("bound"));
    let has_face = |status: &Value| {
        newcomer.send_to(&interest(&uri(&["no-route"])), target.forwarder.address(Way::Udp)).expect("sent");
        status.get("faces").list().iter().any(|face| face.get("remote").text() == remote)
    };
    let status = target.forwarder.status_when("a face of the newcomer", has_face);
    assert!(faces_at(&status, "127.0.0.1") <= 4, "{status:?}");
}

/// Maximum memory of an idle face over UDP, bytes: twice what it takes.
const FACE_BYTES: u64 = 18_000;

#[test]
fn idle_faces_take_little_memory_and_leave_places_for_local_applications() {
    let count: u16 = if is_full() { 10_000 } else { 500 };
    let config = format!("[forwarder]\nmax_faces = {count}\nfaces_per_address = {count}\n");
    let forwarder = Forwarder::start_with_files("idle", &config, u32::from(count) + 200);
    let before = forwarder.memory_bytes();
    let hello = interest(&uri(&["no-route"]));
    // Each has its own port, which is the same in every round; the sockets need not stay.
    let speak = || {
        for port in 20_000..20_020 + count {
            let socket = UdpSocket::bind(("127.9.0.1", port)).expect("nobody else has this address");
            socket.send_to(&hello, forwarder.address(Way::Udp)).expect("sent");
        }
    };
    let has_no_place = |status: &Value| {
        speak();
        faces_at(status, "127.9.0.1") + 1 >= usize::from(count) && of_forwarder(status, "faces_refused") > 0.0
    };
    forwarder.status_when("a refusal", has_no_place);
    let warning = forwarder.err_line("{\"warning\":\"a peer was refused: ");
    assert!(warning.contains(&format!("{count} faces already")), "{warning}");
    let each = (forwarder.memory_bytes() - before) / u64::from(count);
    assert!(each < FACE_BYTES, "{each} bytes");
    let peers: Vec<Peer> = (0..8).map(|_| Peer::connect(&forwarder, Way::Unix)).collect();
    forwarder.status();
    drop(peers);
}

#[test]
fn with_few_open_files_the_forwarder_is_still_reached_over_its_unix_socket() {
    let forwarder = Forwarder::start_with_files("files", "", 64);
    let streams: Vec<Peer> = (0..100).map(|_| Peer::connect(&forwarder, Way::Tcp)).collect();
    let datagrams = strangers("127.0.0.1", 100);
    for socket in &datagrams {
        socket.send_to(&interest(&uri(&["well"])), forwarder.address(Way::Udp)).expect("sent");
    }
    let status = forwarder.status_when("a refusal", |status| of_forwarder(status, "faces_refused") >= 100.0);
    assert!(status.get("faces").list().len() < 64, "{status:?}");
    let peers: Vec<Peer> = (0..8).map(|_| Peer::connect(&forwarder, Way::Unix)).collect();
    forwarder.status();
    drop((streams, datagrams, peers));
}
