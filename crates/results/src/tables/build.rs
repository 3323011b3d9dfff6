//! Builds columns from run records.

use std::collections::BTreeMap;

use tidegate_core::ndn::name::{Name, Segment};
use tidegate_core::observe::event::{Cause, Event};
use tidegate_core::observe::records::{
    DelaySummary, EventRecord, FlowRecord, LinkRecord, MediumRecord, NodeRecord, RunRecord,
};
use tidegate_core::units::{Span, Time};

use super::{Column, ColumnData, ResultTable, RunContext};
use crate::measures;

/// The tables of `runs`, in this order: `runs`, `flows`, `links`, `nodes`, `media`, `flow_samples`, `link_samples`, and
/// `events` if a run recorded any. Rows are in the order of the runs.
///
/// # Panics
/// When the columns of a run's samples differ in length.
pub fn build(runs: &[RunRecord], context: &RunContext) -> Vec<ResultTable> {
    let mut tables = Vec::from(build_summaries(runs, context));
    tables.push(ResultTable::new("nodes", node_columns(runs, context), context));
    tables.push(ResultTable::new("media", medium_columns(runs, context), context));
    tables.push(ResultTable::new("flow_samples", flow_sample_columns(runs, context), context));
    tables.push(ResultTable::new("link_samples", link_sample_columns(runs, context), context));
    if runs.iter().any(|run| !run.events.is_empty()) {
        tables.push(ResultTable::new("events", event_columns(runs, context), context));
    }
    tables
}

/// The tables `runs`, `flows` and `links` alone, for pages.
pub fn build_summaries(runs: &[RunRecord], context: &RunContext) -> [ResultTable; 3] {
    [
        ResultTable::new("runs", run_columns(runs, context), context),
        ResultTable::new("flows", flow_columns(runs, context), context),
        ResultTable::new("links", link_columns(runs, context), context),
    ]
}

/// The table `name` without rows, for the columns and types of its files.
pub(super) fn shape(name: &'static str) -> ResultTable {
    let context = RunContext::default();
    let columns = match name {
        "runs" => run_columns(&[], &context),
        "flows" => flow_columns(&[], &context),
        "links" => link_columns(&[], &context),
        "nodes" => node_columns(&[], &context),
        "media" => medium_columns(&[], &context),
        "flow_samples" => flow_sample_columns(&[], &context),
        "link_samples" => link_sample_columns(&[], &context),
        "events" => event_columns(&[], &context),
        _ => unreachable!("no table is named {name:?}"),
    };
    ResultTable::new(name, columns, &context)
}

/// Rows of one table, each with the values from which its columns are computed.
struct Rows<R>(Vec<R>);

impl<R> Rows<R> {
    fn u32(&self, name: &str, value: impl Fn(&R) -> u32) -> Column {
        Column::full(name, ColumnData::U32(self.0.iter().map(value).collect()))
    }

    fn u64(&self, name: &str, value: impl Fn(&R) -> u64) -> Column {
        Column::full(name, ColumnData::U64(self.0.iter().map(value).collect()))
    }

    fn f64(&self, name: &str, value: impl Fn(&R) -> f64) -> Column {
        Column::full(name, ColumnData::F64(self.0.iter().map(value).collect()))
    }

    fn text<'a>(&self, name: &str, value: impl Fn(&R) -> &'a str) -> Column {
        let mut labels = Labels::default();
        let index = self.0.iter().map(|row| labels.index(value(row))).collect();
        Column::full(name, ColumnData::Text { names: labels.names, index })
    }

    fn maybe_u32(&self, name: &str, value: impl Fn(&R) -> Option<u32>) -> Column {
        let (values, present) = self.split(value);
        Column::nullable(name, ColumnData::U32(values), present)
    }

    fn maybe_u64(&self, name: &str, value: impl Fn(&R) -> Option<u64>) -> Column {
        let (values, present) = self.split(value);
        Column::nullable(name, ColumnData::U64(values), present)
    }

    /// A column in which numbers that are not finite are missing.
    fn maybe_f64(&self, name: &str, value: impl Fn(&R) -> Option<f64>) -> Column {
        let (values, present) = self.split(|row| value(row).filter(|value| value.is_finite()));
        Column::nullable(name, ColumnData::F64(values), present)
    }

    fn maybe_bool(&self, name: &str, value: impl Fn(&R) -> Option<bool>) -> Column {
        let (values, present) = self.split(value);
        Column::nullable(name, ColumnData::Bool(values), present)
    }

    fn maybe_ms(&self, name: &str, value: impl Fn(&R) -> Option<Span>) -> Column {
        self.maybe_f64(name, |row| value(row).map(Span::as_millis_f64))
    }

    /// The six columns `<stem>_{mean,min,p50,p95,p99,max}_ms`.
    fn delay(&self, stem: &str, value: impl Fn(&R) -> DelaySummary) -> Vec<Column> {
        type Part = fn(&DelaySummary) -> Span;
        let parts: [(&str, Part); 6] = [
            ("mean", |delay| delay.mean),
            ("min", |delay| delay.min),
            ("p50", |delay| delay.p50),
            ("p95", |delay| delay.p95),
            ("p99", |delay| delay.p99),
            ("max", |delay| delay.max),
        ];
        let column = |(part, pick): &(&str, Part)| {
            self.maybe_ms(&format!("{stem}_{part}_ms"), |row| {
                let delay = value(row);
                (delay.count > 0).then(|| pick(&delay))
            })
        };
        parts.iter().map(column).collect()
    }

    fn split<T: Default>(&self, value: impl Fn(&R) -> Option<T>) -> (Vec<T>, Vec<bool>) {
        let values = self.0.iter().map(value);
        values
            .map(|value| (value.is_some(), value))
            .map(|(some, value)| (value.unwrap_or_default(), some))
            .unzip()
    }
}

/// Distinct texts in order of first use.
#[derive(Default)]
struct Labels<'a> {
    names: Vec<String>,
    known: BTreeMap<&'a str, u32>,
}

impl<'a> Labels<'a> {
    fn index(&mut self, text: &'a str) -> u32 {
        *self.known.entry(text).or_insert_with(|| {
            self.names.push(text.to_owned());
            (self.names.len() - 1) as u32
        })
    }
}

/// Each run with its position in the plan.
fn numbered<'a>(runs: &'a [RunRecord], context: &RunContext) -> impl Iterator<Item = (u32, &'a RunRecord)> {
    (context.first_run..).zip(runs)
}

fn run_columns(runs: &[RunRecord], context: &RunContext) -> Vec<Column> {
    let rows = Rows(numbered(runs, context).collect());
    let flows = |run: &RunRecord, of: fn(&FlowRecord) -> u64| run.flows.iter().map(of).sum::<u64>();
    let links = |run: &RunRecord, of: fn(&LinkRecord) -> u64| run.links.iter().map(of).sum::<u64>();
    vec![
        rows.u32("run", |(number, _)| *number),
        rows.u64("seed", |(_, run)| run.seed),
        rows.text("scenario", |(_, run)| &run.scenario),
        rows.f64("ended_s", |(_, run)| run.ended.as_secs_f64()),
        rows.u64("packet_hops", |(_, run)| run.packet_hops),
        rows.u64("flows", |(_, run)| run.flows.len() as u64),
        rows.u64("completed_flows", |(_, run)| flows(run, |flow| u64::from(flow.completed.is_some()))),
        rows.maybe_f64("total_goodput_mbps", |(_, run)| measures::total_goodput_mbps(run)),
        rows.maybe_f64("jain_index", |(_, run)| measures::run_jain_index(run)),
        rows.maybe_f64("completion_mean_s", |(_, run)| measures::completion_mean_s(run)),
        rows.maybe_f64("full_delay_mean_ms", |(_, run)| measures::delay_mean_ms(run, |flow| flow.full_delay)),
        rows.maybe_f64("last_delay_mean_ms", |(_, run)| measures::delay_mean_ms(run, |flow| flow.last_delay)),
        rows.u64("interests", |(_, run)| flows(run, |flow| flow.interests)),
        rows.u64("retransmissions", |(_, run)| flows(run, |flow| flow.retransmissions)),
        rows.u64("timeouts", |(_, run)| flows(run, |flow| flow.timeouts)),
        rows.u64("dropped_packets", |(_, run)| links(run, |link| link.dropped_packets)),
        rows.u64("lost_packets", |(_, run)| links(run, |link| link.lost_packets)),
        rows.u64("marked_packets", |(_, run)| links(run, |link| link.marked_packets)),
    ]
}

/// One row per flow or link: number of its run, the run, its index, itself.
type Part<'a, R> = (u32, &'a RunRecord, u32, &'a R);

fn parts<'a, R>(
    runs: &'a [RunRecord],
    context: &RunContext,
    of: impl Fn(&'a RunRecord) -> &'a [R],
) -> Rows<Part<'a, R>> {
    let of = &of;
    let parts = |(number, run)| (0..).zip(of(run)).map(move |(index, part)| (number, run, index, part));
    Rows(numbered(runs, context).flat_map(parts).collect())
}

fn flow_columns(runs: &[RunRecord], context: &RunContext) -> Vec<Column> {
    let rows = parts(runs, context, |run| run.flows.as_slice());
    let count =
        |name, of: fn(&FlowRecord) -> u64| rows.u64(name, move |row: &Part<'_, FlowRecord>| of(row.3));
    let seconds = |name, of: fn(&FlowRecord) -> Option<f64>| {
        rows.maybe_f64(name, move |row: &Part<'_, FlowRecord>| of(row.3))
    };
    let mut columns = vec![
        rows.u32("run", |row| row.0),
        rows.u64("seed", |row| row.1.seed),
        rows.u32("flow", |row| row.2),
        rows.text("name", |row| &row.3.name),
        rows.text("consumer", |row| &row.3.consumer),
        rows.text("producer", |row| &row.3.producer),
        rows.text("prefix", |row| &row.3.prefix),
        rows.text("scheme", |row| &row.3.scheme),
        rows.f64("start_s", |row| row.3.start.as_secs_f64()),
        seconds("completed_s", |flow| flow.completed.map(|end| end.as_secs_f64())),
        seconds("stopped_s", |flow| flow.stopped.map(|end| end.as_secs_f64())),
        seconds("completion_s", |flow| flow.completion_time().map(Span::as_secs_f64)),
        rows.maybe_u64("segments", |row| row.3.segments),
        count("delivered_segments", |flow| flow.delivered_segments),
        count("delivered_bytes", |flow| flow.delivered_payload.get()),
        rows.maybe_f64("goodput_mbps", |row| measures::goodput_mbps(row.3, row.1.ended)),
        count("interests", |flow| flow.interests),
        count("retransmissions", |flow| flow.retransmissions),
        seconds("retransmission_ratio", measures::retransmission_ratio),
        count("timeouts", |flow| flow.timeouts),
        count("duplicates", |flow| flow.duplicates),
        count("nacks", |flow| flow.nacks),
        count("marks", |flow| flow.marks),
        count("loss_notices", |flow| flow.loss_notices),
        count("abandoned", |flow| flow.abandoned),
        seconds("final_window_packets", |flow| Some(flow.final_window_packets)),
    ];
    columns.extend(rows.delay("full_delay", |row| row.3.full_delay));
    columns.extend(rows.delay("last_delay", |row| row.3.last_delay));
    columns
}

fn link_columns(runs: &[RunRecord], context: &RunContext) -> Vec<Column> {
    let rows = parts(runs, context, |run| run.links.as_slice());
    let count =
        |name, of: fn(&LinkRecord) -> u64| rows.u64(name, move |row: &Part<'_, LinkRecord>| of(row.3));
    let throughput = |row: &Part<'_, LinkRecord>| {
        measures::rate_mbps(row.3.sent_bytes.get(), row.1.ended.since(Default::default()))
    };
    let mut columns = vec![
        rows.u32("run", |row| row.0),
        rows.u64("seed", |row| row.1.seed),
        rows.u32("link", |row| row.2),
        rows.text("from", |row| &row.3.from),
        rows.text("to", |row| &row.3.to),
        rows.f64("rate_mbps", |row| row.3.rate.as_mbps()),
        rows.f64("mean_rate_mbps", |row| row.3.mean_rate.as_mbps()),
        rows.f64("delay_ms", |row| row.3.delay.as_millis_f64()),
        rows.maybe_f64("throughput_mbps", throughput),
        rows.maybe_f64("utilisation", |row| measures::utilisation(row.3, row.1.ended)),
        count("offered_packets", |link| link.offered_packets),
        count("sent_packets", |link| link.sent_packets),
        count("sent_bytes", |link| link.sent_bytes.get()),
        count("delivered_packets", |link| link.delivered_packets),
        count("dropped_packets", |link| link.dropped_packets),
        count("lost_packets", |link| link.lost_packets),
        count("sent_frames", |link| link.sent_frames),
        count("lost_frames", |link| link.lost_frames),
        count("resent_frames", |link| link.resent_frames),
        count("marked_packets", |link| link.marked_packets),
        count("stored_packets", |link| link.stored_packets),
        count("released_packets", |link| link.released_packets),
        count("notices", |link| link.notices),
        count("peak_queue_packets", |link| link.peak_queue_packets),
    ];
    columns.extend(rows.delay("queue_delay", |row| row.3.queue_delay));
    columns
}

fn node_columns(runs: &[RunRecord], context: &RunContext) -> Vec<Column> {
    let rows = parts(runs, context, |run| run.nodes.as_slice());
    let count =
        |name, of: fn(&NodeRecord) -> u64| rows.u64(name, move |row: &Part<'_, NodeRecord>| of(row.3));
    vec![
        rows.u32("run", |row| row.0),
        rows.u64("seed", |row| row.1.seed),
        rows.text("node", |row| &row.3.name),
        count("cache_hits", |node| node.cache_hits),
        count("cache_misses", |node| node.cache_misses),
        count("cached_packets", |node| node.cached_packets),
        count("service_drops", |node| node.service_drops),
        count("pit_peak_entries", |node| node.pit_peak_entries),
        count("timer_wakeups", |node| node.wakeups),
    ]
}

fn medium_columns(runs: &[RunRecord], context: &RunContext) -> Vec<Column> {
    let rows = parts(runs, context, |run| run.media.as_slice());
    let count =
        |name, of: fn(&MediumRecord) -> u64| rows.u64(name, move |row: &Part<'_, MediumRecord>| of(row.3));
    vec![
        rows.u32("run", |row| row.0),
        rows.u64("seed", |row| row.1.seed),
        rows.text("medium", |row| &row.3.name),
        rows.maybe_f64("airtime", |row| measures::airtime(row.3, row.1.ended)),
        rows.f64("busy_s", |row| row.3.busy.as_secs_f64()),
        count("transmissions", |medium| medium.transmissions),
        count("collisions", |medium| medium.collisions),
        count("retries", |medium| medium.retries),
        count("delivered_frames", |medium| medium.delivered_frames),
        count("given_up_frames", |medium| medium.given_up_frames),
    ]
}

/// The columns of all runs' samples joined; `of` appends one run's part.
fn joined<T>(runs: &[RunRecord], rows: usize, of: impl Fn(&RunRecord, &mut Vec<T>)) -> Vec<T> {
    let mut values = Vec::with_capacity(rows);
    for run in runs {
        of(run, &mut values);
    }
    values
}

/// `run` and `seed` for samples or events, of which a run has `rows_of`.
fn identity(runs: &[RunRecord], context: &RunContext, rows_of: fn(&RunRecord) -> usize) -> Vec<Column> {
    let rows = runs.iter().map(rows_of).sum();
    let (mut numbers, mut seeds) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for (number, run) in numbered(runs, context) {
        numbers.resize(numbers.len() + rows_of(run), number);
        seeds.resize(seeds.len() + rows_of(run), run.seed);
    }
    vec![Column::full("run", ColumnData::U32(numbers)), Column::full("seed", ColumnData::U64(seeds))]
}

fn flow_sample_columns(runs: &[RunRecord], context: &RunContext) -> Vec<Column> {
    let rows_of = |run: &RunRecord| run.flow_samples.time.len();
    let rows = runs.iter().map(rows_of).sum();
    let time = joined(runs, rows, |run, out| {
        out.extend(run.flow_samples.time.iter().map(|time| time.as_secs_f64()))
    });
    let flow = joined(runs, rows, |run, out| out.extend_from_slice(&run.flow_samples.flow));
    let window = joined(runs, rows, |run, out| out.extend_from_slice(&run.flow_samples.window_packets));
    let in_flight = joined(runs, rows, |run, out| out.extend_from_slice(&run.flow_samples.in_flight_packets));
    let delivered =
        joined(runs, rows, |run, out| out.extend_from_slice(&run.flow_samples.delivered_segments));
    let rtt: Vec<f32> = joined(runs, rows, |run, out| {
        out.extend(run.flow_samples.smoothed_rtt.iter().map(|rtt| rtt.as_millis_f64() as f32));
    });
    let pacing = joined(runs, rows, |run, out| out.extend_from_slice(&run.flow_samples.pacing_per_second));
    let marks = joined(runs, rows, |run, out| out.extend_from_slice(&run.flow_samples.marks));
    let retransmissions =
        joined(runs, rows, |run, out| out.extend_from_slice(&run.flow_samples.retransmissions));
    let has_window = window.iter().map(|window| window.is_finite()).collect();
    let has_pacing = pacing.iter().map(|pacing| pacing.is_finite()).collect();
    // Zero stands for "no sample yet", infinite for "no window" and "not paced"; files have them as missing.
    let has_rtt = rtt.iter().map(|rtt| *rtt > 0.0).collect();
    let mut columns = identity(runs, context, rows_of);
    columns.extend([
        Column::full("time_s", ColumnData::F64(time)),
        Column::full("flow", ColumnData::U32(flow)),
        sampled_text(
            runs,
            "name",
            |run| (run.flow_samples.flow.as_slice(), run.flows.as_slice()),
            |flow| &flow.name,
        ),
        goodput_column(runs),
        Column::nullable("window_packets", ColumnData::F32(window), has_window),
        Column::full("in_flight_packets", ColumnData::U32(in_flight)),
        Column::full("delivered_segments", ColumnData::U64(delivered)),
        Column::nullable("smoothed_rtt_ms", ColumnData::F32(rtt), has_rtt),
        Column::nullable("pacing_per_second", ColumnData::F32(pacing), has_pacing),
        Column::full("marks", ColumnData::U32(marks)),
        Column::full("retransmissions", ColumnData::U32(retransmissions)),
    ]);
    columns
}

/// A text of each sample's flow or link; empty for an index that no record has.
fn sampled_text<R>(
    runs: &[RunRecord],
    name: &str,
    of: impl Fn(&RunRecord) -> (&[u32], &[R]),
    text: impl Fn(&R) -> &str,
) -> Column {
    let mut labels = Labels::default();
    let mut index = Vec::new();
    for run in runs {
        let (rows, records) = of(run);
        let of_record: Vec<u32> = records.iter().map(|record| labels.index(text(record))).collect();
        // Without an orphan the empty label must not be added: the dictionary is part of the file.
        let nobody =
            if rows.iter().all(|row| (*row as usize) < records.len()) { 0 } else { labels.index("") };
        index.extend(rows.iter().map(|row| of_record.get(*row as usize).copied().unwrap_or(nobody)));
    }
    Column::full(name, ColumnData::Text { names: labels.names, index })
}

/// Goodput of each flow since its previous sample; missing at its first sample, before its start and after
/// its completion.
fn goodput_column(runs: &[RunRecord]) -> Column {
    let (mut values, mut present) = (Vec::new(), Vec::new());
    for run in runs {
        let samples = &run.flow_samples;
        let mut before: Vec<Option<(Time, u64)>> = vec![None; run.flows.len()];
        let rows = samples.time.iter().zip(&samples.flow).zip(&samples.delivered_segments);
        for ((time, flow), delivered) in rows {
            let goodput = run.flows.get(*flow as usize).and_then(|record| {
                let (since, had) = before[*flow as usize].replace((*time, *delivered))?;
                let is_outside = *time <= record.start || record.completed.is_some_and(|end| end <= since);
                // A restarted count would be negative goodput; zero is nearer to the truth.
                let bytes = measures::segments_bytes(record, delivered.saturating_sub(had));
                (!is_outside && *time > since).then(|| bytes * 8e-6 / time.since(since).as_secs_f64())
            });
            values.push(goodput.unwrap_or_default() as f32);
            present.push(goodput.is_some());
        }
    }
    Column::nullable("goodput_mbps", ColumnData::F32(values), present)
}

fn link_sample_columns(runs: &[RunRecord], context: &RunContext) -> Vec<Column> {
    type Counts = fn(&RunRecord) -> &[u32];
    let rows_of = |run: &RunRecord| run.link_samples.time.len();
    let rows = runs.iter().map(rows_of).sum();
    let time = joined(runs, rows, |run, out| {
        out.extend(run.link_samples.time.iter().map(|time| time.as_secs_f64()))
    });
    let sent = joined(runs, rows, |run, out| out.extend_from_slice(&run.link_samples.sent_bytes));
    let counts: [(&str, Counts); 7] = [
        ("link", |run| &run.link_samples.link),
        ("queue_packets", |run| &run.link_samples.queue_packets),
        ("queue_bytes", |run| &run.link_samples.queue_bytes),
        ("dropped_packets", |run| &run.link_samples.dropped_packets),
        ("side_store_packets", |run| &run.link_samples.stored_packets),
        ("marked_packets", |run| &run.link_samples.marked_packets),
        ("lost_packets", |run| &run.link_samples.lost_packets),
    ];
    let count = |(name, of): (&str, Counts)| {
        Column::full(name, ColumnData::U32(joined(runs, rows, |run, out| out.extend_from_slice(of(run)))))
    };
    let mut columns = identity(runs, context, rows_of);
    columns.push(Column::full("time_s", ColumnData::F64(time)));
    type End = fn(&LinkRecord) -> &str;
    let ends: [(&str, End); 2] = [("from", |link| &link.from), ("to", |link| &link.to)];
    let [index, counts @ ..] = counts.map(count);
    columns.push(index);
    columns.extend(ends.map(|(name, end)| {
        sampled_text(runs, name, |run| (run.link_samples.link.as_slice(), run.links.as_slice()), end)
    }));
    columns.extend(counts);
    columns.push(Column::full("sent_bytes", ColumnData::U64(sent)));
    columns
}

/// Closure that takes a field from events of one kind.
macro_rules! field {
    ($kind:ident, $field:ident) => {
        |row| match row.event {
            Event::$kind { $field, .. } => Some($field),
            _ => None,
        }
    };
}

fn event_columns(runs: &[RunRecord], context: &RunContext) -> Vec<Column> {
    let rows = Rows(runs.iter().flat_map(|run| &run.events).collect::<Vec<&EventRecord>>());
    let mut columns = identity(runs, context, |run| run.events.len());
    columns.extend([
        rows.f64("time_s", |row| row.time.as_secs_f64()),
        numbered_text(&rows, "node", &context.nodes, |row| Some(row.node)),
        rows.text("event", |row| row.event.kind()),
        rows.maybe_u32("flow", |row| flow_of(&row.event)),
        rows.maybe_u32("face", |row| face_of(&row.event)),
        numbered_text(&rows, "prefix", &context.prefixes, |row| {
            name_of(&row.event).map(|name| name.prefix.0)
        }),
        rows.maybe_u32("segment", |row| {
            name_of(&row.event).filter(|name| name.segment != Segment::NONE).map(|name| name.segment.0)
        }),
        cause_column(&rows),
        rows.maybe_f64("window_packets", field!(WindowChanged, window)),
        rows.maybe_u32("operations", field!(Worked, operations)),
        rows.maybe_f64("estimate", field!(Estimated, estimate)),
        rows.maybe_f64("truth", field!(Estimated, truth)),
        rows.maybe_bool("is_retransmission", |row| match row.event {
            Event::InterestSent { retransmission, .. } | Event::SegmentSent { retransmission, .. } => {
                Some(retransmission)
            }
            _ => None,
        }),
        rows.maybe_u32("mark", |row| match row.event {
            Event::DataReceived { mark, .. } => Some(u32::from(mark)),
            _ => None,
        }),
        rows.maybe_ms("full_delay_ms", field!(DataReceived, full_delay)),
        rows.maybe_ms("last_delay_ms", field!(DataReceived, last_delay)),
        rows.maybe_ms("sojourn_ms", field!(Marked, sojourn)),
    ]);
    columns
}

/// A text column of numbered things, named by `names` or else `#number`.
fn numbered_text(
    rows: &Rows<&EventRecord>,
    column: &str,
    names: &[String],
    number: impl Fn(&EventRecord) -> Option<u32>,
) -> Column {
    let mut positions: BTreeMap<u32, u32> = BTreeMap::new();
    let mut used = Vec::new();
    let (numbers, present) = rows.split(|row| number(row));
    let mut position = |number: u32| {
        *positions.entry(number).or_insert_with(|| {
            used.push(names.get(number as usize).cloned().unwrap_or_else(|| match number {
                EventRecord::CONTROLLER => "controller".to_owned(),
                _ => format!("#{number}"),
            }));
            (used.len() - 1) as u32
        })
    };
    let index = numbers.into_iter().map(&mut position).collect();
    Column::nullable(column, ColumnData::Text { names: used, index }, present)
}

fn cause_column(rows: &Rows<&EventRecord>) -> Column {
    let mut labels = Labels::default();
    let (causes, present): (Vec<&str>, _) = rows.split(|row| cause_of(&row.event).map(|cause| cause.0));
    let index = causes.into_iter().map(|cause| labels.index(cause)).collect();
    Column::nullable("cause", ColumnData::Text { names: labels.names, index }, present)
}

fn flow_of(event: &Event) -> Option<u32> {
    match event {
        Event::InterestSent { flow, .. }
        | Event::DataReceived { flow, .. }
        | Event::SegmentSent { flow, .. }
        | Event::SegmentReceived { flow, .. }
        | Event::LossDetected { flow, .. }
        | Event::WindowChanged { flow, .. } => Some(*flow),
        _ => None,
    }
}

fn face_of(event: &Event) -> Option<u32> {
    match event {
        Event::Dropped { face, .. }
        | Event::Marked { face, .. }
        | Event::Stored { face, .. }
        | Event::Released { face, .. }
        | Event::NoticeMade { face, .. }
        | Event::Sent { face, .. }
        | Event::Received { face, .. }
        | Event::Lost { face, .. }
        | Event::StateChanged { face, .. }
        | Event::Estimated { face, .. }
        | Event::EndedFor { face, .. } => Some(u32::from(*face)),
        Event::PathMoved { to, .. } => Some(u32::from(*to)),
        _ => None,
    }
}

fn name_of(event: &Event) -> Option<Name> {
    match event {
        Event::InterestSent { name, .. }
        | Event::DataReceived { name, .. }
        | Event::SegmentSent { name, .. }
        | Event::SegmentReceived { name, .. }
        | Event::LossDetected { name, .. }
        | Event::Dropped { name, .. }
        | Event::Marked { name, .. }
        | Event::Stored { name, .. }
        | Event::Released { name, .. }
        | Event::NoticeMade { name, .. }
        | Event::Lost { name, .. }
        | Event::CacheHit { name }
        | Event::CacheMiss { name }
        | Event::Satisfied { name }
        | Event::Expired { name }
        | Event::PathMoved { name, .. }
        | Event::EndedFor { name, .. } => Some(*name),
        Event::Sent { header, .. } | Event::Received { header, .. } => Some(header.label()),
        _ => None,
    }
}

fn cause_of(event: &Event) -> Option<Cause> {
    match event {
        Event::LossDetected { cause, .. }
        | Event::WindowChanged { cause, .. }
        | Event::Dropped { cause, .. }
        | Event::PathMoved { cause, .. }
        | Event::Reported { kind: cause }
        | Event::Directed { kind: cause }
        | Event::StateChanged { state: cause, .. }
        | Event::Worked { part: cause, .. }
        | Event::Estimated { what: cause, .. }
        | Event::Marked { cause, .. } => Some(*cause),
        _ => None,
    }
}
