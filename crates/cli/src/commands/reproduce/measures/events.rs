//! Measures that are computed from recorded events.

use tidegate_core::observe::event::{Cause, Event, EventMask};
use tidegate_core::observe::records::EventRecord;
use tidegate_papers::value::MeasureValue;

use super::{Answer, Arguments, MeasureFunction, Of, Run, Takes, measure_table, not_known};

/// Event mask of Interests that consumers send.
const SENT: EventMask = EventMask(1);
/// Event mask of Data that consumers receive.
const RECEIVED: EventMask = EventMask(2);
/// Event mask of packets that queues drop.
const DROPPED: EventMask = EventMask(16);

/// Quantities that the schemes of this program estimate.
const ESTIMATED: [&str; 4] = ["average share", "backlog of BRF flows", "backlog of the port", "first grant"];

measure_table! {
    "full_delays_ms" [] RECEIVED, Flows(full_delays),
        "List: time from the first Interest for a segment to each Data packet of a flow, ms.";
    "interest_gaps_ms" ["quantiles" Takes::Count] SENT, Flows(interest_gaps),
        "List: times between consecutive Interests of a flow, ms, ascending; quantiles = n: the quantiles 0, 1/n, ... 1.";
    "interests_sent" ["from" Takes::Time, "to" Takes::Time] SENT, Flows(interests_sent),
        "Interests of a flow sent at `from` (s) or later and before `to` (s).";
    "received_mbps" ["from" Takes::Time, "to" Takes::Time] RECEIVED, Flows(received),
        "Payload of Data received by a flow after `from` (s) and up to `to` (s), Mbit/s.";
    "content_mbps" ["bin" Takes::Positive] RECEIVED, Flows(content),
        "Series: payload of Data received by flows in each bin (s), Mbit/s, at the middle of the bin; sum over the flows.";
    "overflows" [] DROPPED, Whole(overflows), "Packets dropped because a queue was full.";
    "path_moves" [] EventMask::CONTROL, Whole(path_moves), "List: times at which routers moved a prefix to another path, s.";
    "estimates" ["of" Takes::Words(&["estimate", "truth"])] EventMask::CONTROL, Thing(estimates),
        "List: estimates of a quantity by schemes, such as estimates(\"first grant\"); of = truth: the actual values.";
}

fn overflows(run: &Run<'_>, _: &Arguments<'_>) -> Answer {
    let is_overflow =
        |record: &&EventRecord| matches!(record.event, Event::Dropped { cause: Cause("queue full"), .. });
    Ok(Some(MeasureValue::Number(run.record.events.iter().filter(is_overflow).count() as f64)))
}

fn path_moves(run: &Run<'_>, _: &Arguments<'_>) -> Answer {
    let is_move = |record: &&EventRecord| matches!(record.event, Event::PathMoved { .. });
    let moves = run.record.events.iter().filter(is_move);
    Ok(Some(MeasureValue::List(moves.map(|record| record.time.as_secs_f64()).collect())))
}

fn estimates(run: &Run<'_>, thing: &str, call: &Arguments<'_>) -> Answer {
    let is_truth = call.word("of")? == "truth";
    let found = run.record.events.iter().filter_map(|record| match record.event {
        Event::Estimated { what: Cause(what), estimate, truth, .. } if what == thing => {
            Some(if is_truth { truth } else { estimate })
        }
        _ => None,
    });
    let found: Vec<f64> = found.collect();
    // A run can be without estimates of a quantity; a wrong name would be, too.
    if found.is_empty() && !ESTIMATED.contains(&thing) {
        return Err(not_known("estimated quantity", thing, &ESTIMATED));
    }
    Ok(Some(MeasureValue::List(found)))
}

/// Arrival time, s, and full delay, ms, of each Data of a flow.
fn data<'a>(run: &Run<'a>, flow: usize) -> impl Iterator<Item = (f64, f64)> + use<'a> {
    run.record.events.iter().filter_map(move |record| match record.event {
        Event::DataReceived { flow: of, full_delay, .. } if of as usize == flow => {
            Some((record.time.as_secs_f64(), full_delay.as_millis_f64()))
        }
        _ => None,
    })
}

/// Events of the Interests that a flow sent.
fn sent<'a>(run: &Run<'a>, flow: usize) -> impl Iterator<Item = &'a EventRecord> + use<'a> {
    run.record.events.iter().filter(
        move |record| matches!(record.event, Event::InterestSent { flow: of, .. } if of as usize == flow),
    )
}

fn full_delays(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let flows = call.objects(run.plan)?;
    let delays = flows.into_iter().flat_map(|flow| data(run, flow).map(|(_, delay)| delay));
    Ok(Some(MeasureValue::List(delays.collect())))
}

fn interest_gaps(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let gaps = |flow: usize| -> Vec<f64> {
        let times: Vec<_> = sent(run, flow).map(|record| record.time).collect();
        times.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64() * 1e3).collect()
    };
    let mut all: Vec<f64> = call.objects(run.plan)?.into_iter().flat_map(gaps).collect();
    all.sort_by(f64::total_cmp);
    let (parts, last) = (call.number_or("quantiles", 0.0)? as usize, all.len().saturating_sub(1));
    // A run can have millions of gaps; some quantiles are enough for a curve.
    if parts > 0 && !all.is_empty() {
        // `place` is at most `parts`, so that the index is at most `last`.
        all = (0..=parts).map(|place| all[place * last / parts]).collect();
    }
    Ok(Some(MeasureValue::List(all)))
}

fn interests_sent(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let (from, to) = (call.number_or("from", 0.0)?, call.number_or("to", f64::INFINITY)?);
    let is_inside = |record: &&EventRecord| (from..to).contains(&record.time.as_secs_f64());
    call.each(run, |flow| Some(sent(run, flow).filter(is_inside).count() as f64))
}

fn received(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let (from, to) = (call.number_or("from", 0.0)?, call.number_or("to", f64::INFINITY)?);
    // An open end would divide by infinity; nothing is received after the run.
    let to = to.min(run.record.ended.as_secs_f64());
    call.each(run, |flow| {
        let count = data(run, flow).filter(|(time, _)| from < *time && *time <= to).count();
        let bits = run.plan.flows[flow].payload.get() as f64 * 8.0 * count as f64;
        (to > from).then(|| bits * 1e-6 / (to - from))
    })
}

fn content(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let bin_s = call.number("bin")?;
    let nanos = (bin_s * 1e9).round() as u64;
    let bins = usize::try_from(run.record.ended.as_nanos().div_ceil(nanos.max(1))).unwrap_or(usize::MAX);
    // A bin far below the time between packets would fill the memory with zeros.
    if nanos == 0 || bins > 1_000_000 {
        return Err(format!(
            "bin of content_mbps is {bin_s} s, so that the run has {bins} bins; at most 1000000"
        ));
    }
    let of_flow = |flow: usize| -> Vec<(f64, f64)> {
        let mut series: Vec<(f64, f64)> = (0..bins).map(|bin| ((bin as f64 + 0.5) * bin_s, 0.0)).collect();
        let megabits = run.plan.flows[flow].payload.get() as f64 * 8e-6;
        for record in &run.record.events {
            let bin = usize::try_from(record.time.as_nanos() / nanos).unwrap_or(usize::MAX);
            if let (Event::DataReceived { flow: of, .. }, Some(point)) = (&record.event, series.get_mut(bin))
                && *of as usize == flow
            {
                point.1 += megabits / bin_s;
            }
        }
        series
    };
    call.added(run, of_flow)
}
