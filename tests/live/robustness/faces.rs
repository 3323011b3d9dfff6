//! More peers than there are faces for.

use std::net::UdpSocket;

use super::Target;
use crate::of_forwarder;
use crate::peer::{Peer, interest, uri};
use support::json::Value;
use support::running::Way;

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
