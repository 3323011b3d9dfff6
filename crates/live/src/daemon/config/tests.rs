use tidegate_core::ndn::face::Limit;
use tidegate_schemes::SCHEMES;

use super::*;

fn parse(text: &str) -> Result<ForwarderConfig, Errors> {
    ForwarderConfig::parse("forwarder.toml", text.as_bytes(), SCHEMES)
}

/// The message of every problem, with its line.
fn problems(text: &str) -> Vec<String> {
    let all = parse(text).expect_err("something is wrong");
    let shown = |error: &tidegate_settings::error::Error| {
        let intended = error.suggestions.first().map_or_else(String::new, |word| format!("; {word}?"));
        format!("{}: {}{intended}", error.line, error.message)
    };
    all.iter().map(shown).collect()
}

fn names(uses: &[SchemeUse]) -> Vec<&'static str> {
    uses.iter().map(|used| used.scheme.name).collect()
}

#[test]
fn router_parts_are_refused_where_they_stand_if_there_are_several_threads() {
    let parts = "\n[face_defaults]\nrouter_parts = [\"plr\"]\n[[face]]\nuri = \"udp4://192.0.2.1\"\nrouter_parts = []\n";
    let errors = parse(&format!("format = 1\n[forwarder]\nthreads = 2{parts}")).expect_err("refused");
    let lines: Vec<usize> = errors.iter().map(|error| error.line).collect();
    assert_eq!(lines, [5], "{errors}");
    assert_eq!(parse(&format!("format = 1\n[forwarder]\nthreads = 1{parts}")).expect("sound").threads, 1);
}

#[test]
fn a_known_key_may_send_all_commands_or_those_of_the_modules_that_are_listed() {
    let parse = |commands: &str| {
        let text = format!("format = 1\n[[management.key]]\ncertificate = \"a.cert\"\n{commands}\n");
        let config = ForwarderConfig::parse("f.toml", text.as_bytes(), tidegate_schemes::SCHEMES);
        config.map(|config| config.command_keys[0].modules.join(" "))
    };
    assert_eq!(parse("").expect("sound"), "faces fib rib cs strategy-choice");
    assert_eq!(parse("commands = [\"rib\", \"cs\"]").expect("sound"), "rib cs");
    let errors = parse("commands = [\"rib\", \"ribs\"]").expect_err("unknown");
    assert!(errors.to_string().contains("the modules are faces, fib"), "{errors}");
}

#[test]
fn relative_paths_of_files_begin_at_the_folder_of_the_configuration() {
    let text = "format = 1\n[management]\ncertificates = \"certs\"\ntrust_schema = \"schema.toml\"\n\
                [[management.key]]\ncertificate = \"a.cert\"\n[[management.key]]\ncertificate = \"/k/b.cert\"\n";
    let config = parse(text).expect("sound").with_paths_from(Path::new("/etc/tidegate"));
    let keys = config.command_keys.iter().map(|key| &key.certificate);
    let paths: Vec<_> = keys.chain(&config.certificates).chain(&config.trust_schema).collect();
    let expected = ["/etc/tidegate/a.cert", "/k/b.cert", "/etc/tidegate/certs", "/etc/tidegate/schema.toml"];
    assert_eq!(paths, expected.map(Path::new));
}

#[test]
fn groups_may_send_commands_of_routes_or_of_the_modules_that_are_listed() {
    let parse = |keys: &str| {
        let text = format!("format = 1\n[management]\ngroups = [\"users\"]\n{keys}\n");
        let config = ForwarderConfig::parse("f.toml", text.as_bytes(), tidegate_schemes::SCHEMES);
        config.map(|config| config.group_commands.join(" "))
    };
    assert_eq!(parse("").expect("sound"), "rib");
    assert_eq!(parse("group_commands = [\"faces\", \"rib\"]").expect("sound"), "faces rib");
    let errors = parse("group_commands = [\"face\"]").expect_err("unknown");
    assert!(errors.to_string().contains("group_commands: the modules are faces, fib"), "{errors}");
    let without = "format = 1\n[management]\ngroup_commands = [\"faces\"]\n";
    let errors = ForwarderConfig::parse("f.toml", without.as_bytes(), tidegate_schemes::SCHEMES);
    let errors = errors.expect_err("no groups").to_string();
    assert!(errors.contains(":3") && errors.contains("group_commands: there are no groups"), "{errors}");
}

#[test]
fn the_format_is_declared_soundly() {
    assert_eq!(schema::unsound(&keys::ROOT), Vec::<String>::new());
}

#[test]
fn a_forwarder_without_a_file_listens_everywhere_and_marks() {
    let config = ForwarderConfig::standard(SCHEMES).expect("the defaults are sound");
    assert_eq!((config.cache.get(), config.pit_limit.get(), config.max_faces), (65_536, 1_000_000, 1_024));
    assert_eq!(config.cache_size, ByteCount::new(128 << 20));
    assert_eq!(config.strategy.scheme.name, "best-route");
    let udp: Vec<String> = config.udp.iter().map(|listener| listener.address.to_string()).collect();
    assert_eq!(udp, ["0.0.0.0:6363", "[::]:6363"]);
    assert_eq!(config.udp, config.tcp);
    assert_eq!(config.unix[0].address.to_str(), Some("/run/nfd/nfd.sock"));
    assert!(config.udp.iter().all(|listener| !listener.is_required) && !config.unix[0].is_required);
    let defaults = &config.face_defaults;
    assert_eq!((defaults.mtu_plan(), defaults.rate), (MtuPlan::Probed, None));
    assert_eq!(defaults.queue.limit, Limit::Packets(Packets::new(1_000)));
    assert_eq!((names(&defaults.queue.disciplines), defaults.parts.len()), (vec!["nfd-marking"], 0));
    assert_eq!(config.idle, Span::from_secs(600));
    assert!(config.faces.is_empty() && config.routes.is_empty() && config.prefix_strategies.is_empty());
}

#[test]
fn a_face_takes_each_value_from_its_own_table_else_from_the_defaults() {
    let config = parse(
        r#"format = 1
        face_defaults = { rate = "100Mbps", queue = { limit = "64KiB" }, router_parts = ["plr"] }
        [[face]]
        name = "up"
        uri = "udp4://host.example:6363"
        queue = { disciplines = [{ scheme = "codel", target = "2ms" }] }
        [[face]]
        uri = "unix:///run/other.sock"
        rate = "1Gbps"
        router_parts = []
        mtu = "8800B""#,
    )
    .expect("sound");
    let [up, other] = config.faces.as_slice() else { panic!("{} faces", config.faces.len()) };
    assert_eq!((up.name.as_str(), up.uri.as_str()), ("up", "udp4://host.example:6363"));
    assert_eq!(up.config.rate, Some(BitRate::from_mbps(100.0)));
    assert_eq!(up.config.queue.limit, Limit::Bytes(ByteCount::new(65_536)));
    assert_eq!(names(&up.config.queue.disciplines), ["codel"]);
    assert_eq!(names(&up.config.parts), ["plr"]);
    assert_eq!(other.name, "unix:///run/other.sock");
    assert_eq!(names(&other.config.queue.disciplines), ["nfd-marking"]);
    assert_eq!(
        (other.config.rate, other.config.mtu_plan()),
        (Some(BitRate::from_mbps(1000.0)), MtuPlan::Configured(8_800))
    );
    assert!(other.config.parts.is_empty());
}

#[test]
fn a_route_leads_to_a_face_by_its_name_or_uri_and_a_new_uri_makes_one() {
    let config = parse(
        r#"format = 1
        [[face]]
        name = "up"
        uri = "udp4://192.0.2.1"
        [[route]]
        prefix = "ndn:/a/"
        face = "up"
        [[route]]
        prefix = "/b"
        face = "udp4://192.0.2.1"
        cost = 10
        [[route]]
        prefix = "/"
        face = "tcp6://[2001:db8::1]:7000""#,
    )
    .expect("sound");
    let routes: Vec<_> =
        config.routes.iter().map(|route| (route.prefix.as_str(), route.face, route.cost)).collect();
    assert_eq!(routes, [("/a", 0, 0), ("/b", 0, 10), ("/", 1, 0)]);
    assert_eq!(config.faces[1].uri, "tcp6://[2001:db8::1]:7000");
    assert_eq!(config.faces[1].config.mtu, config.face_defaults.mtu);
}

#[test]
fn what_the_file_names_to_listen_at_is_required_and_an_empty_list_is_silence() {
    let config =
        parse("format = 1\nlisten = { udp = [\"127.0.0.1:7000\"], tcp = [], unix = [\"/run/x.sock\"] }")
            .expect("sound");
    assert_eq!(config.udp, [Listener { address: "127.0.0.1:7000".parse().expect("one"), is_required: true }]);
    assert!(config.tcp.is_empty());
    assert_eq!(config.unix, [Listener { address: PathBuf::from("/run/x.sock"), is_required: true }]);
}

#[test]
fn strategies_may_differ_by_prefix_and_carry_parameters() {
    let config = parse(
        "format = 1\nforwarder = { strategy = \"multicast\", unsolicited = true }\n\
         [[strategy]]\nprefix = \"/x\"\nstrategy = \"best-route\"",
    )
    .expect("sound");
    assert_eq!(config.strategy.scheme.name, "multicast");
    assert!(config.cache_unsolicited);
    assert_eq!(config.prefix_strategies[0].0, "/x");
    assert_eq!(config.prefix_strategies[0].1.scheme.name, "best-route");
}

#[test]
fn everything_that_is_wrong_is_reported_at_its_line_with_what_is_accepted() {
    for (text, expected) in [
        ("", vec!["1: \"format\" is missing; the configuration requires it"]),
        ("format = 2\nx = 1", vec!["1: format 2 is not known; this program reads format 1"]),
        ("format = 1\nforwarder = { cs = \"1pkt\" }", vec!["2: unknown key \"cs\"; cache?"]),
        (
            "format = 1\n[forwarder]\ncache = 10\npit = \"0pkt\"\nmax_faces = 0\nstrategy = \"best-rout\"",
            vec![
                "3: cache: 10 has no unit; write it like \"64pkt\"",
                "4: pit: 0pkt allows no pending Interest; at least 1pkt is needed",
                "5: max_faces: 0 is not within 1 to 60000",
                "6: strategy \"best-rout\" is not known; best-route?",
            ],
        ),
        (
            "format = 1\nface_defaults = { mtu = \"100B\", idle = \"0s\", rate = \"0bps\" }",
            vec![
                "2: mtu: \"100B\" is less than 256 bytes",
                "2: idle: \"0s\" is not above zero",
                "2: rate: \"0bps\" is not above zero",
            ],
        ),
        (
            "format = 1\n[[face]]\nuri = \"ether://[x]\"\n[[route]]\nprefix = \"/\"\nface = \"x\"",
            vec![
                "3: face URI \"ether://[x]\": \"x\" is not an Ethernet address; \
                 write it like \"01:00:5e:00:17:aa\"",
            ],
        ),
        (
            "format = 1\n[[face]]\nname = \"upstream\"\nuri = \"udp://a\"\n\
             [[route]]\nprefix = \"/\"\nface = \"upstrem\"\n[[route]]\nprefix = \"x\"\nface = \"udp://\"",
            vec![
                "7: face \"upstrem\" is not known; upstream?",
                "9: name \"x\" does not start with \"/\"",
                "10: face URI \"udp://\": \"\" is not a host",
            ],
        ),
    ] {
        assert_eq!(problems(text), expected, "{text}");
    }
}

#[test]
fn nothing_is_given_twice() {
    let face = "[[face]]\nname = \"a\"\nuri = \"udp://h\"\n";
    let other = "[[face]]\nname = \"a\"\nuri = \"udp://i\"\n";
    let route = "[[route]]\nprefix = \"/p\"\nface = \"a\"\n";
    let again = "[[route]]\nprefix = \"/p/\"\nface = \"udp://h\"\n";
    let strategy = "[[strategy]]\nprefix = \"/p\"\nstrategy = \"multicast\"\n";
    for (text, why) in [
        (format!("{face}{face}"), "two faces have the URI \"udp://h\""),
        (format!("{face}{other}"), "two faces have the name \"a\""),
        (format!("{face}{route}{again}"), "a route of \"/p\" to this face is already given"),
        (format!("{strategy}{strategy}"), "prefix \"/p\" already has a strategy"),
        ("listen = { udp = [\"[::]:1\", \"[::]:1\"] }".to_owned(), "udp: this address is listed twice"),
    ] {
        let found = problems(&format!("format = 1\n{text}"));
        assert!(found.iter().any(|line| line.ends_with(why)), "{why}: {found:?}");
    }
}

#[test]
fn faces_beyond_the_limit_are_refused_where_they_stand() {
    let text = "format = 1\nforwarder = { max_faces = 1 }\n\
                [[face]]\nuri = \"udp://a\"\n[[route]]\nprefix = \"/\"\nface = \"udp://b\"\n";
    assert_eq!(problems(text), ["7: more faces than max_faces = 1"]);
}

#[test]
fn addresses_need_a_port_and_paths_a_root() {
    let text = "format = 1\nlisten = { udp = [\"0.0.0.0\", 5], unix = [\"nfd.sock\"] }";
    let found = problems(text);
    assert!(found[0].contains("udp: \"0.0.0.0\" is not an address with a port"), "{found:?}");
    assert!(found[1].contains("udp: 5 is not a text in quotes"), "{found:?}");
    assert!(found[2].contains("unix: \"nfd.sock\" is not an absolute path"), "{found:?}");
}

#[test]
fn a_parameter_is_read_by_its_earlier_name_with_a_note() {
    let config = |name: &str| {
        let part = format!("{{ name = \"stateful-forwarding\", {name} = 2.0 }}");
        parse(&format!("format = 1\n[face_defaults]\nrouter_parts = [{part}]\n"))
            .expect("both names are accepted")
    };
    let (earlier, present) = (config("least_limit"), config("min_limit"));
    assert_eq!(earlier.face_defaults.parts[0].settings, present.face_defaults.parts[0].settings);
    assert_eq!(
        earlier.renamed,
        ["forwarder.toml:3: parameter \"least_limit\" was renamed \"min_limit\" in 0.2.0"]
    );
    assert_eq!(present.renamed, Vec::<String>::new());
}
