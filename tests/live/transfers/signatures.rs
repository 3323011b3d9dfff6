//! Signatures of Data that a fetch accepts.

use super::{assert_content, file_of};
use support::program::Scratch;
use support::running::{Forwarder, Running, Way};

const LEN: u64 = 40_000;

/// A private key of the tests of packets, P-256.
const KEY: &str = "crates/wire/tests/wire/keys/pkcs8.pem";

#[test]
fn a_signature_that_cannot_be_verified_is_refused_unless_none_has_to_be() {
    let scratch = Scratch::new("signatures");
    let forwarder = Forwarder::start("signatures", "");
    let (file, copy, uri) = (file_of(&scratch, LEN), scratch.at("copy"), forwarder.uri(Way::Unix));
    let key = ["--key", KEY, "--key-locator", "/key"];
    let serve = ["serve", "/signed", &file, "--version", "5", "--transport", uri];
    let server = Running::start(&[&serve[..], &key].concat());
    server.out_line("serving ");
    // With and without discovery, whose metadata is signed, too.
    for name in ["/signed", "/signed/v=5"] {
        let fetch = ["fetch", name, "-o", &copy, "--transport", uri];
        let refused = Running::start(&fetch).wait().with(1);
        let stated =
            "the Data has an ECDSA signature (SignatureType 3), which cannot be verified without a key";
        assert!(refused.err.contains(stated), "{}", refused.err);
        assert!(!std::fs::exists(&copy).expect("readable"));
        Running::start(&[&fetch[..], &["--no-verify"]].concat()).wait().with(0);
        assert_eq!(assert_content(copy.clone()), LEN);
        std::fs::remove_file(&copy).expect("there");
    }
}
