//! The live side: the same forwarder, queues and consumers as in the simulator, on real sockets. Linux only.
//!
//! One thread, one poll set: a driver waits for sockets and for the next wake-up of its parts, takes frames
//! in, and lets frames out. `sys` is the only place with unsafe code.
#![deny(unsafe_code)]

pub mod armour;
pub mod client;
pub mod clock;
mod control_messages;
pub mod daemon;
pub mod emulator;
pub mod entropy;
pub mod ethernet;
pub mod fetch;
pub mod framing;
pub mod key_store;
pub mod link_service;
pub mod listen;
pub mod multicast;
pub mod name_uri;
pub mod nfd;
pub mod own_file;
mod path_mtu;
mod path_probes;
pub mod peer_user;
pub mod poll;
pub mod reception;
pub mod registration;
mod reliability;
pub mod serve;
pub mod signals;
pub mod stream;
#[allow(unsafe_code)]
mod sys;
pub mod tokens;
pub mod transport;
pub mod trust_policy;
pub mod udp;
pub mod uplink;
pub mod uri;
pub mod websocket;
mod zone;
