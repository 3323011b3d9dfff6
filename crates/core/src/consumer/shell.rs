//! The habits around a congestion controller: timers, retransmissions, lifetimes.
//!
//! Programs differ here as much as in their controllers, so the habits of each are kept apart.

use super::rto::EstimatorKind;
use crate::units::Span;

/// Whose habits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellKind {
    /// ndnSIM's `ConsumerWindow` and its heirs.
    Ndnsim,
    /// ndn-tools' `ndnget`, formerly `ndncatchunks`.
    NdnTools,
    /// NDNts' segmented-object fetcher.
    Ndnts,
    /// ndnd's object client.
    Ndnd,
    /// Tidegate's own, for schemes that bring their own timers.
    Own,
}

impl ShellKind {
    /// Every kind with its name in a scenario.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Ndnsim, "ndnsim"),
        (Self::NdnTools, "ndn-tools"),
        (Self::Ndnts, "ndnts"),
        (Self::Ndnd, "ndnd"),
        (Self::Own, "own"),
    ];
}

/// When a packet's retransmission timeout is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutReading {
    /// Fixed when the Interest leaves.
    AtSend,
    /// The value at the sweep counts for every outstanding Interest (ndnSIM).
    AtSweep,
}

/// In which order lost segments are asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetransmitOrder {
    /// Lowest segment first (ndnSIM's set).
    BySegment,
    /// First lost first.
    ByLoss,
}

/// What a loss notice does at the consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeReaction {
    /// The controller hears of a loss; its own gate keeps it to one decrease per round trip.
    Reduce,
    /// Nothing but a count.
    Ignore,
}

/// One shell in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shell {
    /// Round-trip time estimator.
    pub estimator: EstimatorKind,
    /// Pause between two looks for timed-out Interests.
    pub sweep: Span,
    /// When the timeout is read.
    pub reading: TimeoutReading,
    /// Order of retransmissions.
    pub retransmit: RetransmitOrder,
    /// Retransmissions of one segment before it is given up; `None` for no limit.
    pub retry_limit: Option<u32>,
    /// Lifetime of an Interest; `None` is the timeout plus one second (NDNts).
    pub lifetime: Option<Span>,
    /// Whether a congestion Nack is answered like a timeout; otherwise it is only counted.
    pub nack_is_loss: bool,
    /// Whether one more Interest may leave when the window is exactly full.
    pub one_over: bool,
    /// What a loss notice does.
    pub notice: NoticeReaction,
    /// Hop limit on every Interest; 255 for none.
    pub hop_limit: u8,
}

impl Shell {
    /// The habits of `kind`.
    pub const fn of(kind: ShellKind) -> Self {
        let ndn_tools = Self {
            estimator: EstimatorKind::NdnTools,
            sweep: Span::from_millis(10),
            reading: TimeoutReading::AtSend,
            retransmit: RetransmitOrder::ByLoss,
            retry_limit: Some(15),
            lifetime: Some(Span::from_secs(4)),
            nack_is_loss: true,
            one_over: false,
            notice: NoticeReaction::Reduce,
            hop_limit: 255,
        };
        match kind {
            ShellKind::Ndnsim => Self {
                estimator: EstimatorKind::Ndnsim,
                sweep: Span::from_millis(50),
                reading: TimeoutReading::AtSweep,
                retransmit: RetransmitOrder::BySegment,
                retry_limit: None,
                lifetime: Some(Span::from_secs(2)),
                nack_is_loss: false,
                ..ndn_tools
            },
            ShellKind::NdnTools => ndn_tools,
            ShellKind::Ndnts => Self {
                estimator: EstimatorKind::Ndnts,
                sweep: Span::from_millis(4),
                lifetime: None,
                ..ndn_tools
            },
            ShellKind::Ndnd => Self { retry_limit: Some(3), ..ndn_tools },
            ShellKind::Own => Self { retry_limit: None, ..ndn_tools },
        }
    }
}
