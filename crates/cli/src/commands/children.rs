//! Processes of this program: forwarders, links and servers that a command needs around it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::exit::Failure;

/// A running command of this program; dropping this value ends the process.
#[derive(Debug)]
pub(crate) struct Running {
    process: Child,
    /// Rest of the readiness line after `until`.
    stated: String,
}

/// Stream on which a command reports readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    OnOutput,
    OnError,
}

impl Running {
    /// Starts the program with `arguments`; returns once a line there begins with `until`.
    pub(crate) fn start(arguments: &[&str], states: Speaks, until: &str) -> Result<Self, Failure> {
        let command = arguments.first().copied().unwrap_or_default();
        let fault = |why: &dyn std::fmt::Display| Failure::error(format!("tidegate {command}: {why}"));
        let program = std::env::current_exe().map_err(|why| fault(&why))?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(if states == Speaks::OnOutput { Stdio::piped() } else { Stdio::null() })
            // Errors of a command that reports on standard output go to the user.
            .stderr(if states == Speaks::OnError { Stdio::piped() } else { Stdio::inherit() })
            .spawn()
            .map_err(|why| fault(&why))?;
        let reported: Option<Box<dyn Read + Send>> = match states {
            Speaks::OnOutput => process.stdout.take().map(|pipe| Box::new(pipe) as _),
            Speaks::OnError => process.stderr.take().map(|pipe| Box::new(pipe) as _),
        };
        let mut started = Self { process, stated: String::new() };
        let mut lines = BufReader::new(reported.ok_or_else(|| fault(&"it has no output"))?).lines();
        let mut received = Vec::new();
        for line in lines.by_ref().map_while(Result::ok) {
            if let Some(stated) = line.strip_prefix(until) {
                started.stated = stated.to_owned();
                // The pipe is read to its end: a full one would block the process.
                std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
                return Ok(started);
            }
            received.push(line);
        }
        Err(fault(&format!("it exited immediately: {}", received.join("; "))))
    }

    /// Rest of the line that reported readiness.
    pub(crate) fn stated(&self) -> &str {
        &self.stated
    }

    /// Process id of the command.
    pub(crate) fn number(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has no state on disk that needs an orderly end.
        let _ = self.process.kill();
        // Without it the process remains as a zombie.
        let _ = self.process.wait();
    }
}

/// A folder for files and sockets of processes; dropping this value removes it.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder of this process. Its name is short, since the path of a socket has at most 107 bytes.
    pub(crate) fn new(what: &str) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("tg-{what}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|why| crate::results::cannot("make", &folder, &why))?;
        Ok(Self(folder))
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// Writes a file in it and returns the path.
    pub(crate) fn write(&self, file: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.path(file);
        std::fs::write(&path, bytes).map_err(|why| crate::results::cannot("write", &path, &why))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A path as an argument.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}
