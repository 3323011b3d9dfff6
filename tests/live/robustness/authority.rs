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
pub(super) fn command(arguments: &[&str]) -> Command {
    let mut command = program();
    command.args(arguments).uid(NOBODY).gid(NOBODY);
    command
}

/// Whether the program can be run as another user; reported as skipped otherwise.
pub(super) fn can_be_another(test: &str) -> bool {
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

/// Keys of an office that certifies, and of two users, one of whom it has certified.
struct Office {
    scratch: Scratch,
}

impl Office {
    fn new(test: &str) -> Self {
        let office = Self { scratch: Scratch::new(test) };
        for (folder, identity) in
            [("office", "/example"), ("alice", "/example/alice"), ("bob", "/example/bob")]
        {
            office.key(folder, &["generate", identity]);
        }
        let file = |name: &str, text: String| office.scratch.file(name, text.as_bytes());
        file("office.cert", office.key("office", &["export", "/example"]));
        let request = file("request", office.key("alice", &["export", "/example/alice"]));
        std::fs::create_dir(office.scratch.at("certificates")).expect("writable");
        file("certificates/alice.cert", office.key("office", &["issue", &request, "--signer", "/example"]));
        file("certificates/bob.cert", office.key("bob", &["export", "/example/bob"]));
        office.share();
        office
    }

    /// Lets another user read the keys of the users here.
    fn share(&self) {
        Command::new("chmod").args(["-R", "a+rX", self.scratch.path()]).status().expect("there is chmod");
    }

    /// Standard output of `tidegate key` on the keys in a folder.
    fn key(&self, folder: &str, arguments: &[&str]) -> String {
        let mut command = program();
        command.arg("key").args(arguments).args(["--keys", &self.scratch.at(folder)]);
        Running::of(command).wait().with(0).out
    }

    /// `serve` of a user without rights, who signs with this key.
    fn serve(&self, forwarder: &Forwarder, name: &str, user: &str) -> Running {
        let (file, keys) = (self.scratch.file("file", b"content"), self.scratch.at(user));
        let identity = format!("/example/{user}");
        let signer = ["--signer", &identity, "--keys", &keys, "--transport", forwarder.uri(Way::Unix)];
        Running::of(command(&[&["serve", name, &file][..], &signer].concat()))
    }
}

#[test]
fn a_key_that_a_configured_key_has_certified_registers_as_well() {
    if !can_be_another("commands of certified keys") {
        return;
    }
    let office = Office::new("certified");
    let config = |more: &str| {
        let (anchor, folder) = (office.scratch.at("office.cert"), office.scratch.at("certificates"));
        format!(
            "[management]\ncertificates = {folder:?}\n[[management.key]]\ncertificate = {anchor:?}\n{more}"
        )
    };
    let forwarder = Forwarder::start("certified", &config("certified = true\n"));
    let server = office.serve(&forwarder, "/anything", "alice");
    server.out_line("serving ");
    server.stop().with(0);
    let refused = office.serve(&forwarder, "/anything", "bob").wait().with(1);
    assert!(refused.err.contains("403 user 65534 may not send commands"), "{}", refused.err);
    for (test, more, stated) in [
        ("certified-not", "", "403 user 65534"),
        ("certified-cs", "certified = true\ncommands = [\"cs\"]\n", "may not send rib commands"),
    ] {
        let forwarder = Forwarder::start(test, &config(more));
        let refused = office.serve(&forwarder, "/anything", "alice").wait().with(1);
        assert!(refused.err.contains(stated), "{}", refused.err);
    }
}

/// Users register what is below their names with keys that the office has certified.
const SCHEMA: &str = "format = 1\n[[anchor]]\ncertificate = \"office.cert\"\n\
                      [[rule]]\ndata = \"/example/{user}/**\"\nsigner = \"/example/{user}/KEY/*\"\n\
                      [[rule]]\ndata = \"/example/{user}/KEY/*/*/*\"\nsigner = \"/example/KEY/*\"\n";

#[test]
fn a_trust_schema_permits_the_prefixes_that_a_key_may_sign() {
    if !can_be_another("registrations by a trust schema") {
        return;
    }
    let office = Office::new("schema");
    let (schema, folder) =
        (office.scratch.file("schema.toml", SCHEMA.as_bytes()), office.scratch.at("certificates"));
    let config = format!("[management]\ncertificates = {folder:?}\ntrust_schema = {schema:?}\n");
    let forwarder = Forwarder::start("schema", &config);
    let server = office.serve(&forwarder, "/example/alice/file", "alice");
    server.out_line("serving ");
    server.stop().with(0);
    let refused = office.serve(&forwarder, "/example/bob/file", "alice").wait().with(1);
    let stated = "requires /example/bob/KEY/*";
    assert!(
        refused.err.contains("403 the prefix /example/bob/file may not be signed by")
            && refused.err.contains(stated),
        "{}",
        refused.err
    );
    let refused = office.serve(&forwarder, "/example/bob/file", "bob").wait().with(1);
    assert!(refused.err.contains("it is self-signed"), "{}", refused.err);
}

#[test]
fn the_certificate_of_a_registration_is_fetched_from_whoever_sends_it() {
    if !can_be_another("registrations with certificates that are fetched") {
        return;
    }
    let office = Office::new("fetched-key");
    office.key("alice", &["import", &office.scratch.at("certificates/alice.cert")]);
    office.share();
    let schema = office.scratch.file("schema.toml", SCHEMA.as_bytes());
    let forwarder = Forwarder::start("fetched-key", &format!("[management]\ntrust_schema = {schema:?}\n"));
    let server = office.serve(&forwarder, "/example/alice/file", "alice");
    server.out_line("serving ");
    server.stop().with(0);
    // It is known from now on, and the rules hold as for any other.
    let refused = office.serve(&forwarder, "/example/bob/file", "alice").wait().with(1);
    assert!(refused.err.contains("403 the prefix /example/bob/file may not be signed by"), "{}", refused.err);
    let refused = office.serve(&forwarder, "/example/bob/file", "bob").wait().with(1);
    assert!(refused.err.contains("403 the certificate /example/bob/KEY/"), "{}", refused.err);
}
