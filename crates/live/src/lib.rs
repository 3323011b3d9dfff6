//! The live side: the same forwarder, queues and consumers as in the simulator, on real sockets. Linux only.
//!
//! One thread, one poll set: a driver waits for sockets and for the next wake-up of its parts, takes frames
//! in, and lets frames out. `sys` is the only place with unsafe code.
#![deny(unsafe_code)]

pub mod clock;
pub mod daemon;
pub mod emulator;
pub mod framing;
pub mod listen;
pub mod poll;
pub mod reception;
pub mod signals;
pub mod stream;
#[allow(unsafe_code)]
mod sys;
pub mod udp;
pub mod uplink;
pub mod uri;
