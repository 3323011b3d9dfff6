//! BBR version 1 of Linux as a TCP sender: window and pacing rate from the maximum delivery rate and the minimum RTT.
//!
//! Paper: Cardwell et al., ACM Queue 14(5), 2016; Linux net/ipv4/tcp_bbr.c (its rules, none of its code).

mod aggregation;
mod controller;
mod policer;
mod recovery;

use tidegate_core::prelude::*;
use tidegate_core::tcp::Reduction;

use controller::Bbr;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "tcp-bbr1",
    summary: "Linux's BBR version 1: window and pacing rate from the maximum delivery rate and the minimum RTT",
    paper: "ACM Queue 14(5) 2016; Linux tcp_bbr.c",
    provenance: Provenance::Source,
    deviations: &[
        "The maximum delivery rate is exact, where Linux's filter keeps the three best candidates of the window.",
        "Gains are 2.885 and its inverse, where Linux rounds to 739/256 and 88/256.",
        "The RTT of the handshake sets the initial pacing rate, but is not a candidate for the minimum RTT.",
        "The flight is not projected to the next departure time: the sender forms bursts by itself, so that the next \
         departure is never far away.",
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
    /// Initial congestion window (TCP_INIT_CWND).
    initial_window: f64 = 10.0, "segments", 1.0..=1_000_000.0;
    /// Minimum congestion window, also the window in ProbeRTT (bbr_cwnd_min_target).
    #[renamed_from("least_window")]
    min_window: f64 = 4.0, "segments", 1.0..=1_000_000.0;
    /// Gain of the window and the pacing rate in Startup, 2/ln 2 (bbr_high_gain); Drain paces at the inverse.
    high_gain: f64 = 2.885, "of the bandwidth-delay product", 1.1..=10.0;
    /// Gain of the window in ProbeBW (bbr_cwnd_gain).
    window_gain: f64 = 2.0, "of the bandwidth-delay product", 0.5..=10.0;
    /// Fraction of the estimated bandwidth by which the pacing rate stays below it (bbr_pacing_margin_percent).
    pacing_margin: f64 = 0.01, "of the rate", 0.0..=0.5;
    /// Rounds over which the maximum delivery rate is taken (bbr_bw_rtts).
    rate_rounds: u32 = 10, "round trips", 1..=1_000;
    /// Age at which the minimum RTT expires and is measured again, in ProbeRTT (bbr_min_rtt_win_sec).
    #[renamed_from("least_rtt_age")]
    min_rtt_age: Span = Span::from_secs(10), "time", Span::from_millis(100)..=Span::from_secs(3_600);
    /// Minimum duration of ProbeRTT (bbr_probe_rtt_mode_ms).
    probe_rtt_time: Span = Span::from_millis(200), "time", Span::ZERO..=Span::from_secs(10);
    /// Startup continues while the delivery rate grows by at least this factor per round (bbr_full_bw_thresh).
    full_growth: f64 = 1.25, "of the rate", 1.01..=10.0;
    /// Consecutive rounds with less growth than `full_growth` after which the pipe counts as full (bbr_full_bw_cnt).
    full_rounds: u32 = 3, "count", 1..=1_000;
    /// Bursts added to every window, for segments held back at both hosts by offloading: 3 in Linux, 0 for none.
    quanta: f64 = 3.0, "bursts", 0.0..=100.0;
    /// Time at the pacing rate that one burst covers: 1/1024 s in Linux.
    burst_time: Span = Span::from_nanos(976_562), "time", Span::ZERO..=Span::from_secs(1);
    /// Maximum size of a burst: the payload of one GSO packet of Linux.
    #[renamed_from("largest_burst")]
    max_burst: ByteCount = ByteCount::new(65_215), "size", ByteCount::new(0)..=ByteCount::new(1 << 30);
    /// Factor on the excess of aggregated ACKs that is added to the window (bbr_extra_acked_gain); 0 is Linux before
    /// 5.1.
    aggregation_gain: f64 = 1.0, "of the excess", 0.0..=10.0;
    /// The maximum excess is taken over this many to twice as many rounds (bbr_extra_acked_win_rtts).
    aggregation_rounds: u32 = 5, "round trips", 1..=31;
    /// Maximum addition for aggregated ACKs, as a time at the estimated bandwidth (bbr_extra_acked_max_us).
    aggregation_time: Span = Span::from_millis(100), "time", Span::ZERO..=Span::from_secs(10);
    /// Whether token-bucket policers are detected; the pacing rate is then kept at the policed rate (bbr_lt_bw).
    finds_policers: bool = true;
    /// Minimum ratio of lost to delivered segments for an interval to be attributed to a policer: 50/256
    /// (bbr_lt_loss_thresh).
    policer_loss: f64 = 0.195_312_5, "of the delivered", 0.0..=1.0;
}
