//! The command line of `tidegate`: a file for each command, and modules that commands share.
#![forbid(unsafe_code)]

mod batch;
mod code;
mod command_line;
mod commands;
mod event_summary;
mod exit;
mod expect;
mod file_errors;
mod guide;
mod interrupt;
mod kept_results;
#[cfg(target_os = "linux")]
mod log;
mod network_drawing;
mod page;
mod parameter_grid;
mod plans;
mod progress;
mod replay;
mod results;
mod screen;
mod session;
mod store;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use tidegate_core::scheme::Scheme;
use tidegate_results::text::Screen;

use exit::{Exit, Failure, Outcome};
use session::{Format, Session, complain};

/// Version of the meaning of results, increased whenever any simulated result may change; golden files have
/// it.
pub const SEMANTICS: u32 = 5;

/// Congestion control for Named Data Networking: simulate, compare, reproduce.
#[derive(Debug, Parser)]
#[command(name = "tidegate", version, arg_required_else_help = true)]
struct Arguments {
    /// Output format of results.
    #[arg(long, global = true, value_enum, default_value = "text")]
    format: Format,
    /// Print results and errors only, no progress.
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate a scenario; print a summary, write tables and a report page.
    Run(commands::run::Arguments),
    /// Compare schemes, or values of any key, on one scenario with the same seeds.
    Compare(Box<commands::compare::Arguments>),
    /// Convert a topology from ndnSIM, mini-ndn, GraphML or Rocketfuel to a scenario.
    Import(commands::import::Arguments),
    /// Draw figures of results for papers and slides: SVG, PDF or pgfplots.
    Figure(commands::figure::Arguments),
    /// Run a scenario over a grid of parameters; finished runs are stored and reused.
    Sweep(commands::sweep::Arguments),
    /// Run the experiments of a paper and compare its claims with the results.
    Reproduce(commands::reproduce::Arguments),
    /// List the schemes, or describe one of them.
    Schemes(commands::schemes::Arguments),
    /// Describe what a scenario simulates, or list all of its errors.
    Check(commands::check::Arguments),
    /// Write results in the formats of other tools: CSV, ndnSIM's traces, qlog, pcapng.
    Export(commands::export::Arguments),
    /// Regenerate the report page of results from their runs.
    Report(commands::report::Arguments),
    /// Write a commented scenario as a starting point.
    New(commands::new::Arguments),
    /// Measure the simulator's speed in named benchmark cases.
    Bench(commands::bench::Arguments),
    /// Print a script for shell completion of commands and options.
    Completions(commands::completions::Arguments),
    /// Print a manual page, or write all of them.
    Man(commands::man::Arguments),
    /// Print the reference pages of the book: keys, schemes, definitions, commands.
    Docs(commands::docs::Arguments),
    /// Forward packets on real sockets.
    #[cfg(target_os = "linux")]
    Forward(commands::forward::Arguments),
    /// Forward UDP datagrams over an emulated link.
    #[cfg(target_os = "linux")]
    Link(commands::link::Arguments),
    /// Publish files and directories under NDN names.
    #[cfg(target_os = "linux")]
    Serve(commands::serve::Arguments),
    /// Fetch a file by its NDN name, with any consumer scheme.
    #[cfg(target_os = "linux")]
    Fetch(commands::fetch::Arguments),
    /// Fetch content to standard output, with the options of ndn-tools' `ndnget`.
    #[cfg(target_os = "linux")]
    #[command(version)]
    Get(Box<commands::fetch::get::Arguments>),
    /// Publish standard input or a file, with the options of ndn-tools' `ndnserve`.
    #[cfg(target_os = "linux")]
    #[command(version)]
    Put(commands::serve::put::Arguments),
    /// Make, list, exchange and certify keys.
    #[cfg(target_os = "linux")]
    Key(commands::key::Arguments),
    /// Run one scenario in simulation and on real sockets, and compare the results.
    #[cfg(target_os = "linux")]
    Twin(commands::twin::Arguments),
    /// Show the counters of a running forwarder.
    #[cfg(target_os = "linux")]
    Status(commands::status::Arguments),
    /// Show the counters of a running forwarder on a terminal, with rates.
    #[cfg(target_os = "linux")]
    Top(commands::top::Arguments),
}

impl Command {
    /// Format of messages on standard error that the command was given; `None` for that of results.
    fn log_format(&self) -> Option<Format> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Forward(arguments) => arguments.log.format(),
            #[cfg(target_os = "linux")]
            Self::Serve(arguments) => arguments.log.format(),
            #[cfg(target_os = "linux")]
            Self::Put(arguments) => arguments.log.format(),
            #[cfg(target_os = "linux")]
            Self::Fetch(arguments) => arguments.log.format(),
            #[cfg(target_os = "linux")]
            Self::Get(arguments) => arguments.log.format(),
            _ => None,
        }
    }
}

/// The program's command line, with examples at the end of each help text.
fn command() -> clap::Command {
    guide::with_examples(Arguments::command())
}

/// The arguments that the program was given.
fn arguments() -> Result<Arguments, clap::Error> {
    let mut matches = command().try_get_matches()?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command()))
}

/// Runs the program with its own schemes and `more`, whose names must be new; returns its exit code.
pub fn main_with(more: &[&'static Scheme]) -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are not errors; an error of a closed pipe cannot be reported anywhere.
            if !error.use_stderr() {
                let _ = error.print();
                return Exit::Ok.into();
            }
            // The command line was not parsed, so `--format` has to be searched in its words.
            if requests_json(std::env::args_os()) {
                complain(&Failure { exit: Exit::Usage, message: error.to_string() }.shown(Format::Json));
            } else {
                let _ = error.print();
            }
            return Exit::Usage.into();
        }
    };
    if !more.is_empty() {
        code::count_executable();
    }
    let (format, quiet) = (arguments.format, arguments.quiet);
    let messages = arguments.command.log_format().unwrap_or(format);
    let screen = match format {
        Format::Text => screen::of_output(),
        Format::Json => Screen::PLAIN,
    };
    let outcome = catalogue(more).and_then(|schemes| {
        execute(&Session { format, messages, quiet, screen, schemes }, arguments.command)
    });
    // A command with a full disk behind its standard output has not succeeded; its own failure comes first.
    let outcome = outcome.and_then(|exit| exit::lost_output().map_or(Ok(exit), Err));
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            complain(&failure.shown(messages));
            failure.exit.into()
        }
    }
}

/// The schemes of the catalogue, then `more`.
fn catalogue(more: &[&'static Scheme]) -> Result<Vec<&'static Scheme>, Failure> {
    let schemes: Vec<&'static Scheme> = tidegate_schemes::SCHEMES.iter().chain(more).copied().collect();
    match Scheme::shared_name(&schemes) {
        None => Ok(schemes),
        Some(name) => {
            Err(Failure::error(format!("two schemes are called {name:?}; each needs its own name")))
        }
    }
}

/// Executes the command of the command line.
fn execute(session: &Session, command: Command) -> Outcome {
    match command {
        Command::Run(arguments) => commands::run::run(session, &arguments),
        Command::Compare(arguments) => commands::compare::run(session, &arguments),
        Command::Import(arguments) => commands::import::run(session, &arguments),
        Command::Figure(arguments) => commands::figure::run(session, &arguments),
        Command::Sweep(arguments) => commands::sweep::run(session, &arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(session, &arguments),
        Command::Schemes(arguments) => commands::schemes::run(session, &arguments),
        Command::Check(arguments) => commands::check::run(session, &arguments),
        Command::Export(arguments) => commands::export::run(session, &arguments),
        Command::Report(arguments) => commands::report::run(session, &arguments),
        Command::New(arguments) => commands::new::run(session, &arguments),
        Command::Completions(arguments) => commands::completions::run(session, &arguments),
        Command::Docs(arguments) => commands::docs::run(session, &arguments),
        Command::Man(arguments) => commands::man::run(session, &arguments),
        Command::Bench(arguments) => commands::bench::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Forward(arguments) => commands::forward::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Link(arguments) => commands::link::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Serve(arguments) => commands::serve::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Fetch(arguments) => commands::fetch::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Get(arguments) => commands::fetch::get::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Put(arguments) => commands::serve::put::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Key(arguments) => commands::key::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Status(arguments) => commands::status::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Top(arguments) => commands::top::run(session, &arguments),
        #[cfg(target_os = "linux")]
        Command::Twin(arguments) => commands::twin::run(session, &arguments),
    }
}

/// Whether a command line that cannot be parsed requests JSON.
fn requests_json(words: impl Iterator<Item = std::ffi::OsString>) -> bool {
    // Words after `--` are positional arguments, whatever they look like.
    let words: Vec<_> = words.take_while(|word| word != "--").collect();
    let is_pair = |pair: &[std::ffi::OsString]| pair[0] == "--format" && pair[1] == "json";
    words.iter().any(|word| word == "--format=json") || words.windows(2).any(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_added_scheme_with_a_name_of_the_catalogue_is_refused_by_its_name() {
        static OWN: Scheme = Scheme { name: "icp", ..Scheme::NONE };
        let failure = catalogue(&[&OWN]).expect_err("the catalogue has it too");
        assert_eq!(failure.message, "error: two schemes are called \"icp\"; each needs its own name");
        static NEW: Scheme = Scheme { name: "new", ..Scheme::NONE };
        let known = catalogue(&[&NEW, &NEW]).map(|schemes| schemes.iter().any(|scheme| scheme.name == "new"));
        assert!(known.is_ok_and(|is_known| is_known));
    }
}
