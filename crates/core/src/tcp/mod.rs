//! TCP endpoints as state machines: a sender under a congestion controller, and a receiver.
//!
//! The controller is the consumers'
//! [`CongestionController`](crate::scheme::congestion::CongestionController), so a window rule exists once.
//! The sender calls `on_delivery` once per ACK that delivers, loses or marks something, `on_loss` for each
//! lost segment, and `on_recovery` at the edges of a recovery: a TCP rule reduces its window there, once, and
//! not with each loss. A segment has a number, counted from 0 at the first byte of data, however long it is.
//!
//! Sources: RFC 9293 (TCP), 7323 (time stamps, window scale), 2018, 2883 and 6675 (SACK), 6298 (timeout),
//! 8985 (RACK-TLP), 9937 (PRR), 3522 (Eifel), draft-cheng-iccrg-delivery-rate-estimation.

#[cfg(test)]
mod end_to_end;
mod options;
mod ranges;
mod reassembly;
mod receiver;
pub mod record;
mod sender;
mod sequence;
mod source;

pub use options::{MAX_SACK_BLOCKS, SackBlocks, Segment, SynOptions, TcpOptions, segment_size};
pub use receiver::{AckPolicy, EcnEcho, Receiver, ReceiverSetup};
pub use sender::{
    Detection, Reduction, Sender, SenderRule, SenderSettings, SenderSetup, SenderStats, TimeoutBounds,
    TimeoutRule,
};
pub use source::Source;
