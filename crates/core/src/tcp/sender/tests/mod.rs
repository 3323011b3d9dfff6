mod bench;
mod connection;
mod losses;
mod next_segment;
mod sending;
mod timeouts;
