//! Contents of a run except its flows: changes, recorded events, expectations, seeds.

use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::rng::Seed;
use tidegate_core::units::{Span, Time};
use tidegate_settings::document::{Item, TomlValue};
use tidegate_settings::fields::Fields;
use tidegate_settings::read_context::ReadContext;
use tidegate_settings::values::{read_text, shown};

use super::keys;
use super::network::NetworkTable;
use crate::plan::{Change, ComparisonOperator, EventPlan, Expectation, MEASURES, Variation};

/// Maximum number of samples of one run.
const MAX_SAMPLES: u64 = 10_000_000;
/// Maximum number of changes during one run.
const MAX_EVENTS: usize = 1_000_000;

/// Settings of the table `[scenario]`.
pub(super) struct ScenarioFrame {
    pub name: String,
    pub duration: Span,
    pub seeds: Vec<Seed>,
    pub stop_when_complete: bool,
    pub sampling: Option<Span>,
    pub recorded: EventMask,
    pub variation: Variation,
}

/// Reads `[scenario]`; invalid values are replaced by harmless ones.
pub(super) fn read_frame(scenario: &Fields<'_>) -> ScenarioFrame {
    let duration = scenario.time("duration").unwrap_or(Span::MAX);
    let first = scenario.count("first_seed").and_then(|first| u64::try_from(first).ok()).unwrap_or(1);
    let count = scenario.count("seeds").and_then(|count| u64::try_from(count).ok()).unwrap_or(1);
    let name = scenario.text("name").unwrap_or_default();
    if scenario.item("name").is_some() && (name.trim().is_empty() || name.chars().count() > 200) {
        scenario.refuse("name", "name: 1 to 200 characters are needed");
    }
    ScenarioFrame {
        name,
        duration,
        seeds: (first..first.saturating_add(count)).map(Seed).collect(),
        stop_when_complete: scenario.flag("stop_when_complete").unwrap_or(false),
        sampling: read_sampling(scenario, duration),
        recorded: read_recorded(scenario),
        variation: read_variation(scenario),
    }
}

fn read_sampling(scenario: &Fields<'_>, duration: Span) -> Option<Span> {
    match scenario.item("sample").map(|item| &item.value) {
        Some(TomlValue::Bool(false)) => return None,
        Some(TomlValue::Bool(true)) => {
            return scenario
                .refused("sample", "sample: true is not an interval; write one like \"10ms\", or false");
        }
        _ => {}
    }
    let pause = scenario.time("sample")?;
    let samples = duration.as_nanos() / pause.as_nanos().max(1);
    if samples > MAX_SAMPLES && duration != Span::MAX {
        scenario.refuse("sample", format!("sample: {samples} samples in {duration}; at most {MAX_SAMPLES}"));
    }
    Some(pause)
}

fn read_variation(scenario: &Fields<'_>) -> Variation {
    let vary = scenario.table("vary", &keys::VARY);
    Variation {
        start: vary.as_ref().and_then(|vary| vary.flag("start")).unwrap_or(false),
        delay: vary.as_ref().and_then(|vary| vary.number("delay")).unwrap_or(0.0),
    }
}

/// Every kind of event that a table can hold, with its bit, in core's words.
fn event_kinds() -> impl Iterator<Item = &'static (&'static str, EventMask)> {
    let without = EventMask::PACKETS.union(EventMask::PENDING);
    Event::KINDS.iter().filter(move |(_, bit)| !without.has(*bit))
}

/// The words that `events` accepts.
pub(super) fn event_words() -> Vec<&'static str> {
    event_kinds().map(|(kind, _)| *kind).chain(["all"]).collect()
}

fn read_recorded(scenario: &Fields<'_>) -> EventMask {
    let mut mask = EventMask::NONE;
    for item in scenario.list("events") {
        match read_text(item) {
            Ok("all") => mask = EventMask::RECORDED,
            Ok(text) => match event_kinds().find(|(kind, _)| *kind == text) {
                Some((_, bit)) => mask = EventMask(mask.0 | bit.0),
                None => scenario.context.refuse_word(item.place, "event", text, event_words().into_iter()),
            },
            Err(why) => scenario.context.refuse(item.place, format!("events: {why}")),
        }
    }
    mask
}

/// Reads every `[[event]]`, in order of time.
pub(super) fn read_events(root: &Fields<'_>, network: &NetworkTable, duration: Span) -> Vec<EventPlan> {
    if root.list("event").len() > MAX_EVENTS {
        root.refuse("event", format!("more than {MAX_EVENTS} events"));
        return Vec::new();
    }
    let has_controller = root.item("controller").is_some();
    let tables = root.tables("event", &keys::EVENT);
    let mut events: Vec<EventPlan> =
        tables.iter().filter_map(|event| read_event(event, network, duration, has_controller)).collect();
    // A stable sort: changes at the same time keep the order of the file.
    events.sort_by_key(|event| event.at);
    events
}

fn read_event(
    event: &Fields<'_>,
    network: &NetworkTable,
    duration: Span,
    has_controller: bool,
) -> Option<EventPlan> {
    let at = event.time("at");
    if at.is_some_and(|at| at >= duration) {
        event.refuse("at", format!("at: {} is not before the end of the run, {duration}", event.shown("at")));
    }
    let given = ["link", "node", "controller"].map(|key| event.entry(key));
    let change = match given {
        [Some(_), None, None] => read_link_change(event, network),
        [None, Some(_), None] => read_node_change(event, network),
        [None, None, Some(entry)] => {
            if !has_controller {
                event.context.refuse(entry.place, "there is no [controller] to stop or start");
            }
            read_controller_change(event)
        }
        [None, None, None] => {
            event.refuse_missing("\"link\", \"node\" or \"controller\"");
            None
        }
        _ => {
            let last = given.iter().flatten().last().map_or(event.place, |entry| entry.place);
            event.context.refused(last, "an event changes one thing: a link, a node or the controller")
        }
    };
    Some(EventPlan { at: Time::from_nanos(at?.as_nanos()), change: change? })
}

/// Whether the requested state is up.
fn read_state(event: &Fields<'_>) -> Option<bool> {
    event.word("state", &[(false, "down"), (true, "up")])
}

fn read_link_change(event: &Fields<'_>, network: &NetworkTable) -> Option<Change> {
    let link = network.find_link(event.context, event.item("link")?);
    if event.item("restart").is_some() {
        event.refuse("restart", "restart applies to a node, not to a link");
    }
    let keep_queue = event.flag("keep_queue");
    let has_state = event.item("state").is_some();
    if event.item("rate").is_some() == has_state {
        return event.context.refused(event.place, "an event of a link has either \"rate\" or \"state\"");
    }
    let is_up = read_state(event);
    let silent = event.flag("silent");
    for (key, given) in [("keep_queue", keep_queue), ("silent", silent)] {
        if given.is_some() && is_up != Some(false) {
            event.refuse(key, format!("{key} requires state = \"down\""));
        }
    }
    if has_state {
        let (link, is_up) = (link?, is_up?);
        let (keep_queue, silent) = (keep_queue.unwrap_or(false), silent.unwrap_or(false));
        let down = Change::LinkDown { link, keep_queue, silent };
        return Some(if is_up { Change::LinkUp { link } } else { down });
    }
    if link.and_then(|link| network.links.get(link)).is_some_and(|link| link.medium.is_some()) {
        event.refuse("rate", "rate: a link on a medium has the rate of its MCS");
    }
    let rate = event.rate("rate");
    Some(Change::LinkRate { link: link?, rate: rate? })
}

fn read_node_change(event: &Fields<'_>, network: &NetworkTable) -> Option<Change> {
    let node = network.find_node(event.context, event.item("node")?);
    for key in ["rate", "keep_queue"] {
        if let Some(entry) = event.entry(key) {
            event.context.refuse(entry.place, format!("{key} applies to a link, not to a node"));
        }
    }
    if event.item("restart").is_some() {
        return read_restart(event, node?);
    }
    if event.item("state").is_none() {
        event.refuse_missing("\"state\" or \"restart\"");
    }
    let silent = event.flag("silent");
    let (is_up, node) = (read_state(event)?, node?);
    if silent.is_some() && is_up {
        event.refuse("silent", "silent requires state = \"down\"");
    }
    Some(if is_up {
        Change::NodeOn { node }
    } else {
        Change::NodeOff { node, silent: silent.unwrap_or(false) }
    })
}

fn read_restart(event: &Fields<'_>, node: usize) -> Option<Change> {
    for key in ["state", "silent"] {
        if event.item(key).is_some() {
            event.refuse(
                key,
                format!("{key} cannot be combined with restart: neighbours are not notified of a restart"),
            );
        }
    }
    if event.flag("restart")? {
        return Some(Change::NodeRestart { node });
    }
    event.refused("restart", "restart: false changes nothing; true is the only value")
}

fn read_controller_change(event: &Fields<'_>) -> Option<Change> {
    for key in ["rate", "state", "restart", "keep_queue", "silent"] {
        if let Some(entry) = event.entry(key) {
            event.context.refuse(
                entry.place,
                format!("{key} does not apply to the controller, which is \"down\" or \"up\""),
            );
        }
    }
    let change = [(Change::ControllerDown, "down"), (Change::ControllerUp, "up")];
    event.word("controller", &change)
}

/// Reads the table `[expect]` of a scenario.
pub(super) fn read_expectations(context: &ReadContext<'_>, expect: &Item) -> Vec<Expectation> {
    let TomlValue::Table(table) = &expect.value else {
        context.refuse(expect.place, format!("[expect] is {}; a table is needed", expect.value.kind()));
        return Vec::new();
    };
    let mut expectations = Vec::new();
    for entry in &table.0 {
        let Some(measure) = MEASURES.iter().copied().find(|measure| *measure == entry.key) else {
            context.refuse_word(entry.place, "measure", &entry.key, MEASURES.iter().copied());
            continue;
        };
        let bounds = match &entry.item.value {
            TomlValue::List(items) => items.as_slice(),
            _ => std::slice::from_ref(&entry.item),
        };
        for bound in bounds {
            match read_bound(bound) {
                Ok((comparison, bound)) => {
                    expectations.push(Expectation { measure, comparison, bound });
                }
                Err(why) => context.refuse(bound.place, format!("{}: {why}", entry.key)),
            }
        }
    }
    expectations
}

fn read_bound(item: &Item) -> Result<(ComparisonOperator, f64), String> {
    const SIGNS: [(&str, ComparisonOperator); 4] = [
        (">=", ComparisonOperator::AtLeast),
        ("<=", ComparisonOperator::AtMost),
        (">", ComparisonOperator::Above),
        ("<", ComparisonOperator::Below),
    ];
    let wrong = || format!("{} is not an expectation; write it like \">= 0.9\"", shown(&item.value));
    let TomlValue::Text(text) = &item.value else { return Err(wrong()) };
    let text = text.trim();
    let found = SIGNS.iter().find_map(|(sign, comparison)| Some((text.strip_prefix(sign)?, *comparison)));
    let (number, comparison) = found.ok_or_else(wrong)?;
    let bound: f64 = number.trim().parse().map_err(|_| wrong())?;
    if bound.is_finite() { Ok((comparison, bound)) } else { Err(wrong()) }
}
