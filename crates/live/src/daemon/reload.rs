//! A changed configuration, applied while the forwarder runs. Faces that are in both configurations stay as they are.

use std::collections::BTreeMap;

use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::packet::Millis;
use tidegate_settings::uses::SchemeUse;

use super::config::{FaceConfig, ForwarderConfig};
use super::face::Origin;
use super::faces::Configured;
use super::management::{Authority, KnownKeys};
use super::start::StartError;
use super::workers::{Order, part_of};
use super::{Daemon, routes};
use crate::nfd::ORIGIN_STATIC;
use crate::uri::FaceUri;

/// Addresses of peers whose host names were looked up.
#[derive(Clone, Debug, Default)]
pub struct PeerAddresses(BTreeMap<String, FaceUri>);

impl PeerAddresses {
    /// Looks up the host names in face URIs, which may take many seconds.
    ///
    /// # Errors
    /// The first name that is not found.
    pub fn look_up(uris: Vec<String>) -> Result<Self, StartError> {
        let looked_up = uris.into_iter().map(|uri| match FaceUri::resolve(&uri) {
            Ok(address) => Ok((uri, address)),
            Err(why) => Err(StartError::new(uri, why)),
        });
        looked_up.collect::<Result<_, _>>().map(Self)
    }
}

impl Daemon {
    /// URIs of the faces in `config` whose host names have to be looked up before [`reload`](Self::reload), for instance in
    /// another thread. Those in the present configuration keep their addresses.
    pub fn unknown_hosts(&self, config: &ForwarderConfig) -> Vec<String> {
        let known = self.known_addresses();
        let uris = config.faces.iter().map(|face| &face.uri);
        uris.filter(|uri| !known.0.contains_key(*uri) && FaceUri::literal(uri).is_err()).cloned().collect()
    }

    /// Addresses of the faces in the present configuration.
    fn known_addresses(&self) -> PeerAddresses {
        let faces = self.config.faces.iter().zip(&self.configured);
        PeerAddresses(faces.map(|(planned, known)| (planned.uri.clone(), known.uri.clone())).collect())
    }

    /// Applies `config` in place of the present configuration; returns one sentence for each part of it that takes
    /// effect with the next start only. Host names that are neither in the present configuration nor in `addresses` are looked up, and
    /// nothing is forwarded meanwhile.
    ///
    /// New defaults of faces hold for faces that are made from now on. Routes that commands have registered stay.
    ///
    /// # Errors
    /// When a host name is not resolved or a strategy cannot be made; the present configuration then stays as it is. Also
    /// when a new face is refused by the system; everything else is applied then.
    pub fn reload(
        &mut self,
        config: ForwarderConfig,
        addresses: &PeerAddresses,
    ) -> Result<Vec<String>, StartError> {
        self.read_clock();
        let threads = (self.config.threads, config.threads);
        // The number of threads stays until the next start.
        let whole = ForwarderConfig { threads: threads.0, ..config };
        let config = part_of(&whole, 0);
        let known = self.known_addresses();
        let resolve = |uri: &String| match known.0.get(uri).or_else(|| addresses.0.get(uri)) {
            Some(address) => Ok(address.clone()),
            None => FaceUri::resolve(uri).map_err(|why| StartError::new(uri, why)),
        };
        let uris: Vec<FaceUri> =
            config.faces.iter().map(|face| resolve(&face.uri)).collect::<Result<_, _>>()?;
        let authority = Authority::of(&config)?;
        let known_keys = KnownKeys::read(&config, 0)?.after(&self.known_keys);
        self.apply_strategies(&config)?;
        (self.authority, self.known_keys) = (authority, known_keys);
        let mut notes = left_for_a_start(&self.config, &config);
        if threads.0 != threads.1 {
            notes.push(note("forwarder.threads"));
        }
        if let Some(workers) = &mut self.workers {
            workers.order_all(|worker| Order::Reload(Box::new(part_of(&whole, worker))));
        }
        self.remove_configured_routes();
        let faces = std::mem::take(&mut self.configured);
        let before = std::mem::replace(&mut self.config, config);
        self.apply_limits(&before);
        self.apply_localhop()?;
        self.keep_faces(faces, &before, uris);
        (0..self.configured.len()).for_each(|place| self.add_configured_routes(place));
        let missing = (0..self.configured.len()).filter(|place| self.configured[*place].face.is_none());
        let missing: Vec<usize> = missing.collect();
        missing.into_iter().try_for_each(|place| self.connect_configured(place))?;
        self.schedule_forwarder_timer();
        Ok(notes)
    }

    /// Applies what changes in the tables of one of several threads.
    pub(super) fn reload_worker(&mut self, config: ForwarderConfig) {
        if let Err(why) = self.apply_strategies(&config) {
            // The first one has made the same strategies.
            tracing::error!("the configuration cannot be applied in all threads: {why}");
        }
        let before = std::mem::replace(&mut self.config, config);
        self.apply_limits(&before);
    }

    fn apply_strategies(&mut self, config: &ForwarderConfig) -> Result<(), StartError> {
        let mut made = Vec::new();
        // What is as before may have been changed by a command, which stays.
        let is_new = |use_of: &(&str, &SchemeUse)| !with_root(&self.config).any(|known| known == *use_of);
        let changed: Vec<(&str, &SchemeUse)> = with_root(config).filter(is_new).collect();
        for (prefix, part) in changed {
            let prefix = self.names.intern_uri(prefix).map_err(|why| StartError::new("strategy", why))?;
            let strategy = self.strategies.instance_of(part, self.node.forwarder_mut());
            made.push((prefix, strategy.map_err(|why| StartError::new(part.scheme.name, why))?));
        }
        for (prefix, _) in &self.config.prefix_strategies {
            let is_gone = !config.prefix_strategies.iter().any(|(kept, _)| kept == prefix);
            if let Ok(prefix) = self.names.intern_uri(prefix)
                && is_gone
                && prefix != NameTable::ROOT
            {
                self.node.forwarder_mut().fib_mut().unset_strategy(prefix);
            }
        }
        for (prefix, strategy) in made {
            self.node.forwarder_mut().fib_mut().set_strategy(prefix, strategy);
        }
        Ok(())
    }

    /// Applies changed limits; the capacity of the content store may have been set by a command.
    fn apply_limits(&mut self, before: &ForwarderConfig) {
        let ForwarderConfig { cache, cache_size, pit_limit, lifetime, .. } = self.config;
        self.lifetime = Millis::from_span(lifetime);
        let forwarder = self.node.forwarder_mut();
        // Unchanged, it may be lower at present because of the bound on memory.
        if pit_limit != before.pit_limit {
            forwarder.set_pit_limit(pit_limit.get() as usize);
        }
        if cache != before.cache {
            forwarder.cs_mut().set_capacity(cache);
        }
        forwarder.cs_mut().set_max_size(cache_size);
    }

    /// Removes the routes of the configuration, those of commands excepted.
    fn remove_configured_routes(&mut self) {
        for place in 0..self.config.routes.len() {
            let route = &self.config.routes[place];
            let Some(face) = self.configured.get(route.face).and_then(|known| known.face) else { continue };
            let Ok(prefix) = self.names.intern_uri(&route.prefix) else { continue };
            let (rib, tables) = routes!(self);
            rib.unregister(prefix, face, ORIGIN_STATIC, tables);
        }
    }

    /// Gives the faces of the earlier configuration their places in the present one, and closes the others.
    fn keep_faces(&mut self, mut faces: Vec<Configured>, before: &ForwarderConfig, uris: Vec<FaceUri>) {
        let mut settings: Vec<&FaceConfig> = before.faces.iter().map(|face| &face.config).collect();
        for (place, uri) in uris.into_iter().enumerate() {
            let planned = &self.config.faces[place];
            let is_same = |(known, settings): (&Configured, &&FaceConfig)| {
                known.uri == uri && known.interface == planned.interface && **settings == planned.config
            };
            let kept = faces.iter().zip(&settings).position(is_same);
            let known = kept.map(|at| {
                settings.remove(at);
                faces.remove(at)
            });
            if let Some(face) = known.as_ref().and_then(|known| known.face)
                && let Some(face) = &mut self.faces[face.index()]
            {
                face.origin = Origin::Configured(place);
            }
            self.configured.push(known.unwrap_or(Configured {
                uri,
                interface: planned.interface.clone(),
                face: None,
                is_destroyed: false,
                is_awaited: false,
            }));
        }
        for face in faces.into_iter().filter_map(|known| known.face) {
            // Its place is another face's now.
            if let Some(face) = &mut self.faces[face.index()] {
                face.origin = Origin::Created;
            }
            self.close(face);
        }
    }
}

/// Strategies by prefix, that of `/` included.
fn with_root(config: &ForwarderConfig) -> impl Iterator<Item = (&str, &SchemeUse)> {
    let of_prefixes = config.prefix_strategies.iter().map(|(prefix, part)| (prefix.as_str(), part));
    std::iter::once(("/", &config.strategy)).chain(of_prefixes)
}

/// Changed keys that are read at the start only.
fn left_for_a_start(before: &ForwarderConfig, after: &ForwarderConfig) -> Vec<String> {
    [
        ("listen.udp", before.udp != after.udp),
        ("listen.tcp", before.tcp != after.tcp),
        ("listen.websocket", before.websocket != after.websocket),
        ("listen.unix", before.unix != after.unix || before.unix_mode != after.unix_mode),
        ("forwarder.metrics", before.metrics != after.metrics),
        ("forwarder.unsolicited", before.cache_unsolicited != after.cache_unsolicited),
    ]
    .into_iter()
    .filter(|(_, is_changed)| *is_changed)
    .map(|(key, _)| note(key))
    .collect()
}

fn note(key: &str) -> String {
    format!("{key}: the change takes effect with the next start")
}
