//! The forwarder's configuration file: from TOML text to checked settings, or to all errors in it.
//!
//! What the keys do not say:
//!
//! - A face takes each value from its own table, else from `[face_defaults]`, else from the defaults of this
//!   program; of a queue, limit and disciplines each for themselves.
//! - A route may name a face or write a URI; a URI without a `[[face]]` of its own gets a face with the defaults.
//! - Prefixes are compared, and kept, in their canonical spelling.
//!
//! Nothing is looked up, opened or bound here.

mod keys;
mod listeners;
mod read;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tidegate_core::scheme::Scheme;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span};
use tidegate_settings::error::{Errors, Sources};
use tidegate_settings::queue::QueuePlan;
use tidegate_settings::reader::{DocumentReader, check_version, decode};
use tidegate_settings::uses::SchemeUse;
use tidegate_settings::{reference, schema};

use crate::link_service::MtuPlan;

/// Maximum size of the file, bytes.
const TEXT_BYTES: usize = 1 << 20;
/// Maximum memory for a configuration, bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Complete configuration of a forwarder.
#[derive(Clone, Debug)]
pub struct ForwarderConfig {
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Content store capacity; 0 for none.
    pub cache: Packets,
    /// Maximum size of all Data in the content store.
    pub cache_size: ByteCount,
    /// Maximum memory of names, tokens and pending Interests.
    pub max_memory: ByteCount,
    /// Whether unsolicited Data is cached.
    pub cache_unsolicited: bool,
    /// Maximum number of pending Interests.
    pub pit_limit: Packets,
    /// Maximum time that an Interest stays pending, whatever its own lifetime: a peer that leaves only
    /// long-lived Interests behind must not fill the PIT for long.
    pub lifetime: Span,
    /// Maximum number of faces, including on-demand faces.
    pub max_faces: u16,
    /// Maximum number of faces of peers at one address.
    pub faces_per_address: u16,
    /// Loopback address at which metrics are served; `None` for nowhere.
    pub metrics: Option<SocketAddr>,
    /// Forwarding strategy of every prefix that has none configured.
    pub strategy: SchemeUse,
    /// Schemes that can be set as strategies while the forwarder runs.
    pub strategies: Vec<&'static Scheme>,
    /// NFD's congestion marking, which commands can give a new face; `None` if it is not among the schemes.
    pub marking: Option<&'static Scheme>,
    /// NDNLPv2 reliability, which a face may have; `None` if it is not among the schemes.
    pub reliability: Option<&'static Scheme>,
    /// Forwarding strategies of name prefixes.
    pub prefix_strategies: Vec<(String, SchemeUse)>,
    /// Names of the producer regions that this forwarder belongs to, each as its concatenated components.
    pub regions: Vec<Vec<u8>>,
    /// Groups whose members may send commands, by name or number.
    pub groups: Vec<String>,
    /// Modules of NFD's management protocol whose commands members of `groups` may send.
    pub group_commands: Vec<String>,
    /// Keys whose commands are accepted from any application, and from neighbours.
    pub command_keys: Vec<CommandKey>,
    /// Folder with certificates of keys that are accepted because of others.
    pub certificates: Option<PathBuf>,
    /// File of the trust schema by which keys register prefixes.
    pub trust_schema: Option<PathBuf>,
    /// Whether neighbours may register routes to themselves.
    pub localhop: bool,
    /// Addresses of UDP listeners.
    pub udp: Vec<Listener<SocketAddr>>,
    /// Addresses on which TCP connections are accepted.
    pub tcp: Vec<Listener<SocketAddr>>,
    /// Addresses on which WebSocket connections are accepted.
    pub websocket: Vec<Listener<SocketAddr>>,
    /// Whether TCP connections from loopback addresses may use `/localhost`.
    pub local_tcp: bool,
    /// Paths at which Unix stream connections are accepted; absolute paths.
    pub unix: Vec<Listener<PathBuf>>,
    /// File permissions of the Unix sockets.
    pub unix_mode: u32,
    /// Configuration of every face that is not in `faces`.
    pub face_defaults: FaceConfig,
    /// Time without traffic after which an on-demand UDP face is closed.
    pub idle: Span,
    /// Faces that are made at the start.
    pub faces: Vec<StaticFace>,
    /// Routes that are made at the start.
    pub routes: Vec<StaticRoute>,
    /// Names of earlier versions in the file, one sentence each with its place.
    pub renamed: Vec<String>,
}

/// A key whose commands are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandKey {
    /// File with its certificate in base64.
    pub certificate: PathBuf,
    /// Modules of NFD's management protocol whose commands it may send.
    pub modules: Vec<String>,
    /// Whether keys that it has certified may send them, too.
    pub includes_certified: bool,
}

/// A place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener<A> {
    /// Address or path of the listener.
    pub address: A,
    /// Whether the file names it; default listeners may be unavailable, such as IPv6 on a system without it.
    pub is_required: bool,
}

/// Configuration of one face.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceConfig {
    /// Maximum UDP payload; `None` for the default. Streams have no limit of their own.
    pub mtu: Option<ByteCount>,
    /// Whether larger UDP payloads than the default are used where probes were confirmed.
    pub path_mtu: bool,
    /// Our queue in front of the socket.
    pub queue: QueuePlan,
    /// Whether the queue's limit is configured, not a default.
    pub is_limit_given: bool,
    /// Rate of the shaper; `None` for as fast as the socket accepts.
    pub rate: Option<BitRate>,
    /// Whether lost frames over UDP are sent again (NDNLPv2 reliability).
    pub reliability: bool,
    /// Router parts of schemes (PLR and the like).
    pub parts: Vec<SchemeUse>,
}

impl FaceConfig {
    /// How the maximum size of frames is chosen.
    pub fn mtu_plan(&self) -> MtuPlan {
        match self.mtu {
            Some(mtu) => MtuPlan::Configured(usize::try_from(mtu.get()).unwrap_or(usize::MAX)),
            None if self.path_mtu => MtuPlan::Probed,
            None => MtuPlan::Default,
        }
    }
}

/// A face made at the start.
#[derive(Clone, Debug)]
pub struct StaticFace {
    /// Name within the file; the URI unless given.
    pub name: String,
    /// Face URI of the peer. Its form is checked; a host name is not resolved yet.
    pub uri: String,
    /// Network interface of a multicast or Ethernet face; `None` for other faces.
    pub interface: Option<String>,
    /// Link, queue and scheme configuration.
    pub config: FaceConfig,
}

/// A route made at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticRoute {
    /// Prefix in its canonical spelling.
    pub prefix: String,
    /// Next hop, an index into the static faces.
    pub face: usize,
    /// Cost; the strategy prefers the lowest.
    pub cost: u32,
}

impl ForwarderConfig {
    /// Reads and checks the file `name` with the content `bytes`; `schemes` can be named in it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(name: &str, bytes: &[u8], schemes: &[&'static Scheme]) -> Result<Self, Errors> {
        let reader = DocumentReader {
            source_name: name,
            format: &keys::FORMAT,
            schemes,
            files: None,
            text_bytes: TEXT_BYTES,
            max_bytes: MAX_BYTES,
        };
        reader.read(decode(name, bytes)?, &[], |context, document, text| {
            check_version(context, &document)?;
            let config = read::read(context, &document)?;
            let renamed = context.notes(&Sources { name, text, overrides: &[] });
            let strategies = schemes.iter().copied().filter(|scheme| scheme.strategy.is_some()).collect();
            let find = |name| schemes.iter().copied().find(|scheme| scheme.name == name);
            let (marking, reliability) = (find("nfd-marking"), find("belrp"));
            Some(Self { renamed, strategies, marking, reliability, ..config })
        })
    }

    /// This configuration, whose relative paths of files are those from `folder`, the one of its file.
    pub fn with_paths_from(mut self, folder: &Path) -> Self {
        let certificates = self.command_keys.iter_mut().map(|key| &mut key.certificate);
        let paths = certificates.chain(&mut self.certificates).chain(&mut self.trust_schema);
        paths.for_each(|path| *path = folder.join(&path));
        self
    }

    /// The configuration of a forwarder without a file.
    ///
    /// # Errors
    /// When `schemes` lacks one that the defaults name.
    pub fn standard(schemes: &[&'static Scheme]) -> Result<Self, Errors> {
        Self::parse("(defaults)", b"format = 1", schemes)
    }
}

/// Every key of the file as Markdown, for the book.
pub fn reference() -> String {
    reference::markdown(&keys::ROOT)
}

/// The JSON Schema of the file, for editors.
pub fn json_schema() -> String {
    schema::json_schema("Tidegate forwarder", &keys::ROOT)
}

#[cfg(test)]
mod tests;
