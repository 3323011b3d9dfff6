//! The gate of one face: counts and polices Interests, computes the fair rate and stamps it on Data.
//!
//! For multipath it computes a second rate, from the capacity that primary Interests leave unused, and swaps path
//! labels.

use tidegate_core::prelude::*;

use super::fair_rate::{FairRate, LOWEST, Measured, FairRateRule, smooth};
use super::path_table::SharedPaths;
use super::secondary::Secondary;
use super::{Params, SECONDARY};
use crate::toolbox::shaping::token_bucket::TokenBucket;
use crate::mircc::{FLOW_CLASS, PATH_CHOICE, STAMPING_RATE_SECONDARY};
use crate::toolbox::forwarding::path_label::PATH_LABEL;

choice! {
    /// Reaction to an Interest that finds the bucket full.
    pub enum Policing {
        /// The Interest is dropped silently.
        Drop = "drop",
        /// It is refused with a Nack.
        Nack = "nack",
        /// It passes, and the bucket stays full.
        Off = "off",
    }
}

/// Weight of a new round trip and a new size in their means.
const GAIN: f64 = 1.0 / 8.0;
/// Highest capacity, Interests per second, so that nothing overflows.
const HIGHEST: f64 = 1e9;
/// Cost of an Interest in the bucket's bytes: its rate is then exact to one Interest in 8000 s.
const COST: ByteCount = ByteCount::new(1_000);

/// Gate of one face, which computes its rates and polices Interests.
#[derive(Debug)]
pub(super) struct RateGate {
    face: FaceId,
    params: Params,
    primary: FairRate,
    /// State for multipath only.
    multipath: Option<Multipath>,
    bucket: Bucket,
    /// Primary and secondary Interests since the last update.
    arrived: [u64; 2],
    /// Smoothed RTT of the flows, seconds.
    rtt: f64,
    /// Smoothed size of Data, bytes.
    data_size: f64,
    /// `None` before the first Interest.
    updated_at: Option<Time>,
}

/// State of a gate for several paths.
#[derive(Debug)]
struct Multipath {
    secondary: Secondary,
    /// Path table of the node.
    paths: SharedPaths,
}

impl RateGate {
    /// The gate of `face`; `paths` are those of its node, with multipath.
    pub fn new(params: Params, face: FaceId, paths: Option<SharedPaths>) -> Self {
        let rule = FairRateRule { utilisation: params.utilisation, beta: params.beta, weight: params.weight };
        Self {
            face,
            primary: FairRate::new(rule),
            multipath: paths.map(|paths| Multipath { secondary: Secondary::new(rule), paths }),
            bucket: Bucket { depth: params.depth, tokens: None },
            arrived: [0, 0],
            rtt: params.initial_rtt.as_secs_f64(),
            data_size: params.data_size.get() as f64,
            updated_at: None,
            params,
        }
    }

    /// C: rate of Interests whose Data fill the link, 1/s.
    fn capacity(&self, cx: &Context<'_>) -> f64 {
        let given = self.params.capacity;
        let by_link = cx.face(self.face).incoming_rate().as_bps() as f64 / (8.0 * self.data_size.max(1.0));
        (if given > 0.0 { given } else { by_link }).clamp(LOWEST, HIGHEST)
    }

    /// Adds an Interest to the bucket; returns whether there was no room for it.
    fn polices(&mut self, cx: &Context<'_>) -> bool {
        let capacity = self.capacity(cx);
        !self.bucket.at(cx.now, capacity).take(COST, cx.now)
    }

    fn update(&mut self, cx: &Context<'_>, elapsed: Span) {
        let capacity = self.capacity(cx);
        // The paper's queue is the fill of the leaky bucket, which is what the token bucket lacks.
        let queue = self.bucket.at(cx.now, capacity).missing(cx.now) / COST.get() as f64;
        let [load, secondary] =
            // `elapsed` is at least `interval`, hence above 0.
            std::mem::take(&mut self.arrived).map(|count| count as f64 / elapsed.as_secs_f64());
        let measured = Measured { capacity, load, queue, rtt: self.rtt };
        self.primary.update(measured);
        if let Some(multipath) = &mut self.multipath {
            multipath.secondary.update(measured, secondary);
        }
    }

    /// Counts an Interest in its class and replaces its path label by that of the next router.
    fn count(&mut self, interest: &mut Header) {
        let mut class = 0;
        if let Some(Multipath { paths, .. }) = &self.multipath {
            class = usize::from(interest.hop.get(FLOW_CLASS) == Some(SECONDARY));
            // The next router has its own name for the rest of the path.
            if let Some(label) = interest.hop.get(PATH_CHOICE) {
                interest.hop.put(PATH_CHOICE, paths.borrow().beyond(label, self.face));
            }
        }
        self.arrived[class] += 1;
    }

    fn stamp(&self, cx: &Context<'_>, data: &mut Header) {
        let capacity = self.capacity(cx);
        if self.params.stamping {
            data.hop.put(Signal::STAMPING_RATE, milli(self.primary.get(capacity)));
        }
        let Some(Multipath { secondary, paths }) = &self.multipath else { return };
        if self.params.stamping {
            data.hop.put(STAMPING_RATE_SECONDARY, milli(secondary.get(capacity)));
        }
        let beyond = data.hop.get(PATH_LABEL).unwrap_or_default();
        data.hop.put(PATH_LABEL, paths.borrow_mut().learn(beyond, self.face));
    }
}

/// The leaky bucket that polices: represented by a token bucket, whose missing tokens are its fill.
#[derive(Debug)]
struct Bucket {
    depth: Packets,
    /// `None` before the first Interest.
    tokens: Option<TokenBucket>,
}

impl Bucket {
    /// The bucket, leaking `per_second` Interests from `now` on.
    fn at(&mut self, now: Time, per_second: f64) -> &mut TokenBucket {
        let rate = BitRate::from_bps((per_second * 8.0 * COST.get() as f64) as u64);
        let depth = ByteCount::new(u64::from(self.depth.get()) * COST.get());
        let tokens = self.tokens.get_or_insert_with(|| TokenBucket::new(rate, depth, now));
        // The capacity follows the mean size of Data, so the leak is brought up to date with each use.
        tokens.set_rate(rate, now);
        tokens
    }
}

impl FaceGate for RateGate {
    fn on_interest_out(
        &mut self,
        cx: &mut Context<'_>,
        _: PitId,
        interest: &mut Header,
    ) -> GateVerdict {
        // Intervals begin with traffic: an idle face needs no timer, and R stays at the capacity.
        self.updated_at.get_or_insert(cx.now);
        // Before policing: the load y includes the Interests that the bucket refuses.
        self.count(interest);
        match (self.polices(cx), self.params.policing) {
            (true, Policing::Drop) => GateVerdict::Drop,
            (true, Policing::Nack) => GateVerdict::Nack(NackReason::Congestion),
            (true, Policing::Off) | (false, _) => GateVerdict::Admit,
        }
    }

    fn on_data_in(&mut self, cx: &mut Context<'_>, _: PitId, data: &mut Header, rtt: Option<Span>) {
        self.rtt = rtt.map_or(self.rtt, |rtt| smooth(self.rtt, rtt.as_secs_f64(), GAIN));
        self.data_size = smooth(self.data_size, data.size().get() as f64, GAIN);
        self.stamp(cx, data);
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, _: &mut Releases) {
        let Some(elapsed) = self.updated_at.map(|at| cx.now.since(at)) else { return };
        if elapsed >= self.params.interval {
            self.update(cx, elapsed);
            self.updated_at = Some(cx.now);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.updated_at.map(|at| at + self.params.interval)
    }
}

/// A rate of Interests per second as coded on Data.
fn milli(rate: f64) -> u32 {
    (rate * 1_000.0).round() as u32
}

#[cfg(test)]
mod tests;
