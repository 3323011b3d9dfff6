//! Measures of the paper on BRF that expressions over the catalogue cannot make.

use tidegate_core::units::Span;
use tidegate_papers::value::MeasureValue;

use super::{Answer, Arguments, MeasureFunction, NONE, Of, Run, Takes, measure_table};

measure_table! {
    "brf.queueing_ms" [] NONE, Whole(queueing),
        "Series: smoothed RTT of the first flow minus the RTT of the empty path, ms; the links have to form a chain.";
    "brf.jain_windows" ["window" Takes::Positive] NONE, Whole(jain_windows),
        "Series: Jain's index of all flows over the following `window` seconds at each sample after the last start.";
    "brf.agreed_ms" [] NONE, OneFlow(agreed),
        "Time from 20 ms (one RTT) after a flow's start until all pacing rates are within 10 % for 1 s, ms; until the \
         next start if they never are.";
}

/// Bytes of a full segment and of an ACK on the wire, and of the option with BRF's grant.
const SEGMENT: f64 = 1514.0;
const ACK: f64 = 66.0;
const GRANT: f64 = 8.0;
/// Round trip of Figure 7a, s.
const ROUND_TRIP_S: f64 = 0.02;

/// Time between samples, s; the first sample is at the end of the first period.
fn period(run: &Run<'_>) -> f64 {
    run.plan.sampling.map_or(f64::NAN, Span::as_secs_f64)
}

fn start_s(run: &Run<'_>, flow: usize) -> f64 {
    run.record.flows[flow].start.as_secs_f64()
}

/// A column of one flow's samples.
fn samples<T: Copy>(run: &Run<'_>, flow: usize, column: &[T]) -> Vec<T> {
    let rows = (0..column.len()).filter(|row| run.record.flow_samples.flow[*row] as usize == flow);
    rows.map(|row| column[row]).collect()
}

/// Payload delivered to a flow up to each sample, Mbit; the first value is 0, before any sample.
fn delivered(run: &Run<'_>, flow: usize) -> Vec<f64> {
    let megabits = run.plan.flows[flow].payload.get() as f64 * 8e-6;
    let segments = samples(run, flow, &run.record.flow_samples.delivered_segments);
    [0].into_iter().chain(segments).map(|segments| segments as f64 * megabits).collect()
}

fn queueing(run: &Run<'_>, _: &Arguments<'_>) -> Answer {
    let (period, links) = (period(run), &run.record.links);
    let Some(flow) = run.record.flows.first() else { return Ok(None) };
    // BRF sends its grant back in an option of the ACK.
    let ack = if flow.scheme == "brf" { ACK + GRANT } else { ACK };
    let bits_per_ms = |link: usize| links[link].rate.as_bps() as f64 / 1e3;
    // A segment one way and an ACK the other way over each link, and the wait of an ACK for the second segment.
    // Directions of a link follow each other in the record: even ones lead to the receiver.
    let bits = |link: usize| if link.is_multiple_of(2) { 8.0 * SEGMENT } else { 8.0 * ack };
    let over = |link: usize| links[link].delay.as_millis_f64() + bits(link) / bits_per_ms(link);
    let slowest = (0..links.len()).map(bits_per_ms).fold(f64::INFINITY, f64::min);
    let empty_ms = (0..links.len()).map(over).sum::<f64>() + SEGMENT * 8.0 / slowest;
    let trips = samples(run, 0, &run.record.flow_samples.smoothed_rtt).into_iter().enumerate();
    let known = trips.filter(|(_, trip)| trip.as_nanos() > 0);
    let points = known.map(|(row, trip)| ((row + 1) as f64 * period, trip.as_millis_f64() - empty_ms));
    Ok(Some(MeasureValue::Series(points.collect())))
}

fn jain_windows(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let (window_s, period, flows) = (call.number("window")?, period(run), run.record.flows.len());
    let delivered: Vec<Vec<f64>> = (0..flows).map(|flow| delivered(run, flow)).collect();
    // Windows are counted in samples, so that every window has the same number.
    let long = (window_s / period).round() as usize;
    let last = delivered.first().map_or(0, Vec::len).saturating_sub(long.saturating_add(1));
    let jain = |from: usize| {
        let got = delivered.iter().map(|delivered| delivered[from + long] - delivered[from]);
        let (sum, squares) = got.fold((0.0, 0.0), |(sum, squares), got| (sum + got, squares + got * got));
        (from as f64 * period, sum * sum / (flows as f64 * squares))
    };
    let last_start = (0..flows).map(|flow| start_s(run, flow)).fold(0.0, f64::max);
    Ok(Some(MeasureValue::Series(((last_start / period).ceil() as usize..last).map(jain).collect())))
}

fn agreed(run: &Run<'_>, _: &Arguments<'_>, flow: usize) -> Answer {
    let (period, pacing) = (period(run), &run.record.flow_samples.pacing_per_second);
    // Flows start in the order of their indices, so that later ones are not active yet.
    let paces: Vec<Vec<f32>> = (0..=flow).map(|flow| samples(run, flow, pacing)).collect();
    let end = paces[0].len();
    let since = start_s(run, flow) + ROUND_TRIP_S;
    let until = if flow + 1 < run.record.flows.len() { start_s(run, flow + 1) } else { end as f64 * period };
    let row = |time: f64| ((time / period).round() as usize).min(end);
    let mut agreed_from = None;
    for row in row(since)..row(until) {
        let now = || paces.iter().map(|paces| paces[row]);
        let (min, max) = (now().fold(f32::INFINITY, f32::min), now().fold(0.0, f32::max));
        // An infinite rate is that of a flow which is not paced yet.
        if !max.is_finite() || max > 1.1 * min {
            agreed_from = None;
            continue;
        }
        let time = (row + 1) as f64 * period;
        let from = *agreed_from.get_or_insert(time);
        if time - from >= 1.0 {
            return Ok(Some(MeasureValue::Number((from - since).max(0.0) * 1e3)));
        }
    }
    Ok(Some(MeasureValue::Number((until - since).max(0.0) * 1e3)))
}
