//! The 802.11 medium as a driver meets it: access to the channel, random histories, and saturation held against
//! published models.

mod harness;
mod saturation;
