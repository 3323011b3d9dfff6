//! Tests of the public interface: the forwarder and the 802.11 medium. They are one program, so that it is linked once.

mod actions;
mod forwarding;
mod medium;
