//! A forwarder of several threads: whatever thread has a face or a name, applications see one forwarder.

use std::time::Duration;

use tidegate_core::units::Span;
use tidegate_live::client::{Answer, Client};
use tidegate_live::daemon::status::{StatusLine, read};
use tidegate_live::transport::Transport;
use tidegate_live::uri::FaceUri;
use tidegate_wire::{DataBuilder, DataView, InterestBuilder, InterestView, Signer, name};

use super::bench::{Forwarder, answer, interest};
use super::management::{fetch, request};
use super::pressure::{Server, fetch_over};

const TWO: &str = "[forwarder]\nthreads = 2\n";

/// One of two threads that listens on free ports of the loopback interface, too.
fn on_all_transports(name: &str) -> Forwarder {
    let text = format!("{TWO}[listen]\nudp = [\"127.0.0.1:0\"]\ntcp = [\"127.0.0.1:0\"]\n");
    Forwarder::configured(name, &text, tidegate_schemes::SCHEMES)
}

/// A consumer connected over the transport whose URIs begin with `scheme`.
fn consumer_over(forwarder: &Forwarder, scheme: &str) -> Client {
    let uri = forwarder.listening.iter().find(|uri| uri.starts_with(scheme)).expect("it listens");
    let uri = FaceUri::resolve(uri).expect("an address");
    let transport = Transport::connect(&uri, Duration::from_secs(5)).expect("it listens");
    Client::over(transport).expect("descriptors")
}

/// The line about the forwarder in its status.
fn status(client: &mut Client) -> StatusLine {
    let name: Vec<u8> = ["localhost", "tidegate", "status"].iter().fold(Vec::new(), |mut name, word| {
        name::push_component(&mut name, 8, word.as_bytes());
        name
    });
    let content = fetch(client, &name);
    read(std::str::from_utf8(&content).expect("text")).swap_remove(0)
}

fn count(line: &StatusLine, key: &str) -> u64 {
    line.get(key).and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{key} in {line:?}"))
}

#[test]
fn objects_are_fetched_whole_and_nothing_that_crosses_is_lost_or_doubled() {
    let forwarder = on_all_transports("workers-fetch");
    let bytes = 700 * 1_000;
    for (prefix, scheme) in [(b"\x08\x01a", "unix"), (b"\x08\x01b", "tcp4"), (b"\x08\x01c", "udp4")] {
        let _server = Server::start(&forwarder, prefix, bytes, 1_000);
        for _ in 0..2 {
            let fetched = fetch_over(consumer_over(&forwarder, scheme), prefix, 50.0);
            fetched.end.expect("complete");
            assert_eq!(
                (fetched.bytes, fetched.record.flows[0].retransmissions),
                (bytes as u64, 0),
                "{scheme}"
            );
        }
    }
    let line = status(&mut forwarder.consumer());
    assert!(count(&line, "given_to_threads") > 1_000, "{line:?}");
    assert_eq!(count(&line, "given_to_threads"), count(&line, "taken_from_threads"), "{line:?}");
    assert!(count(&line, "cache_hits") >= 3 * 700, "{line:?}");
}

#[test]
fn a_window_larger_than_every_queue_loses_nothing_between_threads() {
    let forwarder = Forwarder::start("workers-window", TWO);
    let bytes = 6_000 * 1_200;
    let _server = Server::start(&forwarder, b"\x08\x01s", bytes, 1_200);
    let fetched = fetch_over(forwarder.consumer(), b"\x08\x01s", 5_000.0);
    fetched.end.expect("complete");
    assert_eq!((fetched.bytes, fetched.record.flows[0].retransmissions), (bytes as u64, 0));
}

#[test]
fn data_with_a_longer_name_is_found_in_whatever_thread_the_interest_waits() {
    let forwarder = Forwarder::start("workers-prefix", TWO);
    let mut producer = forwarder.producer(b"\x08\x01p");
    let mut client = forwarder.consumer();
    let asking = std::thread::spawn(move || {
        for number in 0..32 {
            let prefix = [&b"\x08\x01p\x08\x01"[..], &[number]].concat();
            let data = request(&mut client, &prefix, true);
            let data = DataView::parse(&data).expect("a Data");
            assert!(
                data.name.components().starts_with(&prefix) && data.name.components().len() > prefix.len()
            );
        }
    });
    let (mut inbox, until) = (Vec::new(), producer.now() + Span::from_secs(20));
    while !asking.is_finished() {
        assert!(producer.now() < until, "an Interest is not answered");
        producer.exchange(Some(producer.now() + Span::from_millis(10)), &mut inbox).expect("connected");
        for packet in inbox.drain(..) {
            let requested = InterestView::parse(&packet.body).expect("an Interest");
            let mut name = requested.name.components().to_vec();
            name::push_segment(&mut name, 0);
            let data = DataBuilder { name: &name, content: b"x", ..DataBuilder::default() };
            let data = producer.packet(data.sign(&Signer::Digest).expect("small")).expect("ours");
            producer.send(&data);
        }
    }
    asking.join().expect("all are answered");
}

#[test]
fn a_face_that_ends_with_pending_interests_in_all_threads_takes_its_routes_along() {
    let forwarder = Forwarder::start("workers-closed", TWO);
    let producer = forwarder.producer(b"\x08\x01e");
    let mut client = forwarder.consumer();
    let mut requester = forwarder.application();
    for block in 0..32 {
        requester.send(&interest(b"\x08\x01e", 64 * block));
    }
    // One consumer leaves before its answers, and then the producer.
    drop(requester);
    drop(producer);
    let refused = |client: &mut Client| {
        (0..32).all(|block| {
            let interest = interest(b"\x08\x01e", 64 * block + 1);
            matches!(client.express(interest, Span::from_millis(500)).expect("connected"), Answer::Nack(_))
        })
    };
    assert!((0..20).any(|_| refused(&mut client)), "the route is still there");
    // Numbers of faces are used again.
    let mut producer = forwarder.producer(b"\x08\x01e");
    let asking = std::thread::spawn(move || {
        for block in 0..32 {
            let interest = InterestBuilder { name: &segment(64 * block + 2), ..InterestBuilder::default() };
            let interest = interest.build().expect("valid");
            let found = client.express(interest, Span::from_secs(10)).expect("connected");
            assert!(matches!(found, Answer::Data(_)), "{found:?}");
        }
    });
    answer(&mut producer, 32, 100);
    asking.join().expect("all are answered");
}

fn segment(number: u32) -> Vec<u8> {
    let mut name = b"\x08\x01e".to_vec();
    name::push_segment(&mut name, number);
    name
}
