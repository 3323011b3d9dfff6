//! Keys and certificates of a user.

use support::json::Value;
use support::program::{Ended, Scratch, tidegate};

/// `tidegate key` with these arguments, on the keys in `folder`.
fn key(folder: &str, arguments: &[&str]) -> Ended {
    tidegate(&[&["key"], arguments, &["--keys", folder, "--format", "json"]].concat())
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).text().to_owned()
}

#[test]
fn a_key_is_certified_by_another_and_goes_to_another_folder() {
    let scratch = Scratch::new("keys");
    let [root, alice, other] = ["root", "alice", "other"].map(|name| scratch.at(name));
    let anchor = key(&root, &["generate", "/example", "--algorithm", "ed25519"]).with(0).json();
    assert_eq!(
        (text(&anchor, "identity"), text(&anchor, "algorithm")),
        ("/example".into(), "ed25519".into())
    );
    let own = key(&alice, &["generate", "/example/alice"]).with(0).json();
    // Self-signed, so that it is a request.
    assert_eq!(text(&own, "issuer"), text(&own, "key"));
    let exported = key(&alice, &["export", "/example/alice"]).with(0).json();
    let request = scratch.file("request", text(&exported, "base64").as_bytes());
    let issued =
        key(&root, &["issue", &request, "--signer", "/example", "--issuer", "office"]).with(0).json();
    assert!(text(&issued, "certificate").starts_with(&(text(&own, "key") + "/office/v=")), "{issued:?}");
    let issued = scratch.file("issued", text(&issued, "base64").as_bytes());
    let imported = key(&alice, &["import", &issued]).with(0).json();
    assert_eq!(text(&imported, "issuer"), text(&anchor, "key"));

    let password = scratch.file("password", b"correct horse\n");
    let bag = key(&alice, &["export", "/example/alice", "--password-file", &password]).with(0).json();
    let bag = scratch.file("bag", text(&bag, "base64").as_bytes());
    let moved = key(&other, &["import", &bag, "--password-file", &password]).with(0).json();
    assert_eq!(moved, imported);
    let listed = key(&other, &["list"]).with(0).json();
    assert_eq!(listed.get("keys").list(), [moved]);
    let wrong = scratch.file("wrong", b"battery staple\n");
    let refused = key(&other, &["import", &bag, "--password-file", &wrong]).with(1);
    assert!(refused.err.contains("the password is wrong"), "{}", refused.err);
}

#[test]
fn what_is_no_key_is_reported_with_what_to_do() {
    let scratch = Scratch::new("no-keys");
    let folder = scratch.at("folder");
    for (arguments, code, stated) in [
        (&["export", "/nobody"][..], 1, "no key of /nobody in "),
        (&["export", "nobody"], 2, "does not start with"),
        (&["generate", "/a", "--algorithm", "rsa"], 2, "neither p256 nor ed25519"),
        (&["import", &scratch.file("text", b"no base64!")], 1, "it is neither base64 nor has PEM blocks"),
        (&["import", &scratch.file("data", b"BgA=")], 1, "it is no Data"),
        (&["import", &scratch.file("bag", b"gAA=")], 1, "it is a SafeBag, which --password-file opens"),
        (&["import", "tests/cli/ndnd/rsa.key"], 1, "no P-256 or Ed25519 private key"),
        (&["import", "tests/cli/ndnd/bob.cert"], 1, "no key of /example/bob/KEY/"),
    ] {
        let ended = key(&folder, arguments).with(code);
        assert!(ended.err.contains(stated), "{arguments:?}: {}", ended.err);
    }
}

/// Keys and certificates of ndnd 1.5.3: `ndnd sec keygen /example/alice ecc secp256r1`, `ndnd sec keygen /example/bob ed25519`,
/// and `ndnd sec sign-cert alice.key` for both.
#[test]
fn keys_and_certificates_of_ndnd_are_imported() {
    let scratch = Scratch::new("ndnd");
    let folder = scratch.at("folder");
    let file = |name: &str| format!("tests/cli/ndnd/{name}");
    let alone = key(&folder, &["import", &file("alice.key")]).with(0).json();
    assert_eq!(
        (text(&alone, "identity"), text(&alone, "algorithm")),
        ("/example/alice".into(), "p256".into())
    );
    assert!(text(&alone, "certificate").contains("/self/v="), "{alone:?}");
    let certified = key(&folder, &["import", &file("alice.cert")]).with(0).json();
    assert_eq!(text(&certified, "certificate"), "/example/alice/KEY/5t%157X%2A%91j/NA/v=1795653413214");

    // Both in one file, in any order.
    let content = |name: &str| std::fs::read_to_string(file(name)).expect("a fixture");
    let both = scratch.file("bob", (content("bob.cert") + &content("bob.key")).as_bytes());
    let bob = key(&folder, &["import", &both]).with(0).json();
    assert_eq!((text(&bob, "algorithm"), text(&bob, "issuer")), ("ed25519".into(), text(&certified, "key")));

    // The key signs here, too.
    let issued = key(&folder, &["issue", &file("alice.cert"), "--signer", "/example/alice"]).with(0).json();
    assert!(text(&issued, "certificate").starts_with(&text(&certified, "key")), "{issued:?}");
    let changed = scratch.file("changed", content("alice.key").replace("Bv0B", "Bv0A").as_bytes());
    key(&folder, &["import", &changed]).with(1);
}
