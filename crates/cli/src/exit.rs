//! Exit codes: the same for every command, and stable.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use serde_json::json;

use crate::Format;

/// Result of a command as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command completed without an error.
    Ok = 0,
    /// The command failed, for the reason in its message.
    Error = 1,
    /// The command line is wrong.
    Usage = 2,
    /// An expectation failed, a claim's verdict is not the one on record, or a measure got worse.
    Unexpected = 3,
    /// Some runs failed; the results of the others are kept.
    Partial = 4,
    /// The result was not judged: the machine was too busy to measure.
    NotJudged = 5,
    /// The user interrupted the command.
    Interrupted = 130,
    /// The reader of the output closed the pipe; the code of programs that the signal ends (128 + SIGPIPE).
    PipeClosed = 141,
}

impl Exit {
    /// All exit codes in ascending order.
    pub(crate) const ALL: [Self; 8] = [
        Self::Ok,
        Self::Error,
        Self::Usage,
        Self::Unexpected,
        Self::Partial,
        Self::NotJudged,
        Self::Interrupted,
        Self::PipeClosed,
    ];

    /// Meaning for every command; [`crate::guide::Guide`] has the meaning for a particular one.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done",
            Self::Error => "failure: invalid or missing file, no permission, no forwarder",
            Self::Usage => "invalid command line",
            Self::Unexpected => {
                "completed with a negative result: an `[expect]`, a recorded verdict or a tolerance is not met, or `check --strict` has warnings"
            }
            Self::Partial => "some runs failed; the results of the others are kept",
            Self::NotJudged => {
                "not judged: a measure of `twin` is outside its tolerance, and the machine was too busy for a valid comparison"
            }
            Self::PipeClosed => "the reader of the content of a `fetch` closed the pipe, as `head` does",
            Self::Interrupted => {
                "interrupted by SIGINT or SIGTERM before the work was done; `fetch`, `serve` and `twin` also by SIGHUP"
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Failure of a command: exit code and message.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Exit code of the program.
    pub(crate) exit: Exit,
    /// Message for standard error, which may have several lines.
    pub(crate) message: String,
}

impl Failure {
    /// A failure of the command because of `why`.
    pub(crate) fn error(why: impl Display) -> Self {
        Self { exit: Exit::Error, message: format!("error: {why}") }
    }

    /// A failure because of an invalid command line.
    pub(crate) fn usage(why: impl Display) -> Self {
        Self { exit: Exit::Usage, message: format!("error: {why}") }
    }
}

impl Failure {
    /// Output for the user: text, or a JSON object on one line with `error` and `exit_code`.
    pub(crate) fn shown(&self, format: Format) -> String {
        match format {
            Format::Text => self.message.clone(),
            Format::Json => {
                let message = self.message.trim_end();
                let message = message.strip_prefix("error: ").unwrap_or(message);
                json!({ "error": message, "exit_code": self.exit as u8 }).to_string()
            }
        }
    }
}

/// Exit code of a command that ended as planned, or its failure.
pub(crate) type Outcome = Result<Exit, Failure>;

/// Reason why printed output was lost, recorded for the first loss.
static LOST: OnceLock<String> = OnceLock::new();

/// Prints to standard output. A reader that closed the pipe ends the output, not the command. Any other error
/// is kept for [`lost_output`], so that results are written before the command fails.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            let _ = LOST.set(why.to_string());
        }
        _ => {}
    }
}

/// The failure of a command whose output could not be written, for example on a full disk.
pub(crate) fn lost_output() -> Option<Failure> {
    LOST.get().map(|why| Failure::error(format!("standard output cannot be written: {why}")))
}
