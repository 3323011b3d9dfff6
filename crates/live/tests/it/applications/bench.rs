//! A server in a thread of its own, and fetches from it.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;

use tidegate_core::ndn::packet::Millis;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::params::Settings;
use tidegate_core::units::Span;
use tidegate_live::client::Client;
use tidegate_live::fetch::{
    FetchSettings, Fetched, RECEIVE_WINDOW, Trust, fetch, live_profile, newest_version,
};
use tidegate_live::serve::{Responder, ServeCounters, ServeSettings, Served, serve};
use tidegate_live::stream::StreamFace;
use tidegate_live::transport::Transport;
use tidegate_live::udp::{UdpFace, UdpListener};
use tidegate_wire::Signer;

/// Bytes that differ from segment to segment and from one length to another.
pub fn content(len: usize) -> Vec<u8> {
    let mut rng = Rng::stream(Seed(len as u64), "content");
    (0..len.div_ceil(8)).flat_map(|_| rng.bits().to_ne_bytes()).take(len).collect()
}

/// A file with `content`; it lies in a folder of this process.
pub fn file(name: &str, content: &[u8]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("tidegate-applications-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let path = folder.join(name);
    std::fs::write(&path, content).expect("the temporary folder is writable");
    path
}

/// The components of a name written as a URI.
pub fn name(uri: &str) -> Vec<u8> {
    tidegate_live::name_uri::parse(uri).expect("a name")
}

pub fn settings(uri: &str, segment_size: usize) -> ServeSettings {
    let freshness = Millis(10_000);
    ServeSettings {
        prefix: name(uri),
        segment_size,
        freshness,
        signer: Signer::Digest,
        certificate: None,
        version: None,
    }
}

/// A server that runs until it is dropped.
pub struct Server {
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<ServeCounters>>,
}

impl Server {
    pub fn start(transport: Transport, path: PathBuf, settings: ServeSettings) -> Self {
        let (stop, stopped) = UnixStream::pair().expect("sockets");
        let thread = std::thread::spawn(move || {
            let mut client = Client::over(transport).expect("descriptors");
            client.stop_on(OwnedFd::from(stopped)).expect("watched");
            let mut served = Served::open(&path, settings).expect("served");
            // A peer that is done ends a stream before the server is told to stop.
            let _ = serve(&mut client, &mut served, |why| panic!("{why}"));
            served.counters()
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }

    /// What it served.
    pub fn counters(mut self) -> ServeCounters {
        self.stop = None;
        self.thread.take().expect("runs").join().expect("the server ends well")
    }
}

/// A client and a server's end, connected over a Unix stream.
pub fn unix_pair() -> (Client, Transport) {
    let (near, far) = StreamFace::pair().expect("sockets");
    (Client::over(Transport::Stream(near)).expect("descriptors"), Transport::Stream(far))
}

/// As [`unix_pair`], over UDP on the loopback.
pub fn udp_pair() -> (Client, Transport) {
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = UdpListener::bind(loopback).expect("a port");
    let near = UdpFace::connect(listener.local(), None).expect("connected");
    let far = UdpFace::accept(&listener, near.local()).expect("connected");
    (Client::over(Transport::Udp(near)).expect("descriptors"), Transport::Udp(far))
}

/// As [`udp_pair`], with a relay between them that loses `loss` of the datagrams in each direction.
pub fn lossy_pair(loss: f64) -> (Client, Transport) {
    let socket = || UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = |socket: &UdpSocket| socket.local_addr().expect("bound");
    let (left, right) = (socket(), socket());
    let near = UdpFace::connect(address(&left), None).expect("connected");
    let far = UdpFace::connect(address(&right), None).expect("connected");
    left.connect(near.local()).expect("connected");
    right.connect(far.local()).expect("connected");
    for (from, to, stream) in [(&left, &right, "there"), (&right, &left, "back")] {
        let (from, to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
        let mut rng = Rng::stream(Seed(1), stream);
        // Ends with the test's process; a refusal only says that one side is done.
        std::thread::spawn(move || {
            let mut buffer = [0; 65_536];
            loop {
                let Ok(len) = from.recv(&mut buffer) else { continue };
                if !rng.chance(loss) {
                    let _ = to.send(&buffer[..len]);
                }
            }
        });
    }
    (Client::over(Transport::Udp(near)).expect("descriptors"), Transport::Udp(far))
}

/// How to fetch `name` with `scheme` as it comes.
pub fn fetch_settings(name: Vec<u8>, scheme: &str) -> FetchSettings {
    let scheme = tidegate_schemes::find(tidegate_schemes::SCHEMES, scheme).expect("a scheme");
    let make = scheme.consumer.expect("a consumer");
    let controller = make(&Settings::default()).expect("defaults");
    let profile = live_profile(scheme.profile, 15, Some(Span::from_secs(4)));
    FetchSettings {
        must_be_fresh: false,
        name,
        first_segment: 0,
        content_id: None,
        scheme: scheme.name,
        controller,
        profile,
        trust: Trust::Digest,
        receive_window: RECEIVE_WINDOW,
        reconnect: Span::ZERO,
        wait: Span::ZERO,
    }
}

/// Finds the newest version of `uri` and fetches it.
pub fn fetch_newest(client: &mut Client, uri: &str, scheme: &str) -> (Vec<u8>, Fetched) {
    let name = newest_version(client, &name(uri), &Trust::Digest, Span::ZERO).expect("a version");
    let mut output = Vec::new();
    let fetched = fetch(client, fetch_settings(name, scheme), &mut output, &mut |_| ()).expect("a name");
    (output, fetched)
}
