//! The parts, worked by hand; the strategy's cases stand among those of strategies in a forwarder.

mod consumers;
mod early_nacks;
mod limits;
