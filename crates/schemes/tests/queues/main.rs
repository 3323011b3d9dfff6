//! Queue disciplines through real queues: cases worked by hand, and golden traces over a bottleneck.

mod bench;
mod codel;
mod drop_tail;
mod early;
mod golden;
mod levels;
mod nfd_marking;
