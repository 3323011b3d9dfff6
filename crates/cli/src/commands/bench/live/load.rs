//! A consumer and a producer that saturate a forwarder with packets of one shape.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use tidegate_core::units::Span;
use tidegate_live::clock::MonotonicClock;
use tidegate_live::poll::{Poll, SocketInterest};
use tidegate_live::reception::Reception;
use tidegate_live::udp::{UdpFace, UdpListener};
use tidegate_wire::{DataBuilder, FrameBatch, Signer, name};

/// Maximum number of outstanding Interests.
const WINDOW: u32 = 512;

/// Interests per burst: as many packets as one system call takes.
const BURST: u32 = 64;

/// Time without a packet after which all outstanding Interests count as lost.
const SILENCE: Span = Span::from_millis(200);

/// Segment numbers start here, so that all take four bytes.
const FIRST: u32 = 1 << 16;

/// One shape of load.
pub(super) struct Load {
    /// Bytes of content per Data.
    pub(super) content: usize,
    /// Number of names that are requested in turn; `None`: every name is new.
    pub(super) names: Option<u32>,
    /// Number of pairs of Interest and Data to measure.
    pub(super) pairs: u32,
    /// Whether packets of one size reach the forwarder together, as from peers or network cards that can.
    pub(super) together: bool,
}

/// Result of a load.
pub(super) struct LoadResult {
    /// Interests that were answered by Data.
    pub(super) pairs: u32,
    /// CPU time of the forwarder, seconds.
    pub(super) cpu_s: f64,
    /// Elapsed time of the measured pairs, seconds.
    pub(super) wall_s: f64,
    /// Interests that were replaced after a timeout.
    pub(super) again: u64,
}

impl Load {
    /// Runs the load through the forwarder at `forwarder`, whose CPU time `cpu` returns. The first tenth only
    /// warms up.
    pub(super) fn run(
        &self,
        mut producer: Producer,
        forwarder: SocketAddr,
        cpu: impl Fn() -> f64,
    ) -> io::Result<LoadResult> {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let answering = scope.spawn(|| producer.answer(self.together, &done));
            let mut consumer = LoadConsumer::open(forwarder, self)?;
            let measured = consumer.warm_up(self.pairs / 10).and_then(|()| {
                let (cpu_before, begun, again) = (cpu(), Instant::now(), consumer.again);
                // CPU time is taken before and after this call only, without the warm-up.
                consumer.fetch(self.pairs)?;
                let wall_s = begun.elapsed().as_secs_f64();
                let again = consumer.again - again;
                Ok(LoadResult { pairs: self.pairs, cpu_s: cpu() - cpu_before, wall_s, again })
            });
            // Also after a failure of the consumer: the scope waits for the producer's thread.
            done.store(true, Ordering::Relaxed);
            answering.join().unwrap_or_else(|_| Err(io::Error::other("the producer ended early")))?;
            measured
        })
    }
}

/// The consumer side of the load.
struct LoadConsumer {
    socket: UdpFace,
    poll: Poll,
    clock: MonotonicClock,
    memory: Reception,
    batch: FrameBatch,
    names: Option<u32>,
    next: u32,
    nonce: u32,
    outstanding: u32,
    again: u64,
}

impl LoadConsumer {
    fn open(forwarder: SocketAddr, load: &Load) -> io::Result<Self> {
        let mut socket = UdpFace::connect(forwarder, None)?;
        if !load.together {
            socket.send_apart();
        }
        let poll = Poll::new()?;
        poll.register(&socket, 0, SocketInterest::Read)?;
        let (clock, memory, batch) = (MonotonicClock::new(), Reception::new(), FrameBatch::new());
        let names = load.names;
        Ok(Self { socket, poll, clock, memory, batch, names, next: 0, nonce: 0, outstanding: 0, again: 0 })
    }

    fn warm_up(&mut self, pairs: u32) -> io::Result<()> {
        // Every name has to be in the content store before hits are measured.
        self.fetch(pairs.max(self.names.unwrap_or(0)))
    }

    /// Sends Interests until `pairs` more Data have arrived.
    fn fetch(&mut self, pairs: u32) -> io::Result<()> {
        let mut left = pairs;
        while left > 0 {
            self.request();
            let until = self.clock.now() + SILENCE;
            let is_ready = !self.poll.wait(Some(until), &self.clock)?.is_empty();
            if !is_ready && self.clock.now() >= until {
                // Lost packets are replaced by Interests for the next names: only the forwarder's throughput counts.
                self.again += u64::from(self.outstanding);
                self.outstanding = 0;
                continue;
            }
            let mut came = 0;
            self.socket.receive(&mut self.memory, |_| came += 1)?;
            // Data of Interests that were given up may still arrive: they count as pairs, but are no longer
            // outstanding.
            self.outstanding = self.outstanding.saturating_sub(came);
            left = left.saturating_sub(came);
        }
        Ok(())
    }

    /// Sends whole bursts of Interests until fewer than one burst fits into the window.
    fn request(&mut self) {
        while WINDOW - self.outstanding >= BURST {
            for _ in 0..BURST {
                let segment = FIRST + self.names.map_or(self.next, |names| self.next % names);
                self.next = self.next.wrapping_add(1);
                // An odd step visits all 2^32 values, so that no Interest for a repeated name looks like a
                // loop.
                self.nonce = self.nonce.wrapping_add(0x9E37_79B9);
                self.batch.push(&interest(segment, self.nonce), Bytes::new());
            }
            self.outstanding += BURST;
            let (taken, _) = self.socket.send(self.batch.iter());
            self.batch.remove_first(taken);
        }
    }
}

/// An Interest for `/bench/seg=N`.
fn interest(segment: u32, nonce: u32) -> [u8; 23] {
    let mut packet = *b"\x05\x15\x07\x0d\x08\x05bench\x32\x04\0\0\0\0\x0a\x04\0\0\0\0";
    packet[13..17].copy_from_slice(&segment.to_be_bytes());
    packet[19..].copy_from_slice(&nonce.to_be_bytes());
    packet
}

/// Encoded name `/bench/seg=N` without the four bytes of N.
const NAME: &[u8] = b"\x07\x0d\x08\x05bench\x32\x04";

/// The side that answers.
pub(super) struct Producer {
    listener: UdpListener,
    answers: Answers,
}

impl Producer {
    /// Opens a producer on a free port of the loopback interface.
    pub(super) fn open(content: usize) -> io::Result<Self> {
        let listener = UdpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        Ok(Self { listener, answers: Answers::of(content)? })
    }

    /// Returns the local address of the socket.
    pub(super) fn address(&self) -> SocketAddr {
        self.listener.local()
    }

    /// Answers every Interest until stopped. The first packet shows the address of the forwarder's face.
    fn answer(&mut self, together: bool, done: &AtomicBool) -> io::Result<()> {
        let (mut poll, mut memory, clock) = (Poll::new()?, Reception::new(), MonotonicClock::new());
        poll.register(&self.listener, 0, SocketInterest::Read)?;
        let mut peer = None;
        while peer.is_none() && !done.load(Ordering::Relaxed) {
            poll.wait(Some(clock.now() + SILENCE), &clock)?;
            let answers = &mut self.answers;
            self.listener.receive(&mut memory, |path, frame| {
                peer = Some(path.peer);
                answers.add(&frame);
            })?;
        }
        let Some(peer) = peer else { return Ok(()) };
        let mut face = UdpFace::accept(&self.listener, peer)?;
        if !together {
            face.send_apart();
        }
        // The connected face takes over the packets of this peer; the listener would wake the loop without
        // any.
        poll.deregister(&self.listener)?;
        poll.register(&face, 1, SocketInterest::Read)?;
        self.answers.send(&mut face);
        while !done.load(Ordering::Relaxed) {
            poll.wait(Some(clock.now() + SILENCE), &clock)?;
            let answers = &mut self.answers;
            face.receive(&mut memory, |frame| answers.add(&frame))?;
            self.answers.send(&mut face);
        }
        Ok(())
    }
}

/// Data that differ in their segment number only. Their signatures are not verified here.
struct Answers {
    /// Up to the end of the name.
    head: Vec<u8>,
    /// Bytes behind the name, with the content.
    rest: Bytes,
    batch: FrameBatch,
}

impl Answers {
    fn of(content: usize) -> io::Result<Self> {
        let mut name = Vec::new();
        name::push_component(&mut name, 8, b"bench");
        name::push_segment(&mut name, FIRST);
        let data = DataBuilder { name: &name, content: &vec![b'x'; content], ..Default::default() };
        let data = data.sign(&Signer::Digest).map_err(io::Error::other)?;
        let end = segment_end(&data).ok_or_else(|| io::Error::other("the Data has no name"))?;
        Ok(Self { head: data[..end].to_vec(), rest: data.slice(end..), batch: FrameBatch::new() })
    }

    /// Answers the Interest in `frame`.
    fn add(&mut self, frame: &[u8]) {
        if let Some(end) = segment_end(frame) {
            // The segment number is the end of the name, so it replaces the last four bytes.
            let place = self.head.len() - 4;
            self.head[place..].copy_from_slice(&frame[end - 4..end]);
            self.batch.push(&self.head, self.rest.clone());
        }
    }

    fn send(&mut self, face: &mut UdpFace) {
        while !self.batch.is_empty() {
            let (taken, is_full) = face.send(self.batch.iter());
            self.batch.remove_first(taken);
            // The send buffer is full until the forwarder has read from it.
            if is_full {
                std::thread::yield_now();
            }
        }
    }
}

/// End of the name `/bench/seg=N` in a packet, behind any link header.
fn segment_end(packet: &[u8]) -> Option<usize> {
    let start = packet.windows(NAME.len()).position(|window| window == NAME)?;
    Some(start + NAME.len() + 4).filter(|end| *end <= packet.len())
}
