//! An application's connection to a forwarder: packets out, packets in, and requests that wait for an answer.

mod reconnect;
mod request;

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use bytes::Bytes;
use tidegate_core::link::service::LinkService;
use tidegate_core::ndn::name::{NameTable, PrefixId};
use tidegate_core::ndn::packet::Packet;
use tidegate_core::rng::Rng;
use tidegate_core::units::Time;
use tidegate_wire::{Certificate, FrameBatch, LpFields, decode_packet};

use crate::clock::MonotonicClock;
use crate::entropy;
use crate::link_service::{GenericLinkService, LinkContext, LinkCounters, MtuPlan};
use crate::poll::{self, Poll};
use crate::reception::Reception;
use crate::reliability::ReliabilityCounters;
use crate::tokens::TokenTable;
use crate::transport::{SendProgress, Transport};
use crate::udp::{Faults, Received};
use crate::uplink::Uplink;

pub use request::Answer;

/// Timeout of a TCP connection attempt.
const PATIENCE: Duration = Duration::from_secs(4);

const TRANSPORT: u64 = 0;
const STOP: u64 = 1;

/// Reason why an application cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The forwarder cannot be connected to.
    #[error(
        "cannot connect to {uri} ({source}): {why}; is a forwarder running at this address?",
        uri = uplink.uri, source = uplink.source
    )]
    Connect {
        /// Address of the forwarder that was tried.
        uplink: Uplink,
        /// Error of the attempt to connect.
        why: io::Error,
    },
    /// The connection broke; `None` if the forwarder ended it.
    #[error("{}", lost(.0.as_ref()))]
    Lost(Option<io::Error>),
    /// A stop of the application was requested.
    #[error("interrupted")]
    Stopped,
    /// The system refuses what every program needs.
    #[error(transparent)]
    System(io::Error),
    /// A packet of our own is wrong, such as one with too long a name.
    #[error("{0}")]
    Packet(String),
}

/// The end of a connection as a message.
fn lost(why: Option<&io::Error>) -> String {
    why.map_or("the forwarder ended the connection".to_owned(), |why| {
        format!("the connection to the forwarder broke: {why}")
    })
}

/// Part of an application in the acknowledgement of frames over UDP (NDNLPv2 reliability).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reliability {
    /// Numbered frames of the forwarder are acknowledged.
    Acknowledging,
    /// Own frames are numbered as well, and sent again when they are lost.
    Both,
}

/// Makes one end of NDNLPv2 reliability; `None` if it cannot be made.
pub type MakeReliability = Box<dyn Fn() -> Option<Box<dyn LinkService>> + Send>;

/// The acknowledgement of frames that an application requested.
struct RequestedReliability {
    kind: Reliability,
    make: MakeReliability,
}

impl std::fmt::Debug for RequestedReliability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.kind.fmt(f)
    }
}

/// One connection and everything an application needs around it.
#[derive(Debug)]
pub struct Client {
    clock: MonotonicClock,
    /// Address to connect to again; `None` for a client that was made from a transport.
    uplink: Option<Uplink>,
    names: NameTable,
    tokens: TokenTable,
    nonces: Rng,
    transport: Transport,
    link: GenericLinkService,
    reliability: Option<RequestedReliability>,
    memory: Reception,
    poll: Poll,
    batch: FrameBatch,
    watched: poll::SocketInterest,
    /// Bytes that may wait for room before reading stops; `None` for no limit.
    backlog_limit: Option<usize>,
    sends_interests_only: bool,
    unclaimed: VecDeque<Packet<Bytes>>,
    /// Whether packets are held whose names must stay in the table.
    is_requesting: bool,
    /// Certificate that is given to whoever requests it meanwhile.
    certificate: Option<Certificate>,
    pinned: Vec<PrefixId>,
    /// SignatureTime of the last command.
    command_time: u64,
    /// Kept open, because a closed descriptor leaves the poll set.
    stop: Option<OwnedFd>,
}

impl Client {
    /// Connects to a forwarder.
    ///
    /// # Errors
    /// When there is no listener.
    pub fn connect(uplink: &Uplink) -> Result<Self, ClientError> {
        match Transport::connect(&uplink.uri, PATIENCE) {
            Ok(transport) => Ok(Self { uplink: Some(uplink.clone()), ..Self::over(transport)? }),
            Err(why) => Err(ClientError::Connect { uplink: uplink.clone(), why }),
        }
    }

    /// An application at the end of a transport; its clock starts now.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn over(transport: Transport) -> Result<Self, ClientError> {
        let poll = Poll::new().map_err(ClientError::System)?;
        poll.register(&transport, TRANSPORT, poll::SocketInterest::Read).map_err(ClientError::System)?;
        let seed = entropy::seed();
        let mut nonces = Rng::stream(seed, "client");
        Ok(Self {
            clock: MonotonicClock::new(),
            uplink: None,
            names: NameTable::keyed(nonces.bits()),
            tokens: TokenTable::new(),
            link: GenericLinkService::over(&transport, MtuPlan::Probed, &mut nonces),
            nonces,
            transport,
            reliability: None,
            memory: Reception::new(),
            poll,
            batch: FrameBatch::new(),
            watched: poll::SocketInterest::Read,
            backlog_limit: None,
            sends_interests_only: false,
            unclaimed: VecDeque::new(),
            is_requesting: false,
            certificate: None,
            pinned: Vec::new(),
            command_time: 0,
            stop: None,
        })
    }

    /// Ends every wait with [`ClientError::Stopped`] as soon as `stop` has something to read.
    ///
    /// # Errors
    /// When the system refuses to watch it.
    pub fn stop_on(&mut self, stop: OwnedFd) -> Result<(), ClientError> {
        self.poll.register(&stop, STOP, poll::SocketInterest::Read).map_err(ClientError::System)?;
        self.stop = Some(stop);
        Ok(())
    }

    /// Ignores requests to stop from now on, so that the last steps can be completed.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn finish_in_peace(&mut self) -> Result<(), ClientError> {
        match self.stop.take() {
            // Explicitly, since a copy of the descriptor may stay open elsewhere.
            Some(stop) => self.poll.deregister(&stop).map_err(ClientError::System),
            None => Ok(()),
        }
    }

    /// The time now, from the connection on.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Name table of this application.
    pub fn names(&self) -> &NameTable {
        &self.names
    }

    /// Interns a name (concatenated components) as a prefix that is never forgotten.
    ///
    /// # Errors
    /// When the components are malformed or too many.
    pub fn pin(&mut self, name: &[u8]) -> Result<PrefixId, ClientError> {
        let prefix = self.names.intern_prefix(name).map_err(|why| ClientError::Packet(why.to_string()))?;
        self.pinned.push(prefix);
        Ok(prefix)
    }

    /// SignatureTime of the next command, milliseconds since 1970: the present, and later than that of the last one, since
    /// forwarders refuse a second command of the same millisecond.
    pub fn next_command_time(&mut self) -> u64 {
        self.command_time = (MonotonicClock::wall_micros() / 1_000).max(self.command_time + 1);
        self.command_time
    }

    /// Random numbers of this application.
    pub fn nonces(&mut self) -> &mut Rng {
        &mut self.nonces
    }

    /// Counters of the link layer.
    pub fn link_counters(&self) -> LinkCounters {
        self.link.counters()
    }

    /// Errors of the socket that did not end the connection.
    pub fn faults(&self) -> Faults {
        self.transport.faults()
    }

    /// The forwarder's end of the connection.
    pub fn remote(&self) -> String {
        self.transport.remote_uri().to_string()
    }

    /// Whether the forwarder accepts commands from here: it is on this machine, and not connected over UDP.
    pub fn is_local(&self) -> bool {
        self.transport.is_local()
    }

    /// Whether the socket has no room, so that packets sent now would wait in memory.
    pub fn is_blocked(&self) -> bool {
        self.watched != poll::SocketInterest::Read
    }

    /// Prepares the socket for an application that sends Interests only, of which few may wait in it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_for_interests(&mut self) -> Result<(), ClientError> {
        self.sends_interests_only = true;
        self.transport.set_for_interests().map_err(ClientError::System)
    }

    /// Acknowledges frames from now on, also after a [`reconnect`](Self::reconnect), by what `make` returns. Streams are not
    /// changed: they lose no frames.
    pub fn set_reliability(&mut self, kind: Reliability, make: MakeReliability) {
        self.reliability = Some(RequestedReliability { kind, make });
        self.begin_reliability();
    }

    fn begin_reliability(&mut self) {
        let Some(RequestedReliability { kind, make }) = &self.reliability else { return };
        match (make().filter(|_| matches!(self.transport, Transport::Udp(_))), kind) {
            (None, _) => {}
            (Some(service), Reliability::Acknowledging) => self.link.set_acknowledging(service),
            (service, Reliability::Both) => self.link.set_reliability(service),
        }
    }

    /// Counters of acknowledged frames; `None` unless they are acknowledged.
    pub fn reliability(&self) -> Option<ReliabilityCounters> {
        self.link.reliability()
    }

    /// Reads nothing while more than `bytes` wait for room in the socket. For producers, so that a peer that
    /// requests Data and does not read it cannot fill the memory. A consumer must not use it: both ends could
    /// wait for each other.
    pub fn limit_backlog(&mut self, bytes: usize) {
        self.backlog_limit = Some(bytes);
    }

    /// Hands a packet to the socket's batch, which leaves with the next [`exchange`](Self::exchange).
    pub fn send(&mut self, packet: &Packet<Bytes>) {
        self.link.send(self.clock.now(), packet, &self.names, &self.tokens, &mut self.batch);
    }

    /// Reads a packet of our own from its bytes.
    ///
    /// # Errors
    /// When the bytes are no packet.
    pub fn packet(&mut self, bytes: Bytes) -> Result<Packet<Bytes>, ClientError> {
        let nonces = &mut self.nonces;
        let mut nonce = || (nonces.bits() >> 32) as u32;
        decode_packet(&LpFields::default(), bytes, &mut self.names, &mut nonce)
            .map_err(|why| ClientError::Packet(why.to_string()))
    }

    /// Sends all packets of the batch, waits until something arrives or `until` is reached (`None`: forever),
    /// and appends the received packets to `inbox`.
    ///
    /// A caller that limits the backlog may leave packets in `inbox`: while there are some, nothing more is
    /// read, and only room in the socket ends the wait. Names and tokens are removed only while `inbox` is
    /// empty.
    ///
    /// # Errors
    /// When the connection is lost, or the application was asked to stop.
    pub fn exchange(
        &mut self,
        until: Option<Time>,
        inbox: &mut Vec<Packet<Bytes>>,
    ) -> Result<(), ClientError> {
        let holds_some = self.backlog_limit.is_some() && !inbox.is_empty();
        self.serve_link();
        self.flush(holds_some)?;
        // What came while a request waited for its own answer is delivered first, in order.
        if !self.unclaimed.is_empty() && !self.is_requesting {
            inbox.extend(self.unclaimed.drain(..));
            return Ok(());
        }
        // Packets of the inbox refer to names and tokens that a sweep would free.
        if inbox.is_empty() {
            self.forget();
        }
        // The caller still holds packets: the socket is looked at without waiting.
        let until = if holds_some && !self.is_blocked() { Some(Time::ZERO) } else { until };
        // The caller waits again if this ends the wait.
        let until = until.into_iter().chain(self.link.next_wake()).min();
        let ready = self.poll.wait(until, &self.clock).map_err(ClientError::System)?;
        let (mut is_readable, mut is_stopped) = (false, false);
        for event in ready {
            is_readable |= event.token == TRANSPORT && event.is_readable;
            is_stopped |= event.token == STOP;
        }
        if is_stopped {
            return Err(ClientError::Stopped);
        }
        if is_readable && !holds_some { self.receive(inbox) } else { Ok(()) }
    }

    /// Runs what is due in the link layer, and adds to the batch what it sends on its own.
    fn serve_link(&mut self) {
        let Self { transport, link, clock, batch, .. } = self;
        if link.next_wake().is_some_and(|at| at <= clock.now()) {
            link.on_wake(clock.now(), || transport.max_datagram());
        }
        if link.has_due() {
            link.serve(clock.now(), batch);
        }
    }

    /// Sends as much as the socket takes; watches for room if it does not take all.
    fn flush(&mut self, holds_some: bool) -> Result<(), ClientError> {
        if self.batch.is_empty() && !self.is_blocked() {
            return Ok(());
        }
        let sent = self.transport.send(&mut self.batch).map_err(|why| ClientError::Lost(Some(why)))?;
        if self.transport.take_refusal() {
            self.link.on_refusal(self.clock.now(), self.transport.max_datagram());
        }
        let interest = match sent {
            SendProgress::All => poll::SocketInterest::Read,
            // Not readable as well: unread data would end the wait for room at once.
            SendProgress::WouldBlock if holds_some || self.is_backlogged() => poll::SocketInterest::Write,
            SendProgress::WouldBlock => poll::SocketInterest::ReadWrite,
        };
        if interest != self.watched {
            self.poll.modify(&self.transport, TRANSPORT, interest).map_err(ClientError::System)?;
            self.watched = interest;
        }
        Ok(())
    }

    /// Whether more bytes wait to be sent than the limit allows; `false` without a limit.
    pub fn is_backlogged(&self) -> bool {
        self.backlog_limit.is_some_and(|limit| self.batch.byte_len() > limit)
    }

    fn receive(&mut self, inbox: &mut Vec<Packet<Bytes>>) -> Result<(), ClientError> {
        let Self { transport, link, memory, names, tokens, nonces, clock, .. } = self;
        let mut cx = LinkContext { now: clock.now(), names, tokens, nonces };
        let received = transport.receive(memory, |frame| inbox.extend(link.receive(frame, &mut cx)));
        match received {
            Ok(Received::More | Received::Drained) => Ok(()),
            // What came before the end is still read.
            Ok(Received::Closed) if inbox.is_empty() => Err(ClientError::Lost(None)),
            Ok(Received::Closed) => Ok(()),
            Err(why) => Err(ClientError::Lost(Some(why))),
        }
    }

    /// Removes unused names and tokens.
    fn forget(&mut self) {
        if self.is_requesting {
            return;
        }
        if self.names.needs_sweep() {
            // No packet is held here that could refer to another name or to a token.
            self.names.sweep(self.pinned.iter().copied());
        }
        if self.tokens.needs_sweep() {
            self.tokens.sweep(std::iter::empty());
        }
    }
}
