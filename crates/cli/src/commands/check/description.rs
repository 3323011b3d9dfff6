//! Text description of the simulation of a plan.

use tidegate_core::ndn::consumer::Arrivals;
use tidegate_core::ndn::face::Limit;
use tidegate_core::scheme::whole::Installed;
use tidegate_core::units::{BitRate, Span, Time};
use tidegate_results::text::{self, Align, Screen, TextTable, counted, number};
use tidegate_sim::plan::{
    ControllerPlan, Demand, FlowPlan, LinkPlan, LossPlan, NodePlan, Plan, QueuePlan, SchemeUse,
};

use tidegate_sim::roles;

use super::facts::{Bottleneck, Facts, FlowFacts, listed};
use crate::network_drawing::change;

/// Maximum number of rows of a table.
const MAX_LINES: usize = 12;
/// Maximum number of flows that are described.
const MAX_FLOWS: usize = 6;
/// Approximate number of packet-hops that one core simulates per second; `tidegate bench` measures it.
const HOPS_PER_S: f64 = 4e6;

/// Numbers of nodes, links, flows and seeds, for the first line.
pub(super) fn counts(plan: &Plan) -> String {
    let counts = [
        (plan.nodes.len(), "node"),
        (plan.links.len(), "link"),
        (plan.flows.len(), "flow"),
        (plan.seeds.len(), "seed"),
    ];
    let counts = counts.map(|(count, noun)| counted(count, noun)).join(", ");
    format!(" ({counts}, {})", plan.duration)
}

/// Description of the plan: tables of links, nodes, schemes and changes, facts about each flow and the runs.
pub(super) fn render(plan: &Plan, facts: &Facts, screen: Screen) -> String {
    let mut text = String::new();
    let mut section = |title: &str, content: String| {
        if !content.is_empty() {
            text.push_str(&format!("\n{title}\n{content}"));
        }
    };
    section(
        "Links",
        grouped(LINK, plan.links.iter().map(|link| (link.name.as_str(), link_cells(plan, link))), screen),
    );
    section("Nodes", grouped(NODE, plan.nodes.iter().filter_map(node_cells), screen));
    section("Controller", plan.controller.as_ref().map(controller_facts).unwrap_or_default().render());
    section("Schemes", schemes(plan, screen));
    for (flow, facts) in plan.flows.iter().zip(&facts.flows).take(MAX_FLOWS) {
        section(&format!("Flow {}", flow.name), flow_facts(plan, flow, facts).render());
    }
    if plan.flows.len() > MAX_FLOWS {
        let more = plan.flows.len() - MAX_FLOWS;
        section("More flows", format!("  {more}; --format json lists all of them\n"));
    }
    section("Changes", changes(plan, screen));
    section("Runs", run_facts(plan, facts).render());
    text + "\n"
}

/// Columns of the tables of links and nodes.
const LINK: &[&str] = &["links", "rate", "delay", "loss", "queue", "other"];
const NODE: &[&str] = &["nodes", "strategy", "content store", "other"];

fn table(head: &[&str]) -> TextTable {
    TextTable::new(&head.iter().map(|name| (*name, Align::Left)).collect::<Vec<_>>())
}

/// A table in which things with equal cells share a row; rows are in order of their first thing.
fn grouped<'a>(
    head: &[&str],
    things: impl Iterator<Item = (&'a str, Vec<String>)>,
    screen: Screen,
) -> String {
    let mut rows: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    for (name, cells) in things {
        match rows.iter_mut().find(|(known, _)| *known == cells) {
            Some((_, names)) => names.push(name),
            None => rows.push((cells, vec![name])),
        }
    }
    let mut table = table(head);
    for (cells, names) in rows.iter().take(MAX_LINES) {
        table.row([listed(names)].into_iter().chain(cells.iter().cloned()));
    }
    finished(table, rows.len(), screen)
}

/// The rendered table, with the number of rows that were omitted from `all`.
fn finished(table: TextTable, all: usize, screen: Screen) -> String {
    match all {
        0 => String::new(),
        1..=MAX_LINES => table.render(screen),
        _ => format!("{}{} more\n", table.render(screen), all - MAX_LINES),
    }
}

/// Schemes with their roles and places, the limits of schemes, and the roles that they replaced.
fn schemes(plan: &Plan, screen: Screen) -> String {
    let mut table = table(&["role", "scheme", "at"]);
    for Installed { role, scheme, at } in roles::installed(plan) {
        let names: Vec<&str> = at.iter().map(String::as_str).collect();
        table.row([role.to_string(), scheme, listed(&names)]);
    }
    let notes = roles::limits(plan).into_iter().chain(plan.replaced.iter().cloned());
    table.render(screen) + &notes.map(|note| format!("  {note}\n")).collect::<String>()
}

/// Strategy, content store and other properties of a router; `None` for a host without any.
fn node_cells(node: &NodePlan) -> Option<(&str, Vec<String>)> {
    // A router part with a strategy replaces the configured one.
    let of_part = node.parts.iter().find(|part| part.brings_strategy());
    let mut strategies = vec![of_part.map_or(node.strategy.scheme.name, |part| part.scheme.name).to_owned()];
    let others = node.prefix_strategies.iter();
    strategies.extend(others.map(|(prefix, strategy)| format!("{} for {prefix}", strategy.scheme.name)));
    let strategy = if node.is_router { strategies.join(", ") } else { "-".to_owned() };
    let mut stores: Vec<String> = Vec::new();
    if node.cache.size.get() > 0 {
        stores.push(node.cache.to_string());
    }
    stores.extend(node.prefix_caches.iter().map(|(prefix, store)| format!("{store} for {prefix}")));
    let mut other = Vec::new();
    other.extend(node.service.map(|service| format!("service {service}")));
    other.extend(node.clock.map(|clock| format!("clock: {clock}")));
    other.extend((!node.parts.is_empty()).then(|| format!("router parts: {}", names(&node.parts))));
    // A host without settings of its own has a row of dashes only.
    let is_shown = node.is_router || !stores.is_empty() || !other.is_empty();
    is_shown.then(|| (node.name.as_str(), vec![strategy, or_dash(stores), or_dash(other)]))
}

fn or_dash(texts: Vec<String>) -> String {
    if texts.is_empty() { "-".to_owned() } else { texts.join(", ") }
}

fn controller_facts(controller: &ControllerPlan) -> text::Facts {
    let mut facts = text::Facts::default();
    facts.add("scheme", controller.scheme.scheme.name);
    facts.add("message delay", ms(controller.delay));
    facts.add("message loss", format_args!("{} %", number(controller.loss * 100.0)));
    facts
}

fn names(schemes: &[SchemeUse]) -> String {
    let names: Vec<&str> = schemes.iter().map(|part| part.scheme.name).collect();
    names.join(", ")
}

/// Joins the descriptions of two directions, which are given once if they are equal.
fn both(directions: [String; 2]) -> String {
    let [forward, backward] = directions;
    if forward == backward { forward } else { format!("{forward} (back: {backward})") }
}

/// Rate, delay, loss, queue and other properties of a link.
fn link_cells(plan: &Plan, link: &LinkPlan) -> Vec<String> {
    let mut other = Vec::new();
    if link.jitter > Span::ZERO {
        let order = if link.reorder { " with reordering" } else { "" };
        other.push(format!("jitter up to {}{order}", link.jitter));
    }
    other.extend(link.mtu.map(|mtu| format!("MTU {mtu}")));
    let medium = link.medium.and_then(|medium| plan.media.get(medium));
    other.extend(medium.map(|medium| format!("medium {}", medium.name)));
    other.extend(link.link_service.iter().map(|service| format!("link service {}", service.scheme.name)));
    vec![
        both(link.rate.map(|rate| rate.to_string())),
        link.delay.to_string(),
        both([0, 1].map(|direction| about_loss(&link.loss[direction]))),
        both([0, 1].map(|direction| about_queue(&link.queue[direction]))),
        or_dash(other),
    ]
}

fn about_loss(loss: &LossPlan) -> String {
    match loss {
        LossPlan::None => "-".to_owned(),
        LossPlan::Bernoulli { probability } if *probability == 0.0 => "-".to_owned(),
        LossPlan::Bernoulli { probability } => format!("{} %", number(probability * 100.0)),
        LossPlan::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
            // Stationary probability of the bad state. The minimum keeps a chain that never changes state at
            // 0 instead of NaN.
            let bad = to_bad / (to_bad + to_good).max(f64::MIN_POSITIVE);
            let mean = bad * loss_bad + (1.0 - bad) * loss_good;
            format!("{} % on average, in bursts", number(mean * 100.0))
        }
        LossPlan::Spells { good, bad } => {
            let part = bad.as_secs_f64() / (good.as_secs_f64() + bad.as_secs_f64()).max(f64::MIN_POSITIVE);
            format!(
                "all in spells of {} ms, {} % of the time",
                number(bad.as_millis_f64()),
                number(part * 100.0)
            )
        }
        LossPlan::Bursts { probability, max } => {
            format!("{} %, bursts of up to {max}", number(probability * 100.0))
        }
        LossPlan::Trace(pattern) => {
            let lost = pattern.iter().filter(|lost| **lost).count();
            format!("{lost} of each {} packets", pattern.len())
        }
    }
}

fn about_queue(queue: &QueuePlan) -> String {
    let limit = match queue.limit {
        Limit::Packets(packets) => packets.to_string(),
        Limit::Bytes(bytes) => bytes.to_string(),
    };
    if queue.disciplines.is_empty() { limit } else { format!("{limit} {}", names(&queue.disciplines)) }
}

fn mbps(rate: BitRate) -> String {
    format!("{} Mbit/s", number(rate.as_mbps()))
}

fn ms(span: Span) -> String {
    format!("{} ms", number(span.as_millis_f64()))
}

fn flow_facts(plan: &Plan, flow: &FlowPlan, of: &FlowFacts) -> text::Facts {
    let mut path: Vec<&str> = of.nodes.iter().map(|node| plan.nodes[*node].name.as_str()).collect();
    let mut facts = text::Facts::default();
    if flow.tcp.is_some() {
        // Data of a connection leave its sender, which the plan has as producer.
        path.reverse();
        facts.add("transport", "TCP");
    } else {
        facts.add("prefix", &flow.prefix);
    }
    facts.add("demand", demand(flow));
    facts.add("path", path.join(" > "));
    if flow.producers.len() > 1 {
        facts.add("producers", format_args!("{}, the nearest is on the path", flow.producers.len()));
    }
    facts.add("scheme", flow.scheme.scheme.name);
    facts.add("start", format_args!("{} s", number(flow.start.as_secs_f64())));
    facts.add_some("processing of Interests", flow.processing.as_ref());
    facts.add("RTT without queues", ms(of.round_trip));
    if let Some(bottleneck) = &of.bottleneck {
        add_bottleneck(&mut facts, plan, bottleneck);
    }
    let min_transfer = of.min_transfer.map(|time| format!("{} s", number(time.as_secs_f64())));
    facts.add_some("minimum completion time", min_transfer);
    facts
}

fn demand(flow: &FlowPlan) -> String {
    let payload = flow.payload;
    match &flow.demand {
        Demand::File { segments } => format!("{segments} segments of {payload}"),
        Demand::Endless => match flow.stop {
            Some(stop) => format!("segments of {payload} until {}", stop.since(Time::ZERO)),
            None => format!("segments of {payload} until the run ends"),
        },
        Demand::Objects(workload) => {
            let objects = workload.popularity.objects();
            let segments = workload.object_segments;
            let rate = match workload.arrivals {
                None => "at the rate of the scheme".to_owned(),
                Some(Arrivals::Constant(rate)) => format!("{rate} at equal intervals"),
                Some(Arrivals::Poisson(rate)) => format!("{rate} on average, Poisson"),
            };
            format!("{objects} objects of {segments} segments of {payload} by popularity ({rate})")
        }
        Demand::Constant { rate, bursts } if bursts.is_empty() => format!("{rate} in segments of {payload}"),
        Demand::Constant { rate, bursts } => {
            format!("{rate} in segments of {payload}, in bursts ({})", bursts.len())
        }
    }
}

fn add_bottleneck(facts: &mut text::Facts, plan: &Plan, bottleneck: &Bottleneck) {
    let link = &plan.links[bottleneck.link];
    let ends = if bottleneck.direction == 0 { [link.a, link.b] } else { [link.b, link.a] };
    let [from, to] = ends.map(|end| &plan.nodes[end].name);
    let ratio = bottleneck.queue_packets / bottleneck.product_packets;
    facts.add("bottleneck", format_args!("{} from {from} to {to}", link.name));
    facts.add(
        "bottleneck rate",
        format_args!("{}, {} of content", mbps(bottleneck.rate), mbps(bottleneck.content)),
    );
    facts.add("flows at the bottleneck", bottleneck.flows);
    let packets = format!("{} packets of {}", number(bottleneck.product_packets), bottleneck.packet);
    facts.add("bandwidth-delay product", packets);
    facts.add(
        "queue limit",
        format_args!("{} packets, {ratio:.2} bandwidth-delay products", number(bottleneck.queue_packets)),
    );
    facts.add("delay of a full queue", ms(bottleneck.queue_time));
}

fn changes(plan: &Plan, screen: Screen) -> String {
    let mut table = table(&["time", "change"]);
    for event in plan.events.iter().take(MAX_LINES) {
        table.row([format!("{} s", number(event.at.as_secs_f64())), change(plan, &event.change)]);
    }
    finished(table, plan.events.len(), screen)
}

fn run_facts(plan: &Plan, of: &Facts) -> text::Facts {
    let mut facts = text::Facts::default();
    let seeds: Vec<u64> = plan.seeds.iter().map(|seed| seed.0).collect();
    // The label of the fact has the word already.
    facts.add("seeds", text::seed_list(&seeds).trim_start_matches("seeds ").trim_start_matches("seed "));
    let end = if plan.stop_when_complete { ", or until every finite flow is complete" } else { "" };
    facts.add("duration", format_args!("{}{end}", plan.duration));
    match of.random.as_slice() {
        [] => facts.add("difference between seeds", "none"),
        random => random.iter().for_each(|what| facts.add("difference between seeds", what)),
    }
    facts.add("packet-hops per run", format_args!("about {}, without losses", count(of.packet_hops)));
    let work = work(of.packet_hops * plan.seeds.len() as f64);
    facts.add("computing time", format_args!("{work} on one core for all runs"));
    match plan.sampling {
        Some(interval) => {
            facts.add("samples", format_args!("every {interval}: {} rows", count(of.sample_rows)))
        }
        None => facts.add("samples", "none"),
    }
    facts
}

/// An approximate number in words, such as `1.2 million`.
pub(super) fn count(value: f64) -> String {
    match value {
        value if value >= 1e9 => format!("{:.1} billion", value / 1e9),
        value if value >= 1e6 => format!("{:.1} million", value / 1e6),
        value if value >= 1e4 => format!("{:.0} thousand", value / 1e3),
        value => format!("{value:.0}"),
    }
}

/// Approximate time that `hops` take; computers differ by more than the omitted digits.
fn work(hops: f64) -> String {
    match hops / HOPS_PER_S {
        seconds if seconds < 120.0 => format!("about {:.0} s", seconds.max(1.0)),
        seconds if seconds < 7200.0 => format!("about {:.0} min", seconds / 60.0),
        seconds => format!("about {:.0} h", seconds / 3600.0),
    }
}
