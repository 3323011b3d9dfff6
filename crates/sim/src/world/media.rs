//! Links on an 802.11 medium: the frames that devices pass to their radios, and their outcomes.

use std::collections::BTreeMap;

use tidegate_core::link::framed::{self, FramedLine};
use tidegate_core::link::line::Carriage;
use tidegate_core::link::medium::{Airtime, Frame, FrameOutcome, Medium, Sent};
use tidegate_core::ndn::face::FaceView;
use tidegate_core::observe::records::MediumRecord;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{ByteCount, Time};

use super::World;
use crate::events::EventKind;
use crate::link::{LinkDirection, Radio};
use crate::plan::{MediumPlan, Plan};

/// A medium, and the frames at its radios.
#[derive(Debug)]
pub(super) struct SharedMedium {
    pub medium: Medium,
    /// Direction and frame, by tag.
    frames: Vec<Option<(u32, framed::Frame)>>,
    free: Vec<usize>,
    /// Earliest pending event; [`Time::MAX`] for none.
    pub wake: Time,
    reported: Vec<Sent>,
}

impl SharedMedium {
    /// Whether a radio has a whole transmission; everything else waits in the queue, where disciplines apply.
    pub fn is_full(&self, radio: Radio) -> bool {
        self.medium.is_full(radio.from, radio.to)
    }

    /// Time of its next event, if that is before the pending one, which it replaces.
    pub fn earlier_event(&mut self, now: Time) -> Option<Time> {
        // The queue has no removal: a later pending event stays there and is recognised as stale by `wake`.
        let at = self.medium.next_event()?.max(now);
        if at >= self.wake {
            return None;
        }
        self.wake = at;
        Some(at)
    }

    /// Passes a frame of this direction to its radio.
    pub fn offer(&mut self, now: Time, direction: u32, radio: Radio, frame: framed::Frame) {
        let size = frame.size();
        let place = self.free.pop().unwrap_or_else(|| {
            self.frames.push(None);
            self.frames.len() - 1
        });
        self.frames[place] = Some((direction, frame));
        self.medium.offer(now, radio.from, Frame { to: radio.to, size, tag: place as u64 });
    }

    /// Bytes of a direction that wait at its radio or are on the air.
    fn waiting_bytes(&self, direction: usize) -> ByteCount {
        let of_direction = self.frames.iter().flatten().filter(|(owner, _)| *owner as usize == direction);
        ByteCount::new(of_direction.map(|(_, frame)| frame.size().get()).sum())
    }

    fn take(&mut self, tag: u64) -> Option<(u32, framed::Frame)> {
        let taken = self.frames.get_mut(tag as usize)?.take();
        self.free.push(tag as usize);
        taken
    }
}

/// Bytes that a direction has put on its wire or medium until `now`; of what is being sent on a wire, the
/// fraction that has left. A medium counts a frame when it was delivered or given up.
pub(super) fn sent_bytes(
    media: &[SharedMedium],
    (direction, wire): (usize, &LinkDirection),
    face: &FaceView,
    now: Time,
) -> ByteCount {
    let left = wire.sent_bytes(face.sent_bytes(), now);
    let waiting = wire.radio.map_or(ByteCount::ZERO, |radio| media[radio.medium].waiting_bytes(direction));
    ByteCount::new(left.get() - waiting.get())
}

/// The media of a plan, and the radios of each link direction.
pub(super) fn build(plan: &Plan, seed: Seed) -> (Vec<SharedMedium>, Vec<Option<Radio>>) {
    let mut radios: Vec<BTreeMap<usize, usize>> = vec![BTreeMap::new(); plan.media.len()];
    let mut directions = Vec::with_capacity(2 * plan.links.len());
    for link in &plan.links {
        let Some(medium) = link.medium else {
            directions.extend([None, None]);
            continue;
        };
        let [a, b] = [link.a, link.b].map(|node| {
            // A node has one radio on a medium, whatever the number of its links there (IEEE 802.11 has one MAC per channel).
            let number = radios[medium].len();
            *radios[medium].entry(node).or_insert(number)
        });
        directions.extend([(a, b), (b, a)].map(|(from, to)| Some(Radio { medium, from, to })));
    }
    let build = |(medium, radios): (&MediumPlan, &BTreeMap<usize, usize>)| {
        let stream = |what: &str| Rng::stream(seed, &format!("medium/{}/{what}", medium.name));
        let checked =
            Medium::new(&medium.setup, radios.len(), stream).expect("media were checked with the plan");
        SharedMedium {
            medium: checked,
            frames: Vec::new(),
            free: Vec::new(),
            wake: Time::MAX,
            reported: Vec::new(),
        }
    };
    (plan.media.iter().zip(&radios).map(build).collect(), directions)
}

impl World {
    /// Airtime of each medium, in the plan's order.
    pub fn airtimes(&self) -> Vec<Airtime> {
        self.agenda.media.iter().map(|shared| shared.medium.airtime()).collect()
    }

    /// The records of all media, in the plan's order.
    pub(super) fn medium_records(&self, plan: &Plan) -> Vec<MediumRecord> {
        let record = |(shared, plan): (&SharedMedium, &MediumPlan)| {
            let airtime = shared.medium.airtime();
            MediumRecord {
                name: plan.name.clone(),
                busy: shared.medium.busy_by(self.agenda.now),
                transmissions: airtime.transmissions,
                collisions: airtime.collisions,
                retries: airtime.retries,
                delivered_frames: airtime.delivered,
                given_up_frames: airtime.given_up,
            }
        };
        self.agenda.media.iter().zip(&plan.media).map(record).collect()
    }

    /// Handles an event of a medium.
    #[cold]
    pub(super) fn on_medium_event(&mut self, index: usize) {
        let now = self.agenda.now;
        let shared = &mut self.agenda.media[index];
        // Stale: an earlier event replaced this one.
        if shared.wake != now {
            return;
        }
        shared.wake = Time::MAX;
        let mut reported = std::mem::take(&mut shared.reported);
        shared.medium.on_event(now, &mut reported);
        self.settle_frames(index, &mut reported, FramedLine::lose_frame);
        self.agenda.media[index].reported = reported;
        self.request_medium(index);
    }

    /// Carries on the frames that a medium delivered, and loses by `lose` those that it gave up; the devices
    /// may send again.
    fn settle_frames(
        &mut self,
        index: usize,
        reported: &mut Vec<Sent>,
        lose: fn(&mut FramedLine, &framed::Frame),
    ) {
        let mut touched: Vec<u32> = Vec::new();
        for sent in reported.drain(..) {
            let Some((direction, frame)) = self.agenda.media[index].take(sent.tag) else { continue };
            let Some(framed) = &mut self.directions[direction as usize].framed else { continue };
            match sent.outcome {
                FrameOutcome::GivenUp => lose(framed, &frame),
                FrameOutcome::Delivered => {
                    if let Carriage::First(at) = framed.carry(frame, self.agenda.now) {
                        self.agenda.events.push(at, EventKind::FrameArrival, direction as usize);
                    }
                }
            }
            self.notify_lost(direction as usize);
            // Refilled after all reports: a refill offers frames, which would change the medium between two of them.
            if !touched.contains(&direction) {
                touched.push(direction);
            }
        }
        touched.into_iter().for_each(|direction| self.refill(direction as usize));
    }

    /// Passes packets of a device to its radio while there is room.
    pub(super) fn refill(&mut self, direction: usize) {
        self.react(direction);
        loop {
            let wire = &self.directions[direction];
            let face = &self.nodes[wire.from.node as usize].core.faces()[wire.from.face.index()];
            let queued = face.queued_packets();
            if !wire.is_up || wire.line.busy_until > self.agenda.now || queued == 0 {
                return;
            }
            self.service(direction);
            let wire = &self.directions[direction];
            let face = &self.nodes[wire.from.node as usize].core.faces()[wire.from.face.index()];
            // A discipline may hold every packet back; without progress the loop would not end.
            if face.queued_packets() >= queued {
                return;
            }
        }
    }

    /// Loses the frames at the radio of a link that goes down.
    pub(super) fn forget_frames(&mut self, direction: usize) {
        let Some(Radio { medium, from, to, .. }) = self.directions[direction].radio else { return };
        let mut reported = Vec::new();
        self.agenda.media[medium].medium.forget(from, to, &mut reported);
        self.settle_frames(medium, &mut reported, FramedLine::withhold);
        self.request_medium(medium);
    }

    pub(super) fn request_medium(&mut self, index: usize) {
        if let Some(at) = self.agenda.media[index].earlier_event(self.agenda.now) {
            self.agenda.events.push(at, EventKind::Medium, index);
        }
    }
}
