//! Measurements of fetches, and the file that stores them.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use tidegate_live::emulator::LinkReport;
use tidegate_live::fetch::Fetched;

use crate::exit::Failure;
use crate::results::cannot;

/// First line of the file.
const HEAD: &str = "cell\tscheme\tbuild\ttime_s\tgoodput_mbps\tretransmitted_pct\tqueue_ms\trtt_ms\tlate_ms";

/// Measurements of one fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FetchMeasurement {
    /// Content over the time of the fetch, Mbit/s.
    pub(super) goodput_mbps: f64,
    /// Retransmissions, percent of all Interests.
    pub(super) retransmitted_pct: f64,
    /// Mean waiting time in the link's queue towards the consumer, ms; NaN without a link.
    pub(super) queue_ms: f64,
    /// Mean round-trip time, ms.
    pub(super) rtt_ms: f64,
    /// 99th percentile of the link's lateness, ms; 0 without a link.
    pub(super) late_ms: f64,
}

impl FetchMeasurement {
    /// Takes the measures from one transfer and its emulated link.
    pub(super) fn of(fetched: &Fetched, link: Option<&LinkReport>) -> Self {
        let flow = &fetched.record.flows[0];
        let seconds = fetched.record.ended.since(flow.start).as_secs_f64();
        Self {
            goodput_mbps: flow.delivered_payload.get() as f64 * 8.0 / 1e6 / seconds,
            retransmitted_pct: 100.0 * flow.retransmissions as f64 / flow.interests.max(1) as f64,
            queue_ms: link.map_or(f64::NAN, |link| link.reverse.waiting.mean.as_millis_f64()),
            rtt_ms: flow.last_delay.mean.as_millis_f64(),
            late_ms: link
                // The later direction: Interests that leave late delay the Data as much as late Data do.
                .map_or(0.0, |link| link.reverse.lateness.p99.max(link.forward.lateness.p99).as_millis_f64()),
        }
    }

    const fn values(&self) -> [f64; 5] {
        [self.goodput_mbps, self.retransmitted_pct, self.queue_ms, self.rtt_ms, self.late_ms]
    }

    fn read(values: &[&str]) -> Option<Self> {
        let values: Result<Vec<f64>, _> = values.iter().map(|value| value.parse()).collect();
        let [goodput_mbps, retransmitted_pct, queue_ms, rtt_ms, late_ms] = values.ok()?.try_into().ok()?;
        Some(Self { goodput_mbps, retransmitted_pct, queue_ms, rtt_ms, late_ms })
    }
}

impl fmt::Display for FetchMeasurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { goodput_mbps, retransmitted_pct, queue_ms, rtt_ms, late_ms } = self;
        write!(
            f,
            "{goodput_mbps:.2} Mbit/s, {retransmitted_pct:.2} % retransmitted, round trip {rtt_ms:.1} ms"
        )?;
        if queue_ms.is_nan() {
            return Ok(());
        }
        write!(f, ", queue {queue_ms:.1} ms, link late by {late_ms:.2} ms")
    }
}

/// Inputs of a measurement except its cell and its scheme.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Origin {
    /// First digits of the hash of the program.
    pub(super) build: String,
    /// Maximum duration of the fetch, s.
    pub(super) time_s: f64,
}

#[derive(Debug)]
struct MeasurementRow {
    cell: String,
    scheme: String,
    origin: Origin,
    measured: FetchMeasurement,
}

impl MeasurementRow {
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [cell, scheme, build, time_s, values @ ..] = fields.as_slice() else { return None };
        let origin = Origin { build: (*build).to_owned(), time_s: time_s.parse().ok()? };
        let measured = FetchMeasurement::read(values)?;
        Some(Self { cell: (*cell).to_owned(), scheme: (*scheme).to_owned(), origin, measured })
    }

    fn line(&self) -> String {
        let Self { cell, scheme, origin: Origin { build, time_s }, measured } = self;
        let values = measured.values().map(|value| format!("{value:.4}")).join("\t");
        format!("{cell}\t{scheme}\t{build}\t{time_s}\t{values}\n")
    }
}

/// Measurements so far that may be used.
#[derive(Debug)]
pub(super) struct FetchMeasurements {
    path: PathBuf,
    origin: Origin,
    rows: Vec<MeasurementRow>,
    /// Measurements in the file that are of another build or length.
    pub(super) left_out: usize,
}

impl FetchMeasurements {
    /// The usable measurements of the file at `path`, none if there is no such file: those of the same
    /// duration as `origin`, and of the same build unless `is_any_build`.
    ///
    /// # Errors
    /// An unreadable file, other columns than those of this version, or a line that is not a measurement.
    pub(super) fn read(path: &Path, origin: Origin, is_any_build: bool) -> Result<Self, Failure> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            // The first run has no file yet: it is read as one without measurements.
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => format!("{HEAD}\n"),
            Err(why) => return Err(cannot("read", path, &why)),
        };
        let mut lines = text.lines().enumerate();
        let fault = |line: usize, expected: &str| {
            Failure::error(format!("{}:{}: expected {expected}", path.display(), line + 1))
        };
        if lines.next().is_none_or(|(_, line)| line != HEAD) {
            return Err(fault(0, "the columns that this version of tidegate bench fetch writes"));
        }
        let mut results = Self { path: path.to_owned(), origin, rows: Vec::new(), left_out: 0 };
        for (number, line) in lines {
            let row = MeasurementRow::read(line)
                .ok_or_else(|| fault(number, "a cell, a scheme, a build, a time in s and five numbers"))?;
            let (own, other) = (&results.origin, &row.origin);
            if other.time_s == own.time_s && (is_any_build || other.build == own.build) {
                results.rows.push(row);
            } else {
                results.left_out += 1;
            }
        }
        Ok(results)
    }

    /// Whether there is a usable measurement of `scheme` in `cell`.
    pub(super) fn has(&self, cell: &str, scheme: &str) -> bool {
        self.get(cell, scheme).is_some()
    }

    /// The latest measurement of `scheme` in `cell`; `None` if there is none.
    pub(super) fn get(&self, cell: &str, scheme: &str) -> Option<&FetchMeasurement> {
        // With `--any-build` several builds may have measured the same; the file is in order of time.
        let found = self.rows.iter().rev().find(|row| row.cell == cell && row.scheme == scheme);
        found.map(|row| &row.measured)
    }

    /// Schemes in the order in which they were first measured, `first` before all others.
    pub(super) fn schemes(&self, first: &str) -> Vec<&str> {
        let mut schemes = distinct(self.rows.iter().map(|row| row.scheme.as_str()));
        schemes.sort_by_key(|scheme| *scheme != first);
        schemes
    }

    /// Builds that measured, in the order of their first measurement.
    pub(super) fn builds(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.origin.build.as_str()))
    }

    /// Adds a measurement and appends it to the file.
    pub(super) fn add(
        &mut self,
        cell: &str,
        scheme: &str,
        measured: FetchMeasurement,
    ) -> Result<(), Failure> {
        let head = if self.path.exists() { String::new() } else { format!("{HEAD}\n") };
        let origin = self.origin.clone();
        let row = MeasurementRow { cell: cell.to_owned(), scheme: scheme.to_owned(), origin, measured };
        let written = OpenOptions::new().create(true).append(true).open(&self.path);
        let written = written.and_then(|mut file| file.write_all((head + &row.line()).as_bytes()));
        written.map_err(|why| cannot("write", &self.path, &why))?;
        self.rows.push(row);
        Ok(())
    }
}

/// Each of `words` once, in the order of their first occurrence.
fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known: Vec<&str> = Vec::new();
    for word in words {
        if !known.contains(&word) {
            known.push(word);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: FetchMeasurement = FetchMeasurement {
        goodput_mbps: 9.5,
        retransmitted_pct: 0.25,
        queue_ms: 1.0,
        rtt_ms: 21.0,
        late_ms: 0.5,
    };

    fn origin(build: &str, time_s: f64) -> Origin {
        Origin { build: build.to_owned(), time_s }
    }

    fn file(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tidegate-bench-fetch-{test}-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        path
    }

    #[test]
    fn results_are_read_back_as_they_were_kept_and_what_is_none_is_named() {
        let path = file("read-back");
        let mut results = FetchMeasurements::read(&path, origin("a", 8.0), false).expect("none yet");
        results.add("a cell", "icp", MEASURED).expect("writable");
        results.add("a cell", "bbr", MEASURED).expect("writable");
        let read = FetchMeasurements::read(&path, origin("a", 8.0), false).expect("sound");
        assert_eq!((read.get("a cell", "icp"), read.has("a cell", "fixed")), (Some(&MEASURED), false));
        assert_eq!((read.schemes("bbr"), read.left_out), (vec!["bbr", "icp"], 0));
        fs::write(&path, format!("{HEAD}\na\tb\t1\n")).expect("writable");
        let why = FetchMeasurements::read(&path, origin("a", 8.0), false).expect_err("too few").message;
        assert!(
            why.ends_with(":2: expected a cell, a scheme, a build, a time in s and five numbers"),
            "{why}"
        );
        fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn what_another_build_measured_is_used_only_when_that_is_requested_and_another_length_never() {
        let path = file("builds");
        let mut old = FetchMeasurements::read(&path, origin("a", 8.0), false).expect("none yet");
        old.add("a cell", "icp", MEASURED).expect("writable");
        let seen = |build: &str, time_s: f64, is_any_build: bool| {
            let read = FetchMeasurements::read(&path, origin(build, time_s), is_any_build).expect("sound");
            (read.has("a cell", "icp"), read.left_out)
        };
        assert_eq!(seen("b", 8.0, false), (false, 1));
        assert_eq!(seen("b", 8.0, true), (true, 0));
        assert_eq!(seen("b", 1.0, true), (false, 1));
        let mut new = FetchMeasurements::read(&path, origin("b", 8.0), true).expect("sound");
        new.add("a cell", "icp", FetchMeasurement { goodput_mbps: 1.0, ..MEASURED }).expect("writable");
        assert_eq!(new.get("a cell", "icp").map(|last| last.goodput_mbps), Some(1.0), "the last counts");
        assert_eq!(new.builds(), ["a", "b"]);
        fs::remove_file(&path).expect("removed");
    }
}
