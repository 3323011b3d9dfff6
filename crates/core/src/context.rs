//! The one door between a part of a node and everything around it.

use std::sync::LazyLock;

use crate::control::Report;
use crate::event::{Event, EventMask};
use crate::face::{FaceId, FaceView, NodeId};
use crate::fib::NextHop;
use crate::name::{NameTable, PrefixId};
use crate::units::Time;

/// What a driver passes in with every call.
pub struct Env<'a> {
    /// The time now.
    pub now: Time,
    /// The node that is called.
    pub node: NodeId,
    /// All names.
    pub names: &'a NameTable,
    /// Where unknown prefixes lead.
    pub routes: &'a dyn Routes,
    /// Where events and reports go.
    pub sink: &'a mut dyn Sink,
    /// Events the sink wants.
    pub mask: EventMask,
}

impl Env<'_> {
    /// The same surroundings for a shorter call.
    pub fn reborrow(&mut self) -> Env<'_> {
        Env { sink: &mut *self.sink, ..*self }
    }
}

/// Takes what a part has to tell.
pub trait Sink {
    /// An event of a wanted kind.
    fn record(&mut self, at: Time, node: NodeId, event: Event);
    /// A message for the network controller.
    fn report(&mut self, at: Time, node: NodeId, report: Report) {
        let _ = (at, node, report);
    }
}

/// A sink that forgets.
#[derive(Debug, Default)]
pub struct NoSink;

impl Sink for NoSink {
    fn record(&mut self, _: Time, _: NodeId, _: Event) {}
}

/// Knows the way to prefixes that the FIB does not hold.
pub trait Routes {
    /// Appends the next hops of `node` for `prefix`, cheapest first; none when it cannot be reached.
    fn next_hops(&self, node: NodeId, prefix: PrefixId, hops: &mut Vec<NextHop>);
}

/// Knows no way.
#[derive(Debug, Default)]
pub struct NoRoutes;

impl Routes for NoRoutes {
    fn next_hops(&self, _: NodeId, _: PrefixId, _: &mut Vec<NextHop>) {}
}

/// What a part sees during one call.
pub struct Context<'a> {
    /// The time now.
    pub now: Time,
    /// The node of the part.
    pub node: NodeId,
    /// All names.
    pub names: &'a NameTable,
    /// The node's faces.
    pub faces: &'a [FaceView],
    /// Where unknown prefixes lead.
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
    #[inline]
    pub fn face(&self, face: FaceId) -> &'a FaceView {
        &self.faces[face.index()]
    }

    /// Whether anybody wants events of a kind, for those that cost something to make.
    #[inline]
    pub const fn wants(&self, kind: EventMask) -> bool {
        self.mask.has(kind)
    }

    /// Records the event if anybody wants its kind.
    #[inline]
    pub fn record(&mut self, event: Event) {
        if self.mask.has(event.bit()) {
            self.sink.record(self.now, self.node, event);
        }
    }

    /// Sends a report to the network controller.
    pub fn report(&mut self, report: Report) {
        self.sink.report(self.now, self.node, report);
    }
}
