//! Windows of consumers and TCP senders.
//!
//! [`rule`] is the interface of a window rule. [`aimd`], [`bic`], [`cubic`] and [`graded`] are rules of consumers;
//! [`adaptive_pipeline`] (ndn-tools, ndnd) and [`consumer_pcon`] (ndnSIM) make a controller of a rule. [`tcp`] is
//! common to all TCP windows, [`tcp_cubic`] is CUBIC based on it, [`hystart_plus`] its end of slow start.

pub mod adaptive_pipeline;
pub mod aimd;
pub mod bic;
pub mod consumer_pcon;
pub mod cubic;
pub mod graded;
pub mod hystart_plus;
pub mod rule;
pub mod tcp;
pub mod tcp_cubic;
