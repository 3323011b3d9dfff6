//! Measures of flows, of their records and of their samples.

use tidegate_core::observe::records::{DelaySummary, FlowRecord};
use tidegate_core::units::{Span, Time};
use tidegate_papers::value::Value;
use tidegate_results::measures;

use super::{Arguments, Measure, Run, added, measure};

type Answer = Result<Option<Value>, String>;

pub(super) const MEASURES: &[Measure] = &[
    measure("start_s", &[], "When a flow's first Interest may leave, s.", |run, call| {
        of_record(run, call, |flow, _| Some(flow.start.as_secs_f64()))
    }),
    measure("over_s", &[], "When a flow is complete or stopped, else the end of the run, s.", |run, call| {
        of_record(run, call, |flow, ended| Some(flow.over(ended).as_secs_f64()))
    }),
    measure(
        "session_s",
        &[],
        "From a flow's planned start to its planned stop, else the end of the run, s.",
        session,
    ),
    measure(
        "completion_s",
        &[],
        "From a flow's start to its last segment, s; none while it is unfinished.",
        |run, call| of_record(run, call, |flow, _| flow.completion_time().map(Span::as_secs_f64)),
    ),
    measure(
        "delivery_s",
        &[],
        "From a flow's start until it is complete or stopped, else the end of the run, s.",
        |run, call| {
            of_record(run, call, |flow, ended| Some(flow.over(ended).since(flow.start).as_secs_f64()))
        },
    ),
    measure("is_unfinished", &[], "1 for a finite flow that has not completed, else 0.", |run, call| {
        of_record(run, call, |flow, _| Some(f64::from(flow.segments.is_some() && flow.completed.is_none())))
    }),
    measure("interests", &[], "Interests of a flow, retransmissions included.", |run, call| {
        of_record(run, call, |flow, _| Some(flow.interests as f64))
    }),
    measure("retransmissions", &[], "Interests of a flow that were sent again.", |run, call| {
        of_record(run, call, |flow, _| Some(flow.retransmissions as f64))
    }),
    measure("timeouts", &[], "Retransmission timeouts of a flow.", |run, call| {
        of_record(run, call, |flow, _| Some(flow.timeouts as f64))
    }),
    measure("duplicates", &[], "Data of a flow that came for a segment already received.", |run, call| {
        of_record(run, call, |flow, _| Some(flow.duplicates as f64))
    }),
    measure("marks", &[], "Data of a flow with a congestion mark.", |run, call| {
        of_record(run, call, |flow, _| Some(flow.marks as f64))
    }),
    measure("nacks", &[], "Nacks that a flow received.", |run, call| {
        of_record(run, call, |flow, _| Some(flow.nacks as f64))
    }),
    measure("delivered_segments", &[], "Distinct segments that a flow received.", |run, call| {
        of_record(run, call, |flow, _| Some(flow.delivered_segments as f64))
    }),
    measure(
        "delivered_bytes",
        &[],
        "Content of the distinct segments that a flow received, bytes.",
        |run, call| of_record(run, call, |flow, _| Some(flow.delivered_payload.get() as f64)),
    ),
    measure(
        "goodput_mbps",
        &["from", "to"],
        "Content of a flow over its time, Mbit/s; with from or to (s) by samples between these times, from = first: \
         from the first sample with Data on.",
        goodput,
    ),
    measure(
        "full_delay_ms",
        &["at"],
        "First Interest of a segment to its Data, ms; at = mean, min, p50, p95, p99 or max.",
        |run, call| delay(run, call, |flow| flow.full_delay),
    ),
    measure(
        "last_delay_ms",
        &["at"],
        "Last Interest of a segment to its Data, ms; at = mean, min, p50, p95, p99 or max.",
        |run, call| delay(run, call, |flow| flow.last_delay),
    ),
    measure(
        "pacing_per_s",
        &[],
        "Series: rate that pacing lets through at each sample, packets/s; infinite without pacing.",
        |run, call| sampled(run, call, |row| f64::from(run.record.flow_samples.pacing_per_second[row])),
    ),
    measure(
        "smoothed_rtt_ms",
        &[],
        "Series: smoothed round-trip time at each sample, ms; 0 before there is one.",
        |run, call| sampled(run, call, |row| run.record.flow_samples.smoothed_rtt[row].as_secs_f64() * 1e3),
    ),
    measure("window_packets", &[], "Series: congestion window at each sample, packets.", |run, call| {
        sampled(run, call, |row| f64::from(run.record.flow_samples.window_packets[row]))
    }),
    measure("in_flight_packets", &[], "Series: packets outstanding at each sample.", |run, call| {
        sampled(run, call, |row| f64::from(run.record.flow_samples.in_flight_packets[row]))
    }),
    measure("delivered_series", &[], "Series: distinct segments received by each sample.", |run, call| {
        sampled(run, call, |row| run.record.flow_samples.delivered_segments[row] as f64)
    }),
    measure(
        "goodput_series",
        &["bin"],
        "Series: content of flows in each bin (s), Mbit/s, by samples, at the middle of the bin, sum over the flows.",
        goodput_series,
    ),
    measure("wakeups", &[], "Instants at which a timer of a node was due.", |run, call| {
        call.each(call.nodes(run)?, |node| Some(run.record.nodes[node].wakeups as f64))
    }),
    measure("end_s", &[], "End of the run, s.", |run, _| {
        Ok(Some(Value::Number(run.record.ended.as_secs_f64())))
    }),
    measure("last_sample_s", &[], "Time of the last sample, s; none without samples.", |run, _| {
        Ok(run.record.flow_samples.time.last().map(|time| Value::Number(time.as_secs_f64())))
    }),
];

fn of_record(run: &Run<'_>, call: &Arguments<'_>, of: fn(&FlowRecord, Time) -> Option<f64>) -> Answer {
    call.each(call.flows(run)?, |flow| of(&run.record.flows[flow], run.record.ended))
}

fn session(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    call.each(call.flows(run)?, |flow| {
        let planned = &run.plan.flows[flow];
        Some(planned.stop.unwrap_or(run.record.ended).since(planned.start).as_secs_f64())
    })
}

fn delay(run: &Run<'_>, call: &Arguments<'_>, of: fn(&FlowRecord) -> DelaySummary) -> Answer {
    let at = call.word("at", &["mean", "min", "p50", "p95", "p99", "max"])?;
    call.each(call.flows(run)?, |flow| summary(&of(&run.record.flows[flow]), at))
}

/// One number of a summary, ms; `None` without delays.
pub(super) fn summary(delay: &DelaySummary, at: &str) -> Option<f64> {
    let span = match at {
        "min" => delay.min,
        "p50" => delay.p50,
        "p95" => delay.p95,
        "p99" => delay.p99,
        "max" => delay.max,
        _ => delay.mean,
    };
    (delay.count > 0).then(|| span.as_millis_f64())
}

/// Rows of one flow's samples.
fn rows<'a>(run: &Run<'a>, flow: usize) -> impl Iterator<Item = usize> + use<'a> {
    let flows = &run.record.flow_samples.flow;
    (0..flows.len()).filter(move |row| flows[*row] as usize == flow)
}

fn sampled(run: &Run<'_>, call: &Arguments<'_>, of: impl Fn(usize) -> f64) -> Answer {
    let time = |row: usize| run.record.flow_samples.time[row].as_secs_f64();
    let flows = call.flows(run)?;
    added(flows.into_iter().map(|flow| rows(run, flow).map(|row| (time(row), of(row))).collect()))
}

fn goodput(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let flows = call.flows(run)?;
    if call.text("from").is_none() && call.text("to").is_none() {
        let record = run.record;
        return call.each(flows, |flow| measures::goodput_mbps(&record.flows[flow], record.ended));
    }
    let is_from_first = call.text("from") == Some("first");
    let from = if is_from_first { 0.0 } else { call.number_or("from", 0.0)? };
    let to = call.number_or("to", f64::INFINITY)?;
    call.each(flows, |flow| between(run, flow, is_from_first, from, to))
}

/// Content between two samples over the time between them, Mbit/s; zero for a flow that never had any.
fn between(run: &Run<'_>, flow: usize, is_from_first: bool, from: f64, to: f64) -> Option<f64> {
    let samples = &run.record.flow_samples;
    let points: Vec<(f64, u64)> = rows(run, flow)
        .map(|row| (samples.time[row].as_secs_f64(), samples.delivered_segments[row]))
        .collect();
    let (last, _) = *points.last()?;
    let from = match points.iter().find(|(_, segments)| *segments > 0) {
        Some((first, _)) if is_from_first => *first,
        None if is_from_first => return Some(0.0),
        _ => from,
    };
    let to = if to.is_finite() { to } else { last };
    // A sample is taken at its instant; what separates the two is rounding.
    let by = |time: f64| {
        points.iter().take_while(|(at, _)| *at <= time + 1e-9).last().map_or(0, |(_, segments)| *segments)
    };
    let bits = run.plan.flows[flow].payload.get() as f64 * 8.0 * (by(to) - by(from)) as f64;
    (to > from).then(|| bits * 1e-6 / (to - from))
}

/// By samples, so that TCP connections have it too, of which no Data is recorded.
fn goodput_series(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let (bin_s, samples) = (call.number("bin")?, &run.record.flow_samples);
    let period_s = run.plan.sampling.map_or(f64::NAN, Span::as_secs_f64);
    let in_bin = (bin_s / period_s).round();
    if !(1.0..=1e6).contains(&in_bin) {
        return Err(format!("bin of goodput_series is {bin_s} s; samples are {period_s} s apart"));
    }
    let of_flow = |flow: usize| -> Vec<(f64, f64)> {
        let megabits = run.plan.flows[flow].payload.get() as f64 * 8e-6;
        let counts = rows(run, flow).map(|row| samples.delivered_segments[row]);
        let ends: Vec<u64> = [0].into_iter().chain(counts).step_by(in_bin as usize).collect();
        let rate = |(bin, ends): (usize, &[u64])| {
            ((bin as f64 + 0.5) * bin_s, (ends[1] - ends[0]) as f64 * megabits / bin_s)
        };
        ends.windows(2).enumerate().map(rate).collect()
    };
    added(call.flows(run)?.into_iter().map(of_flow))
}
