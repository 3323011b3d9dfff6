//! Fetching from a server over real sockets, without a forwarder between them.

pub mod bench;
mod losses;
mod objects;
mod schemes;
mod serving;
mod trees;
