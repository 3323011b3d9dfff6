//! Commands from other users of the machine.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use support::program::{Scratch, program};
use support::running::{Forwarder, Running, Way};
use support::skipped::skipped;

/// User and group without any rights.
const NOBODY: u32 = 65_534;

/// The program with these arguments, as a user without rights.
fn command(arguments: &[&str]) -> Command {
    let mut command = program();
    command.args(arguments).uid(NOBODY).gid(NOBODY);
    command
}

/// Whether the program can be run as another user; reported as skipped otherwise.
fn can_be_another(test: &str) -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    let runs = || command(&["--version"]).output().is_ok_and(|output| output.status.success());
    let can = is_root && runs();
    if !can {
        skipped(test, "this user may not start the program as another one");
    }
    can
}

#[test]
fn another_user_reads_the_status_and_registers_nothing() {
    if !can_be_another("commands of another user") {
        return;
    }
    let forwarder = Forwarder::start("another", "");
    let scratch = Scratch::new("another");
    let file = scratch.file("file", b"content");
    let status = ["status", "--transport", forwarder.uri(Way::Unix)];
    Running::of(command(&status)).wait().with(0);
    for way in [Way::Unix, Way::Tcp] {
        let serve = ["serve", "/another", &file, "--transport", forwarder.uri(way)];
        let refused = Running::of(command(&serve)).wait().with(1);
        assert!(refused.err.contains("403 user 65534 may not send commands"), "{way:?}: {}", refused.err);
        // The user of the forwarder may, over the same socket.
        let own = Running::start(&serve);
        own.out_line("serving ");
        own.stop().with(0);
    }
}

#[test]
fn a_member_of_a_configured_group_registers_over_the_unix_socket() {
    if !can_be_another("commands of a group") {
        return;
    }
    let forwarder = Forwarder::start("group", "[management]\ngroups = [\"65534\"]\n");
    let scratch = Scratch::new("group");
    let file = scratch.file("file", b"content");
    let serve = |way| ["serve", "/group", &file, "--transport", forwarder.uri(way)].map(str::to_owned);
    let unix = serve(Way::Unix);
    let member = Running::of(command(&unix.each_ref().map(String::as_str)));
    member.out_line("serving ");
    // Groups are known of Unix sockets only.
    let tcp = serve(Way::Tcp);
    let refused = Running::of(command(&tcp.each_ref().map(String::as_str))).wait().with(1);
    assert!(refused.err.contains("403 user 65534"), "{}", refused.err);
}
