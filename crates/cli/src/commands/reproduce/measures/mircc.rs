//! Measures of the paper on MIRCC under a coarse clock: when rates settle, and what was lost bin by bin.

use std::collections::BTreeSet;

use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::units::Time;

use super::{Answer, Arguments, MeasureFunction, MeasureValue, NONE, Of, Run, Takes, measure_table};

/// Events that show which Interests were satisfied: InterestSent and DataReceived.
const ANSWERS: EventMask = EventMask::CONSUMERS;

/// Minimum bin, s: shorter ones cannot be distinguished in a plot and could fill the memory.
const SHORTEST_BIN_S: f64 = 0.001;

measure_table! {
    "mircc.settled_s" ["target" Takes::Positive, "within" Takes::Number, "from" Takes::Number, "until" Takes::Number]
        NONE, Flows(settled_s),
        "First time from which the rates of all these flows stay near `target` for 1 s, s; `until` if there is none. \
         target: rate, Interests/s; within: fraction of it; from, until: times, s.";
    "mircc.loss_as_sent" ["bin" Takes::Positive] ANSWERS, OneFlow(|run, call, flow| losses(run, call, flow, as_sent)),
        "Series: fraction of a flow's Interests without Data, by the bin in which they were sent; x is the middle of \
         the bin, s, and y is NaN where nothing was sent. bin: length, s.";
    "mircc.loss_as_due" ["bin" Takes::Positive] ANSWERS, OneFlow(|run, call, flow| losses(run, call, flow, as_due)),
        "The same by the bin in which they were due: Interests sent at one tick were due at equal intervals since the \
         previous tick (the first ones since the flow's start). bin: length, s.";
}

fn settled_s(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let (target, within) = (call.number("target")?, call.number("within")?);
    let (from, until) = (call.number("from")?, call.number("until")?);
    let flows = call.objects(run.plan)?;
    let samples = &run.record.flow_samples;
    // The last time at which a rate was not near the target.
    let mut since = from;
    for row in 0..samples.time.len() {
        let time = samples.time[row].as_secs_f64();
        if time <= from || time > until || !flows.contains(&(samples.flow[row] as usize)) {
            continue;
        }
        if time - since >= 1.0 {
            return Ok(Some(MeasureValue::Number(since)));
        }
        let is_near = (f64::from(samples.pacing_per_second[row]) - target).abs() <= within * target;
        if !is_near {
            since = time;
        }
    }
    Ok(Some(MeasureValue::Number(until)))
}

/// Interests sent at one instant: the time, and for each Interest whether it was lost.
type Burst = (Time, Vec<bool>);

/// For each Interest the time at which it counts, s, and whether it was lost.
type Counted = Vec<(f64, bool)>;

/// Losses of one flow in bins up to its planned end; `when` assigns a time to each Interest.
fn losses(
    run: &Run<'_>,
    call: &Arguments<'_>,
    flow: usize,
    when: fn(&[Burst], start: f64) -> Counted,
) -> Answer {
    let width = call.number("bin")?;
    if width.is_nan() || width < SHORTEST_BIN_S {
        return Err(format!("bin is a length of at least {SHORTEST_BIN_S} s"));
    }
    let planned = &run.plan.flows[flow];
    let stop = planned.stop.unwrap_or(run.record.ended).as_secs_f64();
    let bin_of = |at: f64| (at / width) as usize;
    // Interests of each bin, and the lost ones of them.
    let mut bins = vec![(0u32, 0u32); bin_of(stop) + 1];
    for (at, is_lost) in when(&bursts(run, flow), planned.start.as_secs_f64()) {
        if let Some((all, lost)) = bins.get_mut(bin_of(at)) {
            *all += 1;
            *lost += u32::from(is_lost);
        }
    }
    let middle = |bin: usize| (bin as f64 + 0.5) * width;
    // 0 / 0 is NaN, which leaves a gap in the curve where nothing was sent.
    let part = |(all, lost): (u32, u32)| f64::from(lost) / f64::from(all);
    Ok(Some(MeasureValue::Series(
        bins.into_iter().enumerate().map(|(bin, counts)| (middle(bin), part(counts))).collect(),
    )))
}

/// Bursts of a flow in order; in this paper no Interest is retransmitted.
fn bursts(run: &Run<'_>, flow: usize) -> Vec<Burst> {
    let events = &run.record.events;
    let data = events.iter().filter_map(|record| match record.event {
        Event::DataReceived { flow: of, name, .. } if of as usize == flow => Some(name.segment.0),
        _ => None,
    });
    let answered: BTreeSet<u32> = data.collect();
    let mut bursts: Vec<Burst> = Vec::new();
    for record in events {
        let Event::InterestSent { flow: of, name, .. } = record.event else { continue };
        if of as usize != flow {
            continue;
        }
        let is_lost = !answered.contains(&name.segment.0);
        match bursts.last_mut() {
            // With a coarse clock many Interests are sent at one instant, which is the subject of the paper.
            Some((at, interests)) if *at == record.time => interests.push(is_lost),
            _ => bursts.push((record.time, vec![is_lost])),
        }
    }
    bursts
}

fn as_sent(bursts: &[Burst], _start: f64) -> Counted {
    let of_burst = |(at, interests): &Burst| {
        let at = at.as_secs_f64();
        interests.iter().map(move |is_lost| (at, *is_lost)).collect::<Counted>()
    };
    bursts.iter().flat_map(of_burst).collect()
}

fn as_due(bursts: &[Burst], start: f64) -> Counted {
    let mut before = start;
    let mut all = Vec::new();
    for (at, interests) in bursts {
        let at = at.as_secs_f64();
        let gap = (at - before) / interests.len() as f64;
        all.extend((1..).zip(interests).map(|(place, is_lost)| (before + gap * f64::from(place), *is_lost)));
        before = at;
    }
    all
}
