//! The forwarder as a service of systemd.

use std::os::unix::net::UnixDatagram;

use crate::number;
use support::json::Value;
use support::program::{Scratch, program};
use support::running::{Forwarder, Running, patience};

/// The next message to the service manager.
fn message(manager: &UnixDatagram) -> String {
    let mut buffer = [0; 256];
    let len = manager.recv(&mut buffer).expect("a message arrives");
    String::from_utf8_lossy(&buffer[..len]).trim_end().to_owned()
}

#[test]
fn the_service_manager_is_notified_of_readiness_and_of_the_end() {
    let scratch = Scratch::new("service");
    let folder = std::env::temp_dir().join(format!("tg-service-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let manager = UnixDatagram::bind(folder.join("notify")).expect("a free path");
    manager.set_read_timeout(Some(patience())).expect("a timeout above zero");
    let socket = folder.join("nfd.sock");
    let text =
        format!("format = 1\n[listen]\nudp = []\ntcp = []\nunix = [{socket:?}]\nunix_mode = \"0600\"\n");
    let file = scratch.file("forwarder.toml", text.as_bytes());
    let mut command = program();
    command.args(["forward", "--quiet", &file]).env("NOTIFY_SOCKET", folder.join("notify"));
    let running = Running::of(command);
    assert_eq!(message(&manager), "READY=1");
    assert!(socket.exists());
    running.signal("-TERM");
    assert_eq!(message(&manager), "STOPPING=1");
    running.wait().with(0);
    let _ = std::fs::remove_dir_all(folder);
}

/// A configuration with faces to these ports of this machine, and a route to a prefix through each.
fn faces(ports: &[(u16, &str)]) -> String {
    let face = |(port, prefix): &(u16, &str)| {
        format!(
            "[[face]]\nname = \"{port}\"\nuri = \"udp4://127.0.0.1:{port}\"\n\
             [[route]]\nprefix = \"{prefix}\"\nface = \"{port}\"\n"
        )
    };
    ports.iter().map(face).collect()
}

/// Number of the face to a port of this machine, and the prefixes of its routes.
fn found(status: &Value, port: u16) -> Option<(f64, Vec<String>)> {
    let remote = format!("udp4://127.0.0.1:{port}");
    let face = status.get("faces").list().iter().find(|face| face.get("remote").text() == remote)?;
    let id = number(face, "id");
    let routes = status.get("routes").list().iter().filter(|route| number(route, "face") == id);
    Some((id, routes.map(|route| route.get("prefix").text().to_owned()).collect()))
}

#[test]
fn a_changed_configuration_is_applied_by_a_hangup_and_faces_in_both_stay() {
    let forwarder = Forwarder::start("reload", &faces(&[(6601, "/kept"), (6602, "/gone")]));
    let before = forwarder.status();
    let kept = found(&before, 6601).expect("configured").0;
    forwarder.configure(&faces(&[(6603, "/new"), (6601, "/moved")]));
    forwarder.signal("-HUP");
    forwarder.err_line("{\"note\":\"the configuration was read again");
    let after = forwarder.status();
    assert_eq!(found(&after, 6601), Some((kept, vec!["/moved".to_owned()])));
    assert_eq!(found(&after, 6602), None);
    assert_eq!(found(&after, 6603).map(|(_, routes)| routes), Some(vec!["/new".to_owned()]));
    // A mistake changes nothing.
    forwarder.configure("[[route]]\nprefix = \"/x\"\nface = \"absent\"\n");
    forwarder.signal("-HUP");
    let error = forwarder.err_line("{\"error\":");
    assert!(error.contains("absent"), "{error}");
    assert_eq!(found(&forwarder.status(), 6601), Some((kept, vec!["/moved".to_owned()])));
}

#[test]
fn what_takes_effect_with_the_next_start_is_named() {
    let forwarder = Forwarder::start("reload-start", "");
    forwarder.configure("unix_mode = \"0600\"\n[forwarder]\ncache = \"10pkt\"\n");
    forwarder.signal("-HUP");
    forwarder.err_line("{\"warning\":\"listen.unix: the change takes effect with the next start\",");
    forwarder.err_line("{\"note\":\"the configuration was read again");
}

#[test]
fn a_hangup_begins_and_ends_the_service_for_neighbours() {
    let forwarder = Forwarder::start("reload-localhop", "");
    let is_served = |status: &Value| {
        status.get("routes").list().iter().any(|route| route.get("prefix").text() == "/localhop/nfd")
    };
    assert!(!is_served(&forwarder.status()));
    forwarder.configure("[management]\nlocalhop = true\n");
    forwarder.signal("-HUP");
    forwarder.status_when("the service", is_served);
    forwarder.configure("");
    forwarder.signal("-HUP");
    forwarder.status_when("the end of the service", |status| !is_served(status));
}
