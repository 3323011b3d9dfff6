//! The forwarder as a service of systemd.

use std::os::unix::net::UnixDatagram;

use support::program::{Scratch, program};
use support::running::{Running, patience};

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
