//! Text description of the simulation of a plan.

use std::collections::BTreeMap;

use tidegate_core::ndn::consumer::Arrivals;
use tidegate_core::ndn::cs::{Admission, Policy};
use tidegate_core::ndn::face::Limit;
use tidegate_core::scheme::whole::Installed;
use tidegate_core::units::{BitRate, Span, Time};
use tidegate_results::text::number;
use tidegate_sim::plan::{
    CachePlan, Change, ControllerPlan, Demand, FlowPlan, LinkPlan, LossPlan, NodePlan, Plan, QueuePlan,
    SchemeUse, ServicePlan, ServiceTime,
};

use tidegate_sim::roles;

use super::facts::{Bottleneck, Facts, FlowFacts, listed};

/// Maximum number of changes and kinds of links that are listed.
const MAX_LINES: usize = 12;
/// Maximum number of flows that are described.
const MAX_FLOWS: usize = 6;
/// Packet-hops that one core simulates per second, about; `tidegate bench` measures them.
const HOPS_PER_S: f64 = 4e6;

/// Numbers of nodes, links, flows and seeds, for the first line.
pub(super) fn counts(plan: &Plan) -> String {
    let (nodes, links, flows, seeds) =
        (plan.nodes.len(), plan.links.len(), plan.flows.len(), plan.seeds.len());
    format!(" ({nodes} nodes, {links} links, {flows} flows, {seeds} seeds, {})", plan.duration)
}

/// Description of the plan in paragraphs.
pub(super) fn render(plan: &Plan, facts: &Facts) -> String {
    let mut text = "\nNetwork\n".to_owned();
    paragraph(&mut text, &network(plan));
    text.push_str("\nSchemes\n");
    paragraph(&mut text, &schemes(plan));
    for (flow, facts) in plan.flows.iter().zip(&facts.flows).take(MAX_FLOWS) {
        text.push_str(&format!("\nFlow {}\n", flow.name));
        paragraph(&mut text, &about_flow(plan, flow, facts));
    }
    if plan.flows.len() > MAX_FLOWS {
        text.push_str(&format!(
            "\n{} more flows; --format json lists all of them\n",
            plan.flows.len() - MAX_FLOWS
        ));
    }
    if !plan.events.is_empty() {
        text.push_str("\nChanges\n");
        paragraph(&mut text, &changes(plan));
    }
    text.push_str("\nRuns\n");
    paragraph(&mut text, &runs(plan, facts));
    text + "\n"
}

/// Schemes with their roles and places, and the roles that they replaced.
fn schemes(plan: &Plan) -> Vec<String> {
    let line = |installed: &Installed| {
        let names: Vec<&str> = installed.at.iter().map(String::as_str).collect();
        let at = if names.is_empty() { String::new() } else { format!(": {}", listed(&names)) };
        format!("{} {}{at}", installed.role, installed.scheme)
    };
    roles::installed(plan)
        .iter()
        .map(line)
        .chain(roles::limits(plan))
        .chain(plan.replaced.iter().cloned())
        .collect()
}

fn paragraph(text: &mut String, lines: &[String]) {
    for line in lines.iter().filter(|line| !line.is_empty()) {
        text.push_str(&format!("  {line}\n"));
    }
}

/// Groups things with the same text, in order of the first.
fn grouped<'a>(things: impl Iterator<Item = (String, &'a str)>) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    let mut names: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (what, name) in things {
        if !names.contains_key(&what) {
            order.push(what.clone());
        }
        names.entry(what).or_default().push(name);
    }
    let more = order.len().saturating_sub(MAX_LINES);
    let mut lines: Vec<String> =
        order.iter().take(MAX_LINES).map(|what| format!("{}: {what}", listed(&names[what]))).collect();
    if more > 0 {
        lines.push(format!("{more} more kinds"));
    }
    lines
}

fn network(plan: &Plan) -> Vec<String> {
    let mut lines = grouped(plan.links.iter().map(|link| (about_link(plan, link), link.name.as_str())));
    let routers = plan.nodes.iter().filter(|node| node.is_router);
    let parts = |node: &NodePlan| {
        let of_part = node.parts.iter().find(|part| part.brings_strategy());
        let strategy = match of_part {
            Some(part) => format!("strategy of {}", part.scheme.name),
            None => format!("strategy {}", node.strategy.scheme.name),
        };
        let mut parts = vec![strategy];
        let others = node.prefix_strategies.iter();
        parts.extend(others.map(|(prefix, strategy)| format!("{} for {prefix}", strategy.scheme.name)));
        parts.extend(belongings(node));
        parts.join(", ")
    };
    lines.extend(grouped(routers.map(|node| (parts(node), node.name.as_str()))));
    let hosts = plan.nodes.iter().filter(|node| !node.is_router);
    let hosts = hosts.map(|node| (belongings(node).join(", "), node.name.as_str()));
    lines.extend(grouped(hosts.filter(|(parts, _)| !parts.is_empty())));
    lines.extend(plan.controller.as_ref().map(controller));
    lines
}

/// Configuration of a node except its links and strategies.
fn belongings(node: &NodePlan) -> Vec<String> {
    let mut parts = Vec::new();
    if node.cache.size.get() > 0 {
        parts.push(cache(&node.cache));
    }
    let stores = node.prefix_caches.iter();
    parts.extend(stores.map(|(prefix, store)| format!("{} for {prefix}", cache(store))));
    parts.extend(node.service.map(|service| format!("{} for each packet", service_time(&service))));
    parts.extend(node.clock.map(|clock| format!("clock: {clock}")));
    parts.extend((!node.parts.is_empty()).then(|| format!("parts {}", names(&node.parts))));
    parts
}

fn controller(controller: &ControllerPlan) -> String {
    let loss = match controller.loss {
        0.0 => "no loss".to_owned(),
        loss => format!("loss probability {}", number(loss)),
    };
    format!("controller {}: message delay {}, {loss}", controller.scheme.scheme.name, ms(controller.delay))
}

fn cache(cache: &CachePlan) -> String {
    let policy = Policy::ALL.iter().find(|(policy, _)| *policy == cache.policy).map_or("", |(_, word)| word);
    let kept = match cache.admission {
        Admission::Everywhere => String::new(),
        Admission::LeaveCopyDown => ", leave copy down".to_owned(),
        Admission::Probability(part) => format!(", each Data packet with probability {}", number(part)),
    };
    format!("cache of {} ({policy}{kept})", cache.size)
}

fn service_time(service: &ServicePlan) -> String {
    match service.time {
        ServiceTime::Constant(time) => time.to_string(),
        ServiceTime::Exponential(time) => format!("{time} on average (exponential)"),
    }
}

fn names(schemes: &[SchemeUse]) -> String {
    let names: Vec<&str> = schemes.iter().map(|part| part.scheme.name).collect();
    names.join(", ")
}

/// Joins the descriptions of two directions, which are given once if they are equal.
fn both(ways: [String; 2]) -> String {
    let [forward, backward] = ways;
    if forward == backward { forward } else { format!("{forward} (back: {backward})") }
}

fn about_link(plan: &Plan, link: &LinkPlan) -> String {
    let medium = link.medium.and_then(|medium| plan.media.get(medium)).map(|medium| &medium.name);
    let mut parts = vec![both(link.rate.map(|rate| rate.to_string())), link.delay.to_string()];
    if link.jitter > Span::ZERO {
        let order = if link.reorder { ", which may change their order" } else { "" };
        parts.push(format!("jitter up to {}{order}", link.jitter));
    }
    if let Some(mtu) = link.mtu {
        parts.push(format!("frames of {mtu} at most"));
    }
    parts.extend(medium.map(|medium| format!("on medium {medium}")));
    parts.extend(link.link_service.iter().map(|service| format!("link service {}", service.scheme.name)));
    let loss = both([0, 1].map(|way| about_loss(&link.loss[way])));
    parts.extend((loss != "no loss").then_some(loss));
    parts.push(format!("queue {}", both([0, 1].map(|way| about_queue(&link.queue[way])))));
    parts.join(", ")
}

fn about_loss(loss: &LossPlan) -> String {
    match loss {
        LossPlan::None => "no loss".to_owned(),
        LossPlan::Bernoulli { probability } if *probability == 0.0 => "no loss".to_owned(),
        LossPlan::Bernoulli { probability } => format!("{} % loss", number(probability * 100.0)),
        LossPlan::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
            let bad = to_bad / (to_bad + to_good).max(f64::MIN_POSITIVE);
            let mean = bad * loss_bad + (1.0 - bad) * loss_good;
            format!("loss in bursts, {} % on average", number(mean * 100.0))
        }
        LossPlan::Spells { good, bad } => {
            let part = bad.as_secs_f64() / (good.as_secs_f64() + bad.as_secs_f64()).max(f64::MIN_POSITIVE);
            format!(
                "everything lost in spells of {} ms, {} % of the time",
                number(bad.as_millis_f64()),
                number(part * 100.0)
            )
        }
        LossPlan::Bursts { probability, most } => {
            format!("{} % loss of bursts of up to {most}", number(probability * 100.0))
        }
        LossPlan::Trace(pattern) => {
            let lost = pattern.iter().filter(|lost| **lost).count();
            format!("loses {lost} of each {} packets", pattern.len())
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

fn about_flow(plan: &Plan, flow: &FlowPlan, facts: &FlowFacts) -> Vec<String> {
    let mut path: Vec<&str> = facts.nodes.iter().map(|node| plan.nodes[*node].name.as_str()).collect();
    let others = match flow.producers.len() {
        1 => String::new(),
        producers => format!(" (the nearest of {producers} producers)"),
    };
    let what = if flow.tcp.is_some() {
        path.reverse();
        format!("sends {} over TCP: {}", demand(flow), path.join(" > "))
    } else {
        format!("fetches {} under {} along {}{others}", demand(flow), flow.prefix, path.join(" > "))
    };
    let mut lines =
        vec![what, format!("with {}, from {} s", flow.scheme.scheme.name, number(flow.start.as_secs_f64()))];
    let processing = flow.processing.as_ref().map(service_time);
    lines.extend(processing.map(|time| format!("the producer takes {time} per Interest")));
    lines.push(format!("round trip without queues: {}", ms(facts.round_trip)));
    if let Some(bottleneck) = &facts.bottleneck {
        lines.extend(about_bottleneck(plan, bottleneck));
    }
    lines.extend(
        facts
            .min_transfer
            .map(|least| format!("minimum completion time on this path: {} s", number(least.as_secs_f64()))),
    );
    lines
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
            let pace = match workload.arrivals {
                None => "as fast as the scheme allows".to_owned(),
                Some(Arrivals::Constant(rate)) => format!("{rate} at equal intervals"),
                Some(Arrivals::Poisson(rate)) => format!("{rate} on average, Poisson"),
            };
            format!("{objects} objects of {segments} segments of {payload} by popularity ({pace})")
        }
        Demand::Constant { rate, bursts } if bursts.is_empty() => format!("{rate} in segments of {payload}"),
        Demand::Constant { rate, bursts } => {
            format!("{rate} in segments of {payload}, in bursts ({})", bursts.len())
        }
    }
}

fn about_bottleneck(plan: &Plan, bottleneck: &Bottleneck) -> Vec<String> {
    let link = &plan.links[bottleneck.link];
    let ends = if bottleneck.way == 0 { [link.a, link.b] } else { [link.b, link.a] };
    let [from, to] = ends.map(|end| &plan.nodes[end].name);
    let alone = match bottleneck.flows {
        1 => "alone".to_owned(),
        flows => format!("shared by {flows} flows"),
    };
    let ratio = format!("{:.2}", bottleneck.queue_packets / bottleneck.product_packets);
    vec![
        format!(
            "bottleneck: {} from {from} to {to}, {}, {alone}; {} of content",
            link.name,
            mbps(bottleneck.rate),
            mbps(bottleneck.content)
        ),
        format!(
            "bandwidth-delay product: {} packets of {}; the queue holds {} ({} times as many), {} when full",
            number(bottleneck.product_packets),
            bottleneck.packet,
            number(bottleneck.queue_packets),
            ratio,
            ms(bottleneck.queue_time)
        ),
    ]
}

fn notification(silent: bool) -> &'static str {
    if silent { ", without notification" } else { "" }
}

fn changes(plan: &Plan) -> Vec<String> {
    let link = |link: usize| &plan.links[link].name;
    let node = |node: usize| &plan.nodes[node].name;
    let render = |change: &Change| match *change {
        Change::LinkDown { link: index, keep_queue, silent } => {
            let queues =
                if keep_queue { ", its queues keep their packets" } else { ", its packets are lost" };
            format!("{} goes down{queues}{}", link(index), notification(silent))
        }
        Change::LinkUp { link: index } => format!("{} comes up", link(index)),
        Change::LinkRate { link: index, rate } => format!("the rate of {} changes to {rate}", link(index)),
        Change::NodeOff { node: index, silent } => {
            format!("{} goes down with all its links{}", node(index), notification(silent))
        }
        Change::NodeOn { node: index } => format!("{} comes up", node(index)),
        Change::NodeRestart { node: index } => {
            format!("{} restarts and loses its state", node(index))
        }
        Change::ControllerDown => "the controller stops".to_owned(),
        Change::ControllerUp => "a new controller starts without state".to_owned(),
    };
    let told = plan.events.iter().take(MAX_LINES);
    let mut lines: Vec<String> = told
        .map(|event| format!("{} s: {}", number(event.at.as_secs_f64()), render(&event.change)))
        .collect();
    if plan.events.len() > MAX_LINES {
        lines.push(format!("{} more", plan.events.len() - MAX_LINES));
    }
    lines
}

fn runs(plan: &Plan, facts: &Facts) -> Vec<String> {
    let end = if plan.stop_when_complete { " or until every finite flow is complete" } else { "" };
    let (first, last) = (plan.seeds.first(), plan.seeds.last());
    let seeds = match (first, last) {
        (Some(first), Some(last)) if first != last => format!("seeds {} to {}", first.0, last.0),
        (Some(only), _) => format!("seed {}", only.0),
        _ => "no seed".to_owned(),
    };
    let total_hops = facts.packet_hops * plan.seeds.len() as f64;
    let mut lines = vec![
        format!("{seeds}, {} each{end}", plan.duration),
        match facts.random.as_slice() {
            [] => "nothing is random".to_owned(),
            random => format!("between seeds: {}", random.join("; ")),
        },
        format!(
            "at most about {} packet-hops per run; {} on one core for all runs",
            count(facts.packet_hops),
            work(total_hops)
        ),
    ];
    lines.push(match plan.sampling {
        Some(pause) => format!("samples every {pause}: {} rows", count(facts.sample_rows)),
        None => "no samples".to_owned(),
    });
    lines
}

/// `1.2 million`, for what is only known about.
pub(super) fn count(value: f64) -> String {
    match value {
        value if value >= 1e9 => format!("{:.1} billion", value / 1e9),
        value if value >= 1e6 => format!("{:.1} million", value / 1e6),
        value if value >= 1e4 => format!("{:.0} thousand", value / 1e3),
        value => format!("{value:.0}"),
    }
}

/// The order of magnitude of the time that `hops` take.
fn work(hops: f64) -> &'static str {
    match hops / HOPS_PER_S {
        seconds if seconds < 2.0 => "a second or two",
        seconds if seconds < 20.0 => "some seconds",
        seconds if seconds < 90.0 => "about a minute",
        seconds if seconds < 1200.0 => "some minutes",
        seconds if seconds < 7200.0 => "about an hour",
        seconds if seconds < 72_000.0 => "some hours",
        _ => "days",
    }
}
