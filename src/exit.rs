//! Exit codes: the same for every command, and stable.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Ok = 0,
    /// It could not be done.
    Error = 1,
    /// The command line is wrong.
    Usage = 2,
    /// An expectation failed, a claim's verdict is not the one on record, or a measure got worse.
    Unexpected = 3,
    /// Some runs failed; the others are there.
    Partial = 4,
    /// The user stopped it.
    Interrupted = 130,
}

impl Exit {
    /// All of them, by number.
    pub(crate) const ALL: [Self; 6] =
        [Self::Ok, Self::Error, Self::Usage, Self::Unexpected, Self::Partial, Self::Interrupted];

    /// What it means whatever the command; [`crate::guide::Guide`] has what it means for one of them.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "done",
            Self::Error => "it could not be done: a file is wrong or missing, no permission, no forwarder",
            Self::Usage => "the command line is wrong",
            Self::Unexpected => {
                "it was done, and the answer is no: an `[expect]`, a verdict on record or a tolerance does not hold, or \
                 `check --strict` has warnings"
            }
            Self::Partial => "some runs failed; the results of the others are there",
            Self::Interrupted => "stopped by SIGINT or SIGTERM before it was done",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did not end well.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
}

impl Failure {
    /// It could not be done, because of `why`.
    pub(crate) fn error(why: impl Display) -> Self {
        Self { exit: Exit::Error, message: format!("error: {why}") }
    }

    /// The command line is wrong.
    pub(crate) fn usage(why: impl Display) -> Self {
        Self { exit: Exit::Usage, message: format!("error: {why}") }
    }
}

pub(crate) type Outcome = Result<Exit, Failure>;

/// Why something printed was lost, the first time it was.
static LOST: OnceLock<String> = OnceLock::new();

/// Prints to standard output; a reader that has gone away ends the output, not the command. What is lost for
/// any other reason is kept for [`lost_output`], so that results are written before the command fails by it.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            let _ = LOST.set(why.to_string());
        }
        _ => {}
    }
}

/// The failure of a command whose output was lost, on a full disk say.
pub(crate) fn lost_output() -> Option<Failure> {
    LOST.get().map(|why| Failure::error(format!("standard output cannot be written: {why}")))
}
