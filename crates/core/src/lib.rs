//! NDN forwarding, queues and consumers as state machines: no IO, no clock, no threads.
//!
//! A driver (the simulator, the live forwarder) passes the time and packets in and takes packets out.
#![forbid(unsafe_code)]

pub mod clock;
pub mod congestion;
pub mod consumer;
pub mod context;
pub mod control;
pub mod cs;
pub mod dead_nonce;
pub mod event;
pub mod face;
pub mod fib;
pub mod forwarder;
pub mod framed;
pub mod gate;
pub mod histogram;
pub mod line;
pub mod link_service;
pub mod math;
pub mod medium;
pub mod name;
pub mod node;
pub mod packet;
pub mod params;
pub mod pit;
pub mod producer;
pub mod queue;
pub mod records;
pub mod rng;
pub mod scheme;
pub mod signal;
pub mod strategy;
pub mod tcp;
pub mod units;
pub mod whole;
