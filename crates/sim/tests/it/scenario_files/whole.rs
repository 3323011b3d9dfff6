//! Whole schemes: what `scenario.scheme` fills in, what the override `scheme` replaces, and what is then missing.

use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::whole::{Installed, Role};
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::{NextHopRule, Plan};
use tidegate_sim::roles::{idle, incomplete, installed, limits};
use tidegate_sim::scenario::{Errors, parse};

use super::examples::example;

/// Two flows over a bottleneck, nothing said of schemes.
const BARE: &str = r#"format = 1
[scenario]
name = "bare"
duration = "1s"
scheme = "mircc"
[topology]
builtin = "dumbbell"
pairs = 2
access = { rate = "100Mbps", delay = "5ms", queue = { limit = "70pkt" } }
bottleneck = { rate = "10Mbps", delay = "10ms" }
[[flow]]
consumer = "c1"
producer = "p1"
prefix = "/a"
[[flow]]
consumer = "c2"
producer = "p2"
prefix = "/b"
"#;

/// `bare` with another scheme, or with none.
fn bare_of(bare: &str, scheme: Option<&str>) -> String {
    let line = bare.lines().find(|line| line.starts_with("scheme = ")).expect("it has one");
    bare.replace(&format!("{line}\n"), &scheme.map_or(String::new(), |name| format!("scheme = {name:?}\n")))
}

/// The same over TCP.
fn bare_tcp() -> String {
    BARE.replace("\"mircc\"", "\"tcp-cubic\"")
        .replace("[[flow]]", "[[tcp]]")
        .replace("consumer = ", "receiver = ")
        .replace("producer = ", "sender = ")
        .replace("prefix = \"/a\"\n", "")
        .replace("prefix = \"/b\"\n", "")
}

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Errors> {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    parse("x.toml", text, &overrides, SCHEMES)
}

fn plan(text: &str, overrides: &[(&str, &str)]) -> Plan {
    read(text, overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

fn refused(text: &str, overrides: &[(&str, &str)]) -> String {
    read(text, overrides).expect_err("it is wrong").to_string()
}

/// `role scheme` of everything in use.
fn in_use(plan: &Plan) -> Vec<String> {
    installed(plan).iter().map(|Installed { role, scheme, .. }| format!("{role} {scheme}")).collect()
}

/// The plan without its texts, to tell whether two scenarios say the same.
fn meaning(plan: Plan) -> String {
    format!(
        "{:?}",
        Plan {
            text: String::new(),
            canonical: String::new(),
            replaced: Vec::new(),
            written_out: None,
            ..plan
        }
    )
}

#[test]
fn the_scheme_of_the_scenario_fills_every_role_that_it_has() {
    let mircc = plan(BARE, &[]);
    assert_eq!(in_use(&mircc), ["consumer mircc", "router part mircc", "strategy best-route"]);
    let sieve = plan(&BARE.replace("\"mircc\"", "\"ndnsieve\""), &[]);
    let roles = ["consumer ndnsieve", "router part ndnsieve", "controller ndnsieve", "next hops all"];
    assert_eq!(in_use(&sieve), roles);
    assert_eq!(sieve.next_hops, NextHopRule::All);
    let shipped = plan(&BARE.replace("\"mircc\"", "\"pcon-ndnsim\""), &[]);
    let roles = ["consumer pcon-ndnsim", "discipline nfd-marking", "strategy best-route"];
    assert_eq!(in_use(&shipped), roles);
    assert_eq!(installed(&shipped)[1].at.len(), 10);
}

/// [`BARE`] with a consumer written out for both flows.
fn bare_with_consumers(of_scenario: Option<&str>) -> String {
    bare_of(BARE, of_scenario).replace("prefix = ", "scheme = \"icp\"\nprefix = ")
}

#[test]
fn a_strategy_and_a_link_service_are_roles_that_the_scheme_of_the_scenario_fills() {
    let multicast = plan(&bare_with_consumers(Some("multicast")), &[]);
    assert_eq!(in_use(&multicast), ["consumer icp", "strategy multicast"]);
    let belrp = plan(&bare_with_consumers(Some("belrp")), &[]);
    assert_eq!(in_use(&belrp), ["consumer icp", "link service belrp", "strategy best-route"]);
    assert_eq!(installed(&belrp)[1].at.len(), belrp.links.len());
}

#[test]
fn the_override_replaces_a_strategy_and_the_link_services_of_all_links() {
    let bare = bare_with_consumers(None);
    let written = bare.replace("delay = \"10ms\" }", "delay = \"10ms\", link_service = \"wldr\" }")
        + "[router]\nstrategy = \"multicast\"\n[node.r2]\nstrategy = \"multicast\"\n";
    let belrp = plan(&written, &[("scheme", "belrp")]);
    assert_eq!(in_use(&belrp), ["consumer icp", "link service belrp", "strategy multicast"]);
    assert_eq!(installed(&belrp)[1].at.len(), belrp.links.len());
    assert_eq!(belrp.replaced, ["belrp replaces link service wldr"]);
    let best = plan(&written, &[("scheme", "best-route")]);
    assert_eq!(in_use(&best), ["consumer icp", "link service wldr", "strategy best-route"]);
    assert_eq!(best.replaced, ["best-route replaces strategy multicast"]);
}

#[test]
fn a_filled_role_is_the_one_that_could_have_been_written() {
    let written = BARE
        .replace("scheme = \"mircc\"\n", "")
        .replace("prefix = \"/a\"\n", "prefix = \"/a\"\nscheme = \"mircc\"\n")
        .replace("prefix = \"/b\"\n", "prefix = \"/b\"\nscheme = \"mircc\"\n")
        + "[router]\nrouter_parts = [\"mircc\"]\n";
    let (filled, written) = (plan(BARE, &[]), plan(&written, &[]));
    assert_eq!(filled.canonical, written.canonical);
    assert_eq!(meaning(filled), meaning(written));
}

#[test]
fn settings_go_to_all_roles_of_the_scheme_itself() {
    let text = BARE.replace("scheme = \"mircc\"", "scheme = { name = \"mircc\", interval = \"50ms\" }");
    let shown = installed(&plan(&text, &[]));
    assert_eq!(shown[0].scheme, "mircc (interval = \"50ms\")");
    assert_eq!(shown[1].scheme, "mircc (interval = \"50ms\")");
    let wrong = refused(&BARE.replace("scheme = \"mircc\"", "scheme = { name = \"mircc\", x = 1 }"), &[]);
    assert!(wrong.starts_with("x.toml:5:28: scheme \"mircc\" has interval"), "{wrong}");
}

#[test]
fn a_scheme_of_the_scenario_that_fills_no_role_is_named_with_what_keeps_it_out() {
    assert_eq!(idle(&plan(BARE, &[])), None);
    let text = bare_with_consumers(Some("mircc"));
    let one_left = plan(&text, &[]);
    assert_eq!(idle(&one_left), None);
    let advice = incomplete(&one_left).concat();
    assert!(!advice.contains("into [scenario]"), "{advice}");
    let none_left = plan(&(text + "[router]\nrouter_parts = [\"plr\"]\n"), &[]);
    let stated = "scenario.scheme = \"mircc\" fills no role: explicit settings of other roles are kept; leave out \
                flow.0.scheme, flow.1.scheme, router.router_parts";
    assert_eq!(idle(&none_left).as_deref(), Some(stated));
}

#[test]
fn the_advice_for_a_missing_counterpart_names_what_keeps_the_scheme_of_the_scenario_out() {
    let text = bare_with_consumers(Some("mircc")).replace("\"icp\"", "\"mircc\"")
        + "[router]\nrouter_parts = [\"plr\"]\n";
    let advice = incomplete(&plan(&text, &[])).concat();
    assert!(
        advice.ends_with("or leave out router.router_parts, which the scheme of [scenario] does not replace"),
        "{advice}"
    );
}

#[test]
fn roles_that_are_written_out_win() {
    let text = BARE.replace("prefix = \"/b\"\n", "prefix = \"/b\"\nscheme = \"icp\"\n")
        + "[node.r2]\nrouter_parts = [\"plr\"]\n";
    let roles =
        ["consumer mircc", "consumer icp", "router part mircc", "router part plr", "strategy best-route"];
    assert_eq!(in_use(&plan(&text, &[])), roles);
}

#[test]
fn two_strategies_are_an_error_with_both_places() {
    let text = BARE.replace("\"mircc\"", "\"pcon\"") + "[router]\nstrategy = \"multicast\"\n";
    let why = refused(&text, &[]);
    let message =
        "x.toml:20:12: strategy: pcon, the scheme of [scenario] (line 5), has a forwarding strategy";
    assert!(why.starts_with(message), "{why}");
    let prefix = BARE.replace("\"mircc\"", "\"pcon\"")
        + "[[router.prefix]]\nprefix = \"/a\"\nstrategy = \"multicast\"\n";
    assert!(refused(&prefix, &[]).starts_with("x.toml:21:12: strategy: pcon"), "{}", refused(&prefix, &[]));
}

#[test]
fn a_scheme_that_fits_no_flow_is_refused() {
    let tcp = refused(&BARE.replace("\"mircc\"", "\"tcp-cubic\""), &[]);
    assert!(
        tcp.contains("x.toml:5:10: scheme \"tcp-cubic\" is for TCP senders and cannot be used in [[flow]]"),
        "{tcp}"
    );
    let ndn = refused(example("tcp"), &[("scheme", "mircc")]);
    assert!(ndn.contains("scheme \"mircc\" is for NDN consumers and cannot be used in [[tcp]]"), "{ndn}");
    let none = refused(example("dumbbell"), &[("scheme.flow.0", "codel")]);
    assert!(none.contains("scheme \"codel\" has neither a consumer nor a TCP sender"), "{none}");
    let unknown = refused(example("dumbbell"), &[("scheme", "mirc")]);
    assert!(unknown.contains("scheme \"mirc\" is not known; did you mean \"mircc\"?"), "{unknown}");
}

#[test]
fn a_flow_without_any_scheme_is_refused() {
    let why = refused(&BARE.replace("scheme = \"mircc\"\n", ""), &[]);
    assert!(why.contains("\"scheme\" is missing; [[flow]] requires it"), "{why}");
}

#[test]
fn a_mistake_in_the_scheme_of_the_scenario_is_reported_once() {
    for (wrong, stated) in [
        ("\"mirc\"", "scheme \"mirc\" is not known"),
        ("{ name = \"mircc\", x = 1 }", "scheme \"mircc\" has interval"),
        ("{ interval = \"50ms\" }", "this table does not name its scheme"),
        ("\"tcp-cubic\"", "is for TCP senders and cannot be used in [[flow]]"),
        ("\"codel\"", "has neither a consumer nor a TCP sender and cannot be used in [[flow]]"),
    ] {
        let why = refused(&BARE.replace("\"mircc\"", wrong), &[]);
        assert!(why.contains(stated), "{wrong}: {why}");
        assert!(why.lines().filter(|line| line.starts_with("x.toml:")).count() == 1, "{wrong}: {why}");
    }
}

#[test]
fn the_override_replaces_every_role_and_removes_the_parts_of_other_schemes() {
    let mircc = plan(example("dumbbell"), &[("scheme", "mircc")]);
    let roles = ["consumer mircc", "router part mircc", "discipline codel-mark", "strategy best-route"];
    assert_eq!(in_use(&mircc), roles);
    let line = "mircc replaces consumer catchunks-cubic (beta = 0.7), \
                router part plr (alpha = 0.5, interval = \"1ms\")";
    assert_eq!(mircc.replaced, [line]);
    let icp = plan(example("dumbbell"), &[("scheme", "icp")]);
    assert_eq!(in_use(&icp), ["consumer icp", "discipline codel-mark", "strategy best-route"]);
    assert!(icp.replaced[0].contains(" and removes router part plr (alpha"), "{:?}", icp.replaced);
    let sieve = plan(example("multipath"), &[("scheme", "ndnsieve")]);
    let roles = ["consumer ndnsieve", "router part ndnsieve", "controller ndnsieve", "next hops all"];
    assert_eq!(in_use(&sieve), roles);
    assert!(sieve.replaced[0].ends_with("strategy multicast"), "{:?}", sieve.replaced);
}

#[test]
fn a_discipline_of_the_whole_takes_the_place_of_all_others_and_limits_stay() {
    let dctcp = plan(
        example("tcp"),
        &[("topology.bottleneck.queue.disciplines", "[\"red\"]"), ("scheme", "tcp-dctcp")],
    );
    assert_eq!(in_use(&dctcp)[..2], ["TCP sender tcp-dctcp", "discipline step-ecn"]);
    assert!(dctcp.replaced[0].ends_with("discipline red"), "{:?}", dctcp.replaced);
    let limits =
        |plan: &Plan| format!("{:?}", plan.links.iter().map(|link| link.queue[0].limit).collect::<Vec<_>>());
    assert_eq!(limits(&dctcp), limits(&plan(example("tcp"), &[])));
}

#[test]
fn one_scheme_after_another_leaves_nothing_of_the_first() {
    let once = plan(example("dumbbell"), &[("scheme", "icp")]);
    for first in ["mircc", "hobhis", "hr-icp"] {
        let twice = plan(example("dumbbell"), &[("scheme", first), ("scheme", "icp")]);
        assert_eq!(once.canonical, twice.canonical, "{first}");
    }
    let ends = |scheme: &Scheme| {
        let has =
            |role| scheme.fills(role) || scheme.whole.with.iter().any(|companion| companion.role == role);
        has(Role::Consumer) || has(Role::Sender)
    };
    let mut pairs = 0;
    let mut left = Vec::new();
    for bare in [BARE.to_owned(), bare_tcp()] {
        for second in SCHEMES {
            let Ok(once) = read(&bare_of(&bare, None), &[("scheme", second.name)]) else { continue };
            for first in SCHEMES.iter().filter(|first| ends(second) || !ends(first)) {
                let of_scenario = read(&bare_of(&bare, Some(first.name)), &[("scheme", second.name)]);
                let twice = read(&bare, &[("scheme", first.name), ("scheme", second.name)]);
                for plan in [of_scenario, twice].into_iter().flatten() {
                    pairs += 1;
                    if plan.canonical != once.canonical {
                        left.push(format!("{} then {}:\n{}", first.name, second.name, plan.canonical));
                    }
                }
            }
        }
    }
    assert!(left.is_empty(), "{} of {pairs}:\n{}", left.len(), left.join("\n"));
    assert!(pairs > 3000, "{pairs} pairs");
}

#[test]
fn what_the_scheme_of_the_scenario_filled_goes_with_it_and_is_printed() {
    let replaced = |first: &str, second: &str| {
        let plan = plan(&BARE.replace("\"mircc\"", &format!("{first:?}")), &[("scheme", second)]);
        (in_use(&plan), plan.replaced)
    };
    let (roles, lines) = replaced("pcon-ndnsim", "catchunks-cubic");
    assert_eq!(roles, ["consumer catchunks-cubic", "strategy best-route"]);
    assert_eq!(lines, ["catchunks-cubic replaces consumer pcon-ndnsim and removes discipline nfd-marking"]);
    let (roles, lines) = replaced("ndnsieve", "icp");
    assert_eq!(roles, ["consumer icp", "strategy best-route"]);
    assert_eq!(
        lines,
        [
            "icp replaces consumer ndnsieve and removes router part ndnsieve, next hops all, controller ndnsieve"
        ]
    );
    let tcp = bare_tcp().replace("\"tcp-cubic\"", "\"tcp-dctcp\"");
    let cubic = plan(&tcp, &[("scheme", "tcp-cubic")]);
    assert_eq!(in_use(&cubic), ["TCP sender tcp-cubic", "strategy best-route"]);
    assert_eq!(cubic.replaced, ["tcp-cubic replaces TCP sender tcp-dctcp and removes discipline step-ecn"]);
}

#[test]
fn what_is_written_out_beside_the_scheme_of_the_scenario_stays() {
    let text = BARE
        .replace("\"mircc\"", "\"pcon-ndnsim\"")
        .replace("\"70pkt\" }", "\"70pkt\", disciplines = [\"red\"] }");
    let icp = plan(&text, &[("scheme", "icp")]);
    assert_eq!(in_use(&icp), ["consumer icp", "discipline red", "strategy best-route"]);
    let codel = plan(BARE, &[("scheme", "codel")]);
    assert_eq!(in_use(&codel)[..2], ["consumer mircc", "router part mircc"]);
    let one = plan(&BARE.replace("\"mircc\"", "\"pcon-ndnsim\""), &[("scheme.flow.0", "icp")]);
    let roles = ["consumer icp", "consumer pcon-ndnsim", "discipline nfd-marking", "strategy best-route"];
    assert_eq!(in_use(&one), roles);
    let overrides = [("scheme.flow.0", "icp"), ("scheme.flow.1", "icp")];
    let both = plan(&BARE.replace("\"mircc\"", "\"pcon-ndnsim\""), &overrides);
    assert_eq!(in_use(&both), ["consumer icp", "strategy best-route"]);
}

#[test]
fn a_table_of_flows_alone_gets_the_scheme_and_parts_of_other_flows_stay() {
    let mixed = plan(BARE, &[("scheme.flow.1", "hobhis")]);
    let roles = [
        "consumer mircc",
        "consumer hobhis",
        "router part mircc",
        "router part hobhis",
        "strategy best-route",
    ];
    assert_eq!(in_use(&mixed), roles);
    assert_eq!(incomplete(&mixed), Vec::<String>::new());
}

#[test]
fn the_kept_text_of_a_replaced_scenario_says_the_same() {
    for (name, scheme) in
        [("dumbbell", "mircc"), ("multipath", "pcon"), ("events", "ndnsieve"), ("wireless", "plr")]
    {
        let replaced = plan(example(name), &[("scheme", scheme)]);
        let again = plan(&replaced.text, &[]);
        assert_eq!(replaced.canonical, again.canonical, "{name} {scheme}");
        assert_eq!(meaning(replaced), meaning(again), "{name} {scheme}");
    }
}

#[test]
fn a_role_without_its_counterpart_is_reported() {
    let alone = |name: &str, scheme: &str| {
        let key = if name == "tcp" { "tcp.*.scheme" } else { "flow.*.scheme" };
        incomplete(&plan(example(name), &[(key, scheme)]))
    };
    for (name, scheme, stated) in [
        (
            "dumbbell",
            "mircc",
            "flow c1:/a: mircc without its part on a router: Data carries no rate, so the consumer",
        ),
        ("dumbbell", "ndnsieve", "ndnsieve without its part on a router: severe"),
        ("loss", "pcon", "pcon without a queue or router that marks: it reacts to losses alone"),
        ("tcp", "tcp-dctcp", "flow cubic: tcp-dctcp without a queue or router that marks"),
        ("tcp", "rcp", "flow cubic: rcp without its part on a router"),
    ] {
        let reported = alone(name, scheme);
        assert!(reported.len() == 1 && reported[0].contains(stated), "{scheme}: {reported:?}");
    }
    assert_eq!(alone("dumbbell", "pcon"), Vec::<String>::new());
    assert_eq!(alone("red", "pcon-ndnsim"), Vec::<String>::new());
    let dropping = plan(
        example("red"),
        &[("topology.bottleneck.queue.disciplines.0.action", "drop"), ("flow.*.scheme", "pcon-ndnsim")],
    );
    assert_eq!(incomplete(&dropping).len(), 1);
}

/// One flow from c1 to p1 beside the idle c2 and p2, with `scheme` and what else is given.
fn one_flow(scheme: &str, more: &str) -> Plan {
    let (first, _) = BARE.split_at(BARE.rfind("[[flow]]").expect("it has two flows"));
    plan(&(first.replace("scheme = \"mircc\"\n", "") + &format!("scheme = {scheme}\n{more}")), &[])
}

#[test]
fn a_counterpart_counts_only_on_a_way_of_the_flow() {
    let off = "[node.c2]\nrouter_parts = [\"mircc\"]\n";
    let reported = incomplete(&one_flow("\"mircc\"", off));
    let stated = "flow c1:/a: mircc without its part on a router on its path: Data carries no rate";
    assert!(reported.len() == 1 && reported[0].starts_with(stated), "{reported:?}");
    assert_eq!(incomplete(&one_flow("\"mircc\"", &off.replace("c2", "r2"))), Vec::<String>::new());
    let queue = |link: &str| format!("[link.{link}]\nqueue = {{ disciplines = [\"codel-mark\"] }}\n");
    let reported = incomplete(&one_flow("\"pcon\"", &queue("c2-r1")));
    let stated =
        "flow c1:/a: pcon without a queue or router that marks on its path: it reacts to losses alone";
    assert!(reported.len() == 1 && reported[0].starts_with(stated), "{reported:?}");
    assert_eq!(incomplete(&one_flow("\"pcon\"", &queue("r1-r2"))), Vec::<String>::new());
    // One of two flows is enough for a message.
    let two = BARE.replace("scheme = \"mircc\"\n", "") + "[node.p1]\nrouter_parts = [\"mircc\"]\n";
    let reported = incomplete(&plan(&two.replace("prefix", "scheme = \"mircc\"\nprefix"), &[]));
    assert!(reported.len() == 1 && reported[0].starts_with("flow c2:/b: mircc without"), "{reported:?}");
}

#[test]
fn parameters_decide_what_a_role_needs() {
    for (scheme, parts, lacks) in [
        ("{ name = \"pcon\", react_to_marks = false }", "[]", None),
        ("{ name = \"pcon-ndnsim\", react_to_marks = false }", "[]", None),
        ("{ name = \"cctcp-like\", per_source = false }", "[]", None),
        ("\"cctcp-like\"", "[]", Some("cctcp-like without its part on a router")),
        ("\"mircc\"", "[{ name = \"mircc\", stamping = false }]", Some("on a router with stamping = true")),
        (
            "\"hobhis\"",
            "[{ name = \"hobhis\", feedback = \"none\" }]",
            Some("on a router with feedback = rate"),
        ),
        ("\"hobhis\"", "[\"hobhis\"]", None),
    ] {
        let reported = incomplete(&one_flow(scheme, &format!("[router]\nrouter_parts = {parts}\n")));
        assert_eq!(reported.len(), usize::from(lacks.is_some()), "{scheme} {parts}: {reported:?}");
        assert!(lacks.is_none_or(|lacks| reported[0].contains(lacks)), "{scheme} {parts}: {reported:?}");
    }
    let local = "[router]\nrouter_parts = [{ name = \"brf\", control = \"local\" }]\n";
    assert_eq!(incomplete(&one_flow("\"icp\"", local)), Vec::<String>::new());
    let remote = incomplete(&one_flow("\"icp\"", "[router]\nrouter_parts = [\"brf\"]\n"));
    assert!(remote.len() == 1 && remote[0].contains("its controller"), "{remote:?}");
}

#[test]
fn a_limit_is_reported_in_a_sentence_and_not_where_a_parameter_lifts_it() {
    let reported = limits(&one_flow("\"fixed\"", ""));
    let stated = "fixed may leave its link partly unused: the window is 10 packets";
    assert!(reported.len() == 1 && reported[0].starts_with(stated), "{reported:?}");
    assert_eq!(limits(&one_flow("{ name = \"fixed\", window = 500 }", "")), Vec::<String>::new());
    assert_eq!(limits(&one_flow("\"mircc\"", "")), Vec::<String>::new());
}

#[test]
fn parameters_that_needs_and_limits_name_are_there() {
    let has = |scheme: &Scheme, name: &str| scheme.params.iter().any(|spec| spec.name == name);
    for scheme in SCHEMES {
        let needs = scheme.whole.needs.iter();
        let named = needs.flat_map(|need| [need.unless, need.by].into_iter().flatten().map(|(name, _)| name));
        let limit = scheme.whole.limit.iter().flat_map(|limit| limit.unless.iter().copied());
        for name in named.chain(limit) {
            assert!(has(scheme, name), "{}: no parameter {name}", scheme.name);
        }
    }
}

#[test]
fn no_whole_scheme_lacks_anything() {
    for scheme in SCHEMES {
        for name in ["dumbbell", "tcp"] {
            let Ok(plan) = read(example(name), &[("scheme", scheme.name)]) else { continue };
            assert_eq!(incomplete(&plan), Vec::<String>::new(), "{} in {name}", scheme.name);
        }
    }
}
