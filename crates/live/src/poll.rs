//! Waiting for sockets and for a point in time: epoll with nanosecond timeouts (`epoll_pwait2`, Linux 5.11).

use std::io;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use tidegate_core::units::{Span, Time};

use crate::clock::MonotonicClock;

/// Maximum number of events per system call; the others wait for the next call.
const BATCH: usize = 64;

/// Readiness for which a socket is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketInterest {
    /// Readable: data, the end of the stream, or an error.
    Read,
    /// Readable or writable, whichever is first.
    ReadWrite,
    /// Writable; a closed connection is reported as well.
    Write,
    /// Only a closed connection.
    End,
    /// Readable, reported once for each time that it is made so again.
    Change,
}

impl SocketInterest {
    fn flags(self) -> epoll::EventFlags {
        match self {
            Self::Read => epoll::EventFlags::IN,
            Self::ReadWrite => epoll::EventFlags::IN | epoll::EventFlags::OUT,
            Self::Write => epoll::EventFlags::OUT,
            Self::End => epoll::EventFlags::empty(),
            Self::Change => epoll::EventFlags::IN | epoll::EventFlags::ET,
        }
    }
}

/// A watched socket with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The number it was registered with.
    pub token: u64,
    /// Whether there is something to read: data, the end, or an error.
    pub is_readable: bool,
    /// Whether there is room to write, or a write would return an error.
    pub is_writable: bool,
}

impl Ready {
    fn of(event: &epoll::Event) -> Self {
        // The kernel packs the structure, so that fields are copied out, not borrowed.
        let (flags, data) = (event.flags, event.data);
        // A broken socket is readable and writable: whichever its owner tries next reports the error.
        let is_broken = flags.intersects(epoll::EventFlags::ERR | epoll::EventFlags::HUP);
        Self {
            token: data.u64(),
            is_readable: is_broken || flags.contains(epoll::EventFlags::IN),
            is_writable: is_broken || flags.contains(epoll::EventFlags::OUT),
        }
    }
}

/// A set of watched sockets, level-triggered: unread data is reported again.
#[derive(Debug)]
pub struct Poll {
    epoll: OwnedFd,
    ready: Vec<Ready>,
}

impl Poll {
    /// An empty set. The calling thread is woken at the requested time from then on, not up to 50 µs
    /// later, as Linux does to save power.
    ///
    /// # Errors
    /// When the system refuses one more descriptor.
    pub fn new() -> io::Result<Self> {
        // Where that is refused, pacing is a little coarser.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        Ok(Self { epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?, ready: Vec::with_capacity(BATCH) })
    }

    /// Registers `socket`, which is reported by `token`. A socket that is closed leaves the set by itself.
    ///
    /// # Errors
    /// When it is watched already, or the system refuses.
    pub fn register(&self, socket: impl AsFd, token: u64, interest: SocketInterest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(token), interest.flags())?)
    }

    /// Changes what `socket` is watched for.
    ///
    /// # Errors
    /// When it is not watched.
    pub fn modify(&self, socket: impl AsFd, token: u64, interest: SocketInterest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, epoll::EventData::new_u64(token), interest.flags())?)
    }

    /// Stops watching `socket`.
    ///
    /// # Errors
    /// When it is not watched.
    pub fn deregister(&self, socket: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Waits until a socket is ready or `until` has come, whichever is first; `None` waits for sockets alone.
    /// May return early with nothing ready, for a signal in particular.
    ///
    /// # Errors
    /// When the system refuses to wait.
    pub fn wait(&mut self, until: Option<Time>, clock: &MonotonicClock) -> io::Result<&[Ready]> {
        let pause = until.map(|until| until.since(clock.now()));
        self.ready.clear();
        match self.take(pause) {
            Ok(()) | Err(Errno::INTR) => Ok(&self.ready),
            Err(why) => Err(why.into()),
        }
    }

    fn take(&mut self, pause: Option<Span>) -> Result<(), Errno> {
        let mut events = [MaybeUninit::<epoll::Event>::uninit(); BATCH];
        let timeout = pause.map(timespec);
        let (ready, _) = epoll::wait(&self.epoll, &mut events[..], timeout.as_ref())?;
        self.ready.extend(ready.iter().map(Ready::of));
        Ok(())
    }
}

fn timespec(span: Span) -> Timespec {
    let nanos = span.as_nanos();
    // At most 584 years, which fits.
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    const NOW: Option<Time> = Some(Time::ZERO);

    #[test]
    fn a_socket_with_something_to_read_is_reported_by_its_token() -> io::Result<()> {
        let (mut near, far) = UnixStream::pair()?;
        let (mut poll, clock) = (Poll::new()?, MonotonicClock::new());
        poll.register(&far, 7, SocketInterest::Read)?;
        assert_eq!(poll.wait(NOW, &clock)?, []);
        near.write_all(b"x")?;
        assert_eq!(poll.wait(None, &clock)?, [Ready { token: 7, is_readable: true, is_writable: false }]);
        poll.modify(&far, 8, SocketInterest::ReadWrite)?;
        assert_eq!(poll.wait(None, &clock)?, [Ready { token: 8, is_readable: true, is_writable: true }]);
        poll.deregister(&far)?;
        assert_eq!(poll.wait(NOW, &clock)?, []);
        Ok(())
    }

    #[test]
    fn the_end_of_a_peer_is_something_to_read() -> io::Result<()> {
        let (near, far) = UnixStream::pair()?;
        let (mut poll, clock) = (Poll::new()?, MonotonicClock::new());
        poll.register(&far, 1, SocketInterest::Read)?;
        drop(near);
        assert!(poll.wait(None, &clock)?[0].is_readable);
        Ok(())
    }

    #[test]
    fn a_wait_is_not_rounded_to_whole_milliseconds() -> io::Result<()> {
        let (mut poll, clock) = (Poll::new()?, MonotonicClock::new());
        let mut min = Span::MAX;
        // On a busy machine most waits end late, but not every one of them.
        for _ in 0..500 {
            let until = clock.now() + Span::from_micros(50);
            poll.wait(Some(until), &clock)?;
            min = min.min(clock.now().since(until));
        }
        assert!(min < Span::from_micros(500), "at least {min} late");
        Ok(())
    }

    #[test]
    fn waiting_for_a_point_in_time_never_ends_before_it() -> io::Result<()> {
        let (mut poll, clock) = (Poll::new()?, MonotonicClock::new());
        for nanos in [1, 999, 50_000, 1_500_000] {
            let until = clock.now() + Span::from_nanos(nanos);
            assert_eq!(poll.wait(Some(until), &clock)?, []);
            assert!(clock.now() >= until, "{nanos} ns");
        }
        Ok(())
    }
}
