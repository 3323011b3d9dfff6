//! Tests of the catalogue: consumers, queue disciplines, strategies and TCP senders. They are one program, so that it is
//! linked once.

mod consumers;
mod queues;
mod strategies;
mod tcp;
