mod bench;
mod connection;
mod losses;
mod sending;
mod timeouts;
