//! What a peer sends over a WebSocket.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::websocket::check(data));
