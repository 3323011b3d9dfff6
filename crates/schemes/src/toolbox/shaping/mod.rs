//! Shaping and policing.
//!
//! [`token_bucket`] counts tokens; [`policer`] drops packets without tokens, [`interest_shaper`] delays Interests,
//! [`htb`] shares a link among classes. [`refusal`] is the answer of a gate without room.

pub mod htb;
pub mod interest_shaper;
pub mod policer;
pub mod refusal;
pub mod token_bucket;
