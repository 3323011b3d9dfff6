//! Tests of the public interface: applications, the forwarder, its configuration and hostile input. They are one program,
//! so that it is linked once.
#![forbid(unsafe_code)]

mod applications;
mod config;
mod corpus;
mod forwarder;
