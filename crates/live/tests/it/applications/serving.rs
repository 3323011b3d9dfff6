use std::fs;

use bytes::Bytes;
use tidegate_core::ndn::packet::{Kind, Packet};
use tidegate_core::units::Span;
use tidegate_live::client::Client;
use tidegate_live::clock::MonotonicClock;
use tidegate_live::name_uri;
use tidegate_live::poll::{Poll, SocketInterest};
use tidegate_live::serve::{Responder, ServeError, Served};
use tidegate_live::stream::StreamFace;
use tidegate_live::transport::Transport;
use tidegate_wire::{DataView, InterestBuilder, Verifier, rdr};

use crate::applications::bench::{Server, content, file, name, settings, unix_pair};

/// A served file of 2500 bytes in segments of 1000, and the client its names are of.
fn served(test: &str) -> (Served, Client) {
    let (client, _far) = unix_pair();
    let mut settings = settings("/a/file", 1000);
    settings.version = Some(7);
    let path = file(test, &content(2500));
    (Served::open(&path, settings).expect("served"), client)
}

fn interest(uri: &str, can_be_prefix: bool) -> Bytes {
    InterestBuilder { name: &name(uri), can_be_prefix, ..InterestBuilder::default() }.build().expect("valid")
}

/// Name and content of what answers an Interest.
fn answer(served: &mut Served, client: &mut Client, requested: Bytes) -> Option<(String, Vec<u8>)> {
    let requested: Packet<Bytes> = client.packet(requested).expect("valid");
    let data = served.answer(&requested, client).expect("readable")?;
    let view = DataView::parse(&data.body).expect("valid");
    assert_eq!(Verifier::Digest.verify_data(&view), Ok(()));
    Some((name_uri::show(view.name.components()), view.content.to_vec()))
}

#[test]
fn segments_are_cut_from_the_file_and_there_is_none_past_its_end() {
    let (mut served, mut client) = served("cut");
    let bytes = content(2500);
    for (segment, part) in bytes.chunks(1000).enumerate() {
        let uri = format!("/a/file/v=7/seg={segment}");
        let found = answer(&mut served, &mut client, interest(&uri, false));
        assert_eq!(found, Some((uri, part.to_vec())));
    }
    for other in ["/a/file/v=7/seg=3", "/a/file/v=8/seg=0", "/a/other", "/a/file/v=7/seg=0/x", "/b"] {
        assert_eq!(answer(&mut served, &mut client, interest(other, true)), None, "{other}");
    }
    assert_eq!(served.counters().unanswered, 5);
}

#[test]
fn an_interest_for_less_gets_the_first_segment_if_it_allows_longer_names() {
    let (mut served, mut client) = served("less");
    for uri in ["/a/file", "/a/file/v=7"] {
        let found = answer(&mut served, &mut client, interest(uri, true)).map(|(name, _)| name);
        assert_eq!(found.as_deref(), Some("/a/file/v=7/seg=0"), "{uri}");
        assert_eq!(answer(&mut served, &mut client, interest(uri, false)), None, "{uri}");
    }
    assert_eq!(answer(&mut served, &mut client, interest("/a", true)), None);
}

#[test]
fn metadata_names_the_version_and_goes_stale_within_ten_milliseconds() {
    let (mut served, mut client) = served("metadata");
    let requested = client.packet(interest("/a/file/32=metadata", true)).expect("valid");
    let data = served.answer(&requested, &mut client).expect("readable").expect("metadata");
    let Kind::Data(header) = data.header.kind else { panic!("{data:?}") };
    assert!((1..=10).contains(&header.freshness.0), "{:?}", header.freshness);
    let view = DataView::parse(&data.body).expect("valid");
    let versioned = rdr::versioned_name(view.content).expect("metadata");
    assert_eq!(name_uri::show(versioned.components()), "/a/file/v=7");
    assert_eq!(answer(&mut served, &mut client, interest("/a/file/32=metadata", false)), None);
}

#[test]
fn a_file_that_changes_is_reported_once_and_not_served_any_more() {
    let (mut served, mut client) = served("changes");
    let segment = || interest("/a/file/v=7/seg=0", false);
    assert!(answer(&mut served, &mut client, segment()).is_some());
    file("changes", b"short");
    assert!(served.look_for_change().is_some_and(|why| why.contains("now has 5")));
    assert_eq!(answer(&mut served, &mut client, segment()), None);
    assert_eq!(served.look_for_change(), None);
}

#[test]
fn what_cannot_be_served_is_refused_at_the_start() {
    let path = file("refused", &content(10));
    let open = |path: &std::path::Path, size| {
        Served::open(path, settings("/x", size)).map(|_| ()).expect_err("refused")
    };
    assert!(matches!(open(&path, 0), ServeError::SegmentSize(0)));
    assert!(matches!(open(&path, 8001), ServeError::SegmentSize(8001)));
    assert!(matches!(open(&std::env::temp_dir(), 1000), ServeError::NotAFile));
    fs::remove_file(&path).expect("there");
    assert!(matches!(open(&path, 1000), ServeError::File(_)));
}

#[test]
fn a_name_too_long_for_a_packet_is_refused_at_the_start() {
    let path = file("long-name", &content(10));
    let long = format!("/{}", "x".repeat(900));
    let refused = Served::open(&path, settings(&long, 8000)).map(|_| ());
    assert!(matches!(refused, Err(ServeError::Segment(_))));
}

#[test]
fn who_requests_and_does_not_listen_is_not_read_for_ever() {
    let (mut near, far) = StreamFace::pair().expect("sockets");
    let path = file("deaf", &content(8000));
    let server = Server::start(Transport::Stream(far), path, settings("/deaf", 8000));
    let requested = interest("/deaf", true);
    let (mut poll, clock) = (Poll::new().expect("a descriptor"), MonotonicClock::new());
    poll.register(&near, 0, SocketInterest::Write).expect("watched");
    let mut sent = 0;
    loop {
        let rest = (sent..100_000).map(|_| (&requested[..], &b""[..]));
        sent += near.send(rest).expect("connected").0;
        assert!(sent < 100_000, "the server reads on");
        let until = clock.now() + Span::from_millis(300);
        if poll.wait(Some(until), &clock).expect("watched").is_empty() {
            break;
        }
    }
    drop(near);
    let bytes = server.counters().bytes;
    assert!(bytes < 2_000_000, "{bytes} bytes made for nobody, of {sent} Interests");
}
