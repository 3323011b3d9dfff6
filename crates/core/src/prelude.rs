//! What a program that drives a congestion controller, or defines one, needs: `use tidegate_core::prelude::*;`.

pub use crate::context::Context;
pub use crate::ndn::consumer::shell::ShellKind;
pub use crate::observe::event::{Cause, Event};
pub use crate::rng::{Seed, Streams};
pub use crate::scheme::congestion::{
    CongestionController, Delivery, FlowView, Loss, LossSignal, Pacing, RateSample, Recovery, Sent,
};
pub use crate::scheme::params::{Settings, Value};
pub use crate::scheme::signal::{HopSignals, Signal};
pub use crate::scheme::{MakeError, Provenance, Scheme};
pub use crate::tcp::SenderRule;
pub use crate::units::{BitRate, ByteCount, Packets, Span, Time};
pub use crate::{choice, params};
