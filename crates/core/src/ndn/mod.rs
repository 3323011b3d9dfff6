//! The NDN forwarder and its applications.
//!
//! | module | what it holds |
//! |---|---|
//! | [`name`], [`packet`], [`face`] | names as numbers, headers without bytes, faces and nodes |
//! | [`pit`], [`fib`], [`cs`], [`dead_nonce`] | the tables of a forwarder |
//! | [`forwarder`] | one pipeline each for an Interest, Data, Nack, loss notice and TCP segment |
//! | [`strategy`], [`gate`] | roles of a scheme in a forwarder: choice of a face, admission at a face |
//! | [`consumer`], [`producer`] | applications |
//! | [`node`] | a forwarder with its queues and applications |

mod component_bytes;
pub mod consumer;
pub mod cs;
pub mod dead_nonce;
pub mod face;
pub mod fib;
pub mod forwarder;
pub mod gate;
pub mod name;
pub mod node;
pub mod packet;
pub mod pit;
mod prefix_hasher;
mod prefix_map;
pub mod producer;
pub mod strategy;
