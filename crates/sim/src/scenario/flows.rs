//! Flows with their consumers, producers and demand, one plan per repetition.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use tidegate_core::ndn::consumer::profile::{ConsumerProfile, ProfileOptions, ProfileRules};
use tidegate_core::units::{BitRate, ByteCount, Span, Time};
use tidegate_settings::document::{Item, TomlValue};
use tidegate_settings::error::Place;
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::CONSUMER;
use tidegate_settings::prefix::canonical_prefix;
use tidegate_settings::read_context::{ReadContext, show};
use tidegate_settings::uses;
use tidegate_settings::values::read_text;

use super::network::NetworkTable;
use super::{Limits, keys, service, whole, workload};
use crate::plan::{Demand, FlowPlan, FlowSettings};

/// Maximum number of producers of one flow.
const MAX_PRODUCERS: usize = 1_000;
/// Maximum number of bursts of one flow.
const MAX_BURSTS: usize = 10_000;
/// Maximum number of segments of one flow; the highest number means "no segment".
pub(super) const MAX_SEGMENTS: u64 = 4_294_967_294;

/// Reads every table `[[flow]]` of a scenario.
pub(super) fn read(
    root: &Fields<'_>,
    network: &NetworkTable,
    duration: Span,
    limits: &Limits,
) -> Vec<FlowPlan> {
    let context = root.context;
    let is_empty = |key| {
        // A value of another type is reported as such, and not as missing.
        let is_list = root.item(key).is_none_or(|item| matches!(item.value, TomlValue::List(_)));
        is_list && root.list(key).is_empty()
    };
    if is_empty("flow") && is_empty("tcp") {
        context.refuse(root.place_of("flow"), "there are no flows; write at least one [[flow]] or [[tcp]]");
    }
    let mut flows: Vec<(Fields<'_>, Template)> = Vec::new();
    let mut total = 0_u64;
    for flow in root.list("flow").iter().filter_map(|item| Fields::open(context, item, &keys::FLOW)) {
        let Some(template) = Template::read(&flow, duration) else { continue };
        total = total.saturating_add(template.repeat);
        if total > limits.flows as u64 {
            let key = if flow.item("repeat").is_some() { "repeat" } else { "consumer" };
            flow.refuse(key, format!("{total} flows with these; at most {}", limits.flows));
            return Vec::new();
        }
        if !context.claim(flow.place, template.bytes(), template.repeat) {
            return Vec::new();
        }
        flows.push((flow, template));
    }
    let mut roster = Roster::default();
    for (table, (flow, template)) in flows.iter().enumerate() {
        if context.is_full() {
            break;
        }
        roster.table = table;
        roster.add(flow, template, network);
    }
    roster.plans.shrink_to_fit();
    roster.plans
}

/// Settings that all repetitions of a flow share, and the templates of those that differ.
struct Template {
    repeat: u64,
    texts: Texts,
    settings: Arc<FlowSettings>,
    start: Time,
}

/// Texts that may contain `{i}`.
struct Texts {
    name: Option<String>,
    consumer: String,
    producers: Vec<(Place, String)>,
    prefix: String,
}

impl Template {
    fn read(flow: &Fields<'_>, duration: Span) -> Option<Self> {
        // Everything is read before the first `?`, so that all mistakes of a flow are reported together.
        let repeat = flow.count("repeat").and_then(|count| u64::try_from(count).ok());
        let texts = Texts::read(flow);
        let scheme = whole::read_end(flow, &CONSUMER);
        let profile =
            read_profile(flow, scheme.as_ref().map_or(ConsumerProfile::Own, |scheme| scheme.scheme.profile));
        let payload = flow.size("payload");
        let demand = read_demand(flow, payload.unwrap_or(ByteCount::new(1)), duration);
        let (start, stop) = (flow.time("start"), flow.time("stop"));
        check_times(flow, start.unwrap_or_default(), stop, duration);
        let (repeat, texts) = (repeat?, texts?);
        let settings = FlowSettings {
            scheme: scheme?,
            profile: profile?,
            demand: demand?,
            payload: payload?,
            freshness: flow.time("freshness")?,
            processing: service::read(flow, "processing"),
            must_be_fresh: flow.flag("must_be_fresh")?,
            stop: stop.map(|stop| Time::ZERO + stop),
        };
        Some(Self { repeat, texts, settings: Arc::new(settings), start: Time::ZERO + start? })
    }

    /// Estimate of the bytes that one flow takes in a plan.
    fn bytes(&self) -> u64 {
        let bursts = if let Demand::Constant { bursts, .. } = &self.settings.demand {
            16 * bursts.len() as u64
        } else {
            0
        };
        let texts = 2 * (self.texts.consumer.len() + self.texts.prefix.len()) as u64;
        700 + texts
            + 8 * self.texts.producers.len() as u64
            + bursts
            + uses::bytes(std::slice::from_ref(&self.settings.scheme))
    }
}

pub(super) fn check_times(flow: &Fields<'_>, start: Span, stop: Option<Span>, duration: Span) {
    if start >= duration {
        flow.refuse(
            "start",
            format!(
                "start: {} is not before the end of the run, scenario.duration = {duration}; write an earlier start or a \
                 longer duration",
                flow.shown("start")
            ),
        );
    }
    if stop.is_some_and(|stop| stop <= start) {
        flow.refuse("stop", format!("stop: {} is not after the start, {start}", flow.shown("stop")));
    }
}

impl Texts {
    fn read(flow: &Fields<'_>) -> Option<Self> {
        let name = flow.text("name");
        if name.as_ref().is_some_and(|name| name.is_empty() || name.len() > 200) {
            return flow.refused("name", "name: 1 to 200 bytes are needed");
        }
        let consumer = flow.text("consumer");
        let prefix = flow.text("prefix");
        let producers = read_producers(flow);
        Some(Self { name, consumer: consumer?, producers: producers?, prefix: prefix? })
    }
}

fn read_producers(flow: &Fields<'_>) -> Option<Vec<(Place, String)>> {
    let item = flow.item("producer")?;
    let items = match &item.value {
        TomlValue::List(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    if items.is_empty() || items.len() > MAX_PRODUCERS {
        return flow.refused(
            "producer",
            format!("producer: 1 to {MAX_PRODUCERS} nodes are needed, not {}", items.len()),
        );
    }
    let read = |item: &Item| {
        let text = read_text(item).map_err(|why| format!("producer: {why}"));
        Some((item.place, flow.context.accept(item.place, text)?.to_owned()))
    };
    items.iter().map(read).collect()
}

fn read_profile(flow: &Fields<'_>, kind: ConsumerProfile) -> Option<ProfileRules> {
    match flow.item("profile").map(|item| &item.value) {
        None => Some(ProfileRules::of(kind)),
        Some(TomlValue::Text(_)) => flow.word("profile", &ConsumerProfile::ALL).map(ProfileRules::of),
        Some(_) => flow.table("profile", &keys::PROFILE).map(|profile| read_profile_table(&profile, kind)),
    }
}

fn read_profile_table(table: &Fields<'_>, kind: ConsumerProfile) -> ProfileRules {
    let mut profile = ProfileRules::of(table.word("kind", &ConsumerProfile::ALL).unwrap_or(kind));
    set(&mut profile.estimator, table.word("estimator", keys::ESTIMATORS));
    profile.timeout.min = table.time("min_timeout").or(profile.timeout.min);
    profile.timeout.backoff =
        table.count_u32("backoff_limit").and_then(NonZeroU32::new).or(profile.timeout.backoff);
    profile.timeout.variations =
        table.count_u32("variations").and_then(NonZeroU32::new).or(profile.timeout.variations);
    set(&mut profile.sweep, table.time("sweep"));
    set(&mut profile.reading, table.word("reading", keys::READINGS));
    set(&mut profile.tracking, table.word("tracking", keys::TRACKINGS));
    set(&mut profile.retransmit, table.word("retransmit", keys::RETRANSMIT_ORDERS));
    set(
        &mut profile.retry_limit,
        match text_of(table, "retry_limit") {
            Some(_) => table.word("retry_limit", &[(None, "none")]),
            None => table.count_u32("retry_limit").map(Some),
        },
    );
    set(
        &mut profile.lifetime,
        match text_of(table, "lifetime") {
            Some("auto") => Some(None),
            _ => table.time("lifetime").map(Some),
        },
    );
    for (key, option) in [
        ("nack_is_loss", ProfileOptions::NACK_IS_LOSS),
        ("whole_window", ProfileOptions::WHOLE_WINDOW),
        ("one_over", ProfileOptions::ONE_OVER),
    ] {
        if let Some(on) = table.flag(key) {
            profile.options.set(option, on);
        }
    }
    set(&mut profile.notice, table.word("notice", keys::NOTICES));
    profile.hop_limit =
        table.count("hop_limit").and_then(|limit| u8::try_from(limit).ok()).or(profile.hop_limit);
    profile
}

/// Changes a value if there is a new one.
fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

/// The value of `key` if it is a text.
fn text_of<'a>(fields: &Fields<'a>, key: &str) -> Option<&'a str> {
    fields.item(key).and_then(|item| read_text(item).ok())
}

fn read_demand(flow: &Fields<'_>, payload: ByteCount, duration: Span) -> Option<Demand> {
    let given: Vec<&str> =
        ["size", "segments", "rate", "demand"].into_iter().filter(|key| flow.item(key).is_some()).collect();
    if let [first, second, ..] = given.as_slice() {
        return flow.refused(
            second,
            format!("a flow has one of size, segments, rate and demand; {first:?} is already given"),
        );
    }
    if flow.item("bursts").is_some() && flow.item("rate").is_none() {
        flow.refuse("bursts", "bursts need a \"rate\"");
    }
    if flow.item("size_rule").is_some() && flow.item("size").is_none() {
        flow.refuse("size_rule", "size_rule requires \"size\"");
    }
    match given.first().copied() {
        None => Some(Demand::Endless),
        Some("size") => Some(Demand::File { segments: segments_of_size(flow, payload)? }),
        Some("segments") => Some(Demand::File { segments: flow.count_u32("segments")? }),
        Some("demand") => workload::read(flow).map(Demand::Objects),
        Some(_) => read_constant(flow, flow.rate("rate"), duration),
    }
}

fn segments_of_size(flow: &Fields<'_>, payload: ByteCount) -> Option<u32> {
    let size = flow.size("size")?.get();
    let is_ndnsim = flow.word("size_rule", &[(false, "ceil"), (true, "ndnsim")])?;
    let payload = payload.get().max(1);
    // ndnSIM requests one segment more than needed if the size is a multiple of the payload.
    let segments = if is_ndnsim { (size / payload).saturating_add(1) } else { size.div_ceil(payload) };
    if segments > MAX_SEGMENTS {
        flow.refuse("size", format!("size: {segments} segments; at most {MAX_SEGMENTS}"));
    }
    u32::try_from(segments).ok()
}

fn read_constant(flow: &Fields<'_>, rate: Option<BitRate>, duration: Span) -> Option<Demand> {
    let items = flow.list("bursts");
    if items.len() > MAX_BURSTS || (items.is_empty() && flow.item("bursts").is_some()) {
        return flow.refused("bursts", format!("bursts: 1 to {MAX_BURSTS} are needed, not {}", items.len()));
    }
    let mut bursts: Vec<(Time, Span, Place)> = Vec::new();
    for burst in flow.tables("bursts", &keys::BURST) {
        let (Some(at), Some(length)) = (burst.time("at"), burst.time("for")) else { continue };
        if at >= duration {
            burst.refuse(
                "at",
                format!("at: {} is not before the end of the run, {duration}", burst.shown("at")),
            );
        }
        bursts.push((Time::ZERO + at, length, burst.place));
    }
    bursts.sort_by_key(|(at, ..)| *at);
    for pair in bursts.windows(2) {
        if let [(at, length, _), (next, _, place)] = pair
            && *at + *length > *next
        {
            flow.context.refuse(*place, "this burst starts before the end of the previous one");
        }
    }
    let bursts = bursts.into_iter().map(|(at, length, _)| (at, length)).collect();
    Some(Demand::Constant { rate: rate?, bursts })
}

/// The flows so far with their names and prefixes.
#[derive(Default)]
struct Roster {
    plans: Vec<FlowPlan>,
    /// The table that is read.
    table: usize,
    names: BTreeSet<String>,
    /// The first flow of each prefix.
    served: BTreeMap<String, usize>,
}

impl Roster {
    fn add(&mut self, flow: &Fields<'_>, template: &Template, network: &NetworkTable) {
        for number in 1..=template.repeat {
            if self.add_one(flow, template, network, number).is_none() {
                return;
            }
        }
    }

    /// Adds one repetition; `None` ends them, as the next one would have the same problem.
    fn add_one(
        &mut self,
        flow: &Fields<'_>,
        template: &Template,
        network: &NetworkTable,
        number: u64,
    ) -> Option<()> {
        let context = flow.context;
        let expand = |place, text: &str| expand(context, place, text, number, flow.item("repeat").is_some());
        let texts = &template.texts;
        let consumer_name = expand(flow.place_of("consumer"), &texts.consumer)?;
        let consumer = network.node_called(context, flow.place_of("consumer"), &consumer_name);
        let mut producers = Vec::new();
        for (place, text) in &texts.producers {
            producers.push((*place, network.node_called(context, *place, &expand(*place, text)?)));
        }
        let prefix = expand(flow.place_of("prefix"), &texts.prefix)?;
        let prefix = flow.accept("prefix", canonical_prefix(&prefix))?;
        let name = match &texts.name {
            Some(name) => expand(flow.place_of("name"), name)?,
            None => format!("{consumer_name}:{prefix}"),
        };
        let consumer = consumer?;
        let producers = check_producers(context, network, consumer, &producers)?;
        self.claim_name(flow, &name)?;
        self.claim_prefix(flow, template, &prefix, &producers)?;
        self.plans.push(FlowPlan {
            name,
            table: self.table,
            consumer,
            producers,
            prefix,
            settings: Arc::clone(&template.settings),
            start: template.start,
            tcp: None,
        });
        Some(())
    }

    fn claim_name(&mut self, flow: &Fields<'_>, name: &str) -> Option<()> {
        if self.names.insert(name.to_owned()) {
            return Some(());
        }
        let hint = if flow.item("name").is_some() { "" } else { "; set name = \"...\" in one of them" };
        let place = flow.item("name").map_or(flow.place, |item| item.place);
        flow.context.refused(place, format!("two flows have the name {}{hint}", show(name)))
    }

    /// Checks that all flows of a prefix have the same content and producers.
    fn claim_prefix(
        &mut self,
        flow: &Fields<'_>,
        template: &Template,
        prefix: &str,
        producers: &[usize],
    ) -> Option<()> {
        let Some(first) = self.served.get(prefix).and_then(|index| self.plans.get(*index)) else {
            self.served.insert(prefix.to_owned(), self.plans.len());
            return Some(());
        };
        let difference = if first.producers != producers {
            ("producer", "other producers")
        } else if first.payload != template.settings.payload {
            ("payload", "another payload")
        } else if first.freshness != template.settings.freshness {
            ("freshness", "another freshness")
        } else if first.processing != template.settings.processing {
            ("processing", "another processing")
        } else {
            return Some(());
        };
        let (key, what) = difference;
        flow.refused(key, format!("prefix {} has {what} in flow {}", show(prefix), show(&first.name)))
    }
}

/// The producers in order, each once.
fn check_producers(
    context: &ReadContext<'_>,
    network: &NetworkTable,
    consumer: usize,
    producers: &[(Place, Option<usize>)],
) -> Option<Vec<usize>> {
    let mut checked = BTreeSet::new();
    for (place, producer) in producers {
        let producer = (*producer)?;
        if producer == consumer {
            return context.refused(*place, "producer: this node is the consumer");
        }
        if !network.connects(consumer, producer) {
            return context.refused(*place, "producer: the consumer has no path to this node");
        }
        if !checked.insert(producer) {
            return context.refused(*place, "producer: this node is listed twice");
        }
    }
    Some(checked.into_iter().collect())
}

/// Replaces `{i}`, `{i+N}` and `{i%N}`, which counts 1, 2, ..., N, 1, ....
pub(super) fn expand(
    context: &ReadContext<'_>,
    place: Place,
    text: &str,
    number: u64,
    is_repeated: bool,
) -> Option<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let counted = after.split_once('}').filter(|_| is_repeated);
        let counted = counted.and_then(|(inside, tail)| Some((counter(inside, number)?, tail)));
        let Some((value, tail)) = counted else {
            let rule = if is_repeated { "write {i}, {i+N} or {i%N}" } else { "it needs \"repeat\"" };
            return context.refused(place, format!("{} has a \"{{\"; {rule}", show(text)));
        };
        filled.push_str(before);
        filled.push_str(&value.to_string());
        rest = tail;
    }
    filled.push_str(rest);
    Some(filled)
}

/// The value of `i`, `i+N` or `i%N` in repetition `number`.
fn counter(text: &str, number: u64) -> Option<u64> {
    let operation = text.strip_prefix('i')?;
    if operation.is_empty() {
        return Some(number);
    }
    let mut signs = operation.chars();
    let sign = signs.next()?;
    let operand: u64 = signs.as_str().parse().ok()?;
    match sign {
        '+' => number.checked_add(operand),
        // Repetitions count from 1.
        '%' => Some((number - 1).checked_rem(operand)? + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count_from_one_shift_and_wrap() {
        let values = |text: &str| [1, 2, 3, 4].map(|number| counter(text, number));
        assert_eq!(values("i"), [1, 2, 3, 4].map(Some));
        assert_eq!(values("i+10"), [11, 12, 13, 14].map(Some));
        assert_eq!(values("i%3"), [1, 2, 3, 1].map(Some));
        for text in ["", "j", "i*2", "i%0", "i%", "i+-1", "ii", "i+99999999999999999999"] {
            assert_eq!(values(text), [None; 4], "{text:?}");
        }
    }
}
