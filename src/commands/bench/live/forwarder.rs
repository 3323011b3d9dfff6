//! A forwarder as a process of its own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use crate::exit::Failure;

/// A running forwarder that listens on a loopback UDP port and has a route to one producer; ends with this.
pub(super) struct Forwarder {
    process: Child,
    address: SocketAddr,
    config: std::path::PathBuf,
}

impl Forwarder {
    /// A forwarder with the default settings and a route for `/bench` to `producer`.
    pub(super) fn start(producer: SocketAddr) -> Result<Self, Failure> {
        let fault = |what: &str, why: std::io::Error| Failure::error(format!("{what}: {why}"));
        let config = std::env::temp_dir().join(format!("tidegate-bench-{}.toml", std::process::id()));
        let text = format!(
            "format = 1\n[[face]]\nname = \"producer\"\nuri = \"udp4://{producer}\"\n\
             [[route]]\nprefix = \"/bench\"\nface = \"producer\"\n"
        );
        std::fs::write(&config, text).map_err(|why| fault("configuration", why))?;
        let program = std::env::current_exe().map_err(|why| fault("own program", why))?;
        let mut process = Command::new(program)
            .arg("forward")
            .arg(&config)
            .args(["--listen", "udp4://127.0.0.1:0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|why| fault("forwarder", why))?;
        let address = listening(&mut process);
        let mut started = Self { process, address: SocketAddr::from(([127, 0, 0, 1], 0)), config };
        started.address = address.ok_or_else(|| Failure::error("the forwarder did not start"))?;
        Ok(started)
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// CPU time it has used so far, s; NaN where the system does not tell.
    pub(super) fn cpu_seconds(&self) -> f64 {
        super::super::cpu_seconds_of(&self.process.id().to_string())
    }
}

/// The UDP address that the forwarder says it listens at.
fn listening(process: &mut Child) -> Option<SocketAddr> {
    let lines = BufReader::new(process.stderr.take()?).lines();
    let mut uris = lines.map_while(Result::ok).filter_map(|line| {
        line.strip_prefix("listening at udp4://").and_then(|address| address.parse().ok())
    });
    uris.next()
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        // It is ours, and has nothing to lose.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.config);
    }
}
