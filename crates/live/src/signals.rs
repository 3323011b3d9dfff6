//! Requests to stop (SIGINT, SIGTERM, SIGHUP) or to reload (SIGHUP), as a descriptor that becomes readable.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// Becomes readable when the process is requested to stop. A second request ends the process as it would
/// without this.
#[derive(Debug)]
pub struct StopSignal {
    request: UnixStream,
    sender: UnixStream,
    /// Whether SIGHUP has arrived as a request to reload.
    reloads: Arc<AtomicBool>,
    /// Whether a request to stop has arrived.
    stops: Arc<AtomicBool>,
}

impl StopSignal {
    /// Listens for SIGINT, SIGTERM and SIGHUP (the terminal is closed) from now on. A process that was started to
    /// outlive its terminal, as by `nohup`, goes on ignoring SIGHUP.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new() -> io::Result<Self> {
        Self::of(&[SIGINT, SIGTERM, SIGHUP])
    }

    /// As [`new`](Self::new), but SIGHUP is a request to reload: see [`take_reload`](Self::take_reload).
    ///
    /// # Errors
    /// When the system refuses.
    pub fn with_reload() -> io::Result<Self> {
        let stop = Self::of(&[SIGINT, SIGTERM])?;
        signal_hook::flag::register(SIGHUP, stop.reloads.clone())?;
        // After the flag, which is then set when the descriptor becomes readable.
        pipe::register(SIGHUP, stop.sender.try_clone()?)?;
        Ok(stop)
    }

    fn of(signals: &[i32]) -> io::Result<Self> {
        let (request, sender) = UnixStream::pair()?;
        request.set_nonblocking(true)?;
        let stops = Arc::new(AtomicBool::new(false));
        for signal in signals.iter().copied().filter(|signal| !is_ignored(*signal)) {
            let requested_before = Arc::new(AtomicBool::new(false));
            // In this order the first request only sets the flag, which makes the second one end the process.
            signal_hook::flag::register_conditional_default(signal, requested_before.clone())?;
            signal_hook::flag::register(signal, requested_before)?;
            signal_hook::flag::register(signal, stops.clone())?;
            pipe::register(signal, sender.try_clone()?)?;
        }
        Ok(Self { request, sender, reloads: Arc::default(), stops })
    }

    /// Whether a stop was requested since the last call.
    pub fn has_come(&mut self) -> bool {
        matches!(self.request.read(&mut [0; 8]), Ok(1..))
    }

    /// Waits for at most `time`; returns whether a request to stop has arrived.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn wait(&mut self, time: Duration) -> io::Result<bool> {
        self.request.set_nonblocking(false)?;
        self.request.set_read_timeout(Some(time))?;
        // A byte stays in the flag; an end of the time is an error.
        let _ = self.request.read(&mut [0; 8]);
        self.request.set_nonblocking(true)?;
        Ok(self.is_stop_requested())
    }

    /// A stream that makes the descriptor readable when something is written to it, by another thread for instance.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn waker(&self) -> io::Result<UnixStream> {
        self.sender.try_clone()
    }

    /// Whether a request to stop has arrived.
    pub fn is_stop_requested(&self) -> bool {
        self.stops.load(Ordering::SeqCst)
    }

    /// Whether a request to reload has arrived since the last call. The descriptor is readable afterwards only if a further
    /// request has arrived.
    pub fn take_reload(&mut self) -> bool {
        // First: a request that arrives in between leaves the descriptor readable.
        self.has_come();
        self.reloads.swap(false, Ordering::SeqCst)
    }
}

/// Whether this process ignores `signal`, by the mask of proc_pid_status(5).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

impl AsFd for StopSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.request.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_to_stop_is_reported_once_and_does_not_end_the_process() {
        let mut stop = StopSignal::new().expect("the system lets signals be heard");
        assert!(!stop.has_come());
        signal_hook::low_level::raise(SIGTERM).expect("a signal to ourselves");
        assert!(stop.has_come());
        assert!(!stop.has_come());
    }

    #[test]
    fn a_hangup_is_a_request_to_reload_and_none_to_stop() {
        let mut signal = StopSignal::with_reload().expect("the system lets signals be heard");
        signal_hook::low_level::raise(SIGHUP).expect("a signal to ourselves");
        signal_hook::low_level::raise(SIGHUP).expect("a signal to ourselves");
        assert!(signal.take_reload());
        assert!(!signal.take_reload() && !signal.has_come() && !signal.is_stop_requested());
    }
}
