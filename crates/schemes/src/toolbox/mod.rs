//! Parts that several schemes share; a scheme never imports another scheme.

pub mod control_law;
pub mod retransmission_suppression;
