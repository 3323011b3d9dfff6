//! UDP between two forwarders while addresses of machines change and host names are looked up.

use std::fs;
use std::path::PathBuf;

use support::program::Scratch;
use support::running::Running;
use support::skipped::skipped;

use crate::namespaces::{Lan, Station, configure, ip};

/// Faces to the far forwarder over IPv4 and IPv6, with a route each.
const FACES: &str = "[[face]]\nname = \"v4\"\nuri = \"udp4://10.77.0.11:7000\"\n\
                     [[face]]\nname = \"v6\"\nuri = \"udp6://[fd77::b]:7000\"\n\
                     [[route]]\nprefix = \"/v4\"\nface = \"v4\"\n\
                     [[route]]\nprefix = \"/v6\"\nface = \"v6\"\n";

/// Name servers of a namespace, which `ip netns exec` puts in place of those of the machine.
struct NameServers(PathBuf);

impl NameServers {
    fn new(namespace: &str, text: &str) -> Self {
        let folder = PathBuf::from("/etc/netns").join(namespace);
        fs::create_dir_all(&folder).expect("writable by root");
        fs::write(folder.join("resolv.conf"), text).expect("writable");
        Self(folder)
    }
}

impl Drop for NameServers {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Transfers a file from the far forwarder to the near one under `prefix`.
fn transfer(scratch: &Scratch, (near, far): (&Station, &Station), prefix: &str) {
    let (file, copy) = (scratch.file("sent", &[7; 20_000]), scratch.at("copy"));
    let _ = fs::remove_file(&copy);
    let server = Running::start(&["serve", prefix, &file, "--transport", &far.uri()]);
    server.out_line("serving ");
    let fetch = ["fetch", prefix, "-o", &copy, "--format", "json", "--transport", &near.uri()];
    Running::start(&fetch).wait().with(0);
    assert!(fs::read(&copy).expect("it was fetched") == [7; 20_000], "{prefix}");
    server.stop();
}

#[test]
fn a_face_over_udp_leaves_from_the_present_address_of_its_machine() {
    let Some(lan) = Lan::new("moved") else {
        return skipped("UDP after a change of address", "permission to make network namespaces with ip");
    };
    let [a, b] = &lan.names;
    let address = |verb: &str, address: &str| {
        let more = if verb == "add" && address.contains(':') { "nodad" } else { "" };
        assert!(ip(&format!("-n {a} address {verb} {address} dev lan0 {more}")), "{verb} {address}");
    };
    // From the port of a listener, and from one of the system's choice.
    for (test, udp) in [("moved-port", &["0.0.0.0:7001", "[::]:7001"][..]), ("moved-any", &[])] {
        let scratch = Scratch::new(test);
        let near = Station::start(&scratch, a, udp, FACES);
        let far = Station::start(&scratch, b, &["0.0.0.0:7000", "[::]:7000"], "");
        for (before, after, prefix) in
            [("10.77.0.10/24", "10.77.0.20/24", "/v4"), ("fd77::a/64", "fd77::c/64", "/v6")]
        {
            transfer(&scratch, (&near, &far), &format!("{prefix}/before"));
            address("del", before);
            address("add", after);
            transfer(&scratch, (&near, &far), &format!("{prefix}/after"));
            address("del", after);
            address("add", before);
            transfer(&scratch, (&near, &far), &format!("{prefix}/again"));
        }
    }
}

#[test]
fn forwarding_goes_on_while_a_new_host_name_is_looked_up() {
    let Some(lan) = Lan::new("names") else {
        return skipped("a new host name", "permission to make network namespaces with ip");
    };
    let [a, b] = &lan.names;
    // The far forwarder listens there and does not answer.
    let _servers = NameServers::new(a, "nameserver 10.77.0.11\noptions timeout:30\n");
    let scratch = Scratch::new("names");
    let near = Station::start(&scratch, a, &[], FACES);
    let far = Station::start(&scratch, b, &["0.0.0.0:7000", "0.0.0.0:53"], "");
    transfer(&scratch, (&near, &far), "/v4/before");
    configure(&scratch, a, &[], &format!("[[face]]\nuri = \"udp4://absent.example:6363\"\n{FACES}"));
    near.running.signal("-HUP");
    transfer(&scratch, (&near, &far), "/v4/meanwhile");
    configure(&scratch, a, &[], FACES);
    near.running.signal("-HUP");
    near.running.err_line("{\"note\":\"the configuration was read again");
    transfer(&scratch, (&near, &far), "/v4/after");
    assert!(!near.running.has_reported("absent.example"), "its lookup was waited for");
}
