//! Requests to stop (SIGINT, SIGTERM, SIGHUP), as a descriptor that becomes readable.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// Becomes readable when the process is requested to stop. A second request ends the process as it would
/// without this.
#[derive(Debug)]
pub struct StopSignal {
    request: UnixStream,
}

impl StopSignal {
    /// Listens for SIGINT, SIGTERM and SIGHUP (the terminal is closed) from now on. A process that was started to
    /// outlive its terminal, as by `nohup`, goes on ignoring SIGHUP.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new() -> io::Result<Self> {
        let (request, sender) = UnixStream::pair()?;
        request.set_nonblocking(true)?;
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
            let requested_before = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            // In this order the first request only sets the flag, which makes the second one end the process.
            signal_hook::flag::register_conditional_default(signal, requested_before.clone())?;
            signal_hook::flag::register(signal, requested_before)?;
            pipe::register(signal, sender.try_clone()?)?;
        }
        Ok(Self { request })
    }

    /// Whether a stop was requested since the last call.
    pub fn has_come(&mut self) -> bool {
        matches!(self.request.read(&mut [0; 8]), Ok(1..))
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
}
