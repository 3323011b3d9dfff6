//! BBR version 3 as a TCP sender: the model of version 1 with short-term and long-term bounds set by losses.
//!
//! Paper: draft-ietf-ccwg-bbr; section names below are its own. ECN, which Linux's version 3 reads, is not in it.

mod controller;
mod latest;
mod long_term;
mod round_trips;
mod short_term;
mod window_use;

use tidegate_core::prelude::*;
use tidegate_core::tcp::Reduction;

use controller::Bbr;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "tcp-bbr3",
    summary: "BBR version 3: the model of version 1, bounded by the losses of a probe and the delivery of later rounds",
    paper: "draft-ietf-ccwg-bbr",
    provenance: Provenance::Paper,
    deviations: &[
        "Congestion marks are ignored: the draft has no ECN, and segments are sent as not ECN-capable.",
        "The maximum delivery rates are exact, where the draft allows a filter that keeps the three best candidates.",
        "The RTT of the handshake sets the initial pacing rate, but is not a candidate for the minimum RTT.",
        "ProbeRTT runs every 5 s; the latest editor's copy uses the 10 s of the minimum RTT (`probe_rtt_interval = \
         \"10s\"`).",
        "The state restored after a spurious recovery is saved at the first loss of a round only, not also when \
         recovery begins, because the first loss may have changed it.",
        "The point within a segment where losses cross the threshold is never before that segment.",
        "A sender that was limited by the receive window restarts like an application-limited one.",
    ],
    uses_randomness: true,
    params: Params::TABLE,
    sender: Some(|settings| {
        let controller = Box::new(Bbr::new(Params::from_settings(settings)?));
        Ok(SenderRule { reduction: Reduction::Immediate, ..SenderRule::new(controller) })
    }),
    ..Scheme::NONE
};

params! {
    /// Initial congestion window (InitialCwnd).
    initial_window: f64 = 10.0, "segments", 1.0..=1_000_000.0;
    /// Minimum congestion window (MinPipeCwnd).
    #[renamed_from("least_window")]
    min_window: f64 = 4.0, "segments", 1.0..=1_000_000.0;
    /// Gain of the pacing rate in Startup (StartupPacingGain).
    startup_gain: f64 = 2.77, "of the rate", 1.1..=10.0;
    /// Gain of the pacing rate in Drain (DrainPacingGain).
    drain_gain: f64 = 0.5, "of the rate", 0.01..=1.0;
    /// Gain of the pacing rate in ProbeBW_DOWN.
    down_gain: f64 = 0.9, "of the rate", 0.01..=1.0;
    /// Gain of the pacing rate in ProbeBW_UP.
    up_gain: f64 = 1.25, "of the rate", 1.0..=10.0;
    /// Gain of the window (DefaultCwndGain).
    window_gain: f64 = 2.0, "of the bandwidth-delay product", 0.5..=10.0;
    /// Gain of the window in ProbeBW_UP.
    up_window_gain: f64 = 2.25, "of the bandwidth-delay product", 0.5..=10.0;
    /// Gain of the window in ProbeRTT (ProbeRTTCwndGain).
    probe_rtt_gain: f64 = 0.5, "of the bandwidth-delay product", 0.0..=1.0;
    /// Fraction of the estimated bandwidth by which the pacing rate stays below it (PacingMarginPercent).
    pacing_margin: f64 = 0.01, "of the rate", 0.0..=0.5;
    /// Fraction of the flight whose loss counts as excessive (LossThresh).
    loss_threshold: f64 = 0.02, "of the flight", 0.0..=0.5;
    /// Minimum fraction of a bound that is kept when losses lower it (Beta).
    beta: f64 = 0.7, "of the bound", 0.1..=1.0;
    /// Fraction of the long-term bound left free in ProbeBW_CRUISE (Headroom).
    headroom: f64 = 0.15, "of the bound", 0.0..=0.9;
    /// Startup continues while the delivery rate grows by at least this factor per round.
    full_growth: f64 = 1.25, "of the rate", 1.01..=10.0;
    /// Consecutive rounds with less growth than `full_growth` after which the pipe counts as full; also the maximum
    /// number of rounds in Drain.
    full_rounds: u32 = 3, "count", 1..=1_000;
    /// Separate losses within a round that end Startup (StartupFullLossCnt).
    full_losses: u32 = 6, "count", 1..=1_000_000;
    /// Minimum time between two bandwidth probes; a random time of up to 1 s is added.
    probe_wait: Span = Span::from_secs(2), "time", Span::from_millis(1)..=Span::from_secs(3_600);
    /// Maximum number of rounds between two bandwidth probes, for coexistence with Reno.
    probe_rounds: u32 = 63, "round trips", 1..=1_000_000;
    /// Rounds over which the maximum excess of aggregated ACKs is taken (ExtraAckedFilterLen).
    aggregation_rounds: u32 = 10, "round trips", 1..=1_000;
    /// Age at which the minimum RTT expires and is replaced (MinRTTFilterLen).
    #[renamed_from("least_rtt_age")]
    min_rtt_age: Span = Span::from_secs(10), "time", Span::from_millis(100)..=Span::from_secs(3_600);
    /// Time without a lower RTT after which ProbeRTT begins (ProbeRTTInterval).
    probe_rtt_interval: Span = Span::from_secs(5), "time", Span::from_millis(100)..=Span::from_secs(3_600);
    /// Minimum duration of ProbeRTT (ProbeRTTDuration).
    probe_rtt_time: Span = Span::from_millis(200), "time", Span::ZERO..=Span::from_secs(10);
    /// Bursts that the window has room for, for segments held back at both hosts by offloading (offload_budget).
    quanta: f64 = 3.0, "bursts", 0.0..=100.0;
    /// Time at the pacing rate that one burst covers (send_quantum).
    burst_time: Span = Span::from_millis(1), "time", Span::ZERO..=Span::from_secs(1);
    /// Maximum size of a burst.
    #[renamed_from("largest_burst")]
    max_burst: ByteCount = ByteCount::new(65_536), "size", ByteCount::new(0)..=ByteCount::new(1 << 30);
}
