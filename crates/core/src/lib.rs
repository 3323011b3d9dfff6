//! NDN forwarding, queues and consumers as state machines: no IO, no clock, no threads.
//!
//! A driver (the simulator, the live forwarder) passes the time and packets in and takes packets out.
//!
//! | folder | what it holds |
//! |---|---|
//! | [`ndn`] | names, packets, tables, forwarder, gates, strategies, consumers, producers, nodes |
//! | [`tcp`] | sender and receiver of a TCP connection |
//! | [`queue`] | queues and their disciplines |
//! | [`link`] | wires, links with frames, 802.11 channels, recovery of frames |
//! | [`observe`] | events, records of runs, histograms |
//! | [`scheme`] | catalogue entry, parameters, congestion controllers, signals, network controllers |
//!
//! A congestion controller also works alone, in a transport of another program. It gets the time with each call:
//!
//! ```
//! use tidegate_core::prelude::*;
//!
//! /// One packet more per round trip, half of the window after a loss.
//! #[derive(Debug)]
//! struct Aimd(f64);
//!
//! impl CongestionController for Aimd {
//!     fn window(&self) -> f64 {
//!         self.0
//!     }
//!     fn on_delivery(&mut self, _: &mut Context<'_>, _: &Delivery, _: &FlowView) {
//!         self.0 += 1.0 / self.0;
//!     }
//!     fn on_loss(&mut self, _: &mut Context<'_>, _: &Loss, _: &FlowView) {
//!         self.0 = (self.0 / 2.0).max(1.0);
//!     }
//! }
//!
//! let mut controller: Box<dyn CongestionController> = Box::new(Aimd(10.0));
//! let (sent_at, now) = (Time::ZERO, Time::ZERO + Span::from_millis(20));
//! let data = Delivery::of_data(0, ByteCount::new(1_100), sent_at, now);
//! controller.on_delivery(&mut Present::detached(now).context(), &data, &FlowView::default());
//! assert_eq!(controller.window(), 10.1);
//!
//! let loss = Loss::new(1, sent_at, LossSignal::Timeout);
//! controller.on_loss(&mut Present::detached(now).context(), &loss, &FlowView::default());
//! assert_eq!(controller.window(), 5.05);
//! ```
#![forbid(unsafe_code)]

pub mod arena;
pub mod clock;
pub mod context;
pub mod hash;
pub mod link;
pub mod math;
pub mod ndn;
pub mod observe;
pub mod prelude;
pub mod queue;
pub mod rng;
pub mod scheme;
pub mod tcp;
pub mod units;
