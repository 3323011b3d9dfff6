//! Commands from peers that may give none, and commands that nobody may give.

use tidegate_wire::tlv::{TlvReader, types};
use tidegate_wire::{DataView, InterestBuilder, InterestStamp, Signer};

use super::Target;
use super::scope::Upstream;
use crate::of_forwarder;
use crate::peer::{Peer, element, interest, name_in, packet, uri};
use support::json::Value;
use support::running::{Forwarder, Way};

/// Types of the parameters of a command.
const PARAMETERS: u32 = 104;
const FACE_ID: u32 = 105;
const COST: u32 = 106;
const FLAGS: u32 = 108;
const ORIGIN: u32 = 111;

/// A route that a command is about.
#[derive(Clone, Copy)]
struct Requested<'a> {
    prefix: &'a [&'a str],
    face: Option<u16>,
    origin: u8,
}

/// A signed command of RIB management.
fn command(verb: &str, requested: Requested<'_>, number: u8) -> Vec<u8> {
    let mut parameters = element(types::NAME, &[&uri(requested.prefix)]);
    if let Some(face) = requested.face {
        parameters.extend(element(FACE_ID, &[&face.to_be_bytes()]));
    }
    parameters.extend(element(ORIGIN, &[&[requested.origin]]));
    if verb == "register" {
        parameters.extend(element(COST, &[&[9]]));
        parameters.extend(element(FLAGS, &[&[3]]));
    }
    let parameters = element(types::GENERIC_NAME_COMPONENT, &[&element(PARAMETERS, &[&parameters])]);
    let name = [uri(&["localhost", "nfd", "rib", verb]), parameters].concat();
    let stamp = InterestStamp { nonce: Some(&[number; 8]), time_ms: Some(u64::from(number)), sequence: None };
    let interest = InterestBuilder { name: &name, must_be_fresh: true, ..InterestBuilder::default() };
    interest.sign(&Signer::Digest, &stamp).expect("valid").to_vec()
}

/// Status code of the response to `sent`, over a stream.
fn code(forwarder: &Forwarder, way: Way, sent: &[u8]) -> u64 {
    let mut peer = Peer::connect(forwarder, way);
    peer.send(sent);
    let data = packet(&peer.receive().expect("a response"));
    let content = DataView::parse(&data).expect("a Data").content;
    let response = TlvReader::new(content).only().expect("a response");
    let status = response.inside().next().expect("well formed").expect("a code");
    status.value.iter().fold(0, |code, byte| code << 8 | u64::from(*byte))
}

fn face_of<'a>(status: &'a Value, remote: &str) -> &'a Value {
    let is_it = |face: &&Value| face.get("remote").text().starts_with(remote);
    status.get("faces").list().iter().find(is_it).expect("the face")
}

#[test]
fn prefixes_are_registered_over_streams_of_this_machine_and_never_over_udp() {
    let app = |number| command("register", Requested { prefix: &["app"], face: None, origin: 0 }, number);
    for (name, config) in [("open", ""), ("closed", "local_tcp = false\n")] {
        let target = Target::start(&format!("commands-{name}"), config);
        assert_eq!(code(&target.forwarder, Way::Unix, &app(1)), 200);
        let mut refused = vec![Way::Udp];
        match config {
            "" => assert_eq!(code(&target.forwarder, Way::Tcp, &app(2)), 200),
            _ => refused.push(Way::Tcp),
        }
        for way in &refused {
            let mut peer = Peer::connect(&target.forwarder, *way);
            peer.send(&app(3));
            // Twice, since commands are answered after everything else of a turn.
            assert_eq!([peer.answers(), peer.answers()].concat(), Vec::<Vec<u8>>::new(), "{way:?}");
        }
        let status = target.assert_well(Way::Udp);
        assert_eq!(face_of(&status, "udp4://").get("scope").text(), "non-local");
        assert_eq!(of_forwarder(&status, "out_of_scope"), refused.len() as f64, "{status:?}");
    }
}

#[test]
fn routes_of_management_are_neither_removed_nor_intercepted() {
    let target = Target::start("commands-management", "");
    // 1 is the number of the forwarder's own face.
    for (prefix, face) in [
        (&["localhost", "nfd"][..], Some(1)),
        (&["localhost", "nfd"], None),
        (&["localhost", "nfd", "rib"], None),
        (&["localhost", "tidegate", "status"], None),
        (&["localhop", "nfd"], None),
    ] {
        for (verb, number) in [("unregister", 1), ("register", 2)] {
            for origin in [0, 255] {
                let sent = command(verb, Requested { prefix, face, origin }, number);
                assert_eq!(code(&target.forwarder, Way::Unix, &sent), 403, "{verb} {prefix:?} {origin}");
            }
        }
    }
}

#[test]
fn a_route_to_everything_leads_no_command_to_its_face() {
    let target = Target::start("commands-root", "[forwarder]\nstrategy = \"multicast\"\n");
    let mut listener = Peer::connect(&target.forwarder, Way::Unix);
    listener.send(&command("register", Requested { prefix: &[], face: None, origin: 0 }, 1));
    listener.receive().expect("a response");
    let other = Requested { prefix: &["app"], face: None, origin: 0 };
    assert_eq!(code(&target.forwarder, Way::Unix, &command("register", other, 2)), 200);
    let marker = uri(&["marker"]);
    Peer::connect(&target.forwarder, Way::Unix).send(&interest(&marker));
    // The first that arrives is not the command, which was sent before.
    assert_eq!(name_in(&listener.receive().expect("an Interest")), Some(marker));
}

#[test]
fn a_route_of_the_configuration_is_neither_removed_nor_replaced() {
    let upstream = Upstream::bind();
    let target = Target::start("commands-static", &upstream.config());
    let routes = |status: &Value| {
        let of_up = |route: &&Value| route.get("prefix").text() == "/up";
        status.get("routes").list().iter().filter(of_up).map(|route| format!("{route:?}")).collect::<Vec<_>>()
    };
    let before = routes(&target.forwarder.status());
    let face = crate::number(face_of(&target.forwarder.status(), "udp4://"), "id") as u16;
    let configured = Requested { prefix: &["up"], face: Some(face), origin: 255 };
    for verb in ["unregister", "register"] {
        assert_eq!(code(&target.forwarder, Way::Unix, &command(verb, configured, 1)), 403, "{verb}");
    }
    assert_eq!(routes(&target.forwarder.status()), before);
    // A user's route through the same face is none of the configuration.
    let user = Requested { prefix: &["other"], ..configured };
    for verb in ["register", "unregister"] {
        assert_eq!(code(&target.forwarder, Way::Unix, &command(verb, user, 2)), 200, "{verb}");
    }
}
