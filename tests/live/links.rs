//! Multicast and Ethernet faces between two forwarders, each in a network namespace of its own, joined by one Ethernet.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use support::program::{Scratch, program};
use support::running::Running;
use support::skipped::skipped;
use tidegate_wire::{DataView, InterestBuilder};

use crate::peer::{Peer, interest, uri};

/// What a face leads to, by the name of its routes. The second forwarder has no address but its own.
const FACES: [(&str, &str, &str); 4] = [
    ("udp4", "udp4://224.0.23.170:56363", "udp4://224.0.23.170:56363"),
    ("udp6", "udp6://[ff02::1234]:56363", "udp6://[ff02::1234]:56363"),
    ("group", "ether://[01:00:5e:00:17:aa]", "ether://[01:00:5e:00:17:aa]"),
    ("station", "ether://[02:00:00:00:00:0b]", "ether://[02:00:00:00:00:0a]"),
];

fn ip(arguments: &str) -> bool {
    let output = Command::new("ip").args(arguments.split_whitespace()).output();
    output.is_ok_and(|output| output.status.success())
}

/// Two namespaces with one Ethernet between them, `lan0` in both.
struct Lan {
    names: [String; 2],
}

impl Lan {
    /// `None` if the system does not permit it.
    fn new(test: &str) -> Option<Self> {
        let name = |end: &str| format!("tg-{test}-{end}-{}", std::process::id());
        let lan = Self { names: [name("a"), name("b")] };
        let [a, b] = &lan.names;
        let is_made = ip(&format!("netns add {a}"))
            && ip(&format!("netns add {b}"))
            && ip(&format!("link add lan0 netns {a} type veth peer name lan0 netns {b}"))
            && lan.names.iter().zip(["a", "b"]).all(|(name, end)| {
                ip(&format!("-n {name} link set lan0 address 02:00:00:00:00:0{end} up"))
                    && ip(&format!("-n {name} address add 10.77.0.1{}/24 dev lan0", u8::from(end == "b")))
                    && ip(&format!("-n {name} address add fe80::{end}/64 dev lan0 nodad"))
            })
            && ip(&format!("netns exec {a} true"));
        is_made.then_some(lan)
    }
}

impl Drop for Lan {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&format!("netns delete {name}"));
        }
    }
}

/// A forwarder in a namespace, which applications of the test reach at its Unix socket.
struct Station {
    _running: Running,
    socket: PathBuf,
}

impl Station {
    fn start(scratch: &Scratch, namespace: &str, config: &str) -> Self {
        let socket = std::env::temp_dir().join(format!("{namespace}.sock"));
        let text = format!(
            "format = 1\nface_defaults = {{ reliability = true }}\nlisten = {{ udp = [], tcp = [], unix = [{socket:?}] }}\n{config}"
        );
        let file = scratch.file(&format!("{namespace}.toml"), text.as_bytes());
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace]).arg(program().get_program());
        command.args(["forward", "--format", "json", &file]);
        let running = Running::of(command);
        running.err_line("{\"note\":\"listening at unix://");
        Self { _running: running, socket }
    }

    fn uri(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    fn peer(&self) -> Peer {
        Peer::over_unix(&self.socket)
    }

    /// Fields of the NFD status of each face.
    fn faces(&self) -> Vec<Vec<(u32, Vec<u8>)>> {
        let name = uri(&["localhost", "nfd", "faces", "list"]);
        let requested = InterestBuilder {
            name: &name,
            can_be_prefix: true,
            must_be_fresh: true,
            ..InterestBuilder::default()
        };
        let mut peer = self.peer();
        peer.send(&requested.build().expect("valid"));
        let data = peer.receive().expect("a segment");
        let content = DataView::parse(&data).expect("a Data").content.to_vec();
        elements(&content).iter().map(|(_, face)| elements(face)).collect()
    }

    /// The status of the face to `remote`.
    fn face(&self, remote: &str) -> Vec<(u32, Vec<u8>)> {
        let shown = remote.replace("ff02::1234]", "ff02::1234%lan0]");
        let is_it = |face: &Vec<(u32, Vec<u8>)>| face.contains(&(114, shown.as_bytes().to_vec()));
        self.faces().into_iter().find(is_it).unwrap_or_else(|| panic!("no face to {remote}"))
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
    }
}

fn elements(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut reader = tidegate_wire::tlv::TlvReader::new(bytes);
    let mut all = Vec::new();
    while let Ok(Some(element)) = reader.next() {
        all.push((element.kind, element.value.to_vec()));
    }
    all
}

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
    let near = Station::start(&scratch, &lan.names[0], &near);
    let far = Station::start(&scratch, &lan.names[1], &far);
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
    let station = Station::start(&scratch, name, &text);
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
