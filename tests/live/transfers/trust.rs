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
        self.fetch_with(name, ["--trust-anchor", anchor])
    }

    fn fetch_with(&self, name: &str, trust: [&str; 2]) -> Ended {
        let (copy, uri) = (self.scratch.at("copy"), self.forwarder.uri(Way::Tcp));
        let [option, file] = trust;
        Running::start(&["fetch", name, "-o", &copy, option, file, "--transport", uri]).wait()
    }

    /// A fetch with the certificate of the office as trust anchor, and rules that are pairs of patterns.
    fn fetch_by_rules(&self, name: &str, rules: &[(&str, &str)]) -> Ended {
        self.certificate("office", "/example");
        let rule =
            |(data, signer): &(&str, &str)| format!("[[rule]]\ndata = {data:?}\nsigner = {signer:?}\n");
        let rules: String = rules.iter().map(rule).collect();
        let text = format!("format = 1\n[[anchor]]\ncertificate = \"office.cert\"\n{rules}");
        self.fetch_with(name, ["--trust-schema", &self.scratch.file("schema.toml", text.as_bytes())])
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

/// The office certifies users, and users sign their files.
const USERS: (&str, &str) = ("/example/{user}/KEY/*/*/*", "/example/KEY/*");
const FILES: (&str, &str) = ("/example/{user}/file/**", "/example/{user}/KEY/*");

#[test]
fn a_trust_schema_permits_what_its_rules_match() {
    let parties = Parties::new("schema");
    parties.certify();
    let _server = parties.serve("/example/alice/file");
    let fetched = parties.fetch_by_rules("/example/alice/file", &[USERS, FILES]).with(0);
    assert!(fetched.out.contains("Signed by: /example/alice/KEY/"), "{}", fetched.out);
    assert_eq!(assert_content(parties.scratch.at("copy")), LEN);
    for (rules, stated) in [
        (
            &[USERS, ("/example/{user}/file/**", "/example/{user}/admin/KEY/*")][..],
            "rule \"/example/{user}/file/** <= /example/{user}/admin/KEY/*\" requires /example/alice/admin/KEY/*",
        ),
        (&[FILES], "is signed by /example/KEY/"),
        (
            &[USERS, ("/example/{user}/other/**", "/example/{user}/KEY/*")],
            "no rule of the trust schema is for this name",
        ),
        // The metadata alone: the signer of the metadata must be one of the file, too.
        (
            &[USERS, ("/example/alice/file/32=metadata/**", "/example/alice/KEY/*")],
            "no rule of the trust schema is for this name",
        ),
    ] {
        let refused = parties.fetch_by_rules("/example/alice/file", rules).with(1);
        assert!(refused.err.contains("not trusted: ") && refused.err.contains(stated), "{}", refused.err);
    }
}

#[test]
fn a_trust_schema_replaces_the_hierarchy() {
    let parties = Parties::new("schema-other");
    parties.certify();
    let _server = parties.serve("/site/news");
    let rules = [USERS, ("/site/**", "/example/alice/KEY/*")];
    parties.fetch_by_rules("/site/news", &rules).with(0);
    let refused = parties.fetch("/site/news", &parties.certificate("office", "/example")).with(1);
    assert!(refused.err.contains("is not under the identity of its signer"), "{}", refused.err);
}

#[test]
fn a_certificate_that_has_expired_is_refused_with_a_schema_as_well() {
    let parties = Parties::new("schema-expired");
    let request = parties.certificate("alice", "/example/alice");
    let issued = parties.key("office", &["issue", &request, "--signer", "/example", "--validity", "0s"]);
    parties.key("alice", &["import", &parties.scratch.file("issued", issued.as_bytes())]);
    // Valid for the second in which it was made.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let _server = parties.serve("/example/alice/file");
    let refused = parties.fetch_by_rules("/example/alice/file", &[USERS, FILES]).with(1);
    assert!(refused.err.contains("whose certificate is not valid now"), "{}", refused.err);
}

#[test]
fn a_mistake_in_a_trust_schema_is_reported_before_the_network_is_used() {
    let scratch = Scratch::new("schema-mistake");
    let text = "format = 1\n[[anchor]]\ncertificate = \"no.cert\"\n[[rule]]\ndata = \"/a/{user}\"\nsigner = \"/{usr}\"\n";
    let file = scratch.file("schema.toml", text.as_bytes());
    let fetch = ["fetch", "/a", "--trust-schema", &file, "--transport", "unix:///no/forwarder"];
    let refused = tidegate(&fetch).with(1);
    assert!(
        refused.err.contains("schema.toml:6:10: signer: {usr} does not occur in data"),
        "{}",
        refused.err
    );
}
