//! What may not pass: this machine's names from elsewhere, and Interests at the end of their way.

use std::net::UdpSocket;
use std::sync::Mutex;

use tidegate_core::ndn::packet::Millis;
use tidegate_wire::tlv::types;
use tidegate_wire::{DataBuilder, InterestBuilder, InterestStamp, Signer};

use super::Target;
use crate::of_forwarder;
use crate::peer::{Peer, interest, name_in, packet, uri};
use support::json::Value;
use support::running::Way;

/// What a configured UDP face leads to: the forwarder does not take it for a part of this machine.
pub(super) struct Upstream {
    socket: Mutex<Option<UdpSocket>>,
    config: String,
}

impl Upstream {
    pub(super) fn bind() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        let at = socket.local_addr().expect("bound");
        let config = format!(
            "[[face]]\nname = \"up\"\nuri = \"udp4://{at}\"\n[[route]]\nprefix = \"/up\"\nface = \"up\"\n"
        );
        Self { socket: Mutex::new(Some(socket)), config }
    }

    /// Leads `/up` there.
    pub(super) fn config(&self) -> String {
        self.config.clone()
    }

    /// The other end of the face, once something was sent to it; what that is can still be received.
    pub(super) fn peer(&self) -> Peer {
        let socket = self.socket.lock().expect("one thread").take().expect("asked for once");
        socket.set_read_timeout(Some(support::running::patience())).expect("a timeout can be set");
        let (_, from) = socket.peek_from(&mut [0; 9_000]).expect("the forwarder sends");
        socket.connect(from).expect("an address");
        Peer::over_udp(socket)
    }
}

#[test]
fn names_of_this_machine_are_nothing_for_a_peer_elsewhere() {
    let upstream = Upstream::bind();
    let target = Target::start("scope", &upstream.config());
    Peer::connect(&target.forwarder, Way::Unix).send(&interest(&uri(&["up", "hello"])));
    let mut peer = upstream.peer();
    assert_eq!(name_in(&peer.receive().expect("an Interest")), Some(uri(&["up", "hello"])));
    let status = uri(&["localhost", "tidegate", "status"]);
    let command = InterestBuilder {
        name: &[&uri(&["localhost", "nfd", "rib", "register"])[..], &[8, 5, 104, 3, 7, 1, 0]].concat(),
        ..InterestBuilder::default()
    };
    let stamp = InterestStamp { nonce: Some(&[1; 8]), time_ms: Some(1), sequence: None };
    let data = DataBuilder { name: &uri(&["localhost", "x"]), ..DataBuilder::default() };
    peer.send(&interest(&status));
    peer.send(&command.sign(&Signer::Digest, &stamp).expect("valid"));
    peer.send(&data.sign(&Signer::Digest).expect("valid"));
    assert_eq!(peer.answers(), Vec::<Vec<u8>>::new());
    let status = target.assert_well(Way::Udp);
    assert_eq!(of_forwarder(&status, "out_of_scope"), 3.0, "{status:?}");
    assert_eq!(of_forwarder(&status, "malformed"), 0.0, "{status:?}");
}

#[test]
fn a_configured_udp_face_leaves_from_the_port_of_the_listener() {
    let upstream = Upstream::bind();
    let target = Target::start("port", &upstream.config());
    let status = target.forwarder.status();
    let is_up = |face: &&Value| face.get("remote").text().starts_with("udp4://");
    let local = status.get("faces").list().iter().find(is_up).expect("the face").get("local").text();
    assert_eq!(local, format!("udp4://{}", target.forwarder.address(Way::Udp)));
    Peer::connect(&target.forwarder, Way::Unix).send(&interest(&uri(&["up", "hello"])));
    assert_eq!(name_in(&upstream.peer().receive().expect("an Interest")), Some(uri(&["up", "hello"])));
}

#[test]
fn data_from_a_peer_that_was_not_sent_the_interest_is_dropped() {
    let upstream = Upstream::bind();
    let target = Target::start("unrequested", &upstream.config());
    let name = uri(&["up", "file"]);
    let mut consumer = Peer::connect(&target.forwarder, Way::Unix);
    consumer.send(&interest(&name));
    let mut producer = upstream.peer();
    assert_eq!(name_in(&producer.receive().expect("an Interest")), Some(name.clone()));
    let answer = |content| {
        let freshness = Some(Millis(60_000));
        let data = DataBuilder { name: &name, content, freshness, ..DataBuilder::default() };
        data.sign(&Signer::Digest).expect("valid")
    };
    for way in Way::ALL {
        let mut stranger = Peer::connect(&target.forwarder, way);
        stranger.send(&answer(b"forged"));
        assert_eq!(stranger.answers(), Vec::<Vec<u8>>::new());
    }
    producer.send(&answer(b"true"));
    assert_eq!(packet(&consumer.receive().expect("a Data")), answer(b"true"));
    consumer.send(&interest(&name));
    assert_eq!(packet(&consumer.receive().expect("a Data of the cache")), answer(b"true"));
    assert_eq!(of_forwarder(&target.assert_well(Way::Unix), "unrequested"), 3.0);
}

fn interest_with_hops(name: &[u8], hops: u8) -> Vec<u8> {
    let lifetime = Some(Millis(60_000));
    let interest = InterestBuilder { name, hop_limit: Some(hops), lifetime, ..InterestBuilder::default() };
    interest.build().expect("valid").to_vec()
}

#[test]
fn an_interest_at_the_end_of_its_hops_goes_no_further() {
    let upstream = Upstream::bind();
    let target = Target::start("hops", &upstream.config());
    for way in Way::ALL {
        let before = of_forwarder(&target.forwarder.status(), "hop_limited");
        let mut peer = Peer::connect(&target.forwarder, way);
        peer.send(&interest_with_hops(&uri(&["no-route", "far"]), 0));
        assert_eq!(peer.answers(), Vec::<Vec<u8>>::new(), "not even a Nack");
        // One hop leads to an application here, or to the cache.
        let metadata = [&uri(&["well"])[..], &[32, 8], b"metadata"].concat();
        let last_hop = InterestBuilder {
            name: &metadata,
            can_be_prefix: true,
            must_be_fresh: true,
            hop_limit: Some(1),
            ..InterestBuilder::default()
        };
        peer.send(&last_hop.build().expect("valid"));
        let answer = peer.receive().expect("a Data");
        assert_eq!(packet(&answer)[0], types::DATA as u8, "{answer:?}");
        let status = target.assert_well(way);
        assert_eq!(of_forwarder(&status, "hop_limited") - before, 1.0, "{status:?}");
    }
    let mut peer = Peer::connect(&target.forwarder, Way::Unix);
    peer.send(&interest_with_hops(&uri(&["up", "one"]), 1));
    peer.send(&interest_with_hops(&uri(&["up", "two"]), 2));
    let forwarded = upstream.peer().receive().expect("an Interest");
    assert_eq!(name_in(&forwarded), Some(uri(&["up", "two"])), "the first may not leave the machine");
    assert!(forwarded.ends_with(&[types::HOP_LIMIT as u8, 1, 1]), "{forwarded:?}");
}
