//! `tidegate get`: `fetch` with the options and the closing lines of ndn-tools' `ndnget` (`ndncatchunks` before 2025).
//!
//! Its options select one of the schemes that follow that program, with its parameters; everything else is [`super::run`].

use std::path::PathBuf;

use tidegate_core::units::Span;
use tidegate_live::fetch::{RECEIVE_WINDOW, RECONNECT};

use super::Ndnget;
use crate::Session;
use crate::exit::Outcome;
use crate::log::LogArguments;

/// Interest pipelines of `ndnget`, and the schemes that follow them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Pipeline {
    /// A window of fixed size: scheme catchunks-fixed.
    Fixed,
    /// Additive increase, multiplicative decrease: scheme catchunks-aimd.
    Aimd,
    /// TCP CUBIC's curve: scheme catchunks-cubic.
    Cubic,
}

impl Pipeline {
    fn scheme(self) -> &'static str {
        match self {
            Self::Fixed => "catchunks-fixed",
            Self::Aimd => "catchunks-aimd",
            Self::Cubic => "catchunks-cubic",
        }
    }
}

/// Arguments of the command `tidegate get`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Name of the content, which is written to standard output; the newest version is discovered unless the name ends
    /// with a version.
    name: String,
    /// Set MustBeFresh on the Interest for each segment.
    #[arg(long, short)]
    fresh: bool,
    /// Lifetime of Interests, milliseconds.
    #[arg(long, short, value_name = "MS", default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(1..))]
    lifetime: u32,
    /// Maximum number of retransmissions of a segment, as long as no Data comes; -1 for no limit.
    #[arg(long, short, value_name = "N", default_value_t = 15, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-1..=1024))]
    retries: i32,
    /// Rule of the window of Interests.
    #[arg(long, short, value_name = "TYPE", value_enum, default_value = "cubic")]
    pipeline_type: Pipeline,
    /// Use the name as given, without version discovery.
    #[arg(long, short = 'D')]
    no_version_discovery: bool,
    /// Encoding of versions and segments; only `typed` (naming conventions, revision 3) is supported.
    #[arg(long, short = 'N', value_name = "CONVENTION", value_parser = typed)]
    naming_convention: Option<String>,
    /// Print the scheme and its parameters at the start.
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
    /// Number of outstanding Interests of the fixed pipeline, 1 to 1024.
    #[arg(long, short = 's', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pipeline_size: u32,
    /// Do not decrease the window after a congestion mark (aimd and cubic).
    #[arg(long)]
    ignore_marks: bool,
    /// Decrease the window at each mark and loss, not at most once per RTT (aimd and cubic).
    #[arg(long)]
    disable_cwa: bool,
    /// Initial congestion window, segments (aimd and cubic).
    #[arg(long, value_name = "N")]
    init_cwnd: Option<f64>,
    /// Initial slow-start threshold, segments (aimd and cubic).
    #[arg(long, value_name = "N")]
    init_ssthresh: Option<f64>,
    /// Additive increase, segments per RTT (aimd).
    #[arg(long, value_name = "N")]
    aimd_step: Option<f64>,
    /// Fraction of the window kept after a decrease (aimd).
    #[arg(long, value_name = "FRACTION")]
    aimd_beta: Option<f64>,
    /// Reset the window to its initial value after a decrease (aimd).
    #[arg(long)]
    reset_cwnd_to_init: bool,
    /// Fraction of the window kept after a decrease (cubic).
    #[arg(long, value_name = "FRACTION")]
    cubic_beta: Option<f64>,
    /// Enable fast convergence (cubic).
    #[arg(long)]
    fast_conv: bool,
    /// Minimum retransmission timeout, milliseconds (aimd and cubic).
    #[arg(long, value_name = "MS")]
    min_rto: Option<u32>,
    /// Write the congestion window over time to this file: seconds and segments, sampled.
    #[arg(long, value_name = "FILE")]
    log_cwnd: Option<PathBuf>,
    /// URI of the forwarder, instead of `NDN_CLIENT_TRANSPORT` and `client.conf`.
    #[arg(long, value_name = "URI")]
    transport: Option<String>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// Parses a naming convention, of which `ndnget` has two.
pub(in crate::commands) fn typed(text: &str) -> Result<String, String> {
    match text {
        "typed" | "t" | "2" => Ok(text.to_owned()),
        "marker" | "m" | "1" => {
            Err("names of the convention \"marker\" (before 2019) are not supported; use \"typed\""
                .to_owned())
        }
        _ => Err(format!("{text:?} is not a naming convention; use \"typed\"")),
    }
}

impl Arguments {
    /// Parameters of the scheme, as `--set` takes them. Options of other pipelines have no effect, as in `ndnget`.
    fn parameters(&self) -> Vec<(String, String)> {
        let mut set = Vec::new();
        let mut add = |key: &str, value: String| set.push((key.to_owned(), value));
        if self.pipeline_type == Pipeline::Fixed {
            add("fetchers", self.pipeline_size.to_string());
            return set;
        }
        let numbers = [("initial_window", self.init_cwnd), ("initial_threshold", self.init_ssthresh)];
        let switches = [("ignore_marks", self.ignore_marks), ("disable_cwa", self.disable_cwa)];
        let (own_numbers, own_switch) = match self.pipeline_type {
            Pipeline::Cubic => {
                ([("beta", self.cubic_beta), ("", None)], ("fast_convergence", self.fast_conv))
            }
            _ => {
                let numbers = [("beta", self.aimd_beta), ("step", self.aimd_step)];
                (numbers, ("reset_to_initial", self.reset_cwnd_to_init))
            }
        };
        for (key, value) in numbers.into_iter().chain(own_numbers) {
            value.into_iter().for_each(|value| add(key, value.to_string()));
        }
        for (key, _) in switches.into_iter().chain([own_switch]).filter(|(_, is_set)| *is_set) {
            add(key, "true".to_owned());
        }
        set
    }

    /// The same fetch as arguments of `tidegate fetch`.
    fn as_fetch(&self) -> super::Arguments {
        super::Arguments {
            name: self.name.clone(),
            output: Some(PathBuf::from("-")),
            scheme: Some(self.pipeline_type.scheme().to_owned()),
            set: self.parameters(),
            profile: None,
            shell: None,
            lifetime: Some(Span::from_millis(u64::from(self.lifetime))),
            // Any negative number is -1.
            retries: u32::try_from(self.retries).unwrap_or(u32::MAX),
            receive_window: RECEIVE_WINDOW,
            reconnect: RECONNECT,
            wait: Span::ZERO,
            no_version_discovery: self.no_version_discovery,
            fresh: self.fresh,
            no_verify: true,
            verify_key: None,
            trust_anchor: Vec::new(),
            trust_schema: None,
            report: None,
            transport: self.transport.clone(),
            reliability: false,
            log: self.log.clone(),
            ndnget: Some(Ndnget {
                is_adaptive: self.pipeline_type != Pipeline::Fixed,
                min_rto: self.min_rto.map(|ms| Span::from_millis(u64::from(ms))),
                log_cwnd: self.log_cwnd.clone(),
            }),
        }
    }
}

/// Runs the command `tidegate get`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let fetch = arguments.as_fetch();
    if arguments.verbose {
        let set: Vec<String> = fetch.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
        session.note(&format!("scheme {} {}", arguments.pipeline_type.scheme(), set.join(" ")));
    }
    super::run(session, &fetch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct CommandLine {
        #[command(flatten)]
        arguments: Arguments,
        #[arg(long, short)]
        quiet: bool,
    }

    fn parsed(words: &str) -> Result<Arguments, clap::Error> {
        let line = CommandLine::try_parse_from(["get"].into_iter().chain(words.split_whitespace()));
        line.map(|line| line.arguments)
    }

    #[test]
    fn options_of_ndnget_select_a_scheme_and_its_parameters() {
        let set = |words: &str| {
            let fetch = parsed(words).expect("valid").as_fetch();
            let set: Vec<String> = fetch.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("{} {}", fetch.scheme.unwrap_or_default(), set.join(" "))
        };
        assert_eq!(set("/a"), "catchunks-cubic ");
        assert_eq!(set("-p fixed -s 20 --init-cwnd 3 /a"), "catchunks-fixed fetchers=20");
        let aimd =
            "-p aimd --init-cwnd 3 --init-ssthresh 64 --aimd-beta 0.6 --aimd-step 2 --reset-cwnd-to-init /a";
        let expected = "initial_window=3 initial_threshold=64 beta=0.6 step=2 reset_to_initial=true";
        assert_eq!(set(aimd), format!("catchunks-aimd {expected}"));
        let cubic = "--cubic-beta 0.8 --fast-conv --ignore-marks --disable-cwa --aimd-beta 0.1 /a";
        let expected = "beta=0.8 ignore_marks=true disable_cwa=true fast_convergence=true";
        assert_eq!(set(cubic), format!("catchunks-cubic {expected}"));
    }

    #[test]
    fn lifetime_retries_and_freshness_are_those_of_the_fetch() {
        let fetch = parsed("-f -l 1500 -r -1 -D -N t /a").expect("valid").as_fetch();
        assert_eq!((fetch.fresh, fetch.no_version_discovery, fetch.retries), (true, true, u32::MAX));
        assert_eq!(fetch.lifetime, Some(Span::from_millis(1_500)));
        assert_eq!(parsed("/a").expect("valid").as_fetch().retries, 15);
    }

    #[test]
    fn values_outside_the_ranges_of_ndnget_are_refused() {
        for words in [
            "-r -2 /a",
            "-r 1025 /a",
            "-s 0 /a",
            "-s 1025 /a",
            "-l 0 /a",
            "-p tcp /a",
            "-N marker /a",
            "-q -v /a",
            "",
        ] {
            assert!(parsed(words).is_err(), "{words}");
        }
    }
}
