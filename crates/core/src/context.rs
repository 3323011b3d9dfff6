//! Access of a component to its node and to everything around it.

use std::sync::LazyLock;

use crate::ndn::face::{FaceId, FaceView, NodeId};
use crate::ndn::fib::{NoRoutes, Routes};
use crate::ndn::name::NameTable;
use crate::observe::event::{Event, EventMask};
use crate::scheme::control::Message;
use crate::units::Time;

/// Environment that a driver provides with every call.
#[non_exhaustive]
pub struct Env<'a> {
    /// Time of the call; the present.
    pub now: Time,
    /// The node that is called.
    pub node: NodeId,
    /// Table of all interned names.
    pub names: &'a NameTable,
    /// Routes of prefixes that are not in the FIB.
    pub routes: &'a dyn Routes,
    /// Receiver of events and reports.
    pub sink: &'a mut dyn Sink,
    /// Kinds of events that the sink records.
    pub mask: EventMask,
}

impl<'a> Env<'a> {
    /// The environment of `node` at `now`, with the routes of the FIB alone and no kind of event recorded.
    #[inline]
    pub fn new(now: Time, node: NodeId, names: &'a NameTable, sink: &'a mut dyn Sink) -> Self {
        Self { now, node, names, routes: &NoRoutes, sink, mask: EventMask::NONE }
    }

    /// The same with `routes` of prefixes that are not in the FIB.
    #[inline]
    #[must_use]
    pub const fn with_routes(self, routes: &'a dyn Routes) -> Self {
        Self { routes, ..self }
    }

    /// The same with these kinds of events recorded.
    #[inline]
    #[must_use]
    pub const fn with_mask(self, mask: EventMask) -> Self {
        Self { mask, ..self }
    }
}

impl Env<'_> {
    /// The same surroundings for a shorter call.
    pub fn reborrow(&mut self) -> Env<'_> {
        Env { sink: &mut *self.sink, ..*self }
    }
}

/// Receiver of events and reports of schemes.
pub trait Sink {
    /// An event of a wanted kind.
    fn record(&mut self, at: Time, node: NodeId, event: Event);
    /// A message for the network controller.
    fn report(&mut self, at: Time, node: NodeId, report: Box<dyn Message>) {
        let _ = (at, node, report);
    }
}

/// A sink that discards everything.
#[derive(Debug, Default)]
pub struct NoSink;

impl Sink for NoSink {
    fn record(&mut self, _: Time, _: NodeId, _: Event) {}
}

/// Environment of a scheme during one call.
pub struct Context<'a> {
    /// Time of the call; the present.
    pub now: Time,
    /// The node of the part.
    pub node: NodeId,
    /// Table of all interned names.
    pub names: &'a NameTable,
    /// Views of the node's faces, by number. If the last one is of an application, it is that of all faces after it, too.
    pub faces: &'a [FaceView],
    /// Routes of prefixes that are not in the FIB.
    pub routes: &'a dyn Routes,
    sink: &'a mut dyn Sink,
    mask: EventMask,
}

impl<'a> Context<'a> {
    /// The surroundings `env` at a node with `faces`.
    #[inline]
    pub fn new<'e: 'a>(env: Env<'e>, faces: &'a [FaceView]) -> Self {
        let Env { now, node, names, routes, sink, mask } = env;
        Self { now, node, names, faces, routes, sink, mask }
    }

    /// Surroundings at `now` for a part that stands alone, outside a simulator or forwarder: node 0 without faces, routes
    /// or names. Events and reports are dropped.
    ///
    /// A congestion controller needs nothing else. A gate, strategy or discipline looks at faces, so it needs
    /// [`new`](Self::new).
    ///
    /// ```
    /// use tidegate_core::{context::Context, units::{Span, Time}};
    ///
    /// let cx = Context::detached(Time::ZERO + Span::from_millis(20));
    /// assert_eq!(cx.now.as_nanos(), 20_000_000);
    /// ```
    pub fn detached(now: Time) -> Context<'static> {
        static NAMES: LazyLock<NameTable> = LazyLock::new(NameTable::new);
        // A type without size takes no memory, so nothing is leaked.
        let sink = Box::leak(Box::new(NoSink));
        Context {
            now,
            node: NodeId(0),
            names: &NAMES,
            faces: &[],
            routes: &NoRoutes,
            sink,
            mask: EventMask::NONE,
        }
    }

    /// The face `face` of this node.
    ///
    /// # Panics
    /// If the node has no such face. A [`detached`](Self::detached) context has none.
    #[inline]
    pub fn face(&self, face: FaceId) -> &'a FaceView {
        match self.faces.get(face.index()) {
            Some(view) => view,
            None => self.application(),
        }
    }

    /// The view of all applications that have none of their own.
    #[cold]
    fn application(&self) -> &'a FaceView {
        self.faces.last().filter(|view| view.is_local()).expect("the node has this face")
    }

    /// Whether events of a kind are recorded, to avoid the cost of creating them.
    #[inline]
    pub const fn records(&self, kind: EventMask) -> bool {
        self.mask.has(kind)
    }

    /// Records the event if its kind is selected.
    #[inline]
    pub fn record(&mut self, event: Event) {
        if self.mask.has(event.bit()) {
            self.sink.record(self.now, self.node, event);
        }
    }

    /// Sends a report to the network controller.
    pub fn report(&mut self, report: impl Message) {
        self.sink.report(self.now, self.node, Box::new(report));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::face::Limit;
    use crate::units::{BitRate, Packets, Span};

    /// Whether the face with the number `face` is local at a node with `faces`.
    fn is_local(faces: &[FaceView], face: u16) -> bool {
        let (names, mut sink) = (NameTable::new(), NoSink);
        Context::new(Env::new(Time::ZERO, NodeId(0), &names, &mut sink), faces).face(FaceId(face)).is_local()
    }

    fn device() -> FaceView {
        FaceView::device(BitRate::from_mbps(1.0), Span::ZERO, Limit::Packets(Packets::new(1)))
    }

    #[test]
    fn applications_after_the_last_face_share_its_view() {
        let faces = [device(), FaceView::application()];
        assert_eq!([0, 1, 2, 9].map(|face| is_local(&faces, face)), [false, true, true, true]);
    }

    #[test]
    #[should_panic(expected = "the node has this face")]
    fn a_face_after_the_last_device_does_not_exist() {
        is_local(&[device()], 1);
    }
}
