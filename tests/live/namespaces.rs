//! Two forwarders, each in a network namespace of its own, joined by one Ethernet.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use support::program::{Scratch, program};
use support::running::Running;
use tidegate_wire::{DataView, InterestBuilder};

use crate::peer::{Peer, uri};

/// Runs `ip` with these arguments; returns whether it succeeded.
pub fn ip(arguments: &str) -> bool {
    let output = Command::new("ip").args(arguments.split_whitespace()).output();
    output.is_ok_and(|output| output.status.success())
}

/// Two namespaces with one Ethernet between them, `lan0` in both.
pub struct Lan {
    pub names: [String; 2],
}

impl Lan {
    /// `None` if the system does not permit it.
    pub fn new(test: &str) -> Option<Self> {
        let name = |end: &str| format!("tg-{test}-{end}-{}", std::process::id());
        let lan = Self { names: [name("a"), name("b")] };
        let [a, b] = &lan.names;
        let is_made = ip(&format!("netns add {a}"))
            && ip(&format!("netns add {b}"))
            && ip(&format!("link add lan0 netns {a} type veth peer name lan0 netns {b}"))
            && lan.names.iter().zip(["a", "b"]).all(|(name, end)| {
                ip(&format!("-n {name} link set lan0 address 02:00:00:00:00:0{end} up"))
                    && ip(&format!("-n {name} address add 10.77.0.1{}/24 dev lan0", u8::from(end == "b")))
                    && ip(&format!("-n {name} address add fd77::{end}/64 dev lan0 nodad"))
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
pub struct Station {
    pub running: Running,
    socket: PathBuf,
}

impl Station {
    /// A forwarder that listens on UDP at the addresses `udp`.
    pub fn start(scratch: &Scratch, namespace: &str, udp: &[&str], config: &str) -> Self {
        let file = configure(scratch, namespace, udp, config);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace]).arg(program().get_program());
        command.args(["forward", "--format", "json", &file]);
        let running = Running::of(command);
        running.err_line("{\"note\":\"listening at unix://");
        Self { running, socket: socket_of(namespace) }
    }

    pub fn uri(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    pub fn peer(&self) -> Peer {
        Peer::over_unix(&self.socket)
    }

    /// Fields of the NFD status of each face.
    pub fn faces(&self) -> Vec<Vec<(u32, Vec<u8>)>> {
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
    pub fn face(&self, remote: &str) -> Vec<(u32, Vec<u8>)> {
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

/// Writes the configuration of the forwarder in a namespace; returns its file.
pub fn configure(scratch: &Scratch, namespace: &str, udp: &[&str], config: &str) -> String {
    let socket = socket_of(namespace);
    let text = format!("format = 1\nlisten = {{ udp = {udp:?}, tcp = [], unix = [{socket:?}] }}\n{config}");
    scratch.file(&format!("{namespace}.toml"), text.as_bytes())
}

fn socket_of(namespace: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{namespace}.sock"))
}

fn elements(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut reader = tidegate_wire::tlv::TlvReader::new(bytes);
    let mut all = Vec::new();
    while let Ok(Some(element)) = reader.next() {
        all.push((element.kind, element.value.to_vec()));
    }
    all
}
