//! Measures of flows, from their records and samples.

use tidegate_core::observe::records::{DelaySummary, FlowRecord};
use tidegate_core::units::Span;
use tidegate_papers::value::MeasureValue;
use tidegate_results::measures::goodput_mbps;

use super::{AT, Answer, Arguments, MeasureFunction, NONE, Of, Run, Takes, measure_table};

measure_table! {
    "start_s" [] NONE, Flow(|flow, _| Some(flow.start.as_secs_f64())),
        "Start time of a flow, before which it sends no Interest, s.";
    "over_s" [] NONE, Flow(|flow, ended| Some(flow.over(ended).as_secs_f64())),
        "Time at which a flow is complete or stopped, else the end of the run, s.";
    "session_s" [] NONE, Flows(session),
        "Time from a flow's planned start to its planned stop, else to the end of the run, s.";
    "completion_s" [] NONE, Flow(|flow, _| flow.completion_time().map(Span::as_secs_f64)),
        "Time from a flow's start to the arrival of its last segment, s; none if it is unfinished.";
    "delivery_s" [] NONE, Flow(|flow, ended| Some(flow.over(ended).since(flow.start).as_secs_f64())),
        "Time from a flow's start until it is complete or stopped, else until the end of the run, s.";
    "is_unfinished" [] NONE,
        Flow(|flow, _| Some(f64::from(flow.segments.is_some() && flow.completed.is_none()))),
        "1 for a finite flow that has not completed, else 0.";
    "interests" [] NONE, Flow(|flow, _| Some(flow.interests as f64)),
        "Interests sent by a flow, including retransmissions.";
    "retransmissions" [] NONE, Flow(|flow, _| Some(flow.retransmissions as f64)),
        "Retransmitted Interests of a flow.";
    "timeouts" [] NONE, Flow(|flow, _| Some(flow.timeouts as f64)),
        "Retransmission timeouts of a flow.";
    "duplicates" [] NONE, Flow(|flow, _| Some(flow.duplicates as f64)),
        "Data packets of a flow for a segment that had already been received.";
    "marks" [] NONE, Flow(|flow, _| Some(flow.marks as f64)),
        "Data packets of a flow with a congestion mark.";
    "nacks" [] NONE, Flow(|flow, _| Some(flow.nacks as f64)),
        "Nacks received by a flow.";
    "delivered_segments" [] NONE, Flow(|flow, _| Some(flow.delivered_segments as f64)),
        "Distinct segments received by a flow.";
    "delivered_bytes" [] NONE, Flow(|flow, _| Some(flow.delivered_payload.get() as f64)),
        "Payload of the distinct segments received by a flow, bytes.";
    "goodput_mbps" ["from" Takes::First, "to" Takes::Time] NONE, Flows(goodput),
        "Payload of a flow divided by its time, Mbit/s; with `from` or `to` (s) between the samples at these times, \
         from = first: from the first sample with Data on.";
    "full_delay_ms" ["at" AT] NONE, Flows(|run, call| delay(run, call, |flow| flow.full_delay)),
        "Time from the first Interest for a segment to its Data, ms; at = mean, min, p50, p95, p99 or max.";
    "last_delay_ms" ["at" AT] NONE, Flows(|run, call| delay(run, call, |flow| flow.last_delay)),
        "Time from the last Interest for a segment to its Data, ms; at = mean, min, p50, p95, p99 or max.";
    "pacing_per_s" [] NONE, FlowSample(|samples, row| f64::from(samples.pacing_per_second[row])),
        "Series: pacing rate at each sample, packets/s; infinite without pacing.";
    "smoothed_rtt_ms" [] NONE, FlowSample(|samples, row| samples.smoothed_rtt[row].as_secs_f64() * 1e3),
        "Series: smoothed RTT at each sample, ms; 0 before the first RTT sample.";
    "window_packets" [] NONE, FlowSample(|samples, row| f64::from(samples.window_packets[row])),
        "Series: congestion window at each sample, packets.";
    "in_flight_packets" [] NONE, FlowSample(|samples, row| f64::from(samples.in_flight_packets[row])),
        "Series: outstanding packets at each sample.";
    "delivered_series" [] NONE, FlowSample(|samples, row| samples.delivered_segments[row] as f64),
        "Series: distinct segments received up to each sample.";
    "goodput_series" ["bin" Takes::Positive] NONE, Flows(goodput_series),
        "Series: payload of flows in each bin (s), from samples, Mbit/s, at the middle of the bin; sum over the flows.";
    "wakeups" [] NONE, Nodes(|run, call| call.each(run, |node| Some(run.record.nodes[node].wakeups as f64))),
        "Number of instants at which a timer of a node was due.";
    "end_s" [] NONE, Whole(|run, _| Ok(Some(MeasureValue::Number(run.record.ended.as_secs_f64())))),
        "End of the run, s.";
    "last_sample_s" [] NONE,
        Whole(|run, _| Ok(run.record.flow_samples.time.last().map(|time| MeasureValue::Number(time.as_secs_f64())))),
        "Time of the last sample, s; none without samples.";
}

fn session(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    call.each(run, |flow| {
        let planned = &run.plan.flows[flow];
        Some(planned.stop.unwrap_or(run.record.ended).since(planned.start).as_secs_f64())
    })
}

fn delay(run: &Run<'_>, call: &Arguments<'_>, of: fn(&FlowRecord) -> DelaySummary) -> Answer {
    let at = call.word("at")?;
    call.each(run, |flow| summary(&of(&run.record.flows[flow]), at))
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
    // Without delays the record has 0, which would count as the best of all results.
    (delay.count > 0).then(|| span.as_millis_f64())
}

/// Rows of one flow's samples.
fn rows<'a>(run: &Run<'a>, flow: usize) -> impl Iterator<Item = usize> + use<'a> {
    let flows = &run.record.flow_samples.flow;
    (0..flows.len()).filter(move |row| flows[*row] as usize == flow)
}

/// Time and value of each sample of one flow.
pub(super) fn points(run: &Run<'_>, flow: usize, of: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let time = |row: usize| run.record.flow_samples.time[row].as_secs_f64();
    rows(run, flow).map(|row| (time(row), of(row))).collect()
}

fn goodput(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    // Without bounds the record has the exact times, which samples only approximate.
    if call.text("from").is_none() && call.text("to").is_none() {
        let record = run.record;
        return call.each(run, |flow| goodput_mbps(&record.flows[flow], record.ended));
    }
    let is_from_first = call.text("from") == Some("first");
    let from = if is_from_first { 0.0 } else { call.number_or("from", 0.0)? };
    let to = call.number_or("to", f64::INFINITY)?;
    call.each(run, |flow| between(run, flow, is_from_first, from, to))
}

/// Content received between two samples over the time between them, Mbit/s; 0 for a flow without Data.
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
    // Samples are taken at multiples of the period; a smaller difference is due to rounding.
    let by = |time: f64| {
        points.iter().take_while(|(at, _)| *at <= time + 1e-9).last().map_or(0, |(_, segments)| *segments)
    };
    // Samples have counts of segments, and every segment but the last has the full payload.
    let bits = run.plan.flows[flow].payload.get() as f64 * 8.0 * by(to).saturating_sub(by(from)) as f64;
    (to > from).then(|| bits * 1e-6 / (to - from))
}

/// Goodput per bin from samples: for TCP connections no Data events are recorded.
fn goodput_series(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let (bin_s, samples) = (call.number("bin")?, &run.record.flow_samples);
    let period_s = run.plan.sampling.map_or(f64::NAN, Span::as_secs_f64);
    // With other bins than multiples of the period, the number of samples per bin and the result oscillate.
    let in_bin = (bin_s / period_s).round();
    if !(1.0..=1e6).contains(&in_bin) {
        return Err(format!("bin of goodput_series is {bin_s} s; samples are {period_s} s apart"));
    }
    let of_flow = |flow: usize| -> Vec<(f64, f64)> {
        let megabits = run.plan.flows[flow].payload.get() as f64 * 8e-6;
        let counts = rows(run, flow).map(|row| samples.delivered_segments[row]);
        // Nothing is delivered at time 0, for which there is no sample.
        let ends: Vec<u64> = [0].into_iter().chain(counts).step_by(in_bin as usize).collect();
        let rate = |(bin, ends): (usize, &[u64])| {
            ((bin as f64 + 0.5) * bin_s, (ends[1] - ends[0]) as f64 * megabits / bin_s)
        };
        ends.windows(2).enumerate().map(rate).collect()
    };
    call.added(run, of_flow)
}
