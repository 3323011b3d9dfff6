//! One entry for each command.

use super::Guide;
use crate::exit::Exit;

/// A results folder, in the same words everywhere.
const RESULTS: (&str, &str) =
    ("results/NAME-DIGEST/", "tables (Parquet), report.html, scenario.toml, run.json; --out moves it");
const STORE: (&str, &str) = ("results/store/", "finished runs by what they are made of; --store moves it");
const SCENARIO: (&str, &str) =
    ("SCENARIO", "TOML; `tidegate new` writes one, scenarios/schema.json describes it");
#[cfg(target_os = "linux")]
const CLIENT_CONF: (&str, &str) =
    ("client.conf", "where the forwarder is: in ~/.ndn, then in /usr/local/etc/ndn and /etc/ndn");
const PARTIAL: (Exit, &str) = (Exit::Partial, "some runs failed; the others are kept");
const STOPPED: (Exit, &str) = (Exit::Interrupted, "stopped by SIGINT or SIGTERM before it was done");

/// All entries.
pub(super) const GUIDES: &[Guide] = &[
    Guide {
        command: "",
        examples: &[
            ("A commented scenario, what it says, and its results.", "tidegate new first.toml"),
            ("What it will simulate.", "tidegate check first.toml"),
            ("Simulate it.", "tidegate run first.toml"),
        ],
        files: &[RESULTS],
        not_run: None,
        exits: &[
            (Exit::Unexpected, "an expectation, a verdict on record or a tolerance does not hold"),
            PARTIAL,
            STOPPED,
        ],
    },
    Guide {
        command: "run",
        examples: &[
            ("Every seed, on all cores.", "tidegate run scenarios/examples/dumbbell.toml"),
            (
                "Three seeds with another scheme.",
                "tidegate run scenarios/examples/dumbbell.toml --seeds 3 --set flow.0.scheme=icp",
            ),
        ],
        files: &[SCENARIO, RESULTS],
        not_run: None,
        exits: &[(Exit::Unexpected, "an [expect] of the scenario does not hold"), PARTIAL, STOPPED],
    },
    Guide {
        command: "sweep",
        examples: &[(
            "Two schemes, two seeds each; the same command again finds them done.",
            "tidegate sweep run scenarios/examples/dumbbell.toml --seeds 2 --grid flow.0.scheme=icp,fixed",
        )],
        files: &[SCENARIO, STORE],
        not_run: None,
        exits: &[PARTIAL, STOPPED],
    },
    Guide {
        command: "sweep run",
        examples: &[
            (
                "What would be run.",
                "tidegate sweep run scenarios/examples/dumbbell.toml --grid flow.0.scheme=icp,fixed --dry-run",
            ),
            (
                "The first of two shares; the other may run on another machine with the same store.",
                "tidegate sweep run scenarios/examples/dumbbell.toml --grid flow.0.scheme=icp,fixed --shard 1/2",
            ),
        ],
        files: &[SCENARIO, STORE, ("results/NAME-DIGEST/", "tables of all points, once no run is missing")],
        not_run: None,
        exits: &[PARTIAL, STOPPED],
    },
    Guide {
        command: "sweep status",
        examples: &[(
            "How much of each point is there.",
            "tidegate sweep status scenarios/examples/dumbbell.toml --grid flow.0.scheme=icp,fixed",
        )],
        files: &[SCENARIO, STORE],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "sweep why",
        examples: &[(
            "Why the runs of seed 1 are there, or not.",
            "tidegate sweep why scenarios/examples/dumbbell.toml --grid flow.0.scheme=icp,fixed --seed 1",
        )],
        files: &[SCENARIO, STORE],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "sweep gc",
        examples: &[(
            "Runs in the store that this scenario does not use; --delete removes them.",
            "tidegate sweep gc scenarios/examples/dumbbell.toml",
        )],
        files: &[SCENARIO, STORE],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "compare",
        examples: &[
            (
                "Two schemes on the same draws.",
                "tidegate compare scenarios/examples/loss.toml --schemes catchunks-aimd,icp --seeds 5",
            ),
            (
                "Whole schemes, routers' parts and controller included.",
                "tidegate compare scenarios/examples/dumbbell.toml --schemes icp,mircc,ndnsieve --seeds 2",
            ),
            (
                "Two values of any key.",
                "tidegate compare scenarios/examples/loss.toml --vary flow.0.size=1MB,2MB --seeds 3",
            ),
        ],
        files: &[
            SCENARIO,
            STORE,
            ("results/NAME-compare-DIGEST/", "comparison.json, points.csv, and the tables of all runs"),
        ],
        not_run: None,
        exits: &[(Exit::Unexpected, "with --baseline: a measure got worse or is gone"), PARTIAL, STOPPED],
    },
    Guide {
        command: "figure",
        examples: &[
            ("What can be drawn of these results.", "tidegate figure results/dumbbell-* --list"),
            (
                "One figure for a column of a paper.",
                "tidegate figure results/dumbbell-* throughput --as pdf -o throughput.pdf",
            ),
        ],
        files: &[
            ("RESULTS", "a folder that run, compare, sweep or reproduce has written"),
            ("RESULTS/figures/", "the files, unless --out names another place"),
        ],
        not_run: Some("the folder is one of an earlier run"),
        exits: &[],
    },
    Guide {
        command: "report",
        examples: &[(
            "The page of results again, as this version of the program makes it.",
            "tidegate report results/dumbbell-1a2b3c4d",
        )],
        files: &[("FOLDER/report.html", "the page, unless --out names another place")],
        not_run: Some("the folder is one of an earlier run"),
        exits: &[],
    },
    Guide {
        command: "export",
        examples: &[
            (
                "The traces that ndnSIM's R scripts read, of the first seed.",
                "tidegate export scenarios/examples/dumbbell.toml --to ndnsim --out traces",
            ),
            (
                "Packets of one link for Wireshark.",
                "tidegate export scenarios/examples/dumbbell.toml --to pcapng --link r1-r2 --out packets",
            ),
        ],
        files: &[("SOURCE", "a folder of results, or a scenario (not for csv)")],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "import",
        examples: &[
            (
                "A topology of the Topology Zoo, as the start of a scenario.",
                "tidegate import scenarios/topologies/abilene.graphml -o abilene.toml",
            ),
            (
                "One that ndnSIM reads, printed.",
                "tidegate import scenarios/topologies/abilene.txt --from ndnsim",
            ),
        ],
        files: &[("FILE", "ndnSIM's annotated topology, mini-ndn's .conf, GraphML, or Rocketfuel's weights")],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "reproduce",
        examples: &[
            ("Every claim of the PLR paper, with a verdict.", "tidegate reproduce plr"),
            ("A quick look, without verdicts.", "tidegate reproduce plr --reduced"),
            ("All papers, and one page for them together.", "tidegate reproduce all"),
            ("After Ctrl-C, on from where it was.", "tidegate reproduce plr"),
        ],
        files: &[
            (
                "results/PAPER/",
                "report.html, claims.json, its scenarios, one SVG for each figure; --out moves it",
            ),
            ("results/PAPER/runs/", "finished runs; the same build of the program does not run them again"),
            ("results/all/", "report.html: an overview of all papers, which leads to the page of each"),
        ],
        not_run: Some("a minute or more"),
        exits: &[(Exit::Unexpected, "a verdict is not the one on record"), PARTIAL, STOPPED],
    },
    Guide {
        command: "schemes",
        examples: &[
            ("All schemes with their roles.", "tidegate schemes"),
            ("Paper, parameters, units and defaults of one.", "tidegate schemes plr"),
        ],
        files: &[],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "check",
        examples: &[
            (
                "What a scenario says, in words, and what looks like a mistake.",
                "tidegate check scenarios/examples/dumbbell.toml",
            ),
            (
                "With other values, for a program.",
                "tidegate check scenarios/examples/dumbbell.toml --set flow.0.size=1MB --format json",
            ),
        ],
        files: &[SCENARIO],
        not_run: None,
        exits: &[(Exit::Unexpected, "with --strict: something looks like a mistake")],
    },
    Guide {
        command: "new",
        examples: &[
            ("A dumbbell, every line explained.", "tidegate new first.toml"),
            (
                "Another network and scheme, on standard output.",
                "tidegate new - --template parking-lot --scheme icp",
            ),
        ],
        files: &[("FILE", "the scenario; an existing file is never overwritten")],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "bench",
        examples: &[
            ("Every case, three times; best in a release build.", "tidegate bench"),
            ("One case, five times.", "tidegate bench papers --runs 5"),
            (
                "Schemes of fetch over one emulated path; without --only, over all of them.",
                "tidegate bench fetch --results fetch.tsv --only '100 Mbit/s, 20 ms, 1 BDP'",
            ),
        ],
        files: &[],
        not_run: Some("a minute or more"),
        exits: &[],
    },
    Guide {
        command: "completions",
        examples: &[
            ("For this session of bash.", "source <(tidegate completions bash)"),
            (
                "A file for fish, which looks for it in ~/.config/fish/completions.",
                "tidegate completions fish > tidegate.fish",
            ),
        ],
        files: &[],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "man",
        examples: &[
            ("One page; `man -l run.1` shows it.", "tidegate man run > run.1"),
            ("All pages; `man` looks for them in ~/.local/share/man.", "tidegate man --out man/man1"),
        ],
        files: &[("DIR/tidegate-COMMAND.1", "one page for each command, and tidegate.1")],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "docs",
        examples: &[
            ("What pages there are.", "tidegate docs"),
            ("Every key of a scenario, as Markdown.", "tidegate docs scenario-keys"),
        ],
        files: &[("DIR/PAGE.md", "one file for each page, with --out")],
        not_run: None,
        exits: &[],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "forward",
        examples: &[
            (
                "A forwarder at a Unix socket, until it is stopped.",
                "tidegate forward --listen unix:///tmp/tidegate.sock",
            ),
            ("Whether a configuration is sound.", "tidegate forward scenarios/live/forwarder.toml --check"),
        ],
        files: &[("CONFIG", "TOML; scenarios/live/forwarder.toml shows every key")],
        not_run: Some("runs until it is stopped"),
        exits: &[],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "link",
        examples: &[(
            "10 Mbit/s and 20 ms between a client at port 7001 and a forwarder.",
            "tidegate link --listen 127.0.0.1:7001 --to 127.0.0.1:6363 --rate 10Mbps --delay 20ms",
        )],
        files: &[],
        not_run: Some("runs until it is stopped"),
        exits: &[],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "serve",
        examples: &[("A file, until it is stopped.", "tidegate serve /example/readme README.md")],
        files: &[CLIENT_CONF],
        not_run: Some("runs until it is stopped"),
        exits: &[(Exit::Interrupted, "stopped before the prefix was registered")],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "fetch",
        examples: &[(
            "The newest version, and a page about the transfer.",
            "tidegate fetch /example/readme -o copy.md --report fetch.html",
        )],
        files: &[
            CLIENT_CONF,
            ("FILE.part", "what has arrived, until all is there"),
            ("FILE.part.state", "of which version it is and how far, from which the same command goes on"),
        ],
        not_run: Some("needs a forwarder"),
        exits: &[STOPPED, (Exit::PipeClosed, "whoever read the content closed the pipe")],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "twin",
        examples: &[("Simulated and live, side by side; five runs of each.", "tidegate twin")],
        files: &[],
        not_run: Some("a minute or more"),
        exits: &[
            (Exit::Unexpected, "a measure lies outside its tolerance"),
            (Exit::NotJudged, "one does, and this machine was too busy to say why"),
            STOPPED,
        ],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "status",
        examples: &[(
            "Counters of each face and route.",
            "tidegate status --transport unix:///tmp/tidegate.sock",
        )],
        files: &[CLIENT_CONF],
        not_run: Some("needs a forwarder"),
        exits: &[],
    },
];
