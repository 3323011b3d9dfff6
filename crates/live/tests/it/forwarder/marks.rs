//! Marks follow what waits now, not what waited once, and how long it waits.

use std::time::Duration;

use super::bench::{Application, Forwarder, answer, interest};
use tidegate_live::client::Client;

/// `/m`.
const NAME: &[u8] = &[8, 1, b'm'];

/// More segments than a socket holds.
const MANY: u32 = 400;

/// A producer that has answered the Interests of a consumer for many large segments, none of which was read yet.
fn backlog(forwarder: &Forwarder) -> (Client, Application) {
    let mut producer = forwarder.producer(NAME);
    let mut consumer = forwarder.application();
    for segment in 0..MANY {
        consumer.send(&interest(NAME, segment));
    }
    answer(&mut producer, MANY as usize, 7000);
    (producer, consumer)
}

fn is_marked(consumer: &mut Application) -> bool {
    consumer.take_in().fields.hop.mark > 0
}

#[test]
fn a_backlog_that_is_gone_marks_nothing_any_more() {
    let forwarder = Forwarder::start("marks", "");
    let (mut producer, mut consumer) = backlog(&forwarder);
    for _ in 0..MANY {
        is_marked(&mut consumer);
    }
    let mut marked = 0;
    for segment in MANY..MANY + 30 {
        consumer.send(&interest(NAME, segment));
        answer(&mut producer, 1, 100);
        marked += u32::from(is_marked(&mut consumer));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(marked, 0);
}

#[test]
fn a_stream_that_is_read_slowly_marks_what_waited_long_however_few_bytes_wait() {
    // A threshold in bytes that is never reached.
    let faces =
        "[face_defaults]\nqueue = { disciplines = [{ scheme = \"nfd-marking\", threshold = \"1GB\" }] }\n";
    let forwarder = Forwarder::start("marks-by-time", faces);
    let (_producer, mut consumer) = backlog(&forwarder);
    let mut marked = 0;
    for _ in 0..MANY {
        std::thread::sleep(Duration::from_millis(1));
        marked += u32::from(is_marked(&mut consumer));
    }
    assert!(marked > 0);
}
