//! Addresses of a machine that has several, as its UDP peers see them.

use std::net::UdpSocket;
use std::time::Duration;

use super::bench::{Forwarder, interest};
use super::management::{elements, fetch, nfd};

#[test]
fn a_peer_is_answered_from_each_address_that_it_sent_to() {
    let listen = "[listen]\ntcp = []\nudp = [\"0.0.0.0:0\"]";
    let forwarder = Forwarder::configured("addresses", listen, tidegate_schemes::SCHEMES);
    let port = forwarder.listening[0].rsplit_once(':').expect("a port").1.to_owned();
    let peer = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    peer.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    for (segment, at) in [(1, "127.0.0.7"), (2, "127.0.0.8"), (3, "127.0.0.7")] {
        let target = format!("{at}:{port}");
        peer.send_to(&interest(&[8, 1, b'x'], segment), &target).expect("sent");
        // A Nack, since there is no route.
        let mut received = [0; 9_000];
        let (len, from) = peer.recv_from(&mut received).expect("an answer");
        assert_eq!((from.to_string(), received[0], len > 0), (target, 100, true));
    }
    let listed = fetch(&mut forwarder.consumer(), &nfd(&[b"faces", b"list"]));
    let faces: Vec<_> = elements(&listed).into_iter().map(|(_, face)| elements(&face)).collect();
    let local = |at: &str| (129, format!("udp4://{at}:{port}").into_bytes());
    let count = |at| faces.iter().filter(|face| face.contains(&local(at))).count();
    assert_eq!((count("127.0.0.7"), count("127.0.0.8")), (1, 1));
}

#[test]
fn an_address_whose_faces_take_all_places_gives_one_to_a_newcomer() {
    // Beside the internal face.
    let config = "[forwarder]\nmax_faces = 20\n[listen]\ntcp = []\nudp = [\"127.0.0.1:0\"]";
    let forwarder = Forwarder::configured("crowded", config, tidegate_schemes::SCHEMES);
    let target = forwarder.listening[0].trim_start_matches("udp4://").to_owned();
    let is_answered = |peer: &UdpSocket, segment| {
        peer.send_to(&interest(&[8, 1, b'x'], segment), &target).expect("sent");
        peer.recv(&mut [0; 9_000]).is_ok()
    };
    let peer = |address: &str| {
        let peer = UdpSocket::bind((address, 0)).expect("a port is free");
        peer.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
        peer
    };
    let crowd: Vec<UdpSocket> = (0..30).map(|_| peer("127.0.0.2")).collect();
    let taken = crowd.iter().zip(0..).filter(|(peer, segment)| is_answered(peer, *segment)).count();
    assert!((15..=20).contains(&taken), "{taken}");
    let newcomer = peer("127.0.0.3");
    assert!((0..20).any(|segment| is_answered(&newcomer, segment)));
}
