//! Back-pressure on streams: a peer whose Interests meet a stream that is behind is not read from until it has
//! caught up. Kernel buffers then fill up to the application, which sees a full socket instead of losses.
//!
//! Only an Interest holds its sender back, never a Data, and only peers that connected to this forwarder are held
//! back: two forwarders cannot both stop reading from each other, since one of them did not accept the connection.
//! Whatever cycle remains ends after [`PATIENCE`]; what then waits is bounded in bytes, per face and in total.

use std::cell::Cell;
use std::rc::Rc;

use tidegate_core::context::Context;
use tidegate_core::ndn::face::{FaceId, FaceView, Limit};
use tidegate_core::ndn::packet::{Header, Kind};
use tidegate_core::observe::event::Cause;
use tidegate_core::queue::{Actions, QueueDiscipline, Verdict};
use tidegate_core::scheme::signal::Class;
use tidegate_core::units::{ByteCount, Span, Time};

use super::face::{Face, Line, Origin};
use super::timers::Due;
use super::{Daemon, Watch, Watched};
use crate::transport::Transport;

/// Number of packets waiting for a stream from which on the faces that request more are held back.
const MAX_PACKETS: u32 = 256;

/// Bytes waiting for a stream from which on the faces that request more are held back.
const MAX_BYTES: ByteCount = ByteCount::new(256 * 1024);

/// Maximum time for which a peer is held back by another one that does not catch up.
const PATIENCE: Span = Span::from_millis(250);

/// Default limit of a stream's queue. Interests that were read before their sender was held back, and
/// those that TCP's buffers hold, still bring their Data when the sender pauses. This is eight
/// times the receive window of `fetch`; a consumer that requests more than this limit at once can lose Data.
pub(super) const STREAM_LIMIT: Limit = Limit::Bytes(ByteCount::new(64 << 20));

/// Packets in front of a stream from which on Interests of peers that cannot be held back, and Nacks, are dropped: the limit
/// of every other queue. Nacks to a peer that does not read would keep its names without end.
const INTEREST_LIMIT: u32 = 1_000;

/// Maximum bytes in the queues of all streams together.
const TOTAL_LIMIT: u64 = 128 << 20;

/// Bytes that every stream may queue even if the others occupy [`TOTAL_LIMIT`].
const SHARE: u64 = 64 * 1024;

/// Whether this face's queue is ruled by back-pressure: a stream for which neither a limit nor a rate is configured,
/// since both ask for a queue that drops.
pub(super) fn rules(line: &Line, settings: &super::config::FaceConfig) -> bool {
    let is_stream =
        matches!(line, Line::Socket { transport: Transport::Stream(_) | Transport::WebSocket(_), .. });
    is_stream && settings.rate.is_none() && !settings.is_limit_given
}

/// Whether the queue is kept within the memory that streams share: one that back-pressure rules, and that in front of the ring to
/// the owner of a stream.
pub(super) fn is_guarded(line: &Line, settings: &super::config::FaceConfig) -> bool {
    let is_far_stream = matches!(line, Line::Far(end) if end.uris.is_some() && !end.is_datagram);
    is_far_stream || rules(line, settings)
}

/// State that all streams of a forwarder share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Bytes in the queues of all streams.
    queued: Cell<u64>,
    /// Whether the packet that is being forwarded came from a peer that can be held back.
    is_from_held: Cell<bool>,
}

impl Shared {
    /// Whether the next packets come from a peer that can be held back.
    pub fn set_source(&self, can_be_held: bool) {
        self.is_from_held.set(can_be_held);
    }
}

/// Keeps the queue of one stream within the memory that all streams share; consulted before other disciplines.
#[derive(Debug)]
pub(super) struct MemoryGuard {
    shared: Rc<Shared>,
    /// Bytes of this queue within `shared.queued`.
    counted: u64,
}

impl MemoryGuard {
    pub fn new(shared: Rc<Shared>) -> Self {
        Self { shared, counted: 0 }
    }

    fn count(&mut self, bytes: u64) {
        self.shared.queued.set(self.shared.queued.get() - self.counted + bytes);
        self.counted = bytes;
    }
}

impl Drop for MemoryGuard {
    fn drop(&mut self) {
        self.count(0);
    }
}

impl QueueDiscipline for MemoryGuard {
    fn on_enqueue(
        &mut self,
        _: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        let waiting = queue.queued_bytes().get();
        self.count(waiting);
        let is_limited = match packet.kind {
            Kind::Interest(_) => !self.shared.is_from_held.get(),
            Kind::Nack(_) => true,
            _ => false,
        };
        if is_limited && queue.backlog(Class::BULK) >= INTEREST_LIMIT {
            return Verdict::Drop(Cause("queue full"));
        }
        let size = packet.size().get();
        if waiting + size > SHARE && self.shared.queued.get() + size > TOTAL_LIMIT {
            return Verdict::Drop(Cause("memory of streams"));
        }
        Verdict::Pass
    }

    fn on_dequeue(
        &mut self,
        _: &mut Context<'_>,
        _: &mut Header,
        _: Span,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        self.count(queue.queued_bytes().get());
        Verdict::Pass
    }

    fn on_clear(&mut self) {
        self.count(0);
    }
}

/// State of one face.
#[derive(Debug, Default)]
pub(super) struct Pressure {
    /// Whether back-pressure rules its queue.
    pub is_ruling: bool,
    /// Faces that are not read from until this one has caught up, by index and number.
    waiting: Vec<(FaceId, u64)>,
    /// Streams that have to catch up before this face is read from again.
    held_by: u32,
    /// Whether it did not catch up in time, so that it does not delay others until it does.
    is_slow: bool,
    /// Bytes sent at the last check whether the peer reads.
    sent_before: ByteCount,
    /// Whether the peer read nothing for [`PATIENCE`], so that it is not held back itself until it does.
    is_stuck: bool,
    /// Time since which at least one face has waited.
    waiting_since: Time,
    /// Whether a timer is pending.
    is_armed: bool,
}

impl Pressure {
    pub fn new(is_ruling: bool) -> Self {
        Self { is_ruling, ..Self::default() }
    }

    /// Removes and returns the faces that wait for this one, which is closed.
    pub fn take_waiting(&mut self) -> Vec<(FaceId, u64)> {
        std::mem::take(&mut self.waiting)
    }

    /// Whether faces wait for this one: not if it kept them waiting for too long before.
    pub fn may_hold_others(&self) -> bool {
        !self.is_slow
    }

    /// Whether the face of this index and number waits for this one.
    pub fn is_awaited_by(&self, face: FaceId, number: u64) -> bool {
        self.waiting.contains(&(face, number))
    }

    /// Whether the face is not read from.
    pub fn is_held(&self) -> bool {
        self.held_by > 0
    }
}

pub(super) fn is_behind(view: &FaceView) -> bool {
    view.queued_packets() >= MAX_PACKETS || view.queued_bytes() >= MAX_BYTES
}

pub(super) fn has_caught_up(view: &FaceView) -> bool {
    // Half of the threshold: at the threshold itself, each packet sent would resume and stop the readers.
    view.queued_packets() <= MAX_PACKETS / 2 && view.queued_bytes().get() <= MAX_BYTES.get() / 2
}

impl Daemon {
    /// Notes that Interests of `requester` were read. They wait at the faces of `self.met`, their Data at
    /// `requester` itself.
    pub(super) fn note_requester(&mut self, requester: FaceId) {
        self.met.push(requester);
        // One batch of Interests names few faces many times.
        self.met.sort_unstable();
        self.met.dedup();
        self.requested.extend(self.met.drain(..).map(|met| (requester, met)));
    }

    /// Holds back the faces that requested Data over a congested stream, after the sockets took what they could.
    pub(super) fn hold_back(&mut self) {
        let mut requested = std::mem::take(&mut self.requested);
        for (requester, stream) in requested.drain(..) {
            if self.is_to_be_held(requester, stream) {
                self.hold(requester, stream);
            }
        }
        self.requested = requested;
    }

    fn is_to_be_held(&self, requester: FaceId, stream: FaceId) -> bool {
        let face = |id: FaceId| self.faces[id.index()].as_ref();
        let (Some(source), Some(target)) = (face(requester), face(stream)) else { return false };
        source.origin == Origin::Accepted
            && target.pressure.is_ruling
            // A stream that took nothing for its own peer, or kept others waiting once, holds back nobody
            // until it recovers.
            && !(if requester == stream { target.pressure.is_stuck } else { target.pressure.is_slow })
            && is_behind(&self.node.faces()[stream.index()])
            && !target.pressure.waiting.contains(&(requester, source.number))
    }

    pub(super) fn hold(&mut self, requester: FaceId, stream: FaceId) {
        let Some(source) = &mut self.faces[requester.index()] else { return };
        source.pressure.held_by += 1;
        let number = source.number;
        let Some(target) = &mut self.faces[stream.index()] else { return };
        // Patience is measured from the first face that waits, or each new one would extend it.
        if target.pressure.waiting.is_empty() {
            target.pressure.waiting_since = self.now;
            target.pressure.sent_before = self.node.faces()[stream.index()].sent_bytes();
        }
        target.pressure.waiting.push((requester, number));
        if !std::mem::replace(&mut target.pressure.is_armed, true) {
            self.timers.set(self.now + PATIENCE, Due::Pressure(stream));
        }
        self.update_watch(requester);
    }

    /// Resumes reading from the faces that waited for `stream`, if it has caught up.
    pub(super) fn relieve(&mut self, stream: FaceId) {
        self.publish_caught_up(stream);
        let Some(Face { pressure, .. }) = &mut self.faces[stream.index()] else { return };
        let view = &self.node.faces()[stream.index()];
        // The smallest progress proves that the peer reads again.
        pressure.is_stuck &= view.sent_bytes() == pressure.sent_before;
        let is_idle = !pressure.is_slow && pressure.waiting.is_empty();
        if is_idle || !has_caught_up(view) {
            return;
        }
        pressure.is_slow = false;
        let waiting = std::mem::take(&mut pressure.waiting);
        self.release(waiting);
    }

    /// Handles the timer of `stream`: it had its time to catch up if a face has waited for [`PATIENCE`]. Other faces
    /// then stop waiting; its own peer waits as long as the stream makes any progress.
    pub(super) fn on_pressure_timer(&mut self, stream: FaceId) {
        let Some(Face { pressure, .. }) = &mut self.faces[stream.index()] else { return };
        let due = pressure.waiting_since + PATIENCE;
        pressure.is_armed = !pressure.waiting.is_empty() && due > self.now;
        if pressure.is_armed {
            return self.timers.set(due, Due::Pressure(stream));
        }
        let sent = self.node.faces()[stream.index()].sent_bytes();
        pressure.is_stuck = sent == pressure.sent_before;
        pressure.sent_before = sent;
        // Its own peer can end the wait by reading; others depend on a stranger.
        let keeps_own = !pressure.is_stuck;
        let (own, others): (Vec<_>, Vec<_>) =
            pressure.waiting.drain(..).partition(|(id, _)| *id == stream && keeps_own);
        pressure.is_slow |= others.iter().any(|(id, _)| *id != stream);
        pressure.is_armed = !own.is_empty();
        pressure.waiting = own;
        pressure.waiting_since = self.now;
        if pressure.is_armed {
            self.timers.set(self.now + PATIENCE, Due::Pressure(stream));
        }
        self.release(others);
    }

    /// Resumes reading from faces that waited.
    pub(super) fn release(&mut self, waiting: Vec<(FaceId, u64)>) {
        for (id, number) in waiting {
            // The face was closed since, and its id may belong to another one.
            if !self.has_face(id, number) {
                continue;
            }
            let Some(face) = &mut self.faces[id.index()] else { continue };
            face.pressure.held_by -= 1;
            self.update_watch(id);
        }
    }

    /// Registers the socket events that a face needs now.
    pub(super) fn update_watch(&mut self, id: FaceId) {
        let Some(face) = &mut self.faces[id.index()] else { return };
        let Line::Socket { transport, is_full, .. } = &face.line else { return };
        let required = match (face.pressure.is_held(), *is_full) {
            (false, false) => Watch::Read,
            (false, true) => Watch::ReadWrite,
            (true, false) => Watch::End,
            (true, true) => Watch::Write,
        };
        if required != face.watched {
            face.watched = required;
            // An error of the registration is not lost: the next read or write of the socket reports it.
            let _ = self.poll.modify(transport, Watched::Face(id, face.number).token(), required);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::context::{Env, NoSink, Present};
    use tidegate_core::ndn::name::{Name, NameTable, PrefixId, Segment};
    use tidegate_core::ndn::packet::{
        Data, Interest, Millis, Nack, NackReason, Packet, PacketArena, PitToken,
    };
    use tidegate_core::queue::Queue;
    use tidegate_core::units::BitRate;

    /// The queue of one stream, behind which nothing is sent.
    struct Stream {
        queue: Queue,
        packets: PacketArena<()>,
        view: [FaceView; 1],
    }

    impl Stream {
        fn new(shared: &Rc<Shared>) -> Self {
            let guard: Vec<Box<dyn QueueDiscipline>> = vec![Box::new(MemoryGuard::new(Rc::clone(shared)))];
            let view = [FaceView::local_device(BitRate::from_mbps(1.0), STREAM_LIMIT)];
            Self { queue: Queue::new(FaceId(0), guard), packets: PacketArena::default(), view }
        }

        fn run(&mut self, act: impl FnOnce(&mut Queue, &mut Context<'_>, &mut PacketArena<()>)) {
            let (names, sink) = (NameTable::new(), &mut NoSink);
            let mut present = Present::observed(sink);
            let env = Env::new(&names, &mut present);
            act(&mut self.queue, &mut Context::new(env, &self.view), &mut self.packets);
        }

        /// Offers packets; returns the number that wait then.
        fn offer(&mut self, kind: Kind, size: u64, packets: u32) -> u32 {
            let header = Header::new(Name::whole(PrefixId(0)), kind, ByteCount::new(size));
            self.run(|queue, cx, arena| {
                for _ in 0..packets {
                    let packet = arena.insert(Packet::new(header, ()));
                    queue.push(cx, arena, packet);
                }
            });
            self.view[0].queued_packets()
        }
    }

    fn data() -> Kind {
        let (freshness, token) = (Millis(0), PitToken(0));
        Kind::Data(Data { freshness, final_segment: Segment::NONE, payload: 8_000, token })
    }

    fn interest() -> Kind {
        Kind::Interest(Interest {
            nonce: 1,
            lifetime: Millis(4_000),
            token: PitToken(0),
            hop_limit: None,
            can_be_prefix: false,
            must_be_fresh: false,
        })
    }

    #[test]
    fn streams_have_a_limit_in_bytes_each_and_one_together_beyond_a_share_for_everyone() {
        let shared = Rc::<Shared>::default();
        let mut streams: Vec<Stream> = (0..4).map(|_| Stream::new(&shared)).collect();
        let waiting: Vec<u32> =
            streams.iter_mut().map(|stream| stream.offer(data(), 8_000, 10_000)).collect();
        assert_eq!(waiting, [8_388, 8_388, 8, 8], "64 MiB, 64 MiB, and 64 KiB twice");
        drop(streams.remove(0));
        assert!(streams[1].offer(data(), 8_000, 10_000) > 8_000, "a stream that ends leaves its room");
    }

    #[test]
    fn the_room_of_a_queue_that_was_emptied_is_free() {
        let shared = Rc::<Shared>::default();
        let mut streams: Vec<Stream> = (0..3).map(|_| Stream::new(&shared)).collect();
        streams[..2].iter_mut().for_each(|stream| assert_eq!(stream.offer(data(), 8_000, 10_000), 8_388));
        streams[0].run(|queue, cx, packets| assert_eq!(queue.clear(cx, packets), 8_388));
        assert_eq!(streams[2].offer(data(), 8_000, 10_000), 8_388);
    }

    #[test]
    fn interests_wait_without_number_only_if_their_peer_can_be_held_back() {
        let shared = Rc::<Shared>::default();
        let mut stream = Stream::new(&shared);
        assert_eq!(stream.offer(interest(), 50, 2_000), INTEREST_LIMIT);
        shared.set_source(true);
        assert_eq!(stream.offer(interest(), 50, 2_000), INTEREST_LIMIT + 2_000);
        let Kind::Interest(interest) = interest() else { unreachable!("it is one") };
        let nack = Kind::Nack(Nack { interest, reason: NackReason::NoRoute });
        assert_eq!(stream.offer(nack, 50, 2_000), INTEREST_LIMIT + 2_000, "no Nack finds room");
    }
}
