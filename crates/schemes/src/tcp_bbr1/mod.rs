//! BBR version 1 of Linux as a TCP sender: window and pace from the largest delivery rate and the smallest round trip.
//!
//! Paper: Cardwell et al., ACM Queue 14(5), 2016; Linux net/ipv4/tcp_bbr.c (its rules, none of its code).

mod aggregation;
mod controller;
mod policer;
mod recovery;

use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::tcp::{Reduction, SenderRule};
use tidegate_core::units::{ByteCount, Span};

use controller::Bbr;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "tcp-bbr1",
    summary: "Linux's BBR version 1: window and pace from the largest delivery rate and the smallest round trip",
    paper: "ACM Queue 14(5) 2016; Linux tcp_bbr.c",
    provenance: Provenance::Source,
    deviations: &[
        "The largest rate is exact, where Linux's filter keeps the three best candidates of the window.",
        "Gains are 2.885 and its inverse, where Linux rounds to 739/256 and 88/256.",
        "The handshake's round trip sets the first pace, but is no candidate for the smallest round trip.",
        "What is in flight is not projected to the next departure, which is never far: bursts are the sender's.",
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
    /// First window (TCP_INIT_CWND).
    initial_window: f64 = 10.0, "segments", 1.0..=1_000_000.0;
    /// Floor of the window, and the window in ProbeRTT.
    min_window: f64 = 4.0, "segments", 1.0..=1_000_000.0;
    /// Gain of window and pace in Startup, 2/ln 2; Drain paces at its inverse.
    high_gain: f64 = 2.885, "of the bandwidth-delay product", 1.1..=10.0;
    /// Gain of the window in ProbeBW.
    window_gain: f64 = 2.0, "of the bandwidth-delay product", 0.5..=10.0;
    /// Part of the rate that the pace stays below it.
    pacing_margin: f64 = 0.01, "of the rate", 0.0..=0.5;
    /// Age up to which a delivery rate counts.
    rate_rounds: u32 = 10, "round trips", 1..=1_000;
    /// Age at which the smallest round trip is measured anew, in ProbeRTT.
    min_rtt_age: Span = Span::from_secs(10), "time", Span::from_millis(100)..=Span::from_secs(3_600);
    /// Least length of ProbeRTT.
    probe_rtt_time: Span = Span::from_millis(200), "time", Span::ZERO..=Span::from_secs(10);
    /// The pipe is full when rounds bring less than this growth of the rate.
    full_growth: f64 = 1.25, "of the rate", 1.01..=10.0;
    /// So many rounds in a row.
    full_rounds: u32 = 3, "count", 1..=1_000;
    /// Bursts added to every window, for what waits at both hosts: 3 in Linux, 0 for none.
    quanta: f64 = 3.0, "bursts", 0.0..=100.0;
    /// What is sent in this time is a burst: 1/1024 s in Linux.
    burst_time: Span = Span::from_nanos(976_562), "time", Span::ZERO..=Span::from_secs(1);
    /// Most bytes of a burst: what a super-packet of Linux carries.
    largest_burst: ByteCount = ByteCount::new(65_215), "size", ByteCount::new(0)..=ByteCount::new(1 << 30);
    /// Part of the excess of ACK streams added to the window; 0 before Linux 5.1.
    aggregation_gain: f64 = 1.0, "of the excess", 0.0..=10.0;
    /// The largest excess of this many to twice as many rounds counts.
    aggregation_rounds: u32 = 5, "round trips", 1..=31;
    /// Most that is added for it, as a time at the path's rate.
    aggregation_time: Span = Span::from_millis(100), "time", Span::ZERO..=Span::from_secs(10);
    /// Whether a path that polices is looked for, and then kept to at its rate.
    finds_policers: bool = true;
    /// Least part lost of what was delivered for an interval to be a policer's: 50/256.
    policer_loss: f64 = 0.195_312_5, "of the delivered", 0.0..=1.0;
}
