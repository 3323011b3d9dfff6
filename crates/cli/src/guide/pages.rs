//! One entry for each command.

use super::Guide;
use crate::exit::Exit;

/// A results folder, in the same words everywhere.
const RESULTS: (&str, &str) = (
    "results/NAME-DIGEST/",
    "tables (Parquet), report.html, scenario.toml, run.json; --out changes the directory",
);
const STORE: (&str, &str) =
    ("results/store/", "finished runs by the hash of their inputs; --store changes the directory");
const SCENARIO: (&str, &str) =
    ("SCENARIO", "TOML; `tidegate new` writes one, scenarios/schema.json describes it");
#[cfg(target_os = "linux")]
const CLIENT_CONF: (&str, &str) =
    ("client.conf", "address of the forwarder: in ~/.ndn, then in /usr/local/etc/ndn and /etc/ndn");
const PARTIAL: (Exit, &str) = (Exit::Partial, "some runs failed; the results of the others are kept");
const STOPPED: (Exit, &str) = (Exit::Interrupted, "interrupted by SIGINT or SIGTERM");

/// All entries.
pub(super) const GUIDES: &[Guide] = &[
    Guide {
        command: "",
        examples: &[
            ("Write a commented scenario.", "tidegate new first.toml"),
            ("Describe what it simulates.", "tidegate check first.toml"),
            ("Simulate it.", "tidegate run first.toml"),
        ],
        files: &[RESULTS],
        not_run: None,
        exits: &[
            (Exit::Unexpected, "an expectation, a recorded verdict or a tolerance is not met"),
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
        exits: &[(Exit::Unexpected, "an [expect] of the scenario is not met"), PARTIAL, STOPPED],
    },
    Guide {
        command: "sweep",
        examples: &[(
            "Two schemes, two seeds each; a second call reuses the finished runs.",
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
                "The runs that would be made.",
                "tidegate sweep run scenarios/examples/dumbbell.toml --grid flow.0.scheme=icp,fixed --dry-run",
            ),
            (
                "The first of two shards; the other may run on another machine with the same store.",
                "tidegate sweep run scenarios/examples/dumbbell.toml --grid flow.0.scheme=icp,fixed --shard 1/2",
            ),
        ],
        files: &[SCENARIO, STORE, ("results/NAME-DIGEST/", "tables of all points, when no run is missing")],
        not_run: None,
        exits: &[PARTIAL, STOPPED],
    },
    Guide {
        command: "sweep status",
        examples: &[(
            "The number of finished runs of each point.",
            "tidegate sweep status scenarios/examples/dumbbell.toml --grid flow.0.scheme=icp,fixed",
        )],
        files: &[SCENARIO, STORE],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "sweep why",
        examples: &[(
            "The state of the runs of seed 1.",
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
                "Two schemes with the same random draws.",
                "tidegate compare scenarios/examples/loss.toml --schemes catchunks-aimd,icp --seeds 5",
            ),
            (
                "Whole schemes, including router parts and controllers.",
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
        exits: &[(Exit::Unexpected, "with --baseline: a measure is worse or missing"), PARTIAL, STOPPED],
    },
    Guide {
        command: "figure",
        examples: &[
            ("The figures available for these results.", "tidegate figure results/dumbbell-* --list"),
            (
                "One figure for a column of a paper.",
                "tidegate figure results/dumbbell-* throughput --as pdf -o throughput.pdf",
            ),
        ],
        files: &[
            ("RESULTS", "results directory of run, compare, sweep or reproduce"),
            ("RESULTS/figures/", "the figures; --out changes the directory"),
        ],
        not_run: Some("needs the results of an earlier run"),
        exits: &[],
    },
    Guide {
        command: "report",
        examples: &[(
            "The report page, regenerated by this version of the program.",
            "tidegate report results/dumbbell-1a2b3c4d",
        )],
        files: &[("FOLDER/report.html", "the page; --out changes the file")],
        not_run: Some("needs the results of an earlier run"),
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
        files: &[("SOURCE", "results directory, or a scenario (not for csv)")],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "import",
        examples: &[
            (
                "A topology of the Topology Zoo, as a scenario.",
                "tidegate import scenarios/topologies/abilene.graphml -o abilene.toml",
            ),
            (
                "A topology of ndnSIM, to standard output.",
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
            ("A quick check, without verdicts.", "tidegate reproduce plr --reduced"),
            ("All papers, with an overview page.", "tidegate reproduce all"),
            ("Continue after Ctrl-C.", "tidegate reproduce plr"),
        ],
        files: &[
            (
                "results/PAPER/",
                "report.html, claims.json, values.md, its scenarios, one SVG for each figure; --out changes the directory",
            ),
            ("results/PAPER/runs/", "finished runs, which the same build of the program reuses"),
            ("results/all/", "report.html: an overview of all papers, with links to the page of each"),
        ],
        not_run: Some("a minute or more"),
        exits: &[(Exit::Unexpected, "a verdict differs from the recorded one"), PARTIAL, STOPPED],
    },
    Guide {
        command: "schemes",
        examples: &[
            ("All schemes with their roles.", "tidegate schemes"),
            ("Source, parameters, units and defaults of one scheme.", "tidegate schemes plr"),
        ],
        files: &[],
        not_run: None,
        exits: &[],
    },
    Guide {
        command: "check",
        examples: &[
            (
                "A description of a scenario, with warnings.",
                "tidegate check scenarios/examples/dumbbell.toml",
            ),
            (
                "With another value, as JSON.",
                "tidegate check scenarios/examples/dumbbell.toml --set flow.0.size=1MB --format json",
            ),
        ],
        files: &[SCENARIO],
        not_run: None,
        exits: &[(Exit::Unexpected, "with --strict: there is a warning")],
    },
    Guide {
        command: "new",
        examples: &[
            ("A dumbbell with a comment for every line.", "tidegate new first.toml"),
            (
                "Another network and scheme, on standard output.",
                "tidegate new - --template parking-lot --scheme icp",
            ),
            ("A folder for `tidegate reproduce`.", "tidegate new --paper first-paper"),
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
            ("For the current bash session.", "source <(tidegate completions bash)"),
            (
                "A file for fish, which is searched in ~/.config/fish/completions.",
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
            ("A list of the pages.", "tidegate docs"),
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
                "A forwarder at a Unix socket, until interrupted.",
                "tidegate forward --listen unix:///tmp/tidegate.sock",
            ),
            ("Check a configuration.", "tidegate forward scenarios/live/forwarder.toml --check"),
        ],
        files: &[("CONFIG", "TOML; scenarios/live/forwarder.toml shows every key")],
        not_run: Some("runs until interrupted"),
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
        not_run: Some("runs until interrupted"),
        exits: &[],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "serve",
        examples: &[("Publish a file until interrupted.", "tidegate serve /example/readme README.md")],
        files: &[CLIENT_CONF],
        not_run: Some("runs until interrupted"),
        exits: &[(Exit::Interrupted, "interrupted before the prefix was registered")],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "fetch",
        examples: &[(
            "The newest version, with a report page of the transfer.",
            "tidegate fetch /example/readme -o copy.md --report fetch.html",
        )],
        files: &[
            CLIENT_CONF,
            ("FILE.part", "the content received so far, until the fetch is complete"),
            (
                "FILE.part.state",
                "version and progress of the partial file, from which the same command resumes",
            ),
        ],
        not_run: Some("needs a forwarder"),
        exits: &[STOPPED, (Exit::PipeClosed, "the reader of the content closed the pipe")],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "twin",
        examples: &[("Simulated and live results; five runs of each.", "tidegate twin")],
        files: &[],
        not_run: Some("a minute or more"),
        exits: &[
            (Exit::Unexpected, "a measure is outside its tolerance"),
            (
                Exit::NotJudged,
                "a measure is outside its tolerance, and the machine was too busy for a valid comparison",
            ),
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
