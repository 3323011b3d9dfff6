//! Progress of a batch or a transfer: a line that is rewritten on a terminal, elsewhere a line every few
//! seconds.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use tidegate_core::units::Span;

use crate::{Format, Session, screen};

/// Minimum interval between two plain lines.
const PLAIN_PAUSE: Duration = Duration::from_secs(5);

/// Progress line with the number of finished jobs.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    what: &'static str,
    total: usize,
    /// Number of requested jobs that were done before.
    recalled: usize,
    state: Mutex<ProgressState>,
    shown: Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Terminal,
    Plain,
}

impl Shown {
    /// Selects the form of the progress; standard error with JSON for a program has no lines of text.
    fn new(session: &Session) -> Self {
        match (session.quiet, std::io::stderr().is_terminal(), session.messages) {
            (true, _, _) | (false, false, Format::Json) => Self::Nothing,
            (false, true, _) => Self::Terminal,
            (false, false, Format::Text) => Self::Plain,
        }
    }
}

#[derive(Debug)]
struct ProgressState {
    done: usize,
    failed: usize,
    begun: Instant,
    last: Instant,
}

impl ProgressLine {
    /// A progress line of `total` jobs, none of them done; `what` names them in the plural.
    pub(crate) fn new(what: &'static str, total: usize, session: &Session) -> Self {
        let now = Instant::now();
        Self {
            what,
            total,
            recalled: 0,
            state: Mutex::new(ProgressState { done: 0, failed: 0, begun: now, last: now }),
            shown: Shown::new(session),
        }
    }

    /// The progress line with `recalled` further jobs that were done before.
    pub(crate) fn after(self, recalled: usize) -> Self {
        Self { recalled, ..self }
    }

    /// One more job is done.
    pub(crate) fn one_done(&self) {
        self.one_over(false);
    }

    /// One more job has failed.
    pub(crate) fn one_failed(&self) {
        self.one_over(true);
    }

    /// Removes the line from a terminal, for a batch that ended early.
    pub(crate) fn clear(&self) {
        if self.shown == Shown::Terminal {
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[K").and_then(|()| out.flush());
        }
    }

    fn one_over(&self, has_failed: bool) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.done += 1;
        state.failed += usize::from(has_failed);
        let now = Instant::now();
        let is_last = state.done == self.total;
        let elapsed = now - state.begun;
        // From the jobs of this batch only, since recalled ones took no time.
        let left = elapsed.mul_f64((self.total - state.done) as f64 / state.done as f64);
        let line = self.line(&state, left);
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

    fn line(&self, state: &ProgressState, left: Duration) -> String {
        let mut line = format!("{}/{} {}", state.done, self.total, self.what);
        for (count, word) in [(self.recalled, "done before"), (state.failed, "failed")] {
            if count > 0 {
                line.push_str(&format!(", {count} {word}"));
            }
        }
        let line = format!("{line}, {} left", in_words(left));
        match self.shown {
            Shown::Terminal => on_terminal(state.done as f64 / self.total.max(1) as f64, &line),
            Shown::Nothing | Shown::Plain => line,
        }
    }
}

/// Width of a bar, characters.
const BAR: usize = 20;

/// A bar of which the fraction `part` is full, with text, cut to one line of the terminal.
fn on_terminal(part: f64, words: &str) -> String {
    let full = (part.clamp(0.0, 1.0) * BAR as f64).floor() as usize;
    let bar = format!("[{}{}] {words}", "#".repeat(full), "-".repeat(BAR - full));
    match screen::of_errors().width {
        // A line that wraps cannot be overwritten.
        Some(width) => bar.chars().take(width - 1).collect(),
        None => bar,
    }
}

/// A duration in words, such as `40 s`, `3 min` or `1.5 h`, with the precision of an estimate.
pub(crate) fn in_words(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1.5 => "a second".to_owned(),
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds if seconds < 90.0 * 60.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

/// Time without Data after which the remaining time is not estimated.
#[cfg(target_os = "linux")]
const STALL: Span = Span::from_secs(1);

/// Progress line of a transfer.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct TransferLine {
    shown: Shown,
    last: Instant,
    /// Content and time at the last update, for the current goodput.
    bytes: u64,
    elapsed_s: f64,
    goodput_mbps: f64,
}

#[cfg(target_os = "linux")]
impl TransferLine {
    /// A progress line before the first Data.
    pub(crate) fn new(session: &Session) -> Self {
        let last = Instant::now();
        Self { shown: Shown::new(session), last, bytes: 0, elapsed_s: 0.0, goodput_mbps: 0.0 }
    }

    /// Updates the goodput and shows the progress, plain lines at most every [`PLAIN_PAUSE`].
    pub(crate) fn show(&mut self, progress: &tidegate_live::fetch::FetchProgress) {
        self.measure(progress);
        let line = self.line(progress);
        let now = Instant::now();
        let mut out = std::io::stderr().lock();
        // Progress that cannot be shown is no reason to stop.
        let _ = match self.shown {
            Shown::Nothing => Ok(()),
            Shown::Terminal => {
                let known = progress.total_segments.filter(|total| *total > 0);
                let line = known.map_or_else(
                    || line.clone(),
                    |total| on_terminal(progress.segments as f64 / total as f64, &line),
                );
                write!(out, "\r\x1b[K{line}").and_then(|()| out.flush())
            }
            Shown::Plain if now - self.last >= PLAIN_PAUSE => {
                self.last = now;
                writeln!(out, "{line}")
            }
            Shown::Plain => Ok(()),
        };
    }

    /// Removes the line from a terminal.
    pub(crate) fn clear(&self) {
        if self.shown == Shown::Terminal {
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[K").and_then(|()| out.flush());
        }
    }

    /// Updates the goodput, smoothed over about ten updates.
    fn measure(&mut self, progress: &tidegate_live::fetch::FetchProgress) {
        let (bytes, elapsed_s) = (progress.bytes.get(), progress.elapsed.as_secs_f64());
        let seconds = elapsed_s - self.elapsed_s;
        if seconds > 0.0 {
            let now = (bytes - self.bytes) as f64 * 8e-6 / seconds;
            // The first value replaces the initial 0 instead of being averaged with it.
            let weight = if self.goodput_mbps == 0.0 { 1.0 } else { 0.2 };
            self.goodput_mbps += weight * (now - self.goodput_mbps);
        }
        (self.bytes, self.elapsed_s) = (bytes, elapsed_s);
    }

    fn line(&self, progress: &tidegate_live::fetch::FetchProgress) -> String {
        let mut parts = Vec::new();
        if let Some(total) = progress.total_segments.filter(|total| *total > 0) {
            parts.push(format!("{:3.0} %", 100.0 * progress.segments as f64 / total as f64));
        } else {
            parts.push(format!("{} segments", progress.segments));
        }
        parts.push(format!("{:.1} Mbit/s", self.goodput_mbps));
        parts.push(format!("window {:.0}", progress.window));
        if let Some(rtt) = progress.rtt {
            parts.push(format!("RTT {:.1} ms", rtt.as_millis_f64()));
        }
        if progress.silence >= STALL {
            parts.push(format!("no Data for {:.0} s", progress.silence.as_secs_f64()));
        } else if let Some(total) = progress.total_segments.filter(|_| progress.segments > 0) {
            let left = (total - progress.segments) as f64 * self.elapsed_s / progress.segments as f64;
            parts.push(format!("{left:.0} s left"));
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_when_everything_is_done() {
        assert!(on_terminal(0.0, "0/4 runs").starts_with(&format!("[{}] 0/4", "-".repeat(BAR))));
        assert!(on_terminal(0.5, "").starts_with("[##########----------]"));
        assert!(on_terminal(1.0, "").starts_with(&format!("[{}]", "#".repeat(BAR))));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_transfer_without_data_has_no_forecast() {
        let session = Session {
            format: Format::Json,
            messages: Format::Json,
            quiet: true,
            screen: screen::of_errors(),
            schemes: Default::default(),
        };
        let mut line = TransferLine::new(&session);
        let progress = |silence| tidegate_live::fetch::FetchProgress {
            elapsed: Span::from_secs(10),
            segments: 50,
            total_segments: Some(100),
            bytes: tidegate_core::units::ByteCount::new(400_000),
            window: 8.0,
            in_flight: 8,
            rtt: None,
            retransmissions: 0,
            silence,
            is_connected: true,
            bad: 0,
        };
        line.measure(&progress(Span::ZERO));
        assert_eq!(line.line(&progress(Span::from_millis(200))), " 50 %, 0.3 Mbit/s, window 8, 10 s left");
        let stalled = line.line(&progress(Span::from_secs(3)));
        assert_eq!(stalled, " 50 %, 0.3 Mbit/s, window 8, no Data for 3 s");
    }

    #[test]
    fn a_forecast_has_the_digits_that_it_deserves() {
        let stated = [0.2, 40.4, 200.0, 6000.0].map(|seconds| in_words(Duration::from_secs_f64(seconds)));
        assert_eq!(stated, ["a second", "40 s", "3 min", "1.7 h"]);
    }
}
