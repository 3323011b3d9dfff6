//! Counters and tables of all workers, for datasets, status and metrics.

use std::time::Instant;

use super::super::Daemon;
use super::super::status::StatusLine;
use super::orders::{ControlChannels, Order, PATIENCE};
use crate::nfd::{CsInfo, FaceRecord, ForwarderStatus};

/// Keys of the line about the forwarder that are not sums.
const NO_SUMS: [&str; 2] = ["version", "uptime_s"];

/// State of one worker.
#[derive(Debug, Default)]
pub(in super::super) struct Report {
    pub general: ForwarderStatus,
    pub store: CsInfo,
    /// Faces whose sockets the worker has.
    pub faces: Vec<FaceRecord>,
    /// Line about the forwarder.
    pub forwarder: StatusLine,
    /// Lines about these faces.
    pub face_lines: Vec<StatusLine>,
    pub flow_lines: Vec<StatusLine>,
}

/// The last reports of the other workers.
#[derive(Debug, Default)]
pub(in super::super) struct Reports {
    last: Vec<Report>,
    /// Number of reports that have not come yet.
    missing: usize,
    /// Whether requests to management wait for them.
    is_awaited: bool,
    /// Whether all that such requests waited for have come.
    is_fresh: bool,
}

impl Daemon {
    /// State of this worker.
    pub(super) fn report(&self) -> Report {
        Report {
            general: self.own_general_status(),
            store: self.own_cs_info(),
            faces: self.own_face_records(),
            forwarder: self.status_of_forwarder(),
            face_lines: self.own_face_lines(),
            flow_lines: self.flows.lines().collect(),
        }
    }

    fn reports_mut(&mut self) -> Option<&mut Reports> {
        match &mut self.workers.as_mut()?.control {
            ControlChannels::First(first) => Some(&mut first.reports),
            ControlChannels::Other(_) => None,
        }
    }

    /// The last reports of the other workers.
    pub(in super::super) fn reports(&self) -> &[Report] {
        match self.workers.as_ref().map(|workers| &workers.control) {
            Some(ControlChannels::First(first)) => &first.reports.last,
            _ => &[],
        }
    }

    /// Requests a report of every other worker, unless the last ones are still to come.
    pub(in super::super) fn request_reports(&mut self) {
        let Some(workers) = &mut self.workers else { return };
        let others = workers.others().count();
        let ControlChannels::First(first) = &mut workers.control else { return };
        if first.reports.missing == 0 {
            first.reports.missing = others;
            first.reports.is_fresh = false;
            workers.order_all(|_| Order::Report);
        }
    }

    pub(super) fn keep_report(&mut self, worker: usize, report: Report) {
        let Some(reports) = self.reports_mut() else { return };
        if reports.last.len() < worker {
            reports.last.resize_with(worker, Report::default);
        }
        reports.last[worker - 1] = report;
        reports.missing = reports.missing.saturating_sub(1);
        reports.is_fresh = reports.missing == 0 && reports.is_awaited;
    }

    /// Whether reports have to come before requests to management are answered; requests them.
    pub(in super::super) fn awaits_reports(&mut self) -> bool {
        let Some(reports) = self.reports_mut() else { return false };
        reports.is_awaited = !std::mem::take(&mut reports.is_fresh);
        let is_awaited = reports.is_awaited;
        if is_awaited {
            self.request_reports();
        }
        is_awaited
    }

    /// Requests reports and waits for them, for a final status.
    pub(in super::super) fn collect_reports(&mut self) {
        self.request_reports();
        let until = Instant::now() + PATIENCE;
        while self.reports_mut().is_some_and(|reports| reports.missing > 0) {
            let Some((worker, notice)) = self.await_notice(until) else { return };
            self.take_notice(worker, notice);
        }
    }
}

/// The line about the forwarder, of all workers together.
pub(in super::super) fn sum_of_forwarder(mut own: StatusLine, others: &[Report]) -> StatusLine {
    for (key, value) in &mut own.fields {
        let Some(sum) = value.parse::<u64>().ok().filter(|_| !NO_SUMS.contains(&&**key)) else { continue };
        let more = others.iter().filter_map(|report| report.forwarder.get(key)?.parse::<u64>().ok());
        *value = (sum + more.sum::<u64>()).to_string();
    }
    own
}

/// Lines about flows, of which each worker has counted a part.
pub(in super::super) fn sum_of_flows(own: Vec<StatusLine>, others: &[Report]) -> Vec<StatusLine> {
    let mut sums = own;
    for line in others.iter().flat_map(|report| &report.flow_lines) {
        let is_it = |known: &&mut StatusLine| known.get("prefix") == line.get("prefix");
        match sums.iter_mut().find(is_it) {
            Some(sum) => add(sum, line),
            None => sums.push(line.clone()),
        }
    }
    sums
}

fn add(sum: &mut StatusLine, line: &StatusLine) {
    for (key, value) in &mut sum.fields {
        if let (Ok(one), Some(Ok(more))) = (value.parse::<u64>(), line.get(key).map(str::parse::<u64>)) {
            *value = (one + more).to_string();
        }
    }
}
