//! NDN forwarding, queues and consumers as state machines: no IO, no clock, no threads.
//!
//! A driver (the simulator, the live forwarder) passes the time and packets in and takes packets out.
#![forbid(unsafe_code)]

pub mod event;
pub mod name;
pub mod records;
pub mod rng;
pub mod units;
