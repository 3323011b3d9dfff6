//! Messages between routers and a network controller, of types that each scheme defines, and the traits of both ends.
//!
//! A message can be late or lost; it carries its sending time, and every role must work without it.

use std::any::Any;
use std::fmt;

use crate::context::Context;
use crate::ndn::face::NodeId;
use crate::observe::event::{Cause, Event};
use crate::units::Time;

/// A report of a router to the controller, or a directive of the controller to a router.
///
/// A scheme defines types of its own; the other end finds them with `get`. No other scheme
/// reads them.
///
/// ```
/// use tidegate_core::scheme::control::Message;
///
/// #[derive(Debug)]
/// struct Backlog(u32);
///
/// impl Message for Backlog {
///     fn kind(&self) -> &'static str {
///         "backlog"
///     }
/// }
///
/// let report: Box<dyn Message> = Box::new(Backlog(7));
/// assert_eq!(report.get::<Backlog>().map(|backlog| backlog.0), Some(7));
/// ```
pub trait Message: Any + fmt::Debug {
    /// The kind of message in one word, as in tables of events.
    fn kind(&self) -> &'static str;
}

impl dyn Message {
    /// The message as a scheme's own type `M`; `None` if it is of another type.
    pub fn get<M: Message>(&self) -> Option<&M> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A network controller, which receives reports and sends directives.
pub trait NetworkController: std::fmt::Debug {
    /// A report of `from`, sent at `sent_at`, arrived.
    fn on_report(
        &mut self,
        now: Time,
        from: NodeId,
        sent_at: Time,
        report: &dyn Message,
        orders: &mut Orders,
    );

    /// The requested wake-up time has come.
    fn on_wake(&mut self, now: Time, orders: &mut Orders) {
        let _ = (now, orders);
    }

    /// Time of the next wake-up; `None` for never. After a wake-up it must be later than that one, otherwise the run does
    /// not end.
    fn next_wake(&self) -> Option<Time> {
        None
    }
}

/// Directives and records that a controller produces in a call.
#[derive(Debug, Default)]
pub struct Orders {
    /// Directives, with the router that each is for.
    pub directives: Vec<(NodeId, Box<dyn Message>)>,
    /// Operations counted by component, for the cost of control.
    pub work: Vec<(Cause, u32)>,
    /// Events about routers that the controller detected, for the record.
    pub found: Vec<(NodeId, Event)>,
}

impl Orders {
    /// Sends a directive to the router `to`.
    pub fn direct(&mut self, to: NodeId, directive: impl Message) {
        self.directives.push((to, Box::new(directive)));
    }

    /// Counts operations of a component.
    pub fn count(&mut self, part: Cause, operations: u32) {
        self.work.push((part, operations));
    }

    /// Records an event about a router.
    pub fn find(&mut self, about: NodeId, event: Event) {
        self.found.push((about, event));
    }
}

/// A component of a scheme on a router that exchanges messages with the controller.
pub trait RouterAgent: std::fmt::Debug {
    /// The requested wake-up time has come; reports are sent through the context.
    fn on_wake(&mut self, cx: &mut Context<'_>);

    /// Handles a directive of the network controller.
    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &dyn Message) {
        let _ = (cx, directive);
    }

    /// Time of the next wake-up; `None` for never. After a wake-up it must be later than that one, otherwise the run does
    /// not end.
    fn next_wake(&self) -> Option<Time>;
}
