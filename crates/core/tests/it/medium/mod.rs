//! The 802.11 medium as a driver meets it: access to the channel, random histories, and saturation held against
//! published models.

mod access;
mod harness;
mod histories;
mod queues;
mod saturation;
