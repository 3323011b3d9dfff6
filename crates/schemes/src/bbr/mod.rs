//! BBR version 1 on Interests, as the BBR-CD study ported it: the largest delivery rate, the smallest round trip.
//!
//! Paper: draft-cardwell-iccrg-bbr-congestion-control-00, §4; MILCOM 2021 (BBR-CD), §III-A.

mod controller;

use tidegate_core::choice;
use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::units::Span;

use controller::Bbr;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "bbr",
    summary: "BBR version 1 on Interests: window and pace from the largest delivery rate and the smallest round trip",
    paper: "draft-cardwell-iccrg-bbr-congestion-control-00, as ported in MILCOM 2021 (BBR-CD)",
    provenance: Provenance::Paper,
    deviations: &[
        "The largest rate is that of ten round trips by the clock, as the BBR-CD study has it, not of ten counted rounds.",
        "Losses are found by BBR-CD's timer, where TCP counts what arrives behind a gap; loss_timer = \"shell\" is the \
         shell's.",
        "Data of an Interest that was sent again gives neither round trip nor rate.",
        "Every rate counts but those of ProbeRTT: a consumer that had nothing to ask for is not told apart.",
        "The timer doubles, up to 64-fold, until Data of an Interest that was sent once comes, as TCP's does; the study \
         does not tell of it.",
        "The window is not held down after a loss (BBR's packet conservation): the study does not tell of it.",
        "The phase in which a cycle of gains begins follows from the number of segments received; BBR draws it.",
    ],
    params: Params::TABLE,
    shell: ShellKind::OwnAtSweep,
    consumer: Some(|settings| Ok(Box::new(Bbr::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

choice! {
    /// Whose timer finds losses.
    pub enum TimerRule {
        /// The mean round trip and some standard deviations (BBR-CD's).
        BbrCd = "bbr-cd",
        /// The shell's estimator.
        Shell = "shell",
        /// When the Data of a later Interest arrives, as RFC 8985 does with segments, or when the timer "bbr-cd" expires.
        /// Where packets change their order, it takes late ones for lost.
        Order = "order",
    }
}

params! {
    /// First window; the study starts every scheme with 1.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Floor of the window once Data has come (BBRMinPipeCwnd).
    min_window: f64 = 4.0, "packets", 1.0..=1_000_000.0;
    /// Gain of window and pace in Startup, 2/ln 2; Drain paces at its inverse (BBRHighGain).
    high_gain: f64 = 2.885, "of the bandwidth-delay product", 1.1..=10.0;
    /// Gain of the window in ProbeBW.
    cwnd_gain: f64 = 2.0, "of the bandwidth-delay product", 0.5..=10.0;
    /// Packets added to every window, for what leaves in one go.
    quanta: f64 = 3.0, "packets", 0.0..=1_000.0;
    /// Shortest round trip that the model uses, for the window, the time that rates are kept and the phases of ProbeBW.
    /// Hosts handle packets in batches, so that a path within one machine would otherwise have a window of a few packets,
    /// and a pause of the host longer than the window of rates would lower the estimate; 0 is the study's.
    min_round_trip: Span = Span::ZERO, "time", Span::ZERO..=Span::from_secs(1);
    /// The pipe is full when rounds bring less than this growth of the rate.
    full_growth: f64 = 1.25, "of the rate", 1.01..=10.0;
    /// So many rounds in a row.
    full_rounds: u32 = 3, "count", 1..=1_000;
    /// Round trips that the largest delivery rate is kept for.
    rate_round_trips: f64 = 10.0, "round trips", 1.0..=1_000.0;
    /// Age at which the smallest round trip is measured anew, in ProbeRTT.
    rtprop_age: Span = Span::from_secs(10), "time", Span::from_millis(100)..=Span::from_secs(3_600);
    /// When an Interest counts as lost. The study does not say it of its port of BBR; "bbr-cd" is the timer of the study's
    /// own scheme, which detects a loss about as early as TCP does; "shell" is the shell's timer, 200 ms at least.
    loss_timer: TimerRule = TimerRule::BbrCd;
    /// Of the timer "bbr-cd": length of its window of round trips.
    beta: f64 = 8.0, "round trips", 1.0..=1_000.0;
    /// Of the timer "bbr-cd": standard deviations above the mean round trip.
    alpha: f64 = 10.0, "standard deviations", 0.0..=1_000.0;
    /// Of the timer "bbr-cd": it lies at least this far above the mean.
    min_margin: Span = Span::from_millis(5), "time", Span::ZERO..=Span::from_secs(10);
    /// Of the timer "bbr-cd": the timer before the first sample.
    initial_timeout: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Length of ProbeRTT.
    probe_rtt_time: Span = Span::from_millis(200), "time", Span::ZERO..=Span::from_secs(10);
    /// Window in ProbeRTT.
    probe_rtt_window: f64 = 4.0, "packets", 1.0..=1_000_000.0;
}
