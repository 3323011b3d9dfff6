//! ICP: one packet more per round trip from the start, half when an Interest outlives the timer, once per timer.
//!
//! Paper: Carofiglio, Gallo & Muscariello 2012 (ICP). The timer lies between the smallest and the largest of
//! the last round-trip times (the range estimator), so with caches on the path it also fires without a loss.
//! Marks are not looked at. `least_timeout` and `initial_timeout` are not in the paper.

use std::collections::VecDeque;

use tidegate_core::congestion::{CongestionController, Delivery, FlowView, Loss, Sent};
use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::context::Context;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::units::Span;

use crate::toolbox::aimd_window::{AimdRule, AimdWindow};
use crate::toolbox::congestion_loss::is_congestion;
use crate::toolbox::once_per_timeout::OncePerTimeout;
use crate::toolbox::window_rule::WindowRule;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "icp",
    summary: "one packet more per round trip, half per expired timer set between the last round-trip times",
    paper: "Carofiglio, Gallo & Muscariello 2012 (ICP)",
    provenance: Provenance::Paper,
    params: Params::TABLE,
    shell: ShellKind::Own,
    consumer: Some(|settings| Ok(Box::new(Icp::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// First window and floor of all.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Growth per round trip (eta).
    eta: f64 = 1.0, "packets", 0.01..=100.0;
    /// Part of the window kept on a decrease (beta).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Where the timer lies between the smallest (0) and largest (1) round-trip time (delta).
    delta: f64 = 0.5, "of the range", 0.0..=1.0;
    /// Round-trip times the timer looks back on.
    samples: u32 = 20, "count", 1..=10_000;
    /// The timer before the first round-trip time.
    initial_timeout: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// The timer is never shorter than this.
    least_timeout: Span = Span::from_millis(10), "time", Span::from_micros(1)..=Span::from_secs(60);
}

#[derive(Debug)]
struct Icp {
    params: Params,
    window: AimdWindow,
    gate: OncePerTimeout,
    round_trips: VecDeque<Span>,
}

impl Icp {
    fn new(params: Params) -> Self {
        let rule = AimdRule {
            initial: params.initial_window,
            threshold: 0.0,
            step: params.eta,
            keep: params.beta,
            least: params.initial_window,
            divides_by_whole_window: false,
            restarts: false,
        };
        let (gate, round_trips) = (OncePerTimeout::default(), VecDeque::new());
        Self { window: AimdWindow::new(rule), gate, round_trips, params }
    }

    fn sample(&mut self, round_trip: Span) {
        self.round_trips.push_back(round_trip);
        if self.round_trips.len() > self.params.samples as usize {
            self.round_trips.pop_front();
        }
    }

    fn timeout(&self) -> Span {
        let Some((low, high)) = self.round_trips.iter().min().zip(self.round_trips.iter().max()) else {
            return self.params.initial_timeout;
        };
        (*low + (*high - *low).scale(self.params.delta)).max(self.params.least_timeout)
    }
}

impl CongestionController for Icp {
    fn window(&self) -> f64 {
        self.window.window()
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
        if let Some(round_trip) = delivery.rtt {
            self.sample(round_trip);
        }
        self.window.increase(cx.now, None);
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        if is_congestion(loss.signal) && self.gate.admits(cx.now, self.timeout()) {
            self.window.decrease(cx.now);
        }
    }

    fn loss_timeout(&self, _: &Sent) -> Option<Span> {
        Some(self.timeout())
    }
}
