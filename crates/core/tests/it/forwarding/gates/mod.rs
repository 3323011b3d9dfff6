//! Gates at the faces of a forwarder: what they decide, what they hold, what they are told.

mod conservation;
mod holding;
mod script;
mod verdicts;
