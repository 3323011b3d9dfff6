//! Strategies in a real forwarder: cases worked by hand, and golden traces of retransmissions.

mod best_route;
mod coopcon_like;
mod flecom_like;
mod golden;
mod mnrcp_like;
mod multicast;
mod pcon;
mod reading;
mod router;
mod stateful_forwarding;
