//! More than anybody needs: what a forwarder keeps for it stays bounded.

use std::net::UdpSocket;

use tidegate_core::ndn::packet::Millis;
use tidegate_wire::tlv::types;
use tidegate_wire::{InterestBuilder, name};

use super::{Dice, Target};
use crate::of_forwarder;
use crate::peer::{Peer, element, frame, uri};
use support::json::Value;
use support::running::Way;

const INTERESTS: u32 = 100_000;

/// Interests sent before the forwarder is waited for.
const AT_ONCE: u32 = 200;

/// Names between two sweeps, and what the other tests' packets need.
const MAX_NAMES: f64 = 70_000.0;

/// A peer that answers nothing, and a configuration with a route `/hole` to it and this line in `[forwarder]`.
fn hole(line: &str) -> (UdpSocket, String) {
    let peer = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let to = peer.local_addr().expect("bound");
    let face = format!("[[face]]\nname = \"hole\"\nuri = \"udp4://{to}\"\n");
    let route = "[[route]]\nprefix = \"/hole\"\nface = \"hole\"\n";
    (peer, format!("[forwarder]\n{line}\n{face}{route}"))
}

/// An Interest with a token under `prefix`, with up to five more components.
fn random_interest(dice: &mut Dice, prefix: &str) -> Vec<u8> {
    let mut name = uri(&[prefix]);
    for _ in 0..=dice.roll() % 5 {
        let len = dice.roll() as usize % 12;
        name::push_component(&mut name, 8, &dice.bytes(len));
    }
    name::push_component(&mut name, 8, &dice.roll().to_be_bytes());
    let interest =
        InterestBuilder { name: &name, lifetime: Some(Millis(60_000)), ..InterestBuilder::default() };
    let token = element(types::PIT_TOKEN, &[&dice.roll().to_be_bytes()]);
    frame(&[&token], &interest.build().expect("valid"))
}

/// Sends them; the peer that did, since what it waits for is forgotten when it leaves.
fn send_random(target: &Target, way: Way, prefix: &str) -> Peer {
    let mut peer = Peer::connect(&target.forwarder, way);
    let mut dice = Dice(way as u64);
    for number in 0..INTERESTS {
        peer.send(&random_interest(&mut dice, prefix));
        if number % AT_ONCE == 0 {
            peer.answers();
        }
    }
    peer.answers();
    peer
}

#[test]
fn interests_with_ever_new_names_are_forgotten() {
    let target = Target::start("names", "");
    for way in Way::ALL {
        let _peer = send_random(&target, way, "no-route");
        let status = target.assert_well(way);
        assert!(of_forwarder(&status, "pending_interests") < 10.0, "{status:?}");
        assert!(of_forwarder(&status, "names") < MAX_NAMES, "{status:?}");
        assert!(of_forwarder(&status, "tokens") < MAX_NAMES, "{status:?}");
    }
    let status = target.forwarder.status();
    assert!(of_forwarder(&status, "sweeps") >= 3.0, "{status:?}");
    assert!(target.forwarder.memory_bytes() < 100_000_000, "{}", target.forwarder.memory_bytes());
}

#[test]
fn interests_that_nobody_answers_fill_the_table_and_no_more() {
    let (_hole, config) = hole("pit = \"5000pkt\"");
    for way in Way::ALL {
        let target = Target::start(&format!("hole-{way:?}"), &config);
        let peer = send_random(&target, way, "hole");
        let status = target.forwarder.status();
        // And the one that asks for the status.
        assert_eq!(of_forwarder(&status, "pending_interests"), 5_001.0, "{status:?}");
        assert!(of_forwarder(&status, "refused_full") > 0.9 * f64::from(INTERESTS), "{status:?}");
        assert!(of_forwarder(&status, "names") < MAX_NAMES, "{status:?}");
        assert!(of_forwarder(&status, "tokens") < MAX_NAMES, "{status:?}");
        // The table is full still, and another peer gets its file.
        let status = target.assert_well(way);
        assert!(of_forwarder(&status, "displaced") > 0.0, "{status:?}");
        drop(peer);
        if way != Way::Udp {
            let is_empty = |status: &Value| of_forwarder(status, "pending_interests") == 1.0;
            target.forwarder.status_when("the end of what a peer waited for that left", is_empty);
        }
    }
}

#[test]
fn names_of_many_components_take_the_memory_that_is_configured_and_no_more() {
    const MAX: f64 = 4.0 * 1024.0 * 1024.0;
    let (_hole, config) = hole("max_memory = \"4MiB\"");
    let target = Target::start("components", &config);
    let mut peer = Peer::connect(&target.forwarder, Way::Udp);
    let mut most = 0.0_f64;
    for number in 0..10_000_u32 {
        let mut name = uri(&["hole"]);
        name::push_component(&mut name, 8, &number.to_be_bytes());
        (0..118).for_each(|_| name::push_component(&mut name, 8, b"x"));
        let lifetime = Some(Millis(60_000));
        let interest = InterestBuilder { name: &name, lifetime, ..InterestBuilder::default() };
        peer.send(&interest.build().expect("valid"));
        if number % 100 == 99 {
            peer.answers();
        }
        if number % 1_000 == 999 {
            most = most.max(of_forwarder(&target.forwarder.status(), "table_bytes"));
        }
    }
    let status = target.assert_well(Way::Unix);
    // A turn takes in a few packets before the bound is looked at.
    assert!(most <= 1.1 * MAX && most > 0.5 * MAX, "{most} bytes: {status:?}");
    assert!(of_forwarder(&status, "displaced") > 0.0, "{status:?}");
    assert!(of_forwarder(&status, "refused_full") > 1_000.0, "{status:?}");
    assert!(target.forwarder.memory_bytes() < 64 << 20, "{} bytes", target.forwarder.memory_bytes());
}

#[test]
fn an_interest_is_pending_for_the_configured_time_at_most_whatever_its_lifetime() {
    let (_hole, config) = hole("lifetime = \"1s\"");
    let target = Target::start("lifetime", &config);
    let mut peer = Peer::connect(&target.forwarder, Way::Udp);
    let name = uri(&["hole", "one"]);
    // 2^63 ms, and the nonce.
    let lifetime = element(types::INTEREST_LIFETIME, &[&(1_u64 << 63).to_be_bytes()]);
    let name = element(types::NAME, &[&name]);
    peer.send(&element(types::INTEREST, &[&name, &element(types::NONCE, &[&[1, 2, 3, 4]]), &lifetime]));
    let counts = |pending: f64| move |status: &Value| of_forwarder(status, "pending_interests") == pending;
    // The Interest for the status is pending, too.
    target.forwarder.status_when("a pending Interest", counts(2.0));
    target.forwarder.status_when("its end", counts(1.0));
}

#[test]
fn the_ports_of_one_address_have_one_share_of_the_table() {
    let (_hole, config) = hole("pit = \"900pkt\"");
    let target = Target::start("ports", &config);
    let mut dice = Dice(1);
    let mut send = |source: &str, count: u32| {
        let socket = UdpSocket::bind((source, 0)).expect("a port is free");
        socket.connect(target.forwarder.address(Way::Udp)).expect("an address");
        let mut peer = Peer::over_udp(socket);
        (0..count).for_each(|_| peer.send(&random_interest(&mut dice, "hole")));
        peer.answers();
        peer
    };
    // 30 faces of up to 30 entries each.
    let _ports: Vec<Peer> = (0..30).map(|_| send("127.0.0.1", 40)).collect();
    let before = target.forwarder.status();
    let _other = send("127.0.0.2", 300);
    let after = target.assert_well(Way::Unix);
    let refused = |status: &Value| of_forwarder(status, "refused_full");
    assert!(refused(&before) > 100.0, "the table is full: {before:?}");
    assert_eq!(refused(&after), refused(&before), "{after:?}");
}
