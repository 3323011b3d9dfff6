//! An 802.11 medium: a half-duplex channel that radios share by DCF.
//!
//! A driver offers frames, reads the time of the next event, calls at that time, and receives a list of the
//! frames that were delivered or given up. Source: IEEE 802.11-2016, 10.3 (DCF), 10.22.2 (EDCA) and 19 (HT
//! PHY). All radios are in range of each other, and frames that are sent at the same time are all lost (no
//! hidden radios, no capture); propagation takes no time. Any other loss is drawn by the driver, behind the
//! MAC.
//!
//! Slots count from the end of the DIFS after a busy medium. Every transmission begins at the beginning of a
//! slot (10.22.2.4), also that of a frame which arrives while the medium is idle: radios that decide in the
//! same slot cannot detect each other.

mod dcf;
mod frame;
mod phy;
mod radio;
mod setup;

use crate::rng::Rng;
use crate::units::{Span, Time};
use dcf::Contention;
pub use frame::{Airtime, Frame, FrameOutcome, Sent};
use radio::{Framing, Radio};
use setup::MAX_BYTES;
pub use setup::{Access, MediumSetup};

/// A medium and its radios.
#[derive(Debug)]
pub struct Medium {
    framing: Framing,
    slot: Span,
    sifs: Span,
    idle_before_slots: Span,
    radios: Vec<Radio>,
    /// Carrier sense is busy up to and including this time; `None` before the first transmission.
    busy_until: Option<Time>,
    /// The beginning of slot 0.
    slots_from: Time,
    /// Radios whose transmission has not ended.
    senders: Vec<usize>,
    /// Time at which the transmission is over for its sender: the end of the ACK, or of the wait for one.
    ends: Time,
    /// The first slot at whose beginning a radio sends; `None` if no radio has a frame.
    first_slot: Option<u64>,
    /// Outcomes that the driver has not taken yet.
    reported: Vec<Sent>,
    /// Time of the first of these outcomes.
    told_from: Time,
    airtime: Airtime,
}

impl Medium {
    /// An idle medium of `radios` radios; each draws its backoffs from the stream "backoff/0" and so on. An error
    /// names the field of the set-up that is wrong.
    pub fn new(setup: &MediumSetup, radios: usize, stream: impl Fn(&str) -> Rng) -> Result<Self, String> {
        setup.check()?;
        let contention = |number| Contention::new(setup, stream(&format!("backoff/{number}")));
        Ok(Self {
            framing: Framing::new(setup),
            slot: setup.slot,
            sifs: setup.sifs,
            idle_before_slots: setup.idle_before_slots(),
            radios: (0..radios).map(|number| Radio::new(contention(number))).collect(),
            busy_until: None,
            slots_from: Time::ZERO,
            senders: Vec::new(),
            ends: Time::ZERO,
            first_slot: None,
            reported: Vec::new(),
            told_from: Time::ZERO,
            airtime: Airtime::default(),
        })
    }

    /// Offers a frame to radio `from`, behind those that wait there for the same receiver; receivers take
    /// turns. It is given up at once if there is no such radio, it is its own receiver, or it is longer than
    /// 65 535 B.
    pub fn offer(&mut self, now: Time, from: usize, frame: Frame) {
        // A driver that is late must not put a frame into what has begun before.
        while self.due().is_some_and(|due| due < now) {
            self.step();
        }
        let (slot, is_busy) = (self.slot_at(now), self.is_busy(now));
        let is_known = frame.to < self.radios.len() && frame.to != from;
        let fits = self.framing.mpdu(frame.size) <= MAX_BYTES;
        let Some(radio) = self.radios.get_mut(from).filter(|_| is_known && fits) else {
            return self.refuse(now, from, frame);
        };
        let was_empty = radio.is_empty();
        radio.push(&frame);
        match (was_empty, is_busy) {
            (false, _) => {}
            (true, true) => radio.contention.request_while_busy(),
            (true, false) => radio.contention.request_while_idle(slot),
        }
        let slot = radio.contention.slot();
        // Only this radio's slot is new, so the others need no look.
        self.first_slot = self.first_slot.into_iter().chain(slot).min();
    }

    /// Time of the next call of [`Self::on_event`]; it may be earlier after a frame was offered, and is past for a
    /// driver that is late.
    pub fn next_event(&self) -> Option<Time> {
        if self.reported.is_empty() { self.due() } else { Some(self.told_from) }
    }

    /// Runs what is due by `now`, and appends the outcomes of frames. A late call reports late, but the times
    /// of the radios are unchanged; an early call does nothing.
    pub fn on_event(&mut self, now: Time, out: &mut Vec<Sent>) {
        while self.due().is_some_and(|due| due <= now) {
            self.step();
        }
        out.append(&mut self.reported);
    }

    /// Frames of `from` to `to` that are neither delivered nor given up.
    pub fn waiting(&self, from: usize, to: usize) -> usize {
        self.radios.get(from).map_or(0, |radio| radio.waiting(to))
    }

    /// Whether the frames at `from` for `to` make a whole transmission: one frame, without aggregation;
    /// otherwise 64, or more bytes than are sent together.
    pub fn is_full(&self, from: usize, to: usize) -> bool {
        self.radios.get(from).is_some_and(|radio| radio.is_full(&self.framing, to))
    }

    /// Gives up the frames at `from` for `to`, those on the air included, which still take their time.
    pub fn forget(&mut self, from: usize, to: usize, out: &mut Vec<Sent>) {
        let Some(radio) = self.radios.get_mut(from) else { return };
        radio.forget(from, to, out);
        self.first_slot = self.find_first_slot();
    }

    /// Use of the medium's time so far; a transmission counts from its beginning.
    pub fn airtime(&self) -> Airtime {
        self.airtime
    }

    /// Time that the medium was busy until `now`; of a transmission that lasts longer, the fraction until
    /// then.
    pub fn busy_by(&self, now: Time) -> Span {
        let to_come =
            self.busy_until.filter(|until| *until > now).map_or(Span::ZERO, |until| until.since(now));
        Span::from_nanos(self.airtime.busy.as_nanos().saturating_sub(to_come.as_nanos()))
    }

    fn refuse(&mut self, now: Time, from: usize, frame: Frame) {
        if self.reported.is_empty() {
            self.told_from = now;
        }
        self.reported.push(Sent { tag: frame.tag, from, to: frame.to, outcome: FrameOutcome::GivenUp });
    }

    fn is_busy(&self, now: Time) -> bool {
        // What answers a frame at the end of its ACK was made while the ACK was sent.
        self.busy_until.is_some_and(|until| now <= until)
    }

    /// The slot that begins at `now` or next.
    fn slot_at(&self, now: Time) -> u64 {
        now.since(self.slots_from).as_nanos().div_ceil(self.slot.as_nanos())
    }

    fn find_first_slot(&self) -> Option<u64> {
        let ready = self.radios.iter().filter(|radio| !radio.is_empty());
        ready.filter_map(|radio| radio.contention.slot()).min()
    }

    fn due(&self) -> Option<Time> {
        match self.senders.is_empty() {
            true => self.first_slot.map(|slot| self.slots_from + self.slot * slot),
            false => Some(self.ends),
        }
    }

    fn step(&mut self) {
        match self.first_slot {
            Some(slot) if self.senders.is_empty() => self.begin(slot),
            _ => self.end(),
        }
    }

    /// Starts the radios whose backoff ends at the beginning of `slot`; the others freeze.
    fn begin(&mut self, slot: u64) {
        let start = self.slots_from + self.slot * slot;
        let (mut longest, mut ack) = (Span::ZERO, Span::ZERO);
        for (number, radio) in self.radios.iter_mut().enumerate() {
            if radio.is_empty() || radio.contention.slot() != Some(slot) {
                radio.contention.freeze(slot);
                continue;
            }
            self.airtime.retries += u64::from(radio.contention.is_retry());
            let lasts = radio.begin(&self.framing);
            (longest, ack) = (longest.max(lasts.data), lasts.ack);
            self.senders.push(number);
        }
        self.airtime.transmissions += self.senders.len() as u64;
        let collide = self.senders.len() > 1;
        self.airtime.collisions += u64::from(collide);
        // After a collision the others wait EIFS, which is SIFS, ACK and DIFS (10.3.2.3.7). Who collided waits for an
        // ACK a few microseconds longer (10.3.2.9); taken as the same, so that the slots of all begin together.
        let ack = if collide { self.framing.ack() } else { ack };
        self.ends = start + longest + self.sifs + ack;
        let busy_until = if collide { start + longest } else { self.ends };
        self.airtime.busy += busy_until.since(start);
        self.busy_until = Some(busy_until);
        self.slots_from = self.ends + self.idle_before_slots;
    }

    /// Ends the transmission: it is acknowledged, or the radios that collided detect it. All that sent draw a
    /// new backoff.
    fn end(&mut self) {
        let collided = self.senders.len() > 1;
        let before = self.reported.len();
        self.told_from = if before == 0 { self.ends } else { self.told_from };
        for number in self.senders.drain(..) {
            let radio = &mut self.radios[number];
            // Frames that were given up during a collision count neither as failed nor as delivered: there is
            // nothing left to report.
            if !collided || !radio.has_batch() {
                radio.contention.succeed();
                radio.end(number, FrameOutcome::Delivered, &mut self.reported);
            } else if radio.contention.fail() {
                radio.end(number, FrameOutcome::GivenUp, &mut self.reported);
            }
        }
        let count = (self.reported.len() - before) as u64;
        *(if collided { &mut self.airtime.given_up } else { &mut self.airtime.delivered }) += count;
        self.first_slot = self.find_first_slot();
    }
}
