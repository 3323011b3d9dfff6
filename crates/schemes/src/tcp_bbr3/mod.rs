//! BBR version 3 as a TCP sender: version 1's model with bounds that losses set, for a cycle and for longer.
//!
//! Paper: draft-ietf-ccwg-bbr; section names below are its own. ECN, which Linux's version 3 reads, is not in it.

mod controller;
mod latest;
mod long_term;
mod round_trips;
mod short_term;
mod window_use;

use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::tcp::{Reduction, SenderRule};
use tidegate_core::units::{ByteCount, Span};

use controller::Bbr;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "tcp-bbr3",
    summary: "BBR version 3: version 1's model, bounded by what a probe lost and by what later rounds delivered",
    paper: "draft-ietf-ccwg-bbr",
    provenance: Provenance::Paper,
    deviations: &[
        "Marks are not answered: the draft leaves ECN out, and segments may not be marked.",
        "The largest rates are exact, where the draft allows a filter that keeps the three best candidates.",
        "The handshake's round trip sets the first pace, but is no candidate for the smallest round trip.",
        "ProbeRTT comes every 5 s; the latest editor's copy takes the 10 s of the smallest round trip for it \
         (probe_rtt_interval = \"10s\").",
        "The state that a spurious recovery gives back is saved with the first loss of a round, not once more when \
         recovery begins, where the first loss may have changed it.",
        "Where losses cross their threshold within a segment is never before that segment.",
        "A sender that the receiver's window stopped restarts as one that had nothing to send.",
    ],
    draws: true,
    params: Params::TABLE,
    sender: Some(|settings| {
        let controller = Box::new(Bbr::new(Params::from_settings(settings)?));
        Ok(SenderRule { reduction: Reduction::Immediate, ..SenderRule::new(controller) })
    }),
    ..Scheme::NONE
};

params! {
    /// First window (InitialCwnd).
    initial_window: f64 = 10.0, "segments", 1.0..=1_000_000.0;
    /// Floor of the window (MinPipeCwnd).
    min_window: f64 = 4.0, "segments", 1.0..=1_000_000.0;
    /// Gain of the pace in Startup (StartupPacingGain).
    startup_gain: f64 = 2.77, "of the rate", 1.1..=10.0;
    /// Gain of the pace in Drain (DrainPacingGain).
    drain_gain: f64 = 0.5, "of the rate", 0.01..=1.0;
    /// Gain of the pace in ProbeBW_DOWN.
    down_gain: f64 = 0.9, "of the rate", 0.01..=1.0;
    /// Gain of the pace in ProbeBW_UP.
    up_gain: f64 = 1.25, "of the rate", 1.0..=10.0;
    /// Gain of the window (DefaultCwndGain).
    window_gain: f64 = 2.0, "of the bandwidth-delay product", 0.5..=10.0;
    /// Gain of the window in ProbeBW_UP.
    up_window_gain: f64 = 2.25, "of the bandwidth-delay product", 0.5..=10.0;
    /// Gain of the window in ProbeRTT (ProbeRTTCwndGain).
    probe_rtt_gain: f64 = 0.5, "of the bandwidth-delay product", 0.0..=1.0;
    /// Part of the rate that the pace stays below it (PacingMarginPercent).
    pacing_margin: f64 = 0.01, "of the rate", 0.0..=0.5;
    /// Part lost of what was in flight that is too much (LossThresh).
    loss_threshold: f64 = 0.02, "of the flight", 0.0..=0.5;
    /// Part of a bound that is kept at least when losses lower it (Beta).
    beta: f64 = 0.7, "of the bound", 0.1..=1.0;
    /// Part of the long-term bound that is left free while cruising (Headroom).
    headroom: f64 = 0.15, "of the bound", 0.0..=0.9;
    /// The pipe is full when rounds bring less than this growth of the rate.
    full_growth: f64 = 1.25, "of the rate", 1.01..=10.0;
    /// So many rounds in a row; Drain lasts as many at most.
    full_rounds: u32 = 3, "count", 1..=1_000;
    /// Separate losses in a round that end Startup (StartupFullLossCnt).
    full_losses: u32 = 6, "count", 1..=1_000_000;
    /// Least time between two probes for more rate; up to a second more is drawn.
    probe_wait: Span = Span::from_secs(2), "time", Span::from_millis(1)..=Span::from_secs(3_600);
    /// Most rounds between two probes, for the sake of Reno.
    probe_rounds: u32 = 63, "round trips", 1..=1_000_000;
    /// Rounds that the largest excess of an ACK stream counts for (ExtraAckedFilterLen).
    aggregation_rounds: u32 = 10, "round trips", 1..=1_000;
    /// Age at which the smallest round trip is replaced (MinRTTFilterLen).
    min_rtt_age: Span = Span::from_secs(10), "time", Span::from_millis(100)..=Span::from_secs(3_600);
    /// Time without a smaller round trip after which it is measured (ProbeRTTInterval).
    probe_rtt_interval: Span = Span::from_secs(5), "time", Span::from_millis(100)..=Span::from_secs(3_600);
    /// Least length of ProbeRTT (ProbeRTTDuration).
    probe_rtt_time: Span = Span::from_millis(200), "time", Span::ZERO..=Span::from_secs(10);
    /// Bursts that the window has room for, for what waits at both hosts (offload_budget).
    quanta: f64 = 3.0, "bursts", 0.0..=100.0;
    /// What is sent in this time is a burst (send_quantum).
    burst_time: Span = Span::from_millis(1), "time", Span::ZERO..=Span::from_secs(1);
    /// Most bytes of a burst.
    largest_burst: ByteCount = ByteCount::new(65_536), "size", ByteCount::new(0)..=ByteCount::new(1 << 30);
}
