//! Marks follow what waits now, not what waited once.

use super::bench::{Forwarder, answer, interest};

#[test]
fn a_backlog_that_is_gone_marks_nothing_any_more() {
    let forwarder = Forwarder::start("marks", "");
    let name = [8, 1, b'm'];
    let mut producer = forwarder.producer(&name);
    let mut consumer = forwarder.application();
    // More than the socket holds, so that what the kernel keeps is counted; then everything is read.
    const MANY: u32 = 400;
    for segment in 0..MANY {
        consumer.send(&interest(&name, segment));
    }
    answer(&mut producer, MANY as usize, 7000);
    for _ in 0..MANY {
        consumer.take_in();
    }
    let mut marked = 0;
    for segment in MANY..MANY + 30 {
        consumer.send(&interest(&name, segment));
        answer(&mut producer, 1, 100);
        marked += u32::from(consumer.take_in().fields.hop.mark > 0);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(marked, 0);
}

#[test]
fn a_stream_that_is_read_slowly_marks_what_waited_long_however_few_bytes_wait() {
    // A threshold in bytes that is never reached.
    let faces =
        "[face_defaults]\nqueue = { disciplines = [{ scheme = \"nfd-marking\", threshold = \"1GB\" }] }\n";
    let forwarder = Forwarder::start("marks-by-time", faces);
    let name = [8, 1, b'm'];
    let mut producer = forwarder.producer(&name);
    let mut consumer = forwarder.application();
    const MANY: u32 = 400;
    for segment in 0..MANY {
        consumer.send(&interest(&name, segment));
    }
    answer(&mut producer, MANY as usize, 7000);
    let mut marked = 0;
    for _ in 0..MANY {
        std::thread::sleep(std::time::Duration::from_millis(1));
        marked += u32::from(consumer.take_in().fields.hop.mark > 0);
    }
    assert!(marked > 0);
}
