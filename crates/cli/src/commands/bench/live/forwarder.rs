//! A forwarder in a separate process.

use std::net::SocketAddr;

use crate::commands::children::{Running, Scratch, Speaks, shown};
use crate::exit::Failure;

/// A running forwarder that listens on a loopback UDP port and has a route to one producer; dropping this
/// ends it.
pub(super) struct Forwarder {
    process: Running,
    address: SocketAddr,
    _folder: Scratch,
}

impl Forwarder {
    /// A forwarder with the default settings and a route for `/bench` to `producer`.
    pub(super) fn start(producer: SocketAddr) -> Result<Self, Failure> {
        let folder = Scratch::new("bench")?;
        let text = format!(
            "format = 1\n[[face]]\nname = \"producer\"\nuri = \"udp4://{producer}\"\n\
             [[route]]\nprefix = \"/bench\"\nface = \"producer\"\n"
        );
        let config = shown(&folder.write("forwarder.toml", text.as_bytes())?);
        let arguments = ["forward", &config, "--listen", "udp4://127.0.0.1:0"];
        let process = Running::start(&arguments, Speaks::OnError, "listening at udp4://")?;
        let address = process.stated().parse().map_err(Failure::error)?;
        Ok(Self { process, address, _folder: folder })
    }

    /// Address at which it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// CPU time it has used so far, s; NaN if the system does not provide it.
    pub(super) fn cpu_seconds(&self) -> f64 {
        super::super::cpu_seconds_of(&self.process.number().to_string())
    }
}
