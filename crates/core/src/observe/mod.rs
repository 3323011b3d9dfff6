//! Observation of a run: [`event`]s as they happen, [`records`] of what came out, [`histogram`]s of delays.

pub mod event;
pub mod histogram;
pub mod records;
