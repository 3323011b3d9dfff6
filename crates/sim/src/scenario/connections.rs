//! TCP connections: sender, receiver and settings, one plan per repetition. They follow the flows of
//! Interests in the plan.

use std::collections::BTreeSet;
use std::sync::Arc;

use tidegate_core::ndn::consumer::profile::{ConsumerProfile, ProfileRules};
use tidegate_core::tcp::{AckPolicy, SenderSettings, TimeoutBounds};
use tidegate_core::units::{ByteCount, Span, Time};
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::TCP_SENDER;
use tidegate_settings::prefix::canonical_prefix;
use tidegate_settings::read_context::show;
use tidegate_settings::uses;

use super::flows::{MAX_SEGMENTS, check_times, expand};
use super::network::NetworkTable;
use super::{Limits, keys, whole};
use crate::plan::{Demand, FlowPlan, FlowSettings, TcpPlan};

/// Reads every `[[tcp]]` and adds its connections to `plans`.
pub(super) fn read(
    root: &Fields<'_>,
    network: &NetworkTable,
    duration: Span,
    limits: &Limits,
    plans: &mut Vec<FlowPlan>,
) {
    let context = root.context;
    let mut names: BTreeSet<String> = plans.iter().map(|plan| plan.name.clone()).collect();
    for (table, item) in root.list("tcp").iter().enumerate() {
        let Some(fields) = Fields::open(context, item, &keys::TCP) else { continue };
        let Some(template) = Template::read(&fields, table, duration) else { continue };
        if plans.len() as u64 + template.repeat > limits.flows as u64 {
            let key = if fields.item("repeat").is_some() { "repeat" } else { "sender" };
            return fields.refuse(key, format!("more than {} flows with these", limits.flows));
        }
        if !context.claim(
            fields.place,
            700 + uses::bytes(std::slice::from_ref(&template.flow.scheme)),
            template.repeat,
        ) {
            return;
        }
        for number in 1..=template.repeat {
            let Some(plan) = template.plan(&fields, network, duration, number) else { break };
            if !names.insert(plan.name.clone()) {
                let why = format!(
                    "two flows have the name {}; set name = \"...\" in one of them",
                    show(&plan.name)
                );
                fields.refuse("name", why);
                break;
            }
            plans.push(plan);
        }
    }
}

/// Settings that all repetitions of a connection share.
struct Template {
    table: usize,
    repeat: u64,
    name: Option<String>,
    sender: String,
    receiver: String,
    port: u64,
    flow: Arc<FlowSettings>,
    start: Span,
    stagger: Span,
    settings: SenderSettings,
    receiver_ecn: bool,
    ack_policy: AckPolicy,
    buffer: ByteCount,
}

impl Template {
    fn read(fields: &Fields<'_>, table: usize, duration: Span) -> Option<Self> {
        let settings = read_settings(fields);
        let scheme = whole::read_end(fields, &TCP_SENDER);
        let (start, stop) = (fields.time("start"), fields.time("stop"));
        check_times(fields, start.unwrap_or_default(), stop, duration);
        let name = fields.text("name");
        if name.as_ref().is_some_and(|name| name.is_empty() || name.len() > 200) {
            return fields.refused("name", "name: 1 to 200 bytes are needed");
        }
        let repeat = u64::try_from(fields.count("repeat")?).ok()?;
        let (sender, receiver) = (fields.text("sender")?, fields.text("receiver")?);
        let port = u64::try_from(fields.count("port")?).ok()?;
        let settings = settings?;
        let flow = FlowSettings {
            demand: read_demand(fields, settings.mss)?,
            scheme: scheme?,
            profile: ProfileRules::of(ConsumerProfile::Own),
            payload: ByteCount::new(u64::from(settings.mss)),
            freshness: Span::ZERO,
            processing: None,
            must_be_fresh: false,
            stop: stop.map(|stop| Time::ZERO + stop),
        };
        Some(Self {
            table,
            repeat,
            name,
            sender,
            receiver,
            port,
            flow: Arc::new(flow),
            start: start?,
            stagger: fields.time("stagger")?,
            settings,
            receiver_ecn: fields.flag("receiver_ecn")?,
            ack_policy: read_ack_policy(fields)?,
            buffer: fields.size("receive_buffer")?,
        })
    }

    /// Repetition `number`; `None` if it has an error, as all further ones then have.
    fn plan(
        &self,
        fields: &Fields<'_>,
        network: &NetworkTable,
        duration: Span,
        number: u64,
    ) -> Option<FlowPlan> {
        let text = |key: &str, text: &str| {
            expand(fields.context, fields.place_of(key), text, number, fields.item("repeat").is_some())
        };
        let (sender_name, receiver_name) = (text("sender", &self.sender)?, text("receiver", &self.receiver)?);
        let sender = network.node_called(fields.context, fields.place_of("sender"), &sender_name)?;
        let receiver = network.node_called(fields.context, fields.place_of("receiver"), &receiver_name)?;
        if sender == receiver {
            return fields.refused("receiver", "receiver: this node is the sender");
        }
        if !network.connects(sender, receiver) {
            return fields.refused("receiver", "receiver: the sender has no path to this node");
        }
        let start = self.start + self.stagger * (number - 1);
        if start >= duration {
            // The start itself was refused before.
            if number > 1 {
                let why = format!(
                    "stagger: repetition {number} starts at {start}, the run ends at scenario.duration = {duration}; write \
                     a shorter stagger, fewer repetitions or a longer duration"
                );
                fields.refuse("stagger", why);
            }
            return None;
        }
        let name = match &self.name {
            Some(name) => text("name", name)?,
            None => format!("{sender_name}>{receiver_name}:{}", self.port),
        };
        Some(FlowPlan {
            name,
            table: self.table,
            consumer: receiver,
            producers: vec![sender],
            prefix: prefix(&sender_name, &receiver_name, self.port)?,
            settings: Arc::clone(&self.flow),
            start: Time::ZERO + start,
            tcp: Some(Box::new(TcpPlan {
                data_prefix: prefix(&receiver_name, &sender_name, self.port)?,
                settings: self.settings,
                receiver_ecn: self.receiver_ecn,
                ack_policy: self.ack_policy,
                buffer: self.buffer,
            })),
        })
    }
}

/// The prefix of segments to `to`'s end of a connection with `from`.
fn prefix(to: &str, from: &str, port: u64) -> Option<String> {
    canonical_prefix(&format!("/tcp/{}/{}/{port}", component(to), component(from))).ok()
}

/// A node's name as one component of a URI.
fn component(name: &str) -> String {
    // A dot is escaped as well: a component of dots alone has another form in a URI.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_~".contains(&byte);
    let escaped =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(escaped).collect()
}

fn read_settings(fields: &Fields<'_>) -> Option<SenderSettings> {
    let defaults = SenderSettings::default();
    let min = fields.time("min_timeout")?;
    if min > defaults.timeout.max {
        fields.refuse("min_timeout", format!("min_timeout: at most {}", defaults.timeout.max));
    }
    Some(SenderSettings {
        mss: u16::try_from(fields.size("mss")?.get()).ok()?,
        detection: fields.word("detection", keys::DETECTIONS)?,
        timeout_rule: fields.word("rto", keys::TIMEOUT_RULES)?,
        timeout: TimeoutBounds { min, ..defaults.timeout },
        burst: fields.count_u32("burst")?,
        ..defaults
    })
}

fn read_ack_policy(fields: &Fields<'_>) -> Option<AckPolicy> {
    Some(AckPolicy {
        every: fields.count_u32("ack_every")?,
        delay: fields.time("ack_delay")?,
        quick: fields.count_u32("quick_acks")?,
    })
}

fn read_demand(fields: &Fields<'_>, mss: u16) -> Option<Demand> {
    match (fields.item("size"), fields.item("rate")) {
        (Some(_), Some(_)) => {
            fields.refused("rate", "a connection has either size or rate; \"size\" is already given")
        }
        (None, Some(_)) => Some(Demand::Constant { rate: fields.rate("rate")?, bursts: Vec::new() }),
        (None, None) => Some(Demand::Endless),
        (Some(_), None) => {
            let segments = fields.size("size")?.get().div_ceil(u64::from(mss));
            if segments == 0 || segments > MAX_SEGMENTS {
                fields.refuse("size", format!("size: {segments} segments; 1 to {MAX_SEGMENTS} are possible"));
            }
            Some(Demand::File { segments: u32::try_from(segments).ok()? })
        }
    }
}
