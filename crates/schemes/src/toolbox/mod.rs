//! Parts that several schemes share.

pub mod control_law;
