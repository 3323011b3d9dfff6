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

    /// Head of its column, and its name in messages.
    pub(super) fn head(self) -> &'static str {
        match self {
            Self::Instructions => "instructions per hop",
            Self::L1iMisses => "L1i misses per hop",
            Self::L1dMisses => "L1d misses per hop",
            Self::BranchMisses => "branch misses per hop",
        }
    }
}

/// Count of a counter with the times, in ns, for which it was enabled and for which it ran in the processor.
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
    /// Starts to count the event, in addition to what was counted before.
    fn start(&mut self) -> io::Result<()>;

    /// Stops counting; the count is kept.
    fn stop(&mut self) -> io::Result<()>;

    /// The count so far.
    fn reading(&mut self) -> io::Result<Reading>;
}

/// Counters of all [`EVENTS`] in the calling thread, each with the error of one that does not count.
pub(super) struct Counters<C>([io::Result<C>; EVENTS.len()]);

impl<C: Counter> Counters<C> {
    /// Opens all of them; they do not count yet.
    pub(super) fn open(open: impl Fn(Event) -> io::Result<C>) -> Self {
        Self(EVENTS.map(open))
    }

    /// Counts while `work` is done, and returns its result.
    pub(super) fn during<R>(&mut self, work: impl FnOnce() -> R) -> R {
        self.each(C::start);
        let done = work();
        self.each(C::stop);
        done
    }

    /// A counter that fails gives no number.
    fn each(&mut self, action: fn(&mut C) -> io::Result<()>) {
        for counter in &mut self.0 {
            if let Ok(working) = counter
                && let Err(why) = action(working)
            {
                *counter = Err(why);
            }
        }
    }

    /// Count of each event, or the reason why there is none.
    fn counts(self) -> [io::Result<f64>; EVENTS.len()] {
        let never_ran = || io::Error::other("the processor has no free counter");
        self.0.map(|counter| counter?.reading()?.scaled().ok_or_else(never_ran))
    }

    /// Count of each event, NaN where there is none.
    pub(super) fn counts_or_nan(self) -> [f64; EVENTS.len()] {
        self.counts().map(|count| count.unwrap_or(f64::NAN))
    }
}

/// One line on the events that cannot be counted, with the reasons; `None` if all can.
pub(super) fn refusals<C: Counter>(open: impl Fn(Event) -> io::Result<C>) -> Option<String> {
    let mut counters = Counters::open(open);
    counters.during(|| ());
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (event, count) in EVENTS.into_iter().zip(counters.counts()) {
        let Err(why) = count else { continue };
        let reason = reason(&why);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, events)) => events.push(event.head()),
            None => reasons.push((reason, vec![event.head()])),
        }
    }
    let lines: Vec<String> =
        reasons.into_iter().map(|(reason, events)| format!("{} ({reason})", events.join(", "))).collect();
    (!lines.is_empty()).then(|| format!("not counted: {}", lines.join("; ")))
}

/// The reason of the kernel, with what it says about the machine.
fn reason(why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("no permission, see /proc/sys/kernel/perf_event_paranoid: {why}")
        }
        io::ErrorKind::NotFound | io::ErrorKind::Unsupported => {
            format!("not supported by this machine: {why}")
        }
        _ => why.to_string(),
    }
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

        fn stop(&mut self) -> io::Result<()> {
            self.disable()
        }

        fn reading(&mut self) -> io::Result<Reading> {
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

    fn stop(&mut self) -> io::Result<()> {
        match *self {}
    }

    fn reading(&mut self) -> io::Result<Reading> {
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
            self.starts.then_some(()).ok_or(io::ErrorKind::PermissionDenied.into())
        }

        fn stop(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn reading(&mut self) -> io::Result<Reading> {
            self.reading.ok_or(io::ErrorKind::Other.into())
        }
    }

    fn counted(script: impl Fn(Event) -> io::Result<Scripted>) -> String {
        let mut counters = Counters::open(script);
        assert_eq!(counters.during(|| 7), 7);
        format!("{:?}", counters.counts_or_nan())
    }

    fn reading(count: u64, running_ns: u64) -> Option<Reading> {
        Some(Reading { count, enabled_ns: 90, running_ns })
    }

    /// Two counters that count, one that never ran, and one that does not exist.
    fn each(event: Event) -> io::Result<Scripted> {
        match event {
            Event::Instructions => Ok(Scripted { starts: true, reading: reading(1000, 90) }),
            Event::L1iMisses => Ok(Scripted { starts: true, reading: reading(10, 30) }),
            Event::L1dMisses => Ok(Scripted { starts: true, reading: reading(0, 0) }),
            Event::BranchMisses => Err(io::ErrorKind::NotFound.into()),
        }
    }

    #[test]
    fn counts_are_scaled_to_the_whole_time_and_missing_ones_are_nan() {
        assert_eq!(counted(each), "[1000.0, 30.0, NaN, NaN]");
        assert_eq!(
            counted(|_| Ok(Scripted { starts: false, reading: reading(1, 90) })),
            "[NaN, NaN, NaN, NaN]"
        );
        assert_eq!(counted(|_| Ok(Scripted { starts: true, reading: None })), "[NaN, NaN, NaN, NaN]");
    }

    #[test]
    fn events_that_are_not_counted_are_listed_with_their_reasons_on_one_line() {
        let works = |_| Ok(Scripted { starts: true, reading: reading(1, 90) });
        assert_eq!(refusals(works), None);
        assert_eq!(
            refusals(each).expect("two are missing"),
            "not counted: L1d misses per hop (the processor has no free counter); \
             branch misses per hop (not supported by this machine: entity not found)"
        );
        let denied = refusals(|_| Ok(Scripted { starts: false, reading: None })).expect("none starts");
        assert!(
            denied.contains("instructions per hop, L1i misses per hop, L1d misses per hop, branch"),
            "{denied}"
        );
        assert!(denied.contains("(no permission") && !denied.contains('\n'), "{denied}");
    }

    fn folded() -> u64 {
        (0..100_000_u64).fold(0, |sum: u64, i| std::hint::black_box(sum.wrapping_mul(31) ^ i))
    }

    #[test]
    fn what_is_done_between_two_counted_parts_is_not_counted() {
        let (mut parts, mut between) = (Counters::open(open), Counters::open(open));
        parts.during(folded);
        between.during(|| (0..10).map(|_| folded()).fold(0, u64::wrapping_add));
        parts.during(folded);
        let (parts, between) = (parts.counts_or_nan()[0], between.counts_or_nan()[0]);
        // Each of the 100,000 steps takes an instruction or more; the two parts have a fifth of the steps between.
        if open(Event::Instructions).is_ok() {
            assert!(parts > 200_000.0 && parts < between / 2.0, "{parts} and {between} instructions");
        } else {
            assert!(parts.is_nan() && between.is_nan(), "{parts} and {between} instructions");
        }
    }
}
