//! The consumer: one window, decreased at random on Data and, in hICN, on each loss.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use super::path::Path;
use super::{Form, Params, SCHEME, Timer};
use crate::toolbox::forwarding::path_label;
use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::forwarding::path_label::PATH_LABEL;

/// Maximum number of paths that are distinguished.
const MAX: usize = 1_024;
/// Probability of a decrease at the shortest round trip.
const MIN_PROBABILITY: f64 = 1e-5;

#[derive(Debug)]
pub(super) struct Raaqm {
    params: Params,
    cwnd: f64,
    /// Slow-start threshold of the ndnSIM form, packets.
    ssthresh: f64,
    /// Number of Data packets since the last growth above the threshold, of the ndnSIM form.
    counted: u64,
    /// Paths keyed by label; that of unlabelled Data always exists, and new ones begin as its copy.
    paths: BTreeMap<u32, Path>,
    /// The path of the last Data.
    current: u32,
    received: u64,
    /// Random numbers; `None` until the stream is set.
    draws: Option<Rng>,
}

impl Raaqm {
    pub(super) fn new(params: Params) -> Self {
        let paths = BTreeMap::from([(path_label::NONE, Path::new(lifetime(params.form)))]);
        Self {
            params,
            cwnd: 1.0,
            ssthresh: f64::INFINITY,
            counted: 0,
            paths,
            current: path_label::NONE,
            received: 0,
            draws: None,
        }
    }

    fn is_ndnsim(&self) -> bool {
        self.params.form == Form::Ndnsim
    }

    fn beta(&self) -> f64 {
        match (self.params.form, self.params.beta) {
            (_, given) if given > 0.0 => given,
            (Form::Hicn, _) => 0.8,
            (Form::HicnFile, _) => 0.99,
            (Form::Ndnsim, _) => 0.9,
        }
    }

    fn drop_factor(&self) -> f64 {
        match (self.params.form, self.params.drop_factor) {
            // ndnSIM's formula gives the maximum probability as a whole, hICN's the part above the minimum.
            (Form::Ndnsim, given) => (if given > 0.0 { given } else { 0.1 }) - MIN_PROBABILITY,
            (_, given) if given > 0.0 => given,
            (Form::Hicn, _) => 0.2,
            (Form::HicnFile, _) => 0.003,
        }
    }

    fn increase(&mut self) {
        if !self.is_ndnsim() {
            if self.cwnd < self.params.max_window {
                self.cwnd += 1.0 / self.cwnd;
            }
        } else if self.cwnd < self.ssthresh {
            self.cwnd += 1.0;
        // ndnSIM counts Data and adds a whole packet, so that its window stays a whole number.
        } else if self.counted as f64 >= self.cwnd {
            (self.cwnd, self.counted) = (self.cwnd + 1.0, 0);
        } else {
            self.counted += 1;
        }
    }

    fn decrease(&mut self) {
        self.cwnd = (self.cwnd * self.beta()).max(1.0);
        if self.is_ndnsim() {
            self.cwnd = self.cwnd.floor();
            self.ssthresh = self.cwnd;
        }
    }

    /// Records the path of a Data packet. At the maximum number of paths the one without Data for the longest time is
    /// removed.
    fn follow(&mut self, label: u32) {
        self.received += 1;
        if !self.paths.contains_key(&label) {
            self.make_room();
            let begin = self.paths.get(&path_label::NONE).cloned();
            self.paths.insert(label, begin.unwrap_or_else(|| Path::new(lifetime(self.params.form))));
        }
        if let Some(path) = self.paths.get_mut(&label) {
            path.received = self.received;
        }
        self.current = label;
    }

    fn make_room(&mut self) {
        if self.paths.len() >= MAX {
            let labelled = self.paths.iter().filter(|(label, _)| **label != path_label::NONE);
            let oldest = labelled.min_by_key(|(_, path)| path.received).map(|(label, _)| *label);
            oldest.and_then(|oldest| self.paths.remove(&oldest));
        }
    }

    /// An RTT rounded down to the resolution of the clock of hICN.
    fn read(&self, round_trip: Span) -> Span {
        let tick = self.params.resolution.as_nanos().max(1);
        Span::from_nanos(round_trip.as_nanos() / tick * tick)
    }

    /// Probability that a Data packet with this RTT decreases the window.
    fn probability(&mut self, round_trip: Span) -> f64 {
        let (samples, factor, is_ndnsim) = (self.params.samples, self.drop_factor(), self.is_ndnsim());
        let round_trip = if is_ndnsim { round_trip } else { self.read(round_trip) };
        let place = self.paths.get_mut(&self.current).and_then(|path| path.sample(round_trip, samples));
        match place {
            None => 0.0,
            // In ndnSIM the probability is 0 divided by 0 here, and the window does not change.
            Some(None) if is_ndnsim => 0.0,
            // In hICN equal samples give the minimum probability.
            Some(place) => MIN_PROBABILITY + factor * place.unwrap_or(0.0),
        }
    }
}

/// Lifetime of an Interest, and the timer that a path begins with.
fn lifetime(form: Form) -> Span {
    Span::from_millis(if form == Form::HicnFile { 500 } else { 1_001 })
}

impl CongestionController for Raaqm {
    fn window(&self) -> f64 {
        self.cwnd
    }

    fn take_streams(&mut self, streams: Streams) {
        self.draws = Some(streams.stream(SCHEME.name));
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
        let label = delivery.hop.get(PATH_LABEL).filter(|_| self.params.per_path);
        self.follow(label.unwrap_or(path_label::NONE));
        // hICN takes no sample from a retransmitted segment.
        if delivery.rtt.is_some() || self.is_ndnsim() {
            self.increase();
        }
        let Some(round_trip) = delivery.rtt else { return };
        let probability = self.probability(round_trip);
        if self.params.early && self.draws.as_mut().is_some_and(|draws| draws.chance(probability)) {
            self.decrease();
        }
    }

    fn on_loss(&mut self, _: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        if is_congestion(loss.signal) && !self.is_ndnsim() {
            self.decrease();
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        self.is_ndnsim().then_some(self.ssthresh)
    }

    fn loss_timeout(&self, _: &Sent) -> Option<Span> {
        match self.params.timer {
            _ if self.is_ndnsim() => None,
            Timer::Lifetime => Some(lifetime(self.params.form)),
            Timer::Path => self.paths.get(&self.current).map(Path::timer),
        }
    }
}

#[cfg(test)]
mod tests;
