//! "Why did it slow down": facts about the course of each flow, and the reasons of its window decreases.

use tidegate_core::observe::records::{FlowRecord, RunRecord};
use tidegate_core::units::Time;

use super::{document, tables};
use crate::event_summary::{Decrease, EventSummary, FlowSummary, NetworkChange, PacketFate, Reason};
use crate::markup::{Escaped, Markup};
use tidegate_results::measures::utilisation;
use tidegate_results::text::{self, Facts, TextTable, count, number};

/// Maximum number of window decreases that are listed for a flow; the largest ones are.
const MAX_LISTED: usize = 8;

/// Maximum number of scenario changes in a flow's facts.
const MAX_CHANGES: usize = 4;

/// Content of the section for the followed flows.
pub(super) fn section(summary: &EventSummary) -> Markup {
    let mut content = Markup::default();
    let run = &summary.watched.record;
    content.add(format_args!(
        "<p class=\"note\">Run with seed {}, with all packets recorded: each congestion signal of a consumer or TCP sender is traced to the queue or link that caused it.{}</p>\n",
        run.seed,
        left_out(summary.flows.len(), run.flows.len())
    ));
    for flow in &summary.flows {
        let Some(record) = run.flows.get(flow.flow as usize) else { continue };
        content.add(format_args!(
            "<article class=\"why\"><h3>{} <span class=\"soft\">{}</span></h3>\n",
            Escaped(&record.name),
            Escaped(&record.scheme)
        ));
        document::facts(&mut content, &facts(summary, flow, record));
        let reasons = reasons(summary, flow);
        if reasons.rows().next().is_some() {
            tables::text_table(&mut content, "Signals", "", &reasons);
        }
        max(&mut content, summary, flow);
        content.0.push_str("</article>\n");
    }
    content
}

/// Replacement of the section for a run whose events were not recorded; `why` is a sentence.
pub(super) fn unwatched(why: &str) -> Markup {
    let mut content = Markup::default();
    content.add(format_args!(
        "<p class=\"note\">{} The diagram of segments and the animation are omitted as well.</p>\n",
        Escaped(why)
    ));
    content
}

fn left_out(shown: usize, all: usize) -> String {
    if shown == all {
        return String::new();
    }
    format!(
        " This section covers the flows with the largest delivered payload: {shown} of {}.",
        count(all as u64)
    )
}

/// Facts about the course of a flow.
fn facts(summary: &EventSummary, flow: &FlowSummary, record: &FlowRecord) -> Facts {
    let run = &summary.watched.record;
    let mut facts = Facts::default();
    let sent = text::sent_by([record]);
    facts.add(format!("{sent}s sent"), count(record.interests));
    let delivered = count(record.delivered_segments);
    match record.segments {
        Some(all) => facts.add("Segments delivered", format_args!("{delivered} of {}", count(all))),
        None => facts.add("Segments delivered", delivered),
    }
    if record.delivered_segments > 0 {
        let seconds = record.over(run.ended).since(record.start).as_secs_f64();
        let megabits = record.delivered_payload.get() as f64 * 8e-6 / seconds.max(1e-9);
        facts.add("Duration", format_args!("{} s", number(seconds)));
        facts.add("Goodput", format_args!("{} Mbit/s", number(megabits)));
    }
    match flow.history.falls() {
        // A scheme without a window reports an infinite one.
        0 if !record.final_window_packets.is_finite() => facts.add("Congestion window", "none"),
        falls => facts.add("Window decreases", count(falls)),
    }
    facts.add_some("Pacing rate", pacing(run, flow.flow));
    changes(&mut facts, summary, flow, record);
    stall(&mut facts, summary, flow, record);
    if flow.history.signals.is_empty() && record.delivered_segments > 0 {
        facts.add("Congestion signals", "none");
        limit(&mut facts, run, flow.flow, record);
    }
    facts
}

/// The event at the endpoint after which a window was decreased.
fn signal(cause: &str) -> &str {
    match cause {
        "mark" => "marked Data",
        "timeout" => "retransmission timeout",
        "lifetime" => "Interest lifetime expired",
        "nack" => "Nack",
        "gap" => "gap in the received segments",
        "data" => "estimate of the scheme, on Data",
        "wake" => "timer of the scheme",
        "sent" => "Interest sent",
        other => other,
    }
}

/// The queue or wire that caused a signal, and its action.
fn origin(summary: &EventSummary, reason: &Reason) -> String {
    let Some((direction, rule)) = reason.origin else {
        let is_loss = matches!(reason.cause, "timeout" | "lifetime" | "gap");
        return if is_loss { "neither dropped nor lost: delayed or not satisfied" } else { "–" }.to_owned();
    };
    let at = summary.direction_name(direction);
    let by = if rule.cause.is_empty() { String::new() } else { format!(", rule \"{}\"", rule.cause) };
    match rule.fate {
        PacketFate::Drop => format!("dropped by queue {at}{by}"),
        PacketFate::WireLoss => format!("lost on link {at}"),
        PacketFate::Stored => format!("stored by queue {at}"),
        PacketFate::Mark => format!("marked by queue {at}{by}"),
    }
}

/// The range of a paced flow's rate.
fn pacing(run: &RunRecord, flow: u32) -> Option<String> {
    let samples = &run.flow_samples;
    let of = samples.flow.iter().zip(&samples.pacing_per_second);
    let rates = of.filter(|(of, rate)| **of == flow && rate.is_finite()).map(|(_, rate)| f64::from(*rate));
    let (min, max) = rates.fold((f64::INFINITY, 0.0_f64), |(min, max), rate| (min.min(rate), max.max(rate)));
    let what = text::sent_by(run.flows.get(flow as usize));
    // Compared as shown: rates that differ in later digits would be a range from a number to itself.
    let range = if number(min) == number(max) { String::new() } else { format!("{} to ", number(min)) };
    min.is_finite().then(|| format!("{range}{} {what}s/s", number(max)))
}

/// Changes by the scenario while the flow ran, with its throughput just before and after.
fn changes(facts: &mut Facts, summary: &EventSummary, flow: &FlowSummary, record: &FlowRecord) {
    let end = record.over(summary.watched.record.ended);
    let megabits = record.delivered_payload.get() as f64 * 8e-6 / record.delivered_segments.max(1) as f64;
    let within = summary.changes.iter().filter(|change| change.at > record.start && change.at < end);
    let effect = |change: &NetworkChange| {
        let [before, after] =
            summary.rates_around(flow, change.at, record.start, end)?.map(|rate| rate * megabits);
        // A fifth is beyond the noise of bins with few segments.
        let is_felt = (before - after).abs() > 0.2 * before.max(after);
        is_felt.then(|| format!("{} → {} Mbit/s ({})", number(before), number(after), change.text))
    };
    let felt = within.filter_map(|change| Some((change.at, effect(change)?)));
    for (at, effect) in felt.take(MAX_CHANGES) {
        facts.add(format!("Throughput at {} s", number(at.as_secs_f64())), effect);
    }
}

/// Adds the longest slow period of a flow, with changes and drops in it.
fn stall(facts: &mut Facts, summary: &EventSummary, flow: &FlowSummary, record: &FlowRecord) {
    let ended = record.over(summary.watched.record.ended);
    let Some(stall) = flow.longest_stall(summary.bin.as_nanos(), record.start, ended) else { return };
    let length = stall.to.since(stall.from);
    // Every flow has pauses of a fiftieth of its time; they do not explain its duration.
    if length * 50 < ended.since(record.start) {
        return;
    }
    let [length, from] =
        [length, stall.from.since(Time::ZERO)].map(|span| number(rounded(span.as_secs_f64())));
    facts.add("Longest time below half the median throughput", format_args!("{length} s from {from} s"));
    // The start of the period is known with the precision of a bin only.
    let is_within = |at: Time| at + summary.bin >= stall.from && at <= stall.to;
    for change in summary.changes.iter().filter(|change| is_within(change.at)) {
        facts.add("Change in this period", &change.text);
    }
    if let Some((direction, fate, packets)) = summary.worst_within(stall) {
        let (at, packets) = (summary.direction_name(direction), count(packets));
        match fate {
            PacketFate::WireLoss => {
                facts.add("Packets lost in this period", format_args!("{packets}, link {at}"))
            }
            _ => facts.add("Packets dropped in this period", format_args!("{packets}, queue {at}")),
        }
    }
}

/// Rounded to 10 ms, since bins are not shorter in runs of several seconds.
fn rounded(seconds: f64) -> f64 {
    if seconds < 0.1 { seconds } else { (seconds * 100.0).round() / 100.0 }
}

/// Limit of a flow without losses and marks, as far as samples show it.
fn limit(facts: &mut Facts, run: &RunRecord, flow: u32, record: &FlowRecord) {
    let samples = &run.flow_samples;
    let mut rows = 0_u64;
    let mut full = 0_u64;
    for (row, of) in samples.flow.iter().enumerate() {
        let (window, in_flight) = (samples.window_packets[row], samples.in_flight_packets[row]);
        // Samples before the start and after the end have no packets in flight and would count as not full.
        let is_active = samples.time[row] >= record.start && samples.time[row] <= record.over(run.ended);
        if *of == flow && is_active && window.is_finite() {
            rows += 1;
            // Full means that another whole packet does not fit; windows can be fractions.
            full += u64::from(in_flight as f32 + 1.0 > window);
        }
    }
    if rows > 0 && full * 10 >= rows * 9 {
        facts.add("Limited by", "congestion window");
        return facts.add("Samples with a full window", format_args!("{} of {}", count(full), count(rows)));
    }
    let busiest = run.links.iter().filter_map(|link| Some((utilisation(link, run.ended)?, link)));
    let busiest = busiest.max_by(|left, right| left.0.total_cmp(&right.0));
    if let Some((load, link)) = busiest.filter(|(load, _)| *load >= 0.9) {
        let percent = number((100.0 * load).min(100.0));
        facts.add("Busiest link", format_args!("{} → {}, utilisation {percent} %", link.from, link.to));
    }
}

/// Table of the signals at the consumer or TCP sender and the window decreases that followed, by reason.
fn reasons(summary: &EventSummary, flow: &FlowSummary) -> TextTable {
    let history = &flow.history;
    let mut all: Vec<&Reason> = history.signals.keys().chain(history.decreases.keys()).collect();
    // In the order of the reasons, so that the page of a run is the same every time.
    all.sort_unstable();
    all.dedup();
    let mut table = TextTable::of(&["Signal", "Origin"], &["Signals", "Window decreases"]);
    for reason in all {
        // A decrease without a signal is the scheme's own, after some other event.
        let signals = history.signals.get(reason).map_or_else(|| "–".to_owned(), |times| count(*times));
        let decreases = count(history.decreases.get(reason).copied().unwrap_or(0));
        table.row([signal(reason.cause).to_owned(), origin(summary, reason), signals, decreases]);
    }
    table
}

/// The largest decreases with their times; a click shows the time in all plots.
fn max(content: &mut Markup, summary: &EventSummary, flow: &FlowSummary) {
    let mut falls: Vec<&Decrease> = flow.history.max.iter().collect();
    falls.sort_by(|left, right| right.share().total_cmp(&left.share()).then(left.at.cmp(&right.at)));
    falls.truncate(MAX_LISTED);
    falls.sort_by_key(|fall| fall.at);
    if falls.is_empty() {
        return;
    }
    let what = if (falls.len() as u64) < flow.history.falls() { "Largest decreases" } else { "Decreases" };
    let caption = format!("{what} of the window. A click on a time shows that time in all plots.");
    tables::open_table(content, what, &caption);
    content.0.push_str(
        "\n<thead><tr><th scope=\"col\">Time</th><th scope=\"col\" class=\"number\">Window [packets]</th>\
         <th scope=\"col\">Signal</th><th scope=\"col\">Origin</th></tr></thead>\n<tbody>\n",
    );
    for fall in falls {
        content.add(format_args!(
            "<tr><td>{}</td><td class=\"number\">{} → {}</td><td>{}</td><td>{}</td></tr>\n",
            super::plots::moment(fall.at.as_secs_f64()),
            number(fall.from_packets),
            number(fall.to_packets),
            Escaped(signal(fall.reason.cause)),
            Escaped(&origin(summary, &fall.reason))
        ));
    }
    content.0.push_str("</tbody></table></div>\n");
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

    fn stated(summary: &EventSummary) -> String {
        facts(summary, &summary.flows[0], &summary.watched.record.flows[0]).render()
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
    fn a_flow_without_data_has_no_goodput() {
        let requested = FlowRecord { interests: 1, final_window_packets: 2.0, ..FlowRecord::default() };
        assert_eq!(
            stated(&summary(requested)),
            "  Interests sent      1\n  Segments delivered  0\n  Window decreases    0\n"
        );
    }

    #[test]
    fn a_flow_without_a_window_has_no_window_decreases() {
        let text = stated(&summary(fetched()));
        for line in ["Goodput             16 Mbit/s", "Congestion window   none", "Congestion signals  none"]
        {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("Window decreases"), "{text}");
    }

    #[test]
    fn decreases_are_listed_by_reason_and_a_change_with_its_effect() {
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
            text: "link r1-r2: rate 5Mbps".into(),
        }];
        let text = stated(&summary);
        for part in [
            "Window decreases",
            "16 → 4 Mbit/s (link r1-r2: rate 5Mbps)",
            "Longest time below half the median throughput  3 s from 3 s\n",
            "Change in this period                          link r1-r2: rate 5Mbps\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let rows: Vec<String> =
            reasons(&summary, &summary.flows[0]).rows().map(|row| row.join(" | ")).collect();
        assert_eq!(
            rows,
            [
                "marked Data | marked by queue r1 → r2, rule \"codel\" | – | 14",
                "retransmission timeout | neither dropped nor lost: delayed or not satisfied | – | 1",
            ]
        );
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
