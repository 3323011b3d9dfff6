//! From the document to the settings, section by section.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tidegate_core::ndn::face::Limit;
use tidegate_core::units::{BitRate, ByteCount, Packets};
use tidegate_settings::document::{Item, Table, TomlValue};
use tidegate_settings::error::Place;
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::{DISCIPLINE, Keys, ROUTER_PART, STRATEGY};
use tidegate_settings::prefix::canonical_prefix;
use tidegate_settings::queue::{QueuePlan, QueueValues};
use tidegate_settings::read_context::{ReadContext, show};
use tidegate_settings::uses::{self, SchemeUse};
use tidegate_settings::values::{read_name, read_text};

use super::{CommandKey, FaceConfig, ForwarderConfig, StaticFace, StaticRoute, keys, listeners};
use crate::name_uri;
use crate::uri::FaceUri;

/// Minimum MTU, bytes: link headers must leave room for content.
const MIN_MTU: u64 = 256;
/// Minimum memory for tables, bytes: a few hundred of the longest names.
const MIN_MEMORY: u64 = 1 << 20;
/// Default limit of a queue.
const QUEUE_LIMIT: Limit = Limit::Packets(Packets::new(1_000));
/// Modules of NFD's management protocol that have commands.
const MODULES: [&str; 5] = ["faces", "fib", "rib", "cs", "strategy-choice"];
/// Maximum length of the name of a network interface, bytes: `IFNAMSIZ` without the zero.
const LONGEST_INTERFACE: usize = 15;
/// Maximum number of groups, and of keys.
const MAX_GROUPS: usize = 64;
/// Maximum number of routes, and of strategies.
const MAX_ENTRIES: usize = 100_000;

/// Reads as much as possible, so that all errors are reported at once; `None` only after an error was noted.
pub(super) fn read(context: &ReadContext<'_>, document: &Table) -> Option<ForwarderConfig> {
    let root = Fields::root(context, document);
    let section = |key, keys: &'static Keys| {
        root.table(key, keys).unwrap_or_else(|| Fields::empty(context, root.place, keys))
    };
    let forwarder = section("forwarder", &keys::FORWARDER);
    let management = section("management", &keys::MANAGEMENT);
    let listen = section("listen", &keys::LISTEN);
    let defaults = section("face_defaults", &keys::FACE_DEFAULTS);
    // No `?` before the end: the errors of later sections would not be reported.
    let threads = forwarder.count("threads").and_then(|count| usize::try_from(count).ok());
    let cache = forwarder.packets("cache");
    let cache_size = forwarder.size("cache_size");
    let max_memory = read_max_memory(&forwarder);
    let cache_unsolicited = forwarder.flag("unsolicited");
    let pit_limit = read_pit_limit(&forwarder);
    let metrics = listeners::read_metrics(&forwarder);
    let strategy = read_use(context, &forwarder, "strategy", "best-route");
    let lifetime = forwarder.time("lifetime");
    let max_faces = forwarder.count("max_faces").and_then(|count| u16::try_from(count).ok());
    let per_address = forwarder.count("faces_per_address").and_then(|count| u16::try_from(count).ok());
    let has_threads = threads.is_some_and(|threads| threads > 1);
    let face_values =
        FaceValues::standard(context, root.place).with(FaceValues::read(&defaults, has_threads));
    let idle = defaults.time("idle");
    let mut faces = Faces::read(&root, &face_values, (max_faces.unwrap_or(u16::MAX), has_threads));
    let routes = read_routes(&root, &mut faces);
    let prefix_strategies = read_strategies(&root);
    let local_tcp = listen.flag("local_tcp");
    let regions = read_texts(&forwarder, "regions", name_uri::parse);
    let groups = read_texts(&management, "groups", |group| Ok(group.to_owned()));
    if groups.is_empty() && management.item("group_commands").is_some() {
        management
            .refuse("group_commands", "group_commands: there are no groups that could send them; add groups");
    }
    let group_commands = read_modules(&management, "group_commands", &["rib"]);
    let command_keys = read_command_keys(&management);
    let certificates = management.text("certificates").map(PathBuf::from);
    let trust_schema = management.text("trust_schema").map(PathBuf::from);
    let localhop = management.flag("localhop");
    let udp = listeners::read_addresses(&listen, "udp", &listeners::ADDRESSES);
    let tcp = listeners::read_addresses(&listen, "tcp", &listeners::ADDRESSES);
    let websocket = listeners::read_addresses(&listen, "websocket", &[]);
    let unix = listeners::read_paths(&listen, "unix");
    let unix_mode = listeners::read_mode(&listen, "unix_mode");
    Some(ForwarderConfig {
        threads: threads?,
        cache: cache?,
        cache_size: cache_size?,
        max_memory: max_memory?,
        cache_unsolicited: cache_unsolicited?,
        pit_limit: pit_limit?,
        lifetime: lifetime?,
        max_faces: max_faces?,
        faces_per_address: per_address?,
        metrics,
        strategy: strategy?,
        strategies: Vec::new(),
        marking: None,
        regions,
        reliability: None,
        groups,
        group_commands: group_commands?,
        command_keys,
        certificates,
        trust_schema,
        localhop: localhop?,
        prefix_strategies,
        udp,
        tcp,
        websocket,
        local_tcp: local_tcp?,
        unix,
        unix_mode: unix_mode?,
        face_defaults: face_values.config(),
        idle: idle?,
        faces: faces.list,
        routes,
        renamed: Vec::new(),
    })
}

/// The texts of a list, each as `read` understands it.
fn read_texts<T>(table: &Fields<'_>, key: &str, read: fn(&str) -> Result<T, String>) -> Vec<T> {
    let items = table.list(key);
    if items.len() > MAX_GROUPS {
        table.refuse(key, format!("{key}: {} {key}; at most {MAX_GROUPS}", items.len()));
        return Vec::new();
    }
    let mut texts = Vec::new();
    for item in items {
        match read_text(item).and_then(read) {
            Ok(text) => texts.push(text),
            Err(why) => table.context.refuse(item.place, format!("{key}: {why}")),
        }
    }
    texts
}

fn read_command_keys(management: &Fields<'_>) -> Vec<CommandKey> {
    let tables = management.tables("key", &keys::COMMAND_KEY);
    if tables.len() > MAX_GROUPS {
        management.refuse("key", format!("key: {} keys; at most {MAX_GROUPS}", tables.len()));
        return Vec::new();
    }
    let mut keys = Vec::new();
    for table in tables {
        let modules = read_modules(&table, "commands", &MODULES);
        if let (Some(certificate), Some(modules)) = (table.text("certificate"), modules) {
            let includes_certified = table.flag("certified").unwrap_or(false);
            if includes_certified && management.item("certificates").is_none() {
                table.refuse("certified", "certified: [management] has no folder \"certificates\"");
            }
            keys.push(CommandKey { certificate: certificate.into(), modules, includes_certified });
        }
    }
    keys
}

/// Modules of commands in the list `key`; those of `standard` if there is none.
fn read_modules(table: &Fields<'_>, key: &str, standard: &[&str]) -> Option<Vec<String>> {
    if table.item(key).is_none() {
        return Some(standard.iter().map(|&module| module.to_owned()).collect());
    }
    let mut modules = Vec::new();
    for item in table.list(key) {
        let word = read_text(item).ok().filter(|word| MODULES.contains(word));
        let Some(word) = word else {
            let known = MODULES.join(", ");
            table.context.refuse(item.place, format!("{key}: the modules are {known}"));
            return None;
        };
        modules.push(word.to_owned());
    }
    Some(modules)
}

fn read_max_memory(forwarder: &Fields<'_>) -> Option<ByteCount> {
    let max = forwarder.size("max_memory")?;
    if max.get() < MIN_MEMORY {
        let shown = forwarder.shown("max_memory");
        forwarder.refuse("max_memory", format!("max_memory: {shown} is less than 1 MiB"));
    }
    Some(max)
}

fn read_pit_limit(forwarder: &Fields<'_>) -> Option<Packets> {
    let limit = forwarder.packets("pit")?;
    if limit.get() == 0 {
        forwarder.refuse("pit", "pit: 0pkt allows no pending Interest; at least 1pkt is needed");
    }
    Some(limit)
}

/// The scheme under `key`, or the one called `default`.
fn read_use(context: &ReadContext<'_>, fields: &Fields<'_>, key: &str, default: &str) -> Option<SchemeUse> {
    let default = Item { place: fields.place, value: TomlValue::Text(default.to_owned()) };
    uses::read(context, fields.item(key).unwrap_or(&default), &STRATEGY)
}

/// Values of a face, as far as they are given.
#[derive(Clone, Default)]
struct FaceValues {
    mtu: Option<ByteCount>,
    path_mtu: Option<bool>,
    queue: QueueValues,
    rate: Option<BitRate>,
    reliability: Option<bool>,
    parts: Option<Vec<SchemeUse>>,
}

impl FaceValues {
    /// Default configuration of a face.
    fn standard(context: &ReadContext<'_>, place: Place) -> Self {
        let marking = Item { place, value: TomlValue::Text("nfd-marking".to_owned()) };
        let disciplines = uses::read(context, &marking, &DISCIPLINE).into_iter().collect();
        Self { queue: QueueValues { limit: None, disciplines: Some(disciplines) }, ..Self::default() }
    }

    fn read(fields: &Fields<'_>, has_threads: bool) -> Self {
        let has_parts = match fields.item("router_parts").map(|parts| &parts.value) {
            None => false,
            Some(TomlValue::List(parts)) => !parts.is_empty(),
            Some(_) => true,
        };
        if has_threads && has_parts {
            let text =
                "router_parts: the parts of a face see one thread alone; set threads = 1 in [forwarder]";
            fields.refuse("router_parts", text.to_owned());
        }
        let mtu = fields.size("mtu");
        if mtu.is_some_and(|mtu| mtu.get() < MIN_MTU) {
            fields.refuse("mtu", format!("mtu: {} is less than {MIN_MTU} bytes", fields.shown("mtu")));
        }
        Self {
            mtu,
            path_mtu: fields.item("path_mtu").and_then(|_| fields.flag("path_mtu")),
            queue: QueueValues::read(fields, "queue", &keys::QUEUE),
            rate: fields.rate("rate"),
            reliability: fields.item("reliability").and_then(|_| fields.flag("reliability")),
            parts: fields.item("router_parts").map(|_| uses::read_list(fields, "router_parts", &ROUTER_PART)),
        }
    }

    /// These values, `over` where it gives some.
    fn with(&self, over: Self) -> Self {
        Self {
            mtu: over.mtu.or(self.mtu),
            path_mtu: over.path_mtu.or(self.path_mtu),
            queue: self.queue.with(&over.queue),
            rate: over.rate.or(self.rate),
            reliability: over.reliability.or(self.reliability),
            parts: over.parts.or_else(|| self.parts.clone()),
        }
    }

    /// Estimate of the memory that one such face takes in the configuration, bytes.
    fn bytes(&self) -> u64 {
        500 + self.queue.bytes() + self.parts.as_deref().map_or(0, uses::bytes)
    }

    fn config(&self) -> FaceConfig {
        FaceConfig {
            mtu: self.mtu,
            path_mtu: self.path_mtu.unwrap_or(true),
            queue: QueuePlan { limit: self.queue.limit.unwrap_or(QUEUE_LIMIT), ..self.queue.plan() },
            is_limit_given: self.queue.limit.is_some(),
            rate: self.rate,
            reliability: self.reliability.unwrap_or(false),
            parts: self.parts.clone().unwrap_or_default(),
        }
    }
}

/// Static faces and how routes may call them.
struct Faces<'a> {
    list: Vec<StaticFace>,
    /// Index of the faces by name and by URI.
    index: BTreeMap<String, usize>,
    max: usize,
    /// Whether the forwarder has several threads.
    has_threads: bool,
    defaults: &'a FaceValues,
    /// Whether a face was rejected, so that an unknown name in a route may only be a consequence.
    is_partial: bool,
}

impl<'a> Faces<'a> {
    fn read(root: &Fields<'_>, defaults: &'a FaceValues, (max, has_threads): (u16, bool)) -> Self {
        let (list, index, max) = (Vec::new(), BTreeMap::new(), usize::from(max));
        let mut faces = Self { list, index, max, has_threads, defaults, is_partial: false };
        for face in root.tables("face", &keys::FACE) {
            if root.context.is_full() {
                break;
            }
            faces.is_partial |= faces.add_table(&face).is_none();
        }
        faces
    }

    fn add_table(&mut self, face: &Fields<'_>) -> Option<usize> {
        let values = self.defaults.with(FaceValues::read(face, self.has_threads));
        let name = face.item("name").map(|item| read_name(face.context, item));
        let uri = face.text("uri").filter(|uri| match FaceUri::check(uri) {
            Ok(()) => true,
            Err(why) => {
                face.refuse("uri", why.to_string());
                false
            }
        })?;
        let interface = read_interface(face, &uri)?;
        // A group may have a face on each interface.
        let place = interface.as_ref().map_or_else(|| uri.clone(), |name| format!("{uri} on {name}"));
        // A malformed name has been reported; it is not replaced by the URI.
        let name = name.unwrap_or_else(|| Some(place.clone()))?;
        if self.index.contains_key(&place) {
            return face.refused("uri", format!("two faces have the URI {}", show(&place)));
        }
        if self.index.contains_key(&name) {
            return face.refused("name", format!("two faces have the name {}", show(&name)));
        }
        let made = StaticFace { name, uri, interface, config: values.config() };
        self.add(face.context, face.place, (made, place), values.bytes())
    }

    fn add(
        &mut self,
        context: &ReadContext<'_>,
        place: Place,
        (face, called): (StaticFace, String),
        bytes: u64,
    ) -> Option<usize> {
        let index = self.list.len();
        if index >= self.max {
            return context.refused(place, format!("more faces than max_faces = {}", self.max));
        }
        if !context.claim(place, bytes + 4 * face.uri.len() as u64, 1) {
            return None;
        }
        self.index.insert(face.name.clone(), index);
        self.index.insert(called, index);
        self.list.push(face);
        Some(index)
    }

    /// The face that a route calls `word`; a URI is made into one.
    fn find(&mut self, context: &ReadContext<'_>, place: Place, word: &str) -> Option<usize> {
        if let Some(index) = self.index.get(word) {
            return Some(*index);
        }
        if !word.contains("://") {
            if !self.is_partial {
                // Otherwise the route may name a face whose own error has been reported.
                context.refuse_word(place, "face", word, self.list.iter().map(|face| face.name.as_str()));
            }
            return None;
        }
        if let Err(why) = FaceUri::check(word) {
            return context.refused(place, why.to_string());
        }
        let defaults = self.defaults;
        let uri = word.to_owned();
        if FaceUri::literal(word).is_ok_and(|uri| uri.needs_interface()) {
            return context.refused(place, format!("{} needs a [[face]] with its interface", show(word)));
        }
        let face =
            StaticFace { name: uri.clone(), uri: uri.clone(), interface: None, config: defaults.config() };
        self.add(context, place, (face, uri), defaults.bytes())
    }
}

/// The interface of a face to `uri`; the inner `None` if it needs none.
fn read_interface(face: &Fields<'_>, uri: &str) -> Option<Option<String>> {
    let interface = face.text("interface");
    let is_needed = FaceUri::literal(uri).is_ok_and(|uri| uri.needs_interface());
    match interface {
        None if is_needed => {
            face.refused("uri", format!("{} needs an interface, such as interface = \"eth0\"", show(uri)))
        }
        Some(_) if !is_needed => {
            face.refused("interface", "only multicast and Ethernet faces belong to an interface".to_owned())
        }
        Some(name) if name.is_empty() || name.len() > LONGEST_INTERFACE || name.contains(['/', '\0']) => {
            face.refused("interface", format!("{} is not the name of an interface", show(&name)))
        }
        interface => Some(interface),
    }
}

fn read_prefix(table: &Fields<'_>) -> Option<String> {
    canonical_prefix(&table.text("prefix")?).map_err(|why| table.refuse("prefix", why)).ok()
}

/// The tables of a list of the root, unless there are too many.
fn entries<'a>(root: &Fields<'a>, key: &str, keys: &'static Keys) -> Vec<Fields<'a>> {
    let count = root.list(key).len();
    if count > MAX_ENTRIES {
        root.refuse(key, format!("{count} of [[{key}]]; at most {MAX_ENTRIES}"));
        return Vec::new();
    }
    root.tables(key, keys)
}

fn read_routes(root: &Fields<'_>, faces: &mut Faces<'_>) -> Vec<StaticRoute> {
    let mut seen = BTreeSet::new();
    let mut routes = Vec::new();
    for route in entries(root, "route", &keys::ROUTE) {
        let (prefix, cost) = (read_prefix(&route), route.count_u32("cost"));
        let face =
            route.text("face").and_then(|word| faces.find(root.context, route.place_of("face"), &word));
        let (Some(prefix), Some(cost), Some(face)) = (prefix, cost, face) else { continue };
        if seen.insert((prefix.clone(), face)) {
            routes.push(StaticRoute { prefix, face, cost });
        } else {
            route.refuse("face", format!("a route of {} to this face is already given", show(&prefix)));
        }
    }
    routes
}

fn read_strategies(root: &Fields<'_>) -> Vec<(String, SchemeUse)> {
    let mut seen = BTreeSet::new();
    let mut strategies = Vec::new();
    for table in entries(root, "strategy", &keys::PREFIX_STRATEGY) {
        let strategy = table.item("strategy").and_then(|item| uses::read(root.context, item, &STRATEGY));
        let (Some(prefix), Some(strategy)) = (read_prefix(&table), strategy) else { continue };
        if seen.insert(prefix.clone()) {
            strategies.push((prefix, strategy));
        } else {
            table.refuse("prefix", format!("prefix {} already has a strategy", show(&prefix)));
        }
    }
    strategies
}
