//! A forwarder in a thread of its own, and applications that speak in frames.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tidegate_core::rng::Seed;
use tidegate_core::scheme::Scheme;
use tidegate_core::units::Span;
use tidegate_live::client::Client;
use tidegate_live::daemon::Daemon;
use tidegate_live::daemon::config::ForwarderConfig;
use tidegate_live::registration;
use tidegate_live::stream::StreamFace;
use tidegate_live::transport::Transport;
use tidegate_live::udp::Received;
use tidegate_wire::{DataBuilder, InterestBuilder, LpPacket, Signer, decode_frame};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(10);

/// A forwarder that runs until it is dropped.
pub struct Forwarder {
    path: PathBuf,
    /// URIs at which it listens.
    pub listening: Vec<String>,
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Forwarder {
    /// One that listens at a Unix socket only, with `more` in its configuration.
    pub fn start(name: &str, more: &str) -> Self {
        Self::start_with(name, more, tidegate_schemes::SCHEMES)
    }

    /// As [`start`](Self::start), where the configuration may name `schemes`.
    pub fn start_with(name: &str, more: &str, schemes: &[&'static Scheme]) -> Self {
        Self::configured(name, &format!("{more}\n[listen]\nudp = []\ntcp = []\n"), schemes)
    }

    /// One whose configuration is `text`, which ends with the table `[listen]`, and a Unix socket.
    pub fn configured(name: &str, text: &str, schemes: &[&'static Scheme]) -> Self {
        let folder = std::env::temp_dir().join(format!("tidegate-forwarder-{}", std::process::id()));
        let path = folder.join(format!("{name}.sock"));
        let text = with_threads(&format!("format = 1\n{text}\nunix = [{path:?}]\n"));
        let config = ForwarderConfig::parse("test", text.as_bytes(), schemes);
        let config = config.expect("sound");
        let (stop, stopped) = UnixStream::pair().expect("sockets");
        let (started, has_started) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut daemon = Daemon::start(config, Seed(1)).expect("starts");
            started.send(daemon.listening()).expect("waited for");
            daemon.run(&stopped).expect("runs");
        });
        let listening = has_started.recv_timeout(PATIENCE).expect("the forwarder starts in time");
        Self { path, listening, stop: Some(stop), thread: Some(thread) }
    }

    /// An application without manners: frames out, frames in.
    pub fn application(&self) -> Application {
        Application { face: StreamFace::connect_unix(&self.path).expect("listens"), received: Vec::new() }
    }

    /// A connection whose bytes are the test's own.
    pub fn stream(&self) -> UnixStream {
        UnixStream::connect(&self.path).expect("listens")
    }

    /// An application that asks for what others produce.
    pub fn consumer(&self) -> Client {
        let face = StreamFace::connect_unix(&self.path).expect("listens");
        Client::over(Transport::Stream(face)).expect("descriptors")
    }

    /// An application at which Interests under `prefix` (concatenated components) arrive.
    pub fn producer(&self, prefix: &[u8]) -> Client {
        let mut client = self.consumer();
        registration::register(&mut client, prefix, &Signer::Digest).expect("registered");
        client
    }
}

/// A configuration with the number of threads that the environment gives for all tests, unless it has one itself or needs one
/// thread.
fn with_threads(text: &str) -> String {
    let Ok(threads) = std::env::var("TIDEGATE_TEST_THREADS") else { return text.to_owned() };
    let line = format!("[forwarder]\nthreads = {threads}\n");
    match text.contains("threads") || text.contains("router_parts") {
        true => text.to_owned(),
        false if text.contains("[forwarder]\n") => text.replacen("[forwarder]\n", &line, 1),
        false => text.replacen("format = 1\n", &format!("format = 1\n{line}"), 1),
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// See [`Forwarder::application`].
pub struct Application {
    face: StreamFace,
    received: Vec<LpPacket>,
}

impl Application {
    pub fn send(&mut self, frame: &[u8]) {
        let begun = Instant::now();
        let mut left = vec![(frame, &[][..])];
        while !left.is_empty() {
            assert!(begun.elapsed() < PATIENCE, "the forwarder takes no frame");
            let (taken, is_full) = self.face.send(left.iter().copied()).expect("connected");
            left.drain(..taken);
            if is_full {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
    }

    /// The next frame.
    pub fn take_in(&mut self) -> LpPacket {
        let begun = Instant::now();
        let mut memory = tidegate_live::reception::Reception::new();
        while self.received.is_empty() {
            assert!(begun.elapsed() < PATIENCE, "nothing comes");
            let received = &mut self.received;
            let take = |frame| received.push(decode_frame(frame).expect("a frame"));
            if self.face.receive(&mut memory, take).expect("connected") != Received::More {
                std::thread::sleep(Duration::from_micros(100));
            }
        }
        self.received.remove(0)
    }
}

/// Answers the next `count` Interests with `len` bytes each.
pub fn answer(producer: &mut Client, count: usize, len: usize) {
    let (content, mut left) = (vec![7; len], count);
    let mut inbox = Vec::new();
    let until = producer.now() + Span::from_secs(10);
    while left > 0 {
        assert!(producer.now() < until, "{left} Interests do not come");
        producer.exchange(Some(until), &mut inbox).expect("connected");
        for packet in inbox.drain(..) {
            let requested = tidegate_wire::InterestView::parse(&packet.body).expect("an Interest");
            let name = requested.name.components();
            let data = DataBuilder { name, content: &content, ..DataBuilder::default() };
            let data = producer.packet(data.sign(&Signer::Digest).expect("small enough")).expect("ours");
            producer.send(&data);
            left -= 1;
        }
    }
    // Whether the socket took everything is known only after it was tried.
    loop {
        let soon = producer.now() + Span::from_millis(1);
        producer.exchange(Some(soon), &mut inbox).expect("connected");
        if !producer.is_blocked() {
            break;
        }
        assert!(producer.now() < until, "the forwarder takes no Data");
    }
}

/// An Interest for `name` followed by a segment.
pub fn interest(name: &[u8], segment: u32) -> Bytes {
    let mut requested = name.to_vec();
    tidegate_wire::name::push_segment(&mut requested, segment);
    let interest = InterestBuilder { name: &requested, nonce: Some(segment), ..InterestBuilder::default() };
    interest.build().expect("valid")
}
