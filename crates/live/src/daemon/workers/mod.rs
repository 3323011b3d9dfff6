//! Workers: threads of one forwarder, among which names and faces are divided.
//!
//! Each worker is a whole [`Daemon`](super::Daemon) with tables of its own for its part of the names ([`Shards`]). Every face is
//! in all workers, under one number; its socket is at one of them, its owner. What a worker receives for the tables of another
//! one, and what it sends through a face of another one, crosses over a ring that one thread writes and another one reads: no
//! packet waits for a lock.
//!
//! The first worker has the listeners, management and the RIB. It decides about faces and routes, and sends [`Order`]s to the
//! others, which send [`Notice`]s back. A worker carries out the orders before it looks at what crossed to it, so that nothing
//! crosses about a face before the face is there.

mod crossing;
mod faces;
mod holding;
mod orders;
mod reports;
mod shards;
mod start;
mod waker;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rtrb::{Consumer, Producer, RingBuffer};
use tidegate_core::ndn::face::FaceId;
use tidegate_core::units::{ByteCount, Packets};

use super::config::ForwarderConfig;
use super::status::StatusLine;
use crossing::Crossing;
pub(super) use faces::FarEnd;
use holding::{Behind, Holding};
use orders::ControlChannels;
pub(super) use orders::Order;
pub(super) use reports::{sum_of_flows, sum_of_forwarder};
use shards::Shards;
pub(super) use start::start;
use waker::Waker;

/// Number of packets that one ring holds.
const RING: usize = 4_096;

/// Free places of a ring from which on a worker reads from its sockets.
const ROOM: usize = RING / 4;

/// The part of a forwarder's threads that one of them has.
#[derive(Debug)]
pub(super) struct Workers {
    own: usize,
    shards: Shards,
    /// Rings by worker; `None` at the own place.
    rings: Vec<Option<Rings>>,
    /// Those of all workers, by worker.
    wakers: Arc<[Waker]>,
    /// Number of pending Interests with CanBePrefix, by worker.
    prefixes: Arc<[AtomicU32]>,
    control: ControlChannels,
    pub holding: Holding,
    /// Workers for whom something was put into a ring in this turn, one bit each.
    touched: u64,
    /// Faces of other workers with packets that found no room.
    waiting: Vec<FaceId>,
    counters: CrossingCounters,
}

/// Rings between two workers.
#[derive(Debug)]
struct Rings {
    to: Producer<Crossing>,
    from: Consumer<Crossing>,
    /// What was received after `to` was full; nothing more is read from sockets until it is empty.
    overflow: VecDeque<Crossing>,
}

/// Counters of what crossed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CrossingCounters {
    /// Packets put into rings.
    pub given: u64,
    /// Packets taken out of rings.
    pub taken: u64,
    /// Packets about faces that were closed.
    pub stale: u64,
    /// Copies of Data for Interests with CanBePrefix that satisfied none.
    pub unneeded: u64,
}

/// What the workers of one forwarder share, to be divided among their threads.
struct Parts {
    shards: Shards,
    rings: Vec<Vec<Option<Rings>>>,
    wakers: Arc<[Waker]>,
    prefixes: Arc<[AtomicU32]>,
    behind: Arc<Behind>,
}

impl Parts {
    fn new(key: u64, workers: usize) -> io::Result<Self> {
        let wakers: io::Result<Vec<Waker>> = (0..workers).map(|_| Waker::new()).collect();
        let mut ends: Vec<Vec<Option<Producer<Crossing>>>> = Vec::new();
        let mut others: Vec<Vec<Option<Consumer<Crossing>>>> = (0..workers).map(|_| Vec::new()).collect();
        for from in 0..workers {
            let mut row = Vec::new();
            for (to, others) in others.iter_mut().enumerate() {
                let (producer, consumer) = RingBuffer::new(if from == to { 0 } else { RING });
                row.push(Some(producer).filter(|_| from != to));
                others.push(Some(consumer).filter(|_| from != to));
            }
            ends.push(row);
        }
        let pair = |(to, from): (Option<Producer<Crossing>>, Option<Consumer<Crossing>>)| {
            Some(Rings { to: to?, from: from?, overflow: VecDeque::new() })
        };
        let rings = ends.into_iter().zip(others);
        let rings = rings.map(|(to, from)| to.into_iter().zip(from).map(pair).collect());
        Ok(Self {
            shards: Shards::new(key, workers),
            rings: rings.collect(),
            wakers: wakers?.into(),
            prefixes: (0..workers).map(|_| AtomicU32::new(0)).collect(),
            behind: Default::default(),
        })
    }

    /// The part of the next worker.
    fn next(&mut self, own: usize, control: ControlChannels) -> Workers {
        Workers {
            own,
            shards: self.shards,
            rings: std::mem::take(&mut self.rings[own]),
            wakers: Arc::clone(&self.wakers),
            prefixes: Arc::clone(&self.prefixes),
            control,
            holding: Holding::new(Arc::clone(&self.behind)),
            touched: 0,
            waiting: Vec::new(),
            counters: CrossingCounters::default(),
        }
    }
}

impl Workers {
    /// Whether this is the worker that decides about faces and routes.
    pub fn is_first(&self) -> bool {
        self.own == 0
    }

    /// Appends the counters of what crossed to the line about the forwarder.
    pub fn add_counters(&self, line: StatusLine) -> StatusLine {
        let CrossingCounters { given, taken, stale, unneeded } = self.counters;
        line.with("given_to_threads", given)
            .with("taken_from_threads", taken)
            .with("stale_from_threads", stale)
            .with("unneeded_copies", unneeded)
    }

    /// The part of a number of packets that this worker has.
    pub fn part_of_packets(&self, whole: Packets) -> Packets {
        part_of_packets(whole, self.wakers.len(), self.own)
    }

    /// What the worker watches along with its sockets.
    fn waker(&self) -> &Waker {
        &self.wakers[self.own]
    }

    /// Whether a packet for `worker` has room in the ring.
    #[inline]
    pub fn has_room(&self, worker: usize) -> bool {
        self.rings[worker].as_ref().is_some_and(|rings| !rings.to.is_full())
    }

    /// Whether a ring is too full for more to be read from sockets.
    pub fn is_crowded(&self) -> bool {
        self.rings.iter().flatten().any(|rings| !rings.overflow.is_empty() || rings.to.slots() < ROOM)
    }

    /// Passes a packet to `worker`, now or when its ring has room.
    #[inline]
    fn give(&mut self, worker: usize, crossing: Crossing) {
        let Some(rings) = &mut self.rings[worker] else { return };
        self.counters.given += 1;
        self.touched |= 1 << worker;
        if !rings.overflow.is_empty() {
            return rings.overflow.push_back(crossing);
        }
        if let Err(rtrb::PushError::Full(crossing)) = rings.to.push(crossing) {
            rings.overflow.push_back(crossing);
        }
    }

    /// Passes on what had no room before.
    fn relieve(&mut self) {
        for (worker, rings) in self.rings.iter_mut().enumerate() {
            let Some(rings) = rings else { continue };
            while !rings.overflow.is_empty() && !rings.to.is_full() {
                let Some(crossing) = rings.overflow.pop_front() else { break };
                // There is room.
                let _ = rings.to.push(crossing);
                self.touched |= 1 << worker;
            }
        }
    }

    /// Announces that the worker waits for events; returns whether it must not, since there is something to do.
    pub fn begin_wait(&mut self) -> bool {
        self.waker().begin_wait();
        let is_due = |rings: &Rings| !rings.from.is_empty() || !rings.overflow.is_empty();
        !self.waiting.is_empty() || self.rings.iter().flatten().any(is_due)
    }

    /// Wakes the workers that were given something in this turn.
    pub fn wake_others(&mut self) {
        let touched = std::mem::take(&mut self.touched);
        (0..self.wakers.len())
            .filter(|worker| touched >> worker & 1 == 1)
            .for_each(|worker| self.wakers[worker].wake());
    }

    /// Adds a face of another worker to those with packets that wait for room.
    pub fn wait_for_room(&mut self, face: FaceId) {
        if !self.waiting.contains(&face) {
            self.waiting.push(face);
        }
    }

    /// Publishes the number of pending Interests with CanBePrefix.
    #[inline]
    pub fn publish_prefixes(&self, count: u32) {
        let published = &self.prefixes[self.own];
        if published.load(Ordering::Relaxed) != count {
            published.store(count, Ordering::SeqCst);
        }
    }

    /// The workers other than `main` that have to see a Data because of pending Interests with CanBePrefix, one bit each.
    #[inline]
    fn with_prefixes(&self, main: usize) -> u64 {
        let pending = |worker: &usize| self.prefixes[*worker].load(Ordering::SeqCst) > 0;
        (0..self.prefixes.len())
            .filter(|worker| *worker != main)
            .filter(pending)
            .fold(0, |bits, worker| bits | 1 << worker)
    }
}

/// The configuration of one of the workers: each has its part of the limits.
pub(super) fn part_of(config: &ForwarderConfig, worker: usize) -> ForwarderConfig {
    let bytes = |whole: ByteCount| ByteCount::new(part(whole.get(), config.threads, worker));
    let packets = |whole: Packets| part_of_packets(whole, config.threads, worker);
    ForwarderConfig {
        cache: packets(config.cache),
        cache_size: bytes(config.cache_size),
        max_memory: bytes(config.max_memory),
        // None at all would refuse the names of this worker.
        pit_limit: packets(config.pit_limit).max(Packets::new(1)),
        ..config.clone()
    }
}

/// The part of a number of packets that one of `workers` has.
fn part_of_packets(whole: Packets, workers: usize, worker: usize) -> Packets {
    Packets::new(part(u64::from(whole.get()), workers, worker) as u32)
}

/// The part of one of `workers`; the sum of all parts is `whole`.
fn part(whole: u64, workers: usize, worker: usize) -> u64 {
    let (each, left) = (whole / workers as u64, whole % workers as u64);
    each + u64::from((worker as u64) < left)
}
