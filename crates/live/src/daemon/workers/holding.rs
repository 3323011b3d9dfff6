//! Back-pressure between streams of different workers: [`pressure`](super::super::pressure) where the peer that requests, the
//! tables and the stream that is behind are at three workers.
//!
//! The owner of a stream publishes that it is behind. A worker whose tables send an Interest there has the owner of the requester
//! hold it back, which reads from it again when the stream has caught up, and after the same patience in any case.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_core::ndn::face::FaceId;

use super::super::Daemon;
use super::super::face::{Face, Line, Origin};
use super::super::pressure::{has_caught_up, is_behind};
use super::Workers;
use super::crossing::{Crossing, HoldRequest};

/// Whether the stream of each face is behind, for all workers.
#[derive(Debug)]
pub(super) struct Behind(Box<[AtomicBool]>);

impl Default for Behind {
    fn default() -> Self {
        Self((0..=u16::MAX).map(|_| AtomicBool::new(false)).collect())
    }
}

/// What a worker has to hold back.
#[derive(Debug)]
pub(in super::super) struct Holding {
    behind: Arc<Behind>,
    /// Whether the packet that is forwarded came from a peer that can be held back.
    pub(super) is_from_held: bool,
    /// Streams that are behind, met by Interests of the packet that is forwarded.
    pub(super) met: Vec<FaceId>,
    /// Requesters of this turn, each with the stream that is behind.
    requests: Vec<(FaceId, FaceId)>,
    /// Streams of other workers for which faces of this one wait.
    streams: Vec<FaceId>,
}

impl Holding {
    pub(super) fn new(behind: Arc<Behind>) -> Self {
        let (met, requests, streams) = (Vec::new(), Vec::new(), Vec::new());
        Self { behind, is_from_held: false, met, requests, streams }
    }

    #[inline]
    pub(super) fn is_behind(&self, stream: FaceId) -> bool {
        self.behind.0[stream.index()].load(Ordering::Relaxed)
    }

    fn set_behind(&self, stream: FaceId, is_behind: bool) {
        self.behind.0[stream.index()].store(is_behind, Ordering::Relaxed);
    }
}

impl Daemon {
    /// Sets from what kind of peer the next packet comes.
    #[inline]
    pub(super) fn set_source_among_workers(&mut self, from: FaceId) {
        let face = self.faces[from.index()].as_ref();
        let can_be_held = face.is_some_and(|face| face.origin == Origin::Accepted);
        self.shared.set_source(can_be_held);
        if let Some(workers) = &mut self.workers {
            workers.holding.is_from_held = can_be_held;
        }
    }

    /// Notes the streams that an Interest of `requester` has met and that are behind: those of other workers, and those of this
    /// one, at which it waits.
    #[inline]
    pub(super) fn note_met(&mut self, requester: FaceId) {
        let Some(workers) = &mut self.workers else { return };
        if self.met.is_empty() && workers.holding.met.is_empty() {
            return;
        }
        let holding = &mut workers.holding;
        for stream in self.met.drain(..) {
            let face = self.faces[stream.index()].as_ref();
            let is_ruled = face.is_some_and(|face| face.pressure.is_ruling);
            if is_ruled && is_behind(&self.node.faces()[stream.index()]) {
                holding.set_behind(stream, true);
                holding.met.push(stream);
            }
        }
        let is_from_held = holding.is_from_held;
        let met = holding.met.drain(..).filter(|stream| is_from_held && *stream != requester);
        holding.requests.extend(met.map(|stream| (requester, stream)));
    }

    /// Publishes that a stream of this worker is behind, if it is.
    #[inline]
    pub(super) fn publish_behind(&mut self, stream: FaceId) {
        let (Some(face), Some(workers)) = (&self.faces[stream.index()], &self.workers) else { return };
        if face.pressure.is_ruling && is_behind(&self.node.faces()[stream.index()]) {
            workers.holding.set_behind(stream, true);
        }
    }

    /// Publishes that a stream has caught up, if it has, or that its face is closed.
    pub(in super::super) fn publish_caught_up(&mut self, stream: FaceId) {
        let Some(workers) = &self.workers else { return };
        let face = self.faces[stream.index()].as_ref();
        let is_over = face.is_none_or(|face| {
            !matches!(face.line, Line::Far(_)) && has_caught_up(&self.node.faces()[stream.index()])
        });
        if is_over && workers.holding.is_behind(stream) {
            workers.holding.set_behind(stream, false);
            workers.wake_all();
        }
    }

    /// Has the requesters of this turn held back by their owners.
    pub(super) fn request_holds(&mut self) {
        let Some(workers) = &mut self.workers else { return };
        if workers.holding.requests.is_empty() {
            return;
        }
        let mut requests = std::mem::take(&mut workers.holding.requests);
        requests.sort_unstable();
        requests.dedup();
        for (requester, stream) in requests {
            let number = |id: FaceId| self.faces[id.index()].as_ref().map(|face| face.number);
            let (Some(number), Some(stream_number)) = (number(requester), number(stream)) else { continue };
            let request = HoldRequest { face: requester, number, stream, stream_number };
            let owner = self.faces[requester.index()].as_ref().and_then(|face| match &face.line {
                Line::Far(end) => Some(end.worker),
                Line::Socket { .. } | Line::Internal(_) => None,
            });
            match (owner, &mut self.workers) {
                (Some(owner), Some(workers)) => workers.give(owner, Crossing::Hold(request)),
                _ => self.hold_for(request),
            }
        }
    }

    /// Holds back a face of this worker, unless the stream has caught up meanwhile or has kept others waiting before.
    pub(super) fn hold_for(&mut self, request: HoldRequest) {
        let HoldRequest { face, number, stream, stream_number } = request;
        let Some(workers) = &mut self.workers else { return };
        let Some(Face { pressure, line, number: present, .. }) = &self.faces[stream.index()] else { return };
        let is_known = !pressure.may_hold_others() || pressure.is_awaited_by(face, number);
        if *present != stream_number || is_known || !workers.holding.is_behind(stream) {
            return;
        }
        if matches!(line, Line::Far(_)) && !workers.holding.streams.contains(&stream) {
            workers.holding.streams.push(stream);
        }
        self.hold(face, stream);
    }

    /// Reads again from faces that waited for streams of other workers which have caught up.
    pub(super) fn release_held(&mut self) {
        let Some(workers) = &mut self.workers else { return };
        if workers.holding.streams.is_empty() {
            return;
        }
        let streams = std::mem::take(&mut workers.holding.streams);
        let (behind, over): (Vec<_>, Vec<_>) =
            streams.into_iter().partition(|stream| workers.holding.is_behind(*stream));
        workers.holding.streams = behind;
        over.into_iter().for_each(|stream| self.relieve(stream));
    }
}

impl Workers {
    /// Wakes all other workers.
    fn wake_all(&self) {
        self.others().for_each(|worker| self.wakers[worker].wake_always());
    }
}
