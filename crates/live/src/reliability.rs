//! Retransmission of the frames of one face (NDNLPv2 reliability): the frames; which of them are lost is decided by a
//! link service of core, the one that the simulator uses.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use tidegate_core::link::service::{Labels, LinkActions, LinkService, Part};
use tidegate_core::units::Time;
use tidegate_wire::{FrameBatch, LABEL_LEN, LinkFrame, write_acks};

/// Maximum bytes of frames that wait for an acknowledgement; further ones are sent without a number.
const MAX_KEPT: usize = 16 << 20;

/// Maximum number of frames that wait for an acknowledgement.
const MAX_FRAMES: usize = 8_192;

/// Bytes of a frame around acknowledgements alone.
const ENVELOPE: usize = 4;

/// Counters of one face's reliability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReliabilityCounters {
    /// Frames that were sent again.
    pub resent: u64,
    /// Packets given up after the maximum number of retransmissions.
    pub given_up: u64,
    /// Received frames that were repetitions.
    pub duplicates: u64,
}

/// Frames of one face that may have to be sent again, and acknowledgements for its peer.
#[derive(Debug)]
pub(crate) struct ReliableFrames {
    service: Box<dyn LinkService>,
    mtu: usize,
    /// Number of the next packet.
    packet: u64,
    kept: BTreeMap<(u64, u32), LinkFrame>,
    kept_bytes: usize,
    /// Parts to be sent again; those of packets that were given up are passed over.
    due: VecDeque<Part>,
    actions: LinkActions,
    counters: ReliabilityCounters,
}

impl ReliableFrames {
    /// No frames yet; frames with their labels have at most `mtu` bytes.
    pub fn new(service: Box<dyn LinkService>, mtu: usize) -> Self {
        Self {
            service,
            mtu,
            packet: 0,
            kept: BTreeMap::new(),
            kept_bytes: 0,
            due: VecDeque::new(),
            actions: LinkActions::default(),
            counters: ReliabilityCounters::default(),
        }
    }

    /// Changes the maximum size of the next frames.
    pub fn set_mtu(&mut self, mtu: usize) {
        self.mtu = mtu;
    }

    /// Bytes of frames that may have to be sent again.
    pub fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }

    pub fn counters(&self) -> ReliabilityCounters {
        self.counters
    }

    /// Sends the frames of a packet.
    pub fn send(&mut self, now: Time, frames: Vec<LinkFrame>, batch: &mut FrameBatch) {
        let packet = self.packet;
        self.packet += 1;
        for (index, frame) in (0..).zip(frames) {
            let has_room = self.kept.len() < MAX_FRAMES && self.kept_bytes + frame.byte_len() <= MAX_KEPT;
            let part = frame.sequence().filter(|_| has_room).map(|sequence| Part {
                packet,
                index,
                sequence,
                bytes: frame.byte_len() as u32,
                resends: 0,
            });
            self.write(now, part, &frame, batch);
            if part.is_some() {
                self.kept_bytes += frame.byte_len();
                self.kept.insert((packet, index), frame);
            }
        }
        self.act();
    }

    fn write(&mut self, now: Time, part: Option<Part>, frame: &LinkFrame, batch: &mut FrameBatch) {
        let room = (LABEL_LEN * frame.room(self.mtu)) as u32;
        let Labels { number, acks, .. } = self.service.on_send(now, part, room, &mut self.actions);
        frame.write(number, &acks, batch);
    }

    /// Processes the labels of a received frame; returns whether its fragment is new here.
    pub fn receive(&mut self, now: Time, sequence: Option<u64>, labels: &Labels) -> bool {
        let is_new = self.service.on_receive(now, sequence, labels, &mut self.actions);
        self.counters.duplicates += u64::from(!is_new);
        self.act();
        is_new
    }

    /// Carries out what the service requested, except for sending.
    fn act(&mut self) {
        for part in self.actions.releases.drain(..) {
            if let Some(frame) = self.kept.remove(&(part.packet, part.index)) {
                self.kept_bytes -= frame.byte_len();
            }
        }
        self.due.extend(self.actions.resends.drain(..));
        for packet in std::mem::take(&mut self.actions.given_up) {
            self.counters.given_up += 1;
            let of_packet = (Bound::Included((packet, 0)), Bound::Included((packet, u32::MAX)));
            let keys: Vec<(u64, u32)> = self.kept.range(of_packet).map(|(key, _)| *key).collect();
            for frame in keys.iter().filter_map(|key| self.kept.remove(key)) {
                self.kept_bytes -= frame.byte_len();
            }
        }
    }

    /// Whether [`resend`](Self::resend) has something to send.
    pub fn has_due(&self) -> bool {
        !self.due.is_empty() || self.actions.notices > 0
    }

    /// Sends lost frames again, and acknowledgements that found no other frame.
    pub fn resend(&mut self, now: Time, batch: &mut FrameBatch) {
        while let Some(part) = self.due.pop_front() {
            let Some(frame) = self.kept.get(&(part.packet, part.index)).cloned() else { continue };
            self.counters.resent += 1;
            self.write(now, Some(Part { resends: part.resends.saturating_add(1), ..part }), &frame, batch);
        }
        while std::mem::take(&mut self.actions.notices) > 0 {
            let room = self.mtu.saturating_sub(ENVELOPE) as u32;
            let labels = self.service.on_send(now, None, room, &mut self.actions);
            if !labels.acks.is_empty() {
                write_acks(&labels.acks, batch);
            }
        }
        self.act();
    }

    /// Time of the next call to [`on_wake`](Self::on_wake).
    pub fn next_wake(&self) -> Option<Time> {
        self.service.next_wake()
    }

    /// Runs what is due.
    pub fn on_wake(&mut self, now: Time) {
        self.service.on_wake(now, &mut self.actions);
        self.act();
    }
}
