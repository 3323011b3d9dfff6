//! The request to end: SIGINT and SIGTERM, as something to wait for beside sockets.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

/// Exit code of a process that a second signal ends at once, as shells count an interrupt.
const INTERRUPTED: i32 = 130;

/// Hears SIGINT and SIGTERM. The first one makes the descriptor readable; a second one ends the process, so that
/// a shutdown that hangs can be left.
#[derive(Debug)]
pub struct Signals {
    told: UnixStream,
    is_raised: bool,
    actions: Vec<SigId>,
}

impl Signals {
    /// Takes both signals over for this process.
    ///
    /// # Errors
    /// When the system refuses a pair of sockets or a handler.
    pub fn install() -> io::Result<Self> {
        let (told, tell) = UnixStream::pair()?;
        told.set_nonblocking(true)?;
        let mut signals = Self { told, is_raised: false, actions: Vec::new() };
        let is_second = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order, so that the first signal finds the flag unset.
            let ends = flag::register_conditional_shutdown(signal, INTERRUPTED, is_second.clone())?;
            let arms = flag::register(signal, is_second.clone())?;
            let tells = low_level::pipe::register(signal, tell.try_clone()?)?;
            signals.actions.extend([ends, arms, tells]);
        }
        Ok(signals)
    }

    /// Whether one has come since the start; it stays so.
    pub fn is_raised(&mut self) -> bool {
        let mut byte = [0_u8; 1];
        // An error says that nothing waits.
        self.is_raised |= matches!((&self.told).read(&mut byte), Ok(1..));
        self.is_raised
    }
}

impl Drop for Signals {
    /// From now on the signals do nothing.
    fn drop(&mut self) {
        for action in self.actions.drain(..) {
            low_level::unregister(action);
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.told.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::poll::{Interest, Poll};

    #[test]
    fn a_signal_wakes_who_waits_and_is_remembered() -> io::Result<()> {
        let mut signals = Signals::install()?;
        let (mut poll, clock) = (Poll::new()?, Clock::new());
        poll.register(&signals, 3, Interest::Read)?;
        assert!(!signals.is_raised());
        low_level::raise(SIGTERM)?;
        assert_eq!(poll.wait(None, &clock)?[0].token, 3);
        assert!(signals.is_raised() && signals.is_raised());
        Ok(())
    }
}
