//! Loss detection without TCP's retransmission timer: by the [`lifetime`] of the Interest, by [`loss`] statistics of
//! recent round-trip times, or by the order of Data ([`reordering`]).

pub mod lifetime;
pub mod loss;
pub mod reordering;
