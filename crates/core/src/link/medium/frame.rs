//! Frames that a driver offers, and their outcomes.

use crate::units::{ByteCount, Span};

/// A frame to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of the radio that is to receive it.
    pub to: usize,
    /// Bytes of the LLC payload; the set-up's `overhead` is added.
    pub size: ByteCount,
    /// Identifies the frame for the driver.
    pub tag: u64,
}

/// Outcome of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOutcome {
    /// The receiver acknowledged the frame.
    Delivered,
    /// All its attempts failed, it was cancelled, or no radio can send it.
    GivenUp,
}

/// A frame that the medium no longer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Tag that the sender gave when it offered the frame.
    pub tag: u64,
    /// Number of the radio that sent it.
    pub from: usize,
    /// Number of the radio that was to receive it.
    pub to: usize,
    /// Outcome of the frame.
    pub outcome: FrameOutcome,
}

/// Use of a medium's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtime {
    /// Transmissions of data, each of one frame or of an aggregate; those that collided among them.
    pub transmissions: u64,
    /// Times at which more than one radio sent.
    pub collisions: u64,
    /// Number of retransmissions, each of one frame or of an aggregate.
    pub retries: u64,
    /// Frames that were acknowledged.
    pub delivered: u64,
    /// Frames that were given up after their last attempt.
    pub given_up: u64,
    /// Time from the beginning of a transmission to the end of its ACK, or of the longest that collided.
    pub busy: Span,
}
