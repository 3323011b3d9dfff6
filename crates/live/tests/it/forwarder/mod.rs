//! A whole forwarder with applications at its Unix socket: what it must not do, whatever they do.

mod addresses;
mod bench;
mod certificates;
mod face_management;
mod gates;
mod management;
mod marks;
mod neighbours;
mod path_mtu;
mod pressure;
mod steering;
mod users;
mod websocket;
mod workers;
