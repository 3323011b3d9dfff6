//! Sockets and the clock around the two directions.
//!
//! Each client has two sockets: one connected with it at the address listened at, one connected with the address
//! carried to. So every datagram's way back is known, and many are sent per system call.

use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use tidegate_core::observe::histogram::DelayHistogram;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{Span, Time};

use super::channel::{Channel, ChannelSetup, Datagram};
use super::clients::Clients;
use super::report::{DirectionReport, LinkReport, Refused};
use crate::clock::MonotonicClock;
use crate::poll::{Poll, SocketInterest};
use crate::reception::Reception;
use crate::signals::StopSignal;
use crate::udp::{Received, UdpFace, UdpListener};

/// Maximum lateness of the system's wake-ups; sleeping ends this long before a datagram is due.
const WATCH: Span = Span::from_micros(200);
/// Interval between two checks for idle clients.
const TIDY: Span = Span::from_secs(10);
/// Maximum number of datagrams sent before sockets are read again.
const MAX_AT_ONCE: usize = 64;

const LISTENER: u64 = 0;
const STOP: u64 = 1;

/// Parameters of an emulated link.
#[derive(Clone, Debug)]
pub struct LinkSetup {
    /// Address for clients; port 0 lets the system choose one.
    pub listen: SocketAddr,
    /// Destination of the datagrams that clients send.
    pub to: SocketAddr,
    /// Direction from the clients to the server.
    pub forward: ChannelSetup,
    /// Direction back to the clients.
    pub reverse: ChannelSetup,
    /// Seed of all random numbers; the same seed gives the same losses.
    pub seed: Seed,
}

/// The sockets of one client.
#[derive(Debug)]
struct Sockets {
    near: UdpFace,
    far: UdpFace,
}

impl Sockets {
    /// Adds the datagrams that these sockets did not carry.
    fn add_to(&self, refused: &mut Refused) {
        for socket in [&self.near, &self.far] {
            refused.add_faults(socket.faults(), socket.overflows());
        }
    }
}

/// One direction of the link, and the fate of its datagrams at its end.
#[derive(Debug)]
struct EmulatedDirection {
    channel: Channel,
    lateness: DelayHistogram,
    unsent: u64,
    stranded: u64,
    is_forward: bool,
}

/// A link that can be run.
#[derive(Debug)]
pub struct Link {
    listener: UdpListener,
    to: SocketAddr,
    directions: [EmulatedDirection; 2],
    clients: Clients<Sockets>,
    refused: Refused,
    clock: MonotonicClock,
    poll: Poll,
    memory: Reception,
    ready: Vec<u64>,
    received: Vec<(SocketAddr, Bytes)>,
}

impl EmulatedDirection {
    fn new(setup: &ChannelSetup, seed: Seed, name: &str) -> Self {
        Self {
            channel: Channel::new(setup, |what| Rng::stream(seed, &format!("link/{name}/{what}"))),
            lateness: DelayHistogram::default(),
            unsent: 0,
            stranded: 0,
            is_forward: name == "forward",
        }
    }

    /// Sends datagrams that are due by now, up to [`MAX_AT_ONCE`].
    fn send_due(&mut self, clients: &mut Clients<Sockets>, clock: &MonotonicClock, batch: &mut Batch) {
        batch.clear();
        let now = clock.now();
        while batch.len() < MAX_AT_ONCE
            && let Some((due, datagram)) = self.channel.take_due(now)
        {
            // All datagrams of a batch are sent over one socket.
            if batch.last().is_some_and(|(_, last)| last.client != datagram.client) {
                self.send(clients, clock, batch);
                batch.clear();
            }
            batch.push((due, datagram));
        }
        self.send(clients, clock, batch);
    }

    /// Sends datagrams of one client.
    fn send(&mut self, clients: &mut Clients<Sockets>, clock: &MonotonicClock, batch: &Batch) {
        let Some((_, first)) = batch.first() else { return };
        let Some(sockets) = clients.touch(first.client, clock.now()) else {
            self.stranded += batch.len() as u64;
            return;
        };
        let socket = if self.is_forward { &mut sockets.far } else { &mut sockets.near };
        let failed = socket.faults().unsent;
        let frames = batch.iter().map(|(_, datagram)| (&datagram.bytes[..], &[][..]));
        let (taken, _) = socket.send(frames);
        // A socket without room loses what it does not take: a second queue would be none of this link's.
        self.unsent += (batch.len() - taken) as u64 + (socket.faults().unsent - failed);
        let now = clock.now();
        batch.iter().for_each(|(due, _)| self.lateness.add(now.since(*due)));
    }

    fn report(&self) -> DirectionReport {
        DirectionReport {
            counts: self.channel.counts(),
            delivered_bytes: self.channel.delivered_bytes(),
            unsent: self.unsent,
            stranded: self.stranded,
            waiting: self.channel.waits(),
            lateness: self.lateness.summary(),
        }
    }
}

/// Datagrams that are due, with their due times.
type Batch = Vec<(Time, Datagram)>;

impl Link {
    /// Binds the address to listen at.
    ///
    /// # Errors
    /// When the address is not ours or taken.
    pub fn bind(setup: &LinkSetup) -> io::Result<Self> {
        let listener = UdpListener::bind(setup.listen)?;
        let poll = Poll::new()?;
        poll.register(&listener, LISTENER, SocketInterest::Read)?;
        Ok(Self {
            listener,
            to: setup.to,
            directions: [
                EmulatedDirection::new(&setup.forward, setup.seed, "forward"),
                EmulatedDirection::new(&setup.reverse, setup.seed, "reverse"),
            ],
            clients: Clients::default(),
            refused: Refused::default(),
            clock: MonotonicClock::new(),
            poll,
            memory: Reception::new(),
            ready: Vec::new(),
            received: Vec::new(),
        })
    }

    /// Local address of the listener.
    pub fn local(&self) -> SocketAddr {
        self.listener.local()
    }

    /// Report of the counts and delays so far.
    pub fn report(&self) -> LinkReport {
        let [forward, reverse] = &self.directions;
        let mut refused = self.refused;
        refused.add_faults(self.listener.faults(), self.listener.overflows());
        self.clients.iter().for_each(|sockets| sockets.add_to(&mut refused));
        LinkReport {
            elapsed: self.clock.now().since(Time::ZERO),
            clients: self.clients.count(),
            refused,
            forward: forward.report(),
            reverse: reverse.report(),
        }
    }

    /// Carries datagrams until a signal arrives or `duration` has passed; `each` receives a report every
    /// `pause`.
    ///
    /// # Errors
    /// When a socket or the poll set cannot be used any more.
    pub fn run(
        &mut self,
        mut stop: Option<&mut StopSignal>,
        duration: Option<Span>,
        pause: Option<Span>,
        mut each: impl FnMut(&LinkReport),
    ) -> io::Result<()> {
        if let Some(stop) = &stop {
            self.poll.register(&**stop, STOP, SocketInterest::Read)?;
        }
        let start = self.clock.now();
        let end = duration.map_or(Time::MAX, |duration| start + duration);
        let mut report_at = pause.map_or(Time::MAX, |pause| start + pause);
        let mut tidy_at = start + TIDY;
        let mut batch = Batch::new();
        while !stop.as_mut().is_some_and(|stop| stop.has_come()) && self.clock.now() < end {
            for direction in &mut self.directions {
                direction.send_due(&mut self.clients, &self.clock, &mut batch);
            }
            let now = self.clock.now();
            if now >= report_at {
                each(&self.report());
                report_at += pause.unwrap_or(Span::MAX);
            }
            if now >= tidy_at {
                self.clients.expire(now, |sockets| sockets.add_to(&mut self.refused));
                tidy_at = now + TIDY;
            }
            self.wait(end.min(report_at).min(tidy_at))?;
        }
        Ok(())
    }

    /// Waits until datagrams arrive or are due, at most until `until`, and accepts those that arrived.
    fn wait(&mut self, until: Time) -> io::Result<()> {
        let due = self.directions.iter().filter_map(|direction| direction.channel.next_due()).min();
        let watch =
            due.map_or(Time::MAX, |due| Time::from_nanos(due.as_nanos().saturating_sub(WATCH.as_nanos())));
        // Once that is past, this only looks at the sockets and comes back at once, until the instant is there.
        let ready = self.poll.wait(Some(until.min(watch)), &self.clock)?;
        self.ready.clear();
        self.ready.extend(ready.iter().map(|ready| ready.token));
        for index in 0..self.ready.len() {
            match self.ready[index] {
                LISTENER => self.receive_from_new_clients()?,
                STOP => {}
                token => self.receive(token)?,
            }
        }
        Ok(())
    }

    /// Receives datagrams at the listener: the first ones of new clients.
    fn receive_from_new_clients(&mut self) -> io::Result<()> {
        let mut received = std::mem::take(&mut self.received);
        self.listener.receive(&mut self.memory, |path, bytes| received.push((path.peer, bytes)))?;
        let now = self.clock.now();
        for (from, bytes) in received.drain(..) {
            let known = self.clients.find(from);
            let Some(client) = known.or_else(|| self.welcome(now, from)) else { continue };
            self.directions[0].channel.accept(now, Datagram { client, bytes });
        }
        self.received = received;
        Ok(())
    }

    /// Makes the sockets of a new client; `None` if that is not possible.
    fn welcome(&mut self, now: Time, from: SocketAddr) -> Option<u64> {
        if !self.clients.make_room(now, |sockets| sockets.add_to(&mut self.refused)) {
            self.refused.crowded += 1;
            return None;
        }
        match self.sockets(from) {
            Ok(sockets) => Some(self.clients.add(now, from, sockets)),
            Err(_) => {
                self.refused.no_socket += 1;
                None
            }
        }
    }

    fn sockets(&self, from: SocketAddr) -> io::Result<Sockets> {
        let near = UdpFace::accept(&self.listener, from)?;
        let far = UdpFace::connect(self.to, None)?;
        let number = self.clients.next_number();
        self.poll.register(&near, 2 * number, SocketInterest::Read)?;
        self.poll.register(&far, 2 * number + 1, SocketInterest::Read)?;
        Ok(Sockets { near, far })
    }

    /// Receives datagrams at a client's socket.
    fn receive(&mut self, token: u64) -> io::Result<()> {
        let (client, is_far) = (token / 2, token % 2 == 1);
        let Self { clients, memory, clock, directions, .. } = self;
        let Some(sockets) = clients.touch(client, clock.now()) else { return Ok(()) };
        let (socket, direction) = match is_far {
            false => (&mut sockets.near, &mut directions[0]),
            true => (&mut sockets.far, &mut directions[1]),
        };
        let mut now = None;
        let received = socket.receive(memory, |bytes| {
            // All of a batch were there when the first was taken.
            let now = *now.get_or_insert_with(|| clock.now());
            direction.channel.accept(now, Datagram { client, bytes });
        })?;
        debug_assert_ne!(received, Received::Closed, "a UDP socket has no end");
        Ok(())
    }
}

#[cfg(test)]
mod tests;
