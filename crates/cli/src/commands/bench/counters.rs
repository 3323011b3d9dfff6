//! Counters of the processor for the thread that simulates, where the kernel allows them (Linux, `perf_event_open`).

use std::io;

/// Events of the processor that are counted, in user mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Instructions,
    L1iMisses,
    L1dMisses,
    BranchMisses,
}

/// All events, in the order of columns and of numbers in a line.
pub(super) const EVENTS: [Event; 4] =
    [Event::Instructions, Event::L1iMisses, Event::L1dMisses, Event::BranchMisses];

impl Event {
    /// Name of its number of a hop in JSON.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Instructions => "instructions_per_hop",
            Self::L1iMisses => "l1i_misses_per_hop",
            Self::L1dMisses => "l1d_misses_per_hop",
            Self::BranchMisses => "branch_misses_per_hop",
        }
    }

    /// Head of its column.
    pub(super) fn head(self) -> &'static str {
        match self {
            Self::Instructions => "instructions per hop",
            Self::L1iMisses => "L1i misses per hop",
            Self::L1dMisses => "L1d misses per hop",
            Self::BranchMisses => "branch misses per hop",
        }
    }
}

/// Count of a counter with the times, in ns, for which it was enabled and for which the processor had room for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    count: u64,
    enabled_ns: u64,
    running_ns: u64,
}

impl Reading {
    /// Estimate for the whole time; `None` for a counter that never ran.
    fn scaled(self) -> Option<f64> {
        (self.running_ns > 0).then(|| self.count as f64 * (self.enabled_ns as f64 / self.running_ns as f64))
    }
}

/// A counter of one event in the calling thread.
pub(super) trait Counter {
    /// Starts to count the event.
    fn start(&mut self) -> io::Result<()>;

    /// Stops and returns the count so far.
    fn stop(&mut self) -> io::Result<Reading>;
}

/// Does `work`; returns its result and the count of each of [`EVENTS`], NaN for one that `open` or the counter refused.
pub(super) fn count<C: Counter, R>(
    open: impl Fn(Event) -> io::Result<C>,
    work: impl FnOnce() -> R,
) -> (R, [f64; EVENTS.len()]) {
    let mut counters = EVENTS.map(|event| open(event).ok());
    // A counter that does not start gives no number.
    for counter in &mut counters {
        counter.take_if(|counter| counter.start().is_err());
    }
    let done = work();
    let counts = counters.map(|counter| counter.and_then(|mut counter| counter.stop().ok()?.scaled()));
    (done, counts.map(|count| count.unwrap_or(f64::NAN)))
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use processor::open;

/// The counters of the processor, opened through the kernel.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod processor {
    use std::io;

    use perf_event::events::{Cache, CacheOp, CacheResult, Event as Kind, Hardware, WhichCache};

    use super::{Counter, Event, Reading};

    /// Opens a counter of `event` in the calling thread.
    pub(in super::super) fn open(event: Event) -> io::Result<perf_event::Counter> {
        let misses =
            |which| Kind::Cache(Cache { which, operation: CacheOp::READ, result: CacheResult::MISS });
        let kind = match event {
            Event::Instructions => Kind::Hardware(Hardware::INSTRUCTIONS),
            Event::L1iMisses => misses(WhichCache::L1I),
            Event::L1dMisses => misses(WhichCache::L1D),
            Event::BranchMisses => Kind::Hardware(Hardware::BRANCH_MISSES),
        };
        perf_event::Builder::new().kind(kind).build()
    }

    impl Counter for perf_event::Counter {
        fn start(&mut self) -> io::Result<()> {
            self.enable()
        }

        fn stop(&mut self) -> io::Result<Reading> {
            self.disable()?;
            let read = self.read_count_and_time()?;
            Ok(Reading { count: read.count, enabled_ns: read.time_enabled, running_ns: read.time_running })
        }
    }
}

/// Refuses every counter where there is no interface to them.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn open(_: Event) -> io::Result<std::convert::Infallible> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
impl Counter for std::convert::Infallible {
    fn start(&mut self) -> io::Result<()> {
        match *self {}
    }

    fn stop(&mut self) -> io::Result<Reading> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter that returns a number given before.
    struct Scripted {
        starts: bool,
        reading: Option<Reading>,
    }

    impl Counter for Scripted {
        fn start(&mut self) -> io::Result<()> {
            self.starts.then_some(()).ok_or(io::ErrorKind::Other.into())
        }

        fn stop(&mut self) -> io::Result<Reading> {
            self.reading.ok_or(io::ErrorKind::Other.into())
        }
    }

    fn counted(script: impl Fn(Event) -> io::Result<Scripted>) -> String {
        let (done, counts) = count(script, || 7);
        assert_eq!(done, 7);
        format!("{counts:?}")
    }

    #[test]
    fn counts_are_scaled_to_the_whole_time_and_missing_ones_are_nan() {
        let reading = |count, running_ns| Some(Reading { count, enabled_ns: 90, running_ns });
        let each = |event| match event {
            Event::Instructions => Ok(Scripted { starts: true, reading: reading(1000, 90) }),
            Event::L1iMisses => Ok(Scripted { starts: true, reading: reading(10, 30) }),
            Event::L1dMisses => Ok(Scripted { starts: true, reading: reading(0, 0) }),
            Event::BranchMisses => Err(io::ErrorKind::NotFound.into()),
        };
        assert_eq!(counted(each), "[1000.0, 30.0, NaN, NaN]");
        assert_eq!(
            counted(|_| Ok(Scripted { starts: false, reading: reading(1, 90) })),
            "[NaN, NaN, NaN, NaN]"
        );
        assert_eq!(counted(|_| Ok(Scripted { starts: true, reading: None })), "[NaN, NaN, NaN, NaN]");
    }

    #[test]
    fn an_event_whose_counter_the_kernel_refuses_is_not_counted() {
        let (sum, counts) = count(open, || (0..100_000_u64).fold(0, |sum: u64, i| sum.wrapping_mul(31) ^ i));
        assert_ne!(sum, 0);
        assert!(counts[0].is_nan() || open(Event::Instructions).is_ok(), "{counts:?}");
    }
}
