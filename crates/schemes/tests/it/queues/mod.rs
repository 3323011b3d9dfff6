//! Queue disciplines through real queues: cases worked by hand, and golden traces over a bottleneck.

mod bench;
mod codel;
mod conservation;
mod drop_tail;
mod dualpi2;
mod early;
mod fq_codel;
mod golden;
mod htb;
mod levels;
mod line;
mod nfd_marking;
mod step_ecn;
