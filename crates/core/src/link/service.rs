//! Loss recovery on a link: labels of frames, detection of losses, and retransmission of frames.
//!
//! The link owns the frames (see [`crate::link::framed`]); a service handles numbers only, as disciplines
//! handle headers only. Each end of a link has one, and both are of one scheme.

use crate::units::{ByteCount, Time};

/// A part of a packet, as one frame carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Number of the packet in this direction of the link, from 0.
    pub packet: u64,
    /// Place among the parts of the packet, from 0.
    pub index: u32,
    /// Sequence of the part in this direction (NDNLPv2); it stays the same when the part is sent again.
    pub sequence: u64,
    /// Bytes of the frame without labels.
    pub bytes: u32,
    /// Number of earlier transmissions.
    pub resends: u8,
}

/// Labels that a service writes into a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Number of this transmission.
    pub number: Option<u64>,
    /// Numbers of transmissions that arrived at this end.
    pub acks: Vec<u64>,
    /// The number that was expected here, and the one that arrived in its place.
    pub gap: Option<(u64, u64)>,
    /// Bytes of all of these in the frame.
    pub bytes: u32,
}

/// Actions that a service requests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LinkActions {
    /// Parts to be retransmitted, before anything new.
    pub resends: Vec<Part>,
    /// Parts that will not be retransmitted.
    pub releases: Vec<Part>,
    /// Numbers of packets to be given up: their waiting frames still leave, but the service is not passed
    /// their parts. A packet that these frames and those on the way do not complete is lost.
    pub given_up: Vec<u64>,
    /// Frames with labels alone to be sent, before anything else.
    pub notices: u32,
}

/// One end of a link: it sends frames and receives those of the peer.
///
/// A service is `Send`, so that a connection may move to another thread together with it.
pub trait LinkService: std::fmt::Debug + Send {
    /// Bytes of labels to be left free in each frame with a part of a packet.
    fn label_bytes(&self) -> ByteCount;

    /// A frame leaves: with `part`, which the link keeps until it is released or given up, or with labels alone.
    /// `room` bytes are free for labels. A frame without both part and labels is not sent.
    fn on_send(&mut self, now: Time, part: Option<Part>, room: u32, actions: &mut LinkActions) -> Labels;

    /// A frame of the peer arrived, with the part of this sequence if it has one. Returns whether the part is
    /// new here.
    fn on_receive(
        &mut self,
        now: Time,
        sequence: Option<u64>,
        labels: &Labels,
        actions: &mut LinkActions,
    ) -> bool;

    /// Time at which [`on_wake`](Self::on_wake) is due; `None` for never.
    fn next_wake(&self) -> Option<Time> {
        None
    }

    /// Called at the requested time, or earlier or later.
    fn on_wake(&mut self, now: Time, actions: &mut LinkActions) {
        let _ = (now, actions);
    }
}
