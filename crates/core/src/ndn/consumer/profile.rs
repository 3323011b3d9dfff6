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

/// What a profile has or has not, in one byte, so that a consumer tests at once whether all of it is as usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProfileOptions(u8);

impl ProfileOptions {
    /// The set of no option.
    pub const NONE: Self = Self(0);
    /// A congestion Nack is handled as a timeout, and a segment without a route is given up; otherwise Nacks are only
    /// counted.
    pub const NACK_IS_LOSS: Self = Self(1);
    /// A segment that a congestion Nack refused is requested again when its timer expires, so that retries do not end
    /// within a few round trips; otherwise as soon as the window allows it. Without effect if Nacks are only counted.
    pub const NACK_WAITS: Self = Self(2);
    /// A segment without a route is given up at once; otherwise it is retransmitted when its timer expires. Without
    /// effect if Nacks are only counted.
    pub const NO_ROUTE_IS_FINAL: Self = Self(4);
    /// Only whole packets of the window count: 1.5 is 1 in ndn-tools and lets a second Interest out in ndnSIM and
    /// NDNts.
    pub const WHOLE_WINDOW: Self = Self(8);
    /// One more Interest may leave when the window is exactly full.
    pub const ONE_OVER: Self = Self(16);
    /// The flow sends by a timetable; set by its consumer, as the two below.
    pub(super) const TIMETABLE: Self = Self(32);
    /// The flow consists of requests for objects.
    pub(super) const REQUESTS: Self = Self(64);
    /// The clock of the node has ticks.
    pub(super) const TICKS: Self = Self(128);

    /// What few flows have of the options that each turn of a consumer depends on.
    pub(super) const UNUSUAL: Self =
        Self::ONE_OVER.union(Self::TIMETABLE).union(Self::REQUESTS).union(Self::TICKS);

    /// The options of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether there is any of `options`.
    #[inline]
    pub const fn has(self, options: Self) -> bool {
        self.0 & options.0 != 0
    }

    /// Sets or removes all of `options`.
    pub const fn set(&mut self, options: Self, on: bool) {
        self.0 = if on { self.0 | options.0 } else { self.0 & !options.0 };
    }
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
    /// What else the profile has.
    pub options: ProfileOptions,
    /// Reaction to a loss notice.
    pub notice: NoticeReaction,
    /// Hop limit on every Interest; `None` for none.
    pub hop_limit: Option<u8>,
}

impl ProfileRules {
    /// The rules of the profile `kind`.
    pub const fn of(kind: ConsumerProfile) -> Self {
        let no_route_is_final = ProfileOptions::NO_ROUTE_IS_FINAL;
        let nack_is_loss = ProfileOptions::NACK_IS_LOSS;
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
            options: nack_is_loss.union(no_route_is_final).union(ProfileOptions::WHOLE_WINDOW),
            notice: NoticeReaction::Reduce,
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
            options: no_route_is_final,
            ..ndn_tools
        };
        let own = Self { retry_limit: None, options: nack_is_loss.union(no_route_is_final), ..ndn_tools };
        match kind {
            ConsumerProfile::Ndnsim => ndnsim,
            ConsumerProfile::NdnsimNack => Self { options: nack_is_loss, ..ndnsim },
            ConsumerProfile::Pcon => Self {
                timeout: TimeoutLimits { backoff: NonZeroU32::new(8), ..ndnsim.timeout },
                options: nack_is_loss.union(ProfileOptions::ONE_OVER),
                ..ndnsim
            },
            ConsumerProfile::NdnTools => ndn_tools,
            ConsumerProfile::Ndnts => Self {
                estimator: EstimatorKind::Ndnts,
                sweep: Span::from_millis(4),
                lifetime: None,
                options: no_route_is_final,
                ..ndn_tools
            },
            ConsumerProfile::Ndnd => Self { retry_limit: Some(3), ..ndn_tools },
            ConsumerProfile::Hicn => Self {
                retry_limit: Some(128),
                lifetime: Some(Span::from_millis(500)),
                options: no_route_is_final,
                ..ndn_tools
            },
            ConsumerProfile::Own => own,
            ConsumerProfile::OwnAtSweep => Self { reading: TimeoutReading::AtSweep, ..own },
        }
    }
}
