//! What one fetch showed, and the file that keeps it.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use tidegate_live::emulator::LinkReport;
use tidegate_live::fetch::Fetched;

use crate::exit::Failure;
use crate::results::cannot;

/// First line of the file.
const HEAD: &str = "cell\tscheme\tgoodput_mbps\tretransmitted_pct\tqueue_ms\trtt_ms\tlate_ms";

/// What one fetch showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// Content over the time of the fetch, Mbit/s.
    pub(super) goodput_mbps: f64,
    /// Of all Interests, percent.
    pub(super) retransmitted_pct: f64,
    /// Mean waiting time in the link's queue towards the consumer, ms; NaN without a link.
    pub(super) queue_ms: f64,
    /// Mean round-trip time, ms.
    pub(super) rtt_ms: f64,
    /// 99th percentile of the link's lateness, ms; 0 without a link.
    pub(super) late_ms: f64,
}

impl Measured {
    pub(super) fn of(fetched: &Fetched, link: Option<&LinkReport>) -> Self {
        let flow = &fetched.record.flows[0];
        let seconds = fetched.record.ended.since(flow.start).as_secs_f64();
        Self {
            goodput_mbps: flow.delivered_payload.get() as f64 * 8.0 / 1e6 / seconds,
            retransmitted_pct: 100.0 * flow.retransmissions as f64 / flow.interests.max(1) as f64,
            queue_ms: link.map_or(f64::NAN, |link| link.reverse.waiting.mean.as_millis_f64()),
            rtt_ms: flow.last_delay.mean.as_millis_f64(),
            late_ms: link
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

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { goodput_mbps, retransmitted_pct, queue_ms, rtt_ms, late_ms } = self;
        write!(
            f,
            "{goodput_mbps:.2} Mbit/s, {retransmitted_pct:.2} % retransmitted, queue {queue_ms:.1} ms, round trip \
             {rtt_ms:.1} ms, link late by {late_ms:.2} ms"
        )
    }
}

/// What was measured so far.
#[derive(Debug)]
pub(super) struct Results {
    path: PathBuf,
    rows: Vec<(String, String, Measured)>,
}

impl Results {
    /// Those in the file at `path`, which need not be there.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => format!("{HEAD}\n"),
            Err(why) => return Err(cannot("read", path, &why)),
        };
        let mut lines = text.lines().enumerate();
        let fault = |line: usize, expected: &str| {
            Failure::error(format!("{}:{}: expected {expected}", path.display(), line + 1))
        };
        if lines.next().is_none_or(|(_, line)| line != HEAD) {
            return Err(fault(0, "the columns of tidegate bench fetch"));
        }
        let mut rows = Vec::new();
        for (number, line) in lines {
            let fields: Vec<&str> = line.split('\t').collect();
            let [cell, scheme, values @ ..] = fields.as_slice() else {
                return Err(fault(number, "a cell, a scheme and five numbers"));
            };
            let measured = Measured::read(values).ok_or_else(|| fault(number, "five numbers"))?;
            rows.push(((*cell).to_owned(), (*scheme).to_owned(), measured));
        }
        Ok(Self { path: path.to_owned(), rows })
    }

    pub(super) fn has(&self, cell: &str, scheme: &str) -> bool {
        self.get(cell, scheme).is_some()
    }

    /// What `scheme` showed in `cell`; `None` when it was not measured.
    pub(super) fn get(&self, cell: &str, scheme: &str) -> Option<&Measured> {
        let found = self.rows.iter().find(|row| row.0 == cell && row.1 == scheme);
        found.map(|(.., measured)| measured)
    }

    /// Schemes in the order in which they were first measured.
    pub(super) fn schemes(&self) -> Vec<&str> {
        let mut schemes: Vec<&str> = Vec::new();
        for (_, scheme, _) in &self.rows {
            if !schemes.contains(&scheme.as_str()) {
                schemes.push(scheme);
            }
        }
        schemes
    }

    /// Keeps a measurement, on disk too.
    pub(super) fn add(&mut self, cell: &str, scheme: &str, measured: Measured) -> Result<(), Failure> {
        let is_new = !self.path.exists();
        let values = measured.values().map(|value| format!("{value:.4}")).join("\t");
        let head = if is_new { format!("{HEAD}\n") } else { String::new() };
        let line = format!("{head}{cell}\t{scheme}\t{values}\n");
        let written = OpenOptions::new().create(true).append(true).open(&self.path);
        let written = written.and_then(|mut file| file.write_all(line.as_bytes()));
        written.map_err(|why| cannot("write", &self.path, &why))?;
        self.rows.push((cell.to_owned(), scheme.to_owned(), measured));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_back_as_they_were_kept_and_what_is_none_is_named() {
        let path = std::env::temp_dir().join(format!("tidegate-bench-fetch-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let measured = Measured {
            goodput_mbps: 9.5,
            retransmitted_pct: 0.25,
            queue_ms: 1.0,
            rtt_ms: 21.0,
            late_ms: 0.5,
        };
        let mut results = Results::read(&path).expect("none yet");
        results.add("a cell", "icp", measured).expect("writable");
        results.add("a cell", "bbr", measured).expect("writable");
        let read = Results::read(&path).expect("sound");
        assert_eq!((read.get("a cell", "icp"), read.has("a cell", "fixed")), (Some(&measured), false));
        assert_eq!(read.schemes(), ["icp", "bbr"]);
        fs::write(&path, format!("{HEAD}\na\tb\t1\n")).expect("writable");
        let why = Results::read(&path).expect_err("too few").message;
        assert!(why.ends_with(":2: expected five numbers"), "{why}");
        fs::remove_file(&path).expect("removed");
    }
}
