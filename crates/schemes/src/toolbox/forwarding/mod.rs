//! Parts of forwarding strategies.
//!
//! [`next_try`] and [`retransmission_suppression`] are NFD's; [`split_ratios`] and [`split_table`] divide the
//! Interests of a prefix among next hops; [`path_label`] identifies paths; [`stateful_forwarding`] has the parts of
//! Yi et al.'s strategies.

pub mod next_try;
pub mod path_label;
pub mod retransmission_suppression;
pub mod split_ratios;
pub mod split_table;
pub mod stateful_forwarding;
