//! Parts of queue disciplines.
//!
//! CoDel: [`codel_state`], [`codel_marker`] and its [`control_law`]. RED: [`average_queue`] and [`red_law`].
//! [`face_mark`] passes a mark from a queue to the strategy. NFD: [`threshold_marker`].

pub mod average_queue;
pub mod codel_marker;
pub mod codel_state;
pub mod control_law;
pub mod face_mark;
pub mod red_law;
pub mod threshold_marker;
