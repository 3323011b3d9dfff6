//! The forwarding core as its users meet it: pipelines packet by packet, tables against naive models.

mod data;
mod faces;
mod gates;
mod harness;
mod interest;
mod loss_notice;
mod nack;
mod node;
mod shares;
mod steering;
mod stores;
mod tables;
mod unrequested;
