//! `tidegate link`: a link in user space that carries UDP datagrams to one address and back.
//!
//! Each direction is a drop-tail queue in front of a line with a rate, a delay and loss: the same queue and
//! the same line as in the simulator. On a busy machine datagrams leave later than due; the report has the
//! distribution of that delay.

pub mod channel;
pub mod clients;
mod driver;
mod report;

pub use driver::{Link, LinkSetup};
pub use report::{DirectionReport, LinkReport, Refused};
