//! Loss detection without TCP's retransmission timer: by the [`lifetime`] of the Interest, or by [`loss`] statistics of
//! recent round-trip times.

pub mod lifetime;
pub mod loss;
