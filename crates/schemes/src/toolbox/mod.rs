//! Parts that several schemes share; a scheme never imports another scheme.
//!
//! | folder | what it holds |
//! |---|---|
//! | [`window`] | AIMD, BIC, CUBIC, graded and TCP windows, and the controllers around them |
//! | [`reaction`] | which losses and marks decrease a window, and how often |
//! | [`rate`] | delivery-rate samples, the model of BBR, consumers that follow a stamped rate |
//! | [`timer`] | loss timers of fetchers |
//! | [`queue`] | CoDel, RED and NFD's marking without their queue |
//! | [`shaping`] | token buckets, shapers, policers, class hierarchies |
//! | [`forwarding`] | retransmission suppression, split ratios, path labels, stateful forwarding |

pub mod forwarding;
pub mod queue;
pub mod rate;
pub mod reaction;
pub mod shaping;
pub mod timer;
pub mod window;
