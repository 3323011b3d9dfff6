//! BBR-CD's BDP estimator and the timer of its loss detector.

use tidegate_core::prelude::*;

use super::Params;
use crate::toolbox::rate::bbr_model::PacketRate;
use crate::toolbox::rate::sliding_window::{Max, Recent, window_start};
use crate::toolbox::timer::loss::{LossTimer, LossTimerSettings};

choice! {
    /// Combination of the delivery rates of a window into one.
    pub enum BandwidthRule {
        /// The mean of the rates (BBR-CD).
        Mean = "avg",
        /// The maximum of the rates (BBR).
        Max = "max",
    }
}

#[derive(Debug)]
enum Rates {
    Mean(Recent),
    Max(Max<Time>),
}

impl Rates {
    fn add(&mut self, now: Time, rate: PacketRate, window: Span) {
        match self {
            Self::Mean(rates) => rates.add(now, rate.0, window),
            Self::Max(rates) => rates.add(now, rate.0, window_start(now, window)),
        }
    }

    fn get(&self) -> PacketRate {
        let rate = match self {
            Self::Mean(rates) => rates.mean(),
            Self::Max(rates) => rates.get(),
        };
        PacketRate(rate.unwrap_or(0))
    }
}

/// Mean round trip, bandwidth and their product over a window of some round trips; the last values stay while no sample
/// comes.
#[derive(Debug)]
pub struct PathEstimator {
    local_cache_rtt: Span,
    samples_retransmissions: bool,
    rtts: LossTimer,
    rates: Rates,
}

impl PathEstimator {
    /// An estimator without samples, with these parameters.
    pub fn new(params: &Params) -> Self {
        Self {
            local_cache_rtt: params.local_cache_rtt,
            samples_retransmissions: params.sample_retransmissions,
            rtts: LossTimer::new(LossTimerSettings {
                round_trips: params.beta,
                deviations: params.alpha,
                min_margin: params.min_margin,
                initial: params.initial_timeout,
            }),
            rates: match params.bw_agg {
                BandwidthRule::Mean => Rates::Mean(Recent::default()),
                BandwidthRule::Max => Rates::Max(Max::default()),
            },
        }
    }

    /// Adds the RTT of a Data packet, and its delivery rate if `takes_rate`. Returns false if the RTT filter excludes
    /// the packet.
    pub fn take(&mut self, now: Time, delivery: &Delivery, flow: &FlowView, takes_rate: bool) -> bool {
        let again = self.samples_retransmissions.then(|| now.since(delivery.sent_at));
        let Some(rtt) = delivery.rtt.or(again) else { return false };
        // The content store of the own node answers without the network; its RTT would pull the mean to 0.
        if rtt < self.local_cache_rtt {
            return false;
        }
        let window = self.window();
        self.rtts.take(now, rtt);
        if takes_rate {
            // From Interest to Data, the packet itself included, as in the paper; this overestimates by at
            // most a packet per RTT.
            let delivered = flow.delivered.saturating_sub(delivery.delivered_at_send).max(1);
            self.rates.add(now, PacketRate::over(delivered, rtt), window);
        }
        true
    }

    /// Mean round trip (RTprop); `None` before the first sample.
    pub fn rtprop(&self) -> Option<Span> {
        self.rtts.mean()
    }

    /// Delivery rate (BtlBw); 0 before the first sample.
    pub fn rate(&self) -> PacketRate {
        self.rates.get()
    }

    /// Bandwidth-delay product, packets; 0 before the first sample.
    pub fn product(&self) -> f64 {
        self.rtprop().map_or(0.0, |rtprop| self.rate().packets_in(rtprop))
    }

    /// Length of the window of samples (W).
    pub fn window(&self) -> Span {
        self.rtts.window()
    }

    /// Time after which an Interest counts as lost: the mean RTT plus a number of standard deviations.
    pub fn loss_timeout(&self) -> Span {
        self.rtts.timeout()
    }
}
