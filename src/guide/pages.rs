//! One entry for each command.

use super::Guide;
use crate::exit::Exit;

/// A results folder, in the same words everywhere.
const RESULTS: (&str, &str) =
    ("results/NAME-DIGEST/", "tables (Parquet), report.html, scenario.toml, run.json; --out moves it");
const SCENARIO: (&str, &str) =
    ("SCENARIO", "TOML; `tidegate new` writes one, scenarios/schema.json describes it");
const CLIENT_CONF: (&str, &str) =
    ("client.conf", "where the forwarder is: in ~/.ndn, then in /usr/local/etc/ndn and /etc/ndn");
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
        exits: &[
            (Exit::Unexpected, "an expectation, a verdict on record or a tolerance does not hold"),
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
        exits: &[(Exit::Unexpected, "an [expect] of the scenario does not hold")],
    },
    Guide {
        command: "reproduce",
        examples: &[
            ("Every claim of the PLR paper, with a verdict.", "tidegate reproduce plr"),
            ("A quick look, without verdicts.", "tidegate reproduce plr --reduced"),
        ],
        files: &[("results/PAPER/", "report.html, claims.json, one SVG for each figure; --out moves it")],
        exits: &[(Exit::Unexpected, "a verdict is not the one on record")],
    },
    Guide {
        command: "schemes",
        examples: &[
            ("All schemes with their roles.", "tidegate schemes"),
            ("Paper, parameters, units and defaults of one.", "tidegate schemes plr"),
        ],
        files: &[],
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
        exits: &[],
    },
    Guide {
        command: "bench",
        examples: &[
            ("Every case, three times; best in a release build.", "tidegate bench"),
            ("One case, five times.", "tidegate bench papers --runs 5"),
        ],
        files: &[],
        exits: &[],
    },
    Guide {
        command: "completions",
        examples: &[
            ("For this session of bash.", "source <(tidegate completions bash)"),
            ("For good, in fish.", "tidegate completions fish > ~/.config/fish/completions/tidegate.fish"),
        ],
        files: &[],
        exits: &[],
    },
    Guide {
        command: "man",
        examples: &[
            ("One page, at once.", "tidegate man run | man -l -"),
            ("All pages, for good.", "tidegate man --out ~/.local/share/man/man1"),
        ],
        files: &[("DIR/tidegate-COMMAND.1", "one page for each command, and tidegate.1")],
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
        exits: &[],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "serve",
        examples: &[("A file, until it is stopped.", "tidegate serve /example/readme README.md")],
        files: &[CLIENT_CONF],
        exits: &[(Exit::Interrupted, "stopped before the prefix was registered")],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "fetch",
        examples: &[(
            "The newest version, and a page about the transfer.",
            "tidegate fetch /example/readme -o copy.md --report fetch.html",
        )],
        files: &[CLIENT_CONF, ("FILE.part", "what has arrived, until all is there")],
        exits: &[STOPPED],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "twin",
        examples: &[("Simulated and live, side by side; five runs of each.", "tidegate twin")],
        files: &[],
        exits: &[(Exit::Unexpected, "a measure lies outside its tolerance"), STOPPED],
    },
    #[cfg(target_os = "linux")]
    Guide {
        command: "status",
        examples: &[(
            "Counters of each face and route.",
            "tidegate status --transport unix:///tmp/tidegate.sock",
        )],
        files: &[CLIENT_CONF],
        exits: &[],
    },
];
