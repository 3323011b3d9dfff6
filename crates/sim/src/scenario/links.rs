//! Link settings of a scenario in layers: `link`, then `access` or `bottleneck`, then the link's own.

use std::borrow::Cow;
use std::sync::Arc;

use tidegate_core::link::framed::MIN_MTU;
use tidegate_core::units::{BitRate, ByteCount, Span};
use tidegate_settings::document::TomlValue;
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::LINK_SERVICE;
use tidegate_settings::queue::{QUEUE, QueueValues};
use tidegate_settings::read_context::show;
use tidegate_settings::uses::{self, SchemeUse};
use tidegate_settings::values::shown;

use super::keys;
use super::media::Media;
use crate::plan::{LinkPlan, LossPlan};

/// Default MTU on a medium, that of the networks connected to it.
const USUAL_MTU: ByteCount = ByteCount::new(1_500);
/// Maximum payload of an 802.11 frame (IEEE 802.11-2016, 9.2.4.7).
pub(super) const MAX_MSDU: ByteCount = ByteCount::new(2_304);
/// Maximum number of packets in a loss pattern.
const LONGEST_PATTERN: usize = 16_000_000;

/// Values of a link, as far as they are given.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkValues {
    delay: Option<Span>,
    jitter: Option<Span>,
    reorder: Option<bool>,
    mtu: Option<ByteCount>,
    /// Number of its medium, and its rate there.
    medium: Option<(usize, BitRate)>,
    service: Option<SchemeUse>,
    cost: Option<u32>,
    directions: [DirectionValues; 2],
}

/// Values of one direction, as far as they are given.
#[derive(Clone, Debug, Default)]
struct DirectionValues {
    rate: Option<BitRate>,
    loss: Option<LossPlan>,
    queue: QueueValues,
}

impl LinkValues {
    /// Reads the keys of one link.
    pub fn read(link: &Fields<'_>, media: &Media) -> Self {
        let given = |key: &str| link.item(key).is_some();
        let both = DirectionValues::read(link);
        let medium = read_medium(link, media);
        let direction = |key| {
            let own = link.table(key, &keys::DIRECTION).map(|direction| {
                refuse_rate(&direction, medium);
                DirectionValues::read(&direction)
            });
            own.map_or_else(|| both.clone(), |own| both.with(&own))
        };
        Self {
            // A value that cannot be read has been reported; it does not count as missing as well.
            delay: link.time("delay").or(given("delay").then_some(Span::ZERO)),
            jitter: link.time("jitter").filter(|_| given("jitter")),
            reorder: link.flag("reorder").filter(|_| given("reorder")),
            mtu: read_mtu(link),
            medium,
            service: link.item("link_service").and_then(|item| uses::read(link.context, item, &LINK_SERVICE)),
            cost: link.count_u32("cost").filter(|_| given("cost")),
            directions: [direction("forward"), direction("backward")],
        }
    }

    /// These values, `over` where it gives some; a rate there takes the link off a medium here.
    pub fn with(&self, over: &Self) -> Self {
        let [forward, backward] = &self.directions;
        let [forward_over, backward_over] = &over.directions;
        // A medium and a rate exclude each other; the table that is read later decides.
        let is_wired = forward_over.rate.or(backward_over.rate).is_some();
        Self {
            delay: over.delay.or(self.delay),
            jitter: over.jitter.or(self.jitter),
            reorder: over.reorder.or(self.reorder),
            mtu: over.mtu.or(self.mtu),
            medium: over.medium.or(self.medium.filter(|_| !is_wired)),
            service: over.service.clone().or_else(|| self.service.clone()),
            cost: over.cost.or(self.cost),
            directions: [forward.with(forward_over), backward.with(backward_over)],
        }
    }

    /// These values, with this delay if none is given.
    pub fn or_delay(&self, delay: Option<Span>) -> Cow<'_, Self> {
        match delay {
            Some(_) if self.delay.is_none() => Cow::Owned(Self { delay, ..self.clone() }),
            _ => Cow::Borrowed(self),
        }
    }

    /// Estimate of the bytes that such a link takes in a plan.
    pub fn bytes(&self) -> u64 {
        700 + self.directions.iter().map(|direction| direction.queue.bytes()).sum::<u64>()
    }

    /// Whether rate and delay are given.
    pub fn is_complete(&self) -> bool {
        self.medium.is_some()
            || self.delay.is_some() && self.directions.iter().all(|direction| direction.rate.is_some())
    }

    /// Name of the required keys, rate and delay, that are missing.
    pub fn missing(&self) -> &'static str {
        match (self.directions.iter().all(|direction| direction.rate.is_some()), self.delay.is_some()) {
            (false, false) => "rate and no delay",
            (false, true) => "rate",
            (true, _) => "delay",
        }
    }

    /// The link from node `a` to node `b`, defaults where nothing is given.
    pub fn plan(&self, name: String, a: usize, b: usize) -> LinkPlan {
        let [forward, backward] = &self.directions;
        let shared = self.medium.map(|(_, rate)| rate);
        // A missing rate has been reported, and the plan will not be used.
        let rate = |direction: &DirectionValues| shared.or(direction.rate).unwrap_or(BitRate::from_bps(1));
        LinkPlan {
            name,
            a,
            b,
            rate: [rate(forward), rate(backward)],
            delay: self.delay.unwrap_or_default(),
            jitter: self.jitter.unwrap_or_default(),
            reorder: self.reorder.unwrap_or(false),
            mtu: self.mtu.or(shared.map(|_| USUAL_MTU)),
            medium: self.medium.map(|(medium, _)| medium),
            link_service: self.service.clone(),
            loss: [forward, backward].map(|direction| direction.loss.clone().unwrap_or(LossPlan::None)),
            queue: [forward, backward].map(|direction| direction.queue.plan()),
            cost: self.cost.unwrap_or(1),
        }
    }
}

impl DirectionValues {
    fn read(fields: &Fields<'_>) -> Self {
        Self {
            // As for the delay: an unreadable rate has been reported.
            rate: fields.rate("rate").or(fields.item("rate").map(|_| BitRate::from_bps(1))),
            loss: read_loss(fields),
            queue: QueueValues::read(fields, "queue", &QUEUE),
        }
    }

    fn with(&self, over: &Self) -> Self {
        Self {
            rate: over.rate.or(self.rate),
            loss: over.loss.clone().or_else(|| self.loss.clone()),
            queue: self.queue.with(&over.queue),
        }
    }
}

/// The medium that a link is on, which sets its rate.
fn read_medium(link: &Fields<'_>, media: &Media) -> Option<(usize, BitRate)> {
    let medium = media.of_link(link)?;
    let found = Some((medium, media.get(medium)?.data_rate()));
    refuse_rate(link, found);
    found
}

/// Reports a rate of a link or direction on a medium.
fn refuse_rate(fields: &Fields<'_>, medium: Option<(usize, BitRate)>) {
    if let Some(rate) = fields.entry("rate").filter(|_| medium.is_some()) {
        fields.context.refuse(rate.place, "rate: a link on a medium has the rate of its MCS");
    }
}

fn read_mtu(link: &Fields<'_>) -> Option<ByteCount> {
    let mtu = link.size("mtu")?;
    if mtu < MIN_MTU {
        link.refuse("mtu", format!("mtu: {mtu} is less than {MIN_MTU}"));
    }
    Some(mtu)
}

/// The models and the keys each needs.
#[derive(Clone, Copy)]
enum Model {
    None,
    Bernoulli,
    GilbertElliott,
    Spells,
    Bursts,
    Trace,
}

const MODELS: [(Model, &str); 6] = [
    (Model::None, "none"),
    (Model::Bernoulli, "bernoulli"),
    (Model::GilbertElliott, "gilbert-elliott"),
    (Model::Spells, "spells"),
    (Model::Bursts, "bursts"),
    (Model::Trace, "trace"),
];

fn read_loss(fields: &Fields<'_>) -> Option<LossPlan> {
    let item = fields.item("loss")?;
    if let TomlValue::Text(text) = &item.value {
        return match text.as_str() {
            "none" => Some(LossPlan::None),
            _ => fields.refused(
                "loss",
                format!("loss: {} is not \"none\"; models with values are tables", shown(&item.value)),
            ),
        };
    }
    let loss = fields.table("loss", &keys::LOSS)?;
    let model = loss.word("model", &MODELS)?;
    refuse_foreign(&loss, model);
    match model {
        Model::None => Some(LossPlan::None),
        Model::Bernoulli => Some(LossPlan::Bernoulli { probability: needed(&loss, "probability")? }),
        Model::GilbertElliott => read_gilbert_elliott(&loss),
        Model::Spells => read_spells(&loss),
        Model::Bursts => read_bursts(&loss),
        Model::Trace => read_trace(&loss),
    }
}

fn read_gilbert_elliott(loss: &Fields<'_>) -> Option<LossPlan> {
    let (to_bad, to_good) = (needed(loss, "to_bad"), needed(loss, "to_good"));
    let or_else = |key, default| if loss.item(key).is_some() { loss.number(key) } else { Some(default) };
    let (loss_good, loss_bad) = (or_else("loss_good", 0.0), or_else("loss_bad", 1.0));
    Some(LossPlan::GilbertElliott {
        to_bad: to_bad?,
        to_good: to_good?,
        loss_good: loss_good?,
        loss_bad: loss_bad?,
    })
}

/// Minimum of mean durations: drawing shorter ones would dominate the run time.
const MIN_SPELL: Span = Span::from_micros(10);

fn read_spells(loss: &Fields<'_>) -> Option<LossPlan> {
    let mean = |key| {
        let mean = has_value(loss, key).then(|| loss.time(key)).flatten()?;
        if mean < MIN_SPELL {
            return loss.refused(key, format!("{key}: {mean} is too short; 10us or more"));
        }
        Some(mean)
    };
    let (good, bad) = (mean("good"), mean("bad"));
    Some(LossPlan::Spells { good: good?, bad: bad? })
}

fn read_bursts(loss: &Fields<'_>) -> Option<LossPlan> {
    let probability = needed(loss, "probability");
    let max = has_value(loss, "max_packets").then(|| loss.count("max_packets")).flatten();
    Some(LossPlan::Bursts { probability: probability?, max: u32::try_from(max?).ok()? })
}

/// A number that the model requires.
fn needed(loss: &Fields<'_>, key: &str) -> Option<f64> {
    has_value(loss, key).then(|| loss.number(key)).flatten()
}

/// Whether a value that the model requires is given; reports its absence.
fn has_value(loss: &Fields<'_>, key: &str) -> bool {
    let has = loss.item(key).is_some();
    if !has {
        loss.refuse("model", format!("{key:?} is missing; this model of loss requires it"));
    }
    has
}

/// Reports values of other models.
fn refuse_foreign(loss: &Fields<'_>, model: Model) {
    let (name, own): (&str, &[&str]) = match model {
        Model::None => ("none", &[]),
        Model::Bernoulli => ("bernoulli", &["probability"]),
        Model::GilbertElliott => ("gilbert-elliott", &["to_bad", "to_good", "loss_good", "loss_bad"]),
        Model::Spells => ("spells", &["good", "bad"]),
        Model::Bursts => ("bursts", &["probability", "max_packets"]),
        Model::Trace => ("trace", &["pattern", "file"]),
    };
    for entry in loss.entries() {
        let is_own = entry.key == "model" || own.contains(&entry.key.as_str());
        if !is_own && keys::LOSS.find(&entry.key).is_some() {
            let own = if own.is_empty() { "no values".to_owned() } else { own.join(", ") };
            loss.context.refuse(entry.place, format!("loss model {name:?} has {own}, not {:?}", entry.key));
        }
    }
}

fn read_trace(loss: &Fields<'_>) -> Option<LossPlan> {
    let (key, text) = match (loss.text("pattern"), loss.text("file")) {
        (Some(pattern), None) => ("pattern", pattern),
        (None, Some(name)) => ("file", read_file(loss, &name)?),
        (Some(_), Some(_)) => {
            return loss.refused("file", "a trace has a pattern or a file, not both");
        }
        (None, None) => {
            if loss.item("pattern").is_none() && loss.item("file").is_none() {
                loss.refuse("model", "a trace needs \"pattern\" or \"file\"");
            }
            return None;
        }
    };
    let pattern = parse_pattern(&text).map_err(|why| format!("{key}: {why}"));
    loss.accept(key, pattern).map(LossPlan::Trace)
}

fn read_file(loss: &Fields<'_>, name: &str) -> Option<String> {
    let Some(read) = loss.context.files else {
        return loss.refused("file", "file: no files can be read here; write the pattern itself");
    };
    let text = read(name).map_err(|why| format!("file: {} cannot be read: {why}", show(name)));
    loss.accept("file", text)
}

/// Digits 0 and 1, white space left out.
fn parse_pattern(text: &str) -> Result<Arc<[bool]>, String> {
    let mut pattern = Vec::new();
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '0' => pattern.push(false),
            '1' => pattern.push(true),
            other => return Err(format!("{other:?} is neither 0 nor 1")),
        }
        if pattern.len() > LONGEST_PATTERN {
            return Err(format!("more than {LONGEST_PATTERN} packets"));
        }
    }
    if pattern.is_empty() { Err("no packets".to_owned()) } else { Ok(pattern.into()) }
}
