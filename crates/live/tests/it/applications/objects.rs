use crate::applications::bench::{
    Server, content, fetch_newest, fetch_settings, file, name, settings, udp_pair, unix_pair,
};
use std::path::PathBuf;
use std::thread;

use tidegate_core::units::Span;
use tidegate_live::client::Client;
use tidegate_live::fetch::{FetchError, Trust, fetch, newest_version};
use tidegate_live::serve::{Responder, ServeSettings, Served};
use tidegate_live::transport::Transport;
use tidegate_wire::{DataBuilder, Signer};

#[test]
fn files_of_every_length_around_a_segment_come_back_byte_equal() {
    for len in [0, 1, 999, 1000, 1001, 123_456] {
        let bytes = content(len);
        let (mut client, far) = unix_pair();
        let path = file(&format!("length-{len}"), &bytes);
        let server = Server::start(far, path, settings("/file", 1000));
        let (output, fetched) = fetch_newest(&mut client, "/file", "catchunks-cubic");
        fetched.end.expect("complete");
        assert!(output == bytes, "{len} bytes");
        assert_eq!(fetched.bytes, len as u64);
        let flow = &fetched.record.flows[0];
        let segments = len.div_ceil(1000).max(1) as u64;
        assert_eq!((flow.segments, flow.delivered_segments), (Some(segments), segments));
        assert!(flow.completed.is_some());
        drop(client);
        assert_eq!(server.counters().metadata, 1);
    }
}

#[test]
fn ten_megabytes_come_back_byte_equal_over_a_unix_stream_and_over_udp() {
    let bytes = content(10_000_000);
    let path = file("ten-megabytes", &bytes);
    for (mut client, far) in [unix_pair(), udp_pair()] {
        let _server = Server::start(far, path.clone(), settings("/big/file", 1200));
        let (output, fetched) = fetch_newest(&mut client, "/big/file", "catchunks-cubic");
        fetched.end.expect("complete");
        assert!(output == bytes);
        assert_eq!((fetched.bad, fetched.unchecked), (0, 0));
        drop(client);
    }
}

#[test]
fn segments_larger_than_a_datagram_travel_in_several_frames_until_larger_ones_were_confirmed() {
    let bytes = content(200_000);
    let (mut client, far) = udp_pair();
    let _server = Server::start(far, file("fragments", &bytes), settings("/f", 8000));
    let (output, fetched) = fetch_newest(&mut client, "/f", "ndnsim-aimd");
    fetched.end.expect("complete");
    assert!(output == bytes);
    let counters = client.link_counters();
    assert!((1..25).contains(&counters.reassembled), "{counters:?}");
}

#[test]
fn progress_gives_the_size_of_the_object_and_samples_are_taken() {
    let bytes = content(3_000_000);
    let (mut client, far) = unix_pair();
    let _server = Server::start(far, file("progress", &bytes), settings("/p", 1000));
    let name = newest_version(&mut client, &name("/p"), &Trust::Digest, Span::ZERO).expect("a version");
    let (mut output, mut totals) = (Vec::new(), Vec::new());
    let mut watch = |progress: &tidegate_live::fetch::FetchProgress| totals.push(progress.total_segments);
    let settings = fetch_settings(name, "fixed");
    let fetched = fetch(&mut client, settings, &mut output, &mut watch).expect("a name");
    fetched.end.expect("complete");
    assert!(totals.iter().all(|total| *total == Some(3000)), "{totals:?}");
    let samples = &fetched.record.flow_samples;
    assert_eq!(samples.delivered_segments.last(), Some(&3000));
    assert!(samples.time.is_sorted() && samples.time.len() == samples.window_packets.len());
}

/// Answers like a producer that was restarted with another file under the same version.
fn serve_two(far: Transport, paths: [PathBuf; 2]) {
    let mut client = Client::over(far).expect("descriptors");
    let settings = ServeSettings { version: Some(1), ..settings("/two", 1000) };
    let [mut first, mut second] = paths.map(|path| Served::open(&path, settings.clone()).expect("served"));
    let mut inbox = Vec::new();
    while client.exchange(None, &mut inbox).is_ok() {
        for requested in inbox.drain(..) {
            let served = if first.counters().segments < 5 { &mut first } else { &mut second };
            if let Some(data) = served.answer(&requested, &mut client).expect("readable") {
                client.send(&data);
            }
        }
    }
}

#[test]
fn two_contents_under_one_version_do_not_become_one_file() {
    let mut other = content(20_000);
    other[7_500] ^= 1;
    for (what, second, expected) in [("same", content(20_000), None), ("changed", other, Some(5))] {
        let (mut client, far) = unix_pair();
        let paths =
            [file(&format!("two-{what}-1"), &content(20_000)), file(&format!("two-{what}-2"), &second)];
        let server = thread::spawn(move || serve_two(far, paths));
        let mut output = Vec::new();
        let requested = fetch_settings(name("/two/v=1"), "fixed");
        let fetched = fetch(&mut client, requested, &mut output, &mut |_| ()).expect("a name");
        match (expected, fetched.end) {
            (None, end) => end.expect("complete"),
            (Some(at), Err(FetchError::Mixed { segment })) => assert_eq!(segment, at),
            (_, end) => panic!("{end:?}"),
        }
        assert!(fetched.content_id.is_some());
        // What is left is resumed only with the same content.
        let mut rest = fetch_settings(name("/two/v=1"), "fixed");
        (rest.first_segment, rest.content_id) = (5, fetched.content_id);
        let fetched = fetch(&mut client, rest, &mut output, &mut |_| ()).expect("a name");
        assert_eq!(fetched.end.is_ok(), expected.is_none(), "{what}");
        drop(client);
        server.join().expect("no panic");
    }
}

#[test]
fn a_server_that_is_gone_is_reported_at_once() {
    let (mut client, far) = unix_pair();
    drop(far);
    let why = newest_version(&mut client, &name("/x"), &Trust::Digest, Span::ZERO).expect_err("nobody");
    assert!(matches!(why, FetchError::Client(_)), "{why}");
}

#[test]
fn a_segment_that_never_comes_is_named() {
    let (mut client, far) = unix_pair();
    let mut settings = fetch_settings(name("/nobody/v=1"), "fixed");
    settings.profile.retry_limit = Some(0);
    let fetched = fetch(&mut client, settings, &mut Vec::new(), &mut |_| ()).expect("a name");
    let why = fetched.end.expect_err("no answer").to_string();
    assert_eq!(why, "no Data for segment 0 after 0 retransmissions; its producer may be unreachable");
    drop(far);
}

/// Answers every Interest with a Data that calls the next segment the last, until the peer is gone.
fn lie(far: Transport) {
    let mut client = Client::over(far).expect("descriptors");
    let mut inbox = Vec::new();
    while client.exchange(None, &mut inbox).is_ok() {
        for requested in inbox.drain(..) {
            let mut components = Vec::new();
            client.names().write_components(requested.header.name, &mut components);
            let mut last = Vec::new();
            tidegate_wire::name::push_segment(&mut last, requested.header.name.segment.0 + 1);
            let (name, final_block) = (&components[..], Some(&last[..]));
            let data = DataBuilder { name, final_block, content: b"x", ..DataBuilder::default() };
            let data = client.packet(data.sign(&Signer::Digest).expect("small")).expect("a Data");
            client.send(&data);
        }
    }
}

#[test]
fn a_producer_that_names_two_last_segments_ends_the_fetch() {
    let (mut client, far) = unix_pair();
    let liar = std::thread::spawn(move || lie(far));
    let settings = fetch_settings(name("/lies/v=1"), "fixed");
    let fetched = fetch(&mut client, settings, &mut Vec::new(), &mut |_| ()).expect("a name");
    let why = fetched.end.expect_err("two ends");
    assert!(matches!(why, FetchError::Contradiction { segment: 1, stated: 1, now: 2 }), "{why}");
    drop(client);
    liar.join().expect("it ends with its peer");
}

#[test]
fn data_signed_by_another_key_is_as_good_as_none() {
    let (mut client, far) = unix_pair();
    let _server = Server::start(far, file("key", &content(10)), settings("/k", 1000));
    let versioned = newest_version(&mut client, &name("/k"), &Trust::Digest, Span::ZERO).expect("a version");
    let key: [u8; 32] = std::array::from_fn(|at| at as u8 + 1);
    let signer =
        tidegate_wire::KeySigner::from_bytes(tidegate_wire::KeyAlgorithm::P256, &key, &[]).expect("a key");
    let mut settings = fetch_settings(versioned, "fixed");
    settings.trust = Trust::Key(tidegate_wire::Verifier::Key(signer.public_key()));
    settings.profile.retry_limit = Some(1);
    let mut output = Vec::new();
    let fetched = fetch(&mut client, settings, &mut output, &mut |_| ()).expect("a name");
    let why = fetched.end.expect_err("not trusted").to_string();
    assert!(why.starts_with("no Data for segment 0 after 1 retransmissions; "), "{why}");
    assert!(why.ends_with(" received Data packets have invalid signatures"), "{why}");
    assert!(output.is_empty() && fetched.bad >= 2, "{} bad", fetched.bad);
}
