//! Checks that hold for whatever bytes come, shared by tests, which replay `fuzz/corpus`, and by fuzz targets.
//!
//! Each `check` panics where something does not hold.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod forwarder;
#[cfg(target_os = "linux")]
pub mod link_service;
#[cfg(target_os = "linux")]
pub mod management;
pub mod packets;
#[cfg(target_os = "linux")]
pub mod stream;
