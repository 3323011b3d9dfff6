//! Multicast and Ethernet faces between two forwarders, each in a network namespace of its own, joined by one Ethernet.

use std::fs;

use support::program::Scratch;
use support::running::Running;
use support::skipped::skipped;

use crate::namespaces::{Lan, Station, ip};
use crate::peer::{interest, uri};

/// What a face leads to, by the name of its routes. The second forwarder has no address but its own.
const FACES: [(&str, &str, &str); 4] = [
    ("udp4", "udp4://224.0.23.170:56363", "udp4://224.0.23.170:56363"),
    ("udp6", "udp6://[ff02::1234]:56363", "udp6://[ff02::1234]:56363"),
    ("group", "ether://[01:00:5e:00:17:aa]", "ether://[01:00:5e:00:17:aa]"),
    ("station", "ether://[02:00:00:00:00:0b]", "ether://[02:00:00:00:00:0a]"),
];

/// Acknowledged frames on the faces that can have them.
const RELIABLE: &str = "face_defaults = { reliability = true }\n";

fn config(uris: impl Iterator<Item = (&'static str, &'static str)>, has_routes: bool) -> String {
    let mut text = String::new();
    for (name, uri) in uris {
        text += &format!("[[face]]\nname = {name:?}\nuri = {uri:?}\ninterface = \"lan0\"\n");
        if has_routes {
            text += &format!("[[route]]\nprefix = \"/{name}\"\nface = {name:?}\n");
        }
    }
    text
}

#[test]
fn files_go_over_multicast_and_ethernet_faces() {
    let Some(lan) = Lan::new("links") else {
        return skipped("multicast and Ethernet faces", "permission to make network namespaces with ip");
    };
    let scratch = Scratch::new("links");
    let near = config(FACES.iter().map(|(name, near, _)| (*name, *near)), true);
    let far = config(FACES.iter().map(|(name, _, far)| (*name, *far)), false);
    let near = Station::start(&scratch, &lan.names[0], &[], &[RELIABLE, &near].concat());
    let far = Station::start(&scratch, &lan.names[1], &[], &[RELIABLE, &far].concat());
    let sent: Vec<u8> = (0..300_000_u32).map(|at| ((at * 31) >> 3) as u8).collect();
    let file = scratch.file("sent", &sent);
    for (name, to_far, to_near) in FACES {
        let prefix = format!("/{name}/file");
        let server = Running::start(&["serve", &prefix, &file, "--transport", &far.uri()]);
        server.out_line("serving ");
        let copy = scratch.at(name);
        let fetch = ["fetch", &prefix, "-o", &copy, "--format", "json", "--transport", &near.uri()];
        Running::start(&fetch).wait().with(0);
        assert!(fs::read(&copy).expect("it was fetched") == sent, "{name}");
        server.stop();
        // NFD's link types: point-to-point and multi-access; the scope is not local, and faces are permanent. All mark congestion, and
        // only those to one station are reliable.
        let link_type = u8::from(name != "station");
        for (station, remote) in [(&near, to_far), (&far, to_near)] {
            let face = station.face(remote);
            let flags = if name == "station" { 6 } else { 4 };
            for field in [(132, vec![0]), (133, vec![2]), (134, vec![link_type]), (108, vec![flags])] {
                assert!(face.contains(&field), "{field:?} of {face:?}");
            }
        }
    }
    // Nothing that a forwarder has sent came back to it: it received Data only, and no Interest.
    for (name, remote, _) in FACES {
        let face = near.face(remote);
        assert!(face.contains(&(144, vec![0])), "{name}: {face:?}");
    }
    nothing_is_refused_on_a_link_of_several_stations(&near, &far);
}

#[test]
fn faces_whose_network_is_absent_at_the_start_are_made_when_it_is_there() {
    let Some(lan) = Lan::new("late") else {
        return skipped("faces of a late network", "permission to make network namespaces with ip");
    };
    let scratch = Scratch::new("late");
    let group = "udp4://224.0.23.170:56363";
    let text = format!(
        "[[face]]\nuri = {group:?}\ninterface = \"late0\"\n[[face]]\nuri = \"udp4://10.78.0.2:6363\"\n"
    );
    let [name, _] = &lan.names;
    let station = Station::start(&scratch, name, &[], &text);
    assert_eq!(station.faces().len(), 2, "the forwarder's own and that of this connection");
    assert!(
        ip(&format!("-n {name} link add late0 type veth peer name late1"))
            && ip(&format!("-n {name} link set late0 up"))
    );
    assert!(ip(&format!("-n {name} address add 10.78.0.1/24 dev late0")));
    let begun = std::time::Instant::now();
    while station.faces().len() < 4 {
        assert!(begun.elapsed() < support::running::patience(), "{:?}", station.faces());
    }
    station.face(group);
    station.face("udp4://10.78.0.2:6363");
}

/// Sends Interests that the far forwarder has no route for.
fn nothing_is_refused_on_a_link_of_several_stations(near: &Station, far: &Station) {
    for (name, _, remote) in FACES {
        let nacks = |face: &[(u32, Vec<u8>)]| face.iter().find(|(kind, _)| *kind == 152).cloned();
        let received = |face: &[(u32, Vec<u8>)]| face.iter().find(|(kind, _)| *kind == 144).cloned();
        let before = received(&far.face(remote));
        near.peer().send(&interest(&uri(&[name, "absent"])));
        let mut face = far.face(remote);
        let begun = std::time::Instant::now();
        while received(&face) == before {
            assert!(begun.elapsed() < support::running::patience(), "{name}: the Interest does not arrive");
            face = far.face(remote);
        }
        assert_eq!(nacks(&face), Some((152, vec![u8::from(name == "station")])), "{name}");
    }
}
