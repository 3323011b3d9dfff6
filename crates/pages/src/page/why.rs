//! "Why did it slow down": each flow's course in a few sentences, and what made its window fall.

use tidegate_core::observe::records::{FlowRecord, RunRecord};
use tidegate_core::units::Time;

use crate::event_summary::{Decrease, EventSummary, FlowSummary, NetworkChange, PacketFate, Reason};
use crate::markup::{Escaped, Markup};
use tidegate_results::measures::utilisation;
use tidegate_results::text::{self, count, number};

/// Largest falls that are listed for a flow.
const MAX_LISTED: usize = 8;

/// Reasons that a sentence names.
const MAX_REASONS: usize = 4;
/// Maximum number of scenario changes in a flow's sentences.
const MAX_CHANGES: usize = 4;

/// The section's content; empty without a digest.
pub(super) fn section(summary: &EventSummary) -> Markup {
    let mut content = Markup::default();
    let run = &summary.watched.record;
    content.add(format_args!(
        "<p class=\"note\">Run with seed {}, watched packet by packet: each congestion signal of a consumer or TCP sender is traced to the queue or link that caused it.{}</p>\n",
        run.seed,
        left_out(summary.flows.len(), run.flows.len())
    ));
    for flow in &summary.flows {
        let Some(record) = run.flows.get(flow.flow as usize) else { continue };
        content.add(format_args!(
            "<article class=\"why\"><h3>{} <span class=\"soft\">{}</span></h3>\n<p>{}</p>\n",
            Escaped(&record.name),
            Escaped(&record.scheme),
            Escaped(&sentences(summary, flow, record).join(" "))
        ));
        reasons(&mut content, summary, flow, if text::is_tcp(record) { "sender" } else { "consumer" });
        largest(&mut content, summary, flow);
        content.0.push_str("</article>\n");
    }
    content
}

/// Replacement of the section for a run whose events were not recorded; `why` is a sentence.
pub(super) fn unwatched(why: &str) -> Markup {
    let mut content = Markup::default();
    content.add(format_args!(
        "<p class=\"note\">{} There is no diagram of segments and no animation for it either.</p>\n",
        Escaped(why)
    ));
    content
}

fn left_out(shown: usize, all: usize) -> String {
    if shown == all {
        return String::new();
    }
    format!(" {shown} of {} flows shown: those with the largest delivered payload.", count(all as u64))
}

/// Explanatory sentences about a flow.
fn sentences(summary: &EventSummary, flow: &FlowSummary, record: &FlowRecord) -> Vec<String> {
    let run = &summary.watched.record;
    let mut said = vec![course(record, run.ended)];
    said.extend(window(summary, flow, record));
    said.extend(pacing(run, flow.flow));
    said.extend(changes(summary, flow, record));
    said.extend(stall(summary, flow, record));
    if is_untroubled(flow) && record.delivered_segments > 0 {
        said.push("No loss and no mark reached it.".to_owned());
        said.extend(limit(run, flow.flow, record));
    }
    said
}

fn course(record: &FlowRecord, ended: Time) -> String {
    if record.delivered_segments == 0 {
        return match record.interests {
            0 => format!("It sent no {}.", text::sent_by([record])),
            sent if text::is_tcp(record) => {
                format!("Nothing arrived of the {} that it sent.", plural(sent, "segment"))
            }
            asked => format!("No Data arrived for the {} that it sent.", plural(asked, "Interest")),
        };
    }
    let span = record.over(ended).since(record.start);
    let arrived = match (record.completed, record.segments) {
        (Some(_), Some(_)) => format!("All {} arrived", plural(record.delivered_segments, "segment")),
        (None, Some(all)) => {
            format!("{} of {} arrived", count(record.delivered_segments), plural(all, "segment"))
        }
        (_, None) => format!("{} arrived", plural(record.delivered_segments, "segment")),
    };
    let megabits = record.delivered_payload.get() as f64 * 8e-6 / span.as_secs_f64().max(1e-9);
    format!("{arrived} in {} s: {} Mbit/s.", number(span.as_secs_f64()), number(megabits))
}

fn plural(of: u64, what: &str) -> String {
    format!("{} {what}{}", count(of), if of == 1 { "" } else { "s" })
}

fn window(summary: &EventSummary, flow: &FlowSummary, record: &FlowRecord) -> Option<String> {
    let falls = flow.history.falls();
    if falls == 0 {
        return Some(match (record.final_window_packets.is_finite(), record.interests) {
            (_, 0) => return None,
            (true, _) => "Its congestion window never fell.".to_owned(),
            (false, _) => "It has no congestion window that could fall.".to_owned(),
        });
    }
    let mut parts: Vec<(&Reason, &u64)> = flow.history.decreases.iter().collect();
    parts.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    if let [(reason, _)] = parts[..] {
        let each = if falls == 1 { "" } else { "each time " };
        return Some(format!(
            "Its congestion window fell {}, {each}{}.",
            times(falls),
            after(summary, reason)
        ));
    }
    let shown = if parts.len() > MAX_REASONS { MAX_REASONS - 1 } else { MAX_REASONS };
    let (named, rest) = parts.split_at(shown.min(parts.len()));
    let said = named.iter().map(|(reason, times)| format!("{} {}", count(**times), after(summary, reason)));
    let mut said: Vec<String> = said.collect();
    if !rest.is_empty() {
        let rest: u64 = rest.iter().map(|(_, times)| **times).sum();
        said.push(format!("{} for other reasons", count(rest)));
    }
    Some(format!("Its congestion window fell {}: {}.", times(falls), said.join(", ")))
}

fn times(of: u64) -> String {
    match of {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} times", count(of)),
    }
}

/// The reason as the end of a sentence.
fn after(summary: &EventSummary, reason: &Reason) -> String {
    let what = match reason.cause {
        "mark" => "after marked Data",
        "timeout" => "after a timeout",
        "lifetime" => "after the lifetime of an Interest ended",
        "nack" => "after a Nack",
        "gap" => "after a gap in the arrivals",
        "loss notice" => "after a loss notice",
        "data" => "on Data, by the scheme's own estimates",
        "wake" => "by the scheme's own timer",
        "sent" => "when an Interest was sent",
        other => return format!("after \"{other}\"{}", origin(summary, reason)),
    };
    format!("{what}{}", origin(summary, reason))
}

/// Origin, in brackets.
fn origin(summary: &EventSummary, reason: &Reason) -> String {
    match place(summary, reason) {
        Some(place) => format!(" ({place})"),
        None => String::new(),
    }
}

/// The queue or wire behind a reason, and what it did.
fn place(summary: &EventSummary, reason: &Reason) -> Option<String> {
    let Some((direction, rule)) = reason.origin else {
        let is_loss = matches!(reason.cause, "timeout" | "lifetime" | "gap");
        return is_loss.then(|| "not dropped by a queue nor lost on a link: late or unanswered".to_owned());
    };
    let at = summary.direction_name(direction);
    let by = if rule.cause.is_empty() { String::new() } else { format!(", rule \"{}\"", rule.cause) };
    Some(match rule.fate {
        PacketFate::Drop => format!("dropped by queue {at}{by}"),
        PacketFate::WireLoss => format!("lost on link {at}"),
        PacketFate::Stored => format!("stored by queue {at}"),
        PacketFate::Mark => format!("marked by queue {at}{by}"),
    })
}

/// The range of a paced flow's rate.
fn pacing(run: &RunRecord, flow: u32) -> Option<String> {
    let samples = &run.flow_samples;
    let of = samples.flow.iter().zip(&samples.pacing_per_second);
    let rates = of.filter(|(of, rate)| **of == flow && rate.is_finite()).map(|(_, rate)| f64::from(*rate));
    let (least, most) =
        rates.fold((f64::INFINITY, 0.0_f64), |(least, most), rate| (least.min(rate), most.max(rate)));
    if !least.is_finite() {
        return None;
    }
    let what = text::sent_by(run.flows.get(flow as usize));
    Some(match number(least) == number(most) {
        true => format!("It was paced at {} {what}s/s.", number(most)),
        false => format!("Its pacing ranged from {} to {} {what}s/s.", number(least), number(most)),
    })
}

/// Changes by the scenario while the flow ran, with its throughput just before and after.
fn changes(summary: &EventSummary, flow: &FlowSummary, record: &FlowRecord) -> Vec<String> {
    let end = record.over(summary.watched.record.ended);
    let megabits = record.delivered_payload.get() as f64 * 8e-6 / record.delivered_segments.max(1) as f64;
    let within = summary.changes.iter().filter(|change| change.at > record.start && change.at < end);
    let effect = |change: &NetworkChange| {
        let [before, after] =
            summary.rates_around(flow, change.at, record.start, end)?.map(|rate| rate * megabits);
        let is_felt = (before - after).abs() > 0.2 * before.max(after);
        is_felt.then(|| {
            format!(
                "When {} at {} s, its throughput went from {} to {} Mbit/s.",
                change.text,
                number(change.at.as_secs_f64()),
                number(before),
                number(after)
            )
        })
    };
    within.filter_map(effect).take(MAX_CHANGES).collect()
}

/// The longest slow time, and what happened in it.
fn stall(summary: &EventSummary, flow: &FlowSummary, record: &FlowRecord) -> Option<String> {
    let ended = summary.watched.record.ended;
    let stall = flow.longest_stall(summary.bin.as_nanos(), record.start, record.over(ended))?;
    if stall.to.since(stall.from) * 50 < record.over(ended).since(record.start) {
        return None;
    }
    let mut during: Vec<String> = Vec::new();
    let is_within = |at: Time| at + summary.bin >= stall.from && at <= stall.to;
    during.extend(
        summary.changes.iter().filter(|change| is_within(change.at)).map(|change| change.text.clone()),
    );
    if let Some((direction, fate, packets)) = summary.worst_within(stall) {
        let at = summary.direction_name(direction);
        during.push(match fate {
            PacketFate::WireLoss => format!("link {at} lost {}", plural(packets, "packet")),
            _ => format!("queue {at} dropped {}", plural(packets, "packet")),
        });
    }
    let during = match during.is_empty() {
        true => String::new(),
        false => format!(", during which {}", during.join(" and ")),
    };
    Some(format!(
        "After its start, the longest time below half its median throughput was {} s from {} s{during}.",
        number(rounded(stall.to.since(stall.from).as_secs_f64())),
        number(rounded(stall.from.as_secs_f64()))
    ))
}

/// To a hundredth, as bins are no finer in runs of seconds.
fn rounded(seconds: f64) -> f64 {
    if seconds < 0.1 { seconds } else { (seconds * 100.0).round() / 100.0 }
}

/// Whether no loss and no mark reached the flow.
fn is_untroubled(flow: &FlowSummary) -> bool {
    flow.history.signals.is_empty()
}

/// Limit of a flow without losses and marks, as far as samples show it.
fn limit(run: &RunRecord, flow: u32, record: &FlowRecord) -> Option<String> {
    let samples = &run.flow_samples;
    let mut rows = 0_u64;
    let mut full = 0_u64;
    for (row, of) in samples.flow.iter().enumerate() {
        let (window, in_flight) = (samples.window_packets[row], samples.in_flight_packets[row]);
        let is_active = samples.time[row] >= record.start && samples.time[row] <= record.over(run.ended);
        if *of == flow && is_active && window.is_finite() {
            rows += 1;
            full += u64::from(in_flight as f32 + 1.0 > window);
        }
    }
    if rows > 0 && full * 10 >= rows * 9 {
        return Some(format!(
            "Its window was full at {} of {} samples: the window limited it.",
            count(full),
            count(rows)
        ));
    }
    let busiest = run.links.iter().filter_map(|link| Some((utilisation(link, run.ended)?, link)));
    let (load, link) = busiest.max_by(|left, right| left.0.total_cmp(&right.0))?;
    (load >= 0.9).then(|| {
        format!(
            "The busiest link of the network, {} → {}, was used to {} %.",
            link.from,
            link.to,
            number((100.0 * load).min(100.0))
        )
    })
}

/// Table of the signals at the consumer or TCP sender and the window decreases that followed, by reason.
fn reasons(content: &mut Markup, summary: &EventSummary, flow: &FlowSummary, hearer: &str) {
    let history = &flow.history;
    let mut all: Vec<&Reason> = history.signals.keys().chain(history.decreases.keys()).collect();
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        return;
    }
    content.add(format_args!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Reasons\"><table><thead><tr>\
         <th scope=\"col\">Signal at the {hearer}</th><th scope=\"col\">Origin</th>\
         <th scope=\"col\" class=\"number\">Signals</th><th scope=\"col\" class=\"number\">Window decreases</th></tr></thead>\n<tbody>\n"
    ));
    for reason in all {
        let [heard, fell] = [&history.signals, &history.decreases].map(|of| of.get(reason).copied());
        content.add(format_args!(
            "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
            Escaped(&match heard {
                Some(_) => reason.cause.to_owned(),
                None => format!("nothing, after \"{}\"", reason.cause),
            }),
            Escaped(&place(summary, reason).unwrap_or_else(|| "–".to_owned())),
            heard.map_or_else(|| "–".to_owned(), count),
            count(fell.unwrap_or(0))
        ));
    }
    content.0.push_str("</tbody></table></div>\n");
}

/// The largest falls with their times; a click shows the time in all plots.
fn largest(content: &mut Markup, summary: &EventSummary, flow: &FlowSummary) {
    let mut falls: Vec<&Decrease> = flow.history.largest.iter().collect();
    falls.sort_by(|left, right| right.share().total_cmp(&left.share()).then(left.at.cmp(&right.at)));
    falls.truncate(MAX_LISTED);
    falls.sort_by_key(|fall| fall.at);
    if falls.is_empty() {
        return;
    }
    let what = if (falls.len() as u64) < flow.history.falls() { "Largest falls" } else { "Falls" };
    content.add(format_args!(
        "<p class=\"label\">{what} of the window; a click on a time shows it in all plots.</p><ul class=\"falls\">\n"
    ));
    for fall in falls {
        let seconds = fall.at.as_secs_f64();
        content.add(format_args!(
            "<li>{} {} → {} packets, {}</li>\n",
            super::plots::moment(seconds),
            number(fall.from_packets),
            number(fall.to_packets),
            Escaped(&after(summary, &fall.reason))
        ));
    }
    content.0.push_str("</ul>\n");
}

#[cfg(test)]
mod tests {
    use tidegate_core::units::{ByteCount, Span};

    use super::*;
    use crate::event_summary::{CongestionHistory, IncidentCause};

    fn summary(record: FlowRecord) -> EventSummary {
        let mut summary = EventSummary { bin: Span::from_millis(10), ..EventSummary::default() };
        summary.watched.record.ended = Time::from_nanos(6_000_000_000);
        summary.watched.record.flows.push(record);
        summary.flows.push(FlowSummary { arrivals: vec![20; 600], ..FlowSummary::default() });
        summary.nodes = vec!["r1".into(), "r2".into()];
        summary.directions = vec![(0, 1), (1, 0)];
        summary
    }

    fn said(summary: &EventSummary) -> String {
        sentences(summary, &summary.flows[0], &summary.watched.record.flows[0]).join(" ")
    }

    fn fetched() -> FlowRecord {
        FlowRecord {
            interests: 12_000,
            delivered_segments: 12_000,
            delivered_payload: ByteCount::new(12_000_000),
            final_window_packets: f64::INFINITY,
            ..FlowRecord::default()
        }
    }

    #[test]
    fn a_flow_that_got_nothing_and_one_that_never_asked_say_so() {
        let asked = FlowRecord { interests: 1, final_window_packets: 2.0, ..FlowRecord::default() };
        assert_eq!(
            said(&summary(asked)),
            "No Data arrived for the 1 Interest that it sent. Its congestion window never fell."
        );
        assert_eq!(said(&summary(FlowRecord::default())), "It sent no Interest.");
    }

    #[test]
    fn a_flow_without_a_window_is_not_said_to_have_one() {
        let text = said(&summary(fetched()));
        assert_eq!(
            text,
            "12,000 segments arrived in 6 s: 16 Mbit/s. It has no congestion window that could fall. No loss and no \
             mark reached it."
        );
    }

    #[test]
    fn falls_are_told_by_reason_and_a_change_with_what_it_did() {
        let mut summary = summary(fetched());
        let mark = Reason {
            cause: "mark",
            origin: Some((0, IncidentCause { fate: PacketFate::Mark, cause: "codel" })),
        };
        let late = Reason { cause: "timeout", origin: None };
        summary.flows[0].history =
            CongestionHistory { decreases: [(mark, 14), (late, 1)].into(), ..CongestionHistory::default() };
        summary.flows[0].arrivals[300..].fill(5);
        summary.changes = vec![NetworkChange {
            at: Time::from_nanos(3_000_000_000),
            text: "link r1-r2 changed to 5Mbps".into(),
        }];
        let text = said(&summary);
        for part in [
            "fell 15 times: 14 after marked Data (marked by queue r1 → r2, rule \"codel\"), 1 after a timeout (not dropped",
            "When link r1-r2 changed to 5Mbps at 3 s, its throughput went from 16 to 4 Mbit/s.",
            "the longest time below half its median throughput was 3 s from 3 s, during which link r1-r2 changed",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_name_cannot_leave_its_place() {
        let evil = "</script><script>alert(1)</script>";
        let page = section(&summary(FlowRecord { name: evil.into(), ..fetched() })).0;
        assert!(page.contains("&lt;/script&gt;") && !page.contains("<script>alert"), "{page}");
        let diagram =
            super::super::segments::section(&summary(FlowRecord { name: evil.into(), ..fetched() })).0;
        assert!(diagram.contains("\\u003c/script") && !diagram.contains("<script>alert"));
    }
}
