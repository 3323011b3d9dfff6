//! BBR version 1 on Interests, as the BBR-CD study ported it: window and pacing rate from the maximum delivery rate
//! and the minimum RTT.
//!
//! Paper: draft-cardwell-iccrg-bbr-congestion-control-00, §4; MILCOM 2021 (BBR-CD), §III-A.

mod controller;

use tidegate_core::prelude::*;

use controller::Bbr;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "bbr",
    summary: "BBR version 1 on Interests: window and pacing rate from the maximum delivery rate and the minimum RTT",
    paper: "draft-cardwell-iccrg-bbr-congestion-control-00, as ported in MILCOM 2021 (BBR-CD)",
    provenance: Provenance::Paper,
    deviations: &[
        "The maximum delivery rate is taken over ten RTTs of time, as in the BBR-CD study, not over ten counted rounds.",
        "Losses are detected by BBR-CD's timer, where TCP detects gaps in the ACKs; `loss_timer = \"profile\"` uses the \
         timer of the consumer profile.",
        "Data of a retransmitted Interest gives no RTT sample and no delivery-rate sample.",
        "Every delivery rate counts except those of ProbeRTT; application-limited samples are not recognised.",
        "The timer doubles, up to 64-fold, until Data of an Interest that was sent once arrives, as TCP's does; the \
         study does not specify this.",
        "The window is not held down after a loss (BBR's packet conservation); the study does not specify this.",
        "The first phase of a gain cycle depends on the number of segments received; BBR draws it at random.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::OwnAtSweep,
    consumer: Some(|settings| Ok(Box::new(Bbr::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

choice! {
    /// Whose timer finds losses.
    pub enum TimerRule {
        /// Mean RTT plus a number of standard deviations, as BBR-CD does.
        BbrCd = "bbr-cd",
        /// Retransmission timeout of the consumer profile's RTT estimator.
        Profile = "profile" renamed_from "shell",
        /// When Data of a later Interest arrives, as RFC 8985 does with segments, or when the timer `bbr-cd` expires.
        /// Reordered packets are taken for lost.
        Order = "order",
        /// As `order`, with the rest of RFC 8985: Data of a retransmitted Interest counts, too, unless it comes within the
        /// minimum RTT; if it does, Interests are retransmitted too early, and more reordering is tolerated.
        Rack = "rack",
    }
}

params! {
    /// Initial congestion window; the study starts every scheme with 1.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Minimum congestion window after the first Data packet (BBRMinPipeCwnd).
    #[renamed_from("least_window")]
    min_window: f64 = 4.0, "packets", 1.0..=1_000_000.0;
    /// Gain of the window and the pacing rate in Startup, 2/ln 2; Drain paces at the inverse (BBRHighGain).
    high_gain: f64 = 2.885, "of the bandwidth-delay product", 1.1..=10.0;
    /// Gain of the window in ProbeBW.
    cwnd_gain: f64 = 2.0, "of the bandwidth-delay product", 0.5..=10.0;
    /// Packets added to every window, for packets that are sent in one burst.
    quanta: f64 = 3.0, "packets", 0.0..=1_000.0;
    /// Lower bound of the RTT in the model, which sets the window, the age of delivery-rate samples and the phases of
    /// ProbeBW. Hosts handle packets in batches: on a path within one host, the window would otherwise be a few
    /// packets, and a scheduling pause longer than the age of the samples would lower the rate estimate. The study uses
    /// 0.
    min_round_trip: Span = Span::ZERO, "time", Span::ZERO..=Span::from_secs(1);
    /// Startup continues while the delivery rate grows by at least this factor per round.
    full_growth: f64 = 1.25, "of the rate", 1.01..=10.0;
    /// Consecutive rounds with less growth than `full_growth` after which the pipe counts as full.
    full_rounds: u32 = 3, "count", 1..=1_000;
    /// RTTs over which the maximum delivery rate is taken.
    rate_round_trips: f64 = 10.0, "round trips", 1.0..=1_000.0;
    /// Age at which the minimum RTT expires and is measured again, in ProbeRTT.
    rtprop_age: Span = Span::from_secs(10), "time", Span::from_millis(100)..=Span::from_secs(3_600);
    /// How a loss is detected: `bbr-cd`, by the timer of the study's own scheme, which detects a loss about as early as
    /// TCP does; `profile`, by the retransmission timeout of the consumer profile, at least 200 ms; `order` and
    /// `rack`, when Data of a later Interest arrives (RFC 8985) or the timer `bbr-cd` expires. The study does not specify it for BBR.
    loss_timer: TimerRule = TimerRule::BbrCd;
    /// With any `loss_timer` but "profile": length of the window of RTT samples.
    beta: f64 = 8.0, "round trips", 1.0..=1_000.0;
    /// With any `loss_timer` but "profile": standard deviations of the RTT added to its mean.
    alpha: f64 = 10.0, "standard deviations", 0.0..=1_000.0;
    /// With any `loss_timer` but "profile": minimum distance of the timer from the mean RTT.
    #[renamed_from("least_margin")]
    min_margin: Span = Span::from_millis(5), "time", Span::ZERO..=Span::from_secs(10);
    /// With any `loss_timer` but "profile": timer before the first RTT sample.
    initial_timeout: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Lower bound of the pacing rate. Without one, the rate falls without end on a path that loses more than a fifth of the
    /// packets at random; the window is `min_window` there. The study has none.
    min_pace: f64 = 0.0, "packets per mean RTT", 0.0..=1_000_000.0;
    /// Duration of the state ProbeRTT.
    probe_rtt_time: Span = Span::from_millis(200), "time", Span::ZERO..=Span::from_secs(10);
    /// Congestion window in ProbeRTT.
    probe_rtt_window: f64 = 4.0, "packets", 1.0..=1_000_000.0;
}
