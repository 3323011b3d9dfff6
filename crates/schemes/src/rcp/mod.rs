//! RCP: each router computes one fair rate per link for all its flows, and writes it on their packets.
//!
//! Paper: Dukkipati: Rate Control Protocol (RCP), PhD thesis, Stanford 2007, eq. 2.2, with the numbers of the
//! authors' ns-2 code. `gate` is the router's part, `sender` the sender's; the receiver echoes the rate (core).

use tidegate_core::prelude::*;

use gate::RateGate;
use sender::Follower;

mod gate;
mod sender;

/// Rate that the routers of the path assign to each flow, kbit/s.
pub const SHARED_RATE: Signal = Signal::new(888, Merge::Min);

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "rcp",
    summary: "routers assign the same rate to every flow of a link, from its load and queue; TCP senders pace at the lowest",
    paper: "Dukkipati: Rate Control Protocol (RCP), Stanford 2007; the authors' ns-2 code",
    provenance: Provenance::Source,
    deviations: &[
        "The rate is written before the packet is queued; in the paper's router it is written when a packet leaves.",
        "A packet transmitted across the boundary of two intervals counts for the first.",
        "A rate counts whole packets on the wire; a sender paces its payload at the fraction of it that a full segment \
         carries.",
    ],
    params: Params::TABLE,
    sender: Some(|settings| {
        let params = Params::from_settings(settings)?;
        Ok(SenderRule::new(Box::new(Follower::new(params.initial_window))))
    }),
    router: Some(|settings, node| {
        let params = Params::from_settings(settings)?;
        Ok(RouterParts::default().with_gates(node, |device| RateGate::new(params.clone(), device.face)))
    }),
    whole: Whole {
        needs: &[
            Need::of(Role::Sender, Counterpart::Role(Role::Router), "ACKs carry no rate, so the sender stays at its initial window"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

params! {
    /// Weight of the unused capacity (alpha).
    alpha: f64 = 0.4, "", 0.01..=10.0;
    /// Weight of the queue (beta).
    beta: f64 = 0.4, "", 0.0..=10.0;
    /// Fraction of the link's rate that is allocated (eta).
    utilisation: f64 = 0.95, "of the rate", 0.1..=1.0;
    /// Maximum interval between two updates; the mean RTT if that is shorter (T).
    interval: Span = Span::from_millis(10), "time", Span::from_micros(100)..=Span::from_secs(1);
    /// Assumed mean RTT before the first sample.
    #[renamed_from("first_rtt")]
    initial_rtt: Span = Span::from_millis(200), "time", Span::from_micros(100)..=Span::from_secs(10);
    /// Fraction of the link's rate assigned to a flow before the first update.
    #[renamed_from("first_rate")]
    initial_rate: f64 = 0.05, "of the rate", 0.0001..=1.0;
    /// Minimum assigned rate, in segments per mean RTT.
    #[renamed_from("least")]
    min_rate: f64 = 0.01, "segments", 0.0001..=100.0;
    /// Initial window of a sender, until a router has assigned a rate.
    #[renamed_from("first_window")]
    initial_window: f64 = 10.0, "segments", 1.0..=1_000.0;
}

#[cfg(test)]
mod tests;
