//! Consumer profiles: timers, retransmissions and lifetimes around a congestion controller.
//!
//! Programs differ here as much as in their controllers, so each has its own rules.

use std::num::NonZeroU32;

use super::rto::{EstimatorKind, TimeoutLimits};
use crate::units::Span;

/// Program whose timers and retransmission rules apply around the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConsumerProfile {
    /// ndnSIM's `ConsumerWindow` and consumers derived from it.
    Ndnsim,
    /// The same with reactions to congestion Nacks, as in its congestion-control consumers of 2012 and 2013.
    NdnsimNack,
    /// ndn-tools' `ndnget`, formerly `ndncatchunks`.
    NdnTools,
    /// The segmented-object fetcher of NDNts.
    Ndnts,
    /// The object client of ndnd.
    Ndnd,
    /// hICN's transport with its configuration file: no timer but the lifetime, no Nacks.
    Hicn,
    /// The consumer of PCON's authors, on ndnSIM's of 2016.
    Pcon,
    /// Tidegate's own, for schemes with their own timers.
    Own,
    /// The same, with the timeout evaluated at each check, not at departure (BBR-CD).
    OwnAtSweep,
}

impl ConsumerProfile {
    /// Every kind with its name in a scenario.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Ndnsim, "ndnsim"),
        (Self::NdnsimNack, "ndnsim-nack"),
        (Self::NdnTools, "ndn-tools"),
        (Self::Ndnts, "ndnts"),
        (Self::Ndnd, "ndnd"),
        (Self::Hicn, "hicn"),
        (Self::Pcon, "pcon"),
        (Self::Own, "own"),
        (Self::OwnAtSweep, "own-at-sweep"),
    ];
}

/// Time at which a packet's retransmission timeout is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutReading {
    /// Determined when the Interest leaves.
    AtSend,
    /// Determined at each sweep, for every outstanding Interest (ndnSIM).
    AtSweep,
}

/// Order of retransmission of lost segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetransmitOrder {
    /// Lowest segment first (ndnSIM's set).
    BySegment,
    /// The segment whose loss was detected first comes first.
    ByLoss,
}

/// Counting of outstanding Interests and reporting of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// ndnSIM's application: every Data frees a place in the window, even if its Interest had timed out
    /// before; every Interest that times out is a separate loss with a separate backoff, and its segment gives no
    /// further round-trip sample; lifetimes are handled by the forwarder only.
    Loose,
    /// ndn-tools: only outstanding Interests count; all that time out together are one loss, reported with the
    /// highest segment; the timeout backs off once per window of data; the end of a lifetime is a loss.
    Exact,
}

/// Reaction of the consumer to a loss notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeReaction {
    /// The controller is notified of a loss and limits itself to one decrease per round trip.
    Reduce,
    /// The notice is only counted.
    Ignore,
}

/// Rules of one consumer profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileRules {
    /// Estimator of the round-trip time, from which the RTO follows.
    pub estimator: EstimatorKind,
    /// Limits of the timeout, below and for backoff.
    pub timeout: TimeoutLimits,
    /// Interval between two sweeps for timed-out Interests.
    pub sweep: Span,
    /// Time at which the timeout is determined.
    pub reading: TimeoutReading,
    /// Counting of outstanding Interests and reporting of losses.
    pub tracking: Tracking,
    /// Order in which lost segments are retransmitted.
    pub retransmit: RetransmitOrder,
    /// Retransmissions of one segment before it is given up; `None` for no limit.
    pub retry_limit: Option<u32>,
    /// Minimum time without any Data before a segment is given up: while Data comes, the path works and only loses much.
    pub patience: Span,
    /// Lifetime of an Interest; `None` is the timeout plus one second (NDNts).
    pub lifetime: Option<Span>,
    /// Whether a congestion Nack is handled as a timeout, and a segment without a route is given up; otherwise
    /// Nacks are only counted.
    pub nack_is_loss: bool,
    /// Whether a segment that a congestion Nack refused is requested again when its timer expires, so that retries do not end
    /// within a few round trips; otherwise as soon as the window allows it. Without effect if Nacks are only counted.
    pub nack_waits: bool,
    /// Whether only whole packets of the window count: 1.5 is 1 in ndn-tools and lets a second Interest out
    /// in ndnSIM and NDNts.
    pub whole_window: bool,
    /// Whether one more Interest may leave when the window is exactly full.
    pub one_over: bool,
    /// Reaction to a loss notice.
    pub notice: NoticeReaction,
    /// Whether a segment without a route is given up at once; otherwise it is retransmitted when its timer
    /// expires. Without effect if Nacks are only counted.
    pub no_route_is_final: bool,
    /// Hop limit on every Interest; `None` for none.
    pub hop_limit: Option<u8>,
}

impl ProfileRules {
    /// The rules of the profile `kind`.
    pub const fn of(kind: ConsumerProfile) -> Self {
        let ndn_tools = Self {
            estimator: EstimatorKind::NdnTools,
            timeout: TimeoutLimits { min: None, backoff: None, variations: None },
            sweep: Span::from_millis(10),
            reading: TimeoutReading::AtSend,
            tracking: Tracking::Exact,
            retransmit: RetransmitOrder::ByLoss,
            retry_limit: Some(15),
            patience: Span::ZERO,
            lifetime: Some(Span::from_secs(4)),
            nack_is_loss: true,
            nack_waits: false,
            whole_window: true,
            one_over: false,
            notice: NoticeReaction::Reduce,
            no_route_is_final: true,
            hop_limit: None,
        };
        let ndnsim = Self {
            estimator: EstimatorKind::Ndnsim,
            sweep: Span::from_millis(50),
            reading: TimeoutReading::AtSweep,
            tracking: Tracking::Loose,
            retransmit: RetransmitOrder::BySegment,
            retry_limit: None,
            lifetime: Some(Span::from_secs(2)),
            nack_is_loss: false,
            whole_window: false,
            ..ndn_tools
        };
        let own = Self { retry_limit: None, whole_window: false, ..ndn_tools };
        match kind {
            ConsumerProfile::Ndnsim => ndnsim,
            ConsumerProfile::NdnsimNack => Self { nack_is_loss: true, no_route_is_final: false, ..ndnsim },
            ConsumerProfile::Pcon => Self {
                timeout: TimeoutLimits { backoff: NonZeroU32::new(8), ..ndnsim.timeout },
                nack_is_loss: true,
                one_over: true,
                no_route_is_final: false,
                ..ndnsim
            },
            ConsumerProfile::NdnTools => ndn_tools,
            ConsumerProfile::Ndnts => Self {
                estimator: EstimatorKind::Ndnts,
                sweep: Span::from_millis(4),
                lifetime: None,
                nack_is_loss: false,
                whole_window: false,
                ..ndn_tools
            },
            ConsumerProfile::Ndnd => Self { retry_limit: Some(3), ..ndn_tools },
            ConsumerProfile::Hicn => Self {
                retry_limit: Some(128),
                lifetime: Some(Span::from_millis(500)),
                nack_is_loss: false,
                whole_window: false,
                ..ndn_tools
            },
            ConsumerProfile::Own => own,
            ConsumerProfile::OwnAtSweep => Self { reading: TimeoutReading::AtSweep, ..own },
        }
    }
}
