//! Wakes a worker that waits for its sockets.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering, fence};

use rustix::event::{EventfdFlags, eventfd};

/// An event that a worker watches along with its sockets, and whether it waits. Its counter is never read: each addition is
/// reported once ([`SocketInterest::Change`](crate::poll::SocketInterest::Change)).
#[derive(Debug)]
pub(super) struct Waker {
    event: OwnedFd,
    is_waiting: AtomicBool,
}

impl Waker {
    /// A waker of a worker that does not wait yet.
    ///
    /// # Errors
    /// When the system refuses one more descriptor.
    pub fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event, is_waiting: AtomicBool::new(false) })
    }

    /// The worker is going to wait unless its rings have something, for which it looks after this call.
    pub fn begin_wait(&self) {
        self.is_waiting.store(true, Ordering::Relaxed);
        // Orders this before the worker's look at its rings: whoever fills one later sees that it has to be woken.
        fence(Ordering::SeqCst);
    }

    /// The worker waits no longer.
    pub fn end_wait(&self) {
        self.is_waiting.store(false, Ordering::Relaxed);
    }

    /// Wakes the worker if it waits; called after something was put into one of its rings.
    pub fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.is_waiting.load(Ordering::Relaxed) {
            self.wake_always();
        }
    }

    /// Makes the next wait of the worker end at once.
    pub fn wake_always(&self) {
        // The counter reaches its maximum after 2^64 - 2 calls.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
