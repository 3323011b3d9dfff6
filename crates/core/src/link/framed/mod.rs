//! One direction of a link whose packets travel as frames: divided, labelled, sent, lost one by one,
//! reassembled.
//!
//! A packet arrives with the last of its parts. It is lost once no part of it is under way and no link
//! service may retransmit one, or when nothing of it arrives for [`REASSEMBLY_TIMEOUT`].

mod fragmentation;
mod transit;

use std::collections::VecDeque;

use crate::arena::{Arena, PacketId, Stored};
use crate::link::line::{Carriage, Line, LineSetup};
use crate::link::service::{Labels, LinkActions, LinkService, Part};
use crate::rng::Rng;
use crate::units::{BitRate, ByteCount, Time};
pub use fragmentation::{Cut, MIN_MTU, REASSEMBLY_TIMEOUT};
use transit::{Transit, Transits};

/// A frame on its way.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    part: Option<Part>,
    labels: Labels,
    size: ByteCount,
}

impl Frame {
    /// Bytes on the wire.
    pub fn size(&self) -> ByteCount {
        self.size
    }
}

impl Stored for Frame {
    fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Frames sent, those with labels alone counted.
    pub sent: u64,
    /// Frames lost on the way.
    pub lost: u64,
    /// Frames among those sent that were sent again by a link service.
    pub resent: u64,
    /// Bytes sent in all frames.
    pub bytes: u64,
}

/// One direction of a link that sends frames.
#[derive(Debug)]
pub struct FramedLine {
    line: Line,
    /// The frames on the line.
    frames: Arena<Frame>,
    mtu: ByteCount,
    service: Option<Box<dyn LinkService>>,
    /// Frames to be sent; `None` for a frame with labels alone.
    waiting: VecDeque<Option<Part>>,
    transits: Transits,
    sequence: u64,
    counts: FrameCounts,
    /// Bytes of frames that were taken out and did not leave.
    withheld: u64,
    actions: LinkActions,
}

impl FramedLine {
    /// A free line with frames of at most `mtu` (`None`: of any size), and the service of the end that sends.
    pub fn new(
        setup: &LineSetup,
        mtu: Option<ByteCount>,
        service: Option<Box<dyn LinkService>>,
        stream: impl Fn(&str) -> Rng,
    ) -> Self {
        Self {
            line: Line::new(setup, stream),
            frames: Arena::default(),
            mtu: mtu.unwrap_or(ByteCount::new(u64::from(u32::MAX))),
            service,
            waiting: VecDeque::new(),
            transits: Transits::default(),
            sequence: 0,
            counts: FrameCounts::default(),
            withheld: 0,
            actions: LinkActions::default(),
        }
    }

    /// Whether a link service labels the frames; with one, packets can be lost that were sent long ago.
    pub fn has_service(&self) -> bool {
        self.service.is_some()
    }

    /// Whether there are lost packets that [`take_lost`](Self::take_lost) has not returned yet.
    pub fn has_lost(&self) -> bool {
        !self.transits.gone.is_empty()
    }

    /// Counters of the direction so far.
    pub fn counts(&self) -> FrameCounts {
        self.counts
    }

    /// Number of packets that were lost.
    pub fn lost(&self) -> u64 {
        self.transits.lost
    }

    /// Number of packets that arrived whole.
    pub fn delivered(&self) -> u64 {
        self.transits.delivered
    }

    /// Packets that may yet arrive.
    pub fn in_flight(&self) -> u64 {
        self.transits.in_flight
    }

    /// Time until which a frame is being sent.
    pub fn busy_until(&self) -> Time {
        self.line.busy_until
    }

    /// Sends from the next frame on at `rate`.
    pub fn set_rate(&mut self, rate: BitRate, now: Time) {
        self.line.set_rate(rate, now);
    }

    /// Mean rate from the start to `now`, as [`Line::mean_rate`].
    pub fn mean_rate(&self, now: Time) -> BitRate {
        self.line.mean_rate(now)
    }

    /// Bytes that have left by `now`; of the frame that is being sent, the fraction that has left.
    pub fn sent_bytes(&self, now: Time) -> ByteCount {
        ByteCount::new(self.counts.bytes - self.withheld - self.line.unsent(now).get())
    }

    /// Whether frames wait to be sent.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Divides a packet of `size` into frames, which wait to be sent.
    pub fn push(&mut self, packet: PacketId, size: ByteCount) {
        let labels = self.service.as_ref().map(|service| service.label_bytes());
        let cut = Cut::of(size, self.mtu, labels);
        let number = self.transits.add(Transit::new(packet, &cut));
        for index in 0..cut.count {
            let bytes = cut.size(index).get() as u32;
            let part =
                Part { packet: number, index: index as u32, sequence: self.sequence, bytes, resends: 0 };
            self.sequence += 1;
            self.waiting.push_back(Some(part));
        }
    }

    /// Removes the next waiting frame, to be sent now.
    pub fn next_frame(&mut self, now: Time) -> Option<Frame> {
        let (part, bytes, labels) = loop {
            let part = self.waiting.pop_front()?;
            let bytes = part.map_or(fragmentation::ENVELOPE, |part| part.bytes);
            let labels = self.label(now, part, bytes);
            // What was to go alone may have gone with a part meanwhile.
            if part.is_some() || labels != Labels::default() {
                break (part, bytes, labels);
            }
        };
        let size = ByteCount::new(u64::from(bytes + labels.bytes));
        self.counts.sent += 1;
        self.counts.resent += u64::from(part.is_some_and(|part| part.resends > 0));
        self.counts.bytes += size.get();
        Some(Frame { part, labels, size })
    }

    /// Labels that the service writes into a frame of `bytes` that leaves now.
    fn label(&mut self, now: Time, part: Option<Part>, bytes: u32) -> Labels {
        let Some(service) = &mut self.service else { return Labels::default() };
        // A packet that was given up has no parts for the service (`LinkActions::given_up`).
        let part = part.filter(|part| !self.transits.is_given_up(part.packet));
        if let Some(part) = part.filter(|part| part.resends == 0) {
            self.transits.keep(part.packet);
        }
        let room = (self.mtu.get() as u32).saturating_sub(bytes);
        let labels = service.on_send(now, part, room, &mut self.actions);
        self.act();
        labels
    }

    /// Sends a frame over the line, which must be free.
    pub fn transmit(&mut self, frame: Frame, now: Time) -> Carriage {
        let (size, part) = (frame.size, frame.part);
        let frame = self.frames.insert(frame);
        let carriage = self.line.transmit(&mut self.frames, frame, size, now);
        self.after(carriage, part)
    }

    /// Carries a frame that another medium has sent by `now` to the far end.
    pub fn carry(&mut self, frame: Frame, now: Time) -> Carriage {
        let part = frame.part;
        let frame = self.frames.insert(frame);
        let carriage = self.line.carry(&mut self.frames, frame, now);
        self.after(carriage, part)
    }

    fn after(&mut self, carriage: Carriage, part: Option<Part>) -> Carriage {
        if carriage == Carriage::Lost {
            self.lose(part);
        }
        carriage
    }

    /// Loses a removed frame after it was sent.
    pub fn lose_frame(&mut self, frame: &Frame) {
        self.lose(frame.part);
    }

    /// Loses a removed frame before it was sent.
    pub fn withhold(&mut self, frame: &Frame) {
        self.withheld += frame.size.get();
        self.lose(frame.part);
    }

    fn lose(&mut self, part: Option<Part>) {
        self.counts.lost += 1;
        if let Some(part) = part {
            self.transits.drop_copy(part.packet);
        }
    }

    /// Removes the frame that arrives at `now`.
    pub fn take_arrival(&mut self, now: Time) -> Option<Frame> {
        let frame = self.line.take_arrival(&self.frames, now)?;
        Some(self.frames.take(frame))
    }

    /// Time at which the next frame reaches the far end; `None` if none is on the line.
    pub fn next_arrival(&self) -> Option<Time> {
        self.line.next_arrival(&self.frames)
    }

    /// The end that sends here receives a frame of the other direction. Returns whether the part in it is
    /// new.
    pub fn receive(&mut self, now: Time, frame: &Frame) -> bool {
        let Some(service) = &mut self.service else { return true };
        let sequence = frame.part.map(|part| part.sequence);
        let is_new = service.on_receive(now, sequence, &frame.labels, &mut self.actions);
        self.act();
        is_new
    }

    /// The far end receives a frame. Returns the packet that it completes. A part that is not `is_new` there
    /// adds nothing.
    pub fn reassemble(&mut self, now: Time, frame: &Frame, is_new: bool) -> Option<PacketId> {
        let part = frame.part?;
        if is_new {
            return self.transits.arrive(now, part.packet, part.index);
        }
        self.transits.drop_copy(part.packet);
        None
    }

    /// Time at which [`wake`](Self::wake) is due; `None` for never.
    pub fn next_wake(&self) -> Option<Time> {
        self.service.as_ref().and_then(|service| service.next_wake())
    }

    /// Wakes the service at its requested time.
    pub fn wake(&mut self, now: Time) {
        if let Some(service) = &mut self.service {
            service.on_wake(now, &mut self.actions);
            self.act();
        }
    }

    /// Carries out the actions of the service.
    fn act(&mut self) {
        let actions = &mut self.actions;
        for part in actions.releases.drain(..) {
            self.transits.release(part.packet);
        }
        // Reversed, because each part goes to the front: they leave in the order of the list, before anything
        // new.
        for mut part in actions.resends.drain(..).rev() {
            part.resends = part.resends.saturating_add(1);
            self.transits.add_copy(part.packet);
            self.waiting.push_front(Some(part));
        }
        for packet in actions.given_up.drain(..) {
            self.transits.give_up(packet);
        }
        for _ in 0..std::mem::take(&mut actions.notices) {
            self.waiting.push_front(None);
        }
    }

    /// Packets lost since the last call, which the caller has to end.
    pub fn take_lost(&mut self) -> std::vec::Drain<'_, PacketId> {
        self.transits.gone.drain(..)
    }

    /// Loses every frame that waits or is on the way; the line is free at `now`.
    pub fn cut(&mut self, now: Time) {
        // `Line::cut` discards the frames, so their parts are listed before.
        let on_the_way: Vec<Option<Part>> =
            self.line.on_the_way(&self.frames).map(|frame| frame.part).collect();
        self.line.cut(&mut self.frames, now);
        on_the_way.into_iter().for_each(|part| self.lose(part));
        // Words of the service still wait, for it has made them.
        let parts: Vec<Part> = self.waiting.iter().copied().flatten().collect();
        self.waiting.retain(Option::is_none);
        for part in parts {
            if part.resends > 0 {
                self.transits.release(part.packet);
            }
            self.transits.drop_copy(part.packet);
        }
    }
}

#[cfg(test)]
mod tests;
