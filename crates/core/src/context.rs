//! Access of a component to its node and to everything around it.

use std::ops::Deref;
use std::sync::LazyLock;

use crate::ndn::face::{FaceId, FaceView, NodeId};
use crate::ndn::fib::{NextHop, NoRoutes, Routes};
use crate::ndn::name::{NameTable, PrefixId};
use crate::observe::event::{Event, EventMask};
use crate::scheme::control::Message;
use crate::units::Time;

/// What is around the nodes of one driver, and the present. It lives as long as the driver does: a call at a node sets
/// what has changed since the last one, and borrows the rest.
#[derive(Debug)]
pub struct Present<O: ?Sized> {
    /// Time of the call; the present.
    pub now: Time,
    /// The node that is called.
    pub node: NodeId,
    /// Kinds of events that are recorded.
    pub mask: EventMask,
    /// Receiver of events, and routes.
    outside: O,
}

impl<O> Present<O> {
    /// Time zero at node 0, with no kind of event recorded.
    pub const fn new(outside: O) -> Self {
        Self { now: Time::ZERO, node: NodeId(0), mask: EventMask::NONE, outside }
    }

    /// The same at `now`.
    #[must_use]
    pub fn at(self, now: Time) -> Self {
        Self { now, ..self }
    }

    /// The same with these kinds of events recorded.
    #[must_use]
    pub fn with_mask(self, mask: EventMask) -> Self {
        Self { mask, ..self }
    }

    /// What is around the nodes.
    pub const fn outside(&self) -> &O {
        &self.outside
    }

    /// What is around the nodes, to change it.
    #[inline]
    pub const fn outside_mut(&mut self) -> &mut O {
        &mut self.outside
    }
}

impl Present<NoSink> {
    /// The present at `now` for a part that stands alone, outside a simulator or forwarder: node 0. Events and reports are
    /// dropped.
    ///
    /// A congestion controller needs nothing else than its [`context`](Self::context). A gate, strategy or discipline
    /// looks at faces, so it needs [`Context::new`].
    ///
    /// ```
    /// use tidegate_core::{context::Present, units::{Span, Time}};
    ///
    /// let mut present = Present::detached(Time::ZERO + Span::from_millis(20));
    /// assert_eq!(present.context().now.as_nanos(), 20_000_000);
    /// ```
    pub fn detached(now: Time) -> Self {
        Self::new(NoSink).at(now)
    }

    /// The context of a part that stands alone: without faces, routes or names.
    pub fn context(&mut self) -> Context<'_> {
        static NAMES: LazyLock<NameTable> = LazyLock::new(NameTable::new);
        Context::new(Env::new(&NAMES, self), &[])
    }
}

/// What a driver provides with every call, all of it borrowed.
pub struct Env<'a> {
    names: &'a NameTable,
    present: &'a mut Present<dyn Outside + 'a>,
}

impl<'a> Env<'a> {
    /// The names and the rest of what is around a node.
    #[inline(always)]
    pub const fn new<O: Outside + 'a>(names: &'a NameTable, present: &'a mut Present<O>) -> Self {
        Self { names, present }
    }
}

/// What is around the nodes of a driver, beside names.
pub trait Outside: Sink + Routes {
    /// The routes of a run.
    fn routes(&self) -> &dyn Routes;
}

impl<O: Sink + Routes> Outside for O {
    fn routes(&self) -> &dyn Routes {
        self
    }
}

/// A sink together with the routes of a run.
#[derive(Debug)]
pub struct SinkWithRoutes<S, R> {
    /// Receiver of events and reports.
    pub sink: S,
    /// Routes of prefixes that are not in the FIB.
    pub routes: R,
}

impl<S: Sink, R> Sink for SinkWithRoutes<S, R> {
    fn record(&mut self, at: Time, node: NodeId, event: Event) {
        self.sink.record(at, node, event);
    }

    fn report(&mut self, at: Time, node: NodeId, report: Box<dyn Message>) {
        self.sink.report(at, node, report);
    }
}

impl<S, R: Routes> Routes for SinkWithRoutes<S, R> {
    fn next_hops(&self, node: NodeId, prefix: PrefixId, hops: &mut Vec<NextHop>) {
        self.routes.next_hops(node, prefix, hops);
    }
}

impl<'a, S: Sink> Present<SinkWithRoutes<&'a mut S, NoRoutes>> {
    /// Time zero at node 0, without routes that are not in the FIB, and with no kind of event recorded.
    pub const fn observed(sink: &'a mut S) -> Self {
        Self::new(SinkWithRoutes { sink, routes: NoRoutes })
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

impl<S: Sink> Sink for &mut S {
    fn record(&mut self, at: Time, node: NodeId, event: Event) {
        (**self).record(at, node, event);
    }

    fn report(&mut self, at: Time, node: NodeId, report: Box<dyn Message>) {
        (**self).report(at, node, report);
    }
}

/// A sink that discards everything, without routes.
#[derive(Debug, Default)]
pub struct NoSink;

impl Sink for NoSink {
    fn record(&mut self, _: Time, _: NodeId, _: Event) {}
}

impl Routes for NoSink {
    fn next_hops(&self, _: NodeId, _: PrefixId, _: &mut Vec<NextHop>) {}
}

/// Environment of a scheme during one call: what is around its node, with the time as `cx.now` and the node as `cx.node`.
pub struct Context<'a> {
    /// Table of all interned names.
    pub names: &'a NameTable,
    /// Views of the node's faces, by number. If the last one is of an application, it is that of all faces after it, too.
    pub faces: &'a [FaceView],
    present: &'a mut Present<dyn Outside + 'a>,
}

impl<'a> Deref for Context<'a> {
    type Target = Present<dyn Outside + 'a>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        self.present
    }
}

impl<'a> Context<'a> {
    /// The surroundings `env` at a node with `faces`.
    #[inline(always)]
    pub const fn new<'e: 'a>(env: Env<'e>, faces: &'a [FaceView]) -> Self {
        let Env { names, present } = env;
        Self { names, faces, present }
    }

    /// Routes of prefixes that are not in the FIB.
    pub(crate) fn routes(&self) -> &dyn Routes {
        self.present.outside.routes()
    }

    /// The face `face` of this node.
    ///
    /// # Panics
    /// If the node has no such face. That of a [detached](Present::detached) present has none.
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
    pub fn records(&self, kind: EventMask) -> bool {
        self.present.mask.has(kind)
    }

    /// Records the event if its kind is selected.
    #[inline]
    pub fn record(&mut self, event: Event) {
        let Present { now, node, mask, outside } = &mut *self.present;
        if mask.has(event.bit()) {
            outside.record(*now, *node, event);
        }
    }

    /// Sends a report to the network controller.
    pub fn report(&mut self, report: impl Message) {
        let Present { now, node, outside, .. } = &mut *self.present;
        outside.report(*now, *node, Box::new(report));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::face::Limit;
    use crate::units::{BitRate, Packets, Span};

    /// Whether the face with the number `face` is local at a node with `faces`.
    fn is_local(faces: &[FaceView], face: u16) -> bool {
        let (names, mut present) = (NameTable::new(), Present::new(NoSink));
        Context::new(Env::new(&names, &mut present), faces).face(FaceId(face)).is_local()
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
