//! Mistakes in a configuration, as who starts the forwarder reads them.

use support::program::{Scratch, tidegate};

#[track_caller]
fn refused(test: &str, text: &str, stated: &str) {
    let scratch = Scratch::new(test);
    let file = scratch.file("forwarder.toml", text.as_bytes());
    for more in [&[][..], &["--check"]] {
        let ended = tidegate(&[&["forward", &file][..], more].concat()).with(1);
        let reported = ended.err.replace(&file, "forwarder.toml");
        assert!(reported.contains(stated), "{text}\n{reported}");
        assert!(ended.out.is_empty() && !ended.err.contains("listening"), "{}{}", ended.out, ended.err);
    }
}

const FACE: &str = "[[face]]\nname = \"upstream\"\nuri = \"udp4://127.0.0.1:6363\"\n";

#[test]
fn a_mistake_is_reported_with_its_line_and_what_was_meant() {
    for (text, stated) in [
        (
            "format = 1\n[listen]\nudpp = []\n",
            "forwarder.toml:3:1: unknown key \"udpp\"; did you mean \"udp\"?",
        ),
        (
            "format = 1\n[face_defaults]\nbandwidth = \"5Mbps\"\n",
            "forwarder.toml:3:1: unknown key \"bandwidth\"; did you mean \"rate\"?",
        ),
        (
            "format = 1\n\n[listen]\nudp = [\"localhost\"]\n",
            "forwarder.toml:4:8: udp: \"localhost\" is not an address with a port; write it like \"0.0.0.0:6363\"",
        ),
        (
            "format = 1\n[forwarder]\ncache = 5\n",
            "forwarder.toml:3:9: cache: 5 has no unit; write it like \"64pkt\"",
        ),
        (
            "format = 1\n[forwarder]\nmetrics = \"0.0.0.0:9695\"\n",
            "forwarder.toml:3:11: metrics: \"0.0.0.0:9695\" is not a loopback address such as \"127.0.0.1:9695\"",
        ),
        (
            "format = 1\n[listen]\nunix_mode = \"rw\"\n",
            "forwarder.toml:3:13: unix_mode: \"rw\" is not of the form \"0660\", within 000 to 0777",
        ),
        ("format = 2\n", "forwarder.toml:1:10: format 2 is not known; this program reads format 1"),
        ("", "forwarder.toml:1:1: \"format\" is missing; the configuration requires it"),
        ("format = 1\n[[face]\n", "forwarder.toml:2:8: unclosed array table"),
    ] {
        refused("mistake", text, stated);
    }
}

#[test]
fn a_face_or_route_that_cannot_be_is_reported_with_what_there_is() {
    let with = |more: &str| format!("format = 1\n{FACE}{more}");
    for (more, stated) in [
        (
            "router_parts = [{ scheme = \"prl\" }]\n",
            "forwarder.toml:5:28: router part \"prl\" is not known; did you mean \"plr\"?",
        ),
        (
            "router_parts = [{ scheme = \"plr\", alpha = 7 }]\n",
            "forwarder.toml:5:43: scheme \"plr\": parameter \"alpha\": 7.0 is not within 0.01 to 1.0",
        ),
        (
            "[[route]]\nprefix = \"/a\"\nface = \"upsteam\"\n",
            "forwarder.toml:7:8: face \"upsteam\" is not known; did you mean \"upstream\"?",
        ),
        (
            "[[face]]\nuri = \"quic://x\"\n",
            "forwarder.toml:6:7: face URI \"quic://x\": scheme \"quic\" is not known; known: udp, udp4,",
        ),
    ] {
        refused("no-face", &with(more), stated);
    }
}

#[test]
fn a_check_reads_certificates_and_looks_for_groups_and_interfaces() {
    let text = "format = 1\n[management]\ngroups = [\"no-such-group-here\"]\n[[management.key]]\n\
                certificate = \"/no/such.cert\"\n[[face]]\nuri = \"udp4://224.0.23.170:56363\"\ninterface = \"no-such0\"\n";
    let scratch = Scratch::new("surroundings");
    let file = scratch.file("forwarder.toml", text.as_bytes());
    let ended = tidegate(&["forward", &file, "--check"]).with(1);
    let expected = [
        "error: face \"udp4://224.0.23.170:56363 on no-such0\": there is no network interface \"no-such0\"",
        "error: management: group \"no-such-group-here\" does not exist; known are those of /etc/group",
        "error: management.key: /no/such.cert: No such file or directory (os error 2)",
    ];
    assert_eq!(ended.err.lines().collect::<Vec<_>>(), expected);
    let errors = tidegate(&["forward", &file, "--check", "--format", "json"]).with(1).json();
    assert_eq!(errors.get("errors").list().len(), 3, "{errors:?}");
}

#[test]
fn an_address_of_another_machine_is_reported() {
    let scratch = Scratch::new("address");
    let text = "format = 1\n[listen]\nudp = [\"192.0.2.1:6363\"]\ntcp = []\nunix = []\n";
    let ended = tidegate(&["forward", &scratch.file("forwarder.toml", text.as_bytes())]).with(1);
    assert!(
        ended.err.contains("error: udp 192.0.2.1:6363: Cannot assign requested address"),
        "{}",
        ended.err
    );
    let missing = tidegate(&["forward", &scratch.at("nowhere.toml")]).with(1);
    assert!(missing.err.contains("nowhere.toml: No such file"), "{}", missing.err);
    let unknown = tidegate(&["forward", "--listen", "quic://x"]).with(2);
    assert!(unknown.err.contains("scheme \"quic\" is not known; known: udp, udp4,"), "{}", unknown.err);
}
