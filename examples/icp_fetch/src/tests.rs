//! The application over our forwarder, with our server, all in this process.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use tidegate_core::ndn::packet::Millis;
use tidegate_core::rng::Seed;
use tidegate_live::client::Client;
use tidegate_live::daemon::Daemon;
use tidegate_live::daemon::config::ForwarderConfig;
use tidegate_live::serve::{SEGMENT_SIZE, ServeSettings, Served, serve};
use tidegate_live::uplink::Uplink;
use tidegate_live::uri::FaceUri;
use tidegate_live::{name_uri, registration};
use tidegate_schemes::SCHEMES;
use tidegate_wire::Signer;

const LISTEN: &str = "format = 1\n[listen]\nudp = [\"127.0.0.1:0\"]\ntcp = [\"127.0.0.1:0\"]\nunix = []\n";

/// Runs a forwarder until `stop` has something to read; sends its UDP and its TCP address.
fn forward(stop: &OwnedFd, listening: &mpsc::Sender<Vec<String>>) {
    let config =
        ForwarderConfig::parse("test.toml", LISTEN.as_bytes(), SCHEMES).expect("a sound configuration");
    let mut daemon = Daemon::start(config, Seed(1)).expect("loopback has free ports");
    listening.send(daemon.listening()).expect("the test waits for it");
    daemon.run(stop).expect("sockets can be waited for");
}

/// Serves `file` as version 5 of `/file` until `stop` has something to read.
fn serve_file(file: &Path, forwarder: &str, stop: OwnedFd, ready: &mpsc::Sender<()>) {
    let uri = FaceUri::resolve(forwarder).expect("an address");
    let mut client = Client::connect(&Uplink { uri, source: "test".to_owned() }).expect("it listens");
    client.stop_on(stop).expect("a descriptor can be watched");
    let prefix = name_uri::parse("/file").expect("a name");
    let settings = ServeSettings {
        prefix: prefix.clone(),
        segment_size: SEGMENT_SIZE,
        freshness: Millis(10_000),
        signer: Signer::Digest,
        certificate: None,
        version: Some(5),
    };
    let mut served = Served::open(file, settings).expect("the file is there");
    registration::register(&mut client, &prefix, &Signer::Digest)
        .expect("the forwarder takes local commands");
    ready.send(()).expect("the test waits for it");
    serve(&mut client, &mut served, |_| {}).expect("the forwarder stays");
}

#[test]
fn a_file_arrives_whole_over_a_forwarder() {
    let content: Vec<u8> = (0..500_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let file = std::env::temp_dir().join(format!("icp-fetch-{}", std::process::id()));
    std::fs::write(&file, &content).expect("the folder is writable");
    // A closed stream can be read from: its end.
    let ends = [0, 1].map(|_| UnixStream::pair().expect("descriptors are left"));
    let [(stop_forwarder, forwarder_stops), (stop_server, server_stops)] = ends;
    let (listening, addresses) = mpsc::channel();
    let (ready, is_ready) = mpsc::channel();
    let received = thread::scope(|scope| {
        scope.spawn(move || forward(&forwarder_stops.into(), &listening));
        let addresses = addresses.recv().expect("the forwarder starts");
        let of = |scheme| {
            addresses.iter().find_map(|uri| uri.strip_prefix(scheme)).expect("it listens").to_owned()
        };
        let tcp = format!("tcp4://{}", of("tcp4://"));
        let file = &file;
        scope.spawn(move || serve_file(file, &tcp, server_stops.into(), &ready));
        is_ready.recv().expect("the server starts");
        let received = super::fetch(&of("udp4://"), "/file/54=%05").map_err(|why| why.to_string());
        drop((stop_server, stop_forwarder));
        received
    });
    std::fs::remove_file(&file).expect("it is ours");
    assert!(received.expect("it was fetched") == content);
}
