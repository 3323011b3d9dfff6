//! Links, which carry packets without knowing their names.
//!
//! [`line`](mod@line) is one direction of a wire, [`framed`] one direction of a link whose packets go as frames, [`medium`] an
//! 802.11 channel that radios share, and [`service`] the role of a scheme that recovers lost frames.

pub mod framed;
pub mod line;
pub mod medium;
pub mod service;
