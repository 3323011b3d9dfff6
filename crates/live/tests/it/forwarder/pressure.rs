//! Back-pressure on streams: who asks for more than a stream carries waits, and nobody else does.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use bytes::Bytes;
use tidegate_core::ndn::packet::{Kind, Millis};
use tidegate_core::scheme::params::{Setting, Settings};
use tidegate_core::units::{ByteCount, Span};
use tidegate_live::client::Client;
use tidegate_live::fetch::{FetchSettings, Fetched, Trust, fetch, live_profile};
use tidegate_live::serve::{ServeSettings, Served, serve};
use tidegate_wire::{DataBuilder, InterestView, Signer};

use super::bench::{Forwarder, answer, interest};

/// Interests sent at once: more than any queue in packets held before there was back-pressure.
const MANY: u32 = 4000;

/// A server of `bytes` bytes in segments of `segment` bytes, until it is dropped.
pub struct Server {
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(forwarder: &Forwarder, prefix: &'static [u8], bytes: usize, segment_size: usize) -> Self {
        let mut client = forwarder.producer(prefix);
        let (stop, stopped) = UnixStream::pair().expect("sockets");
        client.stop_on(OwnedFd::from(stopped)).expect("watched");
        let file = std::env::temp_dir().join(format!("tidegate-pressure-{}-{bytes}", std::process::id()));
        std::fs::write(&file, vec![7; bytes]).expect("the temporary folder is writable");
        let settings = ServeSettings {
            prefix: prefix.to_vec(),
            segment_size,
            freshness: Millis(10_000),
            signer: Signer::Digest,
            certificate: None,
            version: Some(1),
        };
        let mut served = Served::open(&file, settings).expect("served");
        let thread = std::thread::spawn(move || {
            serve(&mut client, &mut served, |why| panic!("{why}")).expect("connected");
            let _ = std::fs::remove_file(file);
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Fetches version 1 of `prefix` with a window that never changes.
fn fetch_all(forwarder: &Forwarder, prefix: &[u8], window: f64) -> Fetched {
    fetch_over(forwarder.consumer(), prefix, window)
}

/// As [`fetch_all`], for a consumer that is connected already.
pub fn fetch_over(mut client: Client, prefix: &[u8], window: f64) -> Fetched {
    let scheme = tidegate_schemes::find(tidegate_schemes::SCHEMES, "fixed").expect("a scheme");
    let window = Settings([("window".to_owned(), Setting::Number(window))].into());
    let mut name = prefix.to_vec();
    tidegate_wire::rdr::push_version(&mut name, 1);
    let mut profile = live_profile(scheme.profile, 15, Some(Span::from_secs(60)));
    // What is asked for again was lost, not late.
    profile.timeout.min = Some(Span::from_secs(30));
    let settings = FetchSettings {
        must_be_fresh: false,
        name,
        first_segment: 0,
        content_id: None,
        scheme: scheme.name,
        controller: scheme.consumer.expect("a consumer")(&window).expect("sound"),
        profile,
        trust: Trust::Anything,
        receive_window: ByteCount::new(100_000_000),
        reconnect: Span::ZERO,
        wait: Span::ZERO,
    };
    fetch(&mut client, settings, &mut Vec::new(), &mut |_| ()).expect("a name")
}

#[test]
fn a_window_larger_than_every_queue_loses_nothing_on_unix_streams() {
    let forwarder = Forwarder::start("pressure-window", "");
    for (name, segment_size) in [(b"\x08\x01s", 1200), (b"\x08\x01l", 8000)] {
        let bytes = 6000 * segment_size;
        let _server = Server::start(&forwarder, name, bytes, segment_size);
        let fetched = fetch_all(&forwarder, name, 5000.0);
        fetched.end.expect("complete");
        assert_eq!(fetched.bytes, bytes as u64);
        assert_eq!(fetched.record.flows[0].retransmissions, 0, "segments of {segment_size} bytes");
    }
}

#[test]
fn a_producer_that_never_reads_stops_its_consumer_for_a_moment_only() {
    let forwarder = Forwarder::start("pressure-silent-producer", "");
    let _silent = forwarder.producer(b"\x08\x01x");
    let mut producer = forwarder.producer(b"\x08\x01y");
    let mut consumer = forwarder.application();
    for segment in 0..MANY {
        consumer.send(&interest(b"\x08\x01x", segment));
    }
    consumer.send(&interest(b"\x08\x01y", 1));
    answer(&mut producer, 1, 100);
    consumer.take_in();
}

#[test]
fn a_consumer_that_never_reads_stops_nobody() {
    let forwarder = Forwarder::start("pressure-silent-consumer", "");
    let _server = Server::start(&forwarder, b"\x08\x01z", 6_000_000, 1000);
    let mut silent = forwarder.application();
    let mut requested = b"\x08\x01z".to_vec();
    tidegate_wire::rdr::push_version(&mut requested, 1);
    for segment in 0..MANY {
        silent.send(&interest(&requested, segment));
    }
    let fetched = fetch_all(&forwarder, b"\x08\x01z", 100.0);
    fetched.end.expect("complete");
}

/// Asks for all segments of `theirs` at once and answers whatever is asked for; how many Data came.
fn trade(mut client: Client, theirs: &'static [u8]) -> u32 {
    for segment in 0..MANY {
        let requested = client.packet(interest(theirs, segment)).expect("ours");
        client.send(&requested);
    }
    let (mut came, mut answered, mut inbox) = (0, 0, Vec::new());
    let until = client.now() + Span::from_secs(20);
    while (came < MANY || answered < MANY || client.is_blocked()) && client.now() < until {
        client.exchange(Some(client.now() + Span::from_millis(100)), &mut inbox).expect("connected");
        for packet in inbox.drain(..) {
            match packet.header.kind {
                Kind::Data(_) => came += 1,
                Kind::Interest(_) => {
                    let data = data_for(&packet.body);
                    let data = client.packet(data).expect("ours");
                    client.send(&data);
                    answered += 1;
                }
                _ => {}
            }
        }
    }
    // The last answers are in the socket; the other end needs this one until they were read.
    came
}

fn data_for(requested: &[u8]) -> Bytes {
    let requested = InterestView::parse(requested).expect("an Interest");
    let data =
        DataBuilder { name: requested.name.components(), content: &[7; 2000], ..DataBuilder::default() };
    data.sign(&Signer::Digest).expect("small")
}

#[test]
fn two_applications_that_request_from_each_other_more_than_streams_hold_both_get_everything() {
    let forwarder = Forwarder::start("pressure-both", "");
    let (a, b) = (forwarder.producer(b"\x08\x01a"), forwarder.producer(b"\x08\x01b"));
    let other = std::thread::spawn(move || trade(b, b"\x08\x01a"));
    let came = trade(a, b"\x08\x01b");
    assert_eq!((came, other.join().expect("ends")), (MANY, MANY));
}
