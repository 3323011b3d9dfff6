//! Parameters of a TCP sender.

use super::rtt::TimeoutBounds;
use super::rtt_variation::TimeoutRule;
use crate::clock::Clock;
use crate::ndn::name::Name;
use crate::ndn::packet::Ecn;
use crate::rng::Streams;
use crate::scheme::congestion::CongestionController;
use crate::tcp::{EcnEcho, Source};
use crate::units::{ByteCount, Span, Time};

/// Loss detection without the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detection {
    /// By time, with a tail loss probe (RFC 8985).
    #[default]
    RackTlp,
    /// By counting later segments that arrived (RFC 6675).
    Sack,
}

/// Reduction of the flight during fast recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// In proportion to the delivered segments (RFC 9937), down to the controller's window.
    #[default]
    Proportional,
    /// The controller's window applies at once, as BBR requires.
    Immediate,
}

/// Sender of a TCP connection as a scheme defines it.
#[derive(Debug)]
pub struct SenderRule {
    /// Window or rate rule.
    pub controller: Box<dyn CongestionController>,
    /// Reduction of the flight.
    pub reduction: Reduction,
    /// ECN codepoint of its segments with data, if the receiver takes part.
    pub ecn: Ecn,
    /// Echo of congestion marks by the receiver.
    pub echo: EcnEcho,
    /// Bytes of option that every ACK carries for feedback of the network.
    pub ack_option: ByteCount,
}

impl SenderRule {
    /// A window that shrinks in proportion, and no marks.
    pub fn new(controller: Box<dyn CongestionController>) -> Self {
        Self {
            controller,
            reduction: Reduction::Proportional,
            ecn: Ecn::NotCapable,
            echo: EcnEcho::Latched,
            ack_option: ByteCount::ZERO,
        }
    }
}

/// Settings of a sender around its controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderSettings {
    /// Maximum payload per segment, bytes, 1..=65000; the receiver may advertise less.
    pub mss: u16,
    /// Loss detection of the sender.
    pub detection: Detection,
    /// Rule for the length of the retransmission timeout.
    pub timeout_rule: TimeoutRule,
    /// Bounds of the retransmission timeout.
    pub timeout: TimeoutBounds,
    /// Maximum delay of an ACK by the receiver, for which a probe of a single segment waits (RFC 8985,
    /// section 7.2); 200 ms in Linux.
    pub max_ack_delay: Span,
    /// Segments sent together, at least 1 (segmentation offload). Without pacing a third of the window is
    /// enough for a burst.
    pub burst: u32,
}

impl Default for SenderSettings {
    /// Linux on Ethernet, without offload.
    fn default() -> Self {
        Self {
            mss: 1448,
            detection: Detection::default(),
            timeout_rule: TimeoutRule::default(),
            timeout: TimeoutBounds::default(),
            max_ack_delay: Span::from_millis(200),
            burst: 1,
        }
    }
}

/// Parameters of a new sender.
#[derive(Debug)]
pub struct SenderSetup {
    /// Number of the flow in events.
    pub flow: u32,
    /// Name of the flow, on every segment.
    pub name: Name,
    /// Controller of the scheme, and its changes to the connection.
    pub rule: SenderRule,
    /// Settings of the sender around the window rule.
    pub settings: SenderSettings,
    /// Source of the data to send.
    pub source: Source,
    /// Time at which the SYN leaves.
    pub start: Time,
    /// Nothing leaves at or after this time; `None` for no such time.
    pub stop: Option<Time>,
    /// Sequence number of its SYN.
    pub initial_sequence: u32,
    /// Random streams of the controller.
    pub draws: Streams,
    /// Clock of its node.
    pub clock: Clock,
}

/// Counters of a sender since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments with data or FIN sent, retransmissions included.
    pub segments: u64,
    /// Number of segments retransmitted, probes included.
    pub retransmissions: u64,
    /// Expirations of the retransmission timer, those of SYNs included.
    pub timeouts: u64,
    /// Number of tail loss probes sent (RFC 8985).
    pub probes: u64,
    /// Last segments sent again in a recovery for the sake of an ACK (RFC 6675, section 4, rule 4), at most one in each.
    pub rescues: u64,
    /// Number of fast recoveries entered.
    pub recoveries: u64,
    /// Number of recoveries that proved to be needless.
    pub spurious: u64,
    /// Number of ACKs that reported a congestion mark.
    pub marks: u64,
    /// Payload delivered, each byte once; the FIN counts as a byte.
    pub delivered: ByteCount,
}
