//! XCP: routers write on each packet the change of its sender's window, so that the link is full and shared fairly.
//!
//! Paper: Katabi, Handley & Rohrs: Congestion Control for High Bandwidth-Delay Product Networks, SIGCOMM 2002, §3 and
//! appendix A (the residues). `gate` is the router's part, `sender` the sender's; the receiver echoes the change
//! (core).

use tidegate_core::prelude::*;

use gate::FeedbackGate;
use sender::Xcp;

mod gate;
mod sender;

/// Change of the sender's window that the routers of the path request, zig-zag coded bytes.
pub const WINDOW_FEEDBACK: Signal = Signal::new(892, Merge::Last);
/// Sender's congestion window, bytes.
pub const FLOW_WINDOW: Signal = Signal::new(896, Merge::Last);

/// Bytes of a full segment on the wire, the unit of windows and changes.
const SEGMENT: f64 = 1514.0;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "xcp",
    summary: "routers set in each TCP segment the number of bytes by which its sender changes the window",
    paper: "Katabi, Handley & Rohrs: Congestion Control for High Bandwidth-Delay Product Networks, SIGCOMM 2002",
    provenance: Provenance::Paper,
    deviations: &[
        "The change is written before the packet is queued; in the paper's router it is written when a packet leaves.",
        "The standing queue is the minimum queue seen by arriving packets in a control interval; the paper takes the \
         minimum over a propagation delay.",
        "An ACK returns the feedback of the last segment that it acknowledges: a receiver that delays ACKs halves the \
         growth.",
    ],
    params: Params::TABLE,
    sender: Some(|settings| {
        let params = Params::from_settings(settings)?;
        Ok(SenderRule::new(Box::new(Xcp::new(params.initial_window))))
    }),
    router: Some(|settings, node| {
        let params = Params::from_settings(settings)?;
        Ok(RouterParts::default().with_gates(node, |device| FeedbackGate::new(params.clone(), device.face)))
    }),
    whole: Whole {
        needs: &[
            Need::of(Role::Sender, Counterpart::Role(Role::Router), "ACKs carry no change of the window, so the sender stays at its initial one"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

params! {
    /// Weight of the unused capacity (alpha, §3.5.1).
    alpha: f64 = 0.4, "", 0.01..=2.0;
    /// Weight of the standing queue (beta, §3.5.1).
    beta: f64 = 0.226, "", 0.0..=2.0;
    /// Fraction of the traffic that is always redistributed, so that shares become fair (§3.5.2).
    shuffle: f64 = 0.1, "of the traffic", 0.0..=1.0;
    /// Control interval before the first RTT sample.
    #[renamed_from("first_rtt")]
    initial_rtt: Span = Span::from_millis(50), "time", Span::from_millis(1)..=Span::from_secs(1);
    /// Initial window of a sender.
    #[renamed_from("first_window")]
    initial_window: f64 = 2.0, "segments", 1.0..=1_000.0;
}

#[cfg(test)]
mod tests;
