//! Whatever peers, files and people say: the inputs that the fuzz targets begin with, and those that once
//! were hard.

use hostile::{forwarder, keys, link_service, management, replay, stream, trust, websocket};

#[test]
fn management_that_once_was_hard_is_read_soundly() {
    replay("management", management::check);
}

#[test]
fn streams_that_once_were_hard_are_cut_soundly() {
    replay("stream", stream::check);
}

#[test]
fn frames_that_once_were_hard_go_on_over_a_narrow_link() {
    replay("link_service", link_service::check);
}

#[test]
fn a_forwarder_keeps_its_books_through_whatever_once_was_hard() {
    replay("forwarder", forwarder::check);
}

#[test]
fn files_of_keys_that_once_were_hard_are_read_soundly() {
    replay("keys", keys::check);
}

#[test]
fn trust_schemas_that_once_were_hard_are_answered_soundly() {
    replay("trust", trust::check);
}

#[test]
fn websockets_that_once_were_hard_are_served_soundly() {
    replay("websocket", websocket::check);
}
