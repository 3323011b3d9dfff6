//! Progress of a batch: one changing line on a terminal, a plain line now and then elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Pause between two plain lines.
const PLAIN_PAUSE: Duration = Duration::from_secs(5);

/// Shows how many of `total` jobs are done.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    what: &'static str,
    total: usize,
    state: Mutex<State>,
    shown: Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Terminal,
    Plain,
}

#[derive(Debug)]
struct State {
    done: usize,
    begun: Instant,
    last: Instant,
}

impl ProgressLine {
    /// Nothing is done yet of `total` jobs; `what` names them in the plural.
    pub(crate) fn new(what: &'static str, total: usize, quiet: bool) -> Self {
        let now = Instant::now();
        let shown = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Terminal,
            (false, false) => Shown::Plain,
        };
        Self { what, total, state: Mutex::new(State { done: 0, begun: now, last: now }), shown }
    }

    /// One more job is done.
    pub(crate) fn one_done(&self) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.done += 1;
        let now = Instant::now();
        let is_last = state.done == self.total;
        let elapsed = now - state.begun;
        let left = elapsed.mul_f64((self.total - state.done) as f64 / state.done as f64);
        let line = format!("{}/{} {}, {:.0} s left", state.done, self.total, self.what, left.as_secs_f64());
        let mut out = std::io::stderr().lock();
        // Progress that cannot be shown is no reason to stop.
        let _ = match self.shown {
            Shown::Nothing => Ok(()),
            Shown::Terminal if is_last => write!(out, "\r\x1b[K").and_then(|()| out.flush()),
            Shown::Terminal => write!(out, "\r\x1b[K{line}").and_then(|()| out.flush()),
            Shown::Plain if now - state.last >= PLAIN_PAUSE && !is_last => {
                state.last = now;
                writeln!(out, "{line}")
            }
            Shown::Plain => Ok(()),
        };
    }
}
