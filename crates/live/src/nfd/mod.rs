//! NFD's management messages, for both ends: commands with their responses, and datasets.
//!
//! Type numbers and field order are those of ndn-cxx; fields may arrive in any order and unknown ones are
//! ignored, as in NFD, so that newer peers are understood. ndn-cxx reads datasets in this order only.

mod face_event;
mod face_query;
mod parameters;
mod prefix_announcement;
mod response;
mod status;
mod types;

pub use face_event::{FaceEventKind, encode_face_event};
pub use face_query::FaceQueryFilter;
pub use parameters::{ControlParameters, ParameterSet};
pub use prefix_announcement::{AnnouncementError, PrefixAnnouncement};
pub use response::ControlResponse;
pub use status::{CsInfo, FaceRecord, FibRecord, ForwarderStatus, PacketCounts, RibRecord, RouteRecord};
pub use status::{encode_channel, encode_strategy_choice};

/// Origin of a route that an application registered.
pub const ORIGIN_APP: u64 = 0;
/// Origin of a route from the announcement of a producer.
pub const ORIGIN_PREFIX_ANNOUNCEMENT: u64 = 129;
/// Origin of a route from a settings file or a user.
pub const ORIGIN_STATIC: u64 = 255;
/// Flag of a route that also serves longer prefixes with routes of their own.
pub const FLAG_CHILD_INHERIT: u64 = 1;
/// Flag of a route that hides the routes of shorter prefixes.
pub const FLAG_CAPTURE: u64 = 2;
