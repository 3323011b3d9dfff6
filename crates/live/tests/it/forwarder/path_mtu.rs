//! Datagrams above 1400 bytes between forwarders, and between a forwarder and an application, where probes were confirmed.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use tidegate_core::units::Span;
use tidegate_live::client::{Answer, Client};
use tidegate_live::daemon::status::StatusLine;
use tidegate_live::transport::Transport;
use tidegate_live::udp::UdpFace;
use tidegate_wire::tlv::types;
use tidegate_wire::{InterestBuilder, PathProbe, decode_frame, name};

use super::bench::{Forwarder, answer};
use super::management::{elements, fetch, nfd, request};

/// The forwarder of a test, which listens on UDP, and its address.
fn listening(test: &str, more: &str) -> (Forwarder, std::net::SocketAddr) {
    let text = format!("{more}\n[listen]\nudp = [\"127.0.0.1:0\"]\ntcp = []");
    let forwarder = Forwarder::configured(test, &text, tidegate_schemes::SCHEMES);
    let uri = forwarder.listening.iter().find_map(|uri| uri.strip_prefix("udp4://")).expect("it listens");
    let address = uri.parse().expect("an address");
    (forwarder, address)
}

/// `/p/<number>`.
fn named(number: u32) -> Vec<u8> {
    let mut requested = b"\x08\x01p".to_vec();
    name::push_segment(&mut requested, number);
    requested
}

/// Lines of the status about UDP faces.
fn udp_faces(client: &mut Client) -> Vec<StatusLine> {
    let mut requested = Vec::new();
    for word in ["localhost", "tidegate", "status"] {
        name::push_component(&mut requested, 8, word.as_bytes());
    }
    let packet = request(client, &requested, true);
    let data = tidegate_wire::DataView::parse(&packet).expect("a Data");
    let lines = tidegate_live::daemon::status::read(&String::from_utf8_lossy(data.content));
    let is_udp = |line: &StatusLine| line.get("remote").is_some_and(|uri| uri.starts_with("udp4://"));
    lines.into_iter().filter(is_udp).collect()
}

/// Requests Data of 8000 bytes over the face from `consumer`, `count` of them, from a producer at `near`.
fn exchange(near: &Forwarder, mut consumer: Client, count: u32) -> Client {
    let mut producer = near.producer(b"\x08\x01p");
    let answering = std::thread::spawn(move || answer(&mut producer, count as usize, 8_000));
    for number in 0..count {
        let requested = named(number);
        let interest = InterestBuilder { name: &requested, ..InterestBuilder::default() };
        let outcome = consumer.express(interest.build().expect("valid"), Span::from_secs(10));
        assert!(matches!(outcome.expect("connected"), Answer::Data(_)), "{number}");
    }
    answering.join().expect("all were requested");
    consumer
}

fn mtu(line: &StatusLine) -> (&str, &str) {
    (line.get("mtu_bytes").expect("a datagram face"), line.get("mtu_origin").expect("a datagram face"))
}

#[test]
fn large_data_goes_in_one_datagram_once_the_path_was_probed_and_only_in_that_direction() {
    let (near, address) = listening("path-near", "");
    let face = format!(
        "[[face]]\nuri = \"udp4://{address}\"\n[[route]]\nprefix = \"/p\"\nface = \"udp4://{address}\""
    );
    let (far, _) = listening("path-far", &face);
    exchange(&near, far.consumer(), 20);
    let (senders, receivers) = (udp_faces(&mut near.consumer()), udp_faces(&mut far.consumer()));
    let ([sender], [receiver]) = (&senders[..], &receivers[..]) else { panic!("{senders:?} {receivers:?}") };
    assert_eq!((mtu(sender), mtu(receiver)), (("8800", "probed"), ("1400", "default")));
    let fragmented: u32 = sender.get("fragmented").and_then(|count| count.parse().ok()).expect("a number");
    assert!((1..20).contains(&fragmented), "{fragmented}");
    // NFD's dataset reports the same.
    let faces = elements(&fetch(&mut near.consumer(), &nfd(&[b"faces", b"list"])));
    let mtus: Vec<Vec<u8>> = faces.iter().filter_map(|(_, face)| value(face, 137)).collect();
    assert!(mtus.contains(&8800_u16.to_be_bytes().to_vec()), "{mtus:?}");
}

fn value(face: &[u8], kind: u32) -> Option<Vec<u8>> {
    elements(face).into_iter().find(|(found, _)| *found == kind).map(|(_, value)| value)
}

#[test]
fn an_application_over_udp_confirms_probes() {
    let (near, address) = listening("path-application", "");
    let face = UdpFace::connect(address, None).expect("a port is free");
    let consumer = Client::over(Transport::Udp(face)).expect("descriptors");
    let _consumer = exchange(&near, consumer, 10);
    assert_eq!(mtu(&udp_faces(&mut near.consumer())[0]), ("8800", "probed"));
}

#[test]
fn probes_can_be_switched_off_and_a_configured_size_stays() {
    for (setting, expected) in
        [("path_mtu = false", ("1400", "default")), ("mtu = \"3000B\"", ("3000", "configured"))]
    {
        let (near, address) = listening("path-off", &format!("[face_defaults]\n{setting}\n"));
        let face = UdpFace::connect(address, None).expect("a port is free");
        let consumer = Client::over(Transport::Udp(face)).expect("descriptors");
        let _consumer = exchange(&near, consumer, 5);
        assert_eq!(mtu(&udp_faces(&mut near.consumer())[0]), expected);
    }
}

/// A peer that does not know probes, as NFD or ndnd.
#[test]
fn a_peer_that_confirms_nothing_gets_one_small_idle_frame_beside_its_fragments() {
    let (near, address) = listening("path-silent", "");
    let mut producer = near.producer(b"\x08\x01p");
    let peer = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    peer.connect(address).expect("an address");
    peer.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
    for number in 0..3 {
        let requested = named(number);
        let interest = InterestBuilder { name: &requested, ..InterestBuilder::default() };
        peer.send(&interest.build().expect("valid")).expect("sent");
        answer(&mut producer, 1, 8_000);
    }
    let begun = Instant::now();
    let (mut fragments, mut probes) = (0, 0);
    let mut frame = [0; 9_000];
    while fragments < 18 {
        assert!(begun.elapsed() < Duration::from_secs(10), "{fragments} fragments");
        let len = peer.recv(&mut frame).expect("a frame");
        assert!(len <= 1400);
        let read = decode_frame(frame[..len].to_vec().into()).expect("a frame");
        assert_eq!(frame[0], types::LP_PACKET as u8);
        match read.fields.path_probe {
            Some(PathProbe::Request(_)) => {
                assert_eq!((len, read.fragment.len()), (14, 0));
                probes += 1;
            }
            Some(PathProbe::Reply(_)) => panic!("nothing was asked"),
            None => fragments += 1,
        }
    }
    // One each second, at most three.
    assert!((1..=3).contains(&probes), "{probes}");
}
