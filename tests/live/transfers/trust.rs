//! Files whose signer is known by certificates.

use super::{assert_content, file_of};
use support::program::{Ended, Scratch, tidegate};
use support::running::{Forwarder, Running, Way};

const LEN: u64 = 40_000;

/// Keys of an office that certifies, of a producer, and of a stranger.
struct Parties {
    scratch: Scratch,
    forwarder: Forwarder,
}

impl Parties {
    fn new(test: &str) -> Self {
        let parties = Self { scratch: Scratch::new(test), forwarder: Forwarder::start(test, "") };
        for (folder, identity, algorithm) in [
            ("office", "/example", "ed25519"),
            ("alice", "/example/alice", "p256"),
            ("stranger", "/example", "p256"),
        ] {
            parties.key(folder, &["generate", identity, "--algorithm", algorithm]);
        }
        parties
    }

    /// Standard output of `tidegate key` on the keys of a party.
    fn key(&self, folder: &str, arguments: &[&str]) -> String {
        tidegate(&[&["key"], arguments, &["--keys", &self.scratch.at(folder)]].concat()).with(0).out
    }

    /// A file with the certificate of a party.
    fn certificate(&self, folder: &str, identity: &str) -> String {
        self.scratch.file(&format!("{folder}.cert"), self.key(folder, &["export", identity]).as_bytes())
    }

    /// Gives the producer a certificate of the office.
    fn certify(&self) {
        let request = self.certificate("alice", "/example/alice");
        let issued = self.key("office", &["issue", &request, "--signer", "/example"]);
        self.key("alice", &["import", &self.scratch.file("issued", issued.as_bytes())]);
    }

    fn serve(&self, name: &str) -> Running {
        let (file, keys) = (file_of(&self.scratch, LEN), self.scratch.at("alice"));
        let uri = self.forwarder.uri(Way::Unix);
        let signed = ["--signer", "/example/alice", "--keys", &keys, "--version", "5", "--transport", uri];
        let running = Running::start(&[&["serve", name, &file][..], &signed].concat());
        running.out_line("serving ");
        running
    }

    fn fetch(&self, name: &str, anchor: &str) -> Ended {
        let (copy, uri) = (self.scratch.at("copy"), self.forwarder.uri(Way::Tcp));
        Running::start(&["fetch", name, "-o", &copy, "--trust-anchor", anchor, "--transport", uri]).wait()
    }
}

#[test]
fn a_file_is_signed_by_whom_a_trust_anchor_certifies() {
    let parties = Parties::new("certified");
    parties.certify();
    let _server = parties.serve("/example/alice/file");
    let anchor = parties.certificate("office", "/example");
    for name in ["/example/alice/file", "/example/alice/file/v=5"] {
        let fetched = parties.fetch(name, &anchor).with(0);
        assert!(fetched.out.contains("Signed by: /example/alice/KEY/"), "{}", fetched.out);
        assert_eq!(assert_content(parties.scratch.at("copy")), LEN);
        std::fs::remove_file(parties.scratch.at("copy")).expect("there");
    }
    // The same name, another key.
    let other = parties.certificate("stranger", "/example");
    let refused = parties.fetch("/example/alice/file", &other).with(1);
    assert!(refused.err.contains("not trusted: "), "{}", refused.err);
}

#[test]
fn an_identity_signs_names_under_its_own_only() {
    let parties = Parties::new("identity");
    parties.certify();
    let _server = parties.serve("/example/bob/file");
    let refused = parties.fetch("/example/bob/file", &parties.certificate("office", "/example")).with(1);
    assert!(
        refused.err.contains("is not under the identity of its signer, /example/alice"),
        "{}",
        refused.err
    );
}

#[test]
fn a_certificate_that_no_anchor_has_signed_is_refused() {
    let parties = Parties::new("self-signed");
    let _server = parties.serve("/example/alice/file");
    let refused = parties.fetch("/example/alice/file", &parties.certificate("office", "/example")).with(1);
    assert!(refused.err.contains("is too many certificates away from a trust anchor"), "{}", refused.err);
}
