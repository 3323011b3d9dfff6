//! The consumer.

pub mod rto;
pub mod shell;
