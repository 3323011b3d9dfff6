//! Sizes of datagrams between two forwarders over an Ethernet whose MTU changes.

use std::fs;
use std::time::Instant;

use support::program::Scratch;
use support::running::{Running, patience};
use support::skipped::skipped;

use crate::namespaces::{Lan, Station, ip};

/// Address of the far forwarder for IPv4 and IPv6, and the datagrams that an Ethernet of 1500 bytes carries.
const PATHS: [(&str, &str, u16); 2] = [("v4", "10.77.0.11:6363", 1472), ("v6", "[fd77::b]:6363", 1452)];

/// Files, each served below its name by the far forwarder and fetched by the near one.
struct Transfer {
    scratch: Scratch,
    near: Station,
    far: Station,
    sent: Vec<u8>,
    count: u32,
}

impl Transfer {
    fn start(lan: &Lan, scratch: Scratch, address: &str) -> Self {
        let uri = format!("udp{}://{address}", if address.starts_with('[') { 6 } else { 4 });
        let face = format!("[[face]]\nuri = {uri:?}\n[[route]]\nprefix = \"/\"\nface = {uri:?}\n");
        let far = Station::start(&scratch, &lan.names[1], &[address], "");
        let near = Station::start(&scratch, &lan.names[0], &[], &face);
        let sent = (0..300_000_u32).map(|at| ((at * 31) >> 3) as u8).collect();
        Self { scratch, near, far, sent, count: 0 }
    }

    /// Fetches a file that no content store has, of segments of 8000 bytes.
    fn fetch(&mut self) {
        self.count += 1;
        let prefix = format!("/file/{}", self.count);
        let (file, copy) = (self.scratch.file("sent", &self.sent), self.scratch.at("copy"));
        let far = self.far.uri();
        let server =
            Running::start(&["serve", &prefix, &file, "--segment-size", "8000", "--transport", &far]);
        server.out_line("serving ");
        let near = self.near.uri();
        Running::start(&["fetch", &prefix, "-o", &copy, "--format", "json", "--transport", &near])
            .wait()
            .with(0);
        assert!(fs::read(&copy).expect("it was fetched") == self.sent);
        server.stop();
    }

    /// Fetches until the far forwarder sends datagrams of `mtu` bytes.
    fn fetch_until(&mut self, mtu: u16) {
        let begun = Instant::now();
        loop {
            self.fetch();
            let found = self.mtu();
            if found == Some(mtu) {
                return;
            }
            assert!(begun.elapsed() < patience(), "{found:?} in place of {mtu}");
        }
    }

    /// Size of datagrams of the far forwarder's UDP face, as NFD's dataset has it.
    fn mtu(&self) -> Option<u16> {
        let faces = self.far.faces();
        let is_udp = |face: &&Vec<(u32, Vec<u8>)>| {
            face.iter().any(|(kind, value)| *kind == 114 && value.starts_with(b"udp"))
        };
        let (_, value) = faces.iter().find(is_udp)?.iter().find(|(kind, _)| *kind == 137)?;
        value.first_chunk().copied().map(u16::from_be_bytes)
    }
}

#[test]
fn the_largest_datagrams_that_the_path_carries_are_used_and_no_larger_ones_when_it_changes() {
    for (test, address, ethernet) in PATHS {
        let Some(lan) = Lan::new(&format!("mtu-{test}")) else {
            return skipped("the MTU of a path", "permission to make network namespaces with ip");
        };
        let set = |end: usize, setting: &str| {
            let name = &lan.names[end];
            assert!(ip(&format!("-n {name} link set lan0 {setting}")));
        };
        let mut transfer = Transfer::start(&lan, Scratch::new(&format!("path-mtu-{test}")), address);
        transfer.fetch_until(ethernet);

        // The sending system refuses what has become too large.
        set(1, "mtu 1460");
        transfer.fetch_until(ethernet - 40);
    }
}

#[test]
fn a_path_that_loses_large_datagrams_without_an_error_is_left_for_the_default_size() {
    let Some(lan) = Lan::new("mtu-hole") else {
        return skipped("a path that loses large datagrams", "permission to make network namespaces with ip");
    };
    let [near, far] = &lan.names;
    // Frames that the system is to cut later would pass the narrow end.
    assert!(ip(&format!("-n {far} link set lan0 gso_max_segs 1")));
    let mut transfer = Transfer::start(&lan, Scratch::new("path-hole"), "10.77.0.11:6363");
    transfer.fetch_until(1472);
    // The receiving end drops what is larger.
    assert!(ip(&format!("-n {near} link set lan0 mtu 1428")));
    transfer.fetch_until(1400);
}
