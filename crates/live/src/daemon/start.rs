//! Starts a forwarder: makes its tables, and opens the sockets of its configuration.

use std::fmt;

use bytes::Bytes;
use tidegate_core::context::Present;
use tidegate_core::ndn::cs::{CacheSetup, UnsolicitedPolicy};
use tidegate_core::ndn::forwarder::{BodyRules, Forwarder, ForwarderSetup};
use tidegate_core::ndn::name::{NameHash, NameTable};
use tidegate_core::ndn::node::Node;
use tidegate_core::ndn::packet::Millis;
use tidegate_core::ndn::packet::PacketArena;
use tidegate_core::ndn::strategy::Strategy;
use tidegate_core::rng::{Rng, Seed, Streams};
use tidegate_core::scheme::params::ParamError;
use tidegate_core::units::BitRate;
use tidegate_settings::uses::SchemeUse;
use tidegate_wire::{DataView, implicit_digest};

use super::config::{ForwarderConfig, Listener};
use super::face::{Line, Origin};
use super::management::{Authority, CommandBudgets, KnownKeys, wall_millis};
use super::metrics::MetricsServer;
use super::rib::Route;
use super::strategies::Strategies;
use super::timers::Due;
use super::workers::{self, Workers};
use super::{
    Daemon, DaemonCounters, HOUSEKEEPING, Listeners, MANAGEMENT, Timers, Watch, Watched, descriptors, routes,
};
use crate::clock::MonotonicClock;
use crate::listen::StreamListener;
use crate::multicast::check_interface;
use crate::nfd::{FLAG_CAPTURE, FLAG_CHILD_INHERIT, ORIGIN_STATIC};
use crate::poll::Poll;
use crate::reception::Reception;
use crate::tokens::TokenTable;
use crate::udp::UdpListener;

/// Prefix of commands of neighbours.
const LOCALHOP: &str = "/localhop/nfd";

/// Maximum number of listeners of one kind that tokens can identify.
const MAX_LISTENERS: usize = 64;

/// Reason why a forwarder does not start.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(String);

impl StartError {
    pub(super) fn new(what: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self(format!("{what}: {why}"))
    }

    fn of_part(part: &SchemeUse, why: &[ParamError]) -> Self {
        let reasons: Vec<String> = why.iter().map(ToString::to_string).collect();
        Self::new(part.scheme.name, reasons.join("; "))
    }
}

/// Checks what a configuration names outside of itself, without opening what it describes: certificates, groups and network
/// interfaces. Host names are not resolved.
///
/// # Errors
/// The first certificate and the first group that cannot be used, and every interface that this machine does not have.
pub fn check_surroundings(config: &ForwarderConfig) -> Result<(), Vec<StartError>> {
    let interfaces = config.faces.iter().filter_map(|face| {
        let missing = check_interface(face.interface.as_deref()?).err();
        missing.map(|why| StartError::new(format!("face {:?}", face.name), why))
    });
    let mut faults: Vec<StartError> = interfaces.collect();
    faults.extend(Authority::of(config).err());
    faults.extend(KnownKeys::read(config, 0).err());
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

impl Daemon {
    /// Opens the listeners and faces of `config`; `seed` decides nonces and the spread of hash tables.
    ///
    /// # Errors
    /// When an address cannot be listened at, or a configured face is refused by the system. A configured
    /// TCP or Unix face whose peer is not there yet is tried again later.
    pub fn start(config: ForwarderConfig, seed: Seed) -> Result<Self, StartError> {
        let clock = MonotonicClock::new();
        let workers = workers::start(&config, seed, clock, Rng::stream(seed, "workers").bits())?;
        let mut daemon = Self::make(workers::part_of(&config, 0), seed, clock, workers)?;
        daemon.open()?;
        Ok(daemon)
    }

    /// The tables of a forwarder, or of one of its workers, without sockets.
    ///
    /// # Errors
    /// When the configuration names what cannot be made or read.
    pub(super) fn make(
        config: ForwarderConfig,
        seed: Seed,
        clock: MonotonicClock,
        workers: Option<Box<Workers>>,
    ) -> Result<Self, StartError> {
        // Keyed hashes: a peer that chose names with equal hashes would make a table a list.
        let key = |what| Rng::stream(seed, what).bits();
        let strategy = make_strategy(&config.strategy)?;
        let mut forwarder = Forwarder::new(ForwarderSetup {
            cache: CacheSetup { max_size: config.cache_size, ..CacheSetup::lru(config.cache) },
            unsolicited: match config.cache_unsolicited {
                true => UnsolicitedPolicy::Admit,
                false => UnsolicitedPolicy::Drop,
            },
            requested_only: true,
            pit_shares: true,
            pit_limit: config.pit_limit.get() as usize,
            hash: NameHash::keyed(key("names in tables")),
            ..ForwarderSetup::new(strategy, Rng::stream(seed, "probes"))
        });
        forwarder.set_body_rules(BodyRules {
            digest: |body: &Bytes| DataView::parse(body).map_or([0; 32], |data| implicit_digest(&data)),
            // A received packet shares its memory with others, which a small cached one must not keep alive.
            keep: |body| Bytes::copy_from_slice(body),
        });
        let mut names = NameTable::keyed(key("names"));
        let mut strategies = Strategies::new(&config.strategies);
        strategies.push(&config.strategy);
        for (prefix, strategy) in &config.prefix_strategies {
            strategies.push(strategy);
            let prefix = names.intern_uri(prefix).map_err(|why| StartError::new("strategy", why))?;
            forwarder.set_strategy(prefix, make_strategy(strategy)?);
        }
        let authority = Authority::of(&config)?;
        let known_keys = KnownKeys::read(&config, wall_millis())?;
        Ok(Self {
            now: clock.now(),
            present: Present::detached(clock.now()),
            clock,
            started_ms: wall_millis(),
            poll: Poll::new().map_err(|why| StartError::new("epoll", why))?,
            ready: Vec::new(),
            memory: Reception::new(),
            frames: Vec::new(),
            node: Node::new(forwarder, Vec::new(), Vec::new()),
            packets: PacketArena::default(),
            names,
            tokens: TokenTable::new(),
            nonces: Rng::stream(seed, "nonces"),
            streams: Streams::of(seed),
            faces: Vec::new(),
            next_number: 1,
            peers: Default::default(),
            places: Default::default(),
            memory_bound: Default::default(),
            dirty: Vec::new(),
            met: Vec::new(),
            requested: Vec::new(),
            shared: Default::default(),
            timers: Timers::default(),
            listeners: Listeners::default(),
            metrics: None,
            rib: Default::default(),
            strategies,
            lifetime: Millis::from_span(config.lifetime),
            config,
            configured: Vec::new(),
            creations: Vec::new(),
            key_fetches: Vec::new(),
            certificates: Vec::new(),
            datasets: Default::default(),
            face_events: Default::default(),
            authority,
            known_keys,
            budgets: CommandBudgets::default(),
            incoming: Default::default(),
            flows: Default::default(),
            counters: DaemonCounters::default(),
            workers,
        })
    }

    fn open(&mut self) -> Result<(), StartError> {
        descriptors::raise_limit();
        self.watch_waker()?;
        self.open_management()?;
        self.open_listeners()?;
        self.open_metrics()?;
        self.open_configured()?;
        self.count_places();
        self.begin_housekeeping();
        Ok(())
    }

    pub(super) fn begin_housekeeping(&mut self) {
        self.timers.set(self.now + HOUSEKEEPING, Due::Housekeeping);
    }

    fn open_management(&mut self) -> Result<(), StartError> {
        let line = Line::Internal(Default::default());
        let settings = self.config.face_defaults.clone();
        let opened = self.attach(line, Origin::Internal, &settings, true);
        let opened = opened.map_err(|why| StartError::new("management", why))?;
        self.announce_management(opened);
        // Numbers below 256 are NFD's own.
        self.next_number = 256;
        self.register_management("/localhost/nfd")?;
        self.register_management("/localhost/tidegate")?;
        self.apply_localhop()
    }

    fn register_management(&mut self, prefix: &str) -> Result<(), StartError> {
        let prefix = self.names.intern_uri(prefix).map_err(|why| StartError::new("management", why))?;
        let route = Route {
            prefix,
            face: MANAGEMENT,
            origin: ORIGIN_STATIC,
            cost: 0,
            // A route to `/` must not send commands to an application as well.
            flags: FLAG_CAPTURE,
            expires: None,
            owner: None,
        };
        let (rib, tables) = routes!(self);
        rib.register(route, tables).map_err(|_| StartError::new("management", "the RIB is full"))
    }

    /// Serves commands of neighbours, or no longer, as the configuration says.
    pub(super) fn apply_localhop(&mut self) -> Result<(), StartError> {
        if self.config.localhop || self.known_keys.are_for("rib") {
            return self.register_management(LOCALHOP);
        }
        let prefix = self.names.intern_uri(LOCALHOP).map_err(|why| StartError::new("management", why))?;
        let (rib, tables) = routes!(self);
        rib.unregister(prefix, MANAGEMENT, ORIGIN_STATIC, tables);
        Ok(())
    }

    fn open_listeners(&mut self) -> Result<(), StartError> {
        let (udp, tcp, unix) = (self.config.udp.clone(), self.config.tcp.clone(), self.config.unix.clone());
        let websocket = self.config.websocket.clone();
        for listener in udp {
            let at = format!("udp {}", listener.address);
            if let Some(socket) = keep(&listener, &at, UdpListener::bind(listener.address))? {
                self.watch_listener(&socket, Watched::UdpListener(self.listeners.udp.len()), &at)?;
                self.listeners.udp.push(socket);
            }
        }
        for listener in tcp {
            let at = format!("tcp {}", listener.address);
            let socket = keep(&listener, &at, StreamListener::tcp(listener.address))?;
            self.keep_stream_listener(socket, &at)?;
        }
        for listener in websocket {
            let at = format!("websocket {}", listener.address);
            let socket = keep(&listener, &at, StreamListener::websocket(listener.address))?;
            self.keep_stream_listener(socket, &at)?;
        }
        for listener in unix {
            let at = format!("unix {}", listener.address.display());
            let socket =
                keep(&listener, &at, StreamListener::unix(&listener.address, self.config.unix_mode))?;
            self.keep_stream_listener(socket, &at)?;
        }
        Ok(())
    }

    fn open_metrics(&mut self) -> Result<(), StartError> {
        let Some(address) = self.config.metrics else { return Ok(()) };
        let at = format!("metrics {address}");
        let fault = |why| StartError::new(&at, why);
        let server = MetricsServer::bind(address).map_err(fault)?;
        self.poll
            .register(server.listener(), Watched::MetricsListener.token(), Watch::Read)
            .map_err(fault)?;
        self.metrics = Some(server);
        Ok(())
    }

    fn keep_stream_listener(&mut self, socket: Option<StreamListener>, at: &str) -> Result<(), StartError> {
        let Some(socket) = socket else { return Ok(()) };
        self.watch_listener(&socket, Watched::StreamListener(self.listeners.streams.len()), at)?;
        self.listeners.streams.push(socket);
        Ok(())
    }

    fn watch_listener(
        &self,
        socket: &impl std::os::fd::AsFd,
        watched: Watched,
        at: &str,
    ) -> Result<(), StartError> {
        if self.listeners.udp.len().max(self.listeners.streams.len()) >= MAX_LISTENERS {
            return Err(StartError::new(at, format!("more than {MAX_LISTENERS} listeners of one kind")));
        }
        self.poll.register(socket, watched.token(), Watch::Read).map_err(|why| StartError::new(at, why))
    }

    /// Listening addresses of the forwarder as URIs: `udp4://...`, `tcp4://...`, `ws://...`, `unix://...`.
    pub fn listening(&self) -> Vec<String> {
        let udp = self.listeners.udp.iter().map(|at| crate::uri::FaceUri::Udp(at.local()).to_string());
        udp.chain(self.listeners.streams.iter().map(|at| at.uri().to_string())).collect()
    }

    /// URL of the metrics; `None` if none are served.
    pub fn metrics_url(&self) -> Option<String> {
        let address = self.metrics.as_ref()?.local().ok()?;
        Some(format!("http://{address}/metrics"))
    }

    /// Registers the configured routes through the face of `place`.
    pub(super) fn add_configured_routes(&mut self, place: usize) {
        let Some(face) = self.configured[place].face else { return };
        for route in self.config.routes.iter().filter(|route| route.face == place) {
            // The prefix was checked with the configuration.
            let Ok(prefix) = self.names.intern_uri(&route.prefix) else { continue };
            let route = Route {
                prefix,
                face,
                origin: ORIGIN_STATIC,
                cost: route.cost,
                flags: FLAG_CHILD_INHERIT,
                expires: None,
                owner: None,
            };
            let (rib, tables) = routes!(self);
            // The configuration has fewer routes than the table, unless commands have filled it.
            let _ = rib.register(route, tables);
        }
    }
}

/// The socket; `None` if it is not available and the configuration does not require it.
fn keep<A, T>(listener: &Listener<A>, at: &str, socket: std::io::Result<T>) -> Result<Option<T>, StartError> {
    match socket {
        Ok(socket) => Ok(Some(socket)),
        Err(why) if listener.is_required => Err(StartError::new(at, why)),
        Err(_) => Ok(None),
    }
}

fn make_strategy(part: &SchemeUse) -> Result<Box<dyn Strategy>, StartError> {
    let Some(make) = part.scheme.strategy else {
        return Err(StartError::new(part.scheme.name, "this scheme is not a strategy"));
    };
    make(&part.settings).map_err(|why| StartError::of_part(part, &why))
}

/// Rate of a face without a shaper: high enough to never delay a packet.
pub(super) const UNLIMITED: BitRate = BitRate::from_bps(u64::MAX);
